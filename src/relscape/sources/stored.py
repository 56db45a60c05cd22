"""Reading the stored Parquet tables of a data set into kinds and relations."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import coo_array, csr_array

from relscape.data import EntitySet, Relation
from relscape.data.labels import as_text, match
from relscape.errors import DataError, FormatError, StorageError, listing
from relscape.protocols import AnyArray, IntArray, TextArray
from relscape.sources.catalogue import VARIABLE, dataset_info

__all__ = [
    "coded",
    "entity_set",
    "links",
    "listed",
    "read_table",
    "relation",
    "text",
]


def read_table(name: str, table: str) -> pa.Table:
    """Read one table of a data set; a missing or foreign one is refused with what to do."""
    expected = dataset_info(name).tables[table].columns
    path = _folder(name) / f"{table}.parquet"
    if not path.is_file():
        raise StorageError(f"the data set {name!r} has no {path}. {_remedy(name)}")
    try:
        found = pq.read_schema(path).names
        missing = [column for column in expected if column not in found]
        if missing:
            raise FormatError(f"{path} lacks the columns {listing(missing)}; it has {listing(found, 12)}.")
        return pq.read_table(path, columns=list(expected))
    except pa.ArrowInvalid as error:
        raise FormatError(f"{path} is not a Parquet file that can be read: {error}") from error


def _folder(name: str) -> Path:
    place = os.environ.get(VARIABLE)
    if not place:
        raise StorageError(
            f"the data set {name!r} is not part of relscape: set {VARIABLE} to the folder that holds "
            f"{name}/. {_remedy(name)}"
        )
    folder = Path(place) / name
    if not folder.is_dir():
        raise StorageError(f"{VARIABLE} is {place}, which holds no folder {name}. {_remedy(name)}")
    return folder


def _remedy(name: str) -> str:
    """Say how a person gets the tables of a data set."""
    info = dataset_info(name)
    if info.originals:
        return (
            f"`relscape datasets convert {name} FILES -o DIR` makes DIR/{name} "
            f"from the publisher's files: {info.originals}. Published by: {info.reference}."
        )
    tables = "; ".join(f"{table}.parquet ({', '.join(t.columns)})" for table, t in info.tables.items())
    return f"It is a folder of Parquet tables: {tables}. Published by: {info.reference}."


def text(column: pa.ChunkedArray) -> TextArray:
    """Turn a text column into an array of text; a missing value becomes empty text."""
    return np.array([value or "" for value in column.to_pylist()], dtype=object)


def _values(column: pa.ChunkedArray) -> AnyArray:
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return np.asarray(column.to_numpy())
    return text(column)


def entity_set(table: pa.Table, kind: str, label: str | None = None) -> EntitySet:
    """Take the things of a table, sorted by the id in column ``kind``; the other columns are fields."""
    table = table.sort_by(kind)
    fields = {name: _values(table.column(name)) for name in table.column_names if name not in (kind, label)}
    labels = None if label is None else text(table.column(label))
    return EntitySet(kind, as_text(table.column(kind).to_pylist(), f"column {kind!r}"), labels, fields)


def listed(table: pa.Table, kind: str) -> EntitySet:
    """Take as things the distinct values of a column, sorted."""
    return EntitySet(kind, as_text(sorted(table.column(kind).unique().to_pylist())))


def coded(column: pa.ChunkedArray, ids: TextArray) -> IntArray:
    """Give the position in ``ids`` of every entry of a column, -1 where it is not among them."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    parts = [match(chunk.dictionary.to_pylist(), ids)[chunk.indices.to_numpy()] for chunk in column.chunks]
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def relation(
    name: str, table: pa.Table, rows: EntitySet, columns: EntitySet, weight: str | None = None
) -> Relation:
    """Relate two kinds by the table's columns of those names; without a weight, 1 where there is a pair."""
    i, j = coded(table.column(rows.kind), rows.ids), coded(table.column(columns.kind), columns.ids)
    if (i < 0).any():
        unknown = np.flatnonzero(i < 0)
        first = table.column(rows.kind)[int(unknown[0])].as_py()
        raise DataError(
            f"relation {name!r}: {unknown.size} rows name a {rows.kind} that is not listed, "
            f"the first is {first!r} in row {unknown[0]}; the tables do not belong together."
        )
    values = None if weight is None else table.column(weight).to_numpy().astype(np.float64)
    return Relation(name, rows.kind, columns.kind, _matrix(i, j, values, (len(rows), len(columns))))


def links(name: str, table: pa.Table, things: EntitySet, row: str, column: str) -> Relation:
    """Relate things of one kind, without links from a thing to itself and links that leave the set."""
    i, j = coded(table.column(row), things.ids), coded(table.column(column), things.ids)
    keep = (i >= 0) & (j >= 0) & (i != j)
    return Relation(name, things.kind, things.kind, _matrix(i[keep], j[keep], None, (len(things),) * 2))


def _matrix(i: IntArray, j: IntArray, values: AnyArray | None, shape: tuple[int, int]) -> csr_array:
    matrix = csr_array(coo_array((np.ones(i.size) if values is None else values, (i, j)), shape=shape))
    if values is None:
        matrix.data[:] = 1.0  # a pair that is given twice still is one pair
    return matrix
