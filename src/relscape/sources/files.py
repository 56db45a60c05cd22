"""Files on disk: which ones are meant, and what they hold."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from relscape.errors import FormatError, ParameterError, StorageError, listing
from relscape.maps.spelling import meant
from relscape.sources.references import (
    DATABASE_ENDINGS,
    DatabaseTable,
    database_of,
    expanded,
    is_database,
    shown,
)

__all__ = [
    "FORMATS",
    "Origin",
    "Paths",
    "check_contents",
    "chunks",
    "described",
    "expand",
    "format_of",
    "origins",
    "readable",
]

Origin: TypeAlias = Path | DatabaseTable
Paths: TypeAlias = str | os.PathLike[str] | DatabaseTable | Iterable[str | os.PathLike[str] | DatabaseTable]

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".dat": "plain",
    ".data": "plain",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}

_SIGNATURES = (
    (b"PAR1", "parquet", "Parquet"),
    (b"ARROW1", "arrow", "Arrow"),
    (b"\xff\xff\xff\xff", "arrow", "Arrow"),
    (b"PK\x03\x04", "excel", "a zip archive, such as Excel's"),
    (b"\xd0\xcf\x11\xe0", "excel", "an old Excel workbook"),
    (b"\x1f\x8b", "", "gzip (add .gz to its name)"),
    (b"\x28\xb5\x2f\xfd", "", "zstd (add .zst to its name)"),
    (b"BZh", "", "bzip2 (add .bz2 to its name)"),
)
_CHUNK = 1 << 22


def origins(paths: Paths) -> list[Origin]:
    """Find the files meant by paths and globs, and the tables of databases, each once, in order."""
    found: dict[Origin, None] = {}
    for item in _each(paths):
        table = database_of(item)
        if table is None:
            found.update(dict.fromkeys(expand(item)))
        else:
            found[table] = None
    return list(found)


def _each(paths: Paths) -> list[Any]:
    given = [paths] if isinstance(paths, str | os.PathLike | DatabaseTable) else list(paths)
    if not given:
        raise ParameterError("no file is given: name at least one.")
    return given


def expand(paths: Paths) -> list[Path]:
    """Find the files or folders meant by paths and globs, each once, in order.

    A path that exists as it is written is never taken as a glob, so brackets in names are safe.
    """
    found: dict[Path, None] = {}
    for item in _each(paths):
        if is_database(item):
            raise ParameterError(f"{shown(item)} is a database; here a file is expected.")
        path = expanded(item)
        if _exists(path):
            found[path] = None
        elif glob.has_magic(str(path)):
            matches = map(Path, sorted(glob.glob(str(path), recursive=True)))  # noqa: PTH207 (also absolute)
            files = [match for match in matches if match.is_file()]
            if not files:
                raise StorageError(f"no file matches {str(path)!r}; check the pattern and the folder.")
            found.update(dict.fromkeys(files))
        else:
            raise StorageError(f"there is no file {str(path)!r}.{_meant(path)}")
    return list(found)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise StorageError(f"{path} cannot be looked at: {error.strerror or error}.") from error


def _meant(path: Path) -> str:
    """Suggest the table or folder of nearest name, or say what is missing."""
    endings = {*FORMATS, *COMPRESSIONS, ".txt", ""}
    return meant(path, lambda other: other.suffix.lower() in endings) or " Check the name and the folder."


def readable(path: Path) -> str:
    r"""Give a path as text that can be shown and stored: bytes of a name that are no UTF-8 as ``\xe9``."""
    return os.fsencode(path.as_posix()).decode(errors="backslashreplace")


def format_of(path: Path) -> tuple[str, str | None]:
    """Tell the format and the compression of a table from the ending of its name."""
    if readable(path) != path.as_posix():
        raise StorageError(f"the name of {readable(path)} is not valid UTF-8; rename the file.")
    if path.is_dir():
        raise StorageError(
            f"{path} is a folder, not a table. Name its files, as in {str(path / '*.parquet')!r}; "
            "a folder of text files is read by read_text."
        )
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression:
        suffixes.pop()
    form = FORMATS.get(suffixes[-1]) if suffixes else None
    if form is None:
        raise FormatError(
            f"{path}: the ending does not tell what kind of table this is. Known endings: "
            f"{listing(FORMATS, limit=len(FORMATS))}; the text ones also with {listing(COMPRESSIONS)}; of "
            f"databases {listing(DATABASE_ENDINGS, limit=len(DATABASE_ENDINGS))}. "
            "Rename the file. Plain text documents are read by read_text, on the command line as *.txt."
        )
    if compression and form not in {"csv", "tsv", "json lines", "json", "plain"}:
        raise FormatError(f"{path}: a {form} file is not read compressed; decompress it first.")
    return form, compression


def check_contents(path: Path, form: str) -> None:
    """Refuse a file of a binary format that does not begin as that format does."""
    try:
        with path.open("rb") as stream:
            head = stream.read(8)
    except OSError as error:
        raise _unreadable(path, error) from error
    if not any(head.startswith(mark) and known == form for mark, known, _ in _SIGNATURES):
        found = "is empty" if not head else f"holds {described(head)}"
        raise FormatError(f"{path} is named as {form} but {found}. Give it the ending of what it holds.")


def described(head: bytes) -> str:
    """Say what a file holds by how it begins."""
    for mark, _, name in _SIGNATURES:
        if head.startswith(mark):
            return name
    return "something else, perhaps text" if head.isascii() else "something else"


def _unreadable(path: Path, error: OSError) -> StorageError:
    if isinstance(error, PermissionError):
        return StorageError(f"{readable(path)} may not be read: no permission. Ask for it, or copy the file.")
    return StorageError(f"{readable(path)} cannot be read: {error.strerror or error}.")


def chunks(path: Path, compression: str | None = None) -> Iterator[bytes]:
    """Read a file in pieces of a few megabytes, decompressed."""
    try:
        with path.open("rb") as file, pa.input_stream(file, compression=compression) as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    except OSError as error:
        if compression and not isinstance(error, PermissionError):
            raise FormatError(
                f"{readable(path)} is named as {compression} but cannot be decompressed: it is cut off or "
                "something else. Make it again, or give it the ending of what it holds."
            ) from error
        raise _unreadable(path, error) from error
