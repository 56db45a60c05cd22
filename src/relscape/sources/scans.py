"""Tables as DuckDB sees them: what goes after FROM, and the columns under their own names."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relscape.errors import UnknownNameError
from relscape.sources.dialects import Dialect, line_of_row
from relscape.sources.encodings import decoded
from relscape.sources.files import Origin

__all__ = ["Column", "Scan", "identifier", "literal"]

_NUMERIC = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*|BOOLEAN)$")


def identifier(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True)
class Column:
    """One column of a scan: how SQL names it, and its type there.

    ``exact`` numbers of a database arrive as text; whether they are whole shows when all are there.
    """

    sql: str
    type: str
    exact: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the type itself is one of numbers."""
        return _NUMERIC.match(self.type) is not None


@dataclass(frozen=True)
class Scan:
    """One file or table of a database, ready to be queried.

    ``origin`` is what goes after FROM, or what fetches the rows of a database and gives that; ``arriving``
    gives these rows once, batch by batch, where nothing has to be kept. ``written`` says that values come as
    the text that stands in the file, so that numbers are still to be recognised.
    ``row_names`` is a column meant to name the rows, and ``numbers`` says how a spreadsheet counts them.
    """

    path: Origin
    origin: str | Callable[[], str]
    columns: dict[str, Column]
    row_names: str | None = None
    written: bool = False
    form: str = ""
    compression: str | None = None
    encoding: str = "utf-8"
    dialect: Dialect | None = None
    numbers: tuple[int, ...] = ()
    arriving: Callable[[], Generator[Any]] | None = None

    @property
    def source(self) -> str:
        """What goes after FROM; the rows of a database are fetched when this is first asked for."""
        return self.origin if isinstance(self.origin, str) else self.origin()

    def column(self, name: str) -> Column:
        """Find a column by its name; an unknown one is refused with those that there are."""
        if name not in self.columns:
            raise UnknownNameError("column", name, self.columns, str(self.path))
        return self.columns[name]

    def text(self, name: str) -> str:
        """Give SQL for a column as text."""
        return f"CAST({self.column(name).sql} AS VARCHAR)"

    @property
    def decimal_commas(self) -> bool:
        """Whether a comma in a number is a decimal one: in text tables with another separator."""
        return self.dialect is not None and self.dialect.separator != ","

    def number(self, name: str) -> str:
        """Give SQL for a column as numbers, NULL where a value is none."""
        column = self.column(name)
        if column.numeric:
            return f"CAST({column.sql} AS DOUBLE)"
        # trim() keeps DuckDB 2.0 from pushing the cast into its CSV reader, where TRY_CAST raises
        # instead of giving NULL (duckdb issue 23818)
        text = f"replace({column.sql}, ',', '.')" if self.decimal_commas else f"trim({self.text(name)})"
        return f"TRY_CAST({text} AS DOUBLE)"

    def place(self, row: int) -> str:
        """Say where a data row (the first is 1) stands in the file."""
        if self.dialect is not None and isinstance(self.path, Path):
            pieces = decoded(self.path, self.compression, self.encoding)
            line = line_of_row(pieces, self.dialect.separator, row)
            if line is not None:
                return f"line {line}"
        if self.numbers:
            return f"row {self.numbers[row - 1]}"
        return f"record {row}" if self.form.startswith("json") else f"row {row}"
