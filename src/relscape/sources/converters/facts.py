"""Knowledge graphs as text: three files of tab-separated head, relation and tail."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from relscape.errors import FormatError, StorageError
from relscape.sources.converters.originals import find_file, line_fields, text_table

__all__ = ["read_graph"]

SPLITS = ("train", "valid", "test")


def read_graph(source: Path, prefix: str = "", definitions: str | None = None) -> Mapping[str, pa.Table]:
    """Read ``PREFIXtrain.txt``, ``PREFIXvalid.txt`` and ``PREFIXtest.txt`` of a folder.

    With ``definitions``, the name of a file of tab-separated ids and labels, a table of the entities is
    made too; where that file is not there, or lacks an entity, its label is empty.
    """
    facts = {split: _read_facts(find_file(source, f"{prefix}{split}.txt")) for split in SPLITS}
    tables = {
        split: text_table(("head", "relation", "tail"), rows, encode=True) for split, rows in facts.items()
    }
    if definitions is not None:
        entities = sorted({entity for rows in facts.values() for row in rows for entity in (row[0], row[2])})
        labels = _read_labels(source, definitions) if definitions else {}
        tables["entities"] = text_table(("entity", "label"), [(e, labels.get(e, "")) for e in entities])
    return tables


def _read_facts(path: Path) -> list[list[str]]:
    rows = []
    for number, fields in line_fields(path, "\t"):
        if len(fields) != 3 or not all(fields):
            raise FormatError(
                f"{path}, line {number}: expected head, relation and tail with a tab between them, "
                f"found {len(fields)} fields."
            )
        rows.append(fields)
    return rows


def _read_labels(source: Path, name: str) -> dict[str, str]:
    try:
        path = find_file(source, name)
    except StorageError:
        return {}
    labels = {}
    for number, fields in line_fields(path, "\t"):
        if len(fields) < 2:
            raise FormatError(f"{path}, line {number}: expected an id and a label with a tab between them.")
        labels[fields[0]] = fields[1]
    return labels
