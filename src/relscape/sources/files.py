"""Files on disk: which ones are meant, what they hold, and how their text is written."""

from __future__ import annotations

import codecs
import difflib
import glob
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from relscape.errors import FormatError, ParameterError, RelscapeWarning, StorageError, listing
from relscape.sources.references import DATABASE_ENDINGS, DatabaseTable, database_of, is_database, shown

__all__ = [
    "FORMATS",
    "Origin",
    "Paths",
    "check_contents",
    "check_encoding",
    "chunks",
    "decoded",
    "encoding_of",
    "expand",
    "format_of",
    "origins",
    "readable",
    "warn_of_guesses",
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
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_GUESSES = {"cp1252", "latin-1"}
_UNUSED_IN_CP1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")
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
        path = Path(item).expanduser()
        if _exists(path):
            found[path] = None
        elif glob.has_magic(str(path)):
            matches = map(Path, sorted(glob.glob(str(path), recursive=True)))  # noqa: PTH207 (also absolute)
            files = [match for match in matches if match.is_file()]
            if not files:
                raise StorageError(f"no file matches {str(path)!r}; check the pattern and the folder.")
            found.update(dict.fromkeys(files))
        else:
            raise StorageError(f"there is no file {str(path)!r}.{_nearest(path)}")
    return list(found)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise StorageError(f"{path} cannot be looked at: {error.strerror or error}.") from error


def _nearest(path: Path) -> str:
    """Suggest the file of the same folder whose name is closest, or say that the folder is missing."""
    if not path.parent.is_dir():
        return f" Nor is there a folder {str(path.parent)!r}."
    others = [p.name for p in path.parent.iterdir()]
    alike = [name for name in others if Path(name).suffix.lower() in {*FORMATS, *COMPRESSIONS, ".txt", ""}]
    near = difflib.get_close_matches(path.name, alike, n=1)
    return f" Did you mean {near[0]!r}?" if near else " Check the name and the folder."


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
            "for a folder of text files use read_text."
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
            "Rename the file; for plain text documents use read_text."
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
        found = "is empty" if not head else f"holds {_described(head)}"
        raise FormatError(f"{path} is named as {form} but {found}. Give it the ending of what it holds.")


def _described(head: bytes) -> str:
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


def check_encoding(encoding: str | None) -> str | None:
    """Give the usual name of an encoding of text; one that Python does not know is refused."""
    if encoding is None:
        return None
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError) as error:
        raise ParameterError(
            f"encoding is {encoding!r}, which is no encoding of text that Python knows; expected one such "
            "as 'utf-8', 'cp1251', 'shift_jis' or 'gb18030'."
        ) from error


def warn_of_guesses(encodings: Mapping[Path, str]) -> None:
    """Warn of files whose encoding is only guessed, naming the first of them and the guess."""
    guessed = [path for path, encoding in encodings.items() if encoding in _GUESSES]
    if guessed:
        others = f" (and {len(guessed) - 1} other files)" if len(guessed) > 1 else ""
        warnings.warn(
            f"{readable(guessed[0])}{others} is not UTF-8 and was read as {encodings[guessed[0]]}, which is "
            "a guess. If letters come out wrong, say the encoding, as in encoding='shift_jis' (--encoding on "
            "the command line).",
            RelscapeWarning,
            stacklevel=2,
        )


def encoding_of(path: Path, compression: str | None = None, given: str | None = None) -> str:
    """Find the encoding of a text file by reading all of it; a binary file is refused.

    A byte order mark decides; then UTF-16 without one, seen by its zero bytes; then UTF-8; then the
    one-byte encodings of western Europe (cp1252, or latin-1 where cp1252 has no letter). That last step
    is a guess, of which ``warn_of_guesses`` tells. Where the encoding is given, as ``check_encoding``
    names it, a file that is not written in it is refused.
    """
    if given is not None:
        return _confirmed(path, compression, given)
    decoder = codecs.getincrementaldecoder("utf-8")()
    position, several_bytes = 0, False
    for chunk in chunks(path, compression):
        if position == 0:
            marked = next((name for mark, name in _MARKS if chunk.startswith(mark)), None)
            if marked or (marked := _unmarked_utf16(chunk)):
                return marked
        if b"\0" in chunk:
            raise FormatError(
                f"{readable(path)} is not a text file: byte {position + chunk.index(0)} is zero, and it "
                f"holds {_described(chunk) if position == 0 else 'something else'}. "
                "Give it the ending of what it holds, or leave it out."
            )
        try:
            several_bytes |= not decoder.decode(chunk).isascii()
        except UnicodeDecodeError as error:
            if several_bytes or not error.object[: error.start].isascii():
                raise FormatError(
                    f"{readable(path)} is UTF-8 up to about byte {position + error.start}, where something "
                    "else begins. Save the whole file in one encoding, best UTF-8."
                ) from error
            return _one_byte_encoding(path, compression)
        position += len(chunk)
    return "utf-8"


def _confirmed(path: Path, compression: str | None, encoding: str) -> str:
    """Read all of a file in the encoding it is said to have."""
    if encoding == "utf-8" and next(chunks(path, compression), b"").startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    for piece in decoded(path, compression, encoding):
        if "\0" in piece:
            raise FormatError(
                f"{readable(path)} is not text in {encoding}: it has characters that are zero. Give the "
                "encoding it is written in, or leave it out."
            )
    return encoding


def _unmarked_utf16(chunk: bytes) -> str | None:
    """Recognise UTF-16 without a mark: in most alphabets every other byte is zero."""
    sample = chunk[:4096]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.2 * len(sample) and even == 0:
        return "utf-16-le"
    if even > 0.2 * len(sample) and odd == 0:
        return "utf-16-be"
    return None


def _one_byte_encoding(path: Path, compression: str | None) -> str:
    seen: set[int] = set()
    for chunk in chunks(path, compression):
        if b"\0" in chunk:
            raise FormatError(f"{readable(path)} is not a text file: it holds {_described(chunk)}.")
        seen.update(chunk)
    return "latin-1" if seen & _UNUSED_IN_CP1252 else "cp1252"


def decoded(path: Path, compression: str | None, encoding: str) -> Iterator[str]:
    """Read a text file in pieces, decoded and without a byte order mark."""
    decoder = codecs.getincrementaldecoder(encoding)()
    read = 0
    try:
        for chunk in chunks(path, compression):
            first, read = read == 0, read + len(chunk)
            piece = decoder.decode(chunk)
            yield piece.removeprefix("\ufeff") if first else piece
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{readable(path)} is not {encoding} text: at byte {read - len(error.object) + error.start}, "
            f"{error.reason}. Say the encoding it is written in, or save it again, best as UTF-8."
        ) from error
    except UnicodeError as error:
        raise FormatError(
            f"{readable(path)} is not {encoding} text: {error}. Say the encoding it is written in."
        ) from error
