"""What can be counted of triples: how many tails a head has, which way round, and what is known reversed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relscape.data.fact_numbers import contained
from relscape.protocols import FloatArray, IntArray, TextArray

__all__ = [
    "CATEGORIES",
    "PARTITIONS",
    "RelationCounts",
    "count_relations",
    "partition",
    "relation_categories",
]

CATEGORIES = ("1-1", "1-N", "N-1", "N-N")
PARTITIONS = ("reciprocal", "reverse", "other")

_MOST_FOR_ONE = 1.5


class RelationCounts(NamedTuple):
    """Counts by relation: triples, distinct heads and distinct tails, over distinct triples."""

    triples: IntArray
    heads: IntArray
    tails: IntArray

    @property
    def tails_per_head(self) -> FloatArray:
        """Mean number of tails of a head that has the relation (tph); NaN where none has."""
        return _ratio(self.triples, self.heads)

    @property
    def heads_per_tail(self) -> FloatArray:
        """Mean number of heads of a tail that has the relation (hpt); NaN where none has."""
        return _ratio(self.triples, self.tails)


def _ratio(numbers: IntArray, by: IntArray) -> FloatArray:
    ratio = np.full(numbers.size, np.nan)
    np.divide(numbers, by, out=ratio, where=by > 0)
    return ratio


def count_relations(triples: IntArray, n_entities: int, n_relations: int) -> RelationCounts:
    """Count triples, heads and tails of every relation; a triple that repeats counts once.

    >>> counts = count_relations(np.array([[0, 0, 1], [0, 0, 2], [1, 0, 2]]), 3, 1)
    >>> counts.tails_per_head.tolist(), counts.heads_per_tail.tolist()
    ([1.5], [1.5])
    """
    head, relation, tail = triples.T
    with_head = relation * n_entities + head
    counts = [
        np.bincount(_distinct(keys) // width, minlength=n_relations)
        for keys, width in (
            (with_head * n_entities + tail, n_entities**2),
            (with_head, n_entities),
            (relation * n_entities + tail, n_entities),
        )
    ]
    return RelationCounts(*counts)


def _distinct(keys: IntArray) -> IntArray:
    """Give the distinct integers, sorted; quicker than by hashing."""
    ordered = np.sort(keys)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if ordered.size else ordered


def relation_categories(counts: RelationCounts) -> TextArray:
    """Call every relation 1-1, 1-N (many tails a head), N-1 (many heads a tail) or N-N.

    A side counts as one when its mean is at most 1.5, the rule published with TransE (Bordes et al. 2013),
    whose shares on FB15k it gives exactly. A relation without any triple is called 1-1.
    """
    many_heads = (counts.heads_per_tail > _MOST_FOR_ONE).astype(np.int64)
    many_tails = (counts.tails_per_head > _MOST_FOR_ONE).astype(np.int64)
    names: TextArray = np.array(CATEGORIES, dtype=object)
    return np.asarray(names[2 * many_heads + many_tails])


def partition(triples: IntArray, train: IntArray, n_entities: int, n_relations: int) -> TextArray:
    """Say of every triple what the training triples know in the opposite direction.

    "reciprocal": the same relation holds from tail to head; "reverse": another one does; "other": none.

    >>> train = np.array([[1, 0, 0], [2, 1, 0]])
    >>> partition(np.array([[0, 0, 1], [0, 0, 2], [1, 0, 2]]), train, 3, 2).tolist()
    ['reciprocal', 'reverse', 'other']
    """
    pairs = contained(triples[:, 2] * n_entities + triples[:, 0], train[:, 0] * n_entities + train[:, 2])
    turned = (triples[:, 2] * n_relations + triples[:, 1]) * n_entities + triples[:, 0]
    same = contained(turned, (train[:, 0] * n_relations + train[:, 1]) * n_entities + train[:, 2])
    names: TextArray = np.array(PARTITIONS, dtype=object)
    return names[np.where(same, 0, np.where(pairs, 1, 2))]
