"""Correspondence analysis on worker processes: overhead, scaling, bytes moved.

A made-up corpus of Zipf's frequencies, generated block by block on the workers, so that no process ever holds
it whole. ``python -m benchmarks distributed`` takes 10⁷ entries, here and on one and two workers;
``python -m benchmarks.distributed 2e8 2 3GB`` takes as many as you say, on so many workers with a limit.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, vstack

import relscape as rs
from benchmarks.harness import RESULTS
from relscape.distributed import DistributedRelation, connect

K = 10
WORDS = 100_000
LENGTH = 66  # words a document
BLOCK_ENTRIES = 2_000_000


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
    """What one fit cost."""

    workers: int
    entries: int
    build_seconds: float
    fit_seconds: float
    rounds: int
    sent_mb: float
    received_mb: float
    worker_mb: float
    first_value: float

    def told(self) -> str:
        """Give a line of the table."""
        return (
            f"{self.workers:7d}{self.entries:14,d}{self.build_seconds:9.1f}{self.fit_seconds:9.1f}{self.rounds:8d}"
            f"{self.sent_mb / self.rounds:10.3f}{self.received_mb / self.rounds:10.3f}{self.worker_mb:11.0f}"
            f"  σ1 = {self.first_value:.8f}"
        )


def _resident_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024


def distributed(entries: int, workers: int, memory: str | None = None) -> Run:
    with connect(workers=workers, memory=memory) as client:
        started = time.perf_counter()
        relation = DistributedRelation(makers(entries), client=client)
        built = time.perf_counter()
        before = asdict(relation.traffic)
        model = rs.CorrespondenceAnalysis(K).fit(relation)
        ended = time.perf_counter()
        moved = {name: value - before[name] for name, value in asdict(relation.traffic).items()}
        largest = max(client.run(_resident_mb).values())
        return Run(
            workers,
            relation.n_stored,
            built - started,
            ended - built,
            moved["rounds"],
            moved["sent"] / 2**20,
            moved["received"] / 2**20,
            largest,
            float(model.singular_values_[0]),
        )


def local(entries: int) -> tuple[float, float]:
    matrix = csr_array(vstack([make() for make in makers(entries)]))
    rs.CorrespondenceAnalysis(2).fit(matrix[:2000])
    started = time.perf_counter()
    model = rs.CorrespondenceAnalysis(K).fit(matrix)
    return time.perf_counter() - started, float(model.singular_values_[0])


def main(entries: int = 10_000_000, workers: tuple[int, ...] = (1, 2), memory: str | None = None) -> None:
    """Fit here and on one and two workers, and show the table."""
    heading = ("workers", "entries", "build s", "fit s", "rounds", "MB sent", "MB back", "MB/worker")
    widths = (7, 14, 9, 9, 8, 10, 10, 11)
    print("".join(f"{name:>{width}}" for name, width in zip(heading, widths, strict=True)), "(MB a round)")
    runs = []
    if memory is None:
        seconds, first = local(entries)
        print(f"{'here':>7}{'':14}{'':9}{seconds:9.1f}{'':39}  σ1 = {first:.8f}")
        runs.append({"workers": 0, "fit_seconds": seconds, "first_value": first})
    for count in workers:
        run = distributed(entries, count, memory)
        print(run.told(), flush=True)
        runs.append(asdict(run))
    RESULTS.mkdir(exist_ok=True)
    content = {"title": "distributed", "processors": os.cpu_count(), "runs": runs}
    (RESULTS / f"distributed-{entries:.0e}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main(int(float(sys.argv[1])), (int(sys.argv[2]),), sys.argv[3])
