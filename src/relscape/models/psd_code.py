"""PSD-CODE: CODE as a convex problem over inner products, which knows no local minima."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from relscape import progress
from relscape.errors import ParameterError, RelscapeWarning
from relscape.matrix.fixed_sums import fixed_sums
from relscape.models.checks import check_choice, check_flags, check_integer, check_number
from relscape.models.inputs import check_here
from relscape.models.likelihood import LikelihoodModel, in_principal_axes
from relscape.objectives.cooccurrence import CooccurrenceObjective, Table, check_model, log_likelihood
from relscape.objectives.gram import GramGradient, GramObjective, dense_table, largest_penalty
from relscape.protocols import FloatArray, RelationOperator
from relscape.solvers.descent import minimise
from relscape.solvers.result import SolveResult
from relscape.solvers.semidefinite import (
    factored_descent,
    lowest_eigenpairs,
    projected_gradient,
    square_root,
)

__all__ = ["PSDCODE"]

SOLVERS = ("gradient", "factored")
POLISH_RIDGE = 1e-6
_MANY_OBJECTS = 3000
_MATRICES = 12  # at the peak: G, its gradient, trial steps, and what the eigen decomposition needs
_LEAST_PENALTY = 1e-12
_SHOWN_EIGENVALUES = 10


class _Route(Protocol):
    """A way along the path of λ; every solution is the start of the next."""

    def largest_penalty(self) -> float:
        """Give the smallest λ at which all objects in one place are optimal."""
        ...

    def solve(self, penalty: float, tolerance: float, max_iterations: int) -> SolveResult:
        """Give A with AAᵀ optimal, in principal axes, the largest first."""
        ...


class _WholeRoute:
    """Projected gradients on G itself."""

    def __init__(self, table: Table, model: str) -> None:
        self._model, self._joint = model, dense_table(table)
        size = sum(self._joint.shape)
        self._gram: FloatArray = np.zeros((size, size))

    def largest_penalty(self) -> float:
        return largest_penalty(self._joint, self._model)

    def solve(self, penalty: float, tolerance: float, max_iterations: int) -> SolveResult:
        objective = GramObjective(self._joint, self._model, penalty)
        end = projected_gradient(objective, self._gram, tolerance, max_iterations)
        self._gram = end.point
        return replace(end, point=square_root(end.point))


class _FactoredRoute:
    """Descent in A of G = AAᵀ, for tables whose G is too large."""

    def __init__(self, table: Table, model: str) -> None:
        self._table, self._model = table, model
        self._factor: FloatArray = np.zeros((len(table.row_masses) + len(table.column_masses), 1))

    def largest_penalty(self) -> float:
        operator = GramGradient(self._table, self._model, 0.0, self._factor)
        values, _ = lowest_eigenpairs(operator, 1, _LEAST_PENALTY)
        return max(0.0, -float(values[0])) if values.size else 0.0

    def solve(self, penalty: float, tolerance: float, max_iterations: int) -> SolveResult:
        objective = CooccurrenceObjective(self._table, self._model, penalty)
        gradient_at = partial(GramGradient, self._table, self._model, penalty)
        end = factored_descent(objective, gradient_at, self._factor, tolerance, max_iterations)
        self._factor = end.point
        return end


class PSDCODE(LikelihoodModel):
    r"""CODE through a semidefinite programme (Globerson, Chechik, Pereira and Tishby 2007, section 5).

    The likelihood of CODE is concave in the inner products G of all points together. For each of a falling
    sequence of λ, :math:`-ℓ(G) + λ\,\mathrm{Tr}(G)` is minimised over all semidefinite G, which has one
    minimum whatever the start; the leading axes of G are a map, and the map with the largest likelihood is
    kept.

    Parameters
    ----------
    n_components : int
        Dimension of the space.
    model : str
        One letter for the rows, one for the columns, as in CODE.
    n_lambdas : int
        How many λ, in equal ratios.
    lambda_ratio : float
        The last λ as a part of the first, at which all objects lie in one place.
    polish : bool
        Whether to climb on from the map found by the likelihood of CODE itself (with a ridge of 1e-6).
    equal_rows : bool
        Whether every row counts the same whatever its sum.
    solver : {"factored", "gradient"}
        Descent in a factor of G, much the faster; or the paper's projected gradients on G itself, (m + n)²
        numbers, for up to some hundred objects. Both stop by a certificate of optimality.
    tolerance : float
        Of the certificate, as a part of λ.
    max_iterations : int
        Most iterations for one λ.

    Attributes
    ----------
    row_embedding_, column_embedding_ : arrays, m × k and n × k
        Centred, in principal axes.
    log_likelihood_ : float
        Average log p(x, y) of an observed pair on this map, in nats.
    one_place_log_likelihood_, saturated_log_likelihood_ : float
        What it would be with all objects in one place, and what no model of this table can exceed.
    lambda_ : float
        The λ chosen.
    gram_eigenvalues_ : array
        Of the G chosen, falling; how much lies beyond the first k tells what the map leaves out.
    solve_result_ : SolveResult
        At the λ chosen; ``point`` is A with G = AAᵀ.
    polish_result_ : SolveResult
        Of the descent from there, when ``polish``.
    path_ : list of dict
        For every λ: ``lambda``, ``log_likelihood`` of G, ``projected_log_likelihood`` of its map, ``trace``,
        the leading ``eigenvalues``, ``iterations``, ``converged`` and ``reason``.

    Examples
    --------
    >>> from relscape.datasets import load_smoking
    >>> model = PSDCODE(polish=True).fit(load_smoking())
    >>> round(model.log_likelihood_, 5)
    -2.65006
    """

    def __init__(
        self,
        n_components: int = 2,
        model: str = "CM",
        n_lambdas: int = 25,
        lambda_ratio: float = 1e-3,
        polish: bool = False,
        equal_rows: bool = False,
        solver: str = "factored",
        tolerance: float = 1e-3,
        max_iterations: int = 1000,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.n_lambdas = n_lambdas
        self.lambda_ratio = lambda_ratio
        self.polish = polish
        self.equal_rows = equal_rows
        self.solver = solver
        self.tolerance = tolerance
        self.max_iterations = max_iterations

    def _penalty(self) -> float:
        """How firmly the fit held its objects near the middle; newcomers are held likewise."""
        return POLISH_RIDGE if self.polish else self.lambda_

    def _embed(self, relation: RelationOperator) -> None:
        self._check()
        check_here(relation, "PSDCODE")
        part = self._defined_part(relation)
        m, n = part.relation.shape
        if self.solver == "gradient":
            _check_memory(m, n)
        table = Table(fixed_sums(part.relation), self.equal_rows)
        route = _FactoredRoute if self.solver == "factored" else _WholeRoute
        self._follow(route(table, self.model), table)
        points = _leading(self.solve_result_.point, self.n_components)
        if self.polish:
            objective = CooccurrenceObjective(table, self.model, POLISH_RIDGE)
            self.polish_result_ = minimise(objective, points)
            points = self.polish_result_.point
        points = in_principal_axes(points)
        self._keep(points[:m], points[m:], table)
        self.log_likelihood_ = log_likelihood(table, self.model, points[:m], points[m:])
        self._note_ends(table)

    def _check(self) -> None:
        check_model(self.model)
        check_integer("n_lambdas", self.n_lambdas, 2)
        check_integer("max_iterations", self.max_iterations, 1)
        check_number("tolerance", self.tolerance, 0.0)
        check_number("lambda_ratio", self.lambda_ratio, 0.0)
        if not 0 < self.lambda_ratio < 1:
            raise ParameterError(f"lambda_ratio={self.lambda_ratio!r}: give a number between 0 and 1.")
        check_choice("solver", self.solver, SOLVERS)
        check_flags(self, "polish", "equal_rows")

    def _follow(self, route: _Route, table: Table) -> None:
        """Walk along the path of λ, and keep the solution whose leading axes are the likeliest map."""
        m, n = len(table.row_masses), len(table.column_masses)
        largest = route.largest_penalty()
        if largest <= _LEAST_PENALTY:
            raise ParameterError(
                f"this relation of {m} rows and {n} columns (n_samples={m}, n_features={n}) has no "
                "structure: rows and columns are independent, and nothing in it tells its objects apart."
            )
        self.path_: list[dict[str, Any]] = []
        best = -np.inf
        with progress.task("following the path of λ", total=self.n_lambdas) as task:
            for penalty in largest * np.geomspace(1.0, self.lambda_ratio, self.n_lambdas):
                end = route.solve(float(penalty), self.tolerance * float(penalty), self.max_iterations)
                points = _leading(end.point, self.n_components)
                reached = log_likelihood(table, self.model, points[:m], points[m:])
                self.path_.append(_station(float(penalty), end, reached))
                if reached > best:
                    best, self.lambda_, self.solve_result_ = reached, float(penalty), end
                task.advance()
        self.gram_eigenvalues_ = (self.solve_result_.point**2).sum(axis=0)
        self._warn()

    def _warn(self) -> None:
        if not self.solve_result_.converged:
            remedy = "" if self.solver == "factored" else ", or use solver='factored'"
            warnings.warn(
                f"at the λ chosen, {self.lambda_:.3g}, the solution is not certified optimal: "
                f"{self.solve_result_.reason}. Raise max_iterations or tolerance{remedy}.",
                RelscapeWarning,
                stacklevel=5,
            )
        found = int((self.gram_eigenvalues_ > 0).sum())
        if found < self.n_components:
            warnings.warn(
                f"n_components={self.n_components}, but the likeliest solution has {found} axes; "
                "the others are zero.",
                RelscapeWarning,
                stacklevel=5,
            )


def _leading(factor: FloatArray, k: int) -> FloatArray:
    """Give the first k columns; those that are not there are zero."""
    return np.pad(factor[:, :k], [(0, 0), (0, max(0, k - factor.shape[1]))])


def _station(penalty: float, end: SolveResult, projected: float) -> dict[str, Any]:
    eigenvalues = (end.point**2).sum(axis=0)
    trace = float(eigenvalues.sum())
    return {
        "lambda": penalty,
        "log_likelihood": penalty * trace - end.value,
        "projected_log_likelihood": projected,
        "trace": trace,
        "eigenvalues": eigenvalues[:_SHOWN_EIGENVALUES].tolist(),
        "iterations": end.iterations,
        "converged": end.converged,
        "reason": end.reason,
    }


def _check_memory(m: int, n: int) -> None:
    """Refuse a G that the machine cannot hold; say what a large one costs."""
    needed = _MATRICES * 8 * (m + n) ** 2
    there = _machine_memory()
    if there is not None and needed > there:
        raise ParameterError(
            f"solver='gradient' works on all inner products of {m} rows and {n} columns, about "
            f"{needed / 1e9:.1f} GB, but this machine has {there / 1e9:.1f} GB. "
            "Use solver='factored', or CODE."
        )
    if m + n > _MANY_OBJECTS:
        warnings.warn(
            f"solver='gradient' works on all inner products of {m} rows and {n} columns: about "
            f"{needed / 1e9:.1f} GB, and an eigen decomposition of that size in every step. "
            "solver='factored' or CODE need far less.",
            RelscapeWarning,
            stacklevel=5,
        )


def _machine_memory() -> int | None:
    """Give the bytes of memory this machine has, where it tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
