"""Guided projection of large sparse tables, beside the CCA of scikit-learn and of cca_zoo.

Two made-up data sets of 100,000 things each, of the same 20 topics, each with 10,000 sparse features of its
own, about 45 a thing: a third of them by topic, the others from everywhere. Guidance are 1,000,000 pairs
across, eight in ten of one topic and the others at random: similar where the topics agree, else dissimilar.

CCA knows no such guidance, only that row i of one table belongs to row i of the other. Such pairs are there,
too: thing i has one topic in both data sets. ``RidgeCCA`` is measured on them beside the peers, whose tables
are dense, at sizes that they can take; cca_zoo's has the same ridge. What a method found is told by 1,000 new
things of either kind: for how many the nearest one of the other kind has their topic (by chance one in 20).

Linear algebra takes one thread in relscape, and as many as there are cores in the peers.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from benchmarks import harness
from benchmarks.harness import Measure, in_own_process, measured, report, show

AXES, TOPICS, LENGTH, PAIRS, NEW = 10, 20, 50, 10, 1_000
RIDGE = 1e-3
FULL = (100_000, 10_000)
PEERS = ((2_000, 500), (5_000, 1_000), FULL)
INSTANCES = (1_000, 10_000, 100_000)
FEATURES = (1_000, 5_000, 10_000)
LONG = 4_000_000  # entries of a table from which a case is timed once
MOST_GIGABYTES = 4.0  # of one dense table: two, and a copy of each to centre, are then 16


class Data(NamedTuple):
    """Two tables, guidance between them, and new things of both with their topics."""

    left: csr_array
    right: csr_array
    guidance: csr_array
    new_left: csr_array
    new_right: csr_array
    topics: Any


def made(n: int, d: int) -> Data:
    """Draw both tables, the guidance and the new things."""
    rng = np.random.default_rng(0)
    topics = rng.integers(TOPICS, size=n + NEW)
    left, right = _table(rng, topics, d, 7919, 2503), _table(rng, topics, d, 6007, 4001)
    by_topic = np.argsort(topics[:n], kind="stable")
    starts = np.searchsorted(topics[:n][by_topic], np.arange(TOPICS + 1))
    i = rng.integers(n, size=PAIRS * n)
    sizes = np.diff(starts)[topics[i]]
    alike = by_topic[starts[topics[i]] + (rng.random(i.size) * sizes).astype(np.int64)]
    j = np.where(rng.random(i.size) < 0.8, alike, rng.integers(n, size=i.size))
    i, j = np.divmod(np.unique(i * n + j), n)
    weights = np.where(topics[i] == topics[j], 1.0, -1.0)
    guidance = csr_array((weights, (i, j)), shape=(n, n))
    return Data(left[:n], right[:n], guidance, left[n:], right[n:], topics[n:])


def _table(rng: np.random.Generator, topics: Any, d: int, stride: int, shift: int) -> csr_array:
    """Draw features with Zipf's frequencies; by topic these are a permutation of their own."""
    i = np.repeat(np.arange(topics.size), LENGTH)
    feature = np.minimum(np.exp(rng.random(i.size) * np.log(d)).astype(np.int64) - 1, d - 1)
    own = rng.random(i.size) < 1 / 3
    j = np.where(own, (feature * stride + topics[i] * shift) % d, feature)
    table = csr_array((np.ones(i.size), (i, j)), shape=(topics.size, d))
    table.sum_duplicates()
    return table


def found(left: Any, right: Any, topics: Any) -> str:
    """Tell how many new things have one of their topic nearest among the other kind.

    Scores of CCA have a scale of their own in either view, so all axes are given the same.
    """
    left, right = ((points - points.mean(axis=0)) / points.std(axis=0) for points in (left, right))
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2.0 * left @ right.T
    agree = topics[squares.argmin(axis=1)] == topics
    return f"topics found {agree.mean():.1%}"


def prepare_guided(n: int, d: int) -> Callable[[], str]:
    from relscape import HeterogeneousProjection

    data = made(n, d)

    def work() -> str:
        model = HeterogeneousProjection(AXES, RIDGE, random_state=0)
        model.fit({"left": data.left, "right": data.right}, {("left", "right"): data.guidance})
        new = model.transform({"left": data.new_left, "right": data.new_right})
        return found(new["left"], new["right"], data.topics)

    return work


def prepare_paired(n: int, d: int) -> Callable[[], str]:
    from relscape import RidgeCCA

    data = made(n, d)

    def work() -> str:
        model = RidgeCCA(AXES, RIDGE, random_state=0).fit(data.left, data.right)
        return found(*model.transform(data.new_left, data.new_right), data.topics)

    return work


def prepare_sklearn(n: int, d: int) -> Callable[[], str]:
    from sklearn.cross_decomposition import CCA

    data = _dense(n, d)

    def work() -> str:
        model = CCA(AXES, scale=False).fit(data.left, data.right)
        return found(*model.transform(data.new_left, data.new_right), data.topics)

    return work


def prepare_zoo(n: int, d: int) -> Callable[[], str]:
    from cca_zoo.linear import RidgeCCA

    data = _dense(n, d)
    ridges = [RIDGE * table.var(axis=0, ddof=1).mean() for table in (data.left, data.right)]

    def work() -> str:
        model = RidgeCCA(AXES, shrinkage=[ridge / (1 + ridge) for ridge in ridges])
        model.fit([data.left, data.right])
        return found(*model.transform([data.new_left, data.new_right]), data.topics)

    return work


def _dense(n: int, d: int) -> Any:
    needed = n * d * 8 / 2**30
    if needed > MOST_GIGABYTES:
        raise MemoryError(f"takes dense tables only: two of {needed:.1f} GB, and copies")
    data = made(n, d)
    tables = ("left", "right", "new_left", "new_right")
    return data._replace(**{name: getattr(data, name).toarray() for name in tables})


CASES: dict[str, Callable[[int, int], Callable[[], str]]] = {
    "relscape HeterogeneousProjection": prepare_guided,
    "relscape RidgeCCA": prepare_paired,
    "scikit-learn CCA": prepare_sklearn,
    "cca_zoo RidgeCCA": prepare_zoo,
}
GUIDED = next(iter(CASES))


def main() -> None:
    """Compare with the peers size by size, then let things and features grow."""
    for n, d in PEERS:
        rows = {case: _run(case, n, d) for case in CASES}
        show(f"projection {n} {d}: two tables of {n:,} × {d:,}", rows, GUIDED)
    grown = {f"n = {n:,}": _run(GUIDED, n, FULL[1]) for n in INSTANCES}
    show(f"projection things: {FULL[1]:,} features, ten pairs a thing", grown, next(iter(grown)))
    wider = {f"d = {d:,}": _run(GUIDED, FULL[0], d) for d in FEATURES}
    show(f"projection features: {FULL[0]:,} things, ten pairs each", wider, next(iter(wider)))


def _run(case: str, n: int, d: int) -> Measure:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "size").write_text(f"{n} {d}")
        return in_own_process("benchmarks.projection", case, Path(folder))


if __name__ == "__main__":
    things, features = map(int, (Path(sys.argv[2]) / "size").read_text().split())
    if things * features >= LONG:
        harness.REPEATS = 1
    report(measured(lambda: CASES[sys.argv[1]](things, features)))
