"""Named relatives of CODE: parametric embedding, and sufficient dimensionality reduction."""

from __future__ import annotations

from typing import Any

import numpy as np

from relscape.matrix.fixed_sums import fixed_sums
from relscape.models.checks import generator
from relscape.models.climbing import check_descent, climb
from relscape.models.code import CODE, step_sizes
from relscape.models.likelihood import LikelihoodModel, spectral_start
from relscape.objectives.bilinear import BilinearObjective, balanced
from relscape.objectives.cooccurrence import Table
from relscape.protocols import FloatArray, RelationOperator

__all__ = ["SDR", "ParametricEmbedding"]


class ParametricEmbedding(CODE):
    """Parametric embedding of class posteriors (Iwata et al. 2007): CODE with classes as the columns.

    Row x holds the probabilities p(c | x) that some classifier gives each class; objects and classes are
    placed such that p(c) exp(−‖φ(x) − ψ(c)‖²) gives them again as well as possible, every object counting
    the same. This is CODE's model CM with equal rows; the published scale, exp(−‖·‖²/2), is √2 larger.

    With few classes the best map is not unique (in the plane below six): the ridge then chooses the most
    compact one.

    Parameters and attributes are those of :class:`CODE`.
    """

    model = "CM"
    equal_rows = True

    def __init__(
        self,
        n_components: int = 2,
        ridge: float = 1e-6,
        start: Any = "ca",
        n_restarts: int = 5,
        solver: str = "lbfgs",
        tolerance: float = 1e-8,
        max_iterations: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.start = start
        self.n_restarts = n_restarts
        self.solver = solver
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.random_state = random_state


class SDR(LikelihoodModel):
    r"""Sufficient dimensionality reduction (Globerson and Tishby 2003): :math:`\log p = a(x) + b(y) + 2φ·ψ`.

    The marginals' factors a and b are free, so no model of CODE has a higher likelihood; but products, not
    distances, are what it fits, and near means related only up to the factors b. Coordinates are those of the
    centred interaction's singular value decomposition, which determines them up to signs.

    Parameters
    ----------
    n_components : int
        Number of axes.
    ridge : float
        Weight of the penalty on the squared size of the coordinates.
    n_restarts : int
        Number of starts: correspondence analysis, then random ones.
    solver : {"lbfgs", "cg"}
    equal_rows : bool
        Whether every row counts the same whatever its sum.
    tolerance, max_iterations
        When the solver stops.
    random_state : int, Generator or None
        Draws random starts.

    Attributes
    ----------
    row_embedding_, column_embedding_ : arrays, m × k and n × k
    log_likelihood_, one_place_log_likelihood_, saturated_log_likelihood_ : float
    solve_result_, restarts_
        As those of :class:`CODE`.
    """

    model = "FF"  # both factors free

    def __init__(
        self,
        n_components: int = 2,
        ridge: float = 1e-6,
        n_restarts: int = 1,
        solver: str = "lbfgs",
        equal_rows: bool = False,
        tolerance: float = 1e-8,
        max_iterations: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.n_restarts = n_restarts
        self.solver = solver
        self.equal_rows = equal_rows
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.random_state = random_state

    def _embed(self, relation: RelationOperator) -> None:
        check_descent(self)
        part = self._defined_part(relation)
        table = Table(fixed_sums(part.relation), self.equal_rows)
        objective = BilinearObjective(table, float(self.ridge))
        m, n = part.relation.shape
        random_state = generator(self.random_state)

        def with_factors(points: FloatArray) -> FloatArray:
            return np.column_stack([points, np.concatenate([np.zeros(m), np.log(table.column_masses)])])

        starts = [spectral_start(table.relation, self.n_components)]
        starts += [
            random_state.uniform(-1, 1, (m + n, self.n_components)) for _ in range(self.n_restarts - 1)
        ]
        self.solve_result_, self.restarts_ = climb(
            self, objective, map(with_factors, starts), step_sizes(table)
        )
        fitted = balanced(table, self.solve_result_.point)
        self._keep_distribution(fitted, table)
        penalty = self.ridge * float((self.solve_result_.point[:, :-1] ** 2).sum())
        self.log_likelihood_ = penalty - self.solve_result_.value
        self._note_ends(table)
