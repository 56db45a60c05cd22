"""Tables of pairs: things are numbered and repeated pairs summed while batches of rows come in."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.relation import gather_pairs, without_zeros
from relscape.errors import StorageError
from relscape.protocols import FloatArray, IntArray, TextArray
from relscape.sources.checks import (
    id_sql,
    refuse_bad_weights,
    refuse_empty,
    refuse_missing,
    refuse_mixed_numbers,
)
from relscape.sources.scans import Scan
from relscape.sources.sessions import Session

__all__ = ["read_pairs"]

_WAITING = 2**23  # entries that may wait to be summed, or as many as there are sums
# Ids of these types are told apart as they are, those of others by the text that DuckDB writes of them.
_WHOLE = {f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")}


def read_pairs(
    session: Session,
    rows: str,
    columns: str,
    weight: str | None,
    same_kind: str | None,
    allow_negative: bool,
) -> RelationalData:
    """Read all files of a session as one long table of pairs.

    Repeated pairs are summed and things are numbered in sorted order, numbers as numbers, so that the
    order of the lines cannot matter; only fractions, where so many lines come that they are summed in pieces,
    may then differ in their last digit. Pairs that sum to zero are not stored; their things remain. Memory
    holds the result, and as many rows beside it, or a few million.
    """
    shared = same_kind is not None
    types = [_type(session, names) for names in ([[rows, columns]] * 2 if shared else [[rows], [columns]])]
    entries = _Entries(shared)
    session.run("SET arrow_large_buffer_size = true")  # a batch may hold more than 2 GB of ids
    for scan in session.scans:
        chosen = _chosen(scan, (rows, columns), types, weight)
        if not _take_all(session.pairs(scan, (rows, columns), chosen), entries, allow_negative):
            _refuse(session, rows, columns, weight, allow_negative)
    refuse_empty(session, entries.lines)
    for scan in session.scans:
        refuse_mixed_numbers(session, scan, [] if weight is None else [weight])
    i, j, weights = entries.numbered()
    left, left_places = _sorted_ids(session, entries.names[0].ids, types[0])
    entities = [EntitySet(same_kind or rows, left)]
    right, right_places = left, left_places
    if not shared:
        right, right_places = _sorted_ids(session, entries.names[1].ids, types[1])
        entities.append(EntitySet(columns, right))
    matrix = gather_pairs(weights, left_places[i], right_places[j], (len(left), len(right)))
    relation = Relation(f"{rows}-{columns}", entities[0].kind, entities[-1].kind, without_zeros(matrix))
    return RelationalData(entities, [relation])


# ---------------------------------------------------------------------- what is asked for, and refused


def _type(session: Session, names: list[str]) -> str:
    """Tell the type of ids: text where they are, or where their type is not the same everywhere."""
    types = {scan.column(name).type for scan in session.scans for name in names}
    return types.pop() if len(types) == 1 and not types <= {"VARCHAR", "ENUM"} else "VARCHAR"


def _chosen(scan: Scan, names: tuple[str, str], types: list[str], weight: str | None) -> str:
    """Give SQL for the ids of the pairs of a file, and their weights."""
    r, c = (id_sql(scan, name, kind not in _WHOLE) for name, kind in zip(names, types, strict=True))
    w = "1.0::DOUBLE" if weight is None else scan.number(weight)
    return f"{r} AS r, {c} AS c, {w} AS w"


def _take_all(batches: Generator[Any], entries: _Entries, allow_negative: bool) -> bool:
    """Take batches up to the first with something that cannot be used; tell whether there is none."""
    with closing(batches):
        for batch in batches:
            if not _usable(batch, allow_negative):
                return False
            entries.add(*batch.columns)
    return True


def _usable(batch: Any, allow_negative: bool) -> bool:
    """Tell whether all ids of a batch are there, and all weights can be some."""
    if any(column.null_count for column in batch.columns):
        return False
    weights = batch.column(2).to_numpy()
    return bool(np.isfinite(weights).all() and (allow_negative or (weights >= 0).all()))


def _refuse(session: Session, rows: str, columns: str, weight: str | None, allow_negative: bool) -> None:
    """Look for what is wrong, in all files, and say where it is."""
    refuse_missing(session, rows)
    refuse_missing(session, columns)
    if weight is not None:
        refuse_bad_weights(session, weight, allow_negative)
    raise StorageError(f"{session.scans[0].path} was changed while it was read; try again.")


# ---------------------------------------------------------------------- numbering and summing


class _Names:
    """Numbers for ids, in the order in which they first come."""

    def __init__(self) -> None:
        self.ids: Any = None

    def number(self, chunks: list[Any]) -> list[IntArray]:
        """Give every entry of some dictionary-encoded columns the number of its id."""
        if self.ids is not None:  # known ids keep their numbers, because they come first
            chunks = [pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), self.ids), *chunks]
        unified = pa.chunked_array(chunks).unify_dictionaries()
        numbers = [chunk.indices.to_numpy() for chunk in unified.chunks]
        known, self.ids = self.ids, unified.chunk(0).dictionary
        return numbers if known is None else numbers[1:]


class _Entries:
    """Pairs and their weights as they come in, summed whenever many wait."""

    def __init__(self, shared: bool) -> None:
        first = _Names()
        self.names = (first, first if shared else _Names())
        self.lines = 0
        self._waiting: list[tuple[Any, Any, FloatArray]] = []
        self._sums: tuple[IntArray, IntArray, FloatArray] | None = None
        self._room = _WAITING

    def add(self, rows: Any, columns: Any, weights: Any) -> None:
        """Take a batch: two columns of ids, and one of weights."""
        kept = weights.to_numpy().copy()  # else the memory of the whole batch stays
        self._waiting.append((rows.dictionary_encode(), columns.dictionary_encode(), kept))
        self.lines += len(weights)
        if sum(len(part) for *_, part in self._waiting) >= self._room:
            i, j, w = self.numbered()
            sums = coo_array(gather_pairs(w, i, j, (len(self.names[0].ids), len(self.names[1].ids))))
            self._sums = (*sums.coords, sums.data)
            self._room = max(_WAITING, sums.nnz)

    def numbered(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Give all pairs as numbers of ids, and their weights; what was summed already comes first."""
        waiting, self._waiting = self._waiting, []
        parts = [] if self._sums is None else [self._sums]
        if waiting:
            rows, columns, weights = (list(part) for part in zip(*waiting, strict=True))
            parts += zip(self.names[0].number(rows), self.names[1].number(columns), weights, strict=True)
        i, j, w = (np.concatenate(part) for part in zip(*parts, strict=True))
        return i, j, w


def _sorted_ids(session: Session, ids: Any, kind: str) -> tuple[TextArray, IntArray]:
    """Sort ids, text that is all numbers as such; give them as text, and the place of each."""
    numbered = pa.table({"id": ids, "number": np.arange(len(ids), dtype=np.int32)})
    session.connection.register("ids", numbered)
    order = "id" if kind in _WHOLE else f"CAST(id AS {kind}), id"
    if kind == "VARCHAR":
        finite = "coalesce(isfinite(TRY_CAST(id AS DOUBLE)), false)"
        [(numbers,)] = session.rows(f"SELECT bool_and({finite}) FROM ids")
        order = "TRY_CAST(id AS DOUBLE), id" if numbers else "id"
    found = session.table(f"SELECT CAST(id AS VARCHAR) AS written, number FROM ids ORDER BY {order}")
    places = np.empty(len(ids), dtype=np.int32)
    places[found.column("number").to_numpy()] = np.arange(len(ids), dtype=np.int32)
    return np.asarray(found.column("written").to_numpy(), dtype=object), places
