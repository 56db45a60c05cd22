"""Pictures of maps with more than two dimensions: which plane, or which arrangement, is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from relscape.errors import ParameterError, UnknownNameError
from relscape.maps.group import Group
from relscape.protocols import FloatArray
from relscape.solvers.spectral import thin_svd

__all__ = ["checked_axes", "continued", "flatten", "linear_picture", "picture_of", "shown_share", "with_one"]

METHODS = ("axes", "pca", "tsne")
_NEAREST = 5
_LINEAR = 1e-6


def flatten(
    points: Sequence[FloatArray], method: str, axes: tuple[int, int], random_state: int | None
) -> tuple[list[FloatArray], dict[str, Any]]:
    """Bring the points of all kinds into two dimensions together.

    Returns one array of positions a kind, and a description of how they were made.
    """
    stacked = np.vstack(points).astype(np.float64)
    if method == "axes":
        chosen = checked_axes(axes, stacked.shape[1])
        flat = _axes(stacked, chosen)
        drawn_by: dict[str, Any] = {"method": "axes", "axes": chosen}
    elif method == "pca":
        flat, share = _pca(stacked)
        drawn_by = {"method": "pca", "variance_shown": share}
    elif method == "tsne":
        from relscape.objectives.neighbour import tsne  # compiled code, which only this layout needs

        flat = tsne(stacked, random_state=random_state)
        drawn_by = {"method": "tsne", "random_state": random_state}
    else:
        raise UnknownNameError("layout", method, METHODS)
    ends = np.cumsum([len(p) for p in points])[:-1]
    return list(np.split(flat, ends)), drawn_by


def checked_axes(axes: Any, dimensions: int) -> list[int]:
    """Give the two axes to draw; a map of one dimension has its axis and a zero."""
    highest = max(dimensions, 2) - 1
    given = list(axes) if isinstance(axes, Sequence | np.ndarray) and not isinstance(axes, str) else []
    fits = [
        isinstance(axis, Integral) and not isinstance(axis, bool) and 0 <= int(axis) <= highest
        for axis in given
    ]
    if len(fits) != 2 or not all(fits):
        raise ParameterError(f"axes={axes!r}: give two axes between 0 and {highest}, as whole numbers.")
    return [int(axis) for axis in given]


def _axes(points: FloatArray, axes: list[int]) -> FloatArray:
    if points.shape[1] == 1:
        return np.column_stack([points[:, 0], np.zeros(len(points))])
    return points[:, axes]


def _pca(points: FloatArray) -> tuple[FloatArray, float]:
    centred = points - points.mean(axis=0)
    _, values, directions = thin_svd(centred)
    total = float((values**2).sum())
    share = float((values[:2] ** 2).sum()) / total if total > 0 else 1.0
    plane = np.zeros((len(points), 2))
    plane[:, : min(2, directions.shape[1])] = centred @ directions[:, :2]
    return plane, share


def shown_share(coordinates: FloatArray, layout: FloatArray) -> float:
    """Say what share of the variance a projection onto a plane shows."""
    total = float(coordinates.var(axis=0).sum())
    return float(layout.var(axis=0).sum()) / total if total > 0 else 1.0


def picture_of(groups: Iterable[Group]) -> tuple[FloatArray, FloatArray]:
    """Stack the coordinates of all kinds, and their positions in the picture."""
    pairs = [(group.coordinates, group.drawn) for group in groups]
    coordinates, layout = (np.vstack(part) for part in zip(*pairs, strict=True))
    return coordinates, layout


def with_one(points: FloatArray) -> FloatArray:
    """Add a column of ones, so that a matrix can shift as well."""
    return np.column_stack([points, np.ones(len(points))])


def linear_picture(coordinates: FloatArray, layout: FloatArray) -> FloatArray | None:
    """Find the matrix with ``layout = with_one(coordinates) @ matrix``; None when the picture is not linear.

    Pictures by axes or PCA have one, a t-SNE has none.
    """
    matrix, *_ = np.linalg.lstsq(with_one(coordinates), layout, rcond=None)
    spread = max(float(np.abs(layout).max(initial=0.0)), np.finfo(float).tiny)
    error = float(np.abs(with_one(coordinates) @ matrix - layout).max(initial=0.0))
    return np.asarray(matrix) if error <= _LINEAR * spread else None


def continued(coordinates: FloatArray, layout: FloatArray, points: FloatArray) -> FloatArray:
    """Find where new points go in a picture.

    Layouts by axes or PCA are linear in the coordinates and are continued exactly; any other puts a
    point among the nearest ones it has, each weighted by its closeness.
    """
    matrix = linear_picture(coordinates, layout)
    if matrix is not None:
        return with_one(points) @ matrix
    ranks = range(1, min(_NEAREST, len(coordinates)) + 1)
    distances, nearest = cKDTree(coordinates).query(points, k=ranks)
    weights = 1.0 / np.maximum(distances, 1e-12 * max(float(distances.max(initial=0.0)), 1e-300))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("qk,qkd->qd", weights, layout[nearest]))
