"""Data frames of any library, through the Arrow interface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from relscape.data.labels import arrow_column, as_text
from relscape.errors import DataError, listing
from relscape.protocols import AnyArray, TextArray

__all__ = ["WideTable", "arrow_table", "weight_column", "wide_table"]


def arrow_table(frame: Any) -> Any:
    """Bring any frame with the Arrow interface into a ``pyarrow.Table`` with distinct column names."""
    if isinstance(frame, pa.Table):
        table = frame
    elif isinstance(frame, Mapping):
        table = _table_of_columns(frame)
    elif hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        try:
            table = pa.table(_with_plain_names(frame))
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(
                f"the {type(frame).__name__} has a column of mixed types ({error}); turn it into text first."
            ) from error
    else:
        raise DataError(
            f"a {type(frame).__name__} is not a data frame that relscape knows; "
            "give a pandas, polars or pyarrow table, or a dict of columns."
        )
    _refuse_repeated_names(table.column_names)
    return table


def _with_plain_names(frame: Any) -> Any:
    """Name the columns of a pandas frame by text; names of several levels or that repeat are refused."""
    names: Any = getattr(frame, "columns", None)
    if not hasattr(names, "nlevels"):
        return frame
    if names.nlevels > 1:
        raise DataError(
            f"the column names have {names.nlevels} levels ({listing(names)}); make them one, as in "
            "frame.columns = [' '.join(map(str, name)) for name in frame.columns]."
        )
    plain = [str(name) for name in names]
    _refuse_repeated_names(plain)
    return frame if plain == list(names) else frame.set_axis(plain, axis=1)


def _refuse_repeated_names(names: list[str]) -> None:
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise DataError(f"the table has several columns named {listing(repeated)}; rename them.")


def _table_of_columns(columns: Mapping[Any, Any]) -> Any:
    arrays = {str(name): arrow_column(values) for name, values in columns.items()}
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) > 1:
        sizes = ", ".join(f"{name!r} has {len(array)}" for name, array in arrays.items())
        raise DataError(f"the columns have different lengths: {sizes}.")
    return pa.table(arrays)


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
    weights = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    broken = np.flatnonzero(~np.isfinite(weights))
    if broken.size:
        raise DataError(
            f"weight column {name!r} has {broken.size} values that are missing or not finite, "
            f"the first at row {broken[0]}."
        )
    return np.asarray(weights)


class WideTable(NamedTuple):
    """A contingency table, and where its columns of numbers stand among those of the frame."""

    matrix: AnyArray
    row_ids: TextArray
    column_ids: TextArray
    positions: list[int]


def wide_table(frame: Any) -> WideTable:
    """Read a contingency table: its numbers, the names of its rows and columns, and their positions.

    Names are text here, whatever they are in the frame; the positions find the columns there again, as
    in ``frame.iloc[:, positions]``.
    """
    index = _named_index(frame)
    table = arrow_table(frame if index is None else frame.reset_index(drop=True))
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    starts_with_text = bool(names) and _is_text(table.column(names[0]).type)
    if index is not None and not (starts_with_text and _is_a_leftover(index)):
        row_ids = as_text(index, "row names")
    elif starts_with_text:
        row_ids = as_text(table.column(names[0]), f"column {names[0]!r}")
        names = names[1:]
    else:
        row_ids = as_text(range(table.num_rows))
    if not names or table.num_rows == 0:
        raise DataError("the wide table has no numbers: it needs at least one row and one numeric column.")
    matrix = np.column_stack([weight_column(table.column(n), n) for n in names])
    place = {name: position for position, name in enumerate(table.column_names)}
    positions = [place[name] for name in names]
    return WideTable(matrix, row_ids, as_text(names), positions)


def _named_index(frame: Any) -> Any:
    """Give the index of a pandas frame unless it only counts the rows."""
    index = getattr(frame, "index", None)
    return index if hasattr(index, "names") and type(index).__name__ != "RangeIndex" else None


def _is_a_leftover(index: Any) -> bool:
    """Say whether an index is only what filtering leaves of a count: unnamed integers."""
    return list(index.names) == [None] and getattr(index.dtype, "kind", "O") in "iu"


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
