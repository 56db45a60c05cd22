"""Wide tables: contingency tables whose cells are the weights."""

from __future__ import annotations

from shlex import quote

import numpy as np
from scipy.sparse import csr_array, vstack

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.frames import kind_names, warn_of_blanks
from relscape.data.labels import as_text
from relscape.errors import DataError
from relscape.protocols import FloatArray, SparseArray
from relscape.sources.checks import fault, refuse_empty, refuse_mixed_numbers, row_ids
from relscape.sources.scans import Scan
from relscape.sources.sessions import Session

__all__ = ["read_wide"]


def read_wide(session: Session, allow_negative: bool) -> RelationalData:
    """Read contingency tables with the same columns, one under another; blank cells are zeros.

    The column that names the rows names their kind too, if it has a name.
    """
    first = session.scans[0]
    row_names = _row_name_column(session)
    names = [name for name in first.columns if name != row_names]
    if not names:
        raise DataError(f"{first.path}: there is no column of numbers besides the row names {row_names!r}.")
    blocks, ids, blanks = [], [], 0
    for scan in session.scans:
        if set(scan.columns) != set(first.columns):
            odd = sorted(set(scan.columns) ^ set(first.columns))
            raise DataError(
                f"{scan.path} and {first.path} do not have the same columns: {odd[0]!r} is in one only."
            )
        block, blank = _wide_matrix(session, scan, names, allow_negative)
        refuse_mixed_numbers(session, scan, names)
        blocks.append(block)
        blanks += blank
        ids += row_ids(session, scan, row_names) if row_names is not None else []
    matrix = csr_array(vstack(blocks, format="csr"))
    refuse_empty(session, matrix.shape[0])
    warn_of_blanks(blanks)
    named = row_names is not None and all(scan.row_names is None for scan in session.scans)
    rows, columns = kind_names(row_names if named else None)
    left = EntitySet(rows, as_text(ids if row_names is not None else range(matrix.shape[0])))
    return RelationalData(
        [left, EntitySet(columns, as_text(names))], [Relation(f"{rows}-{columns}", rows, columns, matrix)]
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
    [(numbers,)] = session.rows(
        f"SELECT bool_and({finite}) FILTER (NOT {_blank(scan, name)}) FROM {scan.source}"
    )
    return None if numbers else name


def _blank(scan: Scan, name: str) -> str:
    return f"(coalesce(trim({scan.text(name)}), '') = '')"


def _cell(scan: Scan, name: str) -> str:
    """Give SQL for the cells of a column as numbers: NaN where one is blank, -inf where it is no number."""
    number = scan.number(name)
    if scan.column(name).numeric:
        return number
    return (
        f"CASE WHEN {_blank(scan, name)} THEN 'nan'::DOUBLE "
        f"ELSE coalesce(nullif({number}, 'nan'::DOUBLE), '-inf'::DOUBLE) END"
    )


def _wide_matrix(
    session: Session, scan: Scan, names: list[str], allow_negative: bool
) -> tuple[SparseArray, int]:
    """Read the numbers of one wide table, piece by piece, and count its blank cells.

    A cell that cannot be a weight is refused.
    """
    numbers = ", ".join(f"{_cell(scan, name)} AS n{k}" for k, name in enumerate(names))
    blocks: list[SparseArray] = [csr_array((0, len(names)))]
    bad_cells, first_bad, seen, blanks = 0, (0, 0), 0, 0
    for batch in session.batches(f"SELECT {numbers} FROM {scan.source}", len(names)):
        block: FloatArray = np.column_stack(
            [np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64) for column in batch.columns]
        )
        blank = np.isnan(block)
        block[blank] = 0.0
        blanks += int(blank.sum())
        bad = ~np.isfinite(block) | ((block < 0) & (not allow_negative))
        if bad.any() and not bad_cells:
            row, column = np.argwhere(bad)[0]
            first_bad = (seen + int(row) + 1, int(column))
        bad_cells += int(bad.sum())
        seen += len(block)
        blocks.append(csr_array(block))
    if bad_cells:
        raise _bad_cell(session, scan, names, *first_bad, bad_cells)
    return csr_array(vstack(blocks, format="csr")), blanks


def _bad_cell(session: Session, scan: Scan, names: list[str], row: int, column: int, count: int) -> DataError:
    name = names[column]
    [(value,)] = session.rows(
        f"SELECT value FROM (SELECT row_number() OVER () AS number, {scan.text(name)} AS value "
        f"FROM {scan.source}) WHERE number = {row}"
    )
    cause, remedy = fault(value, scan.decimal_commas, "Leave the cell blank if it means 0.")
    return DataError(
        f"{scan.path}: read as a wide table it has {count} cells that cannot be weights, the first in column "
        f"{name!r} at {scan.place(row)}: {cause}. {remedy} If this is a table of pairs, give rows and "
        f"columns{_pairs_told(scan)}."
    )


def _pairs_told(scan: Scan) -> str:
    """Write down how a table of two or three columns would be read as one of pairs."""
    names = [quote(name) for name in scan.columns]
    if len(names) not in (2, 3):
        return ""
    weight = f" --weight {names[2]}" if len(names) == 3 else ""
    return f" (on the command line --rows {names[0]} --columns {names[1]}{weight})"
