"""The one door from a map to the rooms above and beside it, opened only when used.

The import law (CONTRIBUTING.md) allows these imports as its only exceptions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from relscape.maps.map import Map

__all__ = ["draw_map", "load_map", "save_map"]


def save_map(map_: Map, path: Path) -> Path:
    """Write a map as a directory."""
    from relscape.maps.store import write_map

    return write_map(map_, path)


def load_map(path: Path) -> Map:
    """Read a map from a directory."""
    from relscape.maps.store import read_map

    return read_map(path)


def draw_map(map_: Map, **options: Any) -> Figure:
    """Draw a map as a static picture."""
    from relscape.plot import draw_map as draw

    return draw(map_, **options)
