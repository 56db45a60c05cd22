"""Pictures of maps with more than two dimensions: which plane, or which arrangement, is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relscape.errors import ParameterError, UnknownNameError
from relscape.objectives.neighbour import tsne
from relscape.protocols import FloatArray
from relscape.solvers.spectral import thin_svd

__all__ = ["flatten"]

METHODS = ("axes", "pca", "tsne")


def flatten(
    points: Sequence[FloatArray], method: str, axes: tuple[int, int], random_state: int | None
) -> tuple[list[FloatArray], dict[str, Any]]:
    """Bring the points of all kinds into two dimensions together.

    Returns one array of positions a kind, and a description of how they were made.
    """
    stacked = np.vstack(points).astype(np.float64)
    if method == "axes":
        flat = _axes(stacked, axes)
        drawn_by: dict[str, Any] = {"method": "axes", "axes": list(axes)}
    elif method == "pca":
        flat, share = _pca(stacked)
        drawn_by = {"method": "pca", "variance_shown": share}
    elif method == "tsne":
        flat = tsne(stacked, random_state=random_state)
        drawn_by = {"method": "tsne", "random_state": random_state}
    else:
        raise UnknownNameError("layout", method, METHODS)
    ends = np.cumsum([len(p) for p in points])[:-1]
    return list(np.split(flat, ends)), drawn_by


def _axes(points: FloatArray, axes: tuple[int, int]) -> FloatArray:
    k = points.shape[1]
    if k == 1:
        return np.column_stack([points[:, 0], np.zeros(len(points))])
    if len(axes) != 2 or not all(0 <= axis < k for axis in axes):
        raise ParameterError(f"axes={axes}: give two axes between 0 and {k - 1}.")
    return points[:, list(axes)]


def _pca(points: FloatArray) -> tuple[FloatArray, float]:
    centred = points - points.mean(axis=0)
    _, values, directions = thin_svd(centred)
    total = float((values**2).sum())
    share = float((values[:2] ** 2).sum()) / total if total > 0 else 1.0
    plane = np.zeros((len(points), 2))
    plane[:, : min(2, directions.shape[1])] = centred @ directions[:, :2]
    return plane, share
