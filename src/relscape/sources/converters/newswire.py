"""Reuters-21578: twenty-two SGML files of newswire stories."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from relscape.errors import FormatError, StorageError
from relscape.maps.files import storage_errors
from relscape.sources.converters.originals import count_table, text_table, word_counts

__all__ = ["read_newswire"]

_STORY = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_LISTED = re.compile(r"<D>(.*?)</D>")
_MODAPTE = {"TRAIN": "train", "TEST": "test"}
NO_SPLIT = "-"


def read_newswire(source: Path) -> Mapping[str, pa.Table]:
    """Read the stories with exactly one topic from the ``.sgm`` files of a folder or below it.

    Words are those of title and body. ``modapte`` is the modified Apté split: train or test for stories
    with TOPICS="YES" in that part of Lewis's split, "-" for others.
    """
    paths = sorted(source.rglob("*.sgm")) if source.is_dir() else []
    if not paths:
        raise StorageError(f"there are no .sgm files in {source}; expected reut2-000.sgm to reut2-021.sgm.")
    rows: list[tuple[str, ...]] = []
    counts: dict[str, Counter[str]] = {}
    for path in paths:
        for row, words in _stories(path):
            rows.append(row)
            counts[row[0]] = words
    return {
        "docs": text_table(("doc", "topic", "modapte", "places", "date"), rows),
        "counts": count_table(counts),
    }


def _stories(path: Path) -> Iterator[tuple[tuple[str, ...], Counter[str]]]:
    """Walk over the single-topic stories of a file: (doc, topic, modapte, places, date) and word counts."""
    with storage_errors("read", path):
        content = path.read_bytes().decode("latin-1")
    stories = list(_STORY.finditer(content))
    if len(stories) != len(re.findall(r"<REUTERS\b", content)):
        raise FormatError(f"{path}: a story has no end (</REUTERS>); the file is not complete.")
    if not stories:
        raise FormatError(f"{path}: no story (<REUTERS ...>) in it; expected a file of Reuters-21578.")
    for story in stories:
        attributes, inside = dict(_ATTRIBUTE.findall(story.group(1))), story.group(2)
        if "NEWID" not in attributes:
            line = content.count("\n", 0, story.start()) + 1
            raise FormatError(f"{path}, line {line}: a story without a NEWID.")
        topics = _LISTED.findall(_element(inside, "TOPICS"))
        if len(topics) != 1:
            continue
        in_split = attributes.get("TOPICS") == "YES"
        split = _MODAPTE.get(attributes.get("LEWISSPLIT", ""), NO_SPLIT) if in_split else NO_SPLIT
        places = ",".join(_LISTED.findall(_element(inside, "PLACES")))
        row = (attributes["NEWID"], topics[0], split, places, _element(inside, "DATE").strip())
        text = f"{_element(inside, 'TITLE')}\n{_element(inside, 'BODY')}"
        yield row, word_counts(html.unescape(text))


def _element(inside: str, tag: str) -> str:
    """Give what stands between a tag and its end, nothing when the tag is not there."""
    found = re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", inside, re.DOTALL)
    return found.group(1) if found else ""
