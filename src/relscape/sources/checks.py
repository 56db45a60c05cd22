"""Refusing what cannot be used in a table, by file, column and row."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from relscape.errors import DataError
from relscape.sources.scans import Scan, literal
from relscape.sources.sessions import Session

__all__ = [
    "bad_weight",
    "fault",
    "id_sql",
    "refuse_bad_weights",
    "refuse_empty",
    "refuse_missing",
    "refuse_mixed_numbers",
    "refuse_repeats",
    "row_ids",
]

_THOUSANDS = (
    r"[+-]?[1-9][0-9]{0,2}(([.,'\u2019\u00a0\u202f ][0-9]{3})+|(\.[0-9]{3})+,[0-9]+|(,[0-9]{3})+\.[0-9]+)"
)
_MISSING = {"na", "n/a", "nan", "null", "none"}
_GROUPED = {mark: rf"\s*[+-]?[1-9][0-9]{{0,2}}(\{mark}[0-9]{{3}})+\s*" for mark in ".,"}


def bad_weight(number: str, allow_negative: bool) -> str:
    """Give SQL that says whether a number cannot be a weight."""
    negative = "" if allow_negative else f" OR {number} < 0"
    return f"({number} IS NULL OR NOT isfinite({number}){negative})"


def id_sql(scan: Scan, name: str, as_text: bool) -> str:
    """Give SQL for a column of ids, NULL where one is missing or empty."""
    column = scan.column(name)
    if column.type.endswith("]") or column.type.startswith(("STRUCT", "MAP", "UNION", "BLOB")):
        raise DataError(
            f"{scan.path}: column {name!r} holds {column.type}; ids must be text, numbers or dates."
        )
    if column.type in {"FLOAT", "DOUBLE"}:
        given = f"CASE WHEN isnan({column.sql}) THEN NULL ELSE {column.sql} + 0 END"  # -0 is 0
        return f"CAST({given} AS VARCHAR)" if as_text else given
    if column.type == "VARCHAR" or as_text:
        return f"nullif({scan.text(name)}, '')"
    return column.sql


def refuse_empty(session: Session, rows: int) -> None:
    """Refuse tables without any row."""
    if rows == 0:
        names = ", ".join(str(scan.path) for scan in session.scans)
        raise DataError(f"{names}: there are column names but no rows; expected at least one.")


def refuse_missing(session: Session, name: str) -> None:
    """Refuse ids that are missing, naming the file and the first row."""
    for scan in session.scans:
        count, row, _ = _first(session, scan, f"{id_sql(scan, name, True)} IS NULL", "NULL")
        if count:
            raise DataError(
                f"{scan.path}: column {name!r} has {count} missing ids, the first at {scan.place(row)}; "
                "give each a name or drop those rows."
            )


def refuse_bad_weights(session: Session, name: str, allow_negative: bool) -> None:
    """Refuse weights that are missing, no numbers, not finite or negative, naming file, row and value."""
    for scan in session.scans:
        bad = bad_weight(scan.number(name), allow_negative)
        count, row, value = _first(session, scan, bad, scan.text(name))
        if count:
            cause, remedy = fault(value, scan.decimal_commas, "Give each a number, or drop those rows.")
            raise DataError(
                f"{scan.path}: column {name!r} has {count} weights that cannot be used, the first at "
                f"{scan.place(row)}: {cause}. {remedy}"
            )


def fault(value: str | None, decimal_commas: bool, if_missing: str) -> tuple[str, str]:
    """Say what is wrong with a weight that is refused, and what to do about it.

    >>> fault("1.672,11", decimal_commas=True, if_missing="")[0]
    "'1.672,11' looks like a number with a thousands separator"
    """
    if value is None or not value.strip():
        return "it is missing", if_missing
    shown = repr(value)
    if value.strip().lower() in _MISSING:
        return f"{shown} stands for a missing number", if_missing
    if re.fullmatch(_THOUSANDS, value.strip()):
        return (
            f"{shown} looks like a number with a thousands separator",
            "Write all numbers without one, as in 1672.11.",
        )
    try:
        number = float(value.replace(",", "."))
    except ValueError:
        return f"{shown} is not a number", "Correct it."
    if "," in value and not decimal_commas:
        return f"{shown} has a decimal comma", "Write decimal points here, as in 1.5."
    if not math.isfinite(number):
        return f"{shown} is not finite", "Correct it: only finite numbers can be used."
    if number < 0:
        return (
            f"{shown} is negative",
            "Weights say how strongly things relate: shift or drop the negative ones, or, in Python, let "
            "them through with allow_negative.",
        )
    return f"{shown} is not written as numbers are here", "Write it plainly, as in 1500 or 1.5."


def refuse_mixed_numbers(session: Session, scan: Scan, names: Sequence[str]) -> None:
    """Refuse a column with decimal commas and points where one may mark thousands: 2,5 beside 1.500."""
    written = [name for name in names if scan.decimal_commas and not scan.column(name).numeric]
    if not written:
        return
    tests = ", ".join(
        f"bool_or(contains({sql}, ',')) AND bool_or(contains({sql}, '.')) AND "
        f"bool_or(regexp_full_match({sql}, {literal(_GROUPED['.'])}) "
        f"OR regexp_full_match({sql}, {literal(_GROUPED[','])}))"
        for sql in (scan.column(name).sql for name in written)
    )
    [found] = session.rows(f"SELECT {tests} FROM {scan.source}")
    mixed = next((name for name, bad in zip(written, found, strict=True) if bad), None)
    if mixed is None:
        return
    sql = scan.text(mixed)
    cells = []
    for mark in ",.":
        grouped = f"regexp_full_match({sql}, {literal(_GROUPED[mark])})"
        tries = (_first(session, scan, test, sql) for test in (grouped, f"contains({sql}, '{mark}')"))
        cells.append(next(f"{value!r} at {scan.place(row)}" for count, row, value in tries if count))
    raise DataError(
        f"{scan.path}: column {mixed!r} has numbers with a comma and with a point, {cells[0]} and "
        f"{cells[1]}, so that it cannot be told which marks decimals and which thousands. Write all numbers "
        "in one form, without thousands separators."
    )


def row_ids(session: Session, scan: Scan, name: str) -> list[str]:
    """Read a column that names the rows; missing and repeated names are refused."""
    ids = session.table(f"SELECT {id_sql(scan, name, True)} AS id FROM {scan.source}").column(0)
    if ids.null_count:
        refuse_missing(session, name)
    names: list[str] = ids.to_pylist()
    refuse_repeats(scan, name, names)
    return names


def refuse_repeats(scan: Scan, name: str, ids: list[str]) -> None:
    """Refuse ids that repeat, naming some of them and the lines of the first."""
    seen: dict[str, int] = {}
    repeated: dict[str, int] = {}
    for row, thing in enumerate(ids, start=1):
        if seen.setdefault(thing, row) != row:
            repeated.setdefault(thing, row)
    if repeated:
        shown = "; ".join(
            f"{thing!r} at {scan.place(seen[thing])} and {scan.place(row)}"
            for thing, row in list(repeated.items())[:3]
        )
        more = f" and {len(repeated) - 3} more" if len(repeated) > 3 else ""
        raise DataError(
            f"{scan.path}: column {name!r} should name every row once, but {len(repeated)} ids repeat: "
            f"{shown}{more}. Keep one row for each."
        )


def _first(session: Session, scan: Scan, condition: str, value: str) -> tuple[int, int, str | None]:
    """Count the rows that meet a condition; give the number of the first and what stands there."""
    [(count, row, found)] = session.rows(
        "SELECT count(*), min(number), arg_min(value, number) FROM (SELECT row_number() OVER () AS number, "
        f"{condition} AS bad, {value} AS value FROM {scan.source}) WHERE bad"
    )
    return int(count), int(row or 0), found
