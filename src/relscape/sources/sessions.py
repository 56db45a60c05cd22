"""Table files and tables of databases opened in DuckDB: one connection with bounded memory."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from relscape.errors import DataError, ParameterError, RelscapeError, listing
from relscape.maps.weighing import asks_too_much
from relscape.sources.complaints import explained
from relscape.sources.databases import describe
from relscape.sources.dialects import column_names, detect
from relscape.sources.encodings import check_encoding, decoded, encoding_of, warn_of_guesses
from relscape.sources.excel import read_sheet
from relscape.sources.fetching import arriving, fetched
from relscape.sources.files import Origin, Paths, check_contents, format_of, origins
from relscape.sources.plain import plain_layout
from relscape.sources.references import DatabaseTable
from relscape.sources.scans import Column, Scan, identifier, literal
from relscape.threads import lacks_threads

__all__ = ["Session", "opened"]

MEMORY = "2GB"
_LONGEST_LINE = 64 * 2**20
_SAMPLE = 2**16
_BATCH = 2**22
_PANDAS_INDEX = "__index_level_0__"


@contextmanager
def opened(
    paths: Paths,
    encoding: str | None = None,
    sheet: str | None = None,
    only: Collection[str | None] | None = None,
) -> Iterator[Session]:
    """Open table files together; whatever DuckDB or Arrow complain of is raised as an error of ours.

    The encoding of text files is found by reading them unless it is given; of a workbook, the first sheet
    is read unless one is named; ``only`` says which columns of a database will be asked for.
    """
    import duckdb

    given = check_encoding(encoding)
    with tempfile.TemporaryDirectory(prefix="relscape-") as scratch:
        config = {
            "memory_limit": MEMORY,
            "temp_directory": str(Path(scratch) / "spill"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        connection = duckdb.connect(":memory:", config=config)
        session = Session(connection, Path(scratch), given, sheet, only)
        try:
            for path in origins(paths):
                session.open(path)
            if given and not any(scan.written and scan.form != "database" for scan in session.scans):
                raise ParameterError(
                    f"encoding is for text files such as CSV; {session.scans[0].path} is none. Leave it out."
                )
            if sheet is not None and not any(scan.form == "excel" for scan in session.scans):
                raise ParameterError(
                    f"sheet is for workbooks such as Excel's; {session.scans[0].path} is none. Leave it out."
                )
            if not given:
                warn_of_guesses({s.path: s.encoding for s in session.scans if isinstance(s.path, Path)})
            yield session
        except RelscapeError:
            raise
        except MemoryError as error:
            if session.asks_too_much(error):
                raise session.explain(error) from error
            raise
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            if lacks_threads(error):
                raise MemoryError(str(error)) from error
            raise session.explain(error) from error
        finally:
            connection.close()


class Session:
    """A DuckDB connection and the files opened in it."""

    def __init__(
        self,
        connection: Any,
        scratch: Path,
        encoding: str | None = None,
        sheet: str | None = None,
        only: Collection[str | None] | None = None,
    ) -> None:
        self.connection = connection
        self.scratch = scratch
        self.encoding = encoding
        self.sheet = sheet
        self.only = only
        self.scans: list[Scan] = []
        self._places: dict[str, Path] = {}
        self._opening: Origin | None = None

    def run(self, sql: str) -> None:
        """Run a statement that gives nothing back."""
        self.connection.execute(sql)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query with a small answer."""
        return list(self.connection.sql(sql).fetchall())

    def table(self, sql: str) -> Any:
        """Run a query and take its answer as one Arrow table."""
        return self.connection.sql(sql).to_arrow_table()

    def batches(self, sql: str, width: int) -> Generator[Any]:
        """Run a query of ``width`` columns and take its answer as Arrow record batches of bounded size.

        Take them all, or close the generator, before anything else is asked.
        """
        with self.connection.sql(sql).to_arrow_reader(max(1, _BATCH // width)) as reader:
            yield from reader

    def pairs(self, scan: Scan, ids: Sequence[str], chosen: str) -> Generator[Any]:
        """Take what is chosen of a scan, two ids and a weight, as record batches of bounded size.

        The rows of a database go by as they come, unless ids are exact numbers: these are kept in a file
        first, for all have to be seen before any is written.
        """
        if scan.arriving is None or any(scan.column(name).exact for name in ids):
            yield from self.batches(f"SELECT {chosen} FROM {scan.source}", width=3)
            return
        with closing(scan.arriving()) as arrived:
            for batch in arrived:
                self.connection.register("arrived", batch)
                yield from self.batches(f"SELECT {chosen} FROM arrived", width=3)

    def open(self, path: Origin) -> None:
        """Prepare one file, or table of a database, for queries."""
        self._opening = path
        self.scans.append(
            self._open_table(path) if isinstance(path, DatabaseTable) else self._open_file(path)
        )
        self._opening = None

    def _open_file(self, path: Path) -> Scan:
        form, compression = format_of(path)
        if form in {"csv", "tsv"}:
            return self._open_csv(path, form, compression)
        if form.startswith("json"):
            return self._open_json(path, form, compression)
        if form == "plain":
            return self._open_plain(path, compression)
        check_contents(path, form)
        openers = {"parquet": self._open_parquet, "arrow": self._open_arrow, "excel": self._open_excel}
        return openers[form](path)

    def _open_table(self, table: DatabaseTable) -> Scan:
        """Look at the columns of a table of a database; its rows are fetched when they are needed."""
        described = dict(enumerate(describe(table)))
        names, _ = column_names([column.name for column in described.values()], table)
        columns = {
            name: Column(f"c{k}", described[k].type, described[k].exact) for k, name in enumerate(names)
        }
        wanted = {k: described[k] for k, name in enumerate(names) if self.only is None or name in self.only}
        fetched_to = self.scratch / f"{len(self.scans)}.parquet"
        fetch = partial(fetched, self.connection, fetched_to, table, wanted or described)
        scan = Scan(table, cache(fetch), columns, None, table.engine == "sqlite", "database")
        return replace(scan, arriving=partial(arriving, table, wanted or described))

    def _open_csv(self, path: Path, form: str, compression: str | None) -> Scan:
        encoding = encoding_of(path, compression, self.encoding)
        pieces = decoded(path, compression, encoding)
        start = next(pieces, "") or next(pieces, "")
        sample = start[: max(_SAMPLE, 2 * start.find("\n"))]
        whole = len(sample) == len(start) and not next(pieces, "")
        separators = {"separators": ("\t",)} if form == "tsv" else {}
        dialect = detect(sample, whole, path, **separators)
        fields = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(dialect.names)))
        source = (
            f"read_csv({self._utf8(path, compression, encoding)}, auto_detect=false, header=true, "
            f"quote='\"', escape='\"', delim={literal(dialect.separator)}, max_line_size={_LONGEST_LINE}, "
            f"hive_partitioning=false, columns={{{fields}}})"
        )
        columns = {name: Column(f"c{k}", "VARCHAR") for k, name in enumerate(dialect.names)}
        return Scan(path, source, columns, dialect.row_names, True, form, compression, encoding, dialect)

    def _open_plain(self, path: Path, compression: str | None) -> Scan:
        encoding = encoding_of(path, compression, self.encoding)
        layout = plain_layout(next(decoded(path, compression, encoding), ""), path)
        fields = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(layout.names)))
        source = (
            f"read_csv({self._utf8(path, compression, encoding)}, auto_detect=false, header=false, quote='', "
            f"escape='', delim={literal(layout.separator)}, max_line_size={_LONGEST_LINE}, "
            f"hive_partitioning=false, columns={{{fields}}})"
        )
        columns = {name: Column(f"c{k}", "VARCHAR") for k, name in enumerate(layout.names)}
        return Scan(path, source, columns, None, True, "plain", compression, encoding)

    def _open_json(self, path: Path, form: str, compression: str | None) -> Scan:
        layout = "newline_delimited" if form == "json lines" else "auto"
        encoding = encoding_of(path, compression, self.encoding)
        if not any(piece.strip() for piece in decoded(path, compression, encoding)):
            raise DataError(f"{path} is empty: expected one JSON object for every row.")
        file = self._utf8(path, compression, encoding)
        source = (
            f"read_json({file}, format='{layout}', records=true, maximum_depth=1, sample_size=-1, "
            f"maximum_object_size={_LONGEST_LINE}, hive_partitioning=false)"
        )
        names = [name for name, *_ in self.rows(f"DESCRIBE SELECT * FROM {source}")]
        texts = ", ".join(f"{identifier(n)} ->> '$' AS c{k}" for k, n in enumerate(names))
        columns = {name: Column(f"c{k}", "VARCHAR") for k, name in enumerate(names)}
        return Scan(path, f"(SELECT {texts} FROM {source})", columns, None, True, form, encoding=encoding)

    def _open_parquet(self, path: Path) -> Scan:
        import pyarrow.parquet as pq

        source = f"read_parquet({self._location(path, path)}, hive_partitioning=false)"
        described = self.rows(f"DESCRIBE SELECT * FROM {source}")
        return self._native(path, source, pq.read_schema(path).names, described)

    def _open_arrow(self, path: Path) -> Scan:
        import pyarrow.dataset as ds

        try:
            table = ds.dataset(str(path), format="ipc")
        except (pa.ArrowException, OSError):
            with pa.ipc.open_stream(str(path)) as stream:
                table = stream.read_all()
        for batch in table.to_batches():
            batch.validate(full=True)  # what does not fit together is read beyond its end by DuckDB
        return self._registered(path, table)

    def _open_excel(self, path: Path) -> Scan:
        sheet = read_sheet(path, self.sheet)
        scan = self._registered(path, sheet.table, sheet.row_names)
        return replace(scan, form="excel", numbers=sheet.numbers)

    def _registered(self, path: Path, table: Any, row_names: str | None = None) -> Scan:
        name = f"file{len(self.scans)}"
        self.connection.register(name, table)
        described = self.rows(f"DESCRIBE SELECT * FROM {name}")
        return self._native(path, name, table.schema.names, described, row_names)

    @staticmethod
    def _native(
        path: Path,
        source: str,
        names: list[str],
        described: list[tuple[Any, ...]],
        row_names: str | None = None,
    ) -> Scan:
        """Pair the columns' own names with those of DuckDB, which sets capitals aside."""
        named, unnamed = column_names(names, path)
        columns = {
            name: Column(identifier(known), kind.split("(")[0] if kind.startswith("ENUM") else kind)
            for name, (known, kind, *_) in zip(named, described, strict=True)
        }
        index = _PANDAS_INDEX if _PANDAS_INDEX in columns else None
        return Scan(path, source, columns, row_names or unnamed or index)

    def _utf8(self, path: Path, compression: str | None, encoding: str) -> str:
        """Give SQL for a text file as UTF-8: the file itself, or a copy when it is written otherwise."""
        if encoding == "utf-8" and compression != "bz2":
            return self._location(path, path)
        copy = self.scratch / f"{len(self.scans)}.txt"
        with copy.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(decoded(path, compression, encoding))
        return self._location(copy, path)

    def _location(self, place: Path, path: Path) -> str:
        """Quote a path for SQL so that nothing in it is a pattern, and remember whose it is."""
        self._places[str(place)] = path
        return literal(re.sub(r"([*?\[\]])", r"[\1]", str(place)))

    def asks_too_much(self, error: MemoryError) -> bool:
        """Tell whether more memory was asked for than any of the files can fill."""
        given = [self._opening] if self._opening else [scan.path for scan in self.scans]
        files = [path for path in given if isinstance(path, Path)]
        return bool(files) and all(asks_too_much(error, path) for path in files)

    def explain(self, error: Exception) -> RelscapeError:
        """Turn an error of DuckDB or Arrow into one of ours, with the file and what to do."""
        named: list[Origin] = [path for place, path in self._places.items() if place in str(error)]
        named = [self._opening] if self._opening else named or [scan.path for scan in self.scans]
        where = str(named[0]) if len(named) == 1 else f"one of {listing(named)}"
        return explained(error, where, MEMORY)
