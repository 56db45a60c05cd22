"""Rows of a database on their way to DuckDB: batch by batch into a file of Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relscape.progress import note, task
from relscape.sources.databases import DatabaseColumn, batches
from relscape.sources.references import DatabaseTable

__all__ = ["fetched"]


def fetched(connection: Any, file: Path, table: DatabaseTable, columns: Mapping[int, DatabaseColumn]) -> str:
    """Fetch numbered columns into a file, as c0, c1, …; give what goes after FROM in DuckDB.

    No more than a batch is held in memory, whatever the number of rows.
    """
    with task(f"fetching {table}"):
        rows = _write(file, table, columns)
    note(f"{rows:,} rows of {table}")
    if not rows:
        empty = ", ".join(f"CAST(NULL AS {column.type}) AS c{k}" for k, column in columns.items())
        return f"(SELECT {empty} LIMIT 0)"
    source = f"read_parquet('{file}')"
    chosen = ", ".join(_number(connection, source, k) if columns[k].exact else f"c{k}" for k in columns)
    return f"(SELECT {chosen} FROM {source})"


def _write(file: Path, table: DatabaseTable, columns: Mapping[int, DatabaseColumn]) -> int:
    """Write the rows, and count them."""
    import pyarrow.parquet as pq

    rows, writer = 0, None
    try:
        for batch in batches(table, columns):
            if batch.num_rows:
                writer = writer or pq.ParquetWriter(file, batch.schema)
                writer.write_batch(batch)
                rows += batch.num_rows
    finally:
        if writer is not None:
            writer.close()
    return rows


def _number(connection: Any, source: str, k: int) -> str:
    """Make numbers of exact ones that came as text: whole ones as such, so that ids stay what they are."""
    whole = f"bool_and(regexp_full_match(c{k}, '-?[0-9]{{1,18}}'))"
    [(all_whole,)] = connection.execute(f"SELECT coalesce({whole}, true) FROM {source}").fetchall()
    return f"CAST(c{k} AS {'BIGINT' if all_whole else 'DOUBLE'}) AS c{k}"
