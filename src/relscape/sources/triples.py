"""Knowledge graphs from folders of files: train, valid and test, one triple a line."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path

from relscape.data.facts import Facts, as_facts
from relscape.data.triples import SPLITS, KnowledgeGraph
from relscape.errors import DataError, FormatError, RelscapeWarning, StorageError, listing
from relscape.sources.encodings import check_encoding, warn_of_guesses
from relscape.sources.files import COMPRESSIONS, FORMATS
from relscape.sources.rdf import RDF_FORMATS
from relscape.sources.references import expanded, is_database, shown
from relscape.sources.tables import read_table
from relscape.sources.triple_text import TextFile, open_text, text_facts

__all__ = ["read_facts", "read_graph", "read_graph_files"]

_OTHER_NAMES = {"dev": "valid", "validation": "valid", "training": "train", "testing": "test"}
_LABEL_FILES = ("entities", "labels")
_LABEL_HEADER = ({"entity", "id", "name"}, {"label", "text", "title", "name"})
_TEXT = {".txt", ".tsv", ".tab", ".csv"}


def read_graph_files(given: str | os.PathLike[str], encoding: str | None = None) -> KnowledgeGraph:
    """Read a graph from a folder of splits, a file of RDF, one file of triples, or a database."""
    if is_database(given):
        return KnowledgeGraph(read_facts(given))
    source = Path(given)
    if source.is_dir():
        return KnowledgeGraph.from_directory(source, encoding=encoding)
    if any(suffix in RDF_FORMATS for suffix in source.suffixes):
        return KnowledgeGraph.from_rdf(source)
    return KnowledgeGraph(read_facts(source, encoding))


def read_graph(
    path: str | os.PathLike[str], labels: bool = True, encoding: str | None = None
) -> KnowledgeGraph:
    """Read a knowledge graph from a folder; see :meth:`KnowledgeGraph.from_directory`."""
    folder = expanded(path)
    files = _files_of(folder)
    guesses: dict[Path, str] = {}
    parts = {split: read_facts(files[split], encoding, guesses) for split in SPLITS if split in files}
    for split in ("valid", "test"):
        if split in parts and not len(parts[split]):
            warnings.warn(
                f"{parts[split].name} holds no triples; the graph has no {split} split.",
                RelscapeWarning,
                stacklevel=4,
            )
    known = _read_labels(files["labels"], encoding, guesses) if labels and "labels" in files else None
    if encoding is None:
        warn_of_guesses(guesses)
    graph = KnowledgeGraph(parts["train"], parts.get("valid"), parts.get("test"), entity_labels=known)
    if known and not set(known).intersection(graph.entities):
        warnings.warn(
            f"{files['labels']} has labels for none of the entities, its first is for {next(iter(known))!r}; "
            "expected the name of an entity, then its label.",
            RelscapeWarning,
            stacklevel=4,
        )
    return graph


def read_facts(
    path: str | os.PathLike[str], encoding: str | None = None, guesses: dict[Path, str] | None = None
) -> Facts:
    """Read one file of triples; lines that are none are refused by their number.

    Text is read with one triple a line: ``.tsv`` and ``.txt`` with tabs and without quotes (or, where the
    first line of a ``.txt`` has no tab, with blanks), ``.csv`` with commas, semicolons, tabs or bars and
    with quotes. A first line of column names is recognised. Other tables (Parquet, Arrow, JSON lines,
    Excel) are read by the names or the order of their columns.

    Parameters
    ----------
    path : path
        The file, or a table of a database, read by the names or the order of its columns.
    encoding : str, optional
        How the letters of a text file are written; found by reading it unless given.
    guesses : dict, optional
        Collects the encodings found, for one warning about several files; without it, each file warns.
    """
    if is_database(path):
        return as_facts(read_table(path), shown(path))
    file = expanded(path)
    if _ending(file) not in _TEXT:
        return as_facts(read_table(file), str(file))
    text = open_text(file, check_encoding(encoding))
    if guesses is not None:
        guesses[file] = text.encoding
    elif encoding is None:
        warn_of_guesses({file: text.encoding})
    return text_facts(text)


def _ending(path: Path) -> str:
    """Give the ending of a file's name, that of its compression aside, in small letters."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _base(path: Path) -> str:
    name = path.name.lower()
    for suffix in reversed(path.suffixes):
        if suffix.lower() in COMPRESSIONS or suffix.lower() == _ending(path):
            name = name.removesuffix(suffix.lower())
    return name


def _files_of(folder: Path) -> dict[str, Path]:
    """Find the files of the three splits and of the labels in a folder, by their names."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise StorageError(f"{folder} {what}; give the folder that holds train, valid and test.")
    found: dict[str, list[Path]] = {}
    held = sorted(path for path in folder.iterdir() if path.is_file())
    for path in held:
        if _ending(path) in _TEXT or _ending(path) in FORMATS:
            word = re.split(r"[-_. ]", _base(path))[-1]
            split = _OTHER_NAMES.get(word, word)
            if split in SPLITS:
                found.setdefault(split, []).append(path)
            elif _base(path) in _LABEL_FILES:
                found.setdefault("labels", []).append(path)
    if "train" not in found:
        raise StorageError(f"{folder} has no file train{_hint(held)}")
    return {split: _only(paths, split, folder) for split, paths in found.items()}


def _only(paths: list[Path], split: str, folder: Path) -> Path:
    """Choose the one file of a split: one that is named so, before one whose name only ends so."""
    exact = [path for path in paths if _base(path) == split] or paths
    if len(exact) > 1:
        names = listing(path.name for path in exact)
        raise DataError(f"{folder} has several files for {split}: {names}. Keep one of them.")
    return exact[0]


def _hint(held: list[Path]) -> str:
    if any(_ending(path) in RDF_FORMATS for path in held):
        return f" but RDF ({listing(path.name for path in held)}); read that by KnowledgeGraph.from_rdf."
    holds = listing(path.name for path in held) if held else "nothing"
    return f".txt, .tsv, .csv or .parquet; it holds {holds}."


def _read_labels(path: Path, encoding: str | None, guesses: dict[Path, str]) -> Mapping[str, str] | None:
    """Read labels by name; None where the table has names only."""
    if _ending(path) not in _TEXT:
        table = read_table(path)
        if table.num_columns < 2:
            return None
        names, labels = (table.column(k).to_pylist() for k in range(2))
        return {
            str(name): "" if label is None else str(label) for name, label in zip(names, labels, strict=True)
        }
    file = open_text(path, check_encoding(encoding))
    guesses[path] = file.encoding
    return _text_labels(file)


def _text_labels(file: TextFile) -> Mapping[str, str] | None:
    labels: dict[str, str] = {}
    for number, (line, fields) in enumerate(file.records()):
        if number == 0:
            if len(fields) == 1:
                return None
            if all(
                field.strip().lower() in names for field, names in zip(fields, _LABEL_HEADER, strict=False)
            ):
                continue
        if len(fields) < 2:
            raise FormatError(f"{file.path}, line {line}: expected the name of an entity and its label.")
        labels.setdefault(fields[0], fields[1])
    return labels
