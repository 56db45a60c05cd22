"""A metric under which linked documents lie nearer than others (structure preserving metric learning).

D_M(i, j) = (v_i − v_j)' M (v_i − v_j) with M positive semidefinite. Of a triple (i, j, k), i is linked to j
and not to k, and j is to be nearer than k by 1:

    λ/2 ‖M‖² + mean over the triples of [D_M(i, j) − D_M(i, k) + 1]₊
"""

from __future__ import annotations

import numpy as np

from relscape.protocols import FloatArray, IntArray

__all__ = ["MetricLoss"]


class MetricLoss:
    """The loss above, of M (d × d), on triples that are named as it is asked.

    Parameters
    ----------
    features : array, n × d
        The documents.
    shrinkage : float
        λ.
    """

    def __init__(self, features: FloatArray, shrinkage: float) -> None:
        self.features, self.shrinkage = features, shrinkage

    def value_and_gradient_of(self, point: FloatArray, terms: IntArray) -> tuple[float, FloatArray]:
        """Give the loss on some triples (T × 3: i, j, k), and a subgradient, which is symmetric."""
        i, j, k = terms.T
        near, far = self.features[i] - self.features[j], self.features[i] - self.features[k]
        gaps = _squares(near, point) - _squares(far, point) + 1.0
        active = gaps > 0
        near, far = near[active], far[active]
        value = 0.5 * self.shrinkage * float(np.sum(point**2)) + float(gaps[active].sum()) / len(terms)
        pull = (near.T @ near - far.T @ far) / len(terms)
        return value, self.shrinkage * point + pull


def _squares(vectors: FloatArray, M: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("td,td->t", vectors @ M, vectors))
