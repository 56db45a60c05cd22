"""Text tables without column names: fields between ``::`` or tabs, as MovieLens has them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from relscape.errors import DataError, FormatError

__all__ = ["PlainLayout", "plain_layout"]

_SEPARATORS = ("::", "\t")
_KNOWN = {
    "ratings": ("user", "item", "rating", "time"),
    "u": ("user", "item", "rating", "time"),
    "tags": ("user", "item", "tag", "time"),
    "movies": ("item", "title", "genres"),
    "users": ("user", "gender", "age", "occupation", "zip"),
}


class PlainLayout(NamedTuple):
    """What separates the fields, and what the columns are called."""

    separator: str
    names: tuple[str, ...]


def plain_layout(start: str, path: Path) -> PlainLayout:
    """Find the separator in the first line, and name the columns: as MovieLens does, or by number."""
    line = next((line for line in start.splitlines() if line.strip()), None)
    if line is None:
        raise DataError(f"{path} is empty: expected lines of values.")
    separator = next((mark for mark in _SEPARATORS if mark in line), None)
    if separator is None:
        raise FormatError(
            f"{path}: expected fields between '::' or tabs, as in 1::1193::5::978300760; if this is a table "
            "with column names, give it the ending .csv or .tsv."
        )
    width = line.count(separator) + 1
    known = _KNOWN.get(path.name.lower().split(".")[0], ())
    if len(known) == width:
        return PlainLayout(separator, known)
    return PlainLayout(separator, tuple(f"column{number}" for number in range(width)))
