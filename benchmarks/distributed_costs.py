"""What the cost model of docs/distributed.md says of one step: rounds, bytes sent, bytes brought back.

With m rows, n columns and W workers. Time is that of the same work here, shared by the processors that the
workers have, and for every round what a round costs that moves as much and computes nothing, which
``empty_round`` measures.
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

import numpy as np

from relscape.distributed.rounds import Rounds

CODE_BLOCKS = 32
SMALL = 16_384  # bytes that travel with every task


class Step(NamedTuple):
    """One step: rounds, bytes that leave this process, bytes that come back."""

    rounds: float
    sent: float
    received: float


def lanczos(n: int, workers: int) -> Step:
    """``Rᵀ D R x`` with a vector of n."""
    return Step(1, 8 * n * workers, 8 * n)


def likelihood(m: int, n: int, k: int, workers: int) -> Step:
    """CODE's value and gradient: two products with the relation, and the sums over all pairs."""
    sent = 8 * (2 * n * (k + 1) * workers + (2 * k + 1) * m)
    return Step(3, sent, 8 * ((2 * k + 1) * m + n * k + CODE_BLOCKS * n * (k + 1)))


def conjugate_gradients(n: int, cohorts: int, workers: int) -> Step:
    """One step of COVA-E1: the weights times n × c numbers."""
    width = min(cohorts, 16)
    return Step(1, 8 * n * width * workers, 8 * n * width)


def epoch(entities: int, relations: int, width: int, parts: int, workers: int) -> Step:
    """Tell of an epoch of a knowledge graph with Adagrad: 4 bytes a number and 4 for its square.

    Entities go out and come back once, relations every round: small ones with every meeting, others once to
    every worker.
    """
    rounds, meetings = (parts - 1 if parts % 2 == 0 else parts), parts // 2
    rows, common = 8 * entities * width, 8 * relations * width
    copies = meetings if common <= SMALL else workers
    return Step(rounds, rows + rounds * copies * common, rows + rounds * meetings * common)


def nothing(*given: Any) -> None:
    """Compute nothing."""


def empty_round(client: Any, tasks: int, payload: int, repeats: int = 10) -> float:
    """Measure a round of so many tasks that sends so many bytes to every worker and computes nothing."""
    rounds, array = Rounds(client), np.zeros(max(1, payload // 8))
    rounds.collect(nothing, [list(range(tasks))], [array])
    started = time.perf_counter()
    for _ in range(repeats):
        rounds.collect(nothing, [list(range(tasks))], [array])
    return (time.perf_counter() - started) / repeats


def seconds(rounds: float, here: float, a_round: float, workers: int) -> float:
    """Predict the time of so many rounds of work that takes ``here`` seconds on one processor."""
    return rounds * a_round + here / min(workers, os.cpu_count() or 1)
