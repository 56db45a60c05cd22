"""Neighbour embedding: the forces and divergences of SNE and t-SNE. The one file that touches openTSNE.

Weights W of pairs of points sum to one, are symmetric and have no diagonal. The local terms of COVA (its
specification, sections 7.1 to 7.5) compare them with kernels of the distances on the map. Values are full
ones, constants included, so that a divergence is never negative.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.objectives.gauss_sums import joint_sums
from relscape.objectives.neighbour_grid import grid_nodes, grid_repulsion
from relscape.objectives.neighbour_sums import all_pairs, edges
from relscape.protocols import FloatArray, SparseArray

__all__ = [
    "EXACT_POINTS",
    "METHODS",
    "MIN_POINTS",
    "conditional_divergence",
    "gaussian_divergence",
    "information",
    "neighbour_divergence",
    "repulsion",
    "tsne",
]

METHODS = ("auto", "exact", "barnes-hut", "fft")
MIN_POINTS = 5
EXACT_POINTS = 3_000  # of which all pairs are summed up exactly
_ROUNDS = 500
_SMALL = 1e-4
_NODES_A_POINT = 400  # of a grid, beyond which a tree is faster
_MOST_NODES = 1 << 24  # 128 MB, and as much again for their waves
_OPENING = 0.5  # a cell of a tree seen under a smaller angle counts as one point


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


def repulsion(Z: FloatArray, method: str = "auto") -> tuple[FloatArray, float]:
    """Sum up how every point is pushed by all the others.

    Parameters
    ----------
    Z : array, n × k
        Places on the map.
    method : {"auto", "exact", "barnes-hut", "fft"}
        All pairs; cells of a tree (up to three axes; forces right to about two hundredths); a grid (up to two
        axes; to about a thousandth). ``"auto"`` takes all pairs of up to 3,000 points or on more than three
        axes, else a grid, or a tree where the map has three axes or is far too wide for a grid.

    Returns
    -------
    forces : array, n × k
        Σ_j q_ij² (z_i − z_j) with q_ij = 1/(1 + ‖z_i − z_j‖²).
    total : float
        Q_s, the sum of all q_ij, i ≠ j.
    """
    chosen = _chosen_method(Z, method)
    if chosen == "exact":
        forces, masses = all_pairs(Z)
        return forces, float(masses.sum())
    return grid_repulsion(Z) if chosen == "fft" else _tree_repulsion(Z)


def _chosen_method(Z: FloatArray, method: str) -> str:
    n, k = Z.shape
    if method not in METHODS:
        raise UnknownNameError("method of repulsion", method, METHODS)
    most = {"fft": 2, "barnes-hut": 3}.get(method, k)
    if k > most:
        raise ParameterError(
            f"method={method!r} serves maps of up to {most} axes, this one has {k}; choose 'auto' or 'exact'."
        )
    span = float(np.ptp(Z, axis=0).max())
    # Neither a tree nor a grid can be laid over one spot, or over places that a solver has lost.
    if method == "exact" or not 0.0 < span < np.inf or (method == "auto" and (n <= EXACT_POINTS or k > 3)):
        return "exact"
    if k > 2 or method == "barnes-hut":
        return "barnes-hut"
    most_nodes = min(_MOST_NODES, _NODES_A_POINT * n) if method == "auto" else _MOST_NODES
    return "fft" if grid_nodes(Z) <= most_nodes else "barnes-hut"


def _tree_repulsion(Z: FloatArray) -> tuple[FloatArray, float]:
    from numba import get_num_threads
    from openTSNE import _tsne
    from openTSNE.quad_tree import QuadTree

    places = np.ascontiguousarray(Z, dtype=np.float64)
    pushed = np.zeros_like(places)
    total = _tsne.estimate_negative_gradient_bh(
        QuadTree(places), places, pushed, theta=_OPENING, dof=1.0, num_threads=get_num_threads()
    )
    # Given with the opposite sign and divided by the total.
    return pushed * -(total + np.finfo(np.float64).eps), float(total)


def information(weights: FloatArray | SparseArray) -> float:
    """Give Σ w log w over the positive weights, the constant of a divergence."""
    values = weights if isinstance(weights, np.ndarray) else weights.data
    positive = values[values > 0]
    return float(positive @ np.log(positive))


def neighbour_divergence(
    Z: FloatArray,
    W: SparseArray,
    method: str = "auto",
    constant: float | None = None,
    exaggeration: float = 1.0,
) -> tuple[float, FloatArray]:
    """Give the divergence of t-SNE, Σ w_ij log(w_ij Q_s / q_ij), and its gradient.

    Parameters
    ----------
    Z : array, n × k
    W : sparse array, n × n
    method : str
        See ``repulsion``.
    constant : float, optional
        ``information(W)``, which a solver need not have computed anew at every step.
    exaggeration : float
        How many times the neighbours' pull counts; more than once first gathers clusters out of nothing.
    """
    pulls, logs = edges(Z, W)
    pushes, total = repulsion(Z, method)
    constant = information(W) if constant is None else constant
    value = constant - exaggeration * logs + np.log(total)
    return float(value), 4.0 * (exaggeration * pulls - pushes / total)


def conditional_divergence(Z: FloatArray, W: SparseArray) -> tuple[float, FloatArray]:
    """Give the mean divergence of every point's own neighbours, and its gradient (section 7.4).

    Weights and kernel are normalised by column, and the sum over the points is divided by their number, so
    that it weighs as much as the joint form. Points without neighbours have no divergence. Exact.
    """
    n = len(Z)
    sums = W.sum(axis=0)
    linked = sums > 0
    P = csr_array(W.multiply(np.divide(1.0, sums, out=np.zeros(n), where=linked)[None, :]))
    pulls, logs = edges(Z, csr_array(P + P.T))
    _, masses = all_pairs(Z)
    shares = np.divide(1.0, masses, out=np.zeros(n), where=linked & (masses > 0))
    pushes, _ = all_pairs(Z, shares)
    value = information(P) - 0.5 * logs + np.log(masses[linked]).sum()
    return float(value) / n, (2.0 / n) * (pulls - pushes)


def gaussian_divergence(
    Z: FloatArray, W: SparseArray, constant: float | None = None
) -> tuple[float, FloatArray]:
    """Give the divergence of symmetric SNE, the kernel being exp(−‖z_i − z_j‖²), and its gradient. Exact.

    ``constant`` is ``information(W)``, which a solver need not have computed anew at every step.
    """
    n = len(Z)
    flat = np.zeros(n)
    sums = joint_sums(Z, Z, flat, flat, exclude_self=True)
    degrees = W.sum(axis=1)
    pulls = degrees[:, None] * Z - W @ Z
    pushes = sums.row_weights[:, None] * (Z - sums.row_means)
    # Σ w ‖z_i − z_j‖² = 2 tr(Z'LZ), taken about the centre of the cloud so that no digits are lost.
    constant = information(W) if constant is None else constant
    value = constant + 2.0 * float(np.sum((Z - Z.mean(axis=0)) * pulls)) + sums.log_total
    return float(value), 4.0 * (pulls - pushes)
