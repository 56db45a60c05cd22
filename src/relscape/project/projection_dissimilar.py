"""The experiment on dissimilar pairs: two topics that a map of few axes mixes up, told to be unlike."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from relscape import progress
from relscape.project import projection_pictures
from relscape.project.experiments import Experiment
from relscape.project.fitting import Placement
from relscape.project.kept_runs import RUNS, Kept, chosen_names, kept_or_run, run_file
from relscape.project.outcome import Findings
from relscape.project.projection_data import Parts, Study, dealt, study_of
from relscape.project.projection_measures import NDCG, SPREAD, averaged
from relscape.project.projection_runs import Fit, candidates, fitted
from relscape.protocols import FloatArray, SparseArray
from relscape.scores.partners import ndcg
from relscape.tuning.projection import TaskScore

__all__ = ["TOLD_APART", "comparison", "told_apart"]

TOLD_APART = "told apart"
MEASURES = (TOLD_APART, SPREAD + TOLD_APART, NDCG, SPREAD + NDCG)
_FORMAT = "relscape-projection-dissimilar-run"


def told_apart(first: int, second: int) -> TaskScore:
    """Score which share of the things with one of two tags is nearer to its own; level ones count half."""

    def score(things: FloatArray, tags: FloatArray, truth: SparseArray) -> float:
        own = truth[:, [first, second]].toarray() > 0
        asked = own.any(axis=1)
        distances = euclidean_distances(things[asked], tags[[first, second]])
        ahead = np.where(own[asked, 0], distances[:, 1] - distances[:, 0], distances[:, 0] - distances[:, 1])
        return float(((ahead > 0) + 0.5 * (ahead == 0)).mean())

    return score


def comparison(
    experiment: Experiment, settings: Mapping[str, Any], folder: Path | None, only: Iterable[str]
) -> Findings:
    """Compare maps guided by similar pairs alone with maps that are also told which pairs are dissimilar.

    ``set`` in the settings says what to load, ``pair`` which two tags are unlike, ``axes`` the numbers of
    axes, and ``methods`` what may be chosen, which is done for every number of axes by how well folds of the
    training things are told apart.
    """
    study = study_of(settings["set"])
    methods = settings["methods"]
    names = {
        (method, seed): f"{method}/{seed}" for seed in range(settings["repetitions"]) for method in methods
    }
    wanted = chosen_names(names.values(), only)
    findings = Findings(("set", "axes"), MEASURES, tables={experiment.title: MEASURES})
    done: dict[str, list[Kept]] = {}
    with progress.task("fitting models", len(names)) as task:
        for (method, seed), name in names.items():
            fit = Fit(name, methods[method], settings["axes"], settings["folds"], [], seed)
            parts = dealt(study, settings["share"], 1.0, seed)
            kept = _kept_or_done(fit, study, parts, settings["pair"], folder, name in wanted)
            if kept is None:
                findings.notes.append(f"not fitted yet: {name}")
            else:
                done.setdefault(method, []).append(kept)
            task.advance()
    pair = " and ".join(settings["pair"])
    for axes in settings["axes"]:
        for method, runs in done.items():
            told, values = averaged([one["by axes"][str(axes)]["measures"] for one in runs])
            chosen = {"values": values, "settings": [one["by axes"][str(axes)]["chosen"] for one in runs]}
            seconds = float(np.mean([one["cpu_seconds"] for one in runs]))
            findings.add(
                {"set": pair, "axes": axes}, Placement(method, seconds, seconds, chosen=chosen), told
            )
    findings.pictures |= projection_pictures.axes_pictures(findings.records, (TOLD_APART, NDCG))
    return findings


def _kept_or_done(
    fit: Fit, study: Study, parts: Parts, pair: list[str], folder: Path | None, wanted: bool
) -> Kept | None:
    data = b"".join(part.tobytes() for part in (*parts, study.counts.data, study.tags.indices))
    settings = [dict(fit.method), fit.axes, fit.folds, fit.seed, pair]
    file = run_file(None if folder is None else folder / RUNS, "dissimilar", settings, data)
    return kept_or_run(file, _FORMAT, wanted, lambda: _done(fit, study, parts, pair))


def _done(fit: Fit, study: Study, parts: Parts, pair: list[str]) -> Kept:
    """Choose for every number of axes on training things, and judge on the test ones."""
    progress.note(f"fitting {fit.name}")
    first, second = (int(np.flatnonzero(study.tag_ids == name)[0]) for name in pair)
    score, truth = told_apart(first, second), study.tags[parts.test]
    found, seconds = {}, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # axes beyond those that bring together what is similar
        tried, given = candidates(study, parts, fit._replace(score=score))
        for axes in fit.axes:
            best = max((one for one in tried if one.n_components == axes), key=lambda one: one.score)
            started = time.process_time()
            model = fitted(fit, given, best, axes)
            seconds.append(time.process_time() - started)
            things = model.transform({study.kind: given[best.weight].test})[study.kind]
            tags = model.embeddings_[study.tag]
            measures = {TOLD_APART: score(things, tags, truth), NDCG: ndcg(truth, things, tags)}
            found[str(axes)] = {"chosen": best._asdict(), "measures": measures}
    return {"by axes": found, "cpu_seconds": float(np.mean(seconds))}
