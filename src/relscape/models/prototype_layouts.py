"""Ways to arrange a few cohorts by how alike they are, as pure functions of a c × c matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh
from scipy.sparse import csr_array, issparse
from scipy.sparse.linalg import LinearOperator

from relscape.matrix.affinity import calibrated
from relscape.objectives.neighbour import gaussian_divergence, information, neighbour_divergence
from relscape.protocols import FloatArray, IntArray, SparseArray
from relscape.solvers.descent import lowest, minimise
from relscape.solvers.result import SolveResult
from relscape.solvers.spectral import truncated_svd
from relscape.threads import one_thread

__all__ = [
    "DIVERGENCES",
    "DivergenceObjective",
    "Layout",
    "calibrated_probabilities",
    "classical_scaling",
    "laplacian_eigenmap",
    "leading_axes",
    "mean_layout",
    "neighbour_layout",
    "similarity_probabilities",
    "standardised",
]

Divergence = Callable[..., tuple[float, FloatArray]]

# How near two things are on the map, as a share of all: by a Gaussian (SNE) or a Student law (t-SNE).
DIVERGENCES: dict[str, Divergence] = {"sne": gaussian_divergence, "tsne": neighbour_divergence}

# Of more than so many things, only the most promising starts are followed to the end.
_FEW = 50
_TRIAL_ITERATIONS = 50
_FINALISTS = 5
_MAX_ITERATIONS = 1000
_TOLERANCE = 1e-6
_NO_EIGENVALUE = 1e-12


class Layout(NamedTuple):
    """Places (c × k) and what is left of the quantity that the method makes small."""

    places: FloatArray
    loss: float


@dataclass(frozen=True, eq=False)
class DivergenceObjective:
    """How badly a map shows joint probabilities of neighbourhood, for the solvers."""

    probabilities: SparseArray
    divergence: Divergence

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give the Kullback-Leibler divergence and its gradient at a map (c × k)."""
        return self.divergence(point, self.probabilities, constant=self._constant)

    @cached_property
    def _constant(self) -> float:
        return information(self.probabilities)


def classical_scaling(distances: FloatArray, k: int) -> Layout:
    """Arrange things by their distances (classical multidimensional scaling).

    Exact where the distances are Euclidean of dimension up to ``k``; axes that the distances do not have
    are columns of zeros. The loss is the relative error of the inner products, 0 when exact.
    """
    squares = np.asarray(distances, dtype=np.float64) ** 2
    squares = (squares + squares.T) / 2
    inner = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    with one_thread():
        values, vectors = eigh(inner)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    kept = np.where(values > _NO_EIGENVALUE * max(float(np.abs(values).max()), 0.0), values, 0.0)
    places = np.zeros((len(squares), k))
    places[:, : kept.size] = _signed(vectors) * np.sqrt(kept)
    size = float(np.linalg.norm(inner))
    return Layout(places, float(np.linalg.norm(inner - places @ places.T)) / size if size > 0 else 0.0)


def laplacian_eigenmap(similarities: FloatArray, k: int) -> Layout:
    """Arrange things by the smoothest functions on the graph of their similarities.

    The axes q solve L(S) q = μ D(S) q for the smallest μ beside the constant's 0. S must be connected. The
    loss is the sum of the μ.
    """
    weights = np.array(similarities, dtype=np.float64)
    np.fill_diagonal(weights, 0.0)
    degrees = weights.sum(axis=1)
    with one_thread():
        values, vectors = eigh(np.diag(degrees) - weights, np.diag(degrees))
    axes = min(k, len(weights) - 1)
    places = np.zeros((len(weights), k))
    places[:, :axes] = _signed(vectors[:, 1 : axes + 1])
    return Layout(places, float(values[1 : axes + 1].sum()))


def neighbour_layout(
    probabilities: FloatArray, k: int, divergence: Divergence, starts: Sequence[FloatArray]
) -> Layout:
    """Arrange things so that near ones are those with a high joint probability (SNE or t-SNE).

    The lowest end of all starts is kept; of more than 50 things, every start goes a short way downhill and
    only the lowest few go on. Axes beyond the number of things less one are columns of zeros. The loss is the
    divergence.
    """
    objective = DivergenceObjective(csr_array(probabilities), divergence)
    axes = min(k, len(probabilities) - 1)
    starts = [start[:, :axes] for start in starts]
    if len(probabilities) > _FEW:
        trials = [_descend(objective, start, _TRIAL_ITERATIONS) for start in starts]
        starts = [end.point for end in sorted(trials, key=lambda end: end.value)[:_FINALISTS]]
    best = lowest([_descend(objective, start, _MAX_ITERATIONS) for start in starts])
    places = np.zeros((len(probabilities), k))
    places[:, :axes] = best.point
    return Layout(places, best.value)


def _descend(objective: DivergenceObjective, start: FloatArray, max_iterations: int) -> SolveResult:
    end = minimise(objective, start, tolerance=_TOLERANCE, max_iterations=max_iterations)
    return replace(end, point=end.point - end.point.mean(axis=0))


def mean_layout(X: Any, codes: IntArray, c: int, k: int, rng: Generator) -> Layout:
    """Put every cohort at the mean of its members in k dimensions of X (n × d, dense or sparse).

    The dimensions are X's own where d = k, else its first principal axes. Codes of -1 belong to no cohort; a
    cohort without members is put at the mean of the others. There is no loss: it is 0.
    """
    points = leading_axes(X, k, rng)
    labelled = np.flatnonzero(codes >= 0)
    entries = np.ones(labelled.size), (codes[labelled], labelled)
    members = csr_array(entries, shape=(c, len(points)))
    sizes = members.sum(axis=1)
    means = np.asarray(members @ points) / np.maximum(sizes, 1)[:, None]
    means[sizes == 0] = means[sizes > 0].mean(axis=0)
    return Layout(means, 0.0)


def leading_axes(X: Any, k: int, rng: Generator) -> FloatArray:
    """Give samples (n × d) in k dimensions: as they are where d = k, else in their first principal axes."""
    n, d = X.shape
    if d == k:
        return np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)
    centre = np.asarray(X.mean(axis=0)).ravel()
    axes = min(k, n, d)
    centred = LinearOperator(
        (n, d),
        matvec=lambda v: X @ v - centre @ v,
        rmatvec=lambda u: X.T @ u - centre * u.sum(),
        matmat=lambda right: X @ right - centre @ right,
        rmatmat=lambda left: X.T @ left - np.outer(centre, left.sum(axis=0)),
        dtype=np.float64,
    )
    found = truncated_svd(centred, axes, rng)
    scores = np.zeros((n, k))
    scores[:, :axes] = found.U * found.values
    return scores


def similarity_probabilities(similarities: FloatArray, floor: float) -> FloatArray:
    """Read similarities as joint probabilities: off the diagonal, nonnegative, of unit sum.

    ``floor`` is the share that is spread evenly over all pairs. Without it, things that share nothing fly
    apart without end.
    """
    weights = np.maximum(np.asarray(similarities, dtype=np.float64), 0.0)
    weights = (weights + weights.T) / 2
    np.fill_diagonal(weights, 0.0)
    even = 1.0 - np.eye(len(weights))
    even /= even.sum()
    total = float(weights.sum())
    return np.asarray((1.0 - floor) * weights / total + floor * even if total > 0 else even)


def calibrated_probabilities(distances: FloatArray, perplexity: float, floor: float) -> FloatArray:
    """Turn distances into joint probabilities such that each thing has about ``perplexity`` neighbours."""
    c = len(distances)
    others = ~np.eye(c, dtype=bool)
    squares = np.asarray(distances, dtype=np.float64)[others].reshape(c, c - 1) ** 2
    rows = np.zeros((c, c))
    rows[others] = calibrated(squares, perplexity)[0].ravel()
    return similarity_probabilities(rows, floor)


def standardised(places: FloatArray, turn: bool = True) -> FloatArray:
    """Centre places and give them an RMS radius of 1, turned to their principal axes unless told not to.

    Places that are all one spot stay there, at the origin.
    """
    centred = np.asarray(places - places.mean(axis=0))
    if turn:
        with one_thread():
            _, _, axes = np.linalg.svd(centred, full_matrices=False)
        turned = np.zeros(centred.shape)
        turned[:, : len(axes)] = _signed(centred @ axes.T)
        centred = turned
    radius = float(np.sqrt((centred**2).sum() / len(centred)))
    return centred / radius if radius > 0 else centred


def _signed(columns: FloatArray) -> FloatArray:
    """Make the entry of largest size in every column positive; of equally large ones, the first."""
    sizes = np.abs(columns)
    largest = (sizes >= (1.0 - 1e-6) * sizes.max(axis=0)).argmax(axis=0)
    signs = np.sign(columns[largest, np.arange(columns.shape[1])])
    return np.asarray(columns * np.where(signs == 0, 1.0, signs))
