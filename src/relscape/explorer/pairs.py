"""The relations that a map carries as columns: who, with whom, how strongly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from relscape.data import Relation
from relscape.protocols import FloatArray, IntArray

__all__ = ["Pairs", "pairs_of"]

MOST = 2_000_000


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of a relation, by the things' numbers among all points of the map."""

    relation: Relation
    sources: IntArray
    targets: IntArray
    weights: FloatArray
    total: int

    def describe(self, columns: Mapping[str, str], role: str) -> dict[str, Any]:
        """Say what the relation is, and which columns hold its pairs."""
        return {
            "name": self.relation.name,
            "from": self.relation.rows,
            "to": self.relation.columns,
            "count": len(self.weights),
            "total": self.total,
            "columns": dict(columns),
            "directed": self.relation.directed,
            "role": role,
        }


def pairs_of(relation: Relation, starts: Mapping[str, int], most: int = MOST) -> Pairs:
    """Give the pairs of a relation, an undirected one's once; of a great many, the strongest."""
    entries = coo_array(relation.matrix)
    rows, columns = entries.coords
    kept = entries.data != 0
    if not relation.directed:
        kept &= rows <= columns
    places = np.flatnonzero(kept)
    total = len(places)
    if total > most:
        strength = np.abs(entries.data[places])
        strongest = np.argpartition(-strength, most - 1)[:most]
        places = places[np.sort(strongest)]
    return Pairs(
        relation,
        rows[places].astype(np.int64) + starts[relation.rows],
        columns[places].astype(np.int64) + starts[relation.columns],
        entries.data[places],
        total,
    )
