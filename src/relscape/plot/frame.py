"""What of a map is in the picture: the frame, and what lies outside it."""

from __future__ import annotations

import numpy as np

from relscape.protocols import BoolArray, FloatArray

__all__ = ["inside", "limits", "outside_caption"]

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


def outside_caption(count: int) -> str:
    """Count the points that lie outside the frame, if there are any."""
    return f"{count:,} point{'s' if count != 1 else ''} outside the frame" if count else ""
