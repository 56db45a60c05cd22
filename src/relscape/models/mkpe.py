"""MKPE: places whose Gaussian kernel comes near the similarities given (Gönen 2014)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from relscape import progress
from relscape.errors import DataError, ParameterError, RelscapeWarning
from relscape.maps import Map
from relscape.matrix.operators import LocalRelation
from relscape.models.base import TwoKindsModel
from relscape.models.checks import check_choice, check_integer, check_number, generator
from relscape.models.climbing import solver_report
from relscape.models.inputs import check_here
from relscape.models.spectral import scaled_axes
from relscape.objectives.kernels import KernelObjective, Similarities
from relscape.protocols import FloatArray, IntArray, RelationOperator
from relscape.solvers.manifolds import Stiefel
from relscape.solvers.product import Product
from relscape.solvers.result import SolveResult
from relscape.solvers.riemann import riemannian_descent
from relscape.threads import one_thread

__all__ = ["MKPE"]

STARTS = ("ca", "random")
_BLOCK_ROWS = 4096
_SYMMETRIC = 1e-10
_FIRST_STEP = 1.0  # both clouds have the size of their number of axes, however many things they hold


class MKPE(TwoKindsModel):
    r"""Multiple kernel preserving embedding (Gönen 2014).

    Row objects get places x, column objects z, and all one width σ, such that
    :math:`e^{-‖x_i - z_j‖^2/σ^2}` is near the relation, scaled to [0, 1], on the average of all squared
    differences; pairs that a sparse relation does not hold count as 0. Similarities within the two kinds
    can be kept at the same time. Each cloud has orthonormal axes, XᵀX = ZᵀZ = I, so the larger kind has the
    smaller coordinates. There is no rule for new objects.

    Parameters
    ----------
    n_components : int
        Dimension of the space, at most the number of objects of the smaller kind.
    within_weight : float
        What similarities within a kind count, where given, against 1 for the relation.
    start : {"ca", "random"}
        The first start: the axes of correspondence analysis, or uniformly drawn ones.
    n_restarts : int
        Number of starts; all but the first are random. The lowest misfit wins.
    tolerance : float
        The solver stops when no partial derivative along the orthonormal matrices is larger.
    max_iterations : int
        Most iterations from one start.
    random_state : int, Generator or None
        Draws random starts.

    Attributes
    ----------
    row_embedding_, column_embedding_ : arrays, m × k and n × k
        Turned together to their principal axes, which keeps each orthonormal.
    width_ : float
        σ.
    misfit_ : float
        What was minimised: the mean squared difference, plus those within kinds with their weight.
    constant_misfit_ : float
        What the relation's part of it would be with one and the same similarity for all pairs.
    solve_result_ : SolveResult
        Of the start that won; ``point`` holds the places of rows, of columns, and log σ.
    restarts_ : list of dict
        For every start its ``value``, ``iterations``, ``converged`` and ``reason``.

    Examples
    --------
    >>> from relscape.datasets import load_smoking
    >>> MKPE().fit(load_smoking()).row_embedding_.shape
    (5, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        within_weight: float = 0.1,
        start: str = "ca",
        n_restarts: int = 1,
        tolerance: float = 1e-8,
        max_iterations: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.within_weight = within_weight
        self.start = start
        self.n_restarts = n_restarts
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, row_kernel: Any = None, column_kernel: Any = None) -> Self:  # noqa: ARG002
        """Place the row and column objects of a relation.

        Parameters
        ----------
        X : array, sparse array, data frame or RelationalData
            m × n, nonnegative; a larger weight means more strongly related. Frames are wide, one
            column a column object; ids are remembered.
        y : None
            Not used; for scikit-learn's pipelines.
        row_kernel, column_kernel : array or sparse array, optional
            Similarities within the rows (m × m) and the columns (n × n): symmetric, from 0 to 1, in the order
            of the objects in X (of a ``RelationalData``, in the order of its ids).
        """
        relation = self._read(X)
        self._check()
        with one_thread():  # sums over several threads would end in other last digits
            self._embed(relation, row_kernel, column_kernel)
        return self

    def _check(self) -> None:
        check_number("within_weight", self.within_weight, 0.0)
        check_number("tolerance", self.tolerance, 0.0)
        check_integer("n_restarts", self.n_restarts, 1)
        check_integer("max_iterations", self.max_iterations, 1)
        check_choice("start", self.start, STARTS)

    def _embed(self, relation: RelationOperator, row_kernel: Any, column_kernel: Any) -> None:
        check_here(relation, "MKPE")
        rows, columns, part = self._defined_part(relation)
        m, n = part.shape
        if self.n_components > min(m, n):
            raise ParameterError(
                f"n_components={self.n_components} is too large: this relation of {m} rows and {n} columns "
                f"(n_samples={m}, n_features={n}) has room for {min(m, n)} orthonormal axes."
            )
        between = Similarities(_scaled(part))
        objective = KernelObjective(
            between,
            _within("row_kernel", row_kernel, len(self.row_entities_), rows),
            _within("column_kernel", column_kernel, len(self.column_entities_), columns),
            self.within_weight,
            self.n_components,
        )
        self.solve_result_, self.restarts_ = self._descend(objective, part)
        left, right, log_width = objective.unpacked(self.solve_result_.point)
        turn = _principal_turn(np.vstack([left, right]))
        self.row_embedding_, self.column_embedding_ = (
            np.full((len(entities), self.n_components), np.nan)
            for entities in (self.row_entities_, self.column_entities_)
        )
        self.row_embedding_[rows], self.column_embedding_[columns] = left @ turn, right @ turn
        self.width_ = float(np.exp(log_width))
        self.misfit_ = self.solve_result_.value
        self.constant_misfit_ = float(between.squares / (m * n) - (between.matrix.sum() / (m * n)) ** 2)

    def _descend(
        self, objective: KernelObjective, relation: RelationOperator
    ) -> tuple[SolveResult, list[dict[str, Any]]]:
        """Walk down from every start; give the lowest end, and a report of each."""
        m, n = relation.shape
        k = self.n_components
        manifold = Product([(Stiefel(), (m, k)), (Stiefel(), (n, k)), (None, (1,))])
        ends = []
        with progress.task(f"fitting similarities, {self.n_restarts} starts") as task:

            def watch(iteration: int, value: float, point: FloatArray) -> bool:  # noqa: ARG001
                task.advance()
                return False

            for left, right in self._starts(relation):
                start = objective.packed(left, right, _log_width(left, right))
                ends.append(
                    riemannian_descent(
                        objective,
                        manifold,
                        start,
                        self.tolerance,
                        self.max_iterations,
                        first_step=_FIRST_STEP,
                        callback=watch,
                    )
                )
        best = min(ends, key=lambda end: end.value)
        if not best.converged:
            warnings.warn(
                f"the misfit may not be at its lowest: {best.reason}. More max_iterations or a larger "
                "tolerance would end the descent.",
                RelscapeWarning,
                stacklevel=4,
            )
        return best, [{"value": end.value, **solver_report(end)} for end in ends]

    def _starts(self, relation: RelationOperator) -> Iterator[tuple[FloatArray, FloatArray]]:
        rng, k = generator(self.random_state), self.n_components
        for number in range(self.n_restarts):
            if number == 0 and self.start == "ca":
                yield _spectral_axes(relation, k)
            else:
                left, right = (Stiefel().random(rng, (size, k)) for size in relation.shape)
                yield left, right

    def to_map(self) -> Map:
        """Give the map of both kinds, with the misfit among its scores."""
        joint = super().to_map()
        joint.scores |= {"misfit": self.misfit_, "misfit_of_a_constant": self.constant_misfit_}
        return joint


def _scaled(relation: RelationOperator) -> Any:
    """Give a relation divided by its largest entry, dense or sparse as it was."""
    if isinstance(relation, LocalRelation) and not issparse(relation.matrix):
        dense = np.asarray(relation.matrix, dtype=np.float64)
        return dense / dense.max()
    sparse = csr_array(vstack([block for _, block in relation.row_blocks(_BLOCK_ROWS)]), dtype=np.float64)
    return sparse / sparse.data.max()


def _within(name: str, kernel: Any, size: int, kept: IntArray | slice) -> Similarities | None:
    """Check similarities within a kind, and keep those of the objects that get a place."""
    if kernel is None:
        return None
    matrix = csr_array(kernel, dtype=np.float64) if issparse(kernel) else np.asarray(kernel, dtype=np.float64)
    if matrix.shape != (size, size):
        raise DataError(f"{name} has shape {matrix.shape}; expected {size} × {size}, one line a thing.")
    given = Similarities(matrix[kept][:, kept], name)
    gap = abs(given.matrix - given.matrix.T).max()
    if gap > _SYMMETRIC:
        raise DataError(f"{name} is not symmetric: two entries differ by {gap:.3g}. Give (K + Kᵀ)/2.")
    return given


def _spectral_axes(relation: RelationOperator, k: int) -> tuple[FloatArray, FloatArray]:
    """Give the axes of correspondence analysis, orthonormal; those that do not exist are drawn, seeded."""
    axes = scaled_axes(relation, k, balanced=True)
    rng, manifold = np.random.default_rng(0), Stiefel("polar")
    missing = axes.values == 0
    sides = []
    for side in (axes.left, axes.right):
        full = side / np.where(missing, 1.0, np.linalg.norm(side, axis=0))
        full[:, missing] = rng.standard_normal((len(side), int(missing.sum())))
        sides.append(manifold.repair(full))
    return sides[0], sides[1]


def _log_width(left: FloatArray, right: FloatArray) -> float:
    """Give the logarithm of the root mean square distance between the clouds: the σ to begin with."""
    squares = (left**2).sum() / len(left) + (right**2).sum() / len(right)
    return float(0.5 * np.log(squares - 2 * left.mean(axis=0) @ right.mean(axis=0)))


def _principal_turn(points: FloatArray) -> FloatArray:
    """Find the rotation of a cloud to its principal axes, the largest coordinate of each positive.

    The misfit knows no directions; so equal maps get equal coordinates. The origin stays: moving it would
    cost the orthonormal axes.
    """
    _, _, axes = np.linalg.svd(np.linalg.qr(points - points.mean(axis=0), mode="r"))
    turned = points @ axes.T
    signs = np.sign(turned[np.abs(turned).argmax(axis=0), np.arange(turned.shape[1])])
    return np.asarray(axes.T * np.where(signs == 0, 1.0, signs))
