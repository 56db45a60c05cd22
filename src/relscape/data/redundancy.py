"""Relations that say the same as another one, and pairs that are linked already: what makes a test easy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, triu

from relscape.data.fact_numbers import contained
from relscape.errors import ParameterError
from relscape.protocols import BoolArray, IntArray, TextArray

__all__ = [
    "Overlap",
    "RedundantRelation",
    "linked_in_training",
    "redundant_relations",
    "relation_overlaps",
]


@dataclass(frozen=True)
class Overlap:
    """How many pairs of entities two relations have in common, and which share of either that is.

    ``inverse`` says that the pairs of the second one are read backwards.
    """

    first: str
    second: str
    inverse: bool
    common: int
    first_share: float
    second_share: float


@dataclass(frozen=True)
class RedundantRelation:
    """A relation that can be left out because another one says nearly the same."""

    dropped: str
    kept: str
    inverse: bool
    share: float

    def __str__(self) -> str:
        return (
            f"{self.dropped!r} {'is the inverse of' if self.inverse else 'is a duplicate of'} {self.kept!r} "
            f"(at least {self.share:.1%} of the pairs of either)"
        )


def relation_overlaps(
    triples: IntArray, n_entities: int, relations: TextArray, overlap: float
) -> list[Overlap]:
    """Find the pairs of different relations that share more than ``overlap`` of the pairs of either.

    The largest overlaps come first. A relation that is its own inverse is no such pair.
    """
    if not 0.0 <= overlap < 1.0:
        raise ParameterError(f"overlap is {overlap}; expected a share from 0 up to, but not including, 1.")
    forwards, backwards = _pair_tables(triples, n_entities, len(relations))
    sizes = np.asarray(forwards.sum(axis=1), dtype=np.float64)
    found = []
    for inverse, other in ((False, forwards), (True, backwards)):
        common = triu(forwards @ other.T, k=1, format="coo")
        first, second, count = common.row, common.col, common.data
        shares = count / sizes[first], count / sizes[second]
        for k in np.flatnonzero(np.minimum(*shares) > overlap):
            names = str(relations[first[k]]), str(relations[second[k]])
            found.append(Overlap(*names, inverse, int(count[k]), float(shares[0][k]), float(shares[1][k])))
    return sorted(found, key=lambda o: (-min(o.first_share, o.second_share), -o.common, o.first, o.second))


def _pair_tables(triples: IntArray, n_entities: int, n_relations: int) -> tuple[csr_array, csr_array]:
    """Give which relation has which pair of entities, forwards and backwards, as 0 and 1."""
    head, relation, tail = triples.T
    pairs = np.concatenate([head * n_entities + tail, tail * n_entities + head])
    distinct, codes = np.unique(pairs, return_inverse=True)
    shape = (n_relations, distinct.size)
    tables = []
    for columns in (codes[: head.size], codes[head.size :]):
        table = csr_array((np.ones(head.size, dtype=np.int64), (relation, columns)), shape=shape)
        table.data[:] = 1
        tables.append(table)
    return tables[0], tables[1]


def redundant_relations(
    triples: IntArray, n_entities: int, relations: TextArray, overlap: float
) -> list[RedundantRelation]:
    """Choose which relations to leave out: of those that overlap, the one with most triples stays."""
    counts = np.bincount(triples[:, 1], minlength=len(relations))
    rank = {str(relations[k]): place for place, k in enumerate(np.argsort(-counts, kind="stable"))}
    partners: dict[str, list[Overlap]] = {}
    for found in relation_overlaps(triples, n_entities, relations, overlap):
        partners.setdefault(min((found.first, found.second), key=rank.__getitem__), []).append(found)
    dropped: dict[str, RedundantRelation] = {}
    for kept in sorted(partners, key=rank.__getitem__):
        if kept in dropped:
            continue
        for found in partners[kept]:
            other = found.second if found.first == kept else found.first
            share = min(found.first_share, found.second_share)
            dropped.setdefault(other, RedundantRelation(other, kept, found.inverse, share))
    return sorted(dropped.values(), key=lambda relation: relation.dropped)


def linked_in_training(triples: IntArray, train: IntArray, n_entities: int) -> BoolArray:
    """Say of every triple whether some training triple links its two entities, in whatever direction."""
    return contained(_undirected(triples, n_entities), _undirected(train, n_entities))


def _undirected(triples: IntArray, n_entities: int) -> IntArray:
    ends = triples[:, [0, 2]]
    return np.asarray(ends.min(axis=1) * n_entities + ends.max(axis=1))
