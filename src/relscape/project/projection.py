"""The experiments on guided projections: tags of held-out things, guidance satisfied, clusters of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from relscape import progress
from relscape.errors import StorageError
from relscape.project import projection_dissimilar, projection_pictures
from relscape.project.experiments import Experiment
from relscape.project.fitting import Placement
from relscape.project.kept_runs import RUNS, Kept, chosen_names
from relscape.project.outcome import Findings, Record
from relscape.project.projection_data import Study, dealt, study_of
from relscape.project.projection_measures import (
    CHOSEN,
    NDCG,
    averaged,
    mean_curve,
    measures_of,
    satisfaction_of,
    tables,
)
from relscape.project.projection_runs import Fit, kept_or_done
from relscape.project.projection_shown import shown
from relscape.scores.partners import guess_ndcg

__all__ = ["GUESS", "PROCEDURES"]

GUESS = "Guess"
NEAREST, SATISFIED = "ndcg", "satisfaction"  # what settings are chosen by
Settings = Mapping[str, Any]


class _Job(NamedTuple):
    """One method on one split of one study with some of its training things, chosen by ``fit.score``."""

    set: str
    training: float
    method: str
    fit: Fit


def comparison(
    experiment: Experiment, settings: Settings, folder: Path | None, only: Iterable[str]
) -> Findings:
    """Fit all methods on every split of every study, and judge them by the tags of held-out things.

    ``sets`` in the settings say what to load, ``share`` how much is held out, ``repetitions`` how often, and
    ``training`` which shares of the others to train with; a set may have its own of the latter two.
    ``methods`` are tables as in :class:`Fit`; one whose further guidance a study does not have is left out of
    it. ``axes``, ``folds`` and ``clusters`` are common to all. ``shown`` names a set and a method: their map
    and the clusters of all kinds in it are shown, fitted on all things.

    Settings are chosen by NDCG and, with all training things, once more by the guidance satisfied: a map
    made for the order of the nearest tags need not bring all pairs together.
    """
    measures = tables(experiment.title, settings["axes"], settings["clusters"])
    findings = Findings(
        ("set", "training"), tuple(name for names in measures.values() for name in names), tables=measures
    )
    studies = _loaded(findings, settings["sets"])
    jobs = [job for name, study in studies.items() for job in _jobs(name, study, settings)]
    wanted = chosen_names([job.fit.name for job in jobs], only)
    runs = None if folder is None else folder / RUNS
    done: dict[tuple[str, float, str, str], list[Kept]] = {}
    missing = []
    with progress.task("fitting models", len(jobs)) as task:
        for job in jobs:
            study = studies[job.set]
            parts = dealt(study, settings["share"], job.training, job.fit.seed)
            kept = kept_or_done(job.fit, study, parts, runs, job.fit.name in wanted)
            if kept is None:
                missing.append(job.fit.name)
            else:
                done.setdefault((job.set, job.training, job.method, str(job.fit.score)), []).append(kept)
            task.advance()
    for name, study in studies.items():
        for training in _training(settings, name):
            _add_guess(findings, name, study, settings, training)
            for method in settings["methods"]:
                if (name, training, method, NEAREST) in done:
                    place = (name, training, method)
                    fits = done[*place, NEAREST], done.get((*place, SATISFIED), [])
                    _add(findings, {"set": name, "kind": study.kind, "method": method}, *fits)
    _show(findings, studies, settings)
    if missing:
        findings.notes.append("not fitted yet: " + ", ".join(missing))
    findings.pictures |= projection_pictures.all_pictures(findings.records, settings["clusters"])
    return findings


PROCEDURES: Mapping[str, Callable[[Experiment, Settings, Path | None, Iterable[str]], Findings]] = {
    "projection-tags": comparison,
    "projection-dissimilar": projection_dissimilar.comparison,
}


def _show(findings: Findings, studies: Mapping[str, Study], settings: Settings) -> None:
    """Add the map and the clusters of one study, where the settings ask for it."""
    chosen = settings.get("shown")
    if chosen and chosen["set"] in studies:
        title = chosen["method"]
        told = {**chosen, "title": title, "method": settings["methods"][title]}
        told |= {"axes": settings["axes"], "folds": settings["folds"]}
        notes, pictures = shown(studies[chosen["set"]], chosen["set"], told)
        findings.notes += notes
        findings.pictures |= pictures


def _loaded(findings: Findings, sets: Mapping[str, Settings]) -> dict[str, Study]:
    """Load the studies whose data is on this machine; notes tell their size, and name the others."""
    studies = {}
    for name, chosen in sets.items():
        try:
            studies[name] = study_of(chosen)
        except StorageError as error:
            findings.notes.append(str(error))
            continue
        study = studies[name]
        related = {further: block.weights.nnz for further, block in study.further.items()}
        findings.notes.append(
            f"{name}: {len(study.ids)} things of kind {study.kind} by {study.counts.shape[1]} words, "
            f"{len(study.tag_ids)} of kind {study.tag}, {study.tags.nnz} pairs of both; further guidance: "
            + ", ".join(f"{further} ({pairs} entries)" for further, pairs in related.items())
        )
    return studies


def _jobs(name: str, study: Study, settings: Settings) -> list[_Job]:
    usable = {
        method: arguments
        for method, arguments in settings["methods"].items()
        if set(arguments.get("with", ())) <= set(study.further)
        and (study.tag_features is not None or not arguments.get("located", False))
    }
    common = settings["axes"], settings["folds"], settings["clusters"]
    shares = _training(settings, name)
    return [
        _Job(name, share, method, Fit(f"{name}/{method}/{share:g}/{seed}{end}", arguments, *common, seed, by))
        for seed in range(_repetitions(settings, name))
        for share in shares
        for method, arguments in usable.items()
        for by, end in ((NEAREST, ""), (SATISFIED, f"/{SATISFIED}"))
        if by == NEAREST or share == max(shares)
    ]


def _repetitions(settings: Settings, name: str) -> int:
    return int(settings["sets"][name].get("repetitions", settings["repetitions"]))


def _training(settings: Settings, name: str) -> list[float]:
    return list(settings["sets"][name].get("training", settings["training"]))


def _add(findings: Findings, what: Record, kept: list[Kept], satisfied: list[Kept]) -> None:
    """Average what one method gave, chosen by NDCG and, where that was done, by the guidance satisfied."""
    told, values = averaged([measures_of(one) for one in kept])
    own = averaged([satisfaction_of(one, CHOSEN) for one in satisfied])
    chosen: Record = {"kind": what["kind"], "repetitions": len(kept)}
    chosen |= {"settings": [one["chosen"] for one in kept], "values": values | own[1]}
    chosen["settings by satisfaction"] = [one["chosen"] for one in satisfied]
    chosen["curves"] = {part: mean_curve(satisfied or kept, part) for part in ("train", "test")}
    seconds = fmean(one["cpu_seconds"] for one in kept)
    place = {"set": what["set"], "training": kept[0]["things"][0]}
    findings.add(place, Placement(what["method"], seconds, seconds, chosen=chosen), told | own[0])


def _add_guess(findings: Findings, name: str, study: Study, settings: Settings, training: float) -> None:
    """Judge what needs no map: the tags that are most frequent in training."""
    drawn = [dealt(study, settings["share"], training, seed) for seed in range(_repetitions(settings, name))]
    figures = [{NDCG: guess_ndcg(study.tags[parts.train], study.tags[parts.test])} for parts in drawn]
    told, values = averaged(figures)
    chosen = {"kind": study.kind, "repetitions": len(figures), "values": values}
    place = {"set": name, "training": len(drawn[0].train)}
    findings.add(place, Placement(GUESS, 0.0, 0.0, chosen=chosen), told)
