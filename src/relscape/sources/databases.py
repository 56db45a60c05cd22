"""Reading tables of databases as streams of Arrow batches: PostgreSQL, SQLite and DuckDB.

Every engine answers two questions: which columns a table or query has, and its rows, batch by batch, so that
memory stays bounded whatever the number of rows. Nothing is ever written: PostgreSQL is read in a read-only
transaction, files are opened for reading.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from relscape.errors import DataError, StorageError, UnknownNameError, listing
from relscape.postgres import Address, connected, identifier
from relscape.sources.references import DatabaseTable

__all__ = ["DatabaseColumn", "batches", "describe", "table_digest"]

_ROWS = 2**16
# What PostgreSQL's types become: those that are cast to text come as it writes them. Types that are not here
# are cast to text too.
_POSTGRES = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
# DuckDB's types that are kept; others are cast to text.
_DUCKDB = re.compile(
    r"(BOOLEAN|U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|DATE|TIMESTAMP|.*\]|STRUCT.*)$"
)
# Tables that may be read: schema, name, and whether the name is enough.
_POSTGRES_TABLES = """
SELECT n.nspname::text, c.relname::text, pg_table_is_visible(c.oid)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema'
  AND n.nspname !~ '^pg_' AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 1, 2
"""
_SQLITE_TABLES = """
SELECT 'main', name, 1 FROM sqlite_master
WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
"""
_DUCKDB_TABLES = """
SELECT table_schema, table_name, table_schema = 'main' FROM information_schema.tables
WHERE table_catalog = current_database() ORDER BY 1, 2
"""


class DatabaseColumn(NamedTuple):
    """A column: its name, its type as DuckDB calls it, and whether exact numbers come as text.

    ``type`` is DOUBLE for exact numbers, which may turn out to be whole.
    """

    name: str
    type: str
    exact: bool = False


def describe(table: DatabaseTable) -> list[DatabaseColumn]:
    """List the columns of a table or query, without reading its rows."""
    if isinstance(table.place, Address):
        return _describe_postgres(table, table.place)
    if table.engine == "sqlite":
        with _sqlite(table, table.place) as connection:
            source = _source(table, connection, _SQLITE_TABLES)
            cursor = connection.execute(f"SELECT * FROM {source} LIMIT 0")
            return [DatabaseColumn(column[0], "VARCHAR") for column in cursor.description]
    with _duckdb(table, table.place) as connection:
        source = _source(table, connection, _DUCKDB_TABLES)
        found = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        return [_duckdb_column(name, kind) for name, kind, *_ in found]


def table_digest(table: DatabaseTable) -> str:
    """Digest all rows of a table or query, in the order in which they come."""
    digest = hashlib.sha256()
    for batch in batches(table, dict(enumerate(describe(table)))):
        digest.update(batch.serialize())
    return digest.hexdigest()


def batches(table: DatabaseTable, columns: Mapping[int, DatabaseColumn]) -> Iterator[Any]:
    """Read some columns of a table or query, by their numbers, as Arrow record batches of c0, c1, …."""
    if isinstance(table.place, Address):
        with connected(table.place, read_only=True) as connection, connection.cursor() as cursor:
            source = _source(table, cursor, _POSTGRES_TABLES)
            chosen = ", ".join(f"{_postgres_value(column)} AS c{k}" for k, column in columns.items())
            cursor.execute(f"SELECT {chosen} FROM {source}")
            yield from cursor.fetch_record_batch()
        return
    chosen = ", ".join(f"{_file_value(table, column)} AS c{k}" for k, column in columns.items())
    if table.engine == "sqlite":
        with _sqlite(table, table.place) as connection:
            source = _source(table, connection, _SQLITE_TABLES)
            cursor = connection.execute(f"SELECT {chosen} FROM {source}")
            while rows := cursor.fetchmany(_ROWS):
                texts = [_as_text(values) for values in zip(*rows, strict=True)]
                yield pa.record_batch(texts, names=[f"c{k}" for k in columns])
        return
    with _duckdb(table, table.place) as connection:
        source = _source(table, connection, _DUCKDB_TABLES)
        yield from connection.sql(f"SELECT {chosen} FROM {source}").to_arrow_reader(_ROWS)


def _source(table: DatabaseTable, connection: Any, tables: str) -> str:
    """Give SQL for what is read; a table that is not among those there are is refused with their names."""
    if table.query is not None:
        return f"(\n{table.query}\n) AS queried"
    answer = connection.execute(tables) or connection  # a cursor answers itself
    known = {
        (name,) if visible else (schema, name): (schema, name) for schema, name, visible in answer.fetchall()
    }
    names = [".".join(key) for key in known]
    if not table.table:
        if len(known) != 1:
            raise DataError(
                f"{table} has {len(known)} tables ({listing(names)}); say which one, as in "
                f"{table}#{names[0] if names else 'table'}."
            )
        return identifier(*next(iter(known.values())))
    if table.table not in known and table.table not in known.values():
        raise UnknownNameError("table", ".".join(table.table), names, str(table.place))
    return identifier(*table.table)


# ---------------------------------------------------------------------- PostgreSQL


def _describe_postgres(table: DatabaseTable, address: Address) -> list[DatabaseColumn]:
    with connected(address, read_only=True) as connection, connection.cursor() as cursor:
        source = _source(table, cursor, _POSTGRES_TABLES)
        schema = cursor.adbc_execute_schema(table.query or f"SELECT * FROM {source}")
    columns = []
    for field in schema:
        kind = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
        exact = kind == "numeric"
        columns.append(
            DatabaseColumn(field.name, "DOUBLE" if exact else _POSTGRES.get(kind, "VARCHAR"), exact)
        )
    return columns


def _postgres_value(column: DatabaseColumn) -> str:
    as_text = column.exact or column.type == "VARCHAR"
    return f"{identifier(column.name)}{'::text' if as_text else ''}"


# ---------------------------------------------------------------------- files


@contextmanager
def _sqlite(table: DatabaseTable, path: Path) -> Iterator[sqlite3.Connection]:
    """Open an SQLite file for reading."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise _file_error(table, str(error)) from error


def _as_text(values: Sequence[Any]) -> Any:
    """Bring values of any of SQLite's types into text, exactly; a column may hold several types."""
    try:
        array = pa.array(values)
        if pa.types.is_string(array.type):
            return array
        if pa.types.is_integer(array.type):
            return array.cast(pa.string())
    except pa.ArrowException:
        pass
    return pa.array([None if value is None else _written(value) for value in values], pa.string())


def _written(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


@contextmanager
def _duckdb(table: DatabaseTable, path: Path) -> Iterator[Any]:
    """Open a DuckDB file for reading."""
    import duckdb

    config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    try:
        with duckdb.connect(str(path), read_only=True, config=config) as connection:
            yield connection
    except duckdb.Error as error:
        raise _file_error(table, str(error)) from error


def _duckdb_column(name: str, kind: str) -> DatabaseColumn:
    """Tell a column by its type; whole numbers of any length come as text, and so does what is no value."""
    if kind in ("HUGEINT", "UHUGEINT", "BIGNUM"):
        return DatabaseColumn(name, "DOUBLE", exact=True)
    return DatabaseColumn(name, kind if _DUCKDB.match(kind) else "VARCHAR")


def _file_value(table: DatabaseTable, column: DatabaseColumn) -> str:
    as_text = table.engine == "duckdb" and (column.exact or column.type == "VARCHAR")
    return f"CAST({identifier(column.name)} AS VARCHAR)" if as_text else identifier(column.name)


def _file_error(table: DatabaseTable, text: str) -> DataError | StorageError:
    reason = text.strip().splitlines()[0].rstrip(".")
    if "lock" in text or "different configuration" in text:
        return StorageError(
            f"{table.place} is in use by another program: {reason}. Try again when it is done."
        )
    if "malformed" in text or "not a database" in text:
        return StorageError(f"{table.place} is damaged: {reason}.")
    return DataError(f"{table} cannot be read: {reason}.")
