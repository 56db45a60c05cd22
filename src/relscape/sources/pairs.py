"""Tables of pairs: repeated pairs summed and things numbered inside DuckDB, so memory stays bounded."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from relscape.data import EntitySet, Relation, RelationalData
from relscape.protocols import SparseArray, TextArray
from relscape.sources.checks import (
    bad_weight,
    id_sql,
    refuse_bad_weights,
    refuse_empty,
    refuse_missing,
    refuse_mixed_numbers,
)
from relscape.sources.scans import Session

__all__ = ["read_pairs"]

_EXACT = 2**53


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
    order of the lines cannot matter. Pairs that sum to zero are not stored; their things remain.
    """
    kinds = _sum_pairs(session, rows, columns, weight, same_kind is not None, allow_negative)
    if same_kind is not None:
        _number(session, "row_ids", "SELECT r FROM pairs UNION SELECT c FROM pairs", kinds[0])
        entities = [EntitySet(same_kind, _ids(session, "row_ids"))]
        matrix = _matrix(session, "row_ids", "row_ids", len(entities[0]), len(entities[0]))
    else:
        _number(session, "row_ids", "SELECT DISTINCT r FROM pairs", kinds[0])
        _number(session, "column_ids", "SELECT DISTINCT c FROM pairs", kinds[1])
        entities = [
            EntitySet(rows, _ids(session, "row_ids")),
            EntitySet(columns, _ids(session, "column_ids")),
        ]
        matrix = _matrix(session, "row_ids", "column_ids", len(entities[0]), len(entities[1]))
    relation = Relation(f"{rows}-{columns}", entities[0].kind, entities[-1].kind, matrix)
    return RelationalData(entities, [relation])


def _sum_pairs(
    session: Session, rows: str, columns: str, weight: str | None, shared: bool, allow_negative: bool
) -> tuple[bool, bool]:
    """Make the table ``pairs`` of distinct pairs and sums; tell which of the ids are text there."""
    text = [_is_text(session, names) for names in ([[rows, columns]] * 2 if shared else [[rows], [columns]])]
    lines = " UNION ALL ".join(
        f"SELECT {id_sql(scan, rows, text[0])} AS r, {id_sql(scan, columns, text[1])} AS c, "
        f"{'1.0::DOUBLE' if weight is None else scan.number(weight)} AS w FROM {scan.source}"
        for scan in session.scans
    )
    bad = bad_weight("w", allow_negative)
    session.run(
        "CREATE TEMP TABLE pairs AS SELECT r, c, count(*) AS n, "
        f"sum(CASE WHEN {bad} THEN 0 ELSE w END) AS w, "
        f"bool_or({bad}) AS bad, bool_and(w = trunc(w)) AS whole FROM ({lines}) GROUP BY r, c"
    )
    [(total, no_row, no_column, bad_weights, rounded)] = session.rows(
        "SELECT count(*), count(*) FILTER (r IS NULL), count(*) FILTER (c IS NULL), count(*) FILTER (bad), "
        f"count(*) FILTER (n > 2 AND (NOT whole OR abs(w) > {_EXACT})) FROM pairs"
    )
    refuse_empty(session, total)
    if no_row:
        refuse_missing(session, rows)
    if no_column:
        refuse_missing(session, columns)
    if bad_weights and weight is not None:
        refuse_bad_weights(session, weight, allow_negative)
    for scan in session.scans:
        refuse_mixed_numbers(session, scan, [] if weight is None else [weight])
    if rounded:
        # fractions are rounded as they are added, so they are added in one order, whatever the threads
        session.run(
            f"CREATE OR REPLACE TEMP TABLE pairs AS SELECT r, c, sum(w ORDER BY w) AS w FROM ({lines}) "
            "GROUP BY r, c"
        )
    return text[0], text[1]


def _is_text(session: Session, names: list[str]) -> bool:
    """Tell whether ids are best kept as text: they are, or their type is not the same everywhere."""
    types = {scan.column(name).type for scan in session.scans for name in names}
    return len(types) > 1 or types <= {"VARCHAR", "ENUM"}


def _number(session: Session, name: str, distinct: str, text: bool) -> None:
    """Make a table of ids and their numbers 0, 1, … in sorted order; text that is all numbers sorts so."""
    order = "id"
    if text:
        finite = "coalesce(isfinite(TRY_CAST(id AS DOUBLE)), false)"
        [(numbers,)] = session.rows(f"SELECT bool_and({finite}) FROM ({distinct}) AS ids(id)")
        order = "TRY_CAST(id AS DOUBLE), id" if numbers else "id"
    session.run(
        f"CREATE TEMP TABLE {name} AS SELECT id, row_number() OVER (ORDER BY {order}) - 1 AS i "
        f"FROM ({distinct}) AS ids(id)"
    )


def _ids(session: Session, name: str) -> TextArray:
    """Fetch the ids of a numbering as text, in order."""
    table = session.table(f"SELECT CAST(id AS VARCHAR) AS id FROM {name} ORDER BY i")
    return np.asarray(table.column("id").to_numpy(), dtype=object)


def _matrix(session: Session, row_ids: str, column_ids: str, m: int, n: int) -> SparseArray:
    """Fetch the sums in the order of a sparse matrix, piece by piece, without a second copy."""
    [(stored,)] = session.rows("SELECT count(*) FROM pairs WHERE w <> 0")
    indices = np.empty(stored, dtype=np.int32)
    values = np.empty(stored, dtype=np.float64)
    counts = np.zeros(m, dtype=np.int64)
    start = 0
    for batch in session.batches(
        f"SELECT a.i AS i, b.i AS j, w FROM pairs JOIN {row_ids} AS a ON pairs.r = a.id "
        f"JOIN {column_ids} AS b ON pairs.c = b.id WHERE w <> 0 ORDER BY 1, 2",
        width=3,
    ):
        i, j, w = (batch.column(k).to_numpy(zero_copy_only=False) for k in range(3))
        indices[start : start + len(j)] = j
        values[start : start + len(j)] = w
        if len(i):
            counts[i[0] : i[-1] + 1] += np.bincount(i - i[0], minlength=i[-1] - i[0] + 1)
        start += len(j)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    if stored < np.iinfo(np.int32).max:
        pointers = pointers.astype(np.int32)
    return csr_array((values, indices, pointers), shape=(m, n))
