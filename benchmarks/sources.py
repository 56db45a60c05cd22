"""Reading: rows of a table of pairs a second, from CSV, Parquet and PostgreSQL into a sparse relation.

Beside relscape, pandas makes the same matrix from the same file, and DuckDB sums the same pairs without
making a matrix of them. The PostgreSQL server is the one that RELSCAPE_BENCH_POSTGRES names
(postgresql://…); where it is not set, its cases are left out.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import Measure, in_own_process, measured, report, show

ROWS = 2_000_000
SERVER = os.environ.get("RELSCAPE_BENCH_POSTGRES", "")
TABLE = "relscape_bench_pairs"
_PAIRS = f"""
SELECT 'doc' || (i * 7919 % 20011) AS doc, 'word' || (i * 104729 % 5003) AS word, (i % 7) + 1 AS n
FROM {{series}} WHERE i <= {ROWS}
"""
_SUM = "SELECT count(*), sum(n) FROM (SELECT doc, word, sum(n) AS n FROM {source} GROUP BY ALL)"


def prepare_relscape(source: str) -> Callable[[], str]:
    import relscape as rs

    def work() -> str:
        matrix = rs.read(source, rows="doc", columns="word", weight="n").matrix()
        return f"{matrix.nnz:,} pairs, {matrix.sum():.0f}"

    return work


def prepare_pandas(source: str) -> Callable[[], str]:
    import pandas as pd
    from scipy.sparse import coo_array, csr_array

    def frame() -> pd.DataFrame:
        if source.startswith("postgresql://"):
            import adbc_driver_postgresql.dbapi as driver

            with driver.connect(SERVER) as connection:
                return pd.read_sql(f"SELECT * FROM {TABLE}", connection)
        return pd.read_csv(source) if source.endswith(".csv") else pd.read_parquet(source)

    def work() -> str:
        table = frame()
        rows, columns = (table[name].astype("category").cat for name in ("doc", "word"))
        shape = len(rows.categories), len(columns.categories)
        cells = (table["n"].to_numpy(), (rows.codes.to_numpy(), columns.codes.to_numpy()))
        matrix = csr_array(coo_array(cells, shape=shape))
        return f"{matrix.nnz:,} pairs, {matrix.sum():.0f}"

    return work


def prepare_duckdb(source: str) -> Callable[[], str]:
    import duckdb

    def work() -> str:
        [(pairs, total)] = duckdb.sql(_SUM.format(source=f"'{source}'")).fetchall()
        return f"{pairs:,} pairs, {total:.0f}"

    return work


def prepare_postgresql(source: str) -> Callable[[], str]:  # noqa: ARG001
    import adbc_driver_postgresql.dbapi as driver

    def work() -> str:
        asked = (
            f"SELECT count(*), sum(n)::float8 FROM (SELECT sum(n) AS n FROM {TABLE} GROUP BY doc, word) AS s"
        )
        with driver.connect(SERVER) as connection, connection.cursor() as cursor:
            cursor.execute(asked)
            pairs, total = cursor.fetchone()
        return f"{pairs:,} pairs, {total:.0f}"

    return work


CASES: dict[str, tuple[Callable[[str], Callable[[], str]], str]] = {
    "relscape, CSV": (prepare_relscape, "pairs.csv"),
    "pandas, CSV": (prepare_pandas, "pairs.csv"),
    "DuckDB's own sums, CSV": (prepare_duckdb, "pairs.csv"),
    "relscape, Parquet": (prepare_relscape, "pairs.parquet"),
    "pandas, Parquet": (prepare_pandas, "pairs.parquet"),
    "DuckDB's own sums, Parquet": (prepare_duckdb, "pairs.parquet"),
    "relscape, PostgreSQL": (prepare_relscape, ""),
    "pandas, PostgreSQL": (prepare_pandas, ""),
    "PostgreSQL's own sums": (prepare_postgresql, ""),
}


def run_case(name: str, folder: Path) -> Measure:
    prepare, file = CASES[name]
    source = str(folder / file) if file else f"{SERVER}#{TABLE}"
    return measured(lambda: prepare(source))


def main() -> None:
    import duckdb

    with tempfile.TemporaryDirectory() as scratch:
        for file, how in (("pairs.csv", "HEADER"), ("pairs.parquet", "FORMAT parquet")):
            made = _PAIRS.format(series=f"range(1, {ROWS + 1}) AS t(i)")
            duckdb.sql(f"COPY ({made}) TO '{scratch}/{file}' ({how})")
        if SERVER:
            _fill_server()
        rows = {
            name: in_own_process("benchmarks.sources", name, Path(scratch))
            for name, (_, file) in CASES.items()
            if file or SERVER
        }
    show(f"{ROWS:,} rows into a sparse relation", rows, "relscape, Parquet")
    for name, row in rows.items():
        print(f"{name:34}{ROWS / row.wall / 1e6:9.2f} million rows a second")


def _fill_server() -> None:
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(SERVER) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {TABLE}")
        made = _PAIRS.format(series=f"generate_series(1::bigint, {ROWS}) AS t(i)")
        cursor.execute(f"CREATE TABLE {TABLE} AS {made}")
        connection.commit()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        report(run_case(sys.argv[1], Path(sys.argv[2])))
    else:
        main()
