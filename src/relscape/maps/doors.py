"""The one door from a map to the rooms above and beside it, opened only when used.

The import law (CONTRIBUTING.md) allows these imports as its only exceptions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from relscape.maps.map import Map
    from relscape.maps.publishing import Publication

__all__ = [
    "draw_map",
    "explore_map",
    "export_map",
    "load_map",
    "publish_map",
    "save_map",
    "show_in_notebook",
    "write_page",
]


def save_map(map_: Map, path: Path) -> Path:
    """Write a map as a directory."""
    from relscape.maps.store import write_map

    return write_map(map_, path)


def load_map(path: Path) -> Map:
    """Read a map from a directory."""
    from relscape.maps.store import read_map

    return read_map(path)


def export_map(map_: Map, path: Path, format: str | None) -> Path:
    """Write a map for another program."""
    from relscape.maps.export import export_map as export

    return export(map_, path, format)


def publish_map(map_: Map, address: str, name: str, schema: str, dry_run: bool) -> Publication:
    """Put a map into a PostgreSQL database."""
    from relscape.maps.publishing import publish_map as publish

    return publish(map_, address, name, schema, dry_run)


def draw_map(map_: Map, **options: Any) -> Figure:
    """Draw a map as a static picture."""
    from relscape.plot import draw_map as draw

    return draw(map_, **options)


def explore_map(map_: Map, *given: Any, **options: Any) -> Any:
    """Open a map in a browser."""
    from relscape.explorer import explore

    return explore(map_, *given, **options)


def write_page(map_: Map, path: Path, **options: Any) -> Path:
    """Write a map as one HTML file."""
    from relscape.explorer import to_html

    return to_html(map_, path, **options)


def show_in_notebook(map_: Map) -> str:
    """Give a map as a notebook shows it."""
    from relscape.explorer import notebook_page

    return notebook_page(map_)
