"""Co-embeddings of one relation or several: what is left out before, fitted, and carried on the map after."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from relscape import progress
from relscape.data import Relation, RelationalData
from relscape.errors import DataError, RelscapeWarning
from relscape.maps import Map
from relscape.project.costs import coembedding_seconds, time_told

__all__ = ["fitted_maps", "on_map", "size_told", "with_degree"]


def with_degree(data: RelationalData, least: float, said: str) -> RelationalData:
    """Leave out things whose weights sum to less than ``least``, until none is left to leave out.

    With several relations the weights of all of them count. ``said`` is how the person put it, for messages.
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
            raise DataError(f"{said} leaves nothing; choose a smaller one.")
        for kind, kept in keep.items():
            data = data.select(kind, kept)


def fitted_maps(model: Any, title: str, data: Any) -> list[Map]:
    """Fit a model and give its map, or one a block if asked for; axes that do not exist are an error."""
    sizes, pairs = size_told(data)
    expected = time_told(coembedding_seconds(model, data))
    progress.note(f"{title} of {sizes} things, {pairs:,} pairs: {expected}")
    with progress.task(title), warnings.catch_warnings():
        warnings.filterwarnings("error", "n_components=.* the others are zero", RelscapeWarning)
        model.fit(data)
    maps: list[Map] = model.to_maps() if hasattr(model, "to_maps") else [model.to_map()]
    return maps


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


def size_told(data: Any) -> tuple[str, int]:
    """Say how large relations are, here or on a cluster, and count their pairs."""
    if not isinstance(data, RelationalData):
        return f"{data.shape[0]:,} × {data.shape[1]:,}", int(data.n_stored)
    sizes = " and ".join(f"{r.matrix.shape[0]:,} × {r.matrix.shape[1]:,}" for r in data.relations.values())
    return sizes, sum(relation.matrix.nnz for relation in data.relations.values())
