"""Where cohorts should be: prototypes arranged by how alike the cohorts are, or given."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import pdist

from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix.cohorts import CohortRelation, as_dissimilarity, cohort_relation, given_relation
from relscape.models.checks import check_integer
from relscape.models.prototype_layouts import (
    DIVERGENCES,
    Layout,
    calibrated_probabilities,
    classical_scaling,
    laplacian_eigenmap,
    mean_layout,
    neighbour_layout,
    similarity_probabilities,
    standardised,
)
from relscape.protocols import FloatArray, IntArray, SparseArray
from relscape.scores.cohorts import cohort_neighbors

__all__ = [
    "CohortSource",
    "LaplacianPrototypes",
    "MDSPrototypes",
    "MeanPrototypes",
    "PrototypeSettings",
    "Prototypes",
    "SNEPrototypes",
    "TSNEPrototypes",
    "given_prototypes",
    "prototype_links_kept",
    "prototype_settings",
]

# Up to so many cohorts a triangle shows all there is, and neighbourhoods say nothing.
_FEW = 3
_NEAR = 0.03
_FLAT = 1e-10
_NUDGE = 0.01
_COSINES = ("cosine", "captions")


@dataclass(frozen=True, eq=False)
class CohortSource:
    """What is known of cohorts and their members: features, codes (-1 none), weights and links."""

    X: Any
    codes: IntArray
    c: int
    weights: SparseArray | None = None
    links: SparseArray | None = None


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Prototypes (c × k, centred, RMS radius 1) and how they came about.

    ``relation`` is what the cohorts were compared by, ``loss`` what is left of the quantity the method makes
    small, ``method`` the one used: "mds" whenever there are at most three cohorts.
    """

    places: FloatArray
    relation: CohortRelation
    loss: float
    method: str


@dataclass(frozen=True)
class _ArrangedPrototypes(ABC):
    """What all ways to arrange cohorts by a relation among them share; SNEPrototypes explains the fields."""

    method: ClassVar[str]

    dissimilarity: Any = "auto"
    conversion: str = "auto"
    similarity: bool = field(default=False, kw_only=True)

    def place(self, source: CohortSource, n_components: int, rng: Generator) -> Prototypes:
        """Arrange the cohorts in ``n_components`` dimensions; two or three always by classical scaling."""
        _refuse_one(source.c)
        relation = self._relation(source, rng)
        if source.c <= _FEW:
            method, layout = "mds", classical_scaling(self._distances(relation), n_components)
        else:
            method, layout = self.method, self._layout(relation, n_components, rng)
        return _finished(layout, relation, method)

    @abstractmethod
    def _layout(self, relation: CohortRelation, k: int, rng: Generator) -> Layout:
        """Arrange more than three cohorts."""

    def _relation(self, source: CohortSource, rng: Generator) -> CohortRelation:
        if isinstance(self.dissimilarity, str):
            return _compared(self._name(source), source, rng)
        relation = given_relation(self.dissimilarity, self.similarity)
        if len(relation.matrix) != source.c:
            raise ParameterError(
                f"dissimilarity has {len(relation.matrix)} rows, but there are {source.c} cohorts; give one "
                "row and one column a cohort, in their order."
            )
        return relation

    def _name(self, source: CohortSource) -> str:
        if self.dissimilarity != "auto":
            return str(self.dissimilarity)
        if source.links is not None:
            return "citations"
        return "centres" if source.X is not None else "density"

    def _distances(self, relation: CohortRelation) -> FloatArray:
        """Give distances; those of two or three cohorts from similarities lie between 1 and 2.

        Such distances always make a triangle, whereas a conversion that turns the largest similarity into
        the distance 0 would put two of three cohorts on one spot.
        """
        if relation.similarity and len(relation.matrix) <= _FEW:
            others = ~np.eye(len(relation.matrix), dtype=bool)
            alike = np.where(others, np.maximum(relation.matrix, 0.0), 0.0)
            return np.where(others, 2.0 - alike / max(float(alike.max()), np.finfo(float).tiny), 0.0)
        cosines = isinstance(self.dissimilarity, str) and self.dissimilarity in _COSINES
        usual = "one" if cosines else "max"
        return as_dissimilarity(relation, usual if self.conversion == "auto" else self.conversion)


@dataclass(frozen=True)
class _GraphPrototypes(_ArrangedPrototypes):
    """What the ways share that look at who is whose neighbour."""

    perplexity: Any = "auto"
    floor: float = 0.01

    def _probabilities(self, relation: CohortRelation) -> FloatArray:
        if not 0 <= self.floor < 1:
            raise ParameterError(f"floor={self.floor!r}: give a share of at least 0 and below 1.")
        if relation.similarity:
            return similarity_probabilities(relation.matrix, self.floor)
        others = len(relation.matrix) - 1
        perplexity = min(max(others / 3, 2.0), 3.0) if self.perplexity == "auto" else self.perplexity
        if not isinstance(perplexity, int | float) or not 1 <= perplexity < others:
            raise ParameterError(
                f"perplexity={perplexity!r} of the prototypes: with {others + 1} cohorts give a number of at "
                f"least 1 and below {others}, or 'auto'."
            )
        return calibrated_probabilities(relation.matrix, perplexity, self.floor)


@dataclass(frozen=True)
class SNEPrototypes(_GraphPrototypes):
    """Cohorts arranged by symmetric stochastic neighbour embedding, which best keeps who is whose neighbour.

    Parameters
    ----------
    dissimilarity : str or array, c × c
        How cohorts are compared: "pairs", "centres", "density", "citations", "citation-density", "cosine",
        "captions", or the comparison itself. "auto" takes citations when there are links, centres when there
        are features, and the density of neighbour weights otherwise.
    conversion : {"auto", "max", "one", "log"}
        How a similarity becomes a distance where one is needed: the largest less it, one less it, or its
        negative logarithm. "auto" takes "one" for cosines and "max" otherwise.
    perplexity : float or "auto"
        How many neighbours a cohort has, where cohorts are compared by distances; similarities are taken as
        they are. "auto" is a third of the other cohorts, but between 2 and 3: more blurs who is near.
    floor : float
        The share of neighbourhood that is spread evenly over all pairs, so that cohorts with nothing in
        common do not fly apart: 0.01, and 0.1 for t-SNE. Far pairs pull hard in SNE, where more of it
        presses near cohorts together; t-SNE they hardly touch, and near cohorts gain room.
    n_starts : int
        How many random starts besides the one from classical scaling; the lowest end is kept.
    similarity : bool
        Whether a given array says how alike cohorts are, rather than how far apart.
    """

    method: ClassVar[str] = "sne"
    n_starts: int = 20

    def _layout(self, relation: CohortRelation, k: int, rng: Generator) -> Layout:
        check_integer("n_starts", self.n_starts, 0)
        probabilities = self._probabilities(relation)
        first = standardised(classical_scaling(self._distances(relation), k).places)
        # Without a nudge, cohorts that start on one spot would never part.
        starts = [first + _NUDGE * rng.standard_normal(first.shape)]
        starts += [rng.standard_normal(first.shape) for _ in range(self.n_starts)]
        return neighbour_layout(probabilities, k, DIVERGENCES[self.method], starts)


@dataclass(frozen=True)
class TSNEPrototypes(SNEPrototypes):
    """Cohorts arranged by t-SNE: groups of cohorts stand further apart. Parameters as SNEPrototypes."""

    method: ClassVar[str] = "tsne"
    floor: float = 0.1


@dataclass(frozen=True)
class LaplacianPrototypes(_GraphPrototypes):
    """Cohorts arranged by Laplacian eigenmaps of their similarities. Parameters as SNEPrototypes.

    The floor connects cohorts that share nothing.
    """

    method: ClassVar[str] = "laplacian"

    def _layout(self, relation: CohortRelation, k: int, rng: Generator) -> Layout:  # noqa: ARG002
        return laplacian_eigenmap(self._probabilities(relation), k)


@dataclass(frozen=True)
class MDSPrototypes(_ArrangedPrototypes):
    """Cohorts arranged by classical scaling: large distances count most. Parameters as SNEPrototypes."""

    method: ClassVar[str] = "mds"

    def _layout(self, relation: CohortRelation, k: int, rng: Generator) -> Layout:  # noqa: ARG002
        return classical_scaling(self._distances(relation), k)


@dataclass(frozen=True)
class MeanPrototypes:
    """Every cohort at the mean of its members.

    Means are taken in the features themselves where they have as many dimensions as the map, otherwise along
    the first principal axes of all samples.
    """

    method: ClassVar[str] = "means"

    def place(self, source: CohortSource, n_components: int, rng: Generator) -> Prototypes:
        """Arrange the cohorts in ``n_components`` dimensions."""
        _refuse_one(source.c)
        if source.X is None:
            raise ParameterError(
                "prototypes='means' needs features to take means of; give X, or choose 'sne' or 'mds'."
            )
        relation = _compared("centres", source, rng)
        layout = mean_layout(source.X, source.codes, source.c, n_components, rng)
        return _finished(layout, relation, self.method, turn=False)


_SETTINGS: dict[str, type[_ArrangedPrototypes | MeanPrototypes]] = {
    kind.method: kind
    for kind in (SNEPrototypes, TSNEPrototypes, MDSPrototypes, LaplacianPrototypes, MeanPrototypes)
}
PrototypeSettings = _ArrangedPrototypes | MeanPrototypes


def prototype_settings(given: Any) -> PrototypeSettings:
    """Find the settings that a name stands for; settings are given back as they are."""
    if isinstance(given, PrototypeSettings):
        return given
    if not isinstance(given, str) or given not in _SETTINGS:
        raise UnknownNameError("way to place prototypes", given, _SETTINGS)
    return _SETTINGS[given]()


def given_prototypes(places: Any, c: int, k: int) -> FloatArray:
    """Check prototypes that someone gives, one row a cohort; they are taken as they are."""
    try:
        V = np.array(places, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"prototypes are not all numbers ({error}); give a {c} × {k} array.") from error
    if V.shape != (c, k):
        raise DataError(
            f"prototypes have shape {V.shape}; expected {(c, k)}, one row for each of the {c} cohorts in "
            f"their order and one column for each of the {k} axes."
        )
    bad = np.flatnonzero(~np.isfinite(V).all(axis=1))
    if bad.size:
        raise DataError(f"prototypes: row {bad[0]} has NaN or infinite places; give finite ones.")
    _warn_of_few_axes(V)
    return V


def prototype_links_kept(places: FloatArray, relation: CohortRelation, k: int = 2) -> float:
    """Give the share of neighbourhoods among cohorts that prototypes keep.

    Two cohorts are linked where one is among the ``k`` nearest of the other. A layout can keep all of the
    relation's links only where the plane has room for them.
    """
    cohorts = np.arange(len(places))
    return cohort_neighbors(places, cohorts, relation.matrix, k, similarity=relation.similarity)


def _compared(name: str, source: CohortSource, rng: Generator) -> CohortRelation:
    return cohort_relation(
        name,
        X=source.X,
        codes=source.codes,
        c=source.c,
        weights=source.weights,
        links=source.links,
        random_state=rng,
    )


def _finished(layout: Layout, relation: CohortRelation, method: str, turn: bool = True) -> Prototypes:
    """Bring a layout to its standard size, and say what is wrong with it."""
    places = standardised(layout.places, turn)
    _warn_of_few_axes(places)
    _warn_of_near(places)
    return Prototypes(places, relation, layout.loss, method)


def _refuse_one(c: int) -> None:
    if c < 2:
        raise DataError(
            "there is only one cohort, so all samples would be drawn to one spot; give labels of two or more."
        )


def _warn_of_few_axes(places: FloatArray) -> None:
    """Warn when prototypes all lie in fewer dimensions than the map has."""
    c, k = places.shape
    sizes = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    rank = int((sizes > _FLAT * sizes.max(initial=0.0)).sum())
    if rank < k:
        fault = (
            f"span only {rank} of the map's {k} dimensions; choose n_components={rank} (--dimensions {rank}) "
            "or give prototypes that span them all."
        )
        warnings.warn(
            f"the {c} prototypes {fault if rank else 'all lie on one spot; give them places apart.'}",
            RelscapeWarning,
            stacklevel=4,
        )


def _warn_of_near(places: FloatArray) -> None:
    nearest = float(pdist(places).min())
    if nearest < _NEAR:
        warnings.warn(
            f"the two nearest prototypes are {nearest:.2g} apart where their layout has radius 1, and "
            "their cohorts may overlap; choose another layout ('tsne' gives the most room), or your own.",
            RelscapeWarning,
            stacklevel=4,
        )
