"""What of a map is in the picture: the frame, and how it is captioned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from relscape.protocols import BoolArray, FloatArray

__all__ = ["axis_captions", "inside", "layout_caption", "limits", "outside_caption"]

OUTSIDE = 0.005
MARGIN = 0.06
REACH = 1.5


def limits(points: FloatArray, full: bool) -> FloatArray:
    """Give the lower and upper corner of the frame.

    A few points far out must not squeeze all others into a dot: an axis ends at its 0.5 % and 99.5 %
    quantiles with a margin, unless the outermost point is hardly farther out, or all is asked for.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    if not full:
        near, far = np.quantile(points, [OUTSIDE, 1.0 - OUTSIDE], axis=0)
        keeps_all = (high - low) <= REACH * (far - near)
        low, high = np.where(keeps_all, low, near), np.where(keeps_all, high, far)
    spread = high - low
    spread = np.where(spread > 0, spread, spread.max() if spread.max() > 0 else 1.0)
    return np.array([low - MARGIN * spread, high + MARGIN * spread])


def inside(points: FloatArray, corners: FloatArray) -> BoolArray:
    """Say which points lie in the frame."""
    return np.asarray(((points >= corners[0]) & (points <= corners[1])).all(axis=1))


def axis_captions(
    drawn_by: Mapping[str, Any], dimensions: int, inertia: Sequence[float] = ()
) -> tuple[str, str]:
    """Say what the two axes of the picture are; a t-SNE layout has none.

    ``inertia`` gives the share of each of the map's own axes, where the model knows it.
    """
    method = drawn_by.get("method")
    if method == "axes" and dimensions == 1:
        return _axis_caption(0, dimensions, inertia), ""
    if method == "axes":
        first, second = (_axis_caption(int(axis), dimensions, inertia) for axis in drawn_by["axes"])
        return first, second
    if method == "pca":
        return "first principal axis", "second principal axis"
    return "", ""


def _axis_caption(axis: int, dimensions: int, inertia: Sequence[float]) -> str:
    share = f" ({100 * inertia[axis]:.1f} %)" if axis < len(inertia) else ""
    return f"axis {axis + 1} of {dimensions}{share}"


def layout_caption(drawn_by: Mapping[str, Any]) -> str:
    """Say how the layout was made, where it is not the map's own axes."""
    method = drawn_by.get("method")
    if method == "axes":
        return ""
    if method == "pca":
        return f"PCA layout, {100 * float(drawn_by['variance_shown']):.0f} % of variance"
    if method == "tsne":
        return "t-SNE layout: nearness counts, directions do not"
    return f"layout: {method}" if method else "layout as given"


def outside_caption(count: int) -> str:
    """Count the points that lie outside the frame, if there are any."""
    return f"{count:,} point{'s' if count != 1 else ''} outside the frame" if count else ""
