"""Lists of answers: all candidates of a question, which of them are known, and where each one stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from relscape.data.triples import SPLITS, KnowledgeGraph
from relscape.models.knowledge_scoring import Trained
from relscape.protocols import BoolArray, FloatArray, IntArray
from relscape.scores.ranking import loopless_relations

__all__ = ["Candidates", "Lists", "completions", "list_ranks", "lowest"]


class Candidates(NamedTuple):
    """All candidates of some questions, one row a question.

    ``known`` marks those that make a known fact, ``loops`` the entity of the question itself where training
    joins none with itself by that relation, unless just that fact is known.
    """

    energies: FloatArray
    known: BoolArray
    loops: BoolArray


@dataclass(frozen=True, eq=False)
class Lists:
    """A trained model with its graph: what stands where when something is asked.

    A question is a triple of numbers together with the part that is wanted: 0 for heads, 1 for relations,
    2 for tails. What the triple has in that part does not matter. Facts of ``splits`` count as known.
    """

    trained: Trained
    graph: KnowledgeGraph
    splits: Sequence[str] = SPLITS

    @cached_property
    def facts(self) -> IntArray:
        """All facts that count as known."""
        return self.graph.triples(self.splits)

    @cached_property
    def _loopless(self) -> BoolArray:
        return loopless_relations(self.graph)

    def of(self, part: int, triples: IntArray) -> Candidates:
        """Gather the candidates of questions of one kind."""
        known = completions(part, triples, self.facts, self._size(part))
        loops = np.zeros_like(known)
        if part != 1:
            rows = np.flatnonzero(self._loopless[triples[:, 1]])
            own = triples[rows, 2 - part]
            loops[rows, own] = ~known[rows, own]
        return Candidates(self._energies(part, triples), known, loops)

    def _size(self, part: int) -> int:
        return self.graph.n_relations if part == 1 else self.graph.n_entities

    def _energies(self, part: int, triples: IntArray) -> FloatArray:
        if part == 2:
            return self.trained.tails_of(triples[:, 0], triples[:, 1])
        if part == 0:
            return self.trained.heads_of(triples[:, 2], triples[:, 1])
        n = self.graph.n_relations
        completed = np.repeat(triples, n, axis=0)
        completed[:, 1] = np.tile(np.arange(n), len(triples))
        return self.trained.energies(completed).reshape(len(triples), n)


def completions(part: int, triples: IntArray, facts: IntArray, size: int) -> BoolArray:
    """Mark what completes questions to one of some facts, one row a question and ``size`` columns.

    >>> facts = np.array([[0, 0, 1], [0, 0, 2], [1, 0, 2]])
    >>> completions(2, np.array([[0, 0, 0], [2, 0, 0]]), facts, 3).tolist()
    [[False, True, True], [False, False, False]]
    """
    one, other = (place for place in range(3) if place != part)
    width = 1 + max(int(rows[:, other].max(initial=0)) for rows in (triples, facts))
    asked, row = np.unique(triples[:, one] * width + triples[:, other], return_inverse=True)
    keys = facts[:, one] * width + facts[:, other]
    at = np.minimum(np.searchsorted(asked, keys), asked.size - 1)
    met = asked[at] == keys
    marked = np.zeros((asked.size, size), dtype=bool)
    marked[at[met], facts[met, part]] = True
    return np.asarray(marked[row])


def lowest(energies: FloatArray, listed: BoolArray, most: int) -> IntArray:
    """Give the listed candidates of lowest energy in their order, without sorting all of them.

    >>> lowest(np.array([0.5, 0.1, 0.5, 0.9]), np.array([True, False, True, True]), 2).tolist()
    [0, 2]
    """
    places = np.flatnonzero(listed)
    if places.size > most:
        last = np.partition(energies[places], most - 1)[most - 1]
        places = places[energies[places] <= last]
    return places[np.argsort(energies[places], kind="stable")[:most]]


def list_ranks(energies: FloatArray, listed: BoolArray, chosen: IntArray) -> FloatArray:
    """Give the ranks of chosen candidates of a question among those that are listed, ties counting half.

    One that is not listed stands where it would stand if it were.

    >>> energies, listed = np.array([0.5, 0.1, 0.5, 0.9]), np.array([True, False, True, True])
    >>> list_ranks(energies, listed, np.arange(4)).tolist()
    [1.5, 1.0, 1.5, 3.0]
    """
    ordered = np.sort(energies[listed])
    below, upto = (np.searchsorted(ordered, energies[chosen], side) for side in ("left", "right"))
    return np.asarray(1.0 + below + (upto - below - listed[chosen]) / 2)
