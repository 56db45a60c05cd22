"""Tables of features: one line a sample, its columns told apart as id, label, features and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pyarrow as pa

from relscape.data import EntitySet
from relscape.data.labels import as_text
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.protocols import AnyArray, FloatArray, TextArray
from relscape.sources.checks import fault, refuse_empty, refuse_missing, refuse_mixed_numbers, refuse_repeats
from relscape.sources.files import Origin
from relscape.sources.sample_ids import find_id_column
from relscape.sources.scans import Scan
from relscape.sources.sessions import Session, opened
from relscape.sources.tables import load

__all__ = ["FeatureTable", "matching_columns", "read_feature_table"]

SAMPLE = "sample"
# Names of id columns that say nothing of what the things are.
_PLAIN_IDS = {"id", "ids", "index", "key", "name", "row", "cohort"}
_MISSING = {"", "na", "nan"}
_MOST_TOLD = 20


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Samples with their features (n × d), the features' names, and one value a sample of the label column.

    All columns that are no features are fields of the samples. ``id`` is the column of ids, if there is one.
    """

    matrix: FloatArray
    features: TextArray
    samples: EntitySet
    labels: AnyArray | None
    id: str | None


def read_feature_table(
    files: Sequence[str],
    id: str | None = None,
    label: str | None = None,
    features: Sequence[str] = (),
    *,
    kind: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    gaps: bool = False,
) -> FeatureTable:
    """Read samples and their features from table files.

    Parameters
    ----------
    files : sequence of str
        Tables or globs, read as one table.
    id : str, optional
        The column of ids; otherwise one without a name, a first column of texts or whole numbers that are
        all different, or one called id.
    label : str, optional
        The column of cohorts; blank, NA and NaN mean that a sample has none.
    features : sequence of str
        Columns, or patterns such as "f_*"; all other columns of numbers unless given.
    kind : str, optional
        What to call the samples; by default as the column of ids is called.
    gaps : bool
        Let missing features through, as NaN; otherwise they are refused.
    """
    with opened(list(files), encoding, sheet) as session:
        columns = list(session.scans[0].columns)
        for name in (name for name in (id, label) if name is not None):
            session.scans[0].column(name)
        if id is not None and id == label:
            raise ParameterError(f"id and label both name the column {id!r}; two different ones are needed.")
        free = [name for name in columns if name not in (id, label)]
        chosen = matching_columns(features, free, session.scans[0].path) if features else None
        id = find_id_column(session, label, chosen or ()) if id is None else id
        rest = [name for name in free if name != id]
        table = load(session, columns, [] if id is None else [id])
        refuse_empty(session, table.num_rows)
        numeric = [name for name in rest if _is_numeric(table.column(name).type)]
        used = _numeric_ones(session, rest, numeric) if chosen is None else chosen
        matrix = _numbers(session, table, used)
        if not gaps:
            _refuse_gaps(session, matrix, used)
        ids = _ids(session, table, id)
        others = [name for name in columns if name != id and name not in set(used)]
        fields = {name: _field(table.column(name)) for name in others}
        labels = None if label is None else _labels(fields[label])
    return FeatureTable(matrix, as_text(used), EntitySet(kind or _kind(id), ids, None, fields), labels, id)


def matching_columns(patterns: Sequence[str], names: Sequence[str], path: str | Origin) -> list[str]:
    """Choose columns by names and patterns, in the order of the table; one that means none is refused."""
    wanted = [part.strip() for pattern in patterns for part in _split(pattern, names) if part.strip()]
    chosen: set[str] = set()
    for pattern in wanted:
        found = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if not found:
            raise UnknownNameError("column of features", pattern, names, str(path))
        chosen.update(found)
    if not chosen:
        raise ParameterError("features names no column; write names, or patterns such as 'f_*'.")
    return [name for name in names if name in chosen]


def _split(pattern: str, names: Sequence[str]) -> list[str]:
    return [pattern] if pattern in names else pattern.split(",")


def _is_numeric(kind: Any) -> bool:
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in tests)


def _numeric_ones(session: Session, names: list[str], numeric: list[str]) -> list[str]:
    """Take all columns of numbers; one of numbers with a slip in it is refused, not taken for text."""
    for name in names:
        if name not in numeric and all(name in scan.columns for scan in session.scans):
            for scan in session.scans:
                _refuse_slip(session, scan, name)
    if not numeric:
        raise DataError(
            f"{session.scans[0].path}: there is no column of numbers besides id and label, so nothing says "
            "how alike the samples are. In a table of pairs name the two columns of ids (--rows, --columns), "
            "in one of texts their column (--text)."
        )
    return numeric


def _refuse_slip(session: Session, scan: Scan, name: str) -> None:
    """Refuse a column where most values are numbers and some are not, by the first that is not."""
    text, number = f"trim({scan.text(name)})", scan.number(name)
    missing = f"(coalesce(lower({text}), '') IN ({', '.join(repr(word) for word in sorted(_MISSING))}))"
    [(numbers, others, row, value)] = session.rows(
        "SELECT count(*) FILTER (ok), count(*) FILTER (NOT ok), min(r) FILTER (NOT ok), "
        "arg_min(t, r) FILTER (NOT ok) FROM (SELECT row_number() OVER () AS r, "
        f"{text} AS t, coalesce(isfinite({number}), false) AS ok, {missing} AS gone FROM {scan.source}) "
        "WHERE NOT gone"
    )
    if others and numbers >= 3 * others:
        cause, remedy = fault(value, scan.decimal_commas, "")
        raise DataError(
            f"{scan.path}: column {name!r} holds numbers, but not at {scan.place(int(row))}: {cause}. "
            f"{remedy} Or choose other columns as features (--features)."
        )


def _numbers(session: Session, table: Any, names: list[str]) -> FloatArray:
    """Bring the features into one array, missing ones as NaN; infinite ones are refused by file and line."""
    for scan in session.scans:
        refuse_mixed_numbers(session, scan, names)
    matrix = np.empty((table.num_rows, len(names)))
    for k, name in enumerate(names):
        column = table.column(name)
        if not _is_numeric(column.type) and column.null_count < len(column):
            scan, row, value = _first_text(session, name)
            cause, remedy = fault(value, scan.decimal_commas, "Leave the column out.")
            raise DataError(
                f"{scan.path}: column {name!r} cannot be a feature, because it holds more than numbers, "
                f"the first at {scan.place(row)}: {cause}. {remedy}"
            )
        matrix[:, k] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        bad = np.flatnonzero(np.isinf(matrix[:, k]))
        if bad.size:
            scan, row = _line(session, int(bad[0]))
            raise DataError(
                f"{scan.path}: column {name!r} has {bad.size} infinite values, the first at "
                f"{scan.place(row)}; correct them, drop those lines, or choose other columns (--features)."
            )
    return matrix


def _refuse_gaps(session: Session, matrix: FloatArray, names: list[str]) -> None:
    """Refuse missing features, all columns that have some in one message."""
    counts = np.isnan(matrix).sum(axis=0)
    having = np.flatnonzero(counts)
    if not having.size:
        return
    lines = np.flatnonzero(np.isnan(matrix).any(axis=1))
    scan, row = _line(session, int(lines[0]))
    told = ", ".join(f"{names[k]!r} ({counts[k]:,})" for k in having[:_MOST_TOLD])
    told += f" and {having.size - _MOST_TOLD} more" if having.size > _MOST_TOLD else ""
    raise DataError(
        f"{scan.path}: features are missing in {lines.size:,} of {len(matrix):,} lines, the first at "
        f"{scan.place(row)}, in {having.size} column{'s' if having.size > 1 else ''}: {told}. Fill them with "
        "medians (--missing median), drop those lines (--missing drop), or choose other columns (--features)."
    )


def _first_text(session: Session, name: str) -> tuple[Scan, int, str | None]:
    """Find the first value of a column that is no number."""
    for scan in session.scans:
        [(row, value)] = session.rows(
            f"SELECT min(r), arg_min(t, r) FROM (SELECT row_number() OVER () AS r, {scan.text(name)} AS t, "
            f"{scan.number(name)} AS x FROM {scan.source}) "
            "WHERE t IS NOT NULL AND NOT coalesce(isfinite(x), false)"
        )
        if row is not None:
            return scan, int(row), value
    return session.scans[0], 1, None


def _line(session: Session, row: int) -> tuple[Scan, int]:
    """Say in which file a row of all lines stands, and as which of its rows, from 1."""
    for scan in session.scans:
        [(count,)] = session.rows(f"SELECT count(*) FROM {scan.source}")
        if row < count:
            return scan, row + 1
        row -= int(count)
    return session.scans[-1], row + 1


def _ids(session: Session, table: Any, id: str | None) -> TextArray:
    if id is None:
        return as_text(range(table.num_rows))
    names: list[str | None] = table.column(id).to_pylist()
    if any(name is None or not name.strip() for name in names):
        refuse_missing(session, id)
        raise DataError(f"column {id!r} has blank ids; give each a name or drop those rows.")
    if len(session.scans) == 1:
        refuse_repeats(session.scans[0], id, [str(name) for name in names])
    return as_text(names)


def _field(column: Any) -> AnyArray:
    """Bring a column into an array: numbers with NaN where missing, otherwise text with None."""
    kind = column.type
    if column.null_count == 0 and (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if _is_numeric(kind) and not pa.types.is_boolean(kind):
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    values = np.empty(len(column), dtype=object)
    values[:] = [value if value is None else str(value) for value in column.to_pylist()]
    return values


def _labels(values: AnyArray) -> AnyArray:
    """Read cohorts: blank, NA and NaN are none."""
    if values.dtype != object:
        return values
    labels = np.empty(len(values), dtype=object)
    labels[:] = [None if v is None or v.strip().lower() in _MISSING else v for v in values]
    return labels


def _kind(id: str | None) -> str:
    """Call samples as their column of ids is called, where that says what they are."""
    plain = id is None or id.strip().lower() in _PLAIN_IDS or not id.strip() or id.startswith("__")
    return SAMPLE if plain or id is None else id
