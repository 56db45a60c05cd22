"""Facts: one table of (head, relation, tail), of any origin, that knows where its rows stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relscape.data.frames import arrow_table, weight_column
from relscape.data.labels import arrow_column
from relscape.errors import DataError, listing
from relscape.protocols import AnyArray, FloatArray, IntArray

__all__ = ["ROLES", "Facts", "as_facts", "fact_columns", "named_columns"]

ROLES = ("head", "relation", "tail")
_NAMES = {
    "head": {"head", "subject", "source", "from"},
    "relation": {"relation", "predicate", "property", "link", "type"},
    "tail": {"tail", "object", "target", "to"},
}


@dataclass(frozen=True, eq=False)
class Facts:
    """Triples as three Arrow columns, before their names are numbered.

    ``name`` says where they are from, a split or a file, and ``lines`` on which line of the file each
    stands, so that a message can point at one.
    """

    columns: tuple[Any, Any, Any]
    name: str
    lines: IntArray | None = None
    weights: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.columns[0])

    def place(self, row: int) -> str:
        """Say where a row stands: the line of a file (from 1), or the row of a table (from 0)."""
        return f"{self.name}, row {row}" if self.lines is None else f"{self.name}, line {self.lines[row]}"

    def checked(self) -> Facts:
        """Refuse missing and blank names, naming the first row that has one."""
        for role, column in zip(ROLES, self.columns, strict=True):
            bad = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
            if pa.types.is_string(column.type):
                bad = pc.or_(bad, pc.equal(pc.utf8_trim_whitespace(column), "").fill_null(True))
            count = pc.sum(bad).as_py() or 0
            if count:
                first = self.place(pc.index(bad, True).as_py())
                names = "name is" if count == 1 else "names are"
                raise DataError(
                    f"{first}: the {role} is empty; {count} {names} missing in that column. "
                    "Give every triple a head, a relation and a tail, or drop those rows."
                )
        return self


def as_facts(values: Any, name: str) -> Facts:
    """Take triples from a frame, an n × 3 array, or any sequence of threes."""
    if isinstance(values, Facts):
        return values.checked()
    if values is None:
        return Facts((pa.array([], pa.int64()),) * 3, name)
    if isinstance(values, str | bytes):
        raise DataError(f"{name}: one text was given, triples are needed; see KnowledgeGraph.from_directory.")
    if isinstance(values, Mapping) or hasattr(values, "__arrow_c_stream__"):
        table = arrow_table(values)
        places, weight = fact_columns(table.column_names, name)
        head, relation, tail = (arrow_column(table.column(place)) for place in places)
        weights = None if weight is None else weight_column(table.column(weight), table.column_names[weight])
        return Facts((head, relation, tail), name, weights=weights).checked()
    if isinstance(values, np.ndarray):
        return Facts(_array_columns(values, name), name).checked()
    return Facts(_row_columns(values, name), name).checked()


def _array_columns(values: AnyArray, name: str) -> tuple[Any, Any, Any]:
    if values.ndim != 2 or values.shape[1] != 3:
        raise DataError(
            f"{name}: an array of shape {values.shape} holds no triples; expected three columns: head, "
            "relation and tail."
        )
    return arrow_column(values[:, 0]), arrow_column(values[:, 1]), arrow_column(values[:, 2])


def _row_columns(values: Iterable[Sequence[Any]], name: str) -> tuple[Any, Any, Any]:
    rows = [*values]
    for position, row in enumerate(rows):
        if isinstance(row, str | bytes) or not hasattr(row, "__len__"):
            raise DataError(f"{name}, row {position}: {row!r} is no triple (head, relation, tail).")
        if len(row) != 3:
            raise DataError(f"{name}, row {position}: {len(row)} parts; expected head, relation and tail.")
    first, second, third = (arrow_column([row[k] for row in rows]) for k in range(3))
    return first, second, third


def fact_columns(names: Sequence[str], where: str) -> tuple[tuple[int, int, int], int | None]:
    """Find the columns of head, relation and tail by their names, else take the only three in their order.

    Returns their positions, and that of a column "weight" where there is one.

    >>> fact_columns(["weight", "Subject", "object", "predicate"], "facts.csv")
    ((1, 3, 2), 0)
    """
    plain = [name.strip().lower() for name in names]
    weight = plain.index("weight") if "weight" in plain else None
    named = named_columns(names)
    if named is not None:
        return named, weight
    others = [k for k in range(len(names)) if k != weight]
    if len(others) != 3:
        raise DataError(
            f"{where}: which columns hold head, relation and tail? There are {listing(names, 12)}; name "
            "three of them head, relation and tail, or leave only these, in that order."
        )
    return (others[0], others[1], others[2]), weight


def named_columns(names: Sequence[str]) -> tuple[int, int, int] | None:
    """Find the columns of head, relation and tail by their names; None unless there is one of each."""
    plain = [name.strip().lower() for name in names]
    found = [[k for k, name in enumerate(plain) if name in _NAMES[role]] for role in ROLES]
    if not all(len(places) == 1 for places in found):
        return None
    return found[0][0], found[1][0], found[2][0]
