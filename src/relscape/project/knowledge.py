"""The experiments on knowledge graphs: models trained by settings of then and of now, and what matters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from relscape import datasets, progress
from relscape.data.triples import KnowledgeGraph
from relscape.errors import StorageError
from relscape.project import knowledge_pictures
from relscape.project.experiments import Experiment
from relscape.project.fitting import Placement
from relscape.project.kept_runs import RUNS, Kept, chosen_names
from relscape.project.knowledge_measures import (
    CATEGORIES,
    HITS,
    LINKS,
    MEAN_RANK,
    PARTITIONS,
    RAW_RANK,
    RECIPROCAL_RANK,
    VALIDATION,
    measures_of,
)
from relscape.project.knowledge_runs import Training, kept_or_done
from relscape.project.outcome import Findings, Record

__all__ = ["PROCEDURES", "graph_of"]

Settings = Mapping[str, Any]
_ERAS = ("then", "now")
_TABLES = {
    "Link prediction (table 4.4)": LINKS,
    "Filtered hits@10 by category and side (table 4.5)": CATEGORIES,
    "Filtered, by what training knows reversed (table 4.6)": PARTITIONS,
}


def graph_of(settings: Settings) -> KnowledgeGraph:
    """Load a graph: a ``set``, dealt anew as ``split`` says and thinned as ``without_inverses`` says."""
    graph: KnowledgeGraph = getattr(datasets, f"load_{settings['set']}")()
    if "split" in settings:
        graph = graph.split(**settings["split"])
    if "without_inverses" in settings:
        graph = graph.without_inverses(**settings["without_inverses"])
    return graph


def link_prediction(
    experiment: Experiment, settings: Settings, folder: Path | None, only: Iterable[str]
) -> Findings:
    """Train every model by the settings of ``then`` and of ``now``, and rank the test triples.

    ``graph`` in the settings says what to train on (see :func:`graph_of`), ``then`` and ``now`` are tables of
    models with their arguments, ``cap_minutes`` is the most that one training may take; a training's own
    table may say otherwise.
    """
    trainings = {
        f"{era}/{model}": _training(f"{era}/{model}", {"model": model, **arguments}, settings)
        for era in _ERAS
        for model, arguments in settings.get(era, {}).items()
    }
    measures = tuple(measure for table in _TABLES.values() for measure in table)
    findings = Findings(("set", "settings"), measures, tables=_TABLES)
    done = _all_done(findings, trainings, settings["graph"], folder, only)
    title = settings["graph"].get("title", settings["graph"]["set"])
    for name, kept in done.items():
        era, model = name.split("/")
        _add(findings, {"set": title, "settings": era}, name, model, kept)
    findings.records.sort(key=lambda record: _place(record, settings))
    findings.pictures |= knowledge_pictures.all_pictures(findings.records, experiment.figures)
    return findings


def sensitivity(
    experiment: Experiment,  # noqa: ARG001
    settings: Settings,
    folder: Path | None,
    only: Iterable[str],
) -> Findings:
    """Vary one setting of a model at a time, and rank validation and test triples.

    ``base`` in the settings are the arguments that stay, ``varied`` the values to try of single arguments
    (or options), by name.
    """
    trainings = {
        f"{name}/{value:g}": _training(
            f"{name}/{value:g}", _varied(settings["base"], name, value), settings, validation=True
        )
        for name, values in settings["varied"].items()
        for value in values
    }
    tables = {"One setting at a time": LINKS, "The same, of validation triples": VALIDATION}
    findings = Findings(("set", "varied", "value"), (*LINKS, *VALIDATION), tables=tables)
    for name, kept in _all_done(findings, trainings, settings["graph"], folder, only).items():
        varied, value = name.split("/")
        place = {"set": settings["graph"]["set"], "varied": varied, "value": float(value)}
        _add(findings, place, name, str(settings["base"]["model"]), kept)
    shown = (RAW_RANK, MEAN_RANK, HITS, RECIPROCAL_RANK)
    findings.pictures |= knowledge_pictures.setting_curves(findings.records, shown)
    return findings


PROCEDURES: Mapping[str, Callable[[Experiment, Settings, Path | None, Iterable[str]], Findings]] = {
    "knowledge-links": link_prediction,
    "knowledge-sensitivity": sensitivity,
}


def _training(name: str, arguments: Settings, settings: Settings, validation: bool = False) -> Training:
    own = {**arguments, "random_state": settings["random_state"]}
    cap = own.pop("cap_minutes", settings["cap_minutes"])
    return Training(name, own, float(cap), validation)


def _varied(base: Settings, name: str, value: float) -> dict[str, Any]:
    if name in base:
        return {**base, name: value}
    return {**base, "options": {**base.get("options", {}), name: value}}


def _all_done(
    findings: Findings,
    trainings: Mapping[str, Training],
    where: Settings,
    folder: Path | None,
    only: Iterable[str],
) -> dict[str, Kept]:
    """Carry out what is wanted and not done yet; notes say what is missing, and what the graph lacks."""
    wanted = chosen_names(trainings, only)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            graph = graph_of(where)
        except StorageError as error:
            findings.notes.append(str(error))
            return {}
    findings.notes += dict.fromkeys(str(entry.message) for entry in caught)
    runs = None if folder is None else folder / RUNS
    done = {}
    with progress.task("training models", len(trainings)) as task:
        for name, training in trainings.items():
            kept = kept_or_done(training, graph, runs, name in wanted)
            if kept is not None:
                done[name] = kept
            task.advance()
    missing = [name for name in trainings if name not in done]
    if missing:
        findings.notes.append("not trained yet: " + ", ".join(missing))
    return done


def _add(findings: Findings, place: Record, name: str, model: str, kept: Kept) -> None:
    if kept["refusal"]:
        told = Placement(model, kept["seconds"], kept["cpu_seconds"], refusal=kept["refusal"])
        findings.add(place, told, {})
        return
    chosen = {**kept["arguments"], "threads": kept["threads"], "kept epoch": kept["kept_epoch"]}
    placement = Placement(model, kept["seconds"], kept["cpu_seconds"], chosen=chosen)
    findings.add(place, placement, measures_of(kept))
    if kept["capped"]:
        findings.notes.append(
            f"{name}: stopped by the cap of {kept['cap_minutes']:g} minutes after {kept['epochs']} of "
            f"{kept['planned_epochs']} epochs"
        )


def _place(record: Record, settings: Settings) -> tuple[int, int]:
    """Order records by model, the settings of then first."""
    models = list(dict.fromkeys(model for era in reversed(_ERAS) for model in settings.get(era, {})))
    return models.index(record["method"]), _ERAS.index(record["settings"])
