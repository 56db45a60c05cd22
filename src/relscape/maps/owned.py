"""Which files of a directory belong to a saved map: what replacing it may remove, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from relscape.errors import StorageError
from relscape.maps.files import restore_directory
from relscape.maps.state import MODEL_FILES, read_json

__all__ = ["ARRAYS", "FORMAT", "VERSION", "in_order", "map_files", "owned_files"]

FORMAT = "relscape-map"
VERSION = 1
ARRAYS = "arrays.safetensors"
_TABLE = re.compile(r"[\w-]+\.parquet")
_RELATION = re.compile(r"relations/[\w-]+\.parquet")


def owned_files(path: Path) -> set[str] | None:
    """Name the files of the map in a directory; None when the directory is not a map.

    Its header is not believed further than a map is ever written: a name in it that no map of ours has,
    such as ``thesis.txt``, is that of somebody else's file.
    """
    try:
        header = read_json(path / "map.json", FORMAT, VERSION)
        tables = [str(entry["file"]) for entry in header["groups"]]
        relations = [str(entry["file"]) for entry in header["relations"]]
        arrays, model = header["arrays"], header["model_directory"]
    except (StorageError, OSError, KeyError, TypeError):
        return None
    owned = {"map.json", *(name for name in relations if _RELATION.fullmatch(name) and _is_file(path / name))}
    for name in filter(_TABLE.fullmatch, tables):
        owned |= _table_files(path, name)
    if arrays == ARRAYS:
        owned.add(ARRAYS)
    if model:
        owned |= {f"model/{name}" for name in MODEL_FILES}
    return owned


def _table_files(path: Path, name: str) -> set[str]:
    """Name a table; where it is a folder that holds other things than its parts, only the parts."""
    place = path / name
    if _is_file(place):
        return {name}
    entries = list(place.iterdir())
    parts = {entry.name for entry in in_order(place) if _is_file(entry)}
    return {name} if len(parts) == len(entries) else {f"{name}/{part}" for part in parts}


def _is_file(place: Path) -> bool:
    """Tell whether something is no folder; a link is removed as such, not what it leads to."""
    return place.is_symlink() or not place.is_dir()


def in_order(folder: Path) -> list[Path]:
    """List the files that a table in parts consists of."""
    return sorted(folder.glob("*.parquet"))


def map_files(path: Path) -> list[Path] | None:
    """List the files of a map, in a fixed order; None where there is no map, or one that is not whole."""
    restore_directory(path, owned_files)
    names = owned_files(path) if path.is_dir() else None
    if names is None:
        return None
    places = [path / name for name in sorted(names)]
    files = [file for place in places for file in (in_order(place) if place.is_dir() else [place])]
    return files if all(file.is_file() for file in files) else None
