"""Rows of a database on their way into DuckDB, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relscape.progress import note, task
from relscape.sources.databases import DatabaseColumn, batches
from relscape.sources.references import DatabaseTable

__all__ = ["fetched"]


def fetched(connection: Any, name: str, table: DatabaseTable, columns: Mapping[int, DatabaseColumn]) -> str:
    """Fetch numbered columns into a temporary table of a DuckDB connection, as c0, c1, …; give its name.

    No more than a batch is held at once; DuckDB moves what outgrows its memory to the disk.
    """
    types = ", ".join(f"c{k} {'VARCHAR' if column.exact else column.type}" for k, column in columns.items())
    connection.execute(f"CREATE TEMP TABLE {name} ({types})")
    rows = 0
    with task(f"fetching {table}"):
        for batch in batches(table, columns):
            connection.register("batch", batch)
            connection.execute(f"INSERT INTO {name} SELECT * FROM batch")
            connection.unregister("batch")
            rows += batch.num_rows
    for k, column in columns.items():
        if column.exact:
            _to_numbers(connection, name, f"c{k}")
    note(f"{rows:,} rows of {table}")
    return name


def _to_numbers(connection: Any, name: str, column: str) -> None:
    """Make numbers of exact ones that came as text: whole ones as such, so that ids stay what they are."""
    whole = f"bool_and(regexp_full_match({column}, '-?[0-9]{{1,18}}'))"
    [(all_whole,)] = connection.execute(f"SELECT coalesce({whole}, true) FROM {name}").fetchall()
    connection.execute(f"ALTER TABLE {name} ALTER {column} TYPE {'BIGINT' if all_whole else 'DOUBLE'}")
