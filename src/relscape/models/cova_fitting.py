"""How COVA is solved: from weights, confidences and prototypes to places (its specification, 8 to 11)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array, diags_array

from relscape.errors import DataError, RelscapeWarning, UnknownNameError
from relscape.matrix.spread_weights import GraphSystem, SpreadWeights
from relscape.objectives.cohort import Anchors, CohortObjective, ProjectedObjective, batches
from relscape.objectives.neighbour import EXACT_POINTS, information, repulsion
from relscape.protocols import Callback, FloatArray, IntArray, SparseArray
from relscape.solvers.descent import minimise
from relscape.solvers.manifolds import FullRank, Stiefel
from relscape.solvers.momentum import momentum_descent
from relscape.solvers.result import SolveResult
from relscape.solvers.riemann import batch_descent, riemannian_descent
from relscape.solvers.spd import solve_spd

__all__ = [
    "SOLVERS",
    "Effort",
    "best_scale",
    "descend",
    "jittered",
    "linear_places",
    "linear_response",
    "project",
    "projection_start",
]

SOLVERS = ("auto", "lbfgs", "momentum", "descent")
_FEW = 5_000  # samples up to which L-BFGS is used, and of which the scale is found
_JITTER = 1e-3
_SMALLEST, _LARGEST = 0.1, 1e4  # sizes of a picture that are looked at
_CLOSE = 0.02  # how exactly a size is found, as a share of it
_SLACK = 0.001  # how much of a divergence a smaller picture may cost
_RATE = 1 / 4  # of the number of samples: the length of steps with momentum
_INNER = 10


@dataclass(frozen=True)
class Effort:
    """How long to descend, how closely, by which solver, and who watches."""

    solver: str = "auto"
    tolerance: float = 1e-5
    max_iterations: int = 500
    watch: Callback | None = None

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise UnknownNameError("solver", self.solver, SOLVERS)


# ---------------------------------------------------------------------- E1


def linear_response(
    weights: SparseArray, confidence: Any, alpha: float, anchors: Anchors | None, tolerance: float
) -> tuple[FloatArray, FloatArray, SolveResult]:
    """Solve E1 for all prototypes at once: Z = B V + B_a P for any prototypes V and anchored places P.

    Returns B (n × c), B_a (n × a) and how the system was solved.
    """
    n, c = confidence.shape
    right = _dense(confidence) * alpha
    if anchors is not None:
        held = np.zeros((n, anchors.index.size))
        held[anchors.index, np.arange(anchors.index.size)] = anchors.strengths
        right = np.hstack([right, held])
    found, result = _solved(weights, confidence, alpha, anchors, right, tolerance)
    return np.ascontiguousarray(found[:, :c]), np.ascontiguousarray(found[:, c:]), result


def linear_places(
    weights: SparseArray,
    confidence: Any,
    prototypes: FloatArray,
    alpha: float,
    anchors: Anchors | None,
    tolerance: float,
    start: FloatArray | None = None,
) -> tuple[FloatArray, SolveResult]:
    """Solve E1, A Z = α R V with A = α D(R) + (1 − α) L(W), for one set of prototypes."""
    right = alpha * np.asarray(confidence @ prototypes)
    if anchors is not None:
        np.add.at(right, anchors.index, anchors.strengths[:, None] * anchors.places)
    return _solved(weights, confidence, alpha, anchors, right, tolerance, start)


def _solved(
    weights: SparseArray,
    confidence: Any,
    alpha: float,
    anchors: Anchors | None,
    right: FloatArray,
    tolerance: float,
    start: FloatArray | None = None,
) -> tuple[FloatArray, SolveResult]:
    """Solve for any right-hand sides; at α = 1, samples nothing holds by itself follow their neighbours."""
    own = alpha * np.asarray(confidence.sum(axis=1)).ravel()
    if anchors is not None:
        np.add.at(own, anchors.index, anchors.strengths)
    local = 1.0 - alpha
    if local > 0:
        diagonal = own + local * np.asarray(weights.sum(axis=1)).ravel()
        system: Any
        if isinstance(weights, SpreadWeights):
            system = GraphSystem(weights, diagonal, local)
        else:
            system = csr_array(diags_array(diagonal) - local * weights)
        solved = solve_spd(system, right, start, tolerance)
        found, iterations, residual, well = (
            solved.solution,
            solved.iterations,
            solved.residual,
            solved.converged,
        )
    else:
        found, iterations, residual, well = _extended(weights, own, right, tolerance)
    reason = f"the residual is {residual:.2g} of the right-hand side"
    if not well:
        warnings.warn(f"E1 was not solved closely: {reason}.", RelscapeWarning, stacklevel=5)
    return found, SolveResult(np.empty(0), residual, iterations, well, reason)


def _extended(
    weights: SparseArray, own: FloatArray, right: FloatArray, tolerance: float
) -> tuple[FloatArray, int, float, bool]:
    """Take held samples where they are held; the others at the weighted mean of their neighbours."""
    fixed, free = np.flatnonzero(own > 0), np.flatnonzero(own == 0)
    found = np.zeros(right.shape)
    found[fixed] = right[fixed] / own[fixed, None]
    if not free.size:
        return found, 0, 0.0, True
    degrees = np.asarray(weights.sum(axis=1)).ravel()[free]
    rows = csr_array(weights[free])
    system = csr_array(diags_array(degrees) - rows[:, free])
    solved = solve_spd(system, np.asarray(rows[:, fixed] @ found[fixed]), None, tolerance)
    found[free] = solved.solution
    return found, solved.iterations, solved.residual, solved.converged


def _dense(matrix: Any) -> FloatArray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


# ---------------------------------------------------------------------- E2 to E4


def best_scale(weights: SparseArray, places: FloatArray, codes: IntArray) -> float:
    """Find the size of a picture that suits t-SNE's kernel of width 1: that of least divergence (9.3).

    More closely, the smallest whose divergence is within a thousandth of the least: between cohorts that no
    neighbours join it falls without end, the further apart they are. Of many samples, some of every cohort
    (``codes``) are looked at, always the same.
    """
    drawn = _some_of_all(codes, np.random.default_rng(0))
    constant, rows = information(weights), weights[drawn].tocoo()
    centred = places - places.mean(axis=0)
    size = float(np.sqrt((centred**2).sum(axis=1).mean()))
    if size == 0.0:
        return 1.0

    def divergence(logarithm: float) -> float:
        return _estimated(np.exp(logarithm) * centred, drawn, rows, constant)

    grid = np.linspace(np.log(_SMALLEST), np.log(_LARGEST), 12) - np.log(size)
    tried: list[float] = []
    for step in grid:
        tried.append(divergence(step))
        if tried[-3:] == sorted(tried[-3:]) and len(tried) > 2:
            break  # it rises from here on, and wide pictures take long
    grid, values = grid[: len(tried)], np.array(tried)
    lowest = int(np.argmin(values))
    ends = grid[max(lowest - 1, 0)], grid[min(lowest + 1, len(grid) - 1)]
    found = minimize_scalar(divergence, bounds=ends, method="bounded", options={"xatol": _CLOSE})
    limit = (1.0 + _SLACK) * min(float(found.fun), float(values[lowest]))
    too_small = grid[(grid < found.x) & (values > limit)]
    low, high = too_small.max(initial=grid[0]), float(found.x)
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if divergence(middle) <= limit else (middle, high)
    return float(np.exp(high))


def _some_of_all(codes: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw samples, of every cohort its share; all of them where they are few."""
    n = len(codes)
    if n <= _FEW:
        return np.arange(n)
    shuffled = rng.permutation(n)
    by_cohort = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return np.sort(by_cohort[np.linspace(0, n - 1, _FEW).astype(np.int64)])


def _estimated(picture: FloatArray, drawn: IntArray, rows: Any, constant: float) -> float:
    """Estimate the divergence of all samples: the neighbours of those drawn, and the pairs among them.

    Sums are exact, for a quick one may err by more than a thousandth on a wide picture.
    """
    n, m = len(picture), len(drawn)
    gaps = picture[drawn[rows.row]] - picture[rows.col]
    apart = float(rows.data @ np.log1p((gaps**2).sum(axis=1))) / float(rows.data.sum())
    total = repulsion(picture[drawn], "exact")[1] * (n * (n - 1)) / (m * (m - 1))
    return constant + apart + float(np.log(total))


def jittered(places: FloatArray, size: float, rng: np.random.Generator) -> FloatArray:
    """Move places by a thousandth of the picture, so that coincident samples can part."""
    return places + _JITTER * size * rng.standard_normal(places.shape)


def descend(objective: CohortObjective, start: FloatArray, effort: Effort) -> SolveResult:
    """Minimise over places of full column rank: L-BFGS on exact sums, momentum on approximate ones.

    L-BFGS needs exact sums over all pairs and ends hardly lower than momentum does, so quick sums are used as
    soon as they are quicker.
    """
    n = len(start)
    solver = effort.solver
    if solver == "auto":
        solver = "lbfgs" if n <= (EXACT_POINTS if objective.repels else _FEW) else "momentum"
    exact = objective if n > _FEW else replace(objective, method="exact")
    if solver == "lbfgs":
        found = minimise(exact, start, "lbfgs", effort.tolerance / n, effort.max_iterations, effort.watch)
    elif solver == "descent":
        found = riemannian_descent(
            exact, FullRank(), start, effort.tolerance / n, effort.max_iterations,
            steps="plain", callback=effort.watch,
        )  # fmt: skip
    else:
        found = momentum_descent(objective, start, _RATE * n, effort.max_iterations, callback=effort.watch)
    return _of_full_rank(found)


def _of_full_rank(found: SolveResult) -> SolveResult:
    """Lift vanishing singular values, and warn of what the eye would miss."""
    places = found.point
    if len(places) <= places.shape[1]:
        return found
    values = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    if values[-1] <= 1e-9 * values[0]:
        warnings.warn(
            "the map is flat: its samples lie in fewer dimensions than n_components; ask for fewer, or give "
            "prototypes that span them.",
            RelscapeWarning,
            stacklevel=5,
        )
    return replace(found, point=FullRank().repair(places))


# ---------------------------------------------------------------------- P1 to P4


def projection_start(
    table: FloatArray, weights: SparseArray, confidence: Any, prototypes: FloatArray, alpha: float
) -> FloatArray:
    """Start a projection from the orthonormal matrix nearest to the unconstrained solution of P1."""
    own = alpha * np.asarray(confidence.sum(axis=1)).ravel()
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    spread = table * (own + (1.0 - alpha) * degrees)[:, None] - (1.0 - alpha) * (weights @ table)
    wanted = alpha * table.T @ np.asarray(confidence @ prototypes)
    solution = np.linalg.lstsq(table.T @ spread, wanted, rcond=1e-10)[0]
    left, _, right = np.linalg.svd(solution, full_matrices=False)
    return np.asarray(left @ right)


def project(
    objective: CohortObjective,
    table: FloatArray,
    start: FloatArray,
    retraction: str,
    effort: Effort,
    batch_size: int | None,
    rng: np.random.Generator,
) -> SolveResult:
    """Minimise over projections of features with orthonormal columns, by all samples or in batches."""
    q, k = table.shape[1], start.shape[1]
    if q < k:
        raise DataError(
            f"there are {q} relation features, too few for {k} axes; ask for fewer components, or give "
            "RelationFeatures with more representatives or energy=1."
        )
    projected = ProjectedObjective(objective, table)
    manifold = Stiefel(retraction)
    tolerance = effort.tolerance * max(1.0, float(np.abs(projected.value_and_gradient(start)[1]).max()))
    if batch_size is None:
        return riemannian_descent(
            projected, manifold, start, tolerance, effort.max_iterations, 1.0, callback=effort.watch
        )
    cycles = max(1, effort.max_iterations // _INNER)
    return batch_descent(
        projected,
        manifold,
        start,
        lambda generator: batches(objective.weights, batch_size, generator),
        cycles,
        _INNER,
        rng,
        effort.watch,
        tolerance=tolerance,
        first_step=1.0,
    )
