"""20 Newsgroups: folders of messages, one folder a newsgroup."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePath

import pyarrow as pa

from relscape.errors import StorageError
from relscape.maps.files import storage_errors
from relscape.progress import task
from relscape.sources.converters.originals import count_table, text_table, word_counts

__all__ = ["fetch_messages", "message_text", "read_messages"]

_SUBJECT = re.compile(r"^subject:(.*(?:\n[ \t].*)*)", re.IGNORECASE | re.MULTILINE)
_SPLITS = {"20news-bydate-train": "train", "20news-bydate-test": "test"}
NO_SPLIT = "-"


def read_messages(source: Path) -> Mapping[str, pa.Table]:
    """Read all messages GROUP/NUMBER in a folder or below it.

    A message below ``20news-bydate-train`` or ``20news-bydate-test`` belongs to that split; one that is
    also in another folder is read once.
    """
    if not source.is_dir():
        raise StorageError(f"{source} is not a folder; give the one that holds the newsgroups' folders.")
    paths = sorted(path for path in source.rglob("*") if path.name.isdigit() and path.is_file())
    if not paths:
        raise StorageError(
            f"there are no messages in {source}: expected folders named as newsgroups, such as "
            "sci.space, with messages whose names are numbers."
        )
    texts: dict[PurePath, str] = {}
    with task("reading messages", total=len(paths)) as progress:
        for path in paths:
            with storage_errors("read", path):
                texts[path] = path.read_bytes().decode("latin-1")
            progress.advance()
    return _tables(texts)


def fetch_messages() -> Mapping[str, pa.Table]:
    """Take the messages sorted by date (18,846) that scikit-learn fetches or has fetched before."""
    from sklearn.datasets import fetch_20newsgroups

    bunch = fetch_20newsgroups(subset="all", shuffle=False)
    paths = [PurePath(str(name)) for name in bunch.filenames]
    return _tables(dict(zip(paths, bunch.data, strict=True)))


def message_text(message: str) -> str:
    """Give the words of a message: its subject and its body, without the other headers."""
    header, _, body = message.replace("\r\n", "\n").partition("\n\n")
    subject = _SUBJECT.search(header)
    return f"{subject.group(1) if subject else ''}\n{body}"


def _tables(texts: Mapping[PurePath, str]) -> dict[str, pa.Table]:
    splits: dict[str, str] = {}
    counts: dict[str, Counter[str]] = {}
    for path in sorted(texts):
        doc = f"{path.parent.name}/{path.name}"
        split = _SPLITS.get(path.parent.parent.name, NO_SPLIT)
        if splits.get(doc, NO_SPLIT) == NO_SPLIT:
            splits[doc] = split
            counts[doc] = word_counts(message_text(texts[path]))
    docs = sorted(splits)
    rows = [(doc, doc.partition("/")[0], splits[doc]) for doc in docs]
    return {
        "docs": text_table(("doc", "newsgroup", "bydate_split"), rows),
        "counts": count_table({doc: counts[doc] for doc in docs}),
    }
