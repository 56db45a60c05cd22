"""RelationalData: kinds of things, relations between them, and what is said of each thing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array, csr_array, issparse

from relscape.data.frames import arrow_table, weight_column, wide_table
from relscape.data.labels import as_text, check_unique, match, number
from relscape.errors import DataError, ParameterError, UnknownNameError, listing
from relscape.protocols import AnyArray, BoolArray, SparseArray, TextArray

__all__ = ["EntitySet", "Relation", "RelationalData"]


@dataclass(frozen=True, eq=False)
class EntitySet:
    """All things of one kind: their ids, and optionally labels to show, fields and features.

    Parameters
    ----------
    kind : str
        What the things are: "doc", "word", "gene".
    ids : sequence
        One id a thing, of any type, kept as text; they must not repeat.
    labels : sequence, optional
        What to show a person instead of the id.
    fields : mapping of str to sequence, optional
        What is known of each thing: its class, year, size. One value a thing.
    features : array or sparse array, optional
        An attribute matrix, one row a thing.
    feature_names : sequence of str, optional
        Names of the columns of ``features``.
    """

    kind: str
    ids: TextArray
    labels: TextArray | None = None
    fields: Mapping[str, AnyArray] = field(default_factory=dict)
    features: Any = None
    feature_names: TextArray | None = None

    def __post_init__(self) -> None:
        ids = as_text(self.ids, f"ids of kind {self.kind!r}")
        check_unique(ids, f"kind {self.kind!r}")
        object.__setattr__(self, "ids", ids)
        if self.labels is not None:
            object.__setattr__(self, "labels", as_text(self.labels, f"labels of kind {self.kind!r}"))
        object.__setattr__(self, "fields", {name: np.asarray(v) for name, v in self.fields.items()})
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", as_text(self.feature_names, "feature names"))
        self._check_lengths()

    def _check_lengths(self) -> None:
        lengths = {f"field {name!r}": len(values) for name, values in self.fields.items()}
        if self.labels is not None:
            lengths["labels"] = len(self.labels)
        if self.features is not None:
            lengths["features"] = self.features.shape[0]
        for what, length in lengths.items():
            if length != len(self):
                raise DataError(
                    f"kind {self.kind!r} has {len(self)} ids but {length} rows of {what}; "
                    "give one for every id, in the same order."
                )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def shown(self) -> TextArray:
        """Labels where there are some, ids otherwise."""
        return self.ids if self.labels is None else self.labels

    def select(self, keep: Any) -> EntitySet:
        """Keep some of the things, by a mask or positions, with all that is said of them."""
        return EntitySet(
            self.kind,
            self.ids[keep],
            None if self.labels is None else self.labels[keep],
            {name: values[keep] for name, values in self.fields.items()},
            None if self.features is None else self.features[keep],
            self.feature_names,
        )

    def with_fields(self, ids: Iterable[Any], fields: Mapping[str, Any]) -> EntitySet:
        """Add fields given for some ids, in any order; things without a row get a missing value."""
        at = match(self.ids, as_text(ids))
        added = {name: _spread(np.asarray(values), at) for name, values in fields.items()}
        return EntitySet(
            self.kind, self.ids, self.labels, {**self.fields, **added}, self.features, self.feature_names
        )


def _spread(values: AnyArray, at: AnyArray) -> AnyArray:
    """Lay values out at positions ``at`` (-1 = missing) without changing their type more than needed."""
    if (at >= 0).all():
        return np.asarray(values[at])
    if values.dtype.kind in "if":
        spread = np.full(at.size, np.nan)
    else:
        spread = np.full(at.size, None, dtype=object)
    spread[at >= 0] = values[at[at >= 0]]
    return spread


@dataclass(frozen=True, eq=False)
class Relation:
    """How the things of one kind relate to those of another (or of the same) kind.

    ``matrix`` is sparse, one row a thing of kind ``rows``, one column a thing of kind ``columns``;
    a larger entry means more strongly related. An undirected relation is within one kind and symmetric.
    """

    name: str
    rows: str
    columns: str
    matrix: SparseArray
    directed: bool = True

    def __post_init__(self) -> None:
        matrix = csr_array(self.matrix)
        if not np.issubdtype(matrix.dtype, np.floating):
            matrix = matrix.astype(np.float64)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        object.__setattr__(self, "matrix", matrix)
        if not self.directed and self.rows != self.columns:
            raise DataError(
                f"relation {self.name!r} joins {self.rows!r} and {self.columns!r}: only a relation within "
                "one kind can be undirected."
            )
        if not self.directed and (matrix - matrix.T).nnz:
            raise DataError(f"relation {self.name!r} is undirected but its matrix is not symmetric.")


class RelationalData:
    """Kinds of things and the relations between them: what every model is fitted on.

    Parameters
    ----------
    entities : iterable of EntitySet
        One for every kind.
    relations : iterable of Relation
        Any number, between any kinds, also within one.

    Examples
    --------
    >>> data = RelationalData.from_edges(
    ...     [("d1", "cat", 2), ("d1", "dog", 1), ("d2", "dog", 3)], rows="doc", columns="word"
    ... )
    >>> data.kinds
    ('doc', 'word')
    >>> data.matrix().toarray().tolist()
    [[2.0, 1.0], [0.0, 3.0]]
    """

    def __init__(self, entities: Iterable[EntitySet], relations: Iterable[Relation]) -> None:
        self.entities: dict[str, EntitySet] = {}
        for entity_set in entities:
            if entity_set.kind in self.entities:
                raise DataError(f"kind {entity_set.kind!r} is given twice.")
            self.entities[entity_set.kind] = entity_set
        self.relations: dict[str, Relation] = {}
        for relation in relations:
            self._add(relation)

    def _add(self, relation: Relation) -> None:
        if relation.name in self.relations:
            raise DataError(f"relation {relation.name!r} is given twice; give each its own name.")
        for kind, size in zip((relation.rows, relation.columns), relation.matrix.shape, strict=True):
            if kind not in self.entities:
                raise UnknownNameError("kind", kind, self.entities, f"relation {relation.name!r}")
            if len(self.entities[kind]) != size:
                raise DataError(
                    f"relation {relation.name!r} has {size} entries for kind {kind!r}, "
                    f"which has {len(self.entities[kind])} things."
                )
        broken = np.flatnonzero(~np.isfinite(relation.matrix.data))
        if broken.size:
            raise DataError(
                f"relation {relation.name!r} has {broken.size} weights that are not finite, "
                f"the first between {self.describe_entry(relation, int(broken[0]))}."
            )
        self.relations[relation.name] = relation

    def describe_entry(self, relation: Relation, stored: int) -> str:
        """Name the two things that a stored entry of a relation joins, for messages."""
        row = int(np.searchsorted(relation.matrix.indptr, stored, side="right")) - 1
        column = int(relation.matrix.indices[stored])
        left, right = self.entities[relation.rows], self.entities[relation.columns]
        return f"{relation.rows} {left.ids[row]!r} and {relation.columns} {right.ids[column]!r}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the kinds, in the order given."""
        return tuple(self.entities)

    def relation(self, name: str | tuple[str, str] | None = None) -> Relation:
        """Find a relation by its name or its pair of kinds; without a name, the only one."""
        if name is None:
            if len(self.relations) != 1:
                raise ParameterError(
                    f"there are {len(self.relations)} relations ({listing(self.relations)}); say which one."
                )
            return next(iter(self.relations.values()))
        if isinstance(name, tuple):
            found = [r for r in self.relations.values() if (r.rows, r.columns) == name]
            if len(found) == 1:
                return found[0]
            pairs = [f"{r.rows}-{r.columns}" for r in self.relations.values()]
            raise UnknownNameError("single relation between", "-".join(name), pairs)
        if name not in self.relations:
            raise UnknownNameError("relation", name, self.relations)
        return self.relations[name]

    def matrix(self, name: str | tuple[str, str] | None = None) -> SparseArray:
        """Give the sparse matrix of a relation; without a name, of the only one."""
        return self.relation(name).matrix

    def with_entities(self, entity_set: EntitySet) -> RelationalData:
        """Replace what is known of one kind, keeping the relations."""
        if entity_set.kind not in self.entities:
            raise UnknownNameError("kind", entity_set.kind, self.entities)
        return RelationalData(
            {**self.entities, entity_set.kind: entity_set}.values(), self.relations.values()
        )

    def select(self, kind: str, keep: BoolArray | AnyArray) -> RelationalData:
        """Keep some things of one kind, in every relation it takes part in."""
        relations = []
        for relation in self.relations.values():
            matrix = relation.matrix[keep] if relation.rows == kind else relation.matrix
            matrix = matrix[:, keep] if relation.columns == kind else matrix
            relations.append(
                Relation(relation.name, relation.rows, relation.columns, matrix, relation.directed)
            )
        entities = {**self.entities, kind: self.entities[kind].select(keep)}
        return RelationalData(entities.values(), relations)

    def fingerprint(self) -> str:
        """Digest ids and relations, so that a map can say what it was made from."""
        digest = hashlib.sha256()
        for kind, entity_set in self.entities.items():
            digest.update(f"{kind}\0{len(entity_set)}\0".encode())
            digest.update("\0".join(entity_set.ids).encode())
        for relation in self.relations.values():
            digest.update(f"{relation.name}\0{relation.rows}\0{relation.columns}\0".encode())
            digest.update(relation.matrix.indptr.astype(np.int64).tobytes())
            digest.update(relation.matrix.indices.astype(np.int64).tobytes())
            digest.update(relation.matrix.data.astype(np.float64).tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        kinds = ", ".join(f"{len(e)} {kind}" for kind, e in self.entities.items())
        relations = ", ".join(
            f"{r.name} ({r.rows} × {r.columns}, {r.matrix.nnz} pairs)" for r in self.relations.values()
        )
        return f"<RelationalData: {kinds}; {relations}>"

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        rows: str = "row",
        columns: str = "column",
        row_ids: Iterable[Any] | None = None,
        column_ids: Iterable[Any] | None = None,
        name: str | None = None,
    ) -> RelationalData:
        """Take a dense or sparse matrix; without ids, the things are numbered."""
        if not issparse(matrix):
            matrix = np.asarray(matrix)
            if matrix.ndim != 2:
                raise DataError(f"a relation matrix has two dimensions, this array has {matrix.ndim}.")
        m, n = matrix.shape
        left = EntitySet(rows, as_text(range(m) if row_ids is None else row_ids))
        entities = [left]
        if columns != rows:
            entities.append(EntitySet(columns, as_text(range(n) if column_ids is None else column_ids)))
        return cls(entities, [Relation(name or f"{rows}-{columns}", rows, columns, csr_array(matrix))])

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]],
        rows: str = "row",
        columns: str = "column",
        name: str | None = None,
    ) -> RelationalData:
        """Take pairs ``(row, column)`` or triples ``(row, column, weight)``; repeated pairs are summed."""
        listed = [tuple(edge) for edge in edges]
        for position, edge in enumerate(listed):
            if len(edge) not in (2, 3):
                raise DataError(f"edge {position} has {len(edge)} parts; expected (row, column[, weight]).")
        weights = np.array([edge[2] if len(edge) == 3 else 1.0 for edge in listed], dtype=np.float64)
        return cls.from_pairs(
            [edge[0] for edge in listed], [edge[1] for edge in listed], weights, rows, columns, name
        )

    @classmethod
    def from_pairs(
        cls,
        row_values: Any,
        column_values: Any,
        weights: Any = None,
        rows: str = "row",
        columns: str = "column",
        name: str | None = None,
    ) -> RelationalData:
        """Take three parallel columns; repeated pairs are summed, ids are sorted.

        With ``rows == columns`` the relation is within one kind, and both columns share its ids.
        """
        if len(row_values) == 0:
            raise DataError("there are no pairs: the relation is empty.")
        if rows == columns:
            both, codes = number(_joined(row_values, column_values), f"ids of {rows!r}")
            i, j = np.split(codes, 2)
            entities = [EntitySet(rows, both)]
        else:
            row_ids, i = number(row_values, f"column {rows!r}")
            column_ids, j = number(column_values, f"column {columns!r}")
            entities = [EntitySet(rows, row_ids), EntitySet(columns, column_ids)]
        values = np.ones(i.size) if weights is None else np.asarray(weights, dtype=np.float64)
        shape = (len(entities[0]), len(entities[-1]))
        matrix = csr_array(coo_array((values, (i, j)), shape=shape))
        return cls(entities, [Relation(name or f"{rows}-{columns}", rows, columns, matrix)])

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        rows: str | None = None,
        columns: str | None = None,
        weight: str | None = None,
        name: str | None = None,
    ) -> RelationalData:
        """Take a data frame (pandas, polars, pyarrow: anything with the Arrow interface).

        With ``rows`` and ``columns`` the frame is long: one row a pair, with an optional ``weight``
        column. Without them it is wide, a contingency table: the index, or the first column when it
        is text, names the row things, the other columns are the column things.
        """
        if (rows is None) != (columns is None):
            raise ParameterError("give both rows and columns for a table of pairs, or neither if it is wide.")
        if rows is None or columns is None:
            matrix, row_ids, column_ids = wide_table(frame)
            return cls.from_matrix(matrix, "row", "column", row_ids, column_ids, name)
        table = arrow_table(frame)
        for column in filter(None, (rows, columns, weight)):
            if column not in table.column_names:
                raise UnknownNameError("column", column, table.column_names, "the frame")
        weights = None if weight is None else weight_column(table.column(weight), weight)
        return cls.from_pairs(table.column(rows), table.column(columns), weights, rows, columns, name)


def _joined(left: Any, right: Any) -> Any:
    """Concatenate two columns of any origin so that they share one numbering."""
    columns = [c.combine_chunks() if isinstance(c, pa.ChunkedArray) else pa.array(c) for c in (left, right)]
    columns = [c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in columns]
    if columns[0].type != columns[1].type:
        columns = [c.cast(pa.string()) for c in columns]
    return pa.concat_arrays(columns)
