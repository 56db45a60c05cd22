"""One table of a project file at a time: values of the right type, or a message with file, table and key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from relscape.errors import DataError, InputError, ParameterError, StorageError, UnknownNameError

__all__ = ["Section", "about"]

_TYPES = {bool: "a truth value", int: "a number", float: "a number", str: "a text", list: "a list"}


class Section:
    """A table such as ``[kinds.image]``: what it says, and how messages call it.

    Parameters
    ----------
    file : str
        The project file, as a person knows it.
    name : str
        The table, such as "kinds.image"; empty for the file as a whole.
    content : mapping
        Its keys and values.
    """

    def __init__(self, file: str, name: str, content: Mapping[str, Any]) -> None:
        self.file = file
        self.name = name
        self.content = content

    def where(self, key: str = "") -> str:
        """Say where a key, or the table itself, stands."""
        table = f", [{self.name}]" if self.name else ""
        return f"{self.file}{table}{f' {key}' if key else ''}"

    def fault(self, key: str, expected: str) -> ParameterError:
        """Make the error of a value that is not what it should be."""
        return ParameterError(f"{self.where(key)}: {shown(self.content.get(key))}; {expected}")

    def only(self, known: Sequence[str]) -> None:
        """Refuse keys that mean nothing here."""
        for key in self.content:
            if key not in known:
                raise UnknownNameError("key", key, known, self.where())

    def together(self, keys: Sequence[str], why: str) -> None:
        """Refuse more than one of some keys."""
        given = [key for key in keys if key in self.content]
        if len(given) > 1:
            raise ParameterError(f"{self.where()}: {' and '.join(given)} are both given; {why}")

    def needs(self, keys: Sequence[str], another: str) -> None:
        """Refuse keys that say nothing without another."""
        given = [key for key in keys if key in self.content]
        if given and another not in self.content:
            raise ParameterError(
                f"{self.where(given[0])}: this has a meaning together with {another} only; give that too, or "
                "leave it out."
            )

    def text(self, key: str, example: str) -> str | None:
        """Read one text that is not empty; None where the key is not there."""
        value = self.content.get(key)
        if key in self.content and not (isinstance(value, str) and value.strip()):
            raise self.fault(key, f'expected a text, such as {key} = "{example}".')
        return value

    def needed(self, key: str, example: str) -> str:
        """Read a text that has to be there."""
        value = self.text(key, example)
        if value is None:
            raise ParameterError(f'{self.where()}: {key} is missing; write one, such as {key} = "{example}".')
        return value

    def texts(self, key: str, example: str) -> tuple[str, ...]:
        """Read one text, or a list of them; nothing where the key is not there."""
        if key not in self.content:
            return ()
        value = self.content[key]
        listed = [value] if isinstance(value, str) else value
        sound = isinstance(listed, list) and all(isinstance(one, str) and one.strip() for one in listed)
        if not sound or not listed:
            raise self.fault(key, f"expected a text, or a list of them, such as {key} = {example}.")
        return tuple(listed)

    def choice(self, key: str, known: Sequence[str]) -> str | None:
        """Read one of some words; None where the key is not there."""
        value = self.text(key, known[0])
        if value is not None and value not in known:
            raise UnknownNameError(key, value, known, self.where())
        return value

    def number(self, key: str, low: float, high: float) -> float:
        """Read a number between two others."""
        value = self.content[key]
        span = f"of at least {low:g}" if math.isinf(high) else f"from {low:g} to {high:g}"
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.fault(key, f"expected a number {span}.")
        if not (math.isfinite(value) and low <= value <= high):
            raise ParameterError(f"{self.where(key)}: {value!r} is not a number {span}; write one.")
        return float(value)

    def truth(self, key: str) -> bool:
        """Read true or false; false where the key is not there."""
        value = self.content.get(key, False)
        if not isinstance(value, bool):
            raise self.fault(key, f"expected true or false, such as {key} = true.")
        return value

    def tables(self, key: str) -> dict[str, Section]:
        """Read the tables below a key, such as all ``[kinds.NAME]``, in their order."""
        content = self.content.get(key, {})
        if not isinstance(content, Mapping):
            raise self.fault(key, f"expected tables, each with a name: [{key}.NAME].")
        found = {}
        for name, inner in content.items():
            if not isinstance(inner, Mapping):
                raise ParameterError(
                    f"{self.file}, [{key}] {name}: {shown(inner)}; expected a table, [{key}.{name}]."
                )
            if not name.strip() or ":" in name:
                raise ParameterError(
                    f"{self.file}, [{key}]: the name {name!r} is empty or has a colon, which parts a kind "
                    "from an id; give another."
                )
            found[name] = Section(self.file, f"{key}.{name}", inner)
        return found


def shown(value: Any) -> str:
    """Show a value, and say what it is, for a message."""
    if isinstance(value, Mapping):
        return "this is a table"
    text = repr(value)
    short = text if len(text) <= 60 else f"{text[:57]}..."
    return f"{short} is {_TYPES.get(type(value), 'a date or time')}"


@contextmanager
def about(where: str) -> Iterator[None]:
    """Say in every complaint about what is read here which part of the project file asked for it."""
    try:
        yield
    except StorageError as error:
        raise StorageError(f"{where}: {error}") from error
    except InputError as error:
        raise DataError(f"{where}: {error}") from error
