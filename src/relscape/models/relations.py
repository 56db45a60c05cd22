"""What MultiCODE can be fitted on: relations among any kinds, given as a dict or as RelationalData."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from relscape.data import EntitySet, RelationalData
from relscape.data.arrays import plain_array
from relscape.data.frames import wide_table
from relscape.data.labels import as_text, check_unique, match
from relscape.data.relation import relation_matrix
from relscape.errors import DataError
from relscape.protocols import AnyArray, FloatArray, IntArray, RelationOperator, TextArray

__all__ = ["GivenRelations", "Key", "KindCounts", "KindRelation", "named", "read_relations", "separate_kinds"]

Key = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class KindCounts:
    """How often things of two or more kinds occur together: cells (c × K positions) and their counts."""

    kinds: Key
    cells: IntArray
    counts: FloatArray

    def without(self, drop: AnyArray) -> KindCounts:
        """Leave out some cells."""
        return KindCounts(self.kinds, self.cells[~drop], self.counts[~drop])

    def sums(self, side: int, size: int) -> FloatArray:
        """Sum the counts of every thing of one side's kind, of which there are ``size``."""
        return np.asarray(np.bincount(self.cells[:, side], self.counts, size), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class KindRelation:
    """A relation of two kinds seen only through products, such as one spread over a cluster.

    ``places`` say which things of their kinds its rows and columns are.
    """

    kinds: Key
    relation: RelationOperator
    places: tuple[IntArray, IntArray]

    def sums(self, side: int, size: int) -> FloatArray:
        """Sum the counts of every thing of one side's kind, of which there are ``size``."""
        whole = np.zeros(size)
        whole[self.places[side]] = self.relation.column_sums() if side else self.relation.row_sums()
        return whole


@dataclass(frozen=True, eq=False)
class GivenRelations:
    """The things of every kind, the relations among them, and a digest of both."""

    entities: dict[str, EntitySet]
    relations: list[KindCounts | KindRelation]
    fingerprint: str


@dataclass
class _Raw:
    """One relation before the things of its kinds are known everywhere; ``sizes`` may be open (0)."""

    kinds: Key
    cells: IntArray
    counts: AnyArray
    sizes: tuple[int, ...]
    ids: list[TextArray | None] = field(default_factory=list)
    operator: RelationOperator | None = None


def named(kinds: Iterable[str]) -> str:
    """Name a relation by its kinds, as in messages, settings and files: doc-word."""
    return "-".join(kinds)


def separate_kinds(keys: Iterable[Key]) -> list[list[str]]:
    """Group kinds so that no relation joins two groups.

    >>> separate_kinds([("doc", "word"), ("author", "word"), ("shop", "city")])
    [['doc', 'word', 'author'], ['shop', 'city']]
    """
    groups: list[dict[str, None]] = []
    for key in keys:
        joined = dict.fromkeys(key)
        touched = [group for group in groups if group.keys() & joined.keys()]
        for group in touched:
            joined = {**group, **joined}
        groups = [group for group in groups if group not in touched] + [joined]
    return [list(group) for group in groups]


def read_relations(X: Any) -> GivenRelations:
    """Read relations of any number of kinds, whatever form they come in."""
    if isinstance(X, RelationalData):
        return _from_data(X)
    if not isinstance(X, Mapping) or not X:
        found = "an empty dict" if isinstance(X, Mapping) else f"of type {type(X).__name__}"
        raise DataError(
            'give relations by their kinds, such as {("doc", "word"): R, ("author", "word"): R2}, or a '
            f"RelationalData; this is {found}."
        )
    return _joined([_raw(key, table) for key, table in X.items()])


def _from_data(data: RelationalData) -> GivenRelations:
    if not data.relations:
        raise DataError("the data has no relations: there is nothing to make a map from.")
    relations: list[KindCounts | KindRelation] = []
    for relation in data.relations.values():
        kinds = (relation.rows, relation.columns)
        if kinds in {known.kinds for known in relations}:
            raise DataError(
                f"several relations join {relation.rows!r} and {relation.columns!r}; keep one of them, "
                "or add them up."
            )
        entries = relation.matrix.tocoo()
        cells = np.column_stack(entries.coords)
        relations.append(_checked(kinds, cells, entries.data, [data.entities[kind].ids for kind in kinds]))
    kinds_met = dict.fromkeys(kind for relation in relations for kind in relation.kinds)
    return GivenRelations({kind: data.entities[kind] for kind in kinds_met}, relations, data.fingerprint())


def _checked(kinds: Key, cells: IntArray, counts: AnyArray, ids: Sequence[TextArray]) -> KindCounts:
    """Refuse what is no count, naming the things concerned, and leave out zeros."""
    values = np.asarray(counts, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if bad.size:
        things = " and ".join(
            f"{kind} {names[i]!r}" for kind, names, i in zip(kinds, ids, cells[bad[0]], strict=True)
        )
        raise DataError(
            f"{named(kinds)}: {bad.size} counts are negative or not finite, the first {values[bad[0]]:g} "
            f"between {things}. A count says how strongly things are related: 0 or more."
        )
    kept = KindCounts(kinds, cells.astype(np.int64), values).without(values == 0)
    if not kept.counts.size:
        raise DataError(f"the relation {named(kinds)} is empty: nothing in it is related.")
    return kept


def _raw(key: Any, table: Any) -> _Raw:
    if isinstance(key, str) or not isinstance(key, Sequence) or len(key) < 2:
        raise DataError(f"the key {key!r} names no relation: give a tuple of kinds, such as ('doc', 'word').")
    kinds = tuple(str(kind) for kind in key)
    table = plain_array(table)
    if isinstance(table, RelationOperator) and not issparse(table):
        return _raw_operator(kinds, table)
    if len(kinds) == 2 and not isinstance(table, tuple):
        return _raw_pairs(kinds, table)
    if isinstance(table, tuple):
        return _raw_cells(kinds, table)
    if issparse(table):
        found, counts, sizes = np.column_stack(table.tocoo().coords), table.tocoo().data, table.shape
    else:
        dense = np.asarray(table)
        sizes = dense.shape
        found = np.argwhere(dense != 0) if dense.dtype.kind in "biuf" else np.empty((0, dense.ndim))
        counts = dense[tuple(found.T)] if dense.dtype.kind in "biuf" else np.empty(0)
    if len(sizes) != len(kinds):
        raise DataError(
            f"{named(kinds)}: counts of {len(kinds)} kinds are an array of {len(kinds)} dimensions, this one "
            f"has {len(sizes)}; or give (indices, counts) with {len(kinds)} columns of indices."
        )
    return _Raw(kinds, found, counts, tuple(sizes), [None] * len(kinds))


def _raw_operator(kinds: Key, table: RelationOperator) -> _Raw:
    if len(kinds) != 2:
        raise DataError(f"{named(kinds)}: a relation in blocks joins two kinds, not {len(kinds)}.")
    things = [getattr(table, name, None) for name in ("row_entities", "column_entities")]
    ids = [None if known is None else known.ids for known in things]
    return _Raw(kinds, np.empty((0, 2), dtype=np.int64), np.empty(0), table.shape, ids, table)


def _raw_pairs(kinds: Key, table: Any) -> _Raw:
    ids: list[TextArray | None] = [None, None]
    if hasattr(table, "__arrow_c_stream__"):
        wide = wide_table(table)
        table, ids = wide.matrix, [wide.row_ids, wide.column_ids]
        for kind, names in zip(kinds, ids, strict=True):
            if names is not None:
                check_unique(names, f"kind {kind!r}")
    entries = relation_matrix(table, named(kinds)).tocoo()
    return _Raw(kinds, np.column_stack(entries.coords), entries.data, entries.shape, ids)


def _raw_cells(kinds: Key, table: tuple[Any, ...]) -> _Raw:
    """Take ``(indices, counts)``, a row of indices a cell, or a column of indices a kind and then counts."""
    parts = [np.asarray(plain_array(part)) for part in table]
    expected = (
        f"(indices, counts) with indices of shape (cells, {len(kinds)}), or {len(kinds)} columns and counts"
    )
    if len(parts) == 2 and parts[0].ndim == 2:
        cells, counts = parts
    elif len(parts) == len(kinds) + 1 and all(p.ndim == 1 and p.shape == parts[0].shape for p in parts):
        cells, counts = np.column_stack(parts[:-1]), parts[-1]
    else:
        raise DataError(f"{named(kinds)}: give counts of {len(kinds)} kinds as {expected}.")
    if (
        cells.shape != (counts.size, len(kinds))
        or cells.dtype.kind not in "iu"
        or counts.dtype.kind not in "biuf"
    ):
        raise DataError(
            f"{named(kinds)}: indices of shape {cells.shape} and type {cells.dtype}, {counts.size} counts; "
            f"give {expected}, whole numbers from 0."
        )
    if cells.size and cells.min() < 0:
        raise DataError(f"{named(kinds)}: the index {cells.min()} is negative; things are counted from 0.")
    distinct, where = np.unique(cells, axis=0, return_inverse=True)
    summed = np.bincount(where.ravel(), counts, len(distinct))
    return _Raw(kinds, distinct, summed, (0,) * len(kinds), [None] * len(kinds))


def _joined(given: list[_Raw]) -> GivenRelations:
    """Find out which things every kind has: by their names where there are some, by number otherwise."""
    ids = {kind: _ids_of(kind, given) for kind in dict.fromkeys(kind for raw in given for kind in raw.kinds)}
    relations: list[KindCounts | KindRelation] = []
    for raw in given:
        if raw.operator is not None:
            relations.append(_placed(raw, raw.operator, ids))
            continue
        cells = raw.cells.copy()
        for side, kind in enumerate(raw.kinds):
            own = raw.ids[side]
            if own is not None:
                cells[:, side] = match(own, ids[kind])[raw.cells[:, side]]
        relations.append(_checked(raw.kinds, cells, raw.counts, [ids[kind] for kind in raw.kinds]))
    digest = hashlib.sha256()
    for kind, names in ids.items():
        digest.update("\0".join([kind, *names]).encode())
    for relation in relations:
        digest.update(named(relation.kinds).encode())
        if isinstance(relation, KindRelation):
            digest.update(str(getattr(relation.relation, "fingerprint", "")).encode())
            continue
        digest.update(np.ascontiguousarray(relation.cells).data)
        digest.update(np.ascontiguousarray(relation.counts).data)
    entities = {kind: EntitySet(kind, names) for kind, names in ids.items()}
    return GivenRelations(entities, relations, digest.hexdigest())


def _placed(raw: _Raw, operator: RelationOperator, ids: dict[str, TextArray]) -> KindRelation:
    """Find the things that the rows and columns of an operator stand for."""
    rows, columns = (
        np.arange(size) if own is None else match(own, ids[kind])
        for kind, size, own in zip(raw.kinds, raw.sizes, raw.ids, strict=True)
    )
    if not operator.row_sums().any():
        raise DataError(f"the relation {named(raw.kinds)} is empty: nothing in it is related.")
    return KindRelation(raw.kinds, operator, (rows, columns))


def _ids_of(kind: str, given: list[_Raw]) -> TextArray:
    """Join the names that relations give the things of a kind; relations without names must fit in number."""
    sides = [(raw, side) for raw in given for side, own in enumerate(raw.kinds) if own == kind]
    names: dict[str, None] = {}
    for raw, side in sides:
        names |= dict.fromkeys(() if (own := raw.ids[side]) is None else own)
    unnamed = [(raw, side) for raw, side in sides if raw.ids[side] is None]
    sizes = {raw.sizes[side]: named(raw.kinds) for raw, side in unnamed if raw.sizes[side]}
    if names:
        sizes[len(names)] = "their names"
    if len(sizes) > 1:
        told = ", ".join(f"{size} by {source}" for size, source in sizes.items())
        raise DataError(
            f"how many things of kind {kind!r} are there? {told}; every relation must have all of them."
        )
    needed = max((int(raw.cells[:, side].max(initial=-1)) + 1 for raw, side in unnamed), default=0)
    size = next(iter(sizes), needed)
    if needed > size:
        raise DataError(f"kind {kind!r} has {size} things, but an index goes up to {needed - 1}.")
    return as_text(list(names) if names else range(size))
