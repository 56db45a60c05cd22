"""The built page: read once into memory, so that nothing else can ever be served."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass
from pathlib import Path

from relscape.errors import StorageError
from relscape.maps.files import storage_errors

__all__ = ["Page", "is_built", "load_page", "media_type"]

FOLDER = Path(__file__).parent / "static"
INDEX = "index.html"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class Page:
    """The files of the page by their paths, such as ``assets/explorer.js``; ``index.html`` is among them."""

    files: dict[str, bytes]

    @property
    def index(self) -> str:
        """The page itself."""
        return self.files[INDEX].decode()


def is_built(folder: Path | None = None) -> bool:
    """Tell whether the page was built when relscape was installed."""
    return ((folder or FOLDER) / INDEX).is_file()


def load_page(folder: Path | None = None) -> Page:
    """Read the built page; where there is none, say how to build it."""
    place = folder or FOLDER
    if not is_built(place):
        raise StorageError(
            "the explorer's page was not built when relscape was installed (without a network, or with "
            "RELSCAPE_SKIP_WEB set). Install relscape again, or in a clone of it run 'npm ci' and 'npm run "
            "build' in the folder web."
        )
    with storage_errors("read", place):
        names = sorted(path for path in place.rglob("*") if path.is_file() and not path.name.startswith("."))
        return Page({path.relative_to(place).as_posix(): path.read_bytes() for path in names})


def media_type(name: str) -> str:
    """Say what a file of the page is; the same on every machine for the kinds that it has."""
    suffix = Path(name).suffix
    return _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
