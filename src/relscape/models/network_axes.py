"""The leading directions of contents, however few features there are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import aslinearoperator

from relscape.solvers.spectral import Triplets, thin_svd, truncated_svd

__all__ = ["leading_directions"]


def leading_directions(contents: Any, most: int, rng: np.random.Generator) -> Triplets:
    """Give the ``most`` leading directions of contents (n × d), or all where there are no more.

    All of them are found at once: the iteration that looks for a few cannot find the last.
    """
    if most < min(contents.shape):
        return truncated_svd(aslinearoperator(contents), most, rng)
    return thin_svd(contents.toarray() if issparse(contents) else np.asarray(contents))
