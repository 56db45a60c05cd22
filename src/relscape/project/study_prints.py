"""Fingerprints of what a result was made from: contents of files, settings, and relscape's own code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from relscape import __version__
from relscape.maps.files import storage_errors
from relscape.postgres import without_secrets
from relscape.project.sections import about
from relscape.project.study_models import Model
from relscape.project.study_uses import Uses
from relscape.sources.databases import table_digest
from relscape.sources.files import Origin, origins

__all__ = ["Digests", "Fingerprint", "model_fingerprint"]

_CHUNK = 2**20
_SHELLS = ("cli", "explorer/static")  # no result depends on them


@dataclass(frozen=True)
class Fingerprint:
    """Three digests: of the data, of the settings, and of the code that makes a result of them."""

    data: str
    settings: str
    code: str

    def change_since(self, stored: Any) -> str | None:
        """Say what differs from a stored fingerprint; None where nothing does."""
        if not isinstance(stored, Mapping):
            return "not made by a run"
        parts = [part for part, value in asdict(self).items() if stored.get(part) != value]
        return f"{' and '.join(parts)} changed" if parts else None

    @property
    def short(self) -> str:
        """Name this fingerprint in a few letters, for directories."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]


class Digests:
    """Digests of the contents of files, each read once; folders count by all files in them."""

    def __init__(self) -> None:
        self._known: dict[Path, str] = {}

    def of(self, paths: Iterable[Origin]) -> str:
        """Digest the contents of files, folders and tables of databases, in their order.

        Names of files in folders count, and so does the order in which a database gives its rows.
        """
        digest = hashlib.sha256()
        for path in paths:
            if not isinstance(path, Path):
                digest.update(f"{path.reference}\0{table_digest(path)}\n".encode())
                continue
            parts = sorted(part for part in path.rglob("*") if part.is_file()) if path.is_dir() else [path]
            for part in parts:
                name = part.relative_to(path).as_posix() if path.is_dir() else ""
                digest.update(f"{name}\0{self._file(part)}\0".encode())
            digest.update(b"\n")
        return digest.hexdigest()

    def forget(self, path: Path) -> None:
        """Read a file again the next time, because it was written."""
        self._known = {
            known: d for known, d in self._known.items() if known != path and path not in known.parents
        }

    def _file(self, path: Path) -> str:
        if path not in self._known:
            digest = hashlib.sha256()
            with storage_errors("read", path), path.open("rb") as stream:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
            self._known[path] = digest.hexdigest()
        return self._known[path]


def model_fingerprint(model: Model, uses: Uses, digests: Digests) -> Fingerprint:
    """Fingerprint all that a model's map depends on; a table that is not there is refused by its key."""
    study = uses.study
    settings = {
        "model": {"method": model.method, "parameters": model.parameters, "data": model.data},
        "kinds": study.kinds,
        "relations": study.relations,
        "guidance": study.guidance if model.method == "projection" else {},
    }
    return Fingerprint(
        "".join(digests.of(paths) for paths in _files(uses)), settings_digest(settings), code_digest()
    )


def _files(uses: Uses) -> list[list[Origin]]:
    """List the files and tables of databases that are read, by the kind or relation that reads them."""
    study = uses.study
    found: list[list[Origin]] = []
    for part, tables in (
        *((f"kinds.{kind.name}", kind.tables) for kind in study.kinds.values()),
        *((f"relations.{relation.name}", relation.tables) for relation in study.relations.values()),
    ):
        if tables:
            with about(study.where(part, "table")):
                found.append(origins(study.located(tables)))
    for kind in study.kinds.values():
        stops = None if kind.text is None else kind.text.stop_words
        if stops not in (None, "english"):
            with about(study.where(f"kinds.{kind.name}", "stop_words")):
                found.append(origins(study.located((str(stops),))))
    if uses.facts is not None:
        found.append(origins(study.located((uses.facts,))))
    return found


def settings_digest(settings: Any) -> str:
    """Digest settings of any plain kind, whatever their order in the file."""
    written = json.dumps(settings, sort_keys=True, default=_plain)
    return hashlib.sha256(without_secrets(written).encode()).hexdigest()  # another password changes nothing


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return dict(value) if isinstance(value, Mapping) else str(value)


@cache
def code_digest() -> str:
    """Digest relscape's own source, and its version: a release, or a change in a working copy, is another."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(__version__.encode())
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(_SHELLS):
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
