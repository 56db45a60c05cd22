r"""BibTeX: entries with their fields, macros filled in and LaTeX's accents written as letters."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from relscape.errors import FormatError

__all__ = ["Entry", "author_names", "parse_bibtex", "plain_text"]

_MONTHS = {
    "jan": "January", "feb": "February", "mar": "March", "apr": "April", "may": "May", "jun": "June",
    "jul": "July", "aug": "August", "sep": "September", "oct": "October", "nov": "November",
    "dec": "December",
}  # fmt: skip
_ACCENTS = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a", "d": "\u0323",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "i": "i", "j": "j",
}  # fmt: skip
_ACCENTED = re.compile(
    r"\\([\"'`^~=.])\s*\{?\s*\\?([A-Za-z])\s*\}?"
    r"|\\([cvuHkrd])(?:\s*\{\s*\\?([A-Za-z])\s*\}|\s+([A-Za-z]))"
)
_LETTER = re.compile(r"\\(ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j)(?![A-Za-z])\s*")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?\s*")


class Entry(NamedTuple):
    """One entry: what it is, its key, and its fields by their names in lower case."""

    kind: str
    key: str
    fields: dict[str, str]


def parse_bibtex(text: str, where: str) -> list[Entry]:
    """Read all entries of a file; one that is cut off is refused with the line it begins on."""
    return _Parser(text, where).entries()


class _Parser:
    def __init__(self, text: str, where: str) -> None:
        self.text, self.where, self.at = text, where, 0
        self.begin = 0
        self.macros = dict(_MONTHS)

    def entries(self) -> list[Entry]:
        found = []
        while (at := self.text.find("@", self.at)) >= 0:
            self.begin, self.at = at, at + 1
            kind = self._word().lower()
            self._blanks()
            if not kind or self.text[self.at : self.at + 1] not in ("{", "("):
                continue
            if kind == "comment" and self.text[self.at] == "{":
                self._braced()
                continue
            close = "}" if self.text[self.at] == "{" else ")"
            self.at += 1
            if kind == "preamble":
                self._value()
            elif kind == "string":
                self.macros |= self._fields(close)
            else:
                found.append(self._entry(kind, close))
        return found

    def _entry(self, kind: str, close: str) -> Entry:
        self._blanks()
        end = re.compile(r"[,\s" + re.escape(close) + "]").search(self.text, self.at)
        if end is None:
            raise self._cut_off()
        key = self.text[self.at : end.start()]
        self.at = end.start()
        self._blanks()
        if self._next() == ",":
            self.at += 1
        return Entry(kind, key, self._fields(close))

    def _fields(self, close: str) -> dict[str, str]:
        fields: dict[str, str] = {}
        while True:
            self._blanks()
            if self._next() == ",":
                self.at += 1
                continue
            if self._next() == close:
                self.at += 1
                return fields
            name = self._word().lower()
            self._blanks()
            if not name or self._next() != "=":
                raise self._fault("expected a field, written name = {value}")
            self.at += 1
            fields.setdefault(name, self._value())

    def _value(self) -> str:
        parts = []
        while True:
            self._blanks()
            start = self._next()
            if start == "{":
                parts.append(self._braced())
            elif start == '"':
                parts.append(self._quoted())
            else:
                word = self._word(r"[^\s,#{}()\"=]+")
                if not word:
                    raise self._fault("a value is missing")
                parts.append(self.macros.get(word.lower(), word))
            self._blanks()
            if self._next() != "#":
                return "".join(parts)
            self.at += 1

    def _braced(self) -> str:
        start, depth = self.at + 1, 0
        for found in re.compile(r"\\.|[{}]", re.DOTALL).finditer(self.text, self.at):
            depth += {"{": 1, "}": -1}.get(found[0], 0)
            if depth == 0:
                self.at = found.end()
                return self.text[start : found.start()]
        raise self._cut_off()

    def _quoted(self) -> str:
        start, depth = self.at + 1, 0
        for found in re.compile(r'\\.|[{}"]', re.DOTALL).finditer(self.text, start):
            depth += {"{": 1, "}": -1}.get(found[0], 0)
            if depth == 0 and found[0] == '"':
                self.at = found.end()
                return self.text[start : found.start()]
        raise self._cut_off()

    def _word(self, pattern: str = r"[^\s,=#{}()\"@]+") -> str:
        self._blanks()
        found = re.compile(pattern).match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def _blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise self._cut_off()
        return self.text[self.at]

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def _fault(self, what: str) -> FormatError:
        return FormatError(f"{self.where}, line {self._line(self.at)}: {what}. Correct the entry.")

    def _cut_off(self) -> FormatError:
        return FormatError(
            f"{self.where}, line {self._line(self.begin)}: the entry that begins here is not closed. Close "
            "its braces and quotes, or complete the file."
        )


def plain_text(value: str) -> str:
    r"""Write what LaTeX means: accents as letters, without commands and braces.

    >>> plain_text(r"{\"U}ber G{\"o}del, {E}scher \& \v{C}ech")
    'Über Gödel, Escher & Čech'
    """

    def accented(found: re.Match[str]) -> str:
        mark = found[1] or found[3]
        letter = found[2] or found[4] or found[5]
        return unicodedata.normalize("NFC", letter + _ACCENTS[mark])

    text = _ACCENTED.sub(accented, value)
    text = _LETTER.sub(lambda found: _LETTERS[found[1]], text)
    text = re.sub(r"\\([&%$#_{}])", r"\1", text)
    text = _COMMAND.sub("", text)
    text = text.replace("---", "\u2014").replace("--", "\u2013").replace("~", " ")
    return " ".join(text.translate({ord(mark): None for mark in "{}"}).split())


def author_names(value: str) -> list[str]:
    """Take a list of authors apart: First Last, whichever way round each is written.

    >>> author_names("Knuth, Donald E. and {Free Software and Friends} and Steele, Jr., Guy and others")
    ['Donald E. Knuth', 'Free Software and Friends', 'Guy Steele Jr.']
    """
    names = []
    for author in _split(value, re.compile(r"\s+and\s+", re.IGNORECASE)):
        parts = [plain_text(part) for part in _split(author, re.compile(","))]
        parts = [part for part in parts if part]
        name = " ".join([parts[-1], *parts[:-1]]) if parts else ""
        if name and name.lower() != "others":
            names.append(name)
    return names


def _split(value: str, mark: re.Pattern[str]) -> list[str]:
    """Cut a text at marks outside of braces."""
    pieces, start, depth, at = [], 0, 0, 0
    while at < len(value):
        depth += {"{": 1, "}": -1}.get(value[at], 0)
        found = mark.match(value, at) if depth == 0 else None
        if found:
            pieces.append(value[start:at])
            start = at = found.end()
        else:
            at += 1
    return [*pieces, value[start:]]
