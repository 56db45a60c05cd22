"""Refusing what cannot be used in a table, by file, column and row."""

from __future__ import annotations

from relscape.errors import DataError
from relscape.sources.scans import Scan, Session

__all__ = [
    "bad_weight",
    "id_sql",
    "refuse_bad_weights",
    "refuse_empty",
    "refuse_missing",
    "refuse_repeats",
    "row_ids",
    "unusable",
]


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
        given = f"CASE WHEN isnan({column.sql}) THEN NULL ELSE {column.sql} END"
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
            raise DataError(
                f"{scan.path}: column {name!r} has {count} {unusable(allow_negative)}, the first at "
                f"{scan.place(row)}: {'nothing' if value is None else repr(value)}. "
                "Correct or drop those rows."
            )


def unusable(allow_negative: bool) -> str:
    """Name what is refused among weights, for messages."""
    return "weights that are missing or no finite numbers" + ("" if allow_negative else ", or negative")


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
