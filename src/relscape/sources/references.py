"""Tables of databases, as people name them: ``postgresql://host/db#schema.table``, ``file.db#table``."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relscape.errors import FormatError, ParameterError, StorageError, UnknownNameError
from relscape.maps.spelling import expanded
from relscape.postgres import Address, is_address, misunderstood

__all__ = [
    "DATABASE_ENDINGS",
    "DatabaseTable",
    "again",
    "database_of",
    "expanded",
    "is_database",
    "located",
    "public_name",
    "seen_from",
    "shown",
    "with_query",
]

DATABASE_ENDINGS = (".sqlite", ".sqlite3", ".db", ".db3", ".duckdb", ".ddb")
_ANY_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_QUERY = re.compile(r"\s*(select|with|values)\b", re.IGNORECASE)
_NAME = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^".]+))\s*')
_MOST_SHOWN = 60


@dataclass(frozen=True)
class DatabaseTable:
    """One table of a database, or a query; printed and stored without anything secret.

    ``engine`` is "postgresql", or for a file "sqlite" or "duckdb". ``table`` is the name with its schema
    before it, if that was given; a database with neither table nor query has a single table.
    """

    engine: str
    place: Address | Path
    table: tuple[str, ...] = ()
    query: str | None = None

    def __str__(self) -> str:
        return f"{self.place}{self._fragment(_MOST_SHOWN)}"

    def _fragment(self, most: int | None = None) -> str:
        if self.query is None:
            return f"#{'.'.join(self.table)}" if self.table else ""
        query = " ".join(self.query.split())
        return f"#{query}" if most is None or len(query) <= most else f"#{query[:most]}…"

    @property
    def reference(self) -> str:
        """What names it again, for a project file: all but password and options."""
        return f"{self.place}{self._fragment()}"

    @property
    def public(self) -> str:
        """What a map may remember: no folder, user, password or option."""
        place = self.place.public if isinstance(self.place, Address) else self.place.name
        return f"{place}{self._fragment()}"

    @property
    def name(self) -> str:
        """A short name for what is read: of the table, or of the database."""
        if self.table:
            return self.table[-1]
        return (self.place.database if isinstance(self.place, Address) else self.place.stem) or "map"

    @property
    def suffix(self) -> str:
        """The ending of a file's name, which a table of a database does not have."""
        return ""


def database_of(item: Any) -> DatabaseTable | None:
    """Read a reference to a database; None for a path to any other file.

    A path that exists as it is written is that file, so ``#`` in names is safe.
    """
    if isinstance(item, DatabaseTable):
        return item
    text = os.fspath(item)
    location, fragment = _parted(text)
    if is_address(text):
        if fragment and "@" in fragment and not _QUERY.match(fragment) and "@" not in location:
            raise misunderstood()  # a password with a # in it
        place = Address(location)
        return DatabaseTable("postgresql", place, *_chosen(fragment, str(place)))
    scheme = _ANY_SCHEME.match(text)
    if scheme is not None:
        name = scheme[1].lower()
        if name not in ("sqlite", "duckdb"):
            raise UnknownNameError(
                "kind of database or address", f"{name}://", ("postgresql://", "sqlite:///", "duckdb:///")
            )
        path = _path_in(location, name)
        return DatabaseTable(_engine_of(path, name), path, *_chosen(fragment, text))
    if not location.lower().endswith(DATABASE_ENDINGS) or _is_other_file(text):
        return None
    path = expanded(location)
    return DatabaseTable(_engine_of(path), path, *_chosen(fragment, text))


def is_database(item: Any) -> bool:
    """Tell whether something names a table of a database, without looking at it."""
    if isinstance(item, DatabaseTable):
        return True
    text = os.fspath(item)
    known = _ANY_SCHEME.match(text) is not None or _parted(text)[0].lower().endswith(DATABASE_ENDINGS)
    return known and not _is_other_file(text)


def with_query(item: Any, query: str) -> str:
    """Put a query to a database that was named alone."""
    if not is_database(item):
        raise ParameterError(f"a query is for databases such as postgresql://host/db; {item} is none.")
    text = os.fspath(item)
    if "#" in text and not (isinstance(item, Path) or _is_other_file(text)):
        raise ParameterError(f"{shown(text)} names a table, and a query is given too; give either.")
    if not _QUERY.match(query):
        raise ParameterError(f"the query has to begin with select or with: {query.strip()[:40]!r} does not.")
    return f"{text}#{query}"


def shown(item: Any) -> str:
    """Give a path, or a reference to a database without anything secret, for messages."""
    found = database_of(item) if is_database(item) else None
    return os.fspath(item) if found is None else str(found)


def again(item: Any) -> str:
    """Give a path, or a reference to a database, as it can be named again: all but password and options."""
    found = database_of(item) if is_database(item) else None
    return os.fspath(item) if found is None else found.reference


def public_name(item: Any) -> str:
    """Give what a map may remember of a path or reference: no folder, user, password or option."""
    found = database_of(item) if is_database(item) else None
    return Path(item).name if found is None else found.public


def located(item: str, folder: Path) -> str:
    """Give a path or a reference as it is from here, where it was written for a folder."""
    if not is_database(item):
        return str(folder / expanded(item))
    location, fragment = _parted(item)
    tail = "" if fragment is None else f"#{fragment}"
    scheme = _ANY_SCHEME.match(item)
    if scheme is None:
        return f"{folder / expanded(location)}{tail}"
    name = scheme[1].lower()
    return item if is_address(item) else f"{name}:///{_path_in(location, name, folder).absolute()}{tail}"


def seen_from(item: str, folder: Path) -> str:
    """Give a reference as it is written for a folder, where it was meant from here."""
    location, fragment = _parted(item)
    if _ANY_SCHEME.match(item):
        return item
    with suppress(ValueError):  # on another drive
        location = os.path.relpath(location, folder)
    return Path(location).as_posix() + ("" if fragment is None else f"#{fragment}")


def _parted(text: str) -> tuple[str, str | None]:
    location, mark, fragment = text.partition("#")
    return location, fragment if mark else None


def _is_other_file(text: str) -> bool:
    """Tell whether a path exists as it is written and is no database by its name."""
    if text.lower().endswith(DATABASE_ENDINGS):
        return False
    try:
        return "#" in text and Path(text).exists()
    except OSError:  # a query makes too long a name
        return False


def _path_in(location: str, scheme: str, folder: Path = Path()) -> Path:
    """Take the path from ``sqlite:///path``, which begins in a folder, or at the root if nothing is there."""
    rest = location[len(scheme) + 3 :]
    if not rest.startswith("/"):
        raise ParameterError(
            f"{location}: write three slashes before the path, as in {scheme}:///folder/file."
        )
    path = folder / expanded(rest[1:])
    return Path(rest) if not path.exists() and Path(rest).exists() else path


def _chosen(fragment: str | None, text: str) -> tuple[tuple[str, ...], str | None]:
    """Read what stands after ``#``: a query, or a table, perhaps with its schema."""
    if fragment is None or not fragment.strip():
        return (), None
    if _QUERY.match(fragment):
        return (), fragment.strip().rstrip(";").rstrip()
    names: list[str] = []
    at = 0
    while found := _NAME.match(fragment, at):
        names.append(found[1].replace('""', '"') if found[1] else found[2].strip())
        at = found.end()
        if at == len(fragment) and len(names) <= 2:
            return tuple(names), None
        if fragment[at : at + 1] != ".":
            break
        at += 1
    raise ParameterError(
        f"{fragment!r} after the # of {text.partition('#')[0]} is neither table nor schema.table nor a query "
        'that begins with select; put names with dots between quotes, as in "my.table".'
    )


def _engine_of(path: Path, wanted: str | None = None) -> str:
    """Tell the engine of a database file by how it begins."""
    try:
        with path.open("rb") as stream:
            head = stream.read(16)
    except FileNotFoundError:
        raise StorageError(f"there is no database {str(path)!r}. Check the name and the folder.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}.") from None
    engine = (
        "sqlite" if head.startswith(b"SQLite format 3\0") else "duckdb" if head[8:12] == b"DUCK" else None
    )
    if engine is None or wanted not in (None, engine):
        holds = {"sqlite": "an SQLite database", "duckdb": "a DuckDB database"}.get(engine or "")
        raise FormatError(
            f"{path} is named as a database of {wanted or 'SQLite or DuckDB'} but holds "
            f"{holds or 'something else'}. Give it the ending of what it holds."
        )
    return engine
