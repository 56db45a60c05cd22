"""How much memory the content of a file may ask for, by the size of the file."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["asks_too_much", "most_unpacked"]

_LARGE = 2**30  # bytes that may be unpacked from whatever little
_MOST_EXPANDED = 250  # times its size that a larger file may grow


def most_unpacked(path: Path) -> int:
    """Give the bytes that a file may unpack to at most."""
    return max(_LARGE, _MOST_EXPANDED * path.stat().st_size)


def asks_too_much(error: MemoryError, path: Path) -> bool:
    """Tell whether Arrow was refused more memory than a file can hold: damage, not a shortage."""
    asked = re.search(r"size (\d+) failed", str(error))
    return asked is not None and int(asked[1]) > most_unpacked(path)
