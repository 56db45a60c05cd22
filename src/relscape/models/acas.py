"""ACAS: co-embedding with adaptive shaping, and its choice by quantised distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from relscape import progress
from relscape.errors import DataError, ParameterError
from relscape.matrix.operators import LocalRelation, ScaledRelation
from relscape.matrix.quantised import QuantisedRelation
from relscape.matrix.scaling import p_norms
from relscape.models.base import CoEmbeddingModel, check_integer
from relscape.models.spectral import check_axes, real_triplets
from relscape.protocols import BoolArray, FloatArray, RelationOperator, SparseArray
from relscape.solvers.spectral import Triplets

__all__ = ["ACAS"]

P_VALUES = (1.0, 0.0, 2.0, 3.0, np.inf)
STEP = 0.1
ALPHA_SIZE, BETA_SIZE = 51, 21  # α 0 … 5, β 0 … 2
_PATTERN = (8, 3, 1)
_STARTS = ((5, 10), (5, 0), (0, 10))  # CA's, BGP's and LSI's α and β


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
        self.search_trace_: list[dict[str, float]] = []
        self.quantised_loss_ = float("nan")
        if not isinstance(relation, LocalRelation):
            raise ParameterError("ACAS needs the relation in memory, for its norms.")
        self._shapes = _Shapes(relation, self.n_components)
        if len(fixed) < 3:
            fixed = self._choose(relation, fixed)
        self.parameters_ = fixed
        shape = self._shapes(fixed["p"])
        del self._shapes
        check_axes(shape.triplets.values, relation.shape)
        self._lay_out(shape, fixed["alpha"], fixed["beta"])

    def _fixed(self) -> dict[str, float]:
        """Check the parameters that are given as numbers."""
        check_integer("n_quantiles", self.n_quantiles, 2)
        fixed = {}
        for name, rule in (("p", "0, or at least 1"), ("alpha", "at least 0"), ("beta", "any")):
            value = getattr(self, name)
            if isinstance(value, str) and value == "auto":
                continue
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            wrong = not number or np.isnan(value) or (name != "p" and np.isinf(value))
            wrong = wrong or (name == "p" and value != 0 and value < 1) or (name == "alpha" and value < 0)
            if wrong:
                raise ParameterError(f"{name}={value!r}: give a number ({rule}), or 'auto'.")
            fixed[name] = float(value)
        return fixed
