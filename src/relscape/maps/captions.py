"""What the picture of a map shows, in words: its axes, and how its layout was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relscape.maps.map import Map

__all__ = ["axis_captions", "dimensions_told", "layout_caption"]


def axis_captions(map_: Map) -> tuple[str, str]:
    """Say what the two axes of the picture are, with their inertia where known; a t-SNE layout has none."""
    # Shares belong to the axes of the model; a map aligned to another has axes of the other.
    inertia = [] if "aligned" in map_.provenance else _shares(map_.provenance.get("axis_inertia"))
    method, dimensions = map_.drawn_by.get("method"), map_.n_components
    if method == "axes" and dimensions == 1:
        return _axis_caption(0, dimensions, inertia), ""
    if method == "axes" and "axes" in map_.drawn_by:
        first, second = (_axis_caption(int(axis), dimensions, inertia) for axis in map_.drawn_by["axes"])
        return first, second
    if method == "pca":
        return "first principal axis", "second principal axis"
    return "", ""


def dimensions_told(map_: Map) -> str:
    """Count the dimensions of a map in words."""
    return "1 dimension" if map_.n_components == 1 else f"{map_.n_components} dimensions"


def _shares(told: Any) -> Sequence[float]:
    """Give the inertia of the axes; none where what a map was made from has something else by that name."""
    return told if isinstance(told, list) and all(isinstance(share, float) for share in told) else []


def _axis_caption(axis: int, dimensions: int, inertia: Sequence[float]) -> str:
    share = f" ({100 * inertia[axis]:.1f} %)" if axis < len(inertia) else ""
    return f"axis {axis + 1} of {dimensions}{share}"


def layout_caption(drawn_by: Mapping[str, Any]) -> str:
    """Say how the layout was made, where it is not the map's own axes."""
    method = drawn_by.get("method")
    if method == "axes":
        return ""
    if method == "pca" and "variance_shown" in drawn_by:
        return f"PCA layout, {100 * float(drawn_by['variance_shown']):.0f} % of variance"
    if method == "tsne":
        return "t-SNE layout: nearness counts, directions do not"
    if method == "pca":
        return "PCA layout"
    return f"layout: {method}" if method else "layout as given"
