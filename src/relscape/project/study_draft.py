"""Drafting a study from a look at tables: which hold things, which relate them, what the features are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TypeAlias

from relscape.project.study import Contents, Kind, RelationTable
from relscape.project.study_looks import ColumnLook, TableLook, look_at, share_within
from relscape.sources.sessions import Session, opened

__all__ = ["Draft", "draft_study"]

_WEIGHTS = re.compile(
    r"w|n|weights?|counts?|times|freq(uency)?|strength|score|rating|value|number", re.IGNORECASE
)
Owners: TypeAlias = dict[str, tuple[TableLook, str]]  # of every kind, its table and the column of its ids

_TITLES = ("title", "name", "label", "caption")
_MOST_WORDS_AS_TITLE = 200  # letters
_ALIKE = 4  # columns of one beginning are written as a pattern
_FEW = 3  # columns of numbers say less than a column of texts does
_MANY = 10  # partners each: more like contents than like a tag
_MOSTLY = 0.5  # of the values of a column are ids: then it names those things


@dataclass
class Draft:
    """What was found: kinds and relations, and files that are left out, with why.

    ``others`` are relations to choose as well, ``instead`` the column of texts, by kind, that could be
    counted instead of the features; ``lines`` counts those of tables of pairs.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    relations: dict[str, RelationTable] = field(default_factory=dict)
    others: dict[str, RelationTable] = field(default_factory=dict)
    instead: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def draft_study(files: Iterable[str]) -> Draft:
    """Look at table files and draft a study of them.

    A table whose lines a column names is one of things: its columns of numbers are their features, or else a
    column of running text is. A table of which two columns name things relates them. Where nothing else does,
    a column of classes relates the things to their classes.

    Parameters
    ----------
    files : iterable of str
        Tables or globs of them.
    """
    draft = Draft()
    with opened(list(files)) as session:
        looks = [look_at(session, scan) for scan in session.scans]
        owners: Owners = {}
        pairs = []
        for look in sorted(looks, key=lambda look: (_is_pairs(look), -len(look.columns))):
            taken = {column for _, column in owners.values()}
            if look.lines == 0:
                draft.left_out[str(look.path)] = "it has no lines"
            elif look.id is None or _is_pairs(look) or look.id in taken:
                pairs.append(look)
            else:
                owners[_kind_name(look, owners)] = (look, look.id)
        for look in pairs:
            _relate(session, draft, look, owners)
        for kind, (look, id) in owners.items():
            _describe(session, draft, kind, look, id, owners)
    _take_contents(draft, owners)
    used = {kind.features_from for kind in draft.kinds.values()}
    if draft.relations.keys() <= used and draft.others:
        name, relation = next(iter(draft.others.items()))
        draft.relations[name] = draft.others.pop(name)
        draft.kinds.setdefault(relation.target, Kind(relation.target, id=relation.target))
    draft.kinds = dict(sorted(draft.kinds.items(), key=lambda item: not item[1].tables))
    return draft


def _take_contents(draft: Draft, owners: Owners) -> None:
    """Let a relation with many partners each be the features of a kind that has none, if another guides."""
    for kind, (look, _) in owners.items():
        if draft.kinds[kind].features or draft.kinds[kind].text is not None:
            continue
        for name, relation in draft.relations.items():
            outward = relation.source == kind and not draft.kinds[relation.target].tables
            if outward and draft.lines[name] >= _MANY * look.lines:
                if len(draft.relations) + len(draft.others) > 1:
                    draft.kinds[kind] = replace(draft.kinds[kind], features_from=name)
                break


def _is_pairs(look: TableLook) -> bool:
    """Tell whether a table is one of pairs by its form: two columns that name things, and perhaps weights."""
    columns = list(look.columns.values())
    if not 2 <= len(columns) <= 3 or not all(column.is_key for column in columns[:2]):
        return False
    first, second, *rest = columns
    if first.is_unique and (second.is_unique or second.numeric):
        return False
    if rest and not (rest[0].numeric and not rest[0].gaps):
        return False
    return not (rest and first.is_unique) or _WEIGHTS.fullmatch(rest[0].name.strip()) is not None


def _kind_name(look: TableLook, taken: Iterable[str]) -> str:
    """Call things as their column of ids is called, or else as the file is."""
    id = str(look.id)
    named = re.sub(r"[\s_.-]ids?$", "", id.strip(), flags=re.IGNORECASE)
    stem = _singular(re.split(r"[.]", look.path.name)[0])
    plain = named.lower() in {"id", "ids", "key", "index", "identifier", *_TITLES} or named.startswith("__")
    for name in (stem if plain else named, stem, f"{stem}_2"):
        if name.replace(":", "_") not in taken:
            return name.replace(":", "_")
    return f"{stem}_{id}".replace(":", "_")


def _singular(word: str) -> str:
    if re.fullmatch(r".*[^aeiou]ies", word):
        return f"{word[:-3]}y"
    return word[:-1] if re.fullmatch(r".*[^su]s", word) else word


# ---------------------------------------------------------------------- relations


def _relate(session: Session, draft: Draft, look: TableLook, owners: Owners) -> None:
    """Take a table as one of pairs, by the two columns that name things."""
    keys = [column for column in look.columns.values() if column.is_key]
    keys = keys[:2] if _is_pairs(look) else keys
    found = {column.name: _owner(session, look, column, owners) for column in keys}
    ends = [name for name, kind in found.items() if kind is not None or _is_pairs(look)][:2]
    if len(ends) < 2:
        draft.left_out[str(look.path)] = (
            "no column names its lines with an id each, and no two columns name things of the other tables"
        )
        return
    kinds = [found[name] or name.replace(":", "_") for name in ends]
    for kind in kinds:
        if kind not in owners:
            draft.kinds.setdefault(kind, Kind(kind, id=kind))
    numeric = [c.name for c in look.columns.values() if c.numeric and not c.gaps and c.name not in ends]
    weights = [name for name in numeric if _WEIGHTS.fullmatch(name.strip())]
    weight = next(iter(weights or (numeric if len(numeric) == 1 else [])), None)
    name = _free(re.split(r"[.]", look.path.name)[0].replace(":", "_"), draft.relations)
    (source, target), paths = kinds, (look.reference,)
    draft.relations[name] = RelationTable(name, paths, source, target, ends[0], ends[1], weight)
    draft.lines[name] = look.lines


def _owner(session: Session, look: TableLook, column: ColumnLook, owners: Owners) -> str | None:
    """Find the kind that a column names, by its own name or by its values."""
    plain = re.sub(r"([\s_.-]ids?|_2)$", "", column.name.strip(), flags=re.IGNORECASE)
    for kind, (_, id) in owners.items():
        if column.name == id or plain in (kind, id):
            return kind
    for kind, (table, id) in owners.items():
        numbers = column.numeric or table.columns[id].numeric
        if table is look or (numbers and not _is_pairs(look)):
            continue
        if share_within(session, (look.scan, column.name), (table.scan, id)) >= _MOSTLY:
            return kind
    return None


def _free(name: str, taken: Iterable[str]) -> str:
    known, number, free = set(taken), 2, name
    while free in known:
        free, number = f"{name}_{number}", number + 1
    return free


# ---------------------------------------------------------------------- things


def _describe(
    session: Session,
    draft: Draft,
    kind: str,
    look: TableLook,
    id: str,
    owners: Owners,
) -> None:
    """Describe one kind by the columns of its table."""
    path, columns = look.reference, [c for c in look.columns.values() if c.name != id]
    foreign = {}
    for column in columns:
        owner = _owner(session, look, column, owners) if column.is_key and not column.is_unique else None
        if owner not in (None, kind):
            foreign[column.name] = str(owner)
    for name, other in foreign.items():
        title = _free(name.replace(":", "_"), draft.relations)
        draft.relations[title] = RelationTable(title, (path,), kind, other, id, name)
        draft.lines[title] = look.lines
    classes = [column.name for column in columns if column.is_class and column.name not in foreign]
    for name in classes:
        title = _free(f"{kind}_{name}".replace(":", "_"), draft.relations)
        if name not in owners and name not in draft.kinds:
            draft.others[title] = RelationTable(title, (path,), kind, name.replace(":", "_"), id, name)
    numeric = [c for c in columns if c.numeric and c.name not in foreign and c.distinct > 1]
    features = [column.name for column in numeric]
    texts = [column.name for column in columns if column.is_long]
    titles = [
        c.name
        for c in columns
        if c.name.strip().lower() in _TITLES and c.numbers == 0 and c.letters <= _MOST_WORDS_AS_TITLE
    ]
    if texts and len(features) < _FEW:
        features = []
    elif texts:
        draft.instead[kind] = texts[0]
    draft.kinds[kind] = Kind(
        kind,
        (path,),
        id,
        next(iter(titles), None),
        next(iter(classes), None),
        tuple(_patterns(features, list(look.columns))),
        "median" if features and any(column.gaps for column in numeric) else None,
        Contents(texts[0], stop_words="english") if texts and not features else None,
    )


def _patterns(names: list[str], columns: list[str]) -> list[str]:
    """Write columns of one beginning and a number as a pattern, where it means them and no others."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(re.sub(r"\d+$", "", name), []).append(name)
    written: list[str] = []
    for start, members in groups.items():
        meant = [name for name in columns if fnmatchcase(name, f"{start}*")]
        safe = start and not re.search(r"[*?\[\],]", start)
        written += [f"{start}*"] if safe and len(members) >= _ALIKE and meant == members else members
    return written
