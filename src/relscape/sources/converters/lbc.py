"""Cora, CiteSeer and WebKB in the form of the LBC project: a ``.content`` and a ``.cites`` file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from relscape.errors import FormatError
from relscape.sources.converters.originals import find_file, line_fields, text_table

__all__ = ["read_network", "read_universities"]

UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")


def read_network(source: Path, name: str) -> Mapping[str, pa.Table]:
    """Read ``NAME.content`` and ``NAME.cites`` of a folder."""
    docs: list[tuple[str, ...]] = []
    words: list[tuple[str, str]] = []
    _read_content(find_file(source, f"{name}.content"), (), docs, words)
    return _tables(docs, words, _read_links(find_file(source, f"{name}.cites")), ("doc", "class"))


def read_universities(source: Path) -> Mapping[str, pa.Table]:
    """Read the pair of files of each of the four universities of WebKB."""
    docs: list[tuple[str, ...]] = []
    words: list[tuple[str, str]] = []
    links: list[tuple[str, str]] = []
    for university in UNIVERSITIES:
        _read_content(find_file(source, f"{university}.content"), (university,), docs, words)
        links += _read_links(find_file(source, f"{university}.cites"))
    return _tables(docs, words, links, ("doc", "class", "university"))


def _tables(
    docs: list[tuple[str, ...]],
    words: list[tuple[str, str]],
    links: list[tuple[str, str]],
    columns: tuple[str, ...],
) -> dict[str, pa.Table]:
    return {
        "docs": text_table(columns, docs),
        "words": text_table(("doc", "word"), words, encode=True),
        "links": text_table(("cited", "citing"), links),
    }


def _read_content(
    path: Path, more: tuple[str, ...], docs: list[tuple[str, ...]], words: list[tuple[str, str]]
) -> None:
    """Add the documents and words of a file of lines: id, one 0 or 1 a word, class."""
    seen = {doc[0] for doc in docs}
    width = 0
    for number, fields in line_fields(path):
        width = width or len(fields)
        if len(fields) != width or width < 3:
            raise FormatError(
                f"{path}, line {number}: {len(fields)} fields, expected {max(width, 3)}: "
                "an id, 0 or 1 for every word, and a class."
            )
        doc, flags, label = fields[0], fields[1:-1], fields[-1]
        if doc in seen:
            raise FormatError(f"{path}, line {number}: document {doc!r} is given a second time.")
        odd = set(flags) - {"0", "1"}
        if odd:
            raise FormatError(f"{path}, line {number}: a word's entry is {min(odd)!r}, expected 0 or 1.")
        seen.add(doc)
        docs.append((doc, label, *more))
        words += [(doc, f"w{word:04d}") for word, flag in enumerate(flags) if flag == "1"]


def _read_links(path: Path) -> list[tuple[str, str]]:
    """Read lines of two ids: the cited document, then the citing one."""
    links = []
    for number, fields in line_fields(path):
        if len(fields) != 2:
            raise FormatError(
                f"{path}, line {number}: {len(fields)} fields, expected the id of the cited document "
                "and that of the citing one."
            )
        links.append((fields[0], fields[1]))
    return links
