"""How the text of a file is written: found by reading it, and decoded piece by piece."""

from __future__ import annotations

import codecs
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from relscape.errors import FormatError, ParameterError, RelscapeWarning
from relscape.sources.files import chunks, described, readable

__all__ = ["check_encoding", "decoded", "encoding_of", "warn_of_guesses"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_GUESSES = {"cp1252", "latin-1"}
_UNUSED_IN_CP1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")


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
            held = described(chunk) if position == 0 else ""
            raise FormatError(
                f"{readable(path)} is not a text file: byte {position + chunk.index(0)} is zero"
                f"{f', and it holds {held}' if held and 'else' not in held else ''}. "
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
            raise FormatError(f"{readable(path)} is not a text file: it holds {described(chunk)}.")
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
