"""COVA's ingredients, from what was given: cohorts, weights of neighbours, confidences and prototypes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from relscape.data.cohorts import Cohorts, read_cohorts
from relscape.errors import DataError, RelscapeWarning
from relscape.matrix.affinity import Affinity, AffinitySettings, GaussianAffinity, affinity_settings
from relscape.matrix.completion import completed_by_graph, completed_codes
from relscape.matrix.confidence import Confidence, confidence_settings, given_confidence, unplaced
from relscape.models.clustering import cluster_names, clusters
from relscape.models.cova_guides import Start, turned_to
from relscape.models.feature_inputs import Features
from relscape.models.prototypes import CohortSource, given_prototypes, prototype_settings
from relscape.objectives.cohort import Anchors
from relscape.protocols import BoolArray, FloatArray, IntArray, SparseArray

__all__ = [
    "Layout",
    "cohorts_of",
    "completed",
    "confidence_of",
    "default_floor",
    "held",
    "is_matrix",
    "layout_of",
    "only_among",
    "weights_of",
]

_COMPLETION_NEIGHBOURS = 5
_FOREIGN = 0.1  # what all foreign cohorts together keep of a sample's confidence, where divergences compare


def is_matrix(given: Any) -> bool:
    """Tell whether a parameter is the matrix itself, rather than a name or settings."""
    return issparse(given) or hasattr(given, "shape") or isinstance(given, list | tuple)


# ---------------------------------------------------------------------- cohorts


def cohorts_of(
    y: Any, X: Features | None, weights: SparseArray | None, n: int, n_cohorts: int, rng: np.random.Generator
) -> Cohorts:
    """Read the labels, or find cohorts by clustering where there are none."""
    if y is not None:
        cohorts = read_cohorts(y if hasattr(y, "__iter__") else np.asarray(y), n)
        if len(cohorts.names) < 2:
            raise DataError(
                f"y has one class only, {str(cohorts.names[0])!r}: all samples would be drawn to one spot. "
                "Give labels of two or more cohorts, or leave y out to have some found."
            )
        return cohorts
    if n < 4:
        raise DataError(
            f"there are n_samples={n} samples without labels, too few to find cohorts among; give y."
        )
    count = max(2, min(n_cohorts, n // 2))
    how = "kmeans" if X is not None else "spectral"
    codes = np.asarray(
        clusters(X=X, weights=weights, n_clusters=count, method=how, random_state=rng), dtype=np.int64
    )
    present, codes = np.unique(codes, return_inverse=True)
    if present.size < 2:
        raise DataError("the samples are all alike, so that no cohorts can be found among them; give y.")
    names = cluster_names(present.size)
    return Cohorts(names, names, codes, np.zeros(n, dtype=bool))


def completed(cohorts: Cohorts, X: Features | None, weights: SparseArray, metric: str) -> Cohorts:
    """Predict the cohorts of samples without a label by their neighbours."""
    if (cohorts.codes >= 0).all():
        return cohorts
    if X is not None:
        return cohorts.completed(completed_codes(X, cohorts.codes, _COMPLETION_NEIGHBOURS, metric))
    return cohorts.completed(completed_by_graph(weights, cohorts.codes))


# ---------------------------------------------------------------------- weights and confidences


def weights_of(
    affinity: Any, n_neighbors: int, X: Any, n: int, codes: IntArray | None, rng: np.random.Generator
) -> tuple[AffinitySettings, Affinity]:
    """Weigh the samples against each other; gives the settings too.

    Of few samples, fewer neighbours are looked at: a perplexity of at most a third of them.
    """
    settings = affinity_settings(affinity, n_neighbors)
    if affinity == "perplexity":
        settings = GaussianAffinity(perplexity=min(float(n_neighbors), max((n - 1) / 3, 1.0)))
    return settings, settings.fit(X, codes, rng)


def default_floor(variant: str, c: int) -> float:
    """Give the confidence in foreign cohorts: none for distances, a little for divergences (section 6)."""
    return _FOREIGN / (c - 1) if variant[-1] in "24" else 0.0


def confidence_of(
    confidence: Any, cohorts: Cohorts, weights: SparseArray, X: Features | None, floor: float
) -> tuple[Any, Confidence]:
    """Say how surely samples belong to cohorts, with some confidence in every part of the graph.

    Gives the settings too, None where the confidences were given.
    """
    n, c = len(cohorts.codes), len(cohorts.names)
    if is_matrix(confidence):
        settings, found = None, given_confidence(confidence, n, c)
    else:
        settings = confidence_settings(confidence)
        found = settings.fit(cohorts.codes, c, weights=weights, X=X, floor=floor)
    found, repaired = found.reaching(weights, cohorts.codes)
    if repaired:
        warnings.warn(
            f"{repaired} samples are in parts of the neighbour graph that no confidence reaches; they are "
            "held to their own cohort by the least confidence that others have in theirs.",
            RelscapeWarning,
            stacklevel=4,
        )
    return settings, found


def held(weights: SparseArray, confidence: Any, anchors: Anchors | None) -> BoolArray:
    """Tell which samples something holds in place: a confidence or an anchor in their part of the graph."""
    mass = np.asarray(confidence.sum(axis=1)).ravel()
    if anchors is not None:
        np.add.at(mass, anchors.index, anchors.strengths)
    return ~unplaced(mass[:, None], weights)


def only_among(affinity: Affinity, there: BoolArray) -> Affinity:
    """Leave out the weights of samples that get no place, and bring the sum back to 1."""
    keep = diags_array(there.astype(np.float64))
    weights = csr_array(keep @ affinity.weights @ keep)
    weights.eliminate_zeros()
    share = float(weights.sum())
    if share == 0:
        return replace(affinity, weights=weights)
    return replace(affinity, weights=weights / share, total=affinity.total * share)


# ---------------------------------------------------------------------- prototypes


@dataclass(frozen=True, eq=False)
class Layout:
    """Prototypes (c × k) before they are brought to size: the automatic ones of RMS radius 1, or as given."""

    places: FloatArray
    automatic: bool

    def sized(
        self, scale: float | None, rule: float, names: Any, codes: IntArray, start: Start | None
    ) -> tuple[FloatArray, float]:
        """Bring prototypes to size, and automatic ones towards an earlier arrangement; gives their scale.

        ``scale`` is what was asked for, if anything, ``rule`` the scale of automatic ones else.
        """
        if not self.automatic:
            factor = 1.0 if scale is None else scale
            return factor * self.places, factor
        factor = rule if scale is None else scale
        places = factor * self.places
        if start is None:
            return places, factor
        places, growth = turned_to(places, names, codes, start, scaled=scale is None and start.alike)
        return places, factor * growth


def layout_of(prototypes: Any, source: CohortSource, n_components: int, rng: np.random.Generator) -> Layout:
    """Arrange the cohorts, or take the arrangement that was given."""
    if is_matrix(prototypes):
        return Layout(given_prototypes(prototypes, source.c, n_components), automatic=False)
    return Layout(prototype_settings(prototypes).place(source, n_components, rng).places, automatic=True)
