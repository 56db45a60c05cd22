"""Entities dealt into parts, and who meets whom: training that needs only two parts at a time.

An epoch is a tournament: in every round each part meets one other, all have met after P − 1 rounds (P if P is
odd), and no two meetings of a round touch the same entity. Where parts i and j meet, all triples between them
are trained, in both directions, and a share of those within i and within j, another one each epoch;
corruptions come from both parts. Nothing here knows who does the work, nor where.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relscape.protocols import FloatArray, IntArray
from relscape.solvers.triples.sampling import Sampler, sampler
from relscape.solvers.triples.training import TrainingSet

__all__ = ["Cut", "Cutter", "Meeting", "Parts", "deal", "meeting_of", "tournament"]


@dataclass(frozen=True, eq=False)
class Parts:
    """Which part every entity is in, its place there, and the entities of each part in their order."""

    part: IntArray
    place: IntArray
    members: tuple[IntArray, ...]

    @property
    def count(self) -> int:
        """How many parts there are."""
        return len(self.members)


class Cut(NamedTuple):
    """What is cut out of a training set for a meeting, in numbers of the two parts, first ones first.

    ``turns`` says when a triple is trained: −1 always; otherwise in one of the ``cycle`` meetings that its
    part has in an epoch. Hints and weights are empty where there are none.
    """

    triples: IntArray
    hints: IntArray
    weights: FloatArray
    turns: IntArray
    cycle: int
    sizes: tuple[int, int]
    n_relations: int
    filtered: bool
    head_share: FloatArray
    starts: IntArray
    pools: IntArray


class Meeting(NamedTuple):
    """A cut, and the sampler that knows all its triples."""

    cut: Cut
    sampler: Sampler

    def due(self, epoch: int) -> TrainingSet | None:
        """Give what is trained in an epoch, counted from 0; None where that is nothing."""
        cut = self.cut
        rows = np.flatnonzero((cut.turns < 0) | ((cut.turns + epoch) % cut.cycle == 0))
        if not rows.size:
            return None
        plain = not cut.hints.size
        hints = np.full(rows.size, -1, dtype=np.int64) if plain else cut.hints[rows]
        weights = np.ones(rows.size) if plain else cut.weights[rows]
        return TrainingSet(cut.triples[rows], hints, weights, self.sampler, plain)


def deal(n_entities: int, n_parts: int) -> Parts:
    """Deal entities into parts of one size, at random but always alike.

    >>> [part.tolist() for part in deal(5, 2).members]
    [[0, 1, 2], [3, 4]]
    """
    order = np.random.default_rng(n_parts).permutation(n_entities)
    members = tuple(np.sort(order[start::n_parts]) for start in range(n_parts))
    part, place = (np.empty(n_entities, dtype=np.int32) for _ in range(2))
    for number, own in enumerate(members):
        part[own], place[own] = number, np.arange(own.size)
    return Parts(part, place, members)


def tournament(n_parts: int) -> list[list[tuple[int, int]]]:
    """Give the rounds of an epoch: pairs of parts, the smaller number first, each pair once.

    >>> tournament(4)
    [[(0, 3), (1, 2)], [(0, 2), (1, 3)], [(0, 1), (2, 3)]]
    """
    seats = [*range(n_parts), *([-1] if n_parts % 2 else [])]
    half = len(seats) // 2
    found = []
    for _ in range(len(seats) - 1):
        pairs = zip(seats[:half], reversed(seats[half:]), strict=True)
        found.append(sorted((min(pair), max(pair)) for pair in pairs if -1 not in pair))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return found


class Cutter:
    """Cuts meetings out of a training set."""

    def __init__(self, data: TrainingSet, parts: Parts) -> None:
        self.data, self.parts = data, parts
        heads, tails = (parts.part[data.triples[:, side]].astype(np.int64) for side in (0, 2))
        buckets = heads * parts.count + tails
        self._order = np.argsort(buckets, kind="stable")
        self._bounds = np.searchsorted(buckets[self._order], np.arange(parts.count**2 + 1))

    def cut(self, i: int, j: int) -> Cut:
        """Cut out what is known where part i meets part j, i < j."""
        parts, data, cycle = self.parts, self.data, self.parts.count - 1
        rows = [self._bucket(*pair) for pair in ((i, j), (j, i), (i, i), (j, j))]
        between = len(rows[0]) + len(rows[1])
        turns = np.full(sum(map(len, rows)), -1, dtype=np.int32)
        within = [np.arange(len(rows[2])) - (j - 1), np.arange(len(rows[3])) - i]  # j, i among the others
        turns[between:] = np.concatenate(within) % cycle
        chosen = np.concatenate(rows)
        heads, relations, tails = data.triples[chosen].T
        local = np.column_stack([self._local(heads, i, j), relations, self._local(tails, i, j)])
        told = chosen[:0] if data.plain else chosen
        hints, weights = data.hints[told], data.weights[told]
        source = data.sampler
        return Cut(
            local, hints, weights, turns, cycle, (parts.members[i].size, parts.members[j].size),
            source.n_relations, source.filtered, source.head_share, *self._pools(i, j),
        )  # fmt: skip

    def _bucket(self, i: int, j: int) -> IntArray:
        at = i * self.parts.count + j
        return self._order[self._bounds[at] : self._bounds[at + 1]]

    def _local(self, entities: IntArray, i: int, j: int) -> IntArray:
        second = self.parts.part[entities] == j
        return np.asarray(self.parts.place[entities] + second * np.int32(self.parts.members[i].size))

    def _pools(self, i: int, j: int) -> tuple[IntArray, IntArray]:
        """Keep of the heads and tails seen with a relation those of the two parts."""
        source = self.data.sampler
        if not source.pools.size:
            return source.starts, source.pools
        held = np.isin(self.parts.part[source.pools], (i, j))
        starts = np.concatenate([[0], np.cumsum(held)])[source.starts]
        return starts, self._local(source.pools[held], i, j).astype(np.int64)


def meeting_of(cut: Cut) -> Meeting:
    """Prepare the corruptions of a meeting."""
    known = sampler(cut.triples, sum(cut.sizes), cut.n_relations, filter_negatives=cut.filtered)
    return Meeting(cut, known._replace(head_share=cut.head_share, starts=cut.starts, pools=cut.pools))
