"""The experiments on document networks: held-out links and documents, what matters, and held-out imports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from relscape import progress
from relscape.errors import StorageError
from relscape.models.network_baselines import popularity
from relscape.project import network_pictures
from relscape.project.experiments import Experiment
from relscape.project.fitting import Placement
from relscape.project.kept_runs import RUNS, Kept, chosen_names
from relscape.project.network_measures import MEASURES, TEST, TRAIN, measures_of
from relscape.project.network_runs import (
    Fit,
    Network,
    Split,
    dealt,
    fitted,
    kept_or_done,
    network_of,
    searched,
)
from relscape.project.outcome import Findings, Record
from relscape.scores.links import rank_links

__all__ = ["PROCEDURES"]

Settings = Mapping[str, Any]
Place = tuple[tuple[str, Any], ...]


class _Job(NamedTuple):
    """One fit on one split of one set, and the record that it becomes a part of."""

    place: Place
    method: str
    set: str
    seed: int
    fit: Fit


def link_prediction(
    experiment: Experiment, settings: Settings, folder: Path | None, only: Iterable[str]
) -> Findings:
    """Fit all methods on every split of every set, and rank the held-out links.

    ``sets`` and ``splits`` (seeds) in the settings say what to run on, ``hold_out`` ("links" or "documents")
    and ``share`` what is held out, ``direction`` which way links are ranked; ``methods`` are tables of
    arguments, ``model`` being the registered name and ``search`` what to choose on training links.
    """
    jobs = [
        _job({"set": name}, method, dict(arguments), settings, name, seed)
        for seed in settings["splits"]
        for name in settings["sets"]
        for method, arguments in settings["methods"].items()
    ]
    findings = Findings(("set",), MEASURES, tables={experiment.title: MEASURES})
    _gather(findings, jobs, settings, folder, only)
    sets, methods = list(settings["sets"]), list(settings["methods"])
    findings.records.sort(key=lambda record: (sets.index(record["set"]), methods.index(record["method"])))
    findings.pictures |= network_pictures.all_pictures(findings.records, experiment.figures)
    return findings


def sensitivity(
    experiment: Experiment, settings: Settings, folder: Path | None, only: Iterable[str]
) -> Findings:
    """Vary one argument of a model at a time.

    ``base`` in the settings are the arguments that stay, ``varied`` the values to try of single arguments;
    those of ``margin`` are multiples of 1/n.
    """
    jobs = [
        _job(
            {"set": name, "varied": varied, "value": float(value)},
            "DocumentNetwork",
            {**settings["base"], varied: f"{value:g}/n" if varied == "margin" else value},
            settings,
            name,
            seed,
        )
        for name in settings["sets"]
        for seed in settings["splits"]
        for varied, values in settings["varied"].items()
        for value in values
    ]
    findings = Findings(("set", "varied", "value"), MEASURES, tables={experiment.title: MEASURES})
    _gather(findings, jobs, settings, folder, only)
    findings.pictures |= network_pictures.curve_pictures(findings.records)
    return findings


def imports(experiment: Experiment, settings: Settings, folder: Path | None, only: Iterable[str]) -> Findings:
    """Rank held-out imports by all methods, and list what a model suggests to some modules.

    As :func:`link_prediction`, beside how often a module is imported at all ("popularity"); ``shown`` is how
    many modules to list, those with most held-out imports, and ``teller`` the method that suggests.
    """
    findings = link_prediction(experiment, settings, folder, only)
    (name,), first = settings["sets"], settings["splits"][0]
    network = network_of(name)
    splits = [_split(network, settings, seed) for seed in settings["splits"]]
    figures = [_popularity(network, split) for split in splits]
    findings.add({"set": name}, Placement("popularity", 0.0, 0.0), _averaged(figures))
    arguments = dict(settings["methods"][settings["teller"]])
    told = _job({}, settings["teller"], arguments, settings, name, first)
    fit, _ = searched(told.fit, network, splits[0].train, settings["hold_out"])
    findings.notes += _suggestions(fit, network, splits[0], settings["shown"])
    return findings


PROCEDURES: Mapping[str, Callable[[Experiment, Settings, Path | None, Iterable[str]], Findings]] = {
    "network-ranks": link_prediction,
    "network-sensitivity": sensitivity,
    "network-imports": imports,
}


def _job(place: Record, method: str, arguments: Record, settings: Settings, name: str, seed: int) -> _Job:
    model, search = arguments.pop("model", "network"), arguments.pop("search", {})
    arguments |= {"direction": settings["direction"], "random_state": seed}
    where = "/".join(f"{value:g}" if isinstance(value, float) else str(value) for value in place.values())
    fit = Fit(f"{where}/{method}/{seed}", model, arguments, search)
    return _Job(tuple(place.items()), method, name, seed, fit)


def _split(network: Network, settings: Settings, seed: int) -> Split:
    return dealt(network.pairs, len(network.ids), settings["hold_out"], settings["share"], seed)


def _gather(
    findings: Findings, jobs: list[_Job], settings: Settings, folder: Path | None, only: Iterable[str]
) -> None:
    """Carry out what is wanted and not done yet; a record averages the splits of one place and method."""
    wanted = chosen_names([job.fit.name for job in jobs], only)
    runs = None if folder is None else folder / RUNS
    networks = _loaded(findings, {job.set: None for job in jobs})
    done: dict[tuple[Place, str], list[Kept]] = {}
    missing = []
    with progress.task("fitting models", len(jobs)) as task:
        for job in jobs:
            if job.set in networks:
                network = networks[job.set]
                split = _split(network, settings, job.seed)
                kept = kept_or_done(
                    job.fit, network, split, runs, job.fit.name in wanted, settings["hold_out"]
                )
                if kept is None:
                    missing.append(job.fit.name)
                else:
                    done.setdefault((job.place, job.method), []).append(kept)
            task.advance()
    for (place, method), splits in done.items():
        _add(findings, dict(place), method, splits)
    if missing:
        findings.notes.append("not fitted yet: " + ", ".join(missing))


def _loaded(findings: Findings, names: Iterable[str]) -> dict[str, Network]:
    """Load the sets that are on this machine; notes name the others."""
    networks = {}
    for name in names:
        try:
            networks[name] = network_of(name)
        except StorageError as error:
            findings.notes.append(str(error))
    return networks


def _add(findings: Findings, place: Record, method: str, kept: list[Kept]) -> None:
    chosen: Record = {"splits": len(kept), "documents": kept[0]["documents"]}
    chosen |= {"arguments": [entry["arguments"] for entry in kept], "tried": [e["tried"] for e in kept]}
    chosen |= {"iterations": [e["iterations"] for e in kept], "ended": [e["ended"] for e in kept]}
    seconds, cpu_seconds = (fmean(entry[name] for entry in kept) for name in ("seconds", "cpu_seconds"))
    findings.add(
        place,
        Placement(method, seconds, cpu_seconds, chosen=chosen),
        _averaged([measures_of(entry["train"], entry["test"]) for entry in kept]),
    )


def _averaged(figures: list[dict[str, float]]) -> dict[str, float]:
    """Average measures over splits; ranks come with their standard deviation where there are several."""
    told = {name: fmean(one[name] for one in figures) for name in figures[0]}
    if len(figures) > 1:
        told |= {f"± {name}": stdev(one[name] for one in figures) for name in (TRAIN, TEST)}
    return told


def _popularity(network: Network, split: Split) -> dict[str, float]:
    n = len(network.ids)
    ranked = [rank_links(popularity(split.train, n), pairs, n, split.train) for pairs in split]
    return measures_of(*(report.to_dict() for report in ranked))


def _suggestions(fit: Fit, network: Network, split: Split, shown: int) -> list[str]:
    """List for the modules with most held-out imports what is suggested; an asterisk marks a held-out one."""
    model = fitted(fit, network, split.train)
    counts = np.bincount(split.test[:, 0], minlength=len(network.ids))
    lines = []
    for row in np.argsort(-counts, kind="stable")[:shown]:
        mine = split.test[split.test[:, 0] == row]
        held_out = set(mine[:, 1].tolist())
        ranks = np.sort(model.rank(mine).filtered.ranks)
        best = [int(link.id) for link in model.predict_links(int(row), top=8)]  # ids of rows are positions
        names = [network.ids[place] + "*" * (place in held_out) for place in best]
        lines.append(
            f"{network.ids[row]}: {len(mine)} held-out imports (filtered ranks "
            f"{', '.join(f'{rank:g}' for rank in ranks)}); suggested: {', '.join(names)}"
        )
    return lines
