"""Facts as relations between kinds of things, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from relscape.data.dataset import RelationalData
from relscape.data.entities import EntitySet
from relscape.data.relation import Relation, without_zeros
from relscape.errors import DataError
from relscape.protocols import FloatArray, IntArray, TextArray

__all__ = ["NumberedFacts", "facts_of", "relations_of"]


class NumberedFacts(NamedTuple):
    """Triples of numbers with the names behind them, as a knowledge graph takes them."""

    triples: IntArray
    entities: TextArray
    relations: TextArray
    labels: TextArray
    weights: FloatArray | None


def facts_of(data: RelationalData) -> NumberedFacts:
    """Read every relation of a data set as a predicate between things of all kinds.

    Things are named ``kind:id`` where there are several kinds, by their id otherwise. Weights are kept
    where they are not all 1; a negative one is refused.
    """
    if not data.relations:
        raise DataError("the data has no relations, so there are no facts in it.")
    several = len(data.entities) > 1
    offsets, names, labels, start = {}, [], [], 0
    for kind, things in data.entities.items():
        offsets[kind], start = start, start + len(things)
        names += [f"{kind}:{id_}" for id_ in things.ids] if several else list(things.ids)
        labels += list(things.shown)
    parts, weights = [], []
    for number, relation in enumerate(data.relations.values()):
        matrix = without_zeros(relation.matrix).tocoo()
        negative = np.flatnonzero(matrix.data < 0)
        if negative.size:
            raise DataError(
                f"relation {relation.name!r} has {negative.size} negative weights; a fact counts by a "
                "positive one. Leave such pairs out, or make a relation of their own of them."
            )
        heads = matrix.row.astype(np.int64) + offsets[relation.rows]
        tails = matrix.col.astype(np.int64) + offsets[relation.columns]
        parts.append(np.column_stack([heads, np.full(heads.size, number), tails]))
        weights.append(matrix.data.astype(np.float64))
    joined = np.concatenate(weights)
    return NumberedFacts(
        np.concatenate(parts),
        np.array(names, dtype=object),
        np.array([*data.relations], dtype=object),
        np.array(labels, dtype=object),
        None if (joined == 1.0).all() else joined,
    )


def relations_of(
    triples: IntArray, weights: FloatArray, relations: TextArray, entities: EntitySet
) -> list[Relation]:
    """Make one relation of every predicate that the triples have, from head to tail."""
    counts = np.bincount(triples[:, 1], minlength=len(relations))
    order = np.argsort(triples[:, 1], kind="stable")
    size = len(entities)
    made = []
    for number, rows in enumerate(np.split(order, np.cumsum(counts)[:-1])):
        if rows.size:
            ends: Any = (triples[rows, 0], triples[rows, 2])
            matrix = csr_array(coo_array((weights[rows], ends), shape=(size, size)))
            made.append(Relation(str(relations[number]), entities.kind, entities.kind, matrix))
    return made
