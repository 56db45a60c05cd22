"""Neighbour embedding (t-SNE). The one file that touches openTSNE."""

from __future__ import annotations

import numpy as np

from relscape.errors import DataError, ParameterError
from relscape.protocols import FloatArray

__all__ = ["tsne"]


def tsne(points: FloatArray, perplexity: float = 30.0, random_state: int | None = None) -> FloatArray:
    """Arrange points in the plane so that neighbours stay neighbours (van der Maaten and Hinton 2008).

    One thread and a start from the principal axes, so that the same seed gives the same picture.
    """
    if len(points) < 5:
        raise ParameterError(f"a t-SNE layout needs at least 5 points, there are {len(points)}.")
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    if not np.ptp(points, axis=0).any():
        raise DataError("all points lie on one spot; a t-SNE layout has nothing to arrange.")
    from openTSNE import TSNE

    model = TSNE(
        perplexity=min(perplexity, (len(points) - 1) / 3),
        initialization="pca",
        neighbors="exact" if len(points) <= 10_000 else "auto",
        random_state=random_state,
        n_jobs=1,
    )
    return np.asarray(model.fit(points), dtype=np.float64)
