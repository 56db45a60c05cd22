"""What the readers of original files share: finding files, reading lines, counting words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from relscape.errors import DataError, FormatError, StorageError, listing
from relscape.maps.files import storage_errors

__all__ = ["count_table", "find_file", "line_fields", "text_table", "word_counts"]

FEWEST_DOCUMENTS = 5

_WORD = re.compile(r"[a-z]+")


def find_file(source: Path, name: str) -> Path:
    """Find a file by its name in a folder or below it; the highest one, when there are several."""
    if not source.is_dir():
        raise StorageError(f"{source} is not a folder; give the one that holds {name}.")
    found = sorted(source.rglob(name), key=lambda path: (len(path.parts), path))
    if not found:
        held = sorted(path.name for path in source.iterdir())
        holds = f"it holds {listing(held)}" if held else "it is empty"
        raise StorageError(f"there is no {name} in {source} or below it; {holds}.")
    return found[0]


def line_fields(path: Path, separator: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Walk over the lines of a text file as (line number, fields), passing over empty lines."""
    with storage_errors("read", path), path.open(encoding="utf-8") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n").split(separator)
        except UnicodeDecodeError as error:
            raise FormatError(f"{path} is not text in UTF-8: {error}.") from error


def text_table(columns: Sequence[str], rows: Iterable[Sequence[str]], encode: bool = False) -> pa.Table:
    """Make a table of text columns from rows; ``encode`` stores each distinct value once."""
    listed = list(rows)
    arrays = [pa.array([row[i] for row in listed], pa.string()) for i in range(len(columns))]
    if encode:
        arrays = [array.dictionary_encode() for array in arrays]
    return pa.table(dict(zip(columns, arrays, strict=True)))


def word_counts(text: str) -> Counter[str]:
    """Count the lower-case alphabetic words of a text.

    >>> sorted(word_counts("Don't re-read 2nd").items())
    [('don', 1), ('nd', 1), ('re', 1), ('read', 1), ('t', 1)]
    """
    return Counter(_WORD.findall(text.lower()))


def count_table(documents: Mapping[str, Counter[str]]) -> pa.Table:
    """Make the table (doc, word, n) of the words that occur in at least five documents."""
    spread = Counter(word for counts in documents.values() for word in counts)
    kept = {word for word, n in spread.items() if n >= FEWEST_DOCUMENTS}
    if not kept:
        raise DataError(
            f"no word occurs in {FEWEST_DOCUMENTS} or more of the {len(documents)} documents; "
            "are these the complete original files?"
        )
    rows = [
        (doc, word, n)
        for doc, counts in documents.items()
        for word, n in sorted(counts.items())
        if word in kept
    ]
    table = text_table(("doc", "word"), [row[:2] for row in rows], encode=True)
    return table.append_column("n", pa.array([row[2] for row in rows], pa.int32()))
