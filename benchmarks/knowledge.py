"""Knowledge graphs: training and ranking on FB15k, beside PyKEEN, plain numpy and bare matrix products.

All train vectors of length 100 by the margin loss with two corruptions a triple, in batches of 4,831 triples.
A corruption may happen to be a known fact, but for "filtered" (two threads), relscape's default, which then
draws another. Quality is the filtered MRR and hits@10 of the same 2,000 validation triples after seconds of
training, each program with its default corruptions; the same code ranks for all, and its time does not
count. PyKEEN's evaluator ranks some test triples, with the vectors that relscape ranks: fewer and more of
them, which tells what it does once and what for every triple, and so how long all would take. Every program
is timed over the same epochs, as often, and taken at its best number of threads, one or two.

Budgets: TransE trains 30 × as many triples a second as PyKEEN's, TransPES 0.3 × as many as TransE; ranking
FB15k's test triples takes at most 3 × the bare products, 1/80 of PyKEEN's time, and less than 1 GB.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.budgets import judge
from benchmarks.harness import Measure, in_own_process, measured, report, show, shown
from benchmarks.knowledge_rankers import (
    SAMPLES,
    of_all_triples,
    prepare_products,
    prepare_pykeen_ranking,
    prepare_ranking,
    trained,
)
from benchmarks.knowledge_trainers import Trainer, numpy_trainer, pykeen_trainer, relscape_trainer
from relscape import KnowledgeGraph
from relscape.datasets import load_fb15k
from relscape.errors import StorageError

EPOCHS = 5  # timed at once
MARKS = (5, 10, 20, 40, 80)  # seconds of training after which quality is looked at
RANKED = ("TransE", "DistMult", "TransPES")
RANKED_EPOCHS = 10
TRAINED = "knowledge training"  # the table that tells which PyKEEN is faster
# Fast-TransX as published by its authors: TransE on FB15k, length 50, one corruption, 1,000 epochs in 42 s
# with 8 threads on the 4 cores of an i7-6700K.
PUBLISHED_RATE, PUBLISHED_CORES = 1_000 * 483_142 / 42, 4


def prepare_training(trainer: Trainer) -> Callable[[], str]:
    """Train a first epoch, which compiles; the work is some more."""
    trainer.train(1)
    return lambda: trainer.train(EPOCHS)


def prepare_quality(graph: KnowledgeGraph, trainer: Trainer, model: str) -> Callable[[], str]:
    """Train until the last mark; at each, tell how well validation triples are ranked."""
    from relscape.models.knowledge_validation import Validation, Validator

    look = Validator(graph, Validation(triples=2_000), np.random.default_rng(0)).look
    look(trained(model, *trainer.vectors()))  # compile

    def work() -> str:
        spent, epochs, told = 0.0, 0, []
        for mark in MARKS:
            while spent < mark:
                started = time.perf_counter()
                trainer.train(1)
                spent, epochs = spent + time.perf_counter() - started, epochs + 1
            figures = look(trained(model, *trainer.vectors()))
            told.append(f"{figures['mrr']:.3f} / {figures['hits@10']:.1%} after {spent:.0f} s")
        return f"MRR / hits@10 {', '.join(told)}; {epochs} epochs"

    return work


Case = Callable[[Path, KnowledgeGraph], Callable[[], str]]
UNFILTERED = {"filter_negatives": False}
OURS: dict[str, tuple[int, dict[str, Any]]] = {
    "2 threads": (2, UNFILTERED),
    "filtered": (2, {}),
    "1 thread": (1, UNFILTERED),
    "1 thread exact": (1, {**UNFILTERED, "mode": "minibatch"}),
}
TRAINERS: dict[str, Callable[[KnowledgeGraph], Trainer]] = {
    **{
        f"relscape {model}, {title}": (lambda graph, m=model, how=how: relscape_trainer(graph, m, *how))
        for model in ("TransE", "TransPES")
        for title, how in OURS.items()
    },
    "relscape TransE as Fast-TransX": lambda graph: relscape_trainer(
        graph, "TransE", 1, n_components=50, negatives=1
    ),
    "numpy TransE": numpy_trainer,
    "PyKEEN TransE, 1 thread": lambda graph: pykeen_trainer(graph, 1),
    "PyKEEN TransE, 2 threads": lambda graph: pykeen_trainer(graph, 2),
}
TRAINING: dict[str, Case] = {
    name: (lambda _, graph, trainer=trainer: prepare_training(trainer(graph)))
    for name, trainer in TRAINERS.items()
}
QUALITY: dict[str, Case] = {
    f"quality, {name}": (
        lambda _, graph, name=name: prepare_quality(graph, TRAINERS[name](graph), name.split()[1].strip(","))
    )
    for name in TRAINERS
}
RANKING: dict[str, Case] = {
    "bare products": lambda folder, graph: prepare_products(folder, graph, repeated=True),
    "bare products, no question twice": lambda folder, graph: prepare_products(folder, graph, repeated=False),
    **{
        f"relscape {model}": (lambda folder, graph, m=model: prepare_ranking(folder, graph, m))
        for model in RANKED
    },
    **{
        f"PyKEEN ranks {model}, {title}, {size} triples": (
            lambda folder, graph, m=model, n=threads, s=size: prepare_pykeen_ranking(folder, graph, m, n, s)
        )
        for model in ("TransE", "DistMult")
        for title, threads in (("1 thread", 1), ("2 threads", 2))
        for size in SAMPLES
    },
}
CASES = {**TRAINING, **QUALITY, **RANKING}


def main(*parts: str) -> None:
    """Train, follow quality, rank, or some of these; each case in a process of its own."""
    try:
        graph = load_fb15k()
    except StorageError as error:
        print(f"knowledge graphs: left out, {error}")
        return
    if find_spec("pykeen") is None:
        print("PyKEEN is not installed (pip install 'relscape[bench]'): knowledge graphs go on without it")
    with tempfile.TemporaryDirectory() as folder:
        for part in parts or PARTS:
            PARTS[part](Path(folder), graph)


def training(folder: Path, graph: KnowledgeGraph) -> None:
    """Show seconds an epoch and what the budgets say."""
    rows, n = {}, len(graph.train)
    for name, row in measured_rows(TRAINING, folder).items():
        wall, cpu = row.wall / EPOCHS, row.cpu / EPOCHS
        note = f"{n / wall:,.0f} triples/s{row.note and '; '}{row.note}"
        rows[name] = replace(row, wall=wall, cpu=cpu, note=row.note if np.isnan(wall) else note)
    show(f"{TRAINED}: FB15k, an epoch, k = 100", rows, "relscape TransE, 2 threads")
    ours, projected = (rows[f"relscape {model}, 2 threads"].wall for model in ("TransE", "TransPES"))
    peer = fastest(rows, "PyKEEN TransE")
    judge("TransPES, triples trained a second", ours / projected)
    for name in peer:
        judge("TransE, triples trained a second", rows[name].wall / ours)
    for model in ("TransE", "TransPES"):
        one, two = (rows[f"relscape {model}, {title}"].wall for title in ("1 thread", "2 threads"))
        print(f"{model}: two threads are {one / two:.2f} × as fast as one")
    rate = n / rows["relscape TransE as Fast-TransX"].wall
    print(
        f"length 50, one corruption, one core: {rate:,.0f} triples/s; Fast-TransX, as published, "
        f"{PUBLISHED_RATE / PUBLISHED_CORES:,.0f} a core of another machine"
    )


def quality(folder: Path, _: KnowledgeGraph) -> None:
    """Show how well validation triples are ranked after seconds of training; of PyKEEN's, the faster."""
    names = ["relscape TransE, filtered", "relscape TransPES, filtered", *fastest(shown(TRAINED), "PyKEEN")]
    found = measured_rows({f"quality, {name}": QUALITY[f"quality, {name}"] for name in names}, folder)
    rows = {name.removeprefix("quality, "): row for name, row in found.items()}
    show("knowledge quality: FB15k, k = 100", rows, names[0])


def ranking(folder: Path, graph: KnowledgeGraph) -> None:
    """Show the time of ranking all test triples, after a short training."""
    for model in RANKED:
        settings = {"norm": "l2"} if model == "TransE" else {}
        trainer = relscape_trainer(graph, model, 2, **settings)
        trainer.train(RANKED_EPOCHS)
        entities, relations = trainer.vectors()
        np.savez(folder / f"{model}.npz", E=entities, R=relations)
    rows = of_all_triples(measured_rows(RANKING, folder), len(graph.test))
    show("knowledge ranking: FB15k, 59,071 test triples, both sides", rows, "bare products")
    for model in RANKED:
        row = rows[f"relscape {model}"]
        judge(f"{model}, ranking of FB15k", row.wall / rows["bare products"].wall)
        judge(f"{model}, memory of ranking FB15k", row.memory_mb)
        for name in fastest(rows, f"PyKEEN ranks {model}"):
            ratio = rows[name].wall / row.wall
            judge(f"{model}, triples ranked a second", ratio)


PARTS = {"training": training, "quality": quality, "ranking": ranking}


def fastest(rows: dict[str, Measure], begin: str) -> list[str]:
    """Name the quickest of the rows that begin so; none where none was measured."""
    names = [name for name, row in rows.items() if name.startswith(begin) and not np.isnan(row.wall)]
    return sorted(names, key=lambda name: rows[name].wall)[:1]


def measured_rows(cases: dict[str, Case], folder: Path) -> dict[str, Measure]:
    """Measure cases, each in a process of its own; PyKEEN's only where it is installed."""
    names = [name for name in cases if "PyKEEN" not in name or find_spec("pykeen") is not None]
    return {name: in_own_process("benchmarks.knowledge", name, folder) for name in names}


def run_case(case: str, folder: str) -> None:
    """Measure one case; the child process's part."""
    warnings.simplefilter("ignore")
    harness.REPEATS = 1 if case in QUALITY else 3
    found = measured(lambda: CASES[case](Path(folder), load_fb15k()))
    whole = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report(replace(found, note=f"{found.note}{found.note and '; '}{whole:.0f} MB in all"))


if __name__ == "__main__":
    run_case(*sys.argv[1:])
