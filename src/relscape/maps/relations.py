"""Relations that travel with a map: that they fit its points, and follow when the points change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from scipy.sparse import coo_array, csr_array

from relscape.data import Relation
from relscape.data.labels import match
from relscape.errors import DataError, UnknownNameError
from relscape.maps.group import Group
from relscape.protocols import IntArray

__all__ = ["check_relation", "follow_groups"]


def check_relation(relation: Relation, groups: Mapping[str, Group]) -> None:
    """Refuse a relation whose kinds or sizes are not those of the groups."""
    for kind, size in zip((relation.rows, relation.columns), relation.matrix.shape, strict=True):
        if kind not in groups:
            raise UnknownNameError("kind", kind, groups, f"the map, for relation {relation.name!r}")
        if size != len(groups[kind]):
            raise DataError(
                f"relation {relation.name!r} has {size} entries for kind {kind!r}, "
                f"the map has {len(groups[kind])} points of it."
            )


def follow_groups(
    relations: Iterable[Relation], old: Mapping[str, Group], new: Mapping[str, Group]
) -> list[Relation]:
    """Carry relations over to other groups by the ids of the things; a relation of a lost kind goes."""
    moves = {kind: match(group.ids, new[kind].ids) for kind, group in old.items() if kind in new}
    return [
        _moved(relation, moves[relation.rows], moves[relation.columns], new)
        for relation in relations
        if relation.rows in moves and relation.columns in moves
    ]


def _moved(relation: Relation, rows: IntArray, columns: IntArray, groups: Mapping[str, Group]) -> Relation:
    entries = coo_array(relation.matrix)
    i, j = rows[entries.coords[0]], columns[entries.coords[1]]
    kept = np.logical_and(i >= 0, j >= 0)
    shape = (len(groups[relation.rows]), len(groups[relation.columns]))
    matrix = csr_array(coo_array((entries.data[kept], (i[kept], j[kept])), shape=shape))
    return Relation(relation.name, relation.rows, relation.columns, matrix, relation.directed)
