"""What DuckDB and Arrow complain of, in our words."""

from __future__ import annotations

import re

from relscape.errors import FormatError, RelscapeError, StorageError

__all__ = ["explained"]


def explained(error: Exception, where: str, memory: str) -> RelscapeError:
    """Turn an error of DuckDB or Arrow about some file into one of ours that says what to do."""
    import duckdb

    text = str(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        return StorageError(
            f"{where} needs more room than there is, in memory ({memory}) or for temporary files: free "
            "some disk space, or read fewer columns or rows."
        )
    line = re.search(r"CSV Error on Line: (\d+)|in (?:record/value|line) (\d+)", text)
    where += f", line {line[1] or line[2]}" if line else ""
    widths = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if widths:
        return FormatError(
            f"{where}: {widths[2]} fields where the first line has {widths[1]} columns. Check the "
            "separators, and put fields that contain a separator between quotes."
        )
    if "unterminated quote" in text:
        return FormatError(
            f"{where}: a quote is opened and not closed, or closed inside the field. A quote inside "
            "a quoted field is written twice."
        )
    if "state machine" in text:
        return FormatError(
            f"{where}: the lines do not follow one pattern. Check that all lines end in the same way "
            "and that quotes are closed."
        )
    if "JSON" in text:
        return FormatError(f"{where}: this is not JSON, one object for every row; correct that line.")
    return FormatError(
        f"{where} cannot be read: {text.strip().splitlines()[0]}. If it is damaged, make it again."
    )
