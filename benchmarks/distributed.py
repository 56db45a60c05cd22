"""Models on worker processes: overhead, scaling, bytes moved, and what the cost model says of them.

Correspondence analysis of a made-up corpus of Zipf's frequencies, generated block by block on the workers, so
that no process ever holds it whole; one likelihood and gradient of CODE; COVA-E1; epochs of a knowledge
graph.
``python -m benchmarks distributed`` fits all of them here and on one and two workers, the first with 10⁷
entries; ``python -m benchmarks.distributed 2e8 2 2.2GB`` takes as many as you say, on so many workers with a
limit.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

import relscape as rs
from benchmarks.distributed_costs import (
    Step,
    conjugate_gradients,
    empty_round,
    epoch,
    lanczos,
    likelihood,
    seconds,
)
from benchmarks.harness import RESULTS
from relscape.distributed import DistributedGraph, DistributedRelation, connect
from relscape.matrix.fixed_sums import fixed_sums
from relscape.matrix.operators import LocalRelation
from relscape.objectives.cooccurrence import CooccurrenceObjective, Table

K = 10
WORDS = 100_000
LENGTH = 66  # words a document
BLOCK_ENTRIES = 2_000_000
MB = 2**20
ENTRY_SECONDS = 2e-9  # of a pass over one entry, as docs/distributed.md has it


def block(number: int, rows: int, words: int = WORDS) -> csr_array:
    """Draw some documents, the same whoever draws them: half of their words from one of 40 topics."""
    rng = np.random.default_rng(number)
    topic = rng.integers(40, size=rows)
    i = np.repeat(np.arange(rows, dtype=np.int32), LENGTH)
    word = np.minimum(np.exp(rng.random(i.size) * np.log(words)).astype(np.int64) - 1, words - 1)
    own = rng.random(i.size) < 0.5
    j = np.where(own, (word * 7919 + topic[i] * 2503) % words, word).astype(np.int32)
    matrix = csr_array((np.ones(i.size), (i, j)), shape=(rows, words))
    matrix.sum_duplicates()
    return matrix


def makers(entries: int) -> list[partial[csr_array]]:
    count = max(8, round(entries / BLOCK_ENTRIES))
    rows = round(entries / count / LENGTH * 1.27)  # a fifth of the words come twice
    return [partial(block, number, rows) for number in range(count)]


@dataclass
class Run:
    """What one piece of work cost, beside what the cost model says."""

    case: str
    workers: int
    seconds: float
    predicted_seconds: float
    rounds: int
    sent_mb: float
    predicted_sent_mb: float
    received_mb: float
    predicted_received_mb: float
    worker_mb: float
    check: float

    def told(self) -> str:
        """Give a line of the table."""
        return (
            f"{self.case:24}{self.workers:8d}{self.seconds:9.2f}{self.predicted_seconds:9.2f}{self.rounds:8d}"
            f"{self.sent_mb:9.1f}{self.predicted_sent_mb:9.1f}{self.received_mb:9.1f}"
            f"{self.predicted_received_mb:9.1f}{self.worker_mb:10.0f}  {self.check:.8f}"
        )


HEADING = (
    f"{'':24}{'workers':>8}{'s':>9}{'model':>9}{'rounds':>8}{'MB sent':>9}{'model':>9}{'MB back':>9}"
    f"{'model':>9}{'MB/worker':>10}  value"
)


class Case(NamedTuple):
    """A piece of work here and on a cluster, and what one of its steps costs by the model.

    ``spread`` gives what is spread, from which the traffic is read; ``work`` does the work on that, or on
    ``here()``, and gives a number to compare and how often it made the step; ``step`` takes the workers.
    """

    name: str
    here: Callable[[], Any]
    spread: Callable[[Any], Any]
    work: Callable[[Any], tuple[float, int]]
    step: Callable[[int], Step]
    tasks: int  # of a round


def _resident_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024


def on_workers(case: Case, workers: int, here: float | None, memory: str | None = None) -> Run:
    """Do the work on so many workers; the time it takes here, where it was not done, goes by the entries."""
    with connect(workers=workers, memory=memory) as client:
        started = time.perf_counter()
        spread = case.spread(client)
        told = f"{case.name}, {workers} workers: spread in {time.perf_counter() - started:.1f} s"
        print(told, file=sys.stderr, flush=True)
        if here is not None:
            case.work(spread)  # compiles
        before, started = asdict(spread.traffic), time.perf_counter()
        value, steps = case.work(spread)
        ended = time.perf_counter()
        moved = {name: count - before[name] for name, count in asdict(spread.traffic).items()}
        step = case.step(workers)
        a_round = empty_round(client, case.tasks, round(step.sent / step.rounds / workers))
        rounds = max(moved["rounds"], step.rounds * steps)
        if here is None:
            here = rounds * 2 * ENTRY_SECONDS * spread.n_stored
        return Run(
            case.name,
            workers,
            ended - started,
            seconds(rounds, here, a_round, workers),
            moved["rounds"],
            moved["sent"] / MB,
            steps * step.sent / MB,
            moved["received"] / MB,
            steps * step.received / MB,
            max(client.run(_resident_mb).values()),
            value,
        )


# ---------------------------------------------------------------------- the cases


def correspondence(entries: int) -> Case:
    """Ten axes of a corpus."""
    parts = makers(entries)

    def work(relation: Any) -> tuple[float, int]:
        before = getattr(relation, "traffic", None)
        rounds = before.rounds if before else 0
        model = rs.CorrespondenceAnalysis(K).fit(relation)
        return float(model.singular_values_[0]), (before.rounds if before else 0) - rounds

    return Case(
        f"CA, {entries:.0e} entries",
        lambda: csr_array(vstack([make() for make in parts])),
        lambda client: DistributedRelation(parts, client=client),
        work,
        lambda workers: lanczos(WORDS, workers),
        len(parts) + -(-len(parts) // 8),
    )


def code() -> Case:
    """One likelihood and gradient of 30,000 documents and 5,000 words."""
    rows, words, count = 3_750, 5_000, 8
    parts = [partial(block, number, rows, words) for number in range(count)]
    points = np.random.default_rng(0).normal(size=(rows * count + words, 2))

    def work(relation: Any) -> tuple[float, int]:
        objective = relation if isinstance(relation, CooccurrenceObjective) else relation.objective
        return objective.value_and_gradient(points)[0], 1

    def spread(client: Any) -> Any:
        relation = DistributedRelation(parts, client=client)
        relation.objective = CooccurrenceObjective(Table(fixed_sums(relation)), "CM", 0.0)
        return relation

    def here() -> Any:
        whole = LocalRelation(csr_array(vstack([make() for make in parts])))
        return CooccurrenceObjective(Table(fixed_sums(whole)), "CM", 0.0)

    return Case(
        "CODE, 30,000 × 5,000",
        here,
        spread,
        work,
        lambda workers: likelihood(rows * count, words, 2, workers),
        count + 2,
    )


def neighbours(start: int, stop: int, n: int) -> csr_array:
    """Give some rows of symmetric weights between samples on a ring, twenty neighbours each."""
    gaps = np.array([1, 2, 3, 5, 8, 13, 21, 34, 1_000, n // 3])
    i = np.repeat(np.arange(start, stop), 2 * gaps.size)
    j = (i + np.tile(np.concatenate([gaps, -gaps]), stop - start)) % n
    return csr_array((1.0 + ((i + j) % 7) / 7, (i - start, j)), shape=(stop - start, n))


def cohorts() -> Case:
    """COVA-E1 of 100,000 samples in ten cohorts."""
    n, count = 100_000, 8
    bounds = np.linspace(0, n, count + 1).astype(int)
    parts = [partial(neighbours, int(a), int(b), n) for a, b in pairwise(bounds)]
    labels = np.random.default_rng(0).integers(10, size=n).astype(str)

    def work(weights: Any) -> tuple[float, int]:
        model = rs.COVA("E1", affinity=weights, random_state=0).fit(None, labels)
        return float(np.abs(model.embedding_).mean()), model.solve_result_.iterations

    return Case(
        "COVA-E1, 10⁵ samples",
        lambda: csr_array(vstack([make() for make in parts])),
        lambda client: DistributedRelation(parts, client=client),
        work,
        lambda workers: conjugate_gradients(n, 10, workers),
        count,
    )


def facts() -> Case:
    """Five epochs of TransE on 600,000 made-up facts of 20,000 things and 200 relations, in four parts."""
    entities, relations, count, width, parts, epochs = 20_000, 200, 600_000, 100, 4, 5
    rng = np.random.default_rng(0)
    head, relation = rng.integers(entities, size=count), rng.integers(relations, size=count)
    tail = (head + 37 * relation + rng.integers(3, size=count)) % entities
    triples = np.unique(np.column_stack([head, relation, tail]), axis=0)
    names = {"entities": [f"e{i}" for i in range(entities)], "relations": [f"r{i}" for i in range(relations)]}
    graph = rs.KnowledgeGraph(triples, **names)

    def work(given: Any) -> tuple[float, int]:
        model = rs.KGEmbedding("TransE", width, n_epochs=epochs, n_batches=50, n_jobs=1, random_state=0)
        return model.fit(given).history_[-1]["loss"], epochs

    return Case(
        "TransE, 5 epochs",
        lambda: graph,
        lambda client: DistributedGraph(graph, parts, client=client),
        work,
        lambda workers: epoch(entities, relations, width, parts, workers),
        2 * parts,
    )


def main(entries: int = 10_000_000, workers: tuple[int, ...] = (1, 2), memory: str | None = None) -> None:
    """Do everything here and on workers, and show the table; with a limit only CA, and not here."""
    print(HEADING)
    cases = [correspondence(entries)] if memory else [correspondence(entries), code(), cohorts(), facts()]
    runs: list[dict[str, Any]] = []
    for case in cases:
        here = None
        if memory is None:
            data = case.here()
            case.work(data)  # compiles
            started = time.perf_counter()
            value, _ = case.work(data)
            here = time.perf_counter() - started
            print(f"{case.name:24}{'here':>8}{here:9.2f}{'':73}{value:.8f}", flush=True)
            runs.append({"case": case.name, "workers": 0, "seconds": here, "check": value})
            del data
        for number in workers:
            run = on_workers(case, number, here, memory)
            print(run.told(), flush=True)
            runs.append(asdict(run))
    RESULTS.mkdir(exist_ok=True)
    content = {"title": "distributed", "processors": os.cpu_count(), "runs": runs}
    (RESULTS / f"distributed-{entries:.0e}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main(int(float(sys.argv[1])), (int(sys.argv[2]),), sys.argv[3])
