"""The project file ``relscape.toml``: kinds, relations, guidance, models and outputs, validated."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relscape.errors import FormatError, ParameterError, StorageError, UnknownNameError
from relscape.maps.spelling import meant
from relscape.project.sections import Section, about
from relscape.project.study_models import Model, read_model
from relscape.project.study_outputs import Output, read_output
from relscape.sources.references import expanded, located, with_query

__all__ = ["PROJECT_FILE", "Contents", "Kind", "RelationTable", "Study", "parse_study", "read_study"]

PROJECT_FILE = "relscape.toml"
SCALINGS = ("log", "length", "none")
MISSING = ("median", "drop")

_PARTS = ("kinds", "relations", "guidance", "models", "outputs")
_COUNTING = ("min_df", "max_df", "stop_words", "ngrams")
_KIND_KEYS = (
    "table", "query", "id", "title", "label", "features", "missing", "text", *_COUNTING,
    "features_from", "scaling",
)  # fmt: skip
_RELATION_KEYS = ("table", "query", "from", "to", "weight", "from_column", "to_column")
_AT_LINE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)\s*$")


@dataclass(frozen=True)
class Contents:
    """A column of texts, and which of their words are counted; see ``read_text`` for what each means."""

    column: str
    min_df: int | float = 1
    max_df: int | float = 1.0
    stop_words: str | None = None
    ngrams: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Kind:
    """One kind of things: its table, if it has one, and what its features are.

    ``title`` is the column of names to show instead of ids, ``label`` that of classes. ``features`` are names
    or patterns of columns; ``text`` is a column whose words are counted instead, and ``features_from`` a
    relation of the kind whose other side are the features. Of those at most one is given; a kind with none is
    one-hot. ``scaling`` is for counts, ``missing`` for columns.
    """

    name: str
    tables: tuple[str, ...] = ()
    id: str = ""
    title: str | None = None
    label: str | None = None
    features: tuple[str, ...] = ()
    missing: str | None = None
    text: Contents | None = None
    features_from: str | None = None
    scaling: str = "log"

    @property
    def has_features(self) -> bool:
        """Whether there is anything to compare its things by, beside relations."""
        return bool(self.features or self.text is not None or self.features_from is not None)


@dataclass(frozen=True)
class RelationTable:
    """A table of pairs: the two kinds it joins, the columns of their ids, and perhaps one of weights."""

    name: str
    tables: tuple[str, ...]
    source: str
    target: str
    source_column: str
    target_column: str
    weight: str | None = None


@dataclass(frozen=True)
class Study:
    """All that a project file says. ``guidance`` has a weight for every relation that guides."""

    path: Path
    kinds: Mapping[str, Kind]
    relations: Mapping[str, RelationTable]
    guidance: Mapping[str, float]
    models: Mapping[str, Model]
    outputs: Mapping[str, Output] = field(default_factory=dict)

    def located(self, tables: tuple[str, ...]) -> list[str]:
        """Give paths as they are from here: those of a project file begin where it lies."""
        return [located(table, self.path.parent) for table in tables]

    def where(self, table: str, key: str = "") -> str:
        """Say where something stands in the file, for messages."""
        return Section(str(self.path), table, {}).where(key)


def read_study(path: str | Path = PROJECT_FILE) -> Study:
    """Read a project file, or the ``relscape.toml`` of a folder.

    Parameters
    ----------
    path : path
        The file. The paths in it begin where it lies.

    Returns
    -------
    Study
        What it says; no table is opened yet.
    """
    file = expanded(path)
    if file.is_dir():
        file = file / PROJECT_FILE
    if not file.is_file():
        raise StorageError(
            f"there is no project file {str(file)!r}.{meant(file, Path.is_file)} Have one made from your "
            "tables, with 'relscape init FILES', or name another."
        )
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{file} is not UTF-8 text, at byte {error.start}; a project file is. Save it so."
        ) from error
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror or error}.") from error
    return parse_study(text, file)


def parse_study(text: str, path: Path) -> Study:
    """Check what a project file says, and give it as a :class:`Study`."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(error, text, path) from error
    top = Section(str(path), "", content)
    top.only(_PARTS)
    relations = {name: _relation(name, section) for name, section in top.tables("relations").items()}
    kinds = {name: _kind(name, section, relations) for name, section in top.tables("kinds").items()}
    if not kinds and not _only_facts(top):
        raise ParameterError(f"{path}: no kind of things is described; begin with a table [kinds.NAME].")
    for relation in relations.values():
        for key, kind in (("from", relation.source), ("to", relation.target)):
            if kind not in kinds:
                section = Section(top.file, f"relations.{relation.name}", {})
                raise UnknownNameError("kind", kind, kinds, section.where(key))
    models = {name: read_model(name, section) for name, section in top.tables("models").items()}
    outputs = {name: read_output(name, section, models) for name, section in top.tables("outputs").items()}
    return Study(path, kinds, relations, _guidance(top, kinds, relations), models, outputs)


def _only_facts(top: Section) -> bool:
    """Tell whether all models are of facts in files of their own, which need no kinds."""
    models = top.tables("models").values()
    return bool(models) and all("facts" in section.content for section in models)


def _syntax_error(error: tomllib.TOMLDecodeError, text: str, path: Path) -> FormatError:
    """Say what is no TOML, on which line, and what stands there."""
    lines = text.splitlines()
    found = _AT_LINE.search(str(error))
    line = int(found[1]) if found and found[1] else max(len(lines), 1)
    stands = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    reason = _AT_LINE.sub("", str(error))
    at = f" ({stands[:80]})" if stands else ""
    return FormatError(
        f"{path}, line {line}{at}: {reason[:1].lower()}{reason[1:]}. Write lines such as table = "
        '"images.csv", texts between quotes, under tables such as [kinds.image].'
    )


def _kind(name: str, section: Section, relations: Mapping[str, RelationTable]) -> Kind:
    section.only(_KIND_KEYS)
    section.needs(("query", "id", "title", "label", "features", "text"), "table")
    section.together(("features", "text", "features_from"), "a kind has features of one sort.")
    section.needs(("missing",), "features")
    section.needs(_COUNTING, "text")
    if "text" not in section.content:
        section.needs(("scaling",), "features_from")
    return Kind(
        name,
        _tables(section, '"images.csv"'),
        section.text("id", name) or name,
        section.text("title", "name"),
        section.text("label", "class"),
        section.texts("features", '["f_*"]'),
        section.choice("missing", MISSING),
        _contents(section),
        _features_from(name, section, relations),
        section.choice("scaling", SCALINGS) or SCALINGS[0],
    )


def _tables(section: Section, example: str) -> tuple[str, ...]:
    """Read the tables of a kind or relation: files, tables of databases, or a database and a query."""
    tables = section.texts("table", example)
    query = section.text("query", "select image, tag from tags")
    if query is None:
        return tables
    with about(section.where("query")):
        return tuple(with_query(table, query) for table in tables)


def _contents(section: Section) -> Contents | None:
    column = section.text("text", "abstract")
    if column is None:
        return None
    given: dict[str, Any] = {}
    for key in ("min_df", "max_df"):
        if key in section.content:
            value = section.content[key]
            share = isinstance(value, float) and 0 <= value <= 1
            count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
            if not (share or count):
                raise section.fault(
                    key, f"expected how many texts, such as {key} = 3, or a share, such as 0.5."
                )
            given[key] = value
    if "stop_words" in section.content:
        given["stop_words"] = section.text("stop_words", "english")
    if "ngrams" in section.content:
        span = section.content["ngrams"]
        sound = isinstance(span, list) and len(span) == 2 and all(type(end) is int for end in span)
        if not sound or not 1 <= span[0] <= span[1]:
            raise section.fault("ngrams", "expected the shortest and the longest phrase, as in [1, 2].")
        given["ngrams"] = (span[0], span[1])
    return Contents(column, **given)


def _features_from(name: str, section: Section, relations: Mapping[str, RelationTable]) -> str | None:
    """Read the relation that gives a kind its features; it must begin or end at another kind."""
    key = "features_from"
    given = section.text(key, "words")
    if given is None:
        return None
    if given not in relations:
        raise UnknownNameError("relation", given, relations, section.where(key))
    sides = (relations[given].source, relations[given].target)
    if name not in sides or sides == (name, name):
        raise ParameterError(
            f"{section.where(key)}: the relation {given!r} joins {sides[0]!r} and {sides[1]!r}; expected one "
            f"between {name!r} and another kind, whose things are then the features."
        )
    return given


def _relation(name: str, section: Section) -> RelationTable:
    section.only(_RELATION_KEYS)
    tables = _tables(section, '"pairs.csv"')
    if not tables:
        raise ParameterError(
            f'{section.where()}: table is missing; name a table of pairs, such as table = "pairs.csv".'
        )
    source, target = section.needed("from", "image"), section.needed("to", "tag")
    columns = (
        section.text("from_column", source) or source,
        section.text("to_column", f"{target}_2") or (f"{target}_2" if source == target else target),
    )
    if columns[0] == columns[1]:
        raise ParameterError(
            f"{section.where()}: both ends are read from the column {columns[0]!r}; name two columns, with "
            "from_column and to_column."
        )
    return RelationTable(name, tables, source, target, *columns, section.text("weight", "w"))


def _guidance(
    top: Section, kinds: Mapping[str, Kind], relations: Mapping[str, RelationTable]
) -> dict[str, float]:
    """Read how much relations guide; without a word, all those do that give no kind its features."""
    if "guidance" not in top.content:
        used = {kind.features_from for kind in kinds.values()}
        return {name: 1.0 for name in relations if name not in used}
    given = top.content["guidance"]
    if not isinstance(given, Mapping):
        raise top.fault("guidance", "expected a table: [guidance], and below it RELATION = 1.0.")
    section = Section(top.file, "guidance", given)
    for name in given:
        if name not in relations:
            raise UnknownNameError("relation", name, relations, section.where())
    weights = {name: section.number(name, -1.0, 1.0) for name in given}
    return {name: weight for name, weight in weights.items() if weight != 0}
