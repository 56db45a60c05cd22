"""Spreadsheets: the first sheet of a workbook as a table."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa

from relscape.errors import DataError, FormatError, MissingExtraError
from relscape.progress import note
from relscape.sources.dialects import column_names

__all__ = ["read_sheet"]


def read_sheet(path: Path) -> tuple[Any, str | None]:
    """Read the first sheet: its table, and the first column when its name is left out.

    A column of numbers becomes numbers, any other one text; empty cells are missing and empty lines
    are left out.
    """
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise MissingExtraError("python-calamine", "excel", f"reading the workbook {path.name}") from error
    try:
        with calamine.load_workbook(str(path)) as book:
            if not book.sheet_names:
                raise DataError(f"{path} has no sheets.")
            if len(book.sheet_names) > 1:
                note(f"{path.name} has {len(book.sheet_names)} sheets; reading {book.sheet_names[0]!r}")
            cells = book.get_sheet_by_index(0).to_python()
    except calamine.PasswordError as error:
        raise FormatError(f"{path} is locked by a password; save it without one.") from error
    except calamine.CalamineError as error:
        raise FormatError(f"{path} is not a workbook that can be read: {error}. Save it again.") from error
    lines = [line for line in cells if any(cell != "" for cell in line)]
    if not lines:
        raise DataError(f"{path} is empty: expected a line of column names and lines of values.")
    names, row_names = column_names([_plain(name) for name in lines[0]], path)
    columns = zip(*lines[1:], strict=True) if len(lines) > 1 else ([] for _ in names)
    return pa.table([_column(values) for values in columns], names=list(names)), row_names


def _plain(cell: Any) -> Any:
    """Turn one cell into None, a number or text; a spreadsheet keeps every number as a float."""
    if cell == "":
        return None
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return cell


def _column(values: Any) -> Any:
    plain = [_plain(value) for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if kinds and kinds <= {int, float}:
        if kinds == {int} and all(value is None or abs(value) < 2**53 for value in plain):
            return pa.array(plain, pa.int64())
        return pa.array([None if value is None else float(value) for value in plain], pa.float64())
    return pa.array([None if value is None else str(value) for value in plain], pa.string())
