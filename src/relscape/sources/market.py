"""Matrix Market files, every line looked at before scipy reads them.

scipy's reader is quick and trusts its input: what follows a number (``1d5``, ``1.5`` among whole numbers, a
fourth column) is skipped without a word, and a line that breaks off may make it read beyond the end.
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
from relscape.sources.bounds import DAMAGED_ARCHIVE, check_market

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
        check_market(path, (rows, columns), entries, symmetry)
        opener: Any = _OPENERS.get(path.suffix.lower(), open)
        with opener(path, "rb") as stream:
            _check_lines(stream, _line(form, field), path)
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


def _check_lines(stream: IO[bytes] | Any, line: bytes, path: Path) -> None:
    """Refuse the first line below the head that is not as it should be, by its number."""
    whole = re.compile(b"(?:" + line + b"\n)*+", re.IGNORECASE)
    one = re.compile(line, re.IGNORECASE)
    number = _skip_head(stream)
    for chunk in _whole_lines(stream):
        if whole.fullmatch(chunk) is None:
            for text in chunk.removesuffix(b"\n").split(b"\n"):
                number += 1
                if one.fullmatch(text) is None:
                    shown = text.decode(errors="backslashreplace").strip()[:60]
                    raise FormatError(
                        f"{path}, line {number}: {shown!r} is not an entry such as the head of this Matrix "
                        "Market file promises. If it is cut off or damaged, make it again."
                    )
        else:
            number += chunk.count(b"\n")


def _skip_head(stream: IO[bytes] | Any) -> int:
    """Pass by comments and the line of sizes; gives the number of that line."""
    for number, line in enumerate(stream, start=1):
        if line.strip() and not line.lstrip().startswith(b"%"):
            return number
    return 0


def _whole_lines(stream: IO[bytes] | Any) -> Iterator[bytes]:
    """Read the rest in pieces that end where a line does; a line without an end gets one."""
    rest = b""
    while piece := stream.read(_CHUNK):
        lines, end, rest = (rest + piece).rpartition(b"\n")
        if end:
            yield lines + end
    if rest:
        yield rest + b"\n"
