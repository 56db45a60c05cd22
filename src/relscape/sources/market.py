"""Matrix Market files, every line looked at before scipy reads them.

scipy's reader is quick and trusts its input: what follows a number (``1d5``, ``1.5`` among whole numbers, a
fourth column) is skipped without a word, memory is asked for whatever the head promises, and bytes that are
zero, or a last line that breaks off, may make it read beyond the end.
"""

from __future__ import annotations

import bz2
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from relscape.errors import DataError, FormatError
from relscape.protocols import SparseArray
from relscape.sources.bounds import DAMAGED_ARCHIVE, check_matrix_size

__all__ = ["read_market"]

_CHUNK = 2**18
_REAL = rb"[-+]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d++)?+|[-+]?(?:nan|inf(?:inity)?+)"
_VALUES = {"real": _REAL, "double": _REAL, "integer": rb"[-+]?\d++", "unsigned-integer": rb"\d++"}
_OPENERS = {".gz": gzip.open, ".bz2": bz2.open}


def read_market(path: Path) -> SparseArray | Any:
    """Read a Matrix Market file, sparse where it is written so; a damaged one is refused."""
    from scipy.io import mminfo, mmread

    try:
        rows, columns, entries, form, field, symmetry = mminfo(path)
        if field == "complex":
            raise DataError(f"{path}: weights are real numbers, this matrix holds complex ones.")
        if symmetry != "general" and rows != columns:
            raise FormatError(f"{path} says it is {symmetry}, but is {rows:,} × {columns:,}.")
        check_matrix_size((rows, columns), entries, str(path))
        opener: Any = _OPENERS.get(path.suffix.lower(), open)
        with opener(path, "rb") as stream:
            lines = _check_lines(stream, _line(form, field), path)
        halved = form == "array" and symmetry != "general"
        if lines < (rows * (rows - 1) // 2 if halved else entries):
            raise FormatError(
                f"{path} says it has {entries:,} entries, but has {lines:,} lines of them: it is cut off."
            )
        return mmread(path, spmatrix=False)
    except (DataError, FormatError):
        raise
    except DAMAGED_ARCHIVE as error:
        raise FormatError(
            f"{path} is not a Matrix Market file that can be read ({error}). If it is cut off or damaged, "
            "make it again."
        ) from error


def _line(form: str, field: str) -> bytes:
    """Write what a line of a file may hold: two numbers of a place and a value, as its head promises."""
    parts = [rb"\d++", rb"\d++"] if form == "coordinate" else []
    parts += [] if field == "pattern" else [b"(?:" + _VALUES.get(field, _REAL) + b")"]
    return rb"[ \t]*+(?:" + rb"[ \t]++".join(parts) + rb"[ \t]*+)?+\r?+"


def _check_lines(stream: IO[bytes] | Any, line: bytes, path: Path) -> int:
    """Refuse the first line below the head that is not as it should be, by its number; count the others."""
    whole = re.compile(b"(?:" + line + b"\n)*+", re.IGNORECASE)
    one = re.compile(line, re.IGNORECASE)
    number = head = _skip_head(stream, path)
    for chunk in _whole_lines(stream):
        if whole.fullmatch(chunk) is not None:
            number += chunk.count(b"\n")
            continue
        for text in chunk.removesuffix(b"\n").split(b"\n"):
            number += 1
            if b"\0" in text or not chunk.endswith(b"\n"):
                _refuse_broken(text, path)
            if one.fullmatch(text) is None:
                shown = text.decode(errors="backslashreplace").strip()[:60]
                raise FormatError(
                    f"{path}, line {number}: {shown!r} is not an entry such as the head of this Matrix "
                    "Market file promises. If it is cut off or damaged, make it again."
                )
    return number - head


def _refuse_broken(text: bytes, path: Path) -> None:
    """Refuse bytes that are zero, and a line without an end that is not numbers alone."""
    if b"\0" in text:
        raise FormatError(f"{path} is not a Matrix Market file: it holds bytes that are no text.")
    if re.fullmatch(rb"[-+0-9.eE \t]*[0-9.]|(?i:.*(?:nan|inf|infinity))", text) is None:
        raise FormatError(f"{path}: its last line is not an entry, and not ended: it is cut off or damaged.")


def _skip_head(stream: IO[bytes] | Any, path: Path) -> int:
    """Pass by comments and the line of sizes; gives the number of that line."""
    for number, line in enumerate(stream, start=1):
        if b"\0" in line or not line.endswith(b"\n"):
            _refuse_broken(line, path)
        if line.strip() and not line.lstrip().startswith(b"%"):
            return number
    return 0


def _whole_lines(stream: IO[bytes] | Any) -> Iterator[bytes]:
    """Read the rest in pieces that end where a line does; the last line may come without an end."""
    rest = b""
    while piece := stream.read(_CHUNK):
        lines, end, rest = (rest + piece).rpartition(b"\n")
        if end:
            yield lines + end
    if rest:
        yield rest
