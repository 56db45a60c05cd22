"""ACAS: co-embedding with adaptive shaping, and its choice by quantised distances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from relscape import progress
from relscape.errors import DataError, ParameterError
from relscape.matrix.operators import ScaledRelation
from relscape.matrix.quantised import ALL_PAIRS, SAMPLE, QuantisedRelation
from relscape.matrix.scaling import p_norms, power, relation_norms
from relscape.models.base import CoEmbeddingModel
from relscape.models.checks import as_number, check_integer, generator, is_auto, shown
from relscape.models.spectral import check_axes, real_triplets
from relscape.protocols import BoolArray, FloatArray, RelationOperator, SparseArray
from relscape.solvers.search import pattern_search

__all__ = ["ACAS"]

P_VALUES = (1.0, 0.0, 2.0, 3.0, np.inf)
STEP = 0.1
ALPHA_SIZE, BETA_SIZE = 51, 21  # α 0 … 5, β 0 … 2
_PATTERN = (8, 3, 1)
_STARTS = ((5, 10), (5, 0), (0, 10))  # CA's, BGP's and LSI's α and β
_FARTHEST = 1e150  # whose square still is a number
_LARGEST_SUM = 1e55  # whose fifth power, the largest α, still is a number


class ACAS(CoEmbeddingModel):
    r"""Automatic co-embedding with adaptive shaping (Mu and Goulermas 2013).

    With :math:`s_x, s_y` the p-norms of rows and columns (1 for p = 0, the maximum for p = ∞),
    :math:`D(s_x)^{-1/2} R D(s_y)^{-1/2} = U Σ V^T`, rows are at :math:`D(s_x)^{-α} U Σ^β` and columns
    at :math:`D(s_y)^{-α} V Σ^β`. The first triplet is left out for p = 1, where it is trivial.
    (p, α, β) = (1, ½, 1) is correspondence analysis, (1, ½, 0) the bipartite spectral embedding,
    (0, 0, 1) latent semantic indexing.

    Parameters
    ----------
    n_components : int
        Number of axes.
    p : {0} or float of at least 1 or "auto"
        Which norm shapes the relation; infinity is allowed.
    alpha : float of at least 0 or "auto"
        Power of the norms in the coordinates.
    beta : float or "auto"
        Power of the singular values that weigh the axes.
    n_quantiles : int
        Levels into which weights and distances are cut to choose what is "auto": both are replaced
        by their levels, and the mean squared difference is minimised. Up to 10⁷ pairs are compared
        at the end, beyond that a sample of 10⁶.
    random_state : int, Generator or None
        Draws the sample.

    Attributes
    ----------
    row_embedding_, column_embedding_ : arrays, m × k and n × k
    singular_values_ : array of length k
    parameters_ : dict
        The three parameters used.
    quantised_loss_ : float
        Root mean square difference of levels (the criterion over √(mn)); NaN if nothing was chosen.
    search_trace_ : list of dict
        Every candidate with its loss.
    """

    def __init__(
        self,
        n_components: int = 2,
        p: float | str = "auto",
        alpha: float | str = "auto",
        beta: float | str = "auto",
        n_quantiles: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.p = p
        self.alpha = alpha
        self.beta = beta
        self.n_quantiles = n_quantiles
        self.random_state = random_state

    def _embed(self, relation: RelationOperator) -> None:
        fixed = self._fixed()
        shapes = _Shapes(relation, self.n_components)
        self.search_trace_: list[dict[str, float]] = []
        self.quantised_loss_ = float("nan")
        if "alpha" not in fixed:
            _check_powers(np.concatenate([self.row_degrees_, self.column_degrees_]))
        if len(fixed) < 3:
            fixed = self._choose(relation, shapes, fixed)
        self.parameters_ = fixed
        shape = shapes(fixed["p"])
        check_axes(shape.values, relation.shape)
        self._lay_out(shape, fixed["alpha"], fixed["beta"])

    def _fixed(self) -> dict[str, float]:
        """Check the parameters that are given as numbers."""
        check_integer("n_quantiles", self.n_quantiles, 2)
        fixed = {}
        for name, rule in (("p", "0, or at least 1"), ("alpha", "at least 0"), ("beta", "any")):
            value = getattr(self, name)
            if is_auto(value):
                continue
            number = as_number(value)
            wrong = np.isnan(number) or (name != "p" and np.isinf(number))
            wrong = wrong or (name == "p" and number != 0 and number < 1) or (name == "alpha" and number < 0)
            if wrong:
                raise ParameterError(f"{name}={shown(value)}: give a number ({rule}), or 'auto'.")
            fixed[name] = number
        return fixed

    def _choose(
        self, relation: RelationOperator, shapes: _Shapes, fixed: dict[str, float]
    ) -> dict[str, float]:
        """Minimise the quantised criterion: one decomposition a norm, α and β by pattern search."""
        random_state = generator(self.random_state)
        used = self._defined_part(relation).relation
        sketch = QuantisedRelation(used, self.n_quantiles, random_state, limit=SAMPLE)
        norms = [fixed["p"]] if "p" in fixed else list(P_VALUES)
        best: list[tuple[float, dict[str, float]]] = []
        with progress.task("searching p, α and β", len(norms)) as task:
            for p in norms:
                best.append(self._best_shape(sketch, shapes(p), {"p": p, **fixed}))
                task.advance()
        loss, chosen = min(best, key=lambda found: found[0])
        if SAMPLE < used.shape[0] * used.shape[1] <= ALL_PAIRS:
            exact = QuantisedRelation(used, self.n_quantiles, random_state)
            finalists = [found for _, found in best] + [
                _at(start, {"p": p, **fixed}) for p in norms for start in _STARTS
            ]
            scored = [(self._loss(exact, shapes(c["p"]), c), c) for c in finalists]
            loss, chosen = min(scored, key=lambda found: found[0])
        self.quantised_loss_ = loss
        return chosen

    def _best_shape(
        self, relation: QuantisedRelation, shape: Shape, fixed: dict[str, float]
    ) -> tuple[float, dict[str, float]]:
        seen: dict[tuple[int, int], float] = {}

        def loss(at: tuple[int, int]) -> float:
            if at not in seen:
                seen[at] = self._loss(relation, shape, _at(at, fixed))
                self.search_trace_.append({**_at(at, fixed), "loss": seen[at]})
            return seen[at]

        at = pattern_search(loss, _STARTS, (ALPHA_SIZE, BETA_SIZE), _PATTERN)
        return loss(at), _at(at, fixed)

    def _loss(self, relation: QuantisedRelation, shape: Shape, parameters: dict[str, float]) -> float:
        rows, columns = shape.places(parameters["alpha"], parameters["beta"])
        return relation.loss(rows[self.row_defined_], columns[self.column_defined_])

    def _lay_out(self, shape: Shape, alpha: float, beta: float) -> None:
        """Set the places of all objects, and the loadings that place new ones."""
        rows, columns = shape.places(alpha, beta)
        self.row_embedding_ = np.where(self.row_defined_[:, None], rows, np.nan)
        self.column_embedding_ = np.where(self.column_defined_[:, None], columns, np.nan)
        self.singular_values_ = shape.values
        weights = power(shape.values, beta - 1.0)
        self.row_loadings_ = power(shape.column_norms, -0.5)[:, None] * shape.V * weights
        self.column_loadings_ = power(shape.row_norms, -0.5)[:, None] * shape.U * weights

    def _place_rows(self, new: SparseArray) -> FloatArray:
        return self._fold_in(new, self.row_loadings_, self.column_defined_)

    def _place_columns(self, new: SparseArray) -> FloatArray:
        return self._fold_in(new, self.column_loadings_, self.row_defined_)

    def _fold_in(self, new: SparseArray, loadings: FloatArray, known: BoolArray) -> FloatArray:
        """Place new objects as if they had been there: their own norm, and the known ones' axes."""
        seen = csr_array(new * known)
        norms = p_norms(seen, self.parameters_["p"])
        scale = power(norms, -0.5 - self.parameters_["alpha"])
        scale[np.asarray(seen.sum(axis=1)).ravel() == 0] = np.nan
        return np.asarray(seen @ loadings) * scale[:, None]


def _check_powers(sums: FloatArray) -> None:
    """Refuse weights whose powers, up to the largest α that is tried, are beyond computing."""
    used = sums[sums > 0]
    if not (used.min() >= 1 / _LARGEST_SUM and used.max() <= _LARGEST_SUM):
        raise DataError(
            f"weights sum to between {used.min():.3g} and {used.max():.3g}, whose powers are beyond "
            f"computing; scale them to lie between {1 / _LARGEST_SUM:g} and {_LARGEST_SUM:g}, or give alpha."
        )


def _at(point: tuple[int, int], fixed: dict[str, float]) -> dict[str, float]:
    """Give the parameters at a point of the grid of α and β, where they are not given."""
    return {"alpha": round(STEP * point[0], 10), "beta": round(STEP * point[1], 10), **fixed}


class Shape(NamedTuple):
    """A relation under one norm: the norms, and the singular triplets of the scaled relation."""

    row_norms: FloatArray
    column_norms: FloatArray
    U: FloatArray
    values: FloatArray
    V: FloatArray

    def places(self, alpha: float, beta: float) -> tuple[FloatArray, FloatArray]:
        """Give the coordinates for powers of the norms and of the singular values."""
        with np.errstate(over="ignore", invalid="ignore"):
            weights = power(self.values, beta)
            rows = power(self.row_norms, -alpha)[:, None] * self.U * weights
            columns = power(self.column_norms, -alpha)[:, None] * self.V * weights
        farthest = max(np.abs(rows).max(), np.abs(columns).max())
        if not farthest <= _FARTHEST:
            raise ParameterError(
                f"alpha={alpha:g} and beta={beta:g} put things at {farthest:.3g}, too far for distances; "
                f"give powers nearer to 0 (searched are 0 to {STEP * (ALPHA_SIZE - 1):g} and "
                f"{STEP * (BETA_SIZE - 1):g})."
            )
        return rows, columns


class _Shapes:
    """Decomposes one relation under several norms, each once."""

    def __init__(self, relation: RelationOperator, k: int) -> None:
        self._relation, self._k = relation, k
        self._known: dict[float, Shape] = {}

    def __call__(self, p: float) -> Shape:
        if p not in self._known:
            rows, columns = relation_norms(self._relation, p)
            trivial = (np.sqrt(rows / rows.sum()), np.sqrt(columns / columns.sum())) if p == 1 else None
            operator = ScaledRelation(self._relation, power(rows, -0.5), power(columns, -0.5), trivial)
            used = min(int((rows > 0).sum()), int((columns > 0).sum())) - int(p == 1)
            found = real_triplets(operator, self._k, used)
            self._known[p] = Shape(rows, columns, *found)
        return self._known[p]
