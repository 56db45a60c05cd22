"""Guidance: which things are known to be alike, and which to be unlike, within kinds and between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, triu

from relscape.data.cohorts import read_cohorts
from relscape.data.dataset import RelationalData
from relscape.data.frames import arrow_table, weight_column, wide_table
from relscape.data.guidance_blocks import (
    Block,
    Pairs,
    checked_weight,
    in_order_of_rows,
    joined,
    place_names,
    refuse_asymmetric,
    together,
)
from relscape.data.labels import as_text, number
from relscape.data.relation import relation_matrix, without_zeros
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.protocols import AnyArray, SparseArray, TextArray

__all__ = ["Guidance", "as_guidance"]

_EXAMPLE = '{("image", "tag"): W} or Guidance().similar("image", 0, "tag", 3)'
_MOST_PAIRS = 50_000_000  # of one set of labels; beyond, labels are better a kind of their own


class Guidance:
    """What is known of pairs of things: similar (weights up to 1) or dissimilar (down to −1).

    Every method that adds something gives the guidance itself back, so that calls chain. A thing is named by
    its position (a whole number) or its id (a text); ids are looked up when a model is fitted.

    Examples
    --------
    >>> guidance = Guidance().similar("image", 0, "tag", 1).dissimilar("image", 0, "image", 2, weight=0.5)
    >>> blocks = guidance.resolved({"image": 3, "tag": 2})
    >>> blocks["image", "tag"].toarray().tolist()
    [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    >>> blocks["image", "image"].toarray().tolist()
    [[0.0, 0.0, -0.5], [0.0, 0.0, 0.0], [-0.5, 0.0, 0.0]]
    """

    def __init__(self) -> None:
        self._entries: list[Block | Pairs] = []
        self._balanced = False

    # ------------------------------------------------------------------ what is known

    def similar(self, kind: str, i: int | str, kind2: str, j: int | str, weight: float = 1.0) -> Self:
        """Say that two things are alike; 1 is certain, less is less so."""
        return self._pair(kind, i, kind2, j, checked_weight(weight, "similar"))

    def dissimilar(self, kind: str, i: int | str, kind2: str, j: int | str, weight: float = 1.0) -> Self:
        """Say that two things are unlike; 1 is certain, less is less so."""
        return self._pair(kind, i, kind2, j, -checked_weight(weight, "dissimilar"))

    def _pair(self, kind: str, i: Any, kind2: str, j: Any, weight: float) -> Self:
        for name in (i, j):
            if isinstance(name, bool) or not isinstance(name, int | np.integer | str):
                raise ParameterError(f"{name!r}: name a thing by its position (an integer) or its id (text).")
        sides = (np.array([i], dtype=object), np.array([j], dtype=object))
        self._entries.append(Pairs((kind, kind2), sides, np.array([weight])))
        return self

    def block(self, kind: str, kind2: str, W: Any, *, symmetrize: bool = False) -> Self:
        """Give the weights of all pairs of two kinds at once, or of one kind with itself.

        Parameters
        ----------
        kind, kind2 : str
            Of the rows and of the columns.
        W : array, sparse array or wide data frame
            Weights in [−1, 1]; 0, or nothing stored, where nothing is known. The names of a frame are matched
            with those of the data. Within one kind it is symmetric; its diagonal says nothing and is dropped.
        symmetrize : bool
            Whether to take (W + W') / 2 of an asymmetric one.
        """
        ids: tuple[TextArray | None, TextArray | None] = (None, None)
        if hasattr(W, "__arrow_c_stream__"):
            wide = wide_table(W)
            W, ids = wide.matrix, (wide.row_ids, wide.column_ids)
        what = f"guidance between {kind!r} and {kind2!r}"
        matrix = relation_matrix(W, what).astype(np.float64)
        if kind == kind2:
            if matrix.shape[0] != matrix.shape[1]:
                raise DataError(
                    f"{what}: {matrix.shape[0]} × {matrix.shape[1]}; within one kind it must be square."
                )
            matrix, ids = in_order_of_rows(matrix, kind, ids)
            if symmetrize:
                matrix = csr_array((matrix + matrix.T) / 2)
            refuse_asymmetric(matrix, kind, ids[0])
        self._entries.append(Block((kind, kind2), without_zeros(matrix), ids).checked())
        return self

    def pairs(self, kind: str, kind2: str, table: Any) -> Self:
        """Give a table of pairs, one a row.

        Parameters
        ----------
        kind, kind2 : str
            Of the things in the first and in the second column.
        table : data frame, Arrow table or dict of columns
            The columns ``from``, ``to`` and ``weight``, or, where they have other names, the first two and
            the third. Things are named by id, or by position where the data has no ids. Weights lie in
            [−1, 1]; without a column of them every pair is similar.
        """
        frame = arrow_table(table)
        names = [name for name in frame.column_names if not name.startswith("__index_level_")]
        if len(names) < 2:
            raise DataError(
                f"a table of pairs of {kind!r} and {kind2!r} has two columns or more, this one {len(names)}."
            )
        source, target = ("from", "to") if {"from", "to"} <= set(names) else names[:2]
        others = [name for name in names if name not in (source, target)]
        weight = "weight" if "weight" in others else next(iter(others), None)
        sides = (
            as_text(frame.column(source), f"column {source!r}"),
            as_text(frame.column(target), f"column {target!r}"),
        )
        weights = np.ones(len(sides[0])) if weight is None else weight_column(frame.column(weight), weight)
        self._entries.append(Pairs((kind, kind2), sides, weights).checked())
        return self

    def labels(self, kind: str, labels: Any, negative: float = 0.0) -> Self:
        """Say that things of one class are similar and, if asked, that those of different ones are not.

        Parameters
        ----------
        kind : str
            Whose labels.
        labels : sequence
            One a thing, of any type, in the order of the data; missing ones say nothing.
        negative : float
            How dissimilar things of different classes are, from 0 (nothing is said) to 1.
        """
        if negative != 0:
            checked_weight(negative, "labels: negative")
        cohorts = read_cohorts(labels, len(labels))
        known = np.flatnonzero(cohorts.codes >= 0)
        sizes = np.bincount(cohorts.codes[known])
        pairs = known.size**2 if negative else int((sizes.astype(np.int64) ** 2).sum())
        if pairs > _MOST_PAIRS:
            raise DataError(
                f"these labels of kind {kind!r} make {pairs:,} pairs; give the classes as a kind of their "
                "own instead, without features, and relate every thing to its class."
            )
        n, codes = cohorts.codes.size, cohorts.codes
        if negative:
            same = codes[known][:, None] == codes[known]
            i, j = (axis.ravel() for axis in np.meshgrid(known, known, indexing="ij"))
            matrix = csr_array((np.where(same, 1.0, -negative).ravel(), (i, j)), shape=(n, n))
        else:
            member = csr_array((np.ones(known.size), (known, codes[known])), shape=(n, sizes.size))
            matrix = csr_array(member @ member.T)
        self._entries.append(Block((kind, kind), matrix, (None, None)))
        return self

    def balanced(self) -> Self:
        """Let all pairs of kinds count the same: equal sums of sizes of weights, the heavier made lighter."""
        self._balanced = True
        return self

    @classmethod
    def from_relations(cls, data: RelationalData, weights: Mapping[str, float]) -> Guidance:
        """Take relations of a data set as guidance.

        Parameters
        ----------
        data : RelationalData
            With the relations.
        weights : mapping of str to float
            By names of relations: how similar (positive) or dissimilar (negative) it makes what it joins.
            It is multiplied with the relation's own weights, which are divided by their largest where that
            exceeds 1. A directed relation within one kind counts half in either direction.
        """
        guidance = cls()
        for name, weight in weights.items():
            relation = data.relation(name)
            if not isinstance(weight, int | float | np.number):
                raise ParameterError(
                    f"relation {name!r}: weight {weight!r}; give a number in [-1, 1], not 0."
                )
            checked_weight(abs(weight), f"relation {name!r}")
            largest = float(np.abs(relation.matrix.data).max(initial=1.0))
            matrix = csr_array(relation.matrix.astype(np.float64) * (weight / largest))
            kinds = (relation.rows, relation.columns)
            if kinds[0] == kinds[1]:
                matrix = csr_array((matrix + matrix.T) / 2)
            ids = (data.entities[kinds[0]].ids, data.entities[kinds[1]].ids)
            guidance._entries.append(Block(kinds, without_zeros(matrix), ids))
        return guidance

    # ------------------------------------------------------------------ as numbers

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds it speaks of, in the order they were first named."""
        return tuple(dict.fromkeys(kind for entry in self._entries for kind in entry.kinds))

    def names_of(self, kind: str) -> TextArray:
        """Name the things of a kind as far as guidance knows them, for a kind that nothing else describes.

        The ids of frames and relations come first, in their order, then those of pairs, sorted; where there
        are no ids, things are numbered.
        """
        if kind not in self.kinds:
            raise UnknownNameError("kind", kind, self.kinds, "the guidance")
        listed: dict[str, None] = {}
        mentioned: list[Any] = []
        size = 0
        for names, most in self._sides_of(kind):
            size = max(size, most)
            if isinstance(names, list):
                mentioned += names
            else:
                listed |= dict.fromkeys(names)
        numbered = {str(position) for position in range(size)}
        if mentioned and not numbered.issuperset(mentioned):
            listed |= dict.fromkeys(number(mentioned)[0])
        return as_text(list(listed) if listed else range(size))

    def _sides_of(self, kind: str) -> Iterator[tuple[TextArray | list[Any], int]]:
        """Walk over all that names things of a kind: ids given in an order, ids mentioned, and how many."""
        for entry in self._entries:
            for side in (0, 1):
                if entry.kinds[side] != kind:
                    continue
                if isinstance(entry, Block):
                    own = entry.ids[side]
                    yield (np.empty(0, dtype=object), entry.matrix.shape[side]) if own is None else (own, 0)
                else:
                    names = entry.sides[side].tolist()
                    texts = [name for name in names if isinstance(name, str)]
                    yield texts, max((name + 1 for name in names if not isinstance(name, str)), default=0)

    def resolved(
        self, sizes: Mapping[str, int], names: Mapping[str, TextArray] | None = None
    ) -> dict[tuple[str, str], SparseArray]:
        """Give the weights as one sparse block a pair of kinds that has any.

        Parameters
        ----------
        sizes : mapping of str to int
            How many things every kind has; its order is the order of the blocks' kinds.
        names : mapping of str to array of str, optional
            Their ids; things are numbered where there are none.

        Returns
        -------
        dict of (kind, kind2) to sparse array
            The kind that comes first in ``sizes`` is in the rows. Blocks within a kind are symmetric,
            with nothing on the diagonal. The same pair given twice is refused.
        """
        order = {kind: position for position, kind in enumerate(sizes)}
        ids = {kind: (names or {}).get(kind, as_text(range(size))) for kind, size in sizes.items()}
        found: dict[tuple[str, str], list[tuple[AnyArray, AnyArray, AnyArray]]] = {}
        for entry in together(self._entries):
            for kind in entry.kinds:
                if kind not in order:
                    raise UnknownNameError("kind", kind, sizes, "the data, though the guidance speaks of it")
            i, j, weights = self._cells(entry, ids)
            first, second = entry.kinds
            if first == second:
                i, j = np.minimum(i, j), np.maximum(i, j)
            elif order[first] > order[second]:
                first, second, i, j = second, first, j, i
            found.setdefault((first, second), []).append((i, j, weights))
        blocks = {
            key: block
            for key in sorted(found, key=lambda key: (order[key[0]], order[key[1]]))
            if (block := joined(key, found[key], ids)).nnz
        }
        return _evened(blocks) if self._balanced else blocks

    def _cells(
        self, entry: Block | Pairs, ids: Mapping[str, TextArray]
    ) -> tuple[AnyArray, AnyArray, AnyArray]:
        """List the pairs of an entry, once each, by position."""
        if isinstance(entry, Pairs):
            i, j = (place_names(entry.sides[side], kind, ids[kind]) for side, kind in enumerate(entry.kinds))
            return i, j, entry.weights
        cells = (triu(entry.matrix, 1) if entry.kinds[0] == entry.kinds[1] else entry.matrix).tocoo()
        rows, columns = (entry.positions(side, ids[kind]) for side, kind in enumerate(entry.kinds))
        return rows[cells.coords[0]], columns[cells.coords[1]], cells.data


def _evened(blocks: dict[tuple[str, str], SparseArray]) -> dict[tuple[str, str], SparseArray]:
    """Scale all blocks down to the smallest sum of sizes of weights, each pair counted once."""
    totals = {
        key: float(np.abs(block.data).sum()) / (2 if key[0] == key[1] else 1) for key, block in blocks.items()
    }
    least = min(totals.values(), default=0.0)
    return {key: csr_array(block * (least / totals[key])) for key, block in blocks.items()}


def as_guidance(given: Any) -> Guidance:
    """Take a Guidance as it is, or one block for every pair of kinds."""
    if isinstance(given, Guidance):
        return given
    if not isinstance(given, Mapping):
        raise DataError(f"guidance of type {type(given).__name__} is not understood; give {_EXAMPLE}.")
    guidance = Guidance()
    for key, W in given.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise DataError(f"the key {key!r} names no pair of kinds; give {_EXAMPLE}.")
        guidance.block(str(key[0]), str(key[1]), W)
    return guidance
