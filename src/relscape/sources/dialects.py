"""How a text table is written: its separator, its column names, and where its rows stand."""

from __future__ import annotations

import contextlib
import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from relscape.errors import DataError, listing

__all__ = ["Dialect", "column_names", "detect", "line_of_row", "text_lines"]

_SEPARATORS = (",", "\t", ";", "|")
_UNNAMED = "column"


@dataclass(frozen=True)
class Dialect:
    """What must be known to read a text table: its separator and the names of its columns.

    ``row_names`` is the first column when its name is left out, as in tables with row names.
    """

    separator: str
    names: tuple[str, ...]
    row_names: str | None


def detect(sample: str, whole: bool, path: Path, separators: tuple[str, ...] = _SEPARATORS) -> Dialect:
    """Find the separator that cuts most records of the sample into equally many fields.

    Parameters
    ----------
    sample : str
        The beginning of the file.
    whole : bool
        Whether that is all of it; otherwise its last record may be cut off and is left out.
    path : Path
        For messages.
    separators : tuple of str
        Which separators come into question; the first ones win ties.
    """
    best: tuple[tuple[float, int], str, list[list[str]]] | None = None
    for separator in separators:
        records = [record for record in _records(sample, separator) if record]
        if not whole and len(records) > 1:
            records.pop()
        if not records:
            raise DataError(f"{path} is empty: expected a line of column names and lines of values.")
        width, agreeing = Counter(map(len, records)).most_common(1)[0]
        score = (agreeing / len(records) if len(records[0]) > 1 else 0.0, width)
        if best is None or score > best[0]:
            best = (score, separator, records)
    assert best is not None
    _, separator, records = best
    header = records[0]
    if len(records) > 1 and all(len(record) == len(header) + 1 for record in records[1:]):
        header = ["", *header]
    return Dialect(separator, *column_names(header, path))


def _records(text: str, separator: str) -> Iterator[list[str]]:
    """Cut the sample into records, up to a field too long for a sample."""
    with contextlib.suppress(csv.Error):
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def column_names(header: Iterable[object], path: object) -> tuple[tuple[str, ...], str | None]:
    """Give every column of a header a name, refuse names that repeat, and tell the unnamed first one."""
    given = ["" if name is None else str(name).strip() for name in header]
    names = [name or f"{_UNNAMED}{position}" for position, name in enumerate(given)]
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(f"{path}: the column names {listing(repeated)} repeat; give each column its own.")
    return tuple(names), names[0] if given and not given[0] else None


def line_of_row(pieces: Iterable[str], separator: str, row: int) -> int | None:
    """Find the line on which a data row begins (the first row is 1), None where it cannot be told."""
    reader = csv.reader(text_lines(pieces), delimiter=separator)
    count, before = -1, 0
    try:
        for record in reader:
            count += bool(record)
            if count == row:
                return before + 1
            before = reader.line_num
    except csv.Error:
        return None
    return None


def text_lines(pieces: Iterable[str]) -> Iterator[str]:
    """Cut a stream of text into lines, as an editor counts them."""
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + piece).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        yield from (f"{line}\n" for line in lines)
    if rest:
        yield rest
