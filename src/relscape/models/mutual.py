"""The mutual co-embedding: each kind placed by the other, under flexible weights and scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from relscape.errors import ParameterError
from relscape.maps import Map
from relscape.matrix.mutual import (
    MutualAxes,
    MutualWeights,
    averaged_axes,
    mutual_operator,
    mutual_weights,
    zeta_weights,
)
from relscape.matrix.mutual_blocks import relation_pairs
from relscape.models.base import Part
from relscape.models.checks import LARGEST, as_number, check_integer, generator, is_auto, shown
from relscape.models.components import BlockwiseModel
from relscape.models.mutual_search import (
    MutualParameters,
    Neighbourhood,
    axis_weights,
    choose_parameters,
)
from relscape.models.spectral import check_axes, rounding_floor
from relscape.protocols import FloatArray, RelationOperator, SparseArray
from relscape.scores.neighbourhood import gamma_of_pairs
from relscape.solvers.spectral import truncated_svd

__all__ = ["CoEmbedding", "mutual_axes"]

SEARCH_TOLERANCE = 1e-3
_GAMMA_SAMPLE = 10_000


def mutual_axes(
    relation: RelationOperator,
    weights: MutualWeights,
    k: int,
    tolerance: float = 1e-8,
    start: FloatArray | None = None,
) -> MutualAxes:
    """Decompose a relation under given weights; axes that do not exist are zero.

    The first vector of the iteration is fixed unless ``start`` gives one.
    """
    m, n = relation.shape
    k_there = min(k, min(m, n) - 1)
    if k_there < 1:
        return MutualAxes(np.zeros((m, k)), np.zeros((n, k)), np.zeros(k))
    operator = mutual_operator(relation, weights)
    found = truncated_svd(operator, k_there, np.random.default_rng(0), tolerance, start)
    # The decomposition tells structure from rounding; the σ of averaged rounding can be anything.
    real = found.values > rounding_floor(m, n)
    axes = averaged_axes(relation, weights, found.U[:, real])
    pad = [(0, 0), (0, k - int(real.sum()))]
    return MutualAxes(np.pad(axes.psi, pad), np.pad(axes.phi, pad), np.pad(axes.sigma, pad[1]))


class _Decomposer:
    """Decomposes one relation for many (η₁, η₂), each started from the nearest one before.

    With ζ given, φ is scaled such that ξ = 1 and γ = 0 lay out the form with ζ.
    """

    def __init__(self, relation: RelationOperator, k: int, zeta: FloatArray | None) -> None:
        self._relation, self._k, self._zeta = relation, k, zeta
        self._starts: dict[tuple[float, float], FloatArray] = {}
        self.finals: dict[tuple[float, float], MutualAxes] = {}

    def __call__(self, eta_rows: float, eta_columns: float, final: bool = False) -> MutualAxes:
        weights = mutual_weights(self._relation, eta_rows, eta_columns)
        if final:  # with all digits: one of these will be the fit
            axes = self.finals[eta_rows, eta_columns] = mutual_axes(self._relation, weights, self._k)
            return self._sized(axes, weights)
        start = None
        if self._starts:
            nearest = min(self._starts, key=lambda e: (abs(e[0] - eta_rows) + abs(e[1] - eta_columns), e))
            start = self._starts[nearest]
        axes = mutual_axes(self._relation, weights, self._k, SEARCH_TOLERANCE, start)
        m, n = self._relation.shape
        if n <= m:
            vectors = axes.phi * np.sqrt(weights.b * weights.v)[:, None]
        else:
            vectors = axes.psi * np.sqrt(weights.a * weights.u)[:, None]
        sizes = np.linalg.norm(vectors, axis=0).clip(np.finfo(float).tiny)
        direction = (vectors / sizes).sum(axis=1)
        if direction.any():
            self._starts[eta_rows, eta_columns] = direction
        return self._sized(axes, weights)

    def _sized(self, axes: MutualAxes, weights: MutualWeights) -> MutualAxes:
        if self._zeta is None:
            return axes
        return axes._replace(phi=axes.phi * zeta_weights(axes, weights, self._zeta) * axes.sigma)


class CoEmbedding(BlockwiseModel):
    r"""Mutual co-embedding with automatic model search (Wu, Mu, Liatsis and Goulermas 2016).

    Every axis places the row objects at weighted means of their column objects and the column
    objects at weighted means of their row objects, up to scale; with sums r and c,
    :math:`a = r^{η_1 - 1}`, :math:`b = c^{η_2 - 1}`, the axes are the non-trivial singular vectors of
    :math:`D(a/u)^{1/2} R\, D(b/v)^{1/2}`. CA (γ = ½) and the bipartite spectral embedding (γ = 0) are
    the members with η₁ = η₂ = ξ = 1, so an automatic choice is never worse than they are by Γ.

    Parameters
    ----------
    n_components : int
        Number of axes.
    eta_rows, eta_columns : float or "auto"
        How much heavy rows and columns count, 0 to 10; 1 counts them by their sums.
    xi : float or "auto"
        Scale of the columns' cloud against that of the rows.
    gamma : float or "auto"
        Power of the eigenvalues that weigh the axes.
    zeta : float or array of length k, optional
        The model's first form, with a squared size of the columns' cloud for every axis in place of
        ξ and γ. Not free of the relation's scale: bring it to mean 1 first.
    k_rows, k_columns : int
        Neighbourhoods of Γ, the score that chooses what is "auto".
    ties : {"positive", "inclusive", "index"}
        How Γ counts equal weights.
    components : {"largest", "each", "joint"}
        What to do when the relation falls into blocks that nothing connects.
    max_evaluations : int
        Most decompositions the search may make, before its best few are compared.
    random_state : int, Generator or None
        Drives the search.

    Attributes
    ----------
    row_embedding_, column_embedding_ : arrays, m × k and n × k
    eigenvalues_ : array of length k
        Of T, without the trivial 1; of the largest block.
    parameters_ : dict
        The four parameters used.
    gamma_loss_, gamma_pairs_ : float, int
        Γ of the result at ``search_neighbourhood_`` and the number of pairs it counts: exact after a
        search, else from at most 10,000 sampled pairs.
    search_trace_ : list of dict
        Every candidate with its ``gamma_loss``, sampled or exact, in order.
    """

    def __init__(
        self,
        n_components: int = 2,
        eta_rows: float | str = "auto",
        eta_columns: float | str = "auto",
        xi: float | str = "auto",
        gamma: float | str = "auto",
        zeta: Any = None,
        k_rows: int = 5,
        k_columns: int = 5,
        ties: str = "positive",
        components: str = "largest",
        max_evaluations: int = 40,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.eta_rows = eta_rows
        self.eta_columns = eta_columns
        self.xi = xi
        self.gamma = gamma
        self.zeta = zeta
        self.k_rows = k_rows
        self.k_columns = k_columns
        self.ties = ties
        self.components = components
        self.max_evaluations = max_evaluations
        self.random_state = random_state

    def _embed(self, relation: RelationOperator) -> None:
        fixed = self._fixed()
        zeta = self._zetas()
        (m, n), k = relation.shape, self.n_components
        self.row_embedding_, self.column_embedding_ = np.full((m, k), np.nan), np.full((n, k), np.nan)
        self.row_loadings_, self.column_loadings_ = np.zeros((n, k)), np.zeros((m, k))
        self.row_weights_, self.column_weights_ = np.zeros(m), np.zeros(n)
        for number, part in enumerate(self._parts(relation)):
            found = None
            if number == 0:
                parameters, found = self._choose(part.relation, fixed, zeta)
            weights = mutual_weights(part.relation, parameters.eta_rows, parameters.eta_columns)
            axes = found or mutual_axes(part.relation, weights, k)
            if number == 0:
                check_axes(axes.sigma, relation.shape)
                self.eigenvalues_ = axes.sigma**2
            self._lay_out(axes, weights, parameters, zeta, part)
            if number == 0 and found is None:
                self._score(part)

    def _fixed(self) -> dict[str, float]:
        """Check the parameters that are given as numbers."""
        fixed = {}
        for name in MutualParameters._fields:
            value = getattr(self, name)
            if is_auto(value):
                continue
            number = as_number(value)
            if not 0 <= number <= LARGEST or (name == "xi" and number == 0):
                bound = "above 0" if name == "xi" else "of at least 0"
                raise ParameterError(
                    f"{name}={shown(value)}: give a number {bound} (up to {LARGEST:g}), or 'auto'."
                )
            fixed[name] = number
        for name in ("k_rows", "k_columns", "max_evaluations"):
            check_integer(name, getattr(self, name), 1)
        return fixed

    def _zetas(self) -> FloatArray | None:
        if self.zeta is None:
            return None
        several = isinstance(self.zeta, list | tuple) or np.ndim(self.zeta) == 1
        given = np.array([as_number(value) for value in (self.zeta if several else [self.zeta])])
        fits = given.size == (self.n_components if several else 1)
        if not (fits and np.isfinite(given).all() and (given >= 0).all()):
            raise ParameterError(
                f"zeta={shown(self.zeta)}: give one number of at least 0, or {self.n_components} of them."
            )
        return np.broadcast_to(given, (self.n_components,))

    def _choose(
        self, relation: RelationOperator, fixed: dict[str, float], zeta: FloatArray | None
    ) -> tuple[MutualParameters, MutualAxes | None]:
        """Take the parameters as given, or search those that are "auto", which finds the axes too, and Γ."""
        if zeta is not None:
            fixed = {**fixed, "xi": 1.0, "gamma": 0.0}
        neighbourhood = Neighbourhood(self.k_rows, self.k_columns, self.ties)
        self.search_trace_: list[dict[str, Any]] = []
        self.search_reason_ = "all parameters are given"
        axes = None
        if len(fixed) == 4:
            parameters = MutualParameters(**fixed)
        else:
            decompose = _Decomposer(relation, self.n_components, zeta)
            choice = choose_parameters(
                decompose,
                relation,
                neighbourhood,
                fixed,
                self.max_evaluations,
                generator(self.random_state),
            )
            parameters, neighbourhood = choice.parameters, choice.neighbourhood
            self.search_trace_, self.search_reason_ = choice.trace, choice.reason
            self.gamma_loss_, self.gamma_pairs_ = choice.gamma
            axes = decompose.finals[parameters[:2]]
        self.parameters_ = parameters._asdict()
        self.search_neighbourhood_: list[Any] = list(neighbourhood)
        return parameters, axes

    def _lay_out(
        self,
        axes: MutualAxes,
        weights: MutualWeights,
        parameters: MutualParameters,
        zeta: FloatArray | None,
        part: Part,
    ) -> None:
        """Set the places of one part's objects in R's own scale, and the loadings that place new ones."""
        scale = np.exp(-0.5 * weights.log_b)  # undoes the normalisation of b
        psi, phi = axes.psi * scale, axes.phi * scale
        if zeta is None:
            row_weights, column_weights = axis_weights(axes.sigma, parameters.xi, parameters.gamma)
        else:
            row_weights, column_weights = np.ones_like(axes.sigma), zeta_weights(axes, weights, zeta)
        self.row_embedding_[part.rows] = psi * row_weights
        self.column_embedding_[part.columns] = phi * column_weights
        self.row_weights_[part.rows], self.column_weights_[part.columns] = weights.a, weights.b
        self.row_loadings_[part.columns] = weights.b[:, None] * phi * _ratio(row_weights, axes.sigma**2)
        self.column_loadings_[part.rows] = weights.a[:, None] * psi * column_weights

    def _score(self, part: Part) -> None:
        """Set Γ of the largest part for given parameters, from a sample of pairs."""
        searched = Neighbourhood(*self.search_neighbourhood_)
        pairs = relation_pairs(part.relation, *searched)
        rows, columns = self.row_embedding_[part.rows], self.column_embedding_[part.columns]
        self.gamma_loss_, self.gamma_pairs_ = gamma_of_pairs(
            pairs, rows, columns, *searched, _GAMMA_SAMPLE, 0
        )

    def _place_rows(self, new: SparseArray) -> FloatArray:
        new = self._within_one_block(new, self.column_component_)
        return _averaged(new, self.row_loadings_, self.column_weights_)

    def _place_columns(self, new: SparseArray) -> FloatArray:
        new = self._within_one_block(new, self.row_component_)
        return _averaged(new, self.column_loadings_, self.row_weights_)

    def to_map(self) -> Map:
        """Give the map of both kinds, with the parameters chosen and Γ among its scores."""
        joint = super().to_map()
        joint.scores |= {"gamma_loss": self.gamma_loss_, "gamma_pairs": self.gamma_pairs_}
        joint.provenance["parameters_used"] = self.parameters_
        return joint


def _averaged(new: SparseArray, loadings: FloatArray, weights: FloatArray) -> FloatArray:
    """Apply the transition formulas (spec section 2.5): means weighted by the new relations."""
    sums = new @ weights
    return np.asarray(new @ loadings) * np.where(sums > 0, _ratio(1.0, sums), np.nan)[:, None]


def _ratio(numerator: FloatArray | float, denominator: FloatArray) -> FloatArray:
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)
