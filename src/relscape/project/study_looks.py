"""A first look at table files: what each column holds, for drafting a project file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from relscape.sources.files import Origin
from relscape.sources.scans import Scan
from relscape.sources.sessions import Session

__all__ = ["ColumnLook", "TableLook", "look_at", "share_within"]

_AT_ONCE = 200  # columns that one query counts
_MOST_COUNTED = 50  # columns whose values are counted exactly
_NEARLY = 0.8  # of all lines have values of their own, by a rough count
_LONG_TEXT = 40  # letters, on average
_MOST_CLASSES = 100
_NO_NUMBER = "('na', 'nan')"  # stand for a missing number; among texts they are texts
_IDS = re.compile(r"(.*[\s_.-])?(ids?|identifier|key)|__.*|column\d+", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnLook:
    """What one column holds: how many lines have a value, and what these are.

    ``gone`` counts NA and NaN, ``distinct`` different values, ``spaced`` those with a space in them, and
    ``letters`` is the mean length.
    """

    name: str
    lines: int
    given: int
    gone: int
    distinct: int
    numbers: int
    whole: int
    letters: float
    spaced: int

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers."""
        return 0 < self.numbers == self.given - self.gone

    @property
    def gaps(self) -> bool:
        """Whether some lines have no value."""
        return self.given < self.lines or (self.numeric and self.gone > 0)

    @property
    def is_key(self) -> bool:
        """Whether it can name things: texts that are no sentences, or whole numbers, in every line."""
        return not self.gaps and self.lines > 0 and not self.is_long and self.numbers in (0, self.whole)

    @property
    def is_unique(self) -> bool:
        """Whether it can name the lines."""
        return self.is_key and self.distinct == self.lines

    @property
    def is_long(self) -> bool:
        """Whether it holds running text."""
        return self.numbers == 0 and self.letters >= _LONG_TEXT and 2 * self.spaced > self.given

    @property
    def is_class(self) -> bool:
        """Whether it sorts the lines into a few classes."""
        return (
            self.numbers == 0
            and not self.is_long
            and 2 <= self.distinct <= min(_MOST_CLASSES, self.lines // 2)
        )

    @property
    def called_id(self) -> bool:
        """Whether its name speaks of ids."""
        return _IDS.fullmatch(self.name.strip()) is not None


@dataclass(frozen=True)
class TableLook:
    """One table file and its columns."""

    path: Origin
    scan: Scan
    columns: dict[str, ColumnLook]

    @property
    def reference(self) -> str:
        """What names the table in a project file."""
        return str(self.path) if isinstance(self.path, Path) else self.path.reference

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return next(iter(self.columns.values())).lines

    @property
    def id(self) -> str | None:
        """The column that names the lines: one called so first, then the first that can."""
        unique = [column for column in self.columns.values() if column.is_unique]
        named = [column for column in unique if column.called_id]
        # a number of its own in every line may be chance, unless it comes first
        plain = [c for c in unique if c.numbers == 0 or c.name == next(iter(self.columns))]
        return next((column.name for column in (*named, *plain)), None)


def look_at(session: Session, scan: Scan) -> TableLook:
    """Count what the columns of a file hold."""
    names = list(scan.columns)
    rough = [
        look
        for start in range(0, len(names), _AT_ONCE)
        for look in _counted(session, scan, names[start : start + _AT_ONCE])
    ]
    nearly = [look for look in rough if look.is_key and look.distinct >= _NEARLY * look.lines]
    exact = _distinct(session, scan, [look.name for look in nearly[:_MOST_COUNTED]])
    columns = {}
    for look in rough:
        counts = {**vars(look), "distinct": exact.get(look.name, min(look.distinct, look.given))}
        columns[look.name] = ColumnLook(**counts)
    return TableLook(scan.path, scan, columns)


def _counted(session: Session, scan: Scan, names: list[str]) -> list[ColumnLook]:
    """Count what some columns hold, their different values only roughly."""
    columns = ", ".join(
        f"{_value(scan, name)} AS v{k}, {scan.number(name)} AS x{k}" for k, name in enumerate(names)
    )
    tests = ", ".join(
        f"count(v{k}), count(*) FILTER (lower(v{k}) IN {_NO_NUMBER}), approx_count_distinct(v{k}), "
        f"count(*) FILTER (v{k} IS NOT NULL AND isfinite(x{k})), "
        rf"count(*) FILTER (regexp_full_match(v{k}, '-?[0-9]+(\.0+)?')), coalesce(avg(length(v{k})), 0), "
        f"count(*) FILTER (contains(v{k}, ' '))"
        for k in range(len(names))
    )
    [(lines, *counts)] = session.rows(f"SELECT count(*), {tests} FROM (SELECT {columns} FROM {scan.source})")
    width = len(counts) // len(names)
    return [ColumnLook(name, lines, *counts[width * k : width * (k + 1)]) for k, name in enumerate(names)]


def _distinct(session: Session, scan: Scan, names: list[str]) -> dict[str, int]:
    if not names:
        return {}
    tests = ", ".join(f"count(DISTINCT {_value(scan, name)})" for name in names)
    [counts] = session.rows(f"SELECT {tests} FROM {scan.source}")
    return dict(zip(names, map(int, counts), strict=True))


def _value(scan: Scan, name: str) -> str:
    """Give SQL for a column as text, NULL where there is none."""
    return f"nullif(trim({scan.text(name)}), '')"


def share_within(session: Session, column: tuple[Scan, str], ids: tuple[Scan, str]) -> float:
    """Give the share of the different values of a column that are ids of another table."""
    values = f"SELECT DISTINCT {_value(*column)} AS v FROM {column[0].source}"
    known = f"SELECT DISTINCT {_value(*ids)} AS id FROM {ids[0].source}"
    [(found, total)] = session.rows(
        f"SELECT count(id), count(v) FROM ({values}) LEFT JOIN ({known}) ON v = id WHERE v IS NOT NULL"
    )
    return float(found / total) if total else 0.0
