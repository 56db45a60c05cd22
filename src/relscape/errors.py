"""What can go wrong, as one tree.

::

    RelscapeError
    ├── InputError (also ValueError)      something given to relscape cannot be used
    │   ├── DataError                     the contents of a table, matrix or data set
    │   ├── ParameterError                a parameter of a model, function or command
    │   └── UnknownNameError (KeyError)   a column, kind, id or method that is not there
    ├── StorageError (also OSError)       a file or directory cannot be read or written
    │   └── FormatError                   a file is not what its name or header says
    ├── ClusterError                      a cluster cannot be reached, or lost what it worked on
    └── MissingExtraError (ImportError)   an optional dependency is not installed

    RelscapeWarning (UserWarning)         something was left out or adjusted; the message says what

Every message says what is wrong, where, and what to do about it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

__all__ = [
    "ClusterError",
    "DataError",
    "FormatError",
    "InputError",
    "MissingExtraError",
    "ParameterError",
    "RelscapeError",
    "RelscapeWarning",
    "StorageError",
    "UnknownNameError",
    "listing",
]

_MOST_COMPARED = 5_000


class RelscapeError(Exception):
    """Base of everything relscape raises on purpose."""


class InputError(RelscapeError, ValueError):
    """Something given to relscape cannot be used."""


class DataError(InputError):
    """The contents of a table, matrix or data set cannot be used."""


class ParameterError(InputError):
    """A parameter has a value that cannot be used."""


class UnknownNameError(InputError, KeyError):
    """A name that is not there; the message lists what is and suggests the nearest."""

    def __init__(self, what: str, name: object, known: Iterable[object], where: str = "") -> None:
        names = [*map(str, known)]
        nearest = [known for known in names if known.lower() == str(name).lower()]
        nearest += difflib.get_close_matches(str(name), _candidates(str(name), names), n=1, cutoff=0.6)
        place = f" in {where}" if where else ""
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        there = f" There are: {listing(names, limit=12)}." if names else " There are none."
        super().__init__(f"no {what} {str(name)!r}{place}.{hint}{there}")

    def __str__(self) -> str:
        """Give the message itself, not its repr as KeyError would."""
        return str(self.args[0])


class StorageError(RelscapeError, OSError):
    """A file or directory cannot be read or written."""


class FormatError(StorageError):
    """A file is not what its name or header says."""


class ClusterError(RelscapeError):
    """A cluster cannot be reached, or lost its workers more often than can be made good."""


class MissingExtraError(RelscapeError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {package}, which is not installed: pip install 'relscape[{extra}]'"
        )


class RelscapeWarning(UserWarning):
    """Something was left out or adjusted; the message says what."""


def _candidates(name: str, names: list[str]) -> list[str]:
    """Keep few enough of the names to compare each with the one sought.

    One slip leaves the first or the second half of a name whole: among many names, those that share a
    half and have about its length are kept, or where there are none, those that share the first letter.
    """
    if len(names) <= _MOST_COMPARED:
        return names
    half = (len(name) + 1) // 2
    head, tail = name[:half], name[-half:]
    alike = (option for option in names if option.startswith(head) or option.endswith(tail))
    found = list(islice((option for option in alike if abs(len(option) - len(name)) <= 2), _MOST_COMPARED))
    return found or list(islice((option for option in names if option[:1] == name[:1]), _MOST_COMPARED))


def listing(names: Iterable[object], limit: int = 5) -> str:
    """Join the first ``limit`` names for a message and count the others.

    >>> listing(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    shown = [*map(str, names)]
    text = ", ".join(repr(name) for name in shown[:limit])
    return f"{text} and {len(shown) - limit} more" if len(shown) > limit else text
