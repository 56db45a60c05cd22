"""What COVA minimises: f = α O_C + (1 − α) O_L, and the pull of anchors (specification, sections 7 and 11).

O_C keeps samples near the prototypes they belong to, O_L near their neighbours; each is a sum of squared
distances or a divergence, which makes four variants. A projected objective has the map as features times a
small matrix, and can be taken over a batch of samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from relscape.errors import ParameterError, UnknownNameError
from relscape.objectives.cohort_terms import (
    anchor_pull,
    graph_tension,
    prototype_divergence,
    prototype_pull,
)
from relscape.objectives.neighbour import conditional_divergence, information, neighbour_divergence
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["LOCAL_FORMS", "VARIANTS", "Anchors", "CohortObjective", "ProjectedObjective", "batches"]

# Of each variant: is the cohort term a divergence, and is the local term one?
_DIVERGENCES = {"1": (False, False), "2": (True, True), "3": (False, True), "4": (True, False)}
VARIANTS = tuple(_DIVERGENCES)
LOCAL_FORMS = ("joint", "conditional")


@dataclass(frozen=True, eq=False)
class Anchors:
    """Samples held to places: ``index`` (a), ``places`` (a × k) and ``strengths`` (a).

    A strength of 1/n is the whole pull of an average sample.
    """

    index: IntArray
    places: FloatArray
    strengths: FloatArray

    def within(self, batch: IntArray, n: int) -> Anchors | None:
        """Keep the anchors of a batch, counted within it, as strong among its samples as among all n."""
        position = np.full(n, -1, dtype=np.int64)
        position[batch] = np.arange(len(batch))
        kept = position[self.index] >= 0
        if not kept.any():
            return None
        strengths = self.strengths[kept] * (n / len(batch))
        return Anchors(position[self.index[kept]], self.places[kept], strengths)


@dataclass(frozen=True, eq=False)
class CohortObjective:
    """The objective of COVA in the places of the samples.

    Parameters
    ----------
    weights : sparse array, n × n
        W, symmetric, without diagonal, summing to one; or without entries, when there is no local term.
    confidence : array, n × c, dense or sparse
        R, summing to one; or all zero, when there is no cohort term.
    prototypes : array, c × k
    alpha : float
        The share of the cohort term, from 0 to 1; a term without a share is not computed.
    variant : {"1", "2", "3", "4"}
        Distances for both terms; divergences for both; distances to prototypes and divergence of neighbours;
        divergence of prototypes and distances to neighbours.
    anchors : Anchors, optional
    method : str
        How the repulsion of a joint divergence of neighbours is summed up (see ``neighbour.repulsion``).
    local : {"joint", "conditional"}
        A divergence of neighbours compares all pairs as one distribution, or those of every sample by
        themselves (section 7.4), which is summed up exactly.
    """

    weights: SparseArray
    confidence: FloatArray | SparseArray
    prototypes: FloatArray
    alpha: float
    variant: str
    anchors: Anchors | None = None
    method: str = "auto"
    local: str = "joint"

    def __post_init__(self) -> None:
        if self.variant not in _DIVERGENCES:
            raise UnknownNameError("variant", self.variant, VARIANTS)
        if self.local not in LOCAL_FORMS:
            raise UnknownNameError("form of the local term", self.local, LOCAL_FORMS)
        if not 0.0 <= self.alpha <= 1.0:
            raise ParameterError(f"alpha is {self.alpha}; expected a number from 0 to 1.")
        n, c = self.confidence.shape
        if self.weights.shape != (n, n):
            raise ParameterError(
                f"weights have shape {self.weights.shape}; the confidences are of {n} samples, so expected "
                f"{(n, n)}."
            )
        if len(self.prototypes) != c:
            raise ParameterError(
                f"there are {len(self.prototypes)} prototypes and confidences in {c} cohorts; give one "
                "prototype a cohort."
            )

    @cached_property
    def _constants(self) -> tuple[float, float]:
        """Give Σ r log r and Σ w log w where the variant needs them."""
        cohort, local = _DIVERGENCES[self.variant]
        return (
            information(self.confidence) if cohort else 0.0,
            information(self.weights) if local else 0.0,
        )

    @cached_property
    def _present(self) -> tuple[bool, bool]:
        """Tell whether there are confidences, and whether there are weights."""
        return bool(self.confidence.sum() > 0), bool(self.weights.sum() > 0)

    @property
    def repels(self) -> bool:
        """Whether all pairs of samples push each other apart, which can be summed up quickly."""
        return _DIVERGENCES[self.variant][1] and self.local == "joint"

    def cohort_term(self, Z: FloatArray) -> tuple[float, FloatArray]:
        """Give O_C and its gradient; nothing where no sample belongs to a cohort."""
        if not self._present[0]:
            return 0.0, np.zeros(Z.shape)
        if _DIVERGENCES[self.variant][0]:
            return prototype_divergence(Z, self.confidence, self.prototypes, self._constants[0])
        return prototype_pull(Z, self.confidence, self.prototypes)

    def local_term(self, Z: FloatArray) -> tuple[float, FloatArray]:
        """Give O_L and its gradient; nothing where no two samples are neighbours."""
        if not self._present[1]:
            return 0.0, np.zeros(Z.shape)
        if _DIVERGENCES[self.variant][1]:
            if self.local == "conditional":
                return conditional_divergence(Z, self.weights)
            return neighbour_divergence(Z, self.weights, self.method, self._constants[1])
        return graph_tension(Z, self.weights)

    def terms(self, Z: FloatArray) -> tuple[float, float]:
        """Give both terms by themselves, (O_C, O_L)."""
        return self.cohort_term(Z)[0], self.local_term(Z)[0]

    def value_and_gradient(self, Z: FloatArray) -> tuple[float, FloatArray]:
        """Give f and its gradient in Z."""
        value, gradient = 0.0, np.zeros(Z.shape)
        for share, term in ((self.alpha, self.cohort_term), (1.0 - self.alpha, self.local_term)):
            if share > 0.0:
                part, slope = term(Z)
                value += share * part
                gradient += share * slope
        if self.anchors is not None:
            part, slope = anchor_pull(Z, self.anchors.index, self.anchors.places, self.anchors.strengths)
            value += part
            gradient += slope
        return value, gradient

    def within(self, batch: IntArray) -> CohortObjective:
        """Give the objective of a batch of samples: weights and confidences among them, of sum one again."""
        n = self.weights.shape[0]
        weights = csr_array(self.weights[batch][:, batch])
        confidence = self.confidence[batch]
        mass, total = float(confidence.sum()), float(weights.sum())
        return replace(
            self,
            weights=weights / total if total > 0 else weights,
            confidence=confidence / mass if mass > 0 else confidence,
            anchors=None if self.anchors is None else self.anchors.within(batch, n),
        )


@dataclass(frozen=True, eq=False)
class ProjectedObjective:
    """The objective of COVA in a projection U (r × k), the map being Z = F U for features F (n × r)."""

    objective: CohortObjective
    features: FloatArray

    def value_and_gradient(self, U: FloatArray) -> tuple[float, FloatArray]:
        """Give f(F U) and its gradient in U."""
        value, gradient = self.objective.value_and_gradient(self.features @ U)
        return value, self.features.T @ gradient

    def value_and_gradient_of(self, U: FloatArray, batch: IntArray) -> tuple[float, FloatArray]:
        """Give the objective of a batch of samples and its gradient in U."""
        return self.of_batch(batch).value_and_gradient(U)

    def of_batch(self, batch: IntArray) -> ProjectedObjective:
        """Give the objective of a batch as one by itself; that of the latest batch is kept at hand."""
        key = batch.tobytes()
        if key not in self._latest:
            self._latest.clear()
            self._latest[key] = ProjectedObjective(self.objective.within(batch), self.features[batch])
        return self._latest[key]

    @cached_property
    def _latest(self) -> dict[bytes, ProjectedObjective]:
        return {}


def batches(W: SparseArray, size: int, rng: np.random.Generator) -> list[IntArray]:
    """Cut all samples into batches of ``size`` (the last may be smaller), each in one, neighbours together.

    Samples drawn one by one would hardly ever be neighbours: of a sparse graph they keep about the square of
    their share of the edges. Here every sample drawn brings along its neighbours that are not yet in a batch.
    """
    if size < 1:
        raise ParameterError(f"size is {size}; a batch needs at least one sample.")
    order = _gathered(rng.permutation(W.shape[0]), W.indptr, W.indices)
    return [np.sort(order[begin : begin + size]) for begin in range(0, len(order), size)]


@njit(cache=True)
def _gathered(drawn, starts, ends):  # type: ignore[no-untyped-def]
    """Put samples in the order drawn, each followed by its neighbours that have not come before."""
    order = np.empty(drawn.size, dtype=np.int64)
    seen = np.zeros(drawn.size, dtype=np.bool_)
    count = 0
    for i in drawn:
        if seen[i]:
            continue
        seen[i] = True
        order[count] = i
        count += 1
        for e in range(starts[i], starts[i + 1]):
            j = ends[e]
            if not seen[j]:
                seen[j] = True
                order[count] = j
                count += 1
    return order
