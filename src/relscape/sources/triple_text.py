"""Triples as lines of text: their separator, a line of column names, and lines that are no triple."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from relscape.data.facts import ROLES, Facts, fact_columns, named_columns
from relscape.errors import FormatError, RelscapeWarning
from relscape.sources.dialects import text_lines
from relscape.sources.encodings import decoded, encoding_of
from relscape.sources.files import COMPRESSIONS, readable

__all__ = ["TextFile", "open_text", "text_facts"]

_CSV_SEPARATORS = (",", ";", "\t", "|")
_FEWEST_ROWS = 3  # below a line that may be names of columns
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", None: "blanks"}


@dataclass(frozen=True)
class TextFile:
    """A text file whose encoding and separator are known; a separator None stands for blanks."""

    path: Path
    compression: str | None
    encoding: str
    separator: str | None
    quoted: bool

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Walk over the lines that are not blank, as (line number, fields)."""
        lines = text_lines(decoded(self.path, self.compression, self.encoding))
        if self.quoted:
            yield from self._quoted_records(lines)
            return
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, line.rstrip("\n").split(self.separator)

    def _quoted_records(self, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(lines, delimiter=self.separator or ",", strict=True)
        before = 0
        try:
            for fields in reader:
                if any(field.strip() for field in fields):
                    yield before + 1, fields
                before = reader.line_num
        except csv.Error as error:
            raise FormatError(
                f"{self.path}, line {before + 1}: {error}. A quote inside a quoted field is written twice."
            ) from error


def open_text(path: Path, encoding: str | None) -> TextFile:
    """Find the encoding of a text file and the separator of its fields."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = COMPRESSIONS.get(suffixes[-1])
    ending = suffixes[-2 if compression else -1]
    found = encoding_of(path, compression, encoding)
    lines = text_lines(decoded(path, compression, found))
    first = next((line.rstrip("\n") for line in lines if line.strip()), "")
    separator: str | None = "\t"
    if ending == ".csv":
        separator = _csv_separator(first)
    elif ending == ".txt" and "\t" not in first:
        separator = None
    return TextFile(path, compression, found, separator, quoted=ending == ".csv")


def _csv_separator(line: str) -> str:
    """Choose the separator that cuts the first line into most fields; the comma, where none does."""
    widths = {mark: len(next(csv.reader([line], delimiter=mark), [])) for mark in _CSV_SEPARATORS}
    return max(widths, key=widths.__getitem__)


def text_facts(file: TextFile) -> Facts:
    """Read the triples of a text file; a line with too few or too many fields is refused by its number."""
    lines, rows = [], []
    for line, fields in file.records():
        lines.append(line)
        rows.append(fields)
    width, places, weight = 3, (0, 1, 2), None
    if rows and named_columns(rows[0]) is not None:
        places, weight = fact_columns(rows[0], str(file.path))
        width, lines, rows = len(rows[0]), lines[1:], rows[1:]
    elif file.quoted and _is_header(rows):
        _tell_of_header(file, rows[0])
        lines, rows = lines[1:], rows[1:]
    for line, fields in zip(lines, rows, strict=True):
        if len(fields) != width:
            raise _misshapen(file, line, len(fields), width)
    name = readable(file.path)
    head, relation, tail = (pa.array([row[place] for row in rows], pa.string()) for place in places)
    weights = None
    if weight is not None:
        weights = np.array([_number(file, at, row[weight]) for at, row in zip(lines, rows, strict=True)])
    return Facts((head, relation, tail), name, np.array(lines, dtype=np.int64), weights).checked()


def _is_header(rows: list[list[str]]) -> bool:
    """Tell whether the first of many rows names columns: it has three words, none of which occurs again."""
    if len(rows) <= _FEWEST_ROWS or len(rows[0]) != 3:
        return False
    words = set(rows[0])
    return len(words) == 3 and not any(words.intersection(fields) for fields in rows[1:])


def _tell_of_header(file: TextFile, names: list[str]) -> None:
    """Warn that a first line was taken for names of columns, in which order, and how to say it otherwise."""
    roles = ", ".join(f"{role}={name}" for role, name in zip(ROLES, names, strict=True))
    warnings.warn(
        f"{readable(file.path)}: none of the words of the first line occurs again, so they are taken for "
        f"names of columns: {roles}. If another order is meant, call the columns head, relation and tail; "
        "if that line is a fact, put a line head,relation,tail before it.",
        RelscapeWarning,
        stacklevel=2,
    )


def _misshapen(file: TextFile, line: int, found: int, width: int) -> FormatError:
    what = "head, relation and tail" if width == 3 else f"{width} fields, as in the line of column names"
    fields = "1 field" if found == 1 else f"{found} fields"
    return FormatError(
        f"{file.path}, line {line}: {fields}; expected {what}, with {_NAMES[file.separator]} between them."
    )


def _number(file: TextFile, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FormatError(f"{file.path}, line {line}: the weight is {text!r}, which is no number.") from None
