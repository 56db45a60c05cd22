"""RelationalData: kinds of things, relations between them, and what is said of each thing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from relscape.data.digest import content_digest
from relscape.data.entities import EntitySet
from relscape.data.frames import arrow_table, weight_column, wide_table
from relscape.data.labels import as_text, number, number_together
from relscape.data.relation import (
    Relation,
    gather_pairs,
    overflowing,
    pair_totals,
    relation_matrix,
    without_zeros,
)
from relscape.errors import DataError, ParameterError, UnknownNameError, listing
from relscape.protocols import AnyArray, BoolArray, FloatArray, IntArray, SparseArray

__all__ = ["EntitySet", "Relation", "RelationalData"]


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
            if not entity_set.kind.strip():
                raise DataError("a kind has an empty name; call it something, such as 'doc' or 'word'.")
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
        too_large = overflowing(relation.matrix)
        if too_large is not None:
            side, position = too_large
            kind = (relation.rows, relation.columns)[side]
            raise DataError(
                f"relation {relation.name!r} has weights too large to be summed, see {kind} "
                f"{self.entities[kind].ids[position]!r}: the sum is not finite. Divide all weights by one "
                "number first."
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

    def only(self, name: str | tuple[str, str]) -> RelationalData:
        """Keep one relation and the kinds it joins: what a co-embedding is fitted on."""
        relation = self.relation(name)
        kinds = dict.fromkeys((relation.rows, relation.columns))
        return RelationalData([self.entities[kind] for kind in kinds], [relation])

    def with_entities(self, entity_set: EntitySet) -> RelationalData:
        """Replace what is known of one kind, keeping the relations."""
        if entity_set.kind not in self.entities:
            raise UnknownNameError("kind", entity_set.kind, self.entities)
        return RelationalData(
            {**self.entities, entity_set.kind: entity_set}.values(), self.relations.values()
        )

    def with_relation(self, relation: Relation) -> RelationalData:
        """Add a relation, or replace the one of that name, keeping the kinds and all other relations.

        >>> data = RelationalData.from_matrix([[2, 1], [0, 3]], "doc", "word", name="counts")
        >>> binary = Relation("counts", "doc", "word", data.matrix() > 0)
        >>> data.with_relation(binary).matrix().toarray().tolist()
        [[1.0, 1.0], [0.0, 1.0]]
        """
        relations = {**self.relations, relation.name: relation}
        return RelationalData(self.entities.values(), relations.values())

    def degrees(
        self, kind: str, relation: str | tuple[str, str] | None = None, counted: bool = False
    ) -> FloatArray | IntArray:
        """Sum the weights of every thing of a kind in one relation, or count its partners.

        Parameters
        ----------
        kind : str
            Whose degrees.
        relation : str or tuple of two str, optional
            In which relation, by name or pair of kinds; not needed where there is only one.
        counted : bool
            Whether to count the things it has a weight other than zero with instead.

        Returns
        -------
        array of shape (things,)
            Floats, or ints where counted. In a directed relation within one kind, the pairs that a thing
            begins and those that it ends both count, a pair of a thing with itself once.

        Examples
        --------
        >>> data = RelationalData.from_matrix([[2, 1], [0, 3]], "doc", "word")
        >>> data.degrees("word").tolist(), data.degrees("word", counted=True).tolist()
        ([2.0, 4.0], [1, 2])
        """
        if kind not in self.entities:
            raise UnknownNameError("kind", kind, self.entities)
        chosen = self.relation(relation)
        if kind not in (chosen.rows, chosen.columns):
            raise ParameterError(
                f"relation {chosen.name!r} joins {chosen.rows!r} and {chosen.columns!r}, not {kind!r}; "
                "choose one of these kinds or another relation."
            )
        return pair_totals(chosen, kind, counted)

    def select(self, kind: str, keep: BoolArray | AnyArray) -> RelationalData:
        """Keep some things of one kind, in every relation it takes part in."""
        if kind not in self.entities:
            raise UnknownNameError("kind", kind, self.entities)
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
        """Digest ids and relations, so that a map can say what it was made from.

        Only the contents count, not how they are stored: the same numbers in single or double precision,
        with narrow or wide indices, with zeros stored or left out, have the same fingerprint.
        """
        return content_digest(self.entities.values(), self.relations.values())

    def __repr__(self) -> str:
        kinds = ", ".join(f"{len(e)} × {kind}" for kind, e in self.entities.items())
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
        """Take a dense or sparse matrix or a pandas frame of numbers.

        Without ids, the things are named by the index and the columns of a frame, and numbered otherwise.
        """
        if hasattr(matrix, "iloc") and hasattr(matrix, "columns"):
            row_ids = matrix.index if row_ids is None else row_ids
            column_ids = matrix.columns if column_ids is None else column_ids
        table = relation_matrix(matrix, name or f"{rows}-{columns}")
        m, n = table.shape
        left = as_text(range(m) if row_ids is None else row_ids, f"ids of kind {rows!r}")
        right = as_text(range(n) if column_ids is None else column_ids, f"ids of kind {columns!r}")
        entities = [EntitySet(rows, left)]
        if columns != rows:
            entities.append(EntitySet(columns, right))
        elif column_ids is not None and right.tolist() != left.tolist():
            raise ParameterError(
                f"the matrix is within kind {rows!r}, so row_ids and column_ids must be alike."
            )
        return cls(entities, [Relation(name or f"{rows}-{columns}", rows, columns, table)])

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
        weights = np.array([_edge_weight(edge, position) for position, edge in enumerate(listed)])
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

        Pairs that sum to zero are not stored; their things remain.
        With ``rows == columns`` the relation is within one kind, and both columns share its ids.
        """
        if len(row_values) == 0:
            raise DataError("there are no pairs: the relation is empty.")
        values = np.ones(len(row_values)) if weights is None else np.asarray(weights, dtype=np.float64)
        if not len(row_values) == len(column_values) == len(values):
            raise DataError(
                f"there are {len(row_values)} row ids, {len(column_values)} column ids and {len(values)} "
                "weights; give one of each for every pair."
            )
        if rows == columns:
            both, i, j = number_together(row_values, column_values, f"ids of {rows!r}")
            entities = [EntitySet(rows, both)]
        else:
            row_ids, i = number(row_values, f"column {rows!r}")
            column_ids, j = number(column_values, f"column {columns!r}")
            entities = [EntitySet(rows, row_ids), EntitySet(columns, column_ids)]
        shape = (len(entities[0]), len(entities[-1]))
        matrix = without_zeros(gather_pairs(values, i, j, shape))
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
        is text, names the row things, the other columns are the column things. The kinds are called as
        the index and the columns are (``index.name``, ``columns.name``) or that first column is, else "row"
        and "column". Blank cells (None, NaN) are read as 0, with a warning that counts them.
        """
        if (rows is None) != (columns is None):
            raise ParameterError("give both rows and columns for a table of pairs, or neither if it is wide.")
        if rows is None or columns is None:
            if weight is not None:
                raise ParameterError(
                    f"weight={weight!r} belongs to a table of pairs: name its rows and columns too."
                )
            wide = wide_table(frame)
            return cls.from_matrix(wide.matrix, *wide.kinds, wide.row_ids, wide.column_ids, name)
        if rows == columns:
            raise ParameterError(
                f"rows and columns are both {rows!r}: name two columns, or use from_pairs for a relation "
                "within one kind."
            )
        table = arrow_table(frame)
        for column in (name for name in (rows, columns, weight) if name is not None):
            if not isinstance(column, str):
                raise ParameterError(f"the column {column!r} is not a text: write {str(column)!r}.")
            if column not in table.column_names:
                raise UnknownNameError("column", column, table.column_names, "the frame")
        weights = None if weight is None else weight_column(table.column(weight), weight)
        return cls.from_pairs(table.column(rows), table.column(columns), weights, rows, columns, name)


def _edge_weight(edge: tuple[Any, ...], position: int) -> float:
    try:
        return float(edge[2]) if len(edge) == 3 else 1.0
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"edge {position} has the weight {edge[2]!r}, which is not a finite number."
        ) from error
