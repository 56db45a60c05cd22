"""Neighbour embedding (t-SNE). The one file that touches openTSNE."""

from __future__ import annotations

import numpy as np

from relscape.errors import DataError, ParameterError
from relscape.protocols import FloatArray

__all__ = ["MIN_POINTS", "tsne"]

MIN_POINTS = 5
_ROUNDS = 500
_SMALL = 1e-4


def tsne(
    points: FloatArray,
    perplexity: float = 30.0,
    random_state: int | None = None,
    start: FloatArray | None = None,
) -> FloatArray:
    """Arrange points in the plane so that neighbours stay neighbours (van der Maaten and Hinton 2008).

    One thread and a start from the principal axes, so that the same seed gives the same picture.
    ``start`` gives a finished picture to continue instead, one position a point: the exaggeration that
    first forms clusters out of nothing is left out, so that what is in its place stays there.
    """
    if len(points) < MIN_POINTS:
        raise ParameterError(f"a t-SNE layout needs at least {MIN_POINTS} points, there are {len(points)}.")
    if start is not None and start.shape != (len(points), 2):
        raise ParameterError(f"start has shape {start.shape}; expected {(len(points), 2)}.")
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    if not np.ptp(points, axis=0).any():
        raise DataError("all points lie on one spot; a t-SNE layout has nothing to arrange.")
    from openTSNE import TSNE

    model = TSNE(
        perplexity=min(perplexity, (len(points) - 1) / 3),
        initialization="pca",
        n_iter=_ROUNDS,
        neighbors="exact" if len(points) <= 10_000 else "auto",
        random_state=random_state,
        n_jobs=1,
    )
    if start is None:
        return np.asarray(model.fit(points), dtype=np.float64)
    # A start of full size is given afterwards: handed over as such, it is warned of on the terminal.
    shrunk = start * (_SMALL / max(float(np.abs(start).max()), _SMALL))
    embedding = model.prepare_initial(points, initialization=shrunk)
    embedding[:] = start
    embedding.optimize(n_iter=_ROUNDS, momentum=model.final_momentum, inplace=True)
    return np.asarray(embedding, dtype=np.float64)
