"""A trained knowledge-graph model, seen only through the energies that it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relscape.data.triples import KnowledgeGraph
from relscape.objectives.energies import Energy, Params, Settings, energy_named
from relscape.protocols import FloatArray, IntArray
from relscape.scores.rank_counts import Counter, count_ranks
from relscape.scores.ranking import Filter, RankingReport, rank_triples

__all__ = ["Trained"]


@dataclass(frozen=True, eq=False)
class Trained:
    """An energy with its parameters.

    With ``reciprocal`` relations every relation has a second row, for the way back, after all the first ones;
    heads are then found as the tails of the way back.
    """

    energy: Energy
    params: Params
    settings: Settings
    reciprocal: bool = False

    @property
    def n_relations(self) -> int:
        """How many relations there are, ways back not counted."""
        rows = len(self.params["relations"])
        return rows // 2 if self.reciprocal else rows

    def energies(self, triples: IntArray) -> FloatArray:
        """Give the energies of triples of numbers; low is true."""
        return np.asarray(self.energy.energies(self.params, triples, self.settings), dtype=np.float64)

    def tails_of(self, heads: IntArray, relations: IntArray) -> FloatArray:
        """Give the energies of all entities as tails, one row a question."""
        return self.energy.tails_of(self.params, heads, relations, self.settings)

    def heads_of(self, tails: IntArray, relations: IntArray) -> FloatArray:
        """Give the energies of all entities as heads, one row a question."""
        if self.reciprocal:
            return self.tails_of(tails, relations + self.n_relations)
        return self.energy.heads_of(self.params, relations, tails, self.settings)

    def rank(
        self,
        triples: IntArray,
        graph: KnowledgeGraph,
        known: Filter | None = None,
        exclude_self_loops: bool = False,
        ties: str = "realistic",
        count: Counter = count_ranks,
    ) -> RankingReport:
        """Rank heads and tails of triples among all entities."""
        return rank_triples(
            self.tails_of,
            self.heads_of,
            triples,
            graph,
            known=known,
            exclude_self_loops=exclude_self_loops,
            ties=ties,
            count=count,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes with the energy's name instead of its compiled functions."""
        return _revived, (self.energy.name, self.params, self.settings, self.reciprocal)


def _revived(name: str, params: Params, settings: Settings, reciprocal: bool) -> Trained:
    return Trained(energy_named(name), params, settings, reciprocal)
