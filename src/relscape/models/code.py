"""CODE: pairs are likely where their two points are near (Globerson, Chechik, Pereira and Tishby 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import Generator

from relscape.errors import ParameterError, UnknownNameError
from relscape.matrix.fixed_sums import fixed_sums
from relscape.models.checks import generator, shown
from relscape.models.climbing import check_descent, climb
from relscape.models.likelihood import LikelihoodModel, in_principal_axes, spectral_start
from relscape.objectives.cooccurrence import CooccurrenceObjective, Table, check_model, log_likelihood
from relscape.protocols import FloatArray, RelationOperator

__all__ = ["CODE", "step_sizes"]

STARTS = ("ca", "random")


class CODE(LikelihoodModel):
    r"""Euclidean embedding of co-occurrence data (Globerson, Chechik, Pereira and Tishby 2007).

    Row objects get places φ(x), column objects ψ(y), such that pairs that occur together are near:
    in the default model CM, :math:`p(y|x) ∝ \bar p(y) e^{-‖φ(x) - ψ(y)‖^2}`. The places maximise the
    likelihood of the counts.

    Parameters
    ----------
    n_components : int
        Dimension of the space.
    model : str
        One letter for the rows, one for the columns: C conditioned on, M with the empirical marginal as a
        factor, U without. CM is right for documents and words; CC says nothing.
    ridge : float
        Weight ρ of the penalty ρ(‖Φ‖² + ‖Ψ‖²). Without it the likelihood of a table with zeros often has no
        maximum: some objects run away to infinity, and where they stop tells only when the solver gave up.
    start : {"ca", "random"} or array of shape (m + n, k)
        The first start: correspondence analysis, uniform in [-1, 1], or given places, rows first.
    n_restarts : int
        Number of starts; all but the first are random. The highest penalised likelihood wins.
    solver : {"lbfgs", "cg"}
    equal_rows : bool
        Whether every row counts the same whatever its sum, as the paper does with documents.
    tolerance : float
        The solver stops when no partial derivative is larger.
    max_iterations : int
        Most iterations from one start.
    random_state : int, Generator or None
        Draws random starts.

    Attributes
    ----------
    row_embedding_, column_embedding_ : arrays, m × k and n × k
        Centred, turned to their principal axes.
    log_likelihood_ : float
        Average log p(x, y) of an observed pair, in nats, without the penalty.
    one_place_log_likelihood_, saturated_log_likelihood_ : float
        What it would be with all objects in one place, and what no model of this table can exceed.
    solve_result_ : SolveResult
        Of the start that won: ``reason`` says why the solver stopped, ``trace`` the way there.
    restarts_ : list of dict
        For every start its ``value`` (what was minimised: the penalty less the log-likelihood),
        ``iterations``, ``converged`` and ``reason``.

    Examples
    --------
    >>> from relscape.datasets import load_smoking
    >>> CODE(ridge=1e-8, random_state=0).fit(load_smoking()).log_likelihood_  # doctest: +ELLIPSIS
    -2.65006...
    """

    def __init__(
        self,
        n_components: int = 2,
        model: str = "CM",
        ridge: float = 1e-6,
        start: Any = "ca",
        n_restarts: int = 5,
        solver: str = "lbfgs",
        equal_rows: bool = False,
        tolerance: float = 1e-8,
        max_iterations: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.ridge = ridge
        self.start = start
        self.n_restarts = n_restarts
        self.solver = solver
        self.equal_rows = equal_rows
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.random_state = random_state

    def _embed(self, relation: RelationOperator) -> None:
        check_model(self.model)
        check_descent(self)
        part = self._defined_part(relation)
        table = Table(fixed_sums(part.relation), self.equal_rows)
        objective = CooccurrenceObjective(table, self.model, float(self.ridge))
        m = part.relation.shape[0]
        starts = self._starts(table.relation, generator(self.random_state))
        self.solve_result_, self.restarts_ = climb(self, objective, starts, step_sizes(table))
        point = in_principal_axes(self.solve_result_.point)
        self._keep(point[:m], point[m:], table)
        self.log_likelihood_ = log_likelihood(table, self.model, point[:m], point[m:])
        self._note_ends(table)

    def _starts(self, relation: RelationOperator, random_state: Generator) -> Iterator[FloatArray]:
        m, n = relation.shape
        shape = (m + n, self.n_components)
        if isinstance(self.start, str):
            if self.start not in STARTS:
                raise UnknownNameError("start", self.start, STARTS)
            random = self.start == "random"
            first = random_state.uniform(-1, 1, shape) if random else spectral_start(relation, shape[1])
        else:
            try:
                first = np.asarray(self.start, dtype=np.float64)
            except (TypeError, ValueError, OverflowError):
                raise ParameterError(
                    f"start={shown(self.start)}: give 'ca', 'random', or an array of places."
                ) from None
            if first.shape != shape:
                raise ParameterError(
                    f"start has shape {first.shape}: give places for {m} rows and then {n} columns that have "
                    f"a relation, {shape}."
                )
            if not np.isfinite(first).all():
                raise ParameterError("start has places that are NaN or infinite: give finite ones.")
        yield first
        for _ in range(self.n_restarts - 1):
            yield random_state.uniform(-1, 1, shape)


def step_sizes(table: Table) -> FloatArray:
    """Give each object the step its curvature asks for: the likelihood bends in proportion to its mass."""
    masses = np.concatenate([table.row_masses, table.column_masses])
    sizes = 1.0 / np.sqrt(masses)
    return np.asarray(sizes / np.exp(np.log(sizes).mean()))[:, None]
