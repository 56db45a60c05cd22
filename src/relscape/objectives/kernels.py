"""MKPE: places whose Gaussian kernel is the similarity that was given (Gönen 2014).

For similarities K (m × n, in [0, 1]) of row points X and column points Z and a width σ,

    κ_ij = exp(−‖x_i − z_j‖² / σ²),    J = Σ_ij (κ_ij − K_ij)² / (m n),

has with W = κ ∘ (κ − K) the derivatives

    ∂J/∂X = −4 (D(W1) X − W Z) / (m n σ²),    ∂J/∂Z = −4 (D(Wᵀ1) Z − Wᵀ X) / (m n σ²),
    ∂J/∂ log σ = 4 Σ W ∘ D² / (m n σ²).

Two sums make W up: Σ κ² runs over all pairs and comes from the Gauss sums of CODE, without an array of pairs;
Σ κK runs over the similarities that are not 0 only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist

from relscape.errors import DataError
from relscape.objectives.gauss_sums import joint_sums
from relscape.protocols import FloatArray

__all__ = ["KernelObjective", "Similarities", "kernel_misfit"]

_BLOCK_PAIRS = 500_000  # of a dense table at a time
_EXTREME = 100.0  # a logarithm of a width beyond this changes nothing any more


@dataclass(frozen=True, eq=False)
class Similarities:
    """Similarities of two kinds, or within one, made once for many evaluations.

    Parameters
    ----------
    matrix : array or sparse array, m × n
        Between 0 and 1; what a sparse array does not hold is 0.
    what : str
        What it is called in messages.

    Attributes
    ----------
    squares : float
        Σ K².
    """

    matrix: Any
    what: str = "the similarities"
    squares: float = field(init=False)

    def __post_init__(self) -> None:
        """Check the range, and sum up the squares."""
        values = self.matrix.data if issparse(self.matrix) else self.matrix
        if not np.isfinite(values).all():
            raise DataError(f"{self.what}: some entries are NaN or infinite; expected numbers from 0 to 1.")
        if values.size and not (values.min() >= 0 and values.max() <= 1):
            raise DataError(
                f"{self.what}: entries lie between {values.min():.3g} and {values.max():.3g}; expected "
                "numbers from 0 (unlike) to 1 (the same). Divide them by the largest."
            )
        object.__setattr__(self, "squares", float(np.vdot(values, values)))

    @property
    def shape(self) -> tuple[int, int]:
        """Give the number of row and of column objects."""
        m, n = self.matrix.shape
        return int(m), int(n)


class _Moments(NamedTuple):
    """What weights P of pairs sum up to: all, by rows, by columns, P Z and Pᵀ X."""

    total: float
    rows: FloatArray
    columns: FloatArray
    times: FloatArray
    transposed_times: FloatArray


def kernel_misfit(
    given: Similarities, left: FloatArray, right: FloatArray, log_width: float
) -> tuple[float, FloatArray, FloatArray, float]:
    """Give the misfit J of a map, and its derivatives for row points, column points and log σ.

    Similarities within one kind have the same points on both sides; the two gradients then add up.
    """
    m, n = given.shape
    square = float(np.exp(2 * np.clip(log_width, -_EXTREME, _EXTREME)))
    all_, met = _squared_kernel(left, right, square), _kernel_times(given.matrix, left, right, square)
    value = (all_.total - 2 * met.total + given.squares) / (m * n)
    factor = -4 / (m * n * square)
    rows, columns = all_.rows - met.rows, all_.columns - met.columns
    left_gradient = factor * (rows[:, None] * left - (all_.times - met.times))
    right_gradient = factor * (columns[:, None] * right - (all_.transposed_times - met.transposed_times))
    # Σ W ∘ D² = Σ x · (D(W1) X − W Z) + Σ z · (D(Wᵀ1) Z − Wᵀ X)
    spread = float(np.vdot(left, left_gradient) + np.vdot(right, right_gradient))
    return float(value), left_gradient, right_gradient, -spread


class KernelObjective:
    """The misfit between two kinds, and a weight times that within each, of one flat vector.

    The vector holds the row points, the column points and log σ, one after the other.

    Parameters
    ----------
    between : Similarities
        m × n.
    rows, columns : Similarities, optional
        m × m and n × n.
    within_weight : float
        What the misfits within a kind count, against 1 for that between the kinds.
    n_components : int
        Dimension of the points.
    """

    def __init__(
        self,
        between: Similarities,
        rows: Similarities | None = None,
        columns: Similarities | None = None,
        within_weight: float = 0.1,
        n_components: int = 2,
    ) -> None:
        self.between, self.within = between, (rows, columns)
        self.within_weight, self.n_components = within_weight, n_components

    def packed(self, left: FloatArray, right: FloatArray, log_width: float) -> FloatArray:
        """Put points and width into one vector."""
        return np.concatenate([left.ravel(), right.ravel(), [log_width]])

    def unpacked(self, point: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Give row points, column points and log σ of a vector."""
        m, n = self.between.shape
        k = self.n_components
        return point[: m * k].reshape(m, k), point[m * k : -1].reshape(n, k), float(point[-1])

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give the value, and the gradient as a vector of the same order."""
        left, right, log_width = self.unpacked(point)
        value, *sides, by_width = kernel_misfit(self.between, left, right, log_width)
        for side, (given, points) in enumerate(zip(self.within, (left, right), strict=True)):
            if given is None or self.within_weight == 0:
                continue
            extra, first, second, wider = kernel_misfit(given, points, points, log_width)
            value += self.within_weight * extra
            sides[side] = sides[side] + self.within_weight * (first + second)
            by_width += self.within_weight * wider
        return value, self.packed(sides[0], sides[1], by_width)


def _squared_kernel(left: FloatArray, right: FloatArray, square: float) -> _Moments:
    """Sum up κ² over all pairs."""
    scale = np.sqrt(2 / square)
    sums = joint_sums(scale * left, scale * right, np.zeros(len(left)), np.zeros(len(right)))
    total = float(np.exp(sums.log_total))
    rows = total * sums.row_weights
    return _Moments(
        total,
        rows,
        total * sums.column_masses,
        rows[:, None] * sums.row_means / scale,
        total * sums.column_moments / scale,
    )


def _kernel_times(K: Any, left: FloatArray, right: FloatArray, square: float) -> _Moments:
    """Sum up κK over the pairs where K is not 0, or by blocks of rows of a dense K."""
    if issparse(K):
        i = np.repeat(np.arange(len(left)), np.diff(K.indptr))
        gaps = ((left[i] - right[K.indices]) ** 2).sum(axis=1)
        weights = csr_array((K.data * np.exp(-gaps / square), K.indices, K.indptr), shape=K.shape)
        return _Moments(
            float(weights.data.sum()),
            np.asarray(weights.sum(axis=1)),
            np.asarray(weights.sum(axis=0)),
            weights @ right,
            weights.T @ left,
        )
    rows, times = np.empty(len(left)), np.empty_like(left)
    columns, transposed_times = np.zeros(len(right)), np.zeros_like(right)
    height = max(1, _BLOCK_PAIRS // len(right))
    for start in range(0, len(left), height):
        part = slice(start, start + height)
        block = K[part] * np.exp(-cdist(left[part], right, "sqeuclidean") / square)
        rows[part], times[part] = block.sum(axis=1), block @ right
        columns += block.sum(axis=0)
        transposed_times += block.T @ left[part]
    return _Moments(float(rows.sum()), rows, columns, times, transposed_times)
