"""Paths as people write them: from their home folder, or leading nowhere, and what they may have meant."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path

from relscape.errors import StorageError

__all__ = ["expanded", "meant"]


def expanded(path: str | os.PathLike[str]) -> Path:
    """Give a path with ``~`` and ``~name`` replaced by the folder of that user."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        user = Path(path).parts[0]
        raise StorageError(
            f"{os.fspath(path)!r}: no home folder of {user!r} is known here. Write the whole path, or begin "
            f"with './' where the name itself begins with '~'."
        ) from error


def meant(path: Path, fits: Callable[[Path], bool] = Path.exists) -> str:
    """Suggest the path of the nearest spelling that fits, as a sentence to add to a message.

    The first part that does not exist is replaced by what its folder holds, and so on to the last. Where
    nothing is alike, the folder that is missing is named, or nothing is said.
    """
    found = _nearest(path, fits)
    if found is not None:
        return f" Did you mean {str(found)!r}?"
    if not path.parent.exists():
        return f" Nor is there a folder {str(path.parent)!r}."
    return ""


def _nearest(path: Path, fits: Callable[[Path], bool]) -> Path | None:
    if path.parent == path:
        return None
    folder = path.parent if path.parent.is_dir() else _nearest(path.parent, Path.is_dir)
    if folder is None:
        return None
    try:
        if folder != path.parent and fits(folder / path.name):
            return folder / path.name
        held = [entry.name for entry in folder.iterdir()]
        alike = [folder / name for name in difflib.get_close_matches(path.name, held, n=5)]
        return next((found for found in alike if _stems_alike(found, path) and fits(found)), None)
    except OSError:  # a folder that may not be looked into
        return None


def _stems_alike(one: Path, other: Path) -> bool:
    """Tell whether names are alike without their endings, which say little of what was meant."""
    return difflib.SequenceMatcher(None, one.stem, other.stem).ratio() >= 0.6
