"""Runs of long experiments, each kept in a file as soon as it is done, and never done twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from relscape.errors import UnknownNameError
from relscape.maps.files import atomic_file
from relscape.maps.state import read_json, write_json

__all__ = ["RUNS", "Kept", "chosen_names", "kept_or_run", "run_file"]

Kept = dict[str, Any]
RUNS = "runs"  # the folder of runs inside that of the results
_VERSION = 1


def chosen_names(names: Iterable[str], patterns: Iterable[str]) -> set[str]:
    """Choose names by patterns such as "then/*"; all without any, and a pattern that fits none is refused."""
    known, wanted = list(names), list(patterns)
    for pattern in wanted:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise UnknownNameError("training", pattern, known)
    return {name for name in known if not wanted or any(fnmatchcase(name, p) for p in wanted)}


def run_file(folder: Path | None, model: str, settings: Any, data: bytes = b"") -> Path | None:
    """Name the file a run is kept in, by its settings and a digest of its data; without a folder none is."""
    if folder is None:
        return None
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode() + data).hexdigest()[:12]
    return folder / f"{model}-{digest}.json"


def kept_or_run(file: Path | None, form: str, wanted: bool, do: Callable[[], Kept]) -> Kept | None:
    """Read what a run gave, or carry it out and keep it; one that is not wanted is only read.

    Parameters
    ----------
    file : path or None
        Where it is kept; without one nothing is.
    form : str
        The form of the file, refused where it is another.
    wanted : bool
        Whether to do it where nothing is kept.
    do : callable
        Carries it out.
    """
    if file is not None and file.exists():
        return read_json(file, form, _VERSION)
    if not wanted:
        return None
    found = {"format": form, "version": _VERSION, **do()}
    if file is not None:
        with atomic_file(file) as draft:
            write_json(draft, found)
    return found
