"""Tables of pairs into a distributed relation, out of core, in two passes.

First workers read whole tables and keep their sums as small sparse matrices; only ids and counts come here,
where all things get their numbers. Then tables are cut by rows, and the cuts of each block put together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import coo_array, csr_array

from relscape.data import EntitySet, RelationalData
from relscape.data.relation import gather_pairs
from relscape.distributed.rounds import Rounds
from relscape.errors import DataError, InputError, StorageError
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["files_of", "numbered_as_text", "relation_of_files", "relation_of_tables"]

BLOCK_BYTES = 128 * 2**20
LEAST_BLOCKS = 8
_ENTRY_BYTES = 12

Names = tuple[str, str, str | None]  # of the columns: rows, columns, weight
Cut = tuple[IntArray, IntArray, FloatArray]


class Table(NamedTuple):
    """One table, summed: the ids of its rows and columns, sorted, and the matrix between them."""

    rows: Any
    columns: Any
    matrix: SparseArray


def relation_of_files(cls: type[Any], paths: Any, names: Names, n_blocks: int | None, client: Any) -> Any:
    """Read files, one a task; folders stand for the Parquet files in them."""
    files = [str(file.resolve()) for file in files_of(paths)]
    return _relation(cls, _read_file, files, names, n_blocks, client)


def relation_of_tables(
    cls: type[Any], readers: Sequence[Callable[[], Any]], names: Names, n_blocks: int | None, client: Any
) -> Any:
    """Read what functions give, one a task."""
    if not len(readers):
        raise DataError("give at least one function that reads a table.")
    return _relation(cls, _read_frame, list(readers), names, n_blocks, client)


def files_of(paths: Any) -> list[Path]:
    """Give the files that are meant: folders stand for the Parquet files in them."""
    from relscape.sources.files import expand

    found: list[Path] = []
    for path in expand(paths):
        inside = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        if not inside:
            raise StorageError(f"there are no Parquet files in the folder {path}.")
        found += inside
    return found


def _relation(
    cls: type[Any],
    read: Callable[..., Table],
    sources: list[Any],
    names: Names,
    n_blocks: int | None,
    client: Any,
) -> Any:
    rounds = Rounds(client)
    tables = client.map(read, sources, [names] * len(sources), pure=False)
    found = rounds.collect(_ids, [tables], ())
    row_names, row_codes = _numbered([ids[0] for ids in found])
    column_names, column_codes = _numbered([ids[1] for ids in found])
    counts = np.zeros(len(row_names), dtype=np.int64)
    for codes, (_, _, stored) in zip(row_codes, found, strict=True):
        np.add.at(counts, codes, stored)
    bounds = _bounds(counts, n_blocks)
    cuts = client.map(_cut, tables, row_codes, column_codes, [bounds] * len(tables), pure=False)
    shape = len(row_names), len(column_names)
    blocks = []
    for number, (start, stop) in enumerate(pairwise(bounds)):
        pieces = client.map(_piece, cuts, [number] * len(cuts), pure=False)
        blocks.append(client.submit(_assembled, (int(stop - start), shape[1]), *pieces, pure=False))
    things = [
        EntitySet(kind, np.asarray(ids.to_numpy(zero_copy_only=False), dtype=object))
        for kind, ids in zip(names[:2], (row_names, column_names), strict=True)
    ]
    return cls(blocks, client=client, row_entities=things[0], column_entities=things[1])


def _bounds(counts: IntArray, n_blocks: int | None) -> IntArray:
    """Cut rows so that blocks hold about the same number of entries, by the data alone."""
    m = len(counts)
    total = int(counts.sum())
    wanted = n_blocks or max(LEAST_BLOCKS, -(-total * _ENTRY_BYTES // BLOCK_BYTES))
    wanted = min(wanted, m)
    ends = np.searchsorted(np.cumsum(counts), total * np.arange(1, wanted) / wanted) + 1
    return np.unique(np.concatenate([[0], np.minimum(ends, m), [m]]))


def _numbered(parts: list[Any]) -> tuple[Any, list[IntArray]]:
    """Give ids of all tables common numbers, sorted as ``relscape.read`` sorts; and every table's codes."""
    distinct = pc.unique(pa.chunked_array(parts, type=pa.string()))
    try:
        numbers = pc.cast(distinct, pa.float64())
    except pa.ArrowInvalid:
        return numbered_as_text(parts)
    if not pc.all(pc.is_finite(numbers)).as_py():
        return numbered_as_text(parts)
    order = [("number", "ascending"), ("id", "ascending")]
    return _coded(parts, pa.table({"id": distinct, "number": numbers}).sort_by(order).column("id"))


def numbered_as_text(parts: list[Any]) -> tuple[Any, list[IntArray]]:
    """Give names of all files common numbers in the order of text, as ``KnowledgeGraph`` does."""
    distinct = pc.unique(pa.chunked_array(parts, type=pa.string()))
    return _coded(parts, pa.table({"id": distinct}).sort_by("id").column("id"))


def _coded(parts: list[Any], column: Any) -> tuple[Any, list[IntArray]]:
    names = column.combine_chunks()
    return names, [pc.index_in(part, value_set=names).to_numpy(zero_copy_only=False) for part in parts]


# ---------------------------------------------------------------------- on the workers


def _read_file(path: str, names: Names) -> Table:
    from relscape.sources.tables import read

    return _table(lambda: read(path, *names))


def _read_frame(reader: Callable[[], Any], names: Names) -> Table:
    return _table(lambda: RelationalData.from_frame(reader(), *names))


def _table(read: Callable[[], RelationalData]) -> Table:
    try:
        data = read()
    except InputError as error:  # some of ours cannot travel between processes as they are
        raise DataError(str(error)) from None
    relation = data.relation()
    rows, columns = (
        pa.array(data.entities[kind].ids, pa.string()) for kind in (relation.rows, relation.columns)
    )
    return Table(rows, columns, relation.matrix)


def _ids(table: Table) -> tuple[Any, Any, IntArray]:
    return table.rows, table.columns, np.diff(table.matrix.indptr)


def _cut(table: Table, rows: IntArray, columns: IntArray, bounds: IntArray) -> list[Cut]:
    """Give a table's entries in the common numbers, in one piece for every block."""
    entries = coo_array(table.matrix)
    i, j = rows[entries.coords[0]], columns[entries.coords[1]]
    order = np.argsort(i, kind="stable")
    i, j, weights = i[order], j[order], entries.data[order]
    ends = np.searchsorted(i, bounds)
    return [
        (i[a:b] - bound, j[a:b], weights[a:b])
        for a, b, bound in zip(ends[:-1], ends[1:], bounds[:-1], strict=True)
    ]


def _piece(cuts: list[Cut], number: int) -> Cut:
    return cuts[number]


def _assembled(shape: tuple[int, int], *pieces: Cut) -> SparseArray:
    """Put the pieces of a block together; pairs in several tables are summed, in an order of their own."""
    i, j, weights = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return csr_array(gather_pairs(weights, i, j, shape))
