"""Data frames of any library, through the Arrow interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from relscape.data.labels import as_text
from relscape.errors import DataError
from relscape.protocols import AnyArray, TextArray

__all__ = ["arrow_table", "weight_column", "wide_table"]


def arrow_table(frame: Any) -> Any:
    """Bring any frame with the Arrow interface into a ``pyarrow.Table``."""
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, Mapping):
        return pa.table(dict(frame))
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    raise DataError(
        f"a {type(frame).__name__} is not a data frame that relscape knows; "
        "give a pandas, polars or pyarrow table, or a dict of columns."
    )


def weight_column(column: Any, name: str) -> AnyArray:
    """Read weights as numbers; a missing or non-numeric one is refused by its row."""
    kind = column.type
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    ):
        raise DataError(f"weight column {name!r} holds {kind}, not numbers.")
    weights = column.cast(pa.float64()).to_numpy()
    broken = np.flatnonzero(~np.isfinite(weights))
    if broken.size:
        raise DataError(
            f"weight column {name!r} has {broken.size} values that are missing or not finite, "
            f"the first at row {broken[0]}."
        )
    return np.asarray(weights)


def wide_table(frame: Any) -> tuple[AnyArray, TextArray, TextArray]:
    """Read a contingency table: the numbers, the names of its rows, the names of its columns."""
    index = getattr(frame, "index", None)
    has_named_index = index is not None and not _is_plain_range(index)
    table = arrow_table(frame)
    names = [n for n in table.column_names if not n.startswith("__index_level_")]
    if has_named_index and index is not None:
        row_ids = as_text(index, "row names")
        names = [n for n in names if n != getattr(index, "name", None)]
    elif names and _is_text(table.column(names[0]).type):
        row_ids = as_text(table.column(names[0]).to_pylist(), f"column {names[0]!r}")
        names = names[1:]
    else:
        row_ids = as_text(range(table.num_rows))
    if not names or table.num_rows == 0:
        raise DataError("the wide table has no numbers: it needs at least one row and one numeric column.")
    matrix = np.column_stack([weight_column(table.column(n), n) for n in names])
    return matrix, row_ids, as_text(names)


def _is_plain_range(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" or callable(index)


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
