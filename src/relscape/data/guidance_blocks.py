"""The parts guidance is made of: blocks and lists of pairs, checked and joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from relscape.data.labels import match
from relscape.errors import DataError, ParameterError, UnknownNameError, listing
from relscape.protocols import AnyArray, FloatArray, IntArray, SparseArray, TextArray

__all__ = [
    "Block",
    "Pairs",
    "checked_weight",
    "in_order_of_rows",
    "joined",
    "place_names",
    "refuse_asymmetric",
    "together",
]

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Block:
    """Weights of all pairs of two kinds; ids where the rows and columns came with some."""

    kinds: tuple[str, str]
    matrix: SparseArray
    ids: tuple[TextArray | None, TextArray | None]

    def checked(self) -> Self:
        """Refuse weights that are none, by the things they join."""
        broken = np.flatnonzero(_no_weight(self.matrix.data))
        if broken.size:
            cell = int(broken[0])
            i = int(np.searchsorted(self.matrix.indptr, cell, side="right")) - 1
            j = int(self.matrix.indices[cell])
            names = [
                f"{kind} {at if ids is None else ids[at]!r}"
                for kind, ids, at in zip(self.kinds, self.ids, (i, j), strict=True)
            ]
            raise _bad_weights(broken.size, self.matrix.data[cell], *names)
        return self

    def positions(self, side: int, ids: TextArray) -> IntArray:
        """Say where the rows (0) or columns (1) stand in the data: by name, or in the order given."""
        own, kind, size = self.ids[side], self.kinds[side], self.matrix.shape[side]
        if own is not None:
            return place_names(own, kind, ids)
        if size != len(ids):
            raise DataError(
                f"guidance between {self.kinds[0]!r} and {self.kinds[1]!r} has {size} entries for kind "
                f"{kind!r}, which has {len(ids)} things; give a row or column for each, in their order."
            )
        return np.arange(size)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Some pairs of things, by position or id, and their weights."""

    kinds: tuple[str, str]
    sides: tuple[AnyArray, AnyArray]
    weights: FloatArray

    def checked(self) -> Self:
        """Refuse weights that are none, by the things they join."""
        broken = np.flatnonzero(_no_weight(self.weights))
        if broken.size:
            row = broken[0]
            names = [f"{kind} {side[row]!r}" for kind, side in zip(self.kinds, self.sides, strict=True)]
            raise _bad_weights(broken.size, self.weights[row], *names)
        return self


def _no_weight(weights: FloatArray) -> AnyArray:
    return np.asarray(~(np.abs(weights) <= 1.0 + _ROUNDING))


def _bad_weights(count: int, weight: float, left: str, right: str) -> DataError:
    return DataError(
        f"{count} weights of guidance are outside [-1, 1] or not finite, the first {weight:g} between {left} "
        f"and {right}. 1 is surely similar, -1 surely dissimilar; divide them by their largest size."
    )


def checked_weight(weight: Any, what: str) -> float:
    """Refuse a weight that is not above 0 and at most 1."""
    number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
    if not number or not 0 < weight <= 1:
        raise ParameterError(f"{what}: weight {weight!r}; give a number above 0 and at most 1.")
    return float(weight)


def together(entries: Sequence[Block | Pairs]) -> list[Block | Pairs]:
    """Put all pairs of the same kinds into one list, so that names are looked up once."""
    found: dict[Any, list[Any]] = {}
    for number, entry in enumerate(entries):
        found.setdefault(entry.kinds if isinstance(entry, Pairs) else number, []).append(entry)
    return [same[0] if len(same) == 1 else _chained(same) for same in found.values()]


def _chained(same: Sequence[Pairs]) -> Pairs:
    left, right = (np.concatenate([one.sides[side] for one in same]) for side in (0, 1))
    return Pairs(same[0].kinds, (left, right), np.concatenate([one.weights for one in same]))


def in_order_of_rows(
    matrix: SparseArray, kind: str, ids: tuple[TextArray | None, TextArray | None]
) -> tuple[SparseArray, tuple[TextArray | None, TextArray | None]]:
    """Give the columns of a frame within one kind the order of its rows, by name."""
    rows, columns = ids
    if rows is None or columns is None or rows.tolist() == columns.tolist():
        return matrix, ids
    at = match(rows, columns)
    if (at < 0).any():
        raise DataError(
            f"guidance within kind {kind!r}: the rows {listing(rows[at < 0])} have no column of their name; "
            "within one kind rows and columns are the same things."
        )
    return csr_array(matrix[:, at]), (rows, rows)


def refuse_asymmetric(matrix: SparseArray, kind: str, ids: TextArray | None) -> None:
    """Refuse weights within a kind that differ in the two directions, by the first pair."""
    difference = csr_array(matrix - matrix.T).tocoo()
    uneven = np.flatnonzero(~(np.abs(difference.data) <= _ROUNDING))
    if uneven.size and np.isfinite(matrix.data).all():
        i, j = (int(side[uneven[0]]) for side in difference.coords)
        left, right = (at if ids is None else repr(ids[at]) for at in (i, j))
        raise DataError(
            f"guidance within kind {kind!r} is not symmetric: {matrix[i, j]:g} from {left} to {right} but "
            f"{matrix[j, i]:g} back. Give both alike, or symmetrize=True to take their mean."
        )


def place_names(names: AnyArray, kind: str, ids: TextArray) -> IntArray:
    """Find things by position (integers) or id (texts)."""
    texts = np.fromiter((isinstance(name, str) for name in names), dtype=bool, count=len(names))
    found = np.empty(len(names), dtype=np.int64)
    found[texts] = match(names[texts], ids)
    unknown = np.flatnonzero(texts & (found < 0))
    if unknown.size:
        raise UnknownNameError(kind, names[unknown[0]], ids, "the data, though the guidance speaks of it")
    found[~texts] = names[~texts].astype(np.int64)
    outside = np.flatnonzero((found < 0) | (found >= len(ids)))
    if outside.size:
        raise DataError(
            f"guidance speaks of {kind} number {found[outside[0]]}; positions go from 0 to {len(ids) - 1}."
        )
    return found


def joined(
    kinds: tuple[str, str], parts: list[tuple[AnyArray, AnyArray, AnyArray]], ids: Mapping[str, TextArray]
) -> SparseArray:
    """Join all that is said of the pairs of two kinds into one block; the same pair twice is refused.

    Within one kind pairs come with the lesser position first, and are mirrored here.
    """
    i, j, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    within = kinds[0] == kinds[1]
    kept = (weights != 0) & ((i != j) | (not within))
    i, j, weights = i[kept], j[kept], weights[kept]
    order = np.lexsort((j, i))
    i, j, weights = i[order], j[order], weights[order]
    twice = np.flatnonzero((np.diff(i) == 0) & (np.diff(j) == 0))
    if twice.size:
        at = twice[0]
        left, right = ids[kinds[0]][i[at]], ids[kinds[1]][j[at]]
        raise DataError(
            f"guidance has {twice.size} pairs twice, the first {kinds[0]} {left!r} and {kinds[1]} {right!r}, "
            f"with {weights[at]:g} and {weights[at + 1]:g}; merge them into one weight each."
        )
    block = csr_array((weights, (i, j)), shape=(len(ids[kinds[0]]), len(ids[kinds[1]])))
    return csr_array(block + block.T) if within else block
