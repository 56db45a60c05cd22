"""Wide tables: contingency tables whose cells are the weights."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, vstack

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text
from relscape.errors import DataError
from relscape.protocols import FloatArray, SparseArray
from relscape.sources.checks import refuse_empty, row_ids, unusable
from relscape.sources.scans import Scan, Session

__all__ = ["read_wide"]


def read_wide(session: Session, allow_negative: bool) -> RelationalData:
    """Read contingency tables with the same columns, one under another."""
    first = session.scans[0]
    row_names = _row_name_column(session)
    names = [name for name in first.columns if name != row_names]
    if not names:
        raise DataError(f"{first.path}: there is no column of numbers besides the row names {row_names!r}.")
    blocks, ids = [], []
    for scan in session.scans:
        if set(scan.columns) != set(first.columns):
            odd = sorted(set(scan.columns) ^ set(first.columns))
            raise DataError(
                f"{scan.path} and {first.path} do not have the same columns: {odd[0]!r} is in one only."
            )
        blocks.append(_wide_matrix(session, scan, names, allow_negative))
        ids += row_ids(session, scan, row_names) if row_names is not None else []
    matrix = csr_array(vstack(blocks, format="csr"))
    refuse_empty(session, matrix.shape[0])
    left = EntitySet("row", as_text(ids if row_names is not None else range(matrix.shape[0])))
    return RelationalData(
        [left, EntitySet("column", as_text(names))], [Relation("row-column", "row", "column", matrix)]
    )


def _row_name_column(session: Session) -> str | None:
    """Find the column that names the rows: one without a name, or the first when it is text."""
    for scan in session.scans:
        if scan.row_names is not None:
            return scan.row_names
    scan = session.scans[0]
    name = next(iter(scan.columns))
    if scan.column(name).numeric:
        return None
    finite = f"coalesce(isfinite({scan.number(name)}), false)"
    [(numbers,)] = session.rows(f"SELECT bool_and({finite}) FROM {scan.source}")
    return None if numbers else name


def _wide_matrix(session: Session, scan: Scan, names: list[str], allow_negative: bool) -> SparseArray:
    """Read the numbers of one wide table, piece by piece; a cell that cannot be a weight is refused."""
    numbers = ", ".join(f"{scan.number(name)} AS n{k}" for k, name in enumerate(names))
    blocks: list[SparseArray] = [csr_array((0, len(names)))]
    bad_cells, first_bad, seen = 0, (0, 0), 0
    for batch in session.batches(f"SELECT {numbers} FROM {scan.source}", len(names)):
        block: FloatArray = np.column_stack(
            [np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64) for column in batch.columns]
        )
        bad = ~np.isfinite(block) | ((block < 0) & (not allow_negative))
        if bad.any() and not bad_cells:
            row, column = np.argwhere(bad)[0]
            first_bad = (seen + int(row) + 1, int(column))
        bad_cells += int(bad.sum())
        seen += len(block)
        blocks.append(csr_array(block))
    if bad_cells:
        raise _bad_cell(session, scan, names, *first_bad, bad_cells, allow_negative)
    return csr_array(vstack(blocks, format="csr"))


def _bad_cell(
    session: Session, scan: Scan, names: list[str], row: int, column: int, count: int, allow_negative: bool
) -> DataError:
    name = names[column]
    [(value,)] = session.rows(
        f"SELECT value FROM (SELECT row_number() OVER () AS number, {scan.text(name)} AS value "
        f"FROM {scan.source}) WHERE number = {row}"
    )
    return DataError(
        f"{scan.path}: read as a wide table it has {count} {unusable(allow_negative)}, the first in column "
        f"{name!r} at {scan.place(row)}: {'nothing' if value is None else repr(value)}. Correct them; "
        "if this is a table of pairs, give rows and columns."
    )
