"""Rows of a database on their way to DuckDB: batch by batch, once, or into a file of Parquet."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from relscape.progress import note, task
from relscape.sources.databases import DatabaseColumn, batches
from relscape.sources.references import DatabaseTable

__all__ = ["arriving", "fetched"]


def arriving(table: DatabaseTable, columns: Mapping[int, DatabaseColumn]) -> Generator[Any]:
    """Give numbered columns as they come from the database, as record batches of c0, c1, ….

    Exact numbers are text in them.
    """
    rows = 0
    with task(f"fetching {table}"):
        for batch in batches(table, columns):
            if batch.num_rows:
                rows += batch.num_rows
                yield batch
    note(f"{rows:,} rows of {table}")


def fetched(connection: Any, file: Path, table: DatabaseTable, columns: Mapping[int, DatabaseColumn]) -> str:
    """Fetch numbered columns into a file, as c0, c1, …; give what goes after FROM in DuckDB.

    No more than a batch is held in memory, whatever the number of rows.
    """
    if not _write(file, arriving(table, columns)):
        empty = ", ".join(f"CAST(NULL AS {column.type}) AS c{k}" for k, column in columns.items())
        return f"(SELECT {empty} LIMIT 0)"
    source = f"read_parquet('{file}')"
    chosen = ", ".join(_number(connection, source, k) if columns[k].exact else f"c{k}" for k in columns)
    return f"(SELECT {chosen} FROM {source})"


def _write(file: Path, rows: Iterator[Any]) -> bool:
    """Write the rows, and tell whether there are any."""
    import pyarrow.parquet as pq

    writer = None
    try:
        for batch in rows:
            writer = writer or pq.ParquetWriter(file, batch.schema)
            writer.write_batch(batch)
    finally:
        if writer is not None:
            writer.close()
    return writer is not None


def _number(connection: Any, source: str, k: int) -> str:
    """Make numbers of exact ones that came as text: whole ones as such, so that ids stay what they are."""
    whole = f"bool_and(regexp_full_match(c{k}, '-?[0-9]{{1,18}}'))"
    [(all_whole,)] = connection.execute(f"SELECT coalesce({whole}, true) FROM {source}").fetchall()
    return f"CAST(c{k} AS {'BIGINT' if all_whole else 'DOUBLE'}) AS c{k}"
