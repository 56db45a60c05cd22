"""A drafted study as the text of a project file, with comments for the person who goes on from there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from relscape.project.study import Kind, RelationTable
from relscape.project.study_draft import Draft
from relscape.sources.references import is_database, seen_from

__all__ = ["written"]

_WIDTH = 100

_HEAD = """\
# What is mapped, for relscape. Paths begin where this file lies. Look it through, then: relscape run

# Kinds of things. A kind without features is known by what guidance says of it alone.
"""
_RELATIONS = """\
# Relations: tables of pairs. from and to are kinds, and also the columns that hold their ids, unless
# from_column and to_column name others.
"""
_EXAMPLE = ("[relations.tagged]", 'table = "tags.csv"', 'from = "image"', 'to = "tag"')
_GUIDANCE = """\
# What brings things together (up to 1) or keeps them apart (down to -1). Other relations do neither.
[guidance]
"""
_MODELS = """\
# What to make of it, as maps/overview: {what}.
[models.overview]
method = "{method}"
{data}"""
_OUTPUTS = """\
# What to write of that.
[outputs.picture]
model = "overview"
file = "overview.png"
"""
_TITLES = {
    "projection": "a guided projection into two dimensions",
    "cohorts": "samples in their groups",
    "ca": "both kinds of a relation, by correspondence analysis",
    "multicode": "the kinds of all relations together",
}


def written(draft: Draft, folder: Path) -> str:
    """Write a draft as a project file that lies in a folder."""
    kinds = [_kind(kind, draft.instead.get(kind.name), folder) for kind in draft.kinds.values()]
    relations = [_relation(relation, folder) for relation in draft.relations.values()]
    others = [
        _commented([f"[kinds.{_key(relation.target)}]", *_relation(relation, folder).splitlines()])
        for relation in draft.others.values()
    ]
    example = [] if relations or others else [_commented(_EXAMPLE)]
    used = {kind.features_from for kind in draft.kinds.values()}
    guidance = _GUIDANCE + "".join(f"{_key(name)} = 1.0\n" for name in draft.relations if name not in used)
    method = _method(draft)
    guiding = [guidance] if method == "projection" else []
    described = [name for name, kind in draft.kinds.items() if kind.has_features]
    data = f"kind = {_text(described[0])}\n" if method == "cohorts" and described else ""
    models = _MODELS.format(what=_TITLES[method], method=method, data=data)
    return "\n".join([_HEAD, *kinds, _RELATIONS, *relations, *others, *example, *guiding, models, _OUTPUTS])


def _method(draft: Draft) -> str:
    """Choose a method that needs no more than there is: features and relations, or one of both."""
    if not draft.relations:
        return "cohorts"
    if any(kind.has_features for kind in draft.kinds.values()):
        return "projection"
    return "ca" if len(draft.relations) == 1 else "multicode"


def _kind(kind: Kind, other_text: str | None, folder: Path) -> str:
    lines = [f"[kinds.{_key(kind.name)}]"]
    if not kind.tables:
        return "\n".join([*lines, ""])
    lines += [f"table = {_paths(kind.tables, folder)}", f"id = {_text(kind.id)}"]
    if kind.title is not None:
        lines.append(f"title = {_text(kind.title)}  # shown instead of the id")
    if kind.label is not None:
        lines.append(f"label = {_text(kind.label)}  # a column of classes, to colour by")
    if kind.features:
        lines.append(f"features = {_list(kind.features)}")
    if kind.missing is not None:
        lines.append(f'missing = {_text(kind.missing)}  # some features are; or "drop" such lines')
    if kind.text is not None:
        lines += [f"text = {_text(kind.text.column)}  # its words are the features", 'stop_words = "english"']
        lines.append("min_df = 2  # words in fewer texts are left out")
    if kind.features_from is not None:
        lines.append(f"features_from = {_text(kind.features_from)}  # the other side of this relation")
    if other_text is not None:
        lines.append(f"# text = {_text(other_text)}  # instead of features: the words of this column")
    return "\n".join([*lines, ""])


def _relation(relation: RelationTable, folder: Path) -> str:
    lines = [f"[relations.{_key(relation.name)}]", f"table = {_paths(relation.tables, folder)}"]
    lines += [f"from = {_text(relation.source)}", f"to = {_text(relation.target)}"]
    if relation.source_column != relation.source:
        lines.append(f"from_column = {_text(relation.source_column)}")
    usual = f"{relation.target}_2" if relation.source == relation.target else relation.target
    if relation.target_column != usual:
        lines.append(f"to_column = {_text(relation.target_column)}")
    if relation.weight is not None:
        lines.append(f"weight = {_text(relation.weight)}")
    return "\n".join([*lines, ""])


def _commented(lines: Iterable[str]) -> str:
    return "".join(f"# {line}\n" for line in lines)


def _paths(paths: tuple[str, ...], folder: Path) -> str:
    """Write paths as they are from the folder of the project file, with slashes."""
    found = []
    for path in paths:
        if is_database(path):
            found.append(seen_from(path, folder))
            continue
        try:
            found.append(Path(os.path.relpath(path, folder)).as_posix())
        except ValueError:  # on another drive
            found.append(Path(path).absolute().as_posix())
    return _text(found[0]) if len(found) == 1 else _list(found)


def _list(items: Iterable[str]) -> str:
    """Write a list of texts, over several lines where it is long."""
    texts = [_text(item) for item in items]
    short = f"[{', '.join(texts)}]"
    if len(short) <= _WIDTH:
        return short
    lines = [""]
    for text in texts:
        if len(lines[-1]) + len(text) > _WIDTH:
            lines.append("")
        lines[-1] += f"{text}, "
    return "[\n" + "\n".join(f"    {line.rstrip()}" for line in lines) + "\n]"


def _text(value: str) -> str:
    """Quote a text for TOML, whose basic strings are those of JSON but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)
