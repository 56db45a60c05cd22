"""Which column of a table of features names the samples, where nobody says."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection

from relscape.errors import RelscapeWarning
from relscape.sources.sessions import Session

__all__ = ["find_id_column"]

# Names of columns that hold ids, alone ("id") or at the end of a name ("bottle nr").
_NAMED_AS_ID = re.compile(r"(.*[\s_.-])?(ids?|identifier|index|key|nr|no|number)\.?", re.IGNORECASE)
_CALLED_ID = re.compile(r"(.*[\s_.-])?(ids?|identifier)", re.IGNORECASE)
# Fewer numbers than these may all differ by chance.
_ENOUGH_LINES = 10


def find_id_column(session: Session, label: str | None, features: Collection[str]) -> str | None:
    """Find the column that names the samples.

    It is one without a name; or the first, if its texts or whole numbers all differ; or one that is called
    id and holds whole numbers that all differ. Whole numbers under a name that does not speak of ids are
    taken with a warning. The label and columns that were named as features are no ids.
    """
    scan = session.scans[0]
    taken = {*features, label}
    if scan.row_names is not None and scan.row_names not in taken:
        return scan.row_names
    first, *others = scan.columns
    if first not in taken:
        found = _first_column(session, first, [name for name in others if name != label])
        if found is not None:
            return found
    called = [name for name in others if name not in taken and _CALLED_ID.fullmatch(name.strip())]
    return next((name for name in called if _counts(session, name).all_differ), None)


class _Counts:
    """How many lines a column has, how many texts, different ones, numbers, and whole numbers."""

    def __init__(self, lines: int, texts: int, distinct: int, numbers: int, whole: int) -> None:
        self.lines, self.texts, self.distinct = lines, texts, distinct
        self.numbers, self.whole = numbers, whole

    @property
    def all_differ(self) -> bool:
        """Whether every line has a whole number of its own."""
        return 0 < self.lines == self.whole == self.distinct


def _counts(session: Session, name: str) -> _Counts:
    if any(name not in scan.columns for scan in session.scans):
        return _Counts(0, 0, 0, 0, 0)
    both = " UNION ALL ".join(
        f"SELECT trim({s.text(name)}) AS t, {s.number(name)} AS x FROM {s.source}" for s in session.scans
    )
    [counted] = session.rows(
        "SELECT count(*), count(t), count(DISTINCT t), count(x), "
        f"count(*) FILTER (regexp_full_match(t, '[0-9]+')) FROM ({both})"
    )
    return _Counts(*map(int, counted))


def _first_column(session: Session, first: str, others: list[str]) -> str | None:
    """Judge the first column: texts that all differ, or whole numbers that do, name the lines."""
    found = _counts(session, first)
    path = session.scans[0].path
    if found.numbers and found.numbers == found.texts:
        named = _NAMED_AS_ID.fullmatch(first.strip()) is not None
        if not found.all_differ or not (named or found.lines >= _ENOUGH_LINES):
            return None
        if not any(_counts(session, name).numbers for name in others):  # it is all there is to compare by
            return None
        if not named:
            warnings.warn(
                f"{path}: the first column, {first!r}, has another whole number in every line and is taken "
                "as ids, not as a feature. If it is one, name all features (--features).",
                RelscapeWarning,
                stacklevel=4,
            )
        return first
    if not found.lines or session.scans[0].column(first).numeric or 2 * found.distinct <= found.lines:
        return None
    if found.lines > found.distinct:
        gone, repeated = found.lines - found.texts, found.texts - found.distinct
        what = f"{gone:,} are missing" if gone else f"{repeated:,} repeat"
        warnings.warn(
            f"{path}: the first column, {first!r}, does not name the lines, as {what} there; they are "
            "numbered instead. If its texts are ids, correct them and name the column (--id).",
            RelscapeWarning,
            stacklevel=4,
        )
        return None
    return first
