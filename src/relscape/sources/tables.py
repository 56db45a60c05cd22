"""Table files of any common kind: relations, attributes and plain tables, read through DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa

from relscape.data import RelationalData
from relscape.data.labels import as_text as text_array
from relscape.errors import ParameterError
from relscape.protocols import AnyArray, TextArray
from relscape.sources.checks import refuse_empty, row_ids
from relscape.sources.files import Paths, origins
from relscape.sources.interop import ALSO_TABLES, HowToRead, form_of, read_form
from relscape.sources.pairs import read_pairs
from relscape.sources.references import DatabaseTable, shown, with_query
from relscape.sources.sessions import Session, opened
from relscape.sources.wide import read_wide

__all__ = ["load", "read", "read_fields", "read_table"]


def read(
    paths: Paths,
    rows: str | None = None,
    columns: str | None = None,
    weight: str | None = None,
    *,
    same_kind: str | None = None,
    allow_negative: bool = False,
    encoding: str | None = None,
    sheet: str | None = None,
    query: str | None = None,
) -> RelationalData:
    """Read a relation from one or more table files, from a database, or from a file of another program.

    CSV and TSV (any common encoding and separator, also compressed), JSON lines, Parquet, Arrow and
    Excel files are told by their endings; so are matrices (.npz, .mtx), AnnData (.h5ad), folders of 10x
    Genomics, graphs (.graphml), ratings as MovieLens has them and publications (.bib), for which
    ``read_matrix``, ``read_anndata``, ``read_10x``, ``read_graph``, ``read_ratings`` and
    ``read_publications`` know more. Tables of databases are named ``postgresql://host/db#schema.table``,
    ``file.sqlite#table`` or ``file.duckdb#schema.table``; of PostgreSQL, what an address leaves out comes
    from PGUSER, PGPASSWORD, ``~/.pgpass`` and the like.

    With ``rows`` and ``columns`` a table is long: one line a pair, repeated pairs are summed. Without them it
    is wide, a contingency table: the first column names the row things when it is text or has no name, the
    other columns are the column things.

    Parameters
    ----------
    paths : path or sequence of paths
        Files or globs, or tables of databases; several are read as one table.
    rows, columns : str, optional
        The columns that hold the ids of the two kinds of things, which take their names.
    weight : str, optional
        The column of weights; without it every line counts 1.
    same_kind : str, optional
        The name of the one kind whose ids stand in both columns, as in a table of citations.
    allow_negative : bool
        Whether weights below zero are let through.
    encoding : str, optional
        How the letters of text files are written, such as "shift_jis"; found by reading them unless given.
    sheet : str, optional
        Which sheet of a workbook; the first unless given.
    query : str, optional
        What to ask the database that ``paths`` names, ``"select …"``, instead of a table of it.

    Returns
    -------
    RelationalData
        With one relation, named after the two columns. The kinds of a wide table are the name of its first
        column, or "row", and "column"; its blank cells are read as 0, with a warning that counts them.
    """
    paths = origins(paths if query is None else with_query(paths, query))
    form = form_of(paths)
    if form is not None and not (form in ALSO_TABLES and rows is not None):
        if same_kind is not None or allow_negative:
            raise ParameterError("same_kind and allow_negative are for tables of pairs; leave them out.")
        return read_form(paths, form, HowToRead(rows, columns, weight, encoding=encoding, sheet=sheet))
    if (rows is None) != (columns is None):
        raise ParameterError(
            "give both rows and columns for a table of pairs, or neither for a wide (contingency) table; "
            f"only {'columns' if rows is None else 'rows'} is given."
        )
    if rows is None or columns is None:
        if weight is not None or same_kind is not None:
            raise ParameterError("weight and same_kind are for tables of pairs; give rows and columns too.")
        with opened(paths, encoding, sheet) as session:
            return read_wide(session, allow_negative)
    if rows == columns:
        raise ParameterError(
            f"rows and columns both name the column {rows!r}; two different columns are needed. "
            "If both hold ids of one kind, say so with same_kind."
        )
    with opened(paths, encoding, sheet, only=(rows, columns, weight)) as session:
        return read_pairs(session, rows, columns, weight, same_kind, allow_negative)


def read_fields(
    path: str | PathLike[str] | DatabaseTable,
    id_column: str | None = None,
    *,
    encoding: str | None = None,
    sheet: str | None = None,
) -> tuple[TextArray, dict[str, AnyArray]]:
    """Read what is known of each thing, one row a thing, for ``EntitySet.with_fields``.

    Parameters
    ----------
    path : path
        A table file.
    id_column : str, optional
        The column of ids, which must not repeat; the first one unless given.
    encoding : str, optional
        How the letters of a text file are written, such as "shift_jis"; found by reading it unless given.
    sheet : str, optional
        Which sheet of a workbook; the first unless given.

    Returns
    -------
    ids, fields : TextArray and dict of arrays
        Numbers stay numbers (NaN where missing), everything else is text (None where missing).
    """
    with opened(path, encoding, sheet) as session:
        if len(session.scans) != 1:
            raise ParameterError(f"{shown(path)}: {len(session.scans)} files match; name one of attributes.")
        scan = session.scans[0]
        name = next(iter(scan.columns)) if id_column is None else id_column
        ids = row_ids(session, scan, name)
        refuse_empty(session, len(ids))
        others = [column for column in scan.columns if column != name]
        table = load(session, others, ()) if others else pa.table({})
        return text_array(ids), {column: _field(table.column(column)) for column in others}


def read_table(
    paths: Paths,
    columns: Sequence[str] | None = None,
    *,
    as_text: Sequence[str] = (),
    encoding: str | None = None,
) -> Any:
    """Read table files as one ``pyarrow.Table``.

    Parameters
    ----------
    paths : path or sequence of paths
        Files or globs; several files are put under one another.
    columns : sequence of str, optional
        Which columns, in which order; those of the first file unless given.
    as_text : sequence of str
        Columns to keep as the text that stands in the file, such as ids written 007. In the others
        of a text file, a column that holds nothing but numbers becomes one of numbers.
    encoding : str, optional
        How the letters of text files are written, such as "shift_jis"; found by reading them unless given.
    """
    with opened(paths, encoding, only=columns) as session:
        return load(session, list(session.scans[0].columns if columns is None else columns), as_text)


def load(session: Session, names: Sequence[str], as_text: Sequence[str]) -> Any:
    """Put the columns of all files under one another, recognising numbers that are written as text."""
    kept = set(as_text)
    all_written = all(scan.written for scan in session.scans)
    written = [k for k, name in enumerate(names) if all_written and name not in kept]
    parts = []
    for scan in session.scans:
        columns = [
            f"{scan.text(name) if name in kept else scan.column(name).sql} AS c{k}"
            for k, name in enumerate(names)
        ]
        numbers = [f"{scan.number(names[k])} AS n{k}" for k in written]
        parts.append(f"SELECT {', '.join(columns + numbers)} FROM {scan.source}")
    session.run(f"CREATE OR REPLACE TEMP TABLE loaded AS {' UNION ALL '.join(parts)}")
    chosen = _recognised(session, written)
    columns = [f"{chosen.get(k, f'c{k}')} AS c{k}" for k in range(len(names))]
    table = session.table(f"SELECT {', '.join(columns)} FROM loaded ORDER BY rowid")
    return table.rename_columns(list(names))


def _recognised(session: Session, written: list[int]) -> dict[int, str]:
    """Choose SQL for the columns that hold only numbers; a leading zero, as in 007, makes a code."""
    if not written:
        return {}
    tests = []
    for k in written:
        missing = f"(c{k} IS NULL OR c{k} IN ('NA', 'NaN', 'nan'))"
        code = f"regexp_matches(c{k}, '^\\s*[+-]?0[0-9_]')"
        whole = f"regexp_full_match(c{k}, '-?[0-9]{{1,18}}')"
        tests.append(f"count(*) FILTER (NOT {missing})")
        tests.append(f"count(*) FILTER (NOT {missing} AND isfinite(n{k}) AND NOT {code})")
        tests.append(f"count(*) FILTER (NOT {missing} AND {whole})")
    [found] = session.rows(f"SELECT {', '.join(tests)} FROM loaded")
    chosen = {}
    for position, k in enumerate(written):
        given, numbers, whole = found[3 * position : 3 * position + 3]
        if given and numbers == given:
            chosen[k] = f"TRY_CAST(c{k} AS BIGINT)" if whole == given else f"n{k}"
    return chosen


def _field(column: Any) -> AnyArray:
    """Bring a column into an array: numbers with NaN where missing, otherwise text with None."""
    kind = column.type
    if pa.types.is_integer(kind) and column.null_count == 0:
        return np.asarray(column.to_numpy())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy())
    if pa.types.is_boolean(kind) and column.null_count == 0:
        return np.asarray(column.to_numpy())
    values = np.empty(len(column), dtype=object)
    values[:] = [value if value is None else str(value) for value in column.to_pylist()]
    return values
