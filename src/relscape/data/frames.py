"""Data frames of any library, through the Arrow interface."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from relscape.data.labels import arrow_column, as_text
from relscape.errors import DataError, RelscapeWarning, listing
from relscape.protocols import AnyArray, TextArray

__all__ = ["WideTable", "arrow_table", "kind_names", "warn_of_blanks", "weight_column", "wide_table"]


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
        except TypeError as error:  # pandas' sparse columns
            raise DataError(
                f"the {type(frame).__name__} has a column that cannot be taken ({error}); where it is "
                "sparse, make it dense, as with frame.sparse.to_dense(), or give its matrix, "
                "frame.sparse.to_coo(), to RelationalData.from_matrix."
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
    weights = _numbers(column, name)
    missing = np.flatnonzero(np.isnan(weights))
    if missing.size:
        raise DataError(
            f"weight column {name!r} has {missing.size} missing values, the first at row {missing[0]}; give "
            "each a number or drop those rows."
        )
    _refuse_infinite(weights, name)
    return weights


def _numbers(column: Any, name: str, what: str = "weight column") -> AnyArray:
    """Read a column as floats, NaN where a value is missing; one of another type is refused."""
    kind = column.type
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        raise DataError(f"{what} {name!r} holds {kind}, not numbers.")
    numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.float64)


def _refuse_infinite(weights: AnyArray, name: str, what: str = "weight column") -> None:
    broken = np.flatnonzero(np.isinf(weights))
    if broken.size:
        raise DataError(
            f"{what} {name!r} has {broken.size} values that are not finite, the first at row "
            f"{broken[0]}: {weights[broken[0]]}. Correct them."
        )


def warn_of_blanks(count: int) -> None:
    """Say how many blank cells of a wide table count as 0, if there are any."""
    if count:
        cells = "1 blank cell is" if count == 1 else f"{count:,} blank cells are"
        warnings.warn(f"{cells} read as 0.", RelscapeWarning, stacklevel=3)


def kind_names(rows: Any, columns: Any = None) -> tuple[str, str]:
    """Choose what to call the two kinds of a wide table: by the names it gives, else "row" and "column".

    A name is used when it is text and not blank, and when the two differ.

    >>> kind_names("kunde"), kind_names(None, "year"), kind_names("word", "word")
    (('kunde', 'column'), ('row', 'year'), ('row', 'column'))
    """
    left = rows if isinstance(rows, str) and rows.strip() else "row"
    right = columns if isinstance(columns, str) and columns.strip() else "column"
    return (left, right) if left != right else ("row", "column")


class WideTable(NamedTuple):
    """A contingency table, where its columns of numbers stand in the frame, and what its kinds are called."""

    matrix: AnyArray
    row_ids: TextArray
    column_ids: TextArray
    positions: list[int]
    kinds: tuple[str, str]


def wide_table(frame: Any, what: str = "weight column") -> WideTable:
    """Read a contingency table: its numbers, the names of its rows and columns, and their positions.

    Names are text here, whatever they are in the frame; the positions find the columns there again, as
    in ``frame.iloc[:, positions]``. Blank cells are read as 0, with a warning that counts them. ``what`` is
    what messages call a column.
    """
    index = _named_index(frame)
    table = arrow_table(frame if index is None else frame.reset_index(drop=True))
    kind = getattr(getattr(frame, "index", None), "name", None)
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    starts_with_text = bool(names) and _is_text(table.column(names[0]).type)
    if index is not None and not (starts_with_text and _is_a_leftover(index)):
        row_ids = as_text(index, "row names")
    elif starts_with_text:
        row_ids = as_text(table.column(names[0]), f"column {names[0]!r}")
        kind, names = names[0], names[1:]
    else:
        row_ids = as_text(range(table.num_rows))
    if not names or table.num_rows == 0:
        raise DataError("the wide table has no numbers: it needs at least one row and one numeric column.")
    matrix = np.column_stack([_numbers(table.column(n), n, what) for n in names])
    for k, name in enumerate(names):
        _refuse_infinite(matrix[:, k], name, what)
    blank = np.isnan(matrix)
    matrix[blank] = 0.0
    warn_of_blanks(int(blank.sum()))
    place = {name: position for position, name in enumerate(table.column_names)}
    positions = [place[name] for name in names]
    kinds = kind_names(kind, getattr(getattr(frame, "columns", None), "name", None))
    return WideTable(matrix, row_ids, as_text(names), positions, kinds)


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
