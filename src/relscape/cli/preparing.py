"""What happens to relations between reading and fitting, and which of them a map can carry."""

from __future__ import annotations

import numpy as np

from relscape.cli.reading import Reading, attach_fields
from relscape.data import Relation, RelationalData
from relscape.errors import DataError, ParameterError
from relscape.maps import Map

__all__ = ["on_map", "prepared", "size_told", "with_degree"]


def prepared(
    source: Reading, many: bool, row_info: str | None, column_info: str | None, least: float
) -> RelationalData:
    """Read one relation, or all of them for a map of many kinds, with what is known of their things."""
    if least < 0:
        raise ParameterError(f"--min-degree {least:g}: give 0 or more.")
    data = source.read_all() if many else source.read()
    if len(data.relations) > 1 and (row_info or column_info):
        raise ParameterError("--row-info and --column-info are for one relation; this map has several.")
    relation = next(iter(data.relations.values()))
    for kind, table in ((relation.rows, row_info), (relation.columns, column_info)):
        if table is not None:
            data = attach_fields(data, kind, table, source.encoding)
    return with_degree(data, least) if least > 0 else data


def with_degree(data: RelationalData, least: float) -> RelationalData:
    """Leave out things whose weights sum to less than ``least``, until none is left to leave out.

    With several relations the weights of all of them count.
    """
    while True:
        sums = {kind: np.zeros(len(entities)) for kind, entities in data.entities.items()}
        for name, relation in data.relations.items():
            for kind in dict.fromkeys((relation.rows, relation.columns)):
                sums[kind] += data.degrees(kind, name)
        keep = {kind: own >= least for kind, own in sums.items()}
        if all(kept.all() for kept in keep.values()):
            return data
        if not all(kept.any() for kept in keep.values()):
            raise DataError(f"--min-degree {least:g} leaves nothing; choose a smaller one.")
        for kind, kept in keep.items():
            data = data.select(kind, kept)


def on_map(data: RelationalData, joint: Map) -> list[Relation]:
    """Keep of the relations what is between things that have a place, under the kinds they have there."""
    kept = []
    for relation in data.relations.values():
        there = set(joint.groups) >= {relation.rows, relation.columns}
        first, last = (relation.rows, relation.columns) if there else (joint.groups[0], joint.groups[-1])
        rows = np.isin(data.entities[relation.rows].ids, joint.group(first).ids)
        columns = np.isin(data.entities[relation.columns].ids, joint.group(last).ids)
        kept.append(Relation(relation.name, first, last, relation.matrix[rows][:, columns]))
    return kept


def size_told(data: RelationalData) -> tuple[str, int]:
    """Say how large relations are, and count their pairs."""
    sizes = " and ".join(f"{r.matrix.shape[0]:,} × {r.matrix.shape[1]:,}" for r in data.relations.values())
    return sizes, sum(relation.matrix.nnz for relation in data.relations.values())
