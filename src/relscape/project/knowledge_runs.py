"""Trainings of knowledge-graph models, each kept in a file as soon as it is done, and never done twice."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from relscape import progress
from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError
from relscape.models.knowledge import KGEmbedding
from relscape.models.knowledge_scoring import Trained
from relscape.models.knowledge_settings import Plan
from relscape.models.knowledge_training import Run, begin, held_threads, train
from relscape.project.kept_runs import Kept, kept_or_run, run_file
from relscape.scores.ranking_report import RankingReport

__all__ = ["Training", "all_figures", "kept_or_done"]

_FORMAT = "relscape-knowledge-run"
_MINUTE = 60.0


class Training(NamedTuple):
    """One training: a name such as "then/TransE", the arguments of KGEmbedding, and the most minutes.

    Minutes are of processor time, so that a busy machine changes no result. ``validation`` says whether
    all validation triples are ranked in the end, beside the test triples.
    """

    name: str
    arguments: Mapping[str, Any]
    cap_minutes: float
    validation: bool = False


class _CapError(Exception):
    """A training has used up its minutes."""


def kept_or_done(
    training: Training, graph: KnowledgeGraph, folder: Path | None, wanted: bool = True
) -> Kept | None:
    """Read what a training gave, or carry it out and keep it; one that is not wanted is only read.

    Parameters
    ----------
    training : Training
    graph : KnowledgeGraph
        Trained on its training triples, ranked on its test triples (and, if wanted, validation triples).
    folder : path, optional
        Where trainings are kept; without one nothing is.
    wanted : bool
        Whether to train where nothing is kept.

    Returns
    -------
    dict or None
        Arguments, epochs, seconds, whether the cap stopped it, and the whole ranking; or the ``refusal``.
    """
    settings = [graph.fingerprint(), training.arguments, training.cap_minutes]
    if training.validation:  # only then, so that what was kept before this could be asked is still found
        settings.append("validation")
    file = run_file(folder, str(training.arguments["model"]), settings)
    return kept_or_run(file, _FORMAT, wanted, lambda: _done_or_refused(training, graph))


def _done_or_refused(training: Training, graph: KnowledgeGraph) -> Kept:
    progress.note(f"training {training.name}, at most {training.cap_minutes:g} minutes")
    found = {"arguments": dict(training.arguments), "cap_minutes": training.cap_minutes}
    found["graph"] = graph.fingerprint()
    try:
        return found | _done(training, graph)
    except DataError as error:  # numbers that ran away
        return found | {"refusal": str(error), "seconds": 0.0, "cpu_seconds": 0.0}


def _done(training: Training, graph: KnowledgeGraph) -> Kept:
    """Train to the last epoch or to the cap, and rank the test triples; validation triples where wanted."""
    model = KGEmbedding(**training.arguments)
    plan = model.check()
    started, started_cpu = time.perf_counter(), time.process_time()
    run, capped = _trained(plan, graph, model.random_state, started_cpu + _MINUTE * training.cap_minutes)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - started_cpu
    best = run.best
    params, epoch = (run.params, run.epoch) if best is None else (best.params, best.epoch)
    started = time.perf_counter()
    with held_threads(plan):
        trained = Trained(plan.energy, params, plan.settings, plan.reciprocal)
        reports = {"report": all_figures(trained.rank(graph.test, graph))}
        if training.validation:
            reports["validation report"] = all_figures(trained.rank(graph.valid, graph))
    return {
        "refusal": "",
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "ranking_seconds": time.perf_counter() - started,
        "threads": plan.engine.n_jobs,
        "epochs": run.epoch,
        "planned_epochs": plan.n_epochs,
        "kept_epoch": epoch,
        "capped": capped,
        "validation": {} if best is None else dict(best.figures),
        **reports,
    }


def _trained(plan: Plan, graph: KnowledgeGraph, random_state: Any, until: float) -> tuple[Run, bool]:
    """Train until processor time runs out; says whether it did before the last epoch."""

    def look(run: Run) -> None:
        if time.process_time() > until and not run.finished(plan):
            raise _CapError

    with held_threads(plan):
        run = begin(plan, graph, random_state)
        try:
            train(run, plan, graph, look)
        except _CapError:
            return run, True
    return run, False


def all_figures(report: RankingReport) -> dict[str, Any]:
    """Give all figures but those of single relations: filtered and raw, by side, category and partition."""
    told: dict[str, Any] = {"all": _both_ways(report)}
    told["category"] = {name: _both_ways(part) for name, part in report.by_category.items()}
    told["partition"] = {name: _both_ways(part) for name, part in report.by_partition.items()}
    return told


def _both_ways(report: RankingReport) -> dict[str, Any]:
    return {"filtered": _by_side(report), "raw": _by_side(report.raw)}


def _by_side(report: RankingReport) -> dict[str, Any]:
    sides = {"both": report, "heads": report.heads, "tails": report.tails}
    return {side: part.figures() for side, part in sides.items()}
