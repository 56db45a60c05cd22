"""Which completions of a question are already known: the filter of ranking and of negative sampling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relscape.protocols import IntArray

__all__ = ["Known", "known_heads", "known_tails", "query_keys"]


class Known(NamedTuple):
    """The known answers to every question (entity, relation, ?) or (?, relation, entity), sorted.

    A question is one integer, see :func:`query_keys`. The answers to the question ``keys[i]`` are
    ``values[indptr[i]:indptr[i + 1]]``, ascending and without repeats. Being a named tuple of three arrays,
    it can be handed to compiled code as it is.
    """

    keys: IntArray
    indptr: IntArray
    values: IntArray

    def spans(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """Give where in ``values`` the answers to each question begin and end; none is an empty span."""
        at = np.searchsorted(self.keys, keys)
        found = at < self.keys.size
        found[found] = self.keys[at[found]] == np.asarray(keys)[found]
        at = np.where(found, at, 0)
        if not self.keys.size:
            return at, at
        starts = self.indptr[at]
        return starts, np.where(found, self.indptr[at + 1], starts)

    def of(self, key: int) -> IntArray:
        """Give the known answers to one question."""
        starts, stops = self.spans(np.array([key]))
        return self.values[starts[0] : stops[0]]


def query_keys(entities: IntArray, relations: IntArray, n_relations: int) -> IntArray:
    """Give every question about an entity and a relation one integer: ``entity * n_relations + relation``.

    >>> query_keys(np.array([0, 2]), np.array([1, 0]), n_relations=3).tolist()
    [1, 6]
    """
    return np.asarray(entities, dtype=np.int64) * n_relations + np.asarray(relations, dtype=np.int64)


def known_tails(triples: IntArray, n_relations: int) -> Known:
    """Index the tails of every (head, relation) among triples of head, relation and tail numbers.

    >>> known = known_tails(np.array([[0, 0, 2], [0, 0, 1], [1, 0, 2]]), n_relations=1)
    >>> known.keys.tolist(), known.indptr.tolist(), known.values.tolist()
    ([0, 1], [0, 2, 3], [1, 2, 2])
    """
    return _index(query_keys(triples[:, 0], triples[:, 1], n_relations), triples[:, 2])


def known_heads(triples: IntArray, n_relations: int) -> Known:
    """Index the heads of every (tail, relation) among triples of head, relation and tail numbers."""
    return _index(query_keys(triples[:, 2], triples[:, 1], n_relations), triples[:, 0])


def _index(keys: IntArray, values: IntArray) -> Known:
    order = np.lexsort((values, keys))
    keys, values = keys[order], np.asarray(values, dtype=np.int64)[order]
    new = np.ones(keys.size, dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (values[1:] != values[:-1])
    distinct, starts = np.unique(keys[new], return_index=True)
    return Known(distinct, np.append(starts, int(new.sum())).astype(np.int64), values[new])
