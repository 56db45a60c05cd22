"""Spreadsheets: one sheet of a workbook as a table."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from relscape.errors import DataError, FormatError, MissingExtraError, RelscapeError, UnknownNameError
from relscape.progress import note
from relscape.sources.bounds import DAMAGED_ARCHIVE, check_workbook
from relscape.sources.dialects import column_names

__all__ = ["Sheet", "read_sheet"]


class Sheet(NamedTuple):
    """A sheet as a table, its first column when the name of that is left out, and where each row stands.

    ``numbers`` counts rows as the spreadsheet does, from 1, with the column names and empty lines.
    """

    table: Any
    row_names: str | None
    numbers: tuple[int, ...]


def read_sheet(path: Path, sheet: str | None = None) -> Sheet:
    """Read the sheet of that name, or the first one.

    A column of numbers becomes numbers, any other one text; empty cells are missing and empty lines
    are left out.
    """
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise MissingExtraError("python-calamine", "excel", f"reading the workbook {path.name}") from error
    try:
        check_workbook(path)
        with calamine.load_workbook(str(path)) as book:
            if not book.sheet_names:
                raise DataError(f"{path} has no sheets.")
            if sheet is None and len(book.sheet_names) > 1:
                note(f"{path.name} has {len(book.sheet_names)} sheets; reading {book.sheet_names[0]!r}")
            name = book.sheet_names[0] if sheet is None else sheet
            if name not in book.sheet_names:
                raise UnknownNameError("sheet", name, book.sheet_names, str(path))
            chosen = book.get_sheet_by_name(name)
            cells = chosen.to_python(skip_empty_area=True)
            above = chosen.start[0] if chosen.start else 0
    except calamine.PasswordError as error:
        raise FormatError(f"{path} is locked by a password; save it without one.") from error
    except RelscapeError:
        raise
    except (calamine.CalamineError, *DAMAGED_ARCHIVE) as error:
        raise FormatError(f"{path} is not a workbook that can be read: {error}. Save it again.") from error
    filled = {above + k: line for k, line in enumerate(cells, start=1) if any(cell != "" for cell in line)}
    lines = list(filled.values())
    if not lines:
        raise DataError(f"{path} is empty: expected a line of column names and lines of values.")
    names, row_names = column_names([_plain(name) for name in lines[0]], path)
    columns = zip(*lines[1:], strict=True) if len(lines) > 1 else ([] for _ in names)
    table = pa.table([_column(values) for values in columns], names=list(names))
    return Sheet(table, row_names, tuple(filled)[1:])


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
