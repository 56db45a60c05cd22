"""New samples on a fitted COVA, each by itself (its specification, section 13)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.errors import DataError, ParameterError, RelscapeWarning
from relscape.matrix.completion import predicted_codes
from relscape.matrix.confidence import confidence_rows
from relscape.models.cova_problem import weights_of
from relscape.models.feature_inputs import Features, same_rows
from relscape.objectives.cohort_newcomers import Surroundings, settle
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["new_links", "placed_by_features", "placed_by_neighbours"]


def new_links(model: Any, links: Any, m: int) -> SparseArray | None:
    """Check the links of m new samples to those of the fit, where the model has a use for them."""
    compaction = model.relations_.compaction if model.variant[0] != "E" else None
    used = compaction is not None and compaction.link_codes.size > 0
    if links is None:
        if used:
            warnings.warn(
                "this model was fitted with links between samples, and the new ones have none: they are "
                "placed as samples without links. Give theirs as transform(X, links=...).",
                RelscapeWarning,
                stacklevel=3,
            )
        return None
    if not used:
        raise ParameterError(
            "links of new samples are used by projections of compacted features that were fitted with links "
            "(features=RelationFeatures(compact=True)); this model has none, so leave them out."
        )
    n = len(model.labels_)
    try:
        matrix = csr_array(links, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"links are an array of numbers, {m} × {n}.") from error
    if matrix.shape != (m, n):
        raise DataError(
            f"links have shape {matrix.shape}; expected {m} × {n}, a row for every new sample and a column "
            "for every sample of the fit."
        )
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise DataError("links contain weights that are negative or not finite; expected 0 or more.")
    return matrix


def placed_by_features(model: Any, new: Features, links: SparseArray | None) -> FloatArray:
    """Project the relation features of new samples; those that were there come to their own place."""
    table = model.feature_settings_.rows(model.relations_, new, links)
    return _own_places(model, new, np.asarray(table @ model.projection_ + model.origin_))


def placed_by_neighbours(model: Any, new: Features) -> FloatArray:
    """Place new samples by their neighbours among the old ones and by their predicted cohort."""
    known: IntArray = model.labels_
    codes = predicted_codes(model.features_, known, new, metric=model._metric())
    weights, confidence = _rows(model, new, codes)
    alpha, places, prototypes = model.alpha_, model.embedding_, model.prototypes_
    there = np.isfinite(places).all(axis=1)
    if not there.all():
        weights = csr_array(weights[:, there])
        places = places[there]
    drawn = alpha * (confidence @ prototypes) + (1 - alpha) * (weights @ places)
    pull = alpha * confidence.sum(axis=1) + (1 - alpha) * np.asarray(weights.sum(axis=1)).ravel()
    first = np.full(drawn.shape, np.nan)
    first[pull > 0] = drawn[pull > 0] / pull[pull > 0, None]
    if model.variant != "E1":
        around = Surroundings(places, prototypes, alpha, model.variant[1])
        starts = [first, _nearest_places(weights, places, first)]
        found = pull > 0
        first[found] = settle(around, [s[found] for s in starts], weights[found], confidence[found])
    return _own_places(model, new, first)


def _nearest_places(weights: SparseArray, places: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Give the place of the old sample with the largest weight; those without any keep ``otherwise``."""
    nearest = np.array(otherwise)
    linked = np.flatnonzero(np.diff(weights.indptr))
    nearest[linked] = places[weights[linked].argmax(axis=1)]
    return nearest


def _rows(model: Any, new: Features, codes: IntArray) -> tuple[SparseArray, FloatArray]:
    """Weigh new samples against the old, and say how surely they belong; by the divisors of W and R."""
    # W was weighed by labels that were given, if any were.
    weighed_by = model.labels_ if model.predicted_.all() else np.where(model.predicted_, -1, model.labels_)
    if model.affinity_settings_ is None:
        weights = _weighed_by_features(model, new)
    else:
        weights = model.affinity_settings_.rows(model.affinity_fit_, model.features_, new, weighed_by, codes)
    confidence = confidence_rows(
        model.confidence_settings_, model.confidence_fit_, weights, new, model.labels_, codes
    )
    return weights, np.asarray(confidence.toarray() if issparse(confidence) else confidence)


def _weighed_by_features(model: Any, new: Features) -> SparseArray:
    """Weigh new samples by their features, where the weights of the old ones were given; as strongly."""
    warnings.warn(
        "the weights between samples were given, and say nothing of new ones: these are weighed against the "
        "others by their features (GaussianAffinity), as strongly on average.",
        RelscapeWarning,
        stacklevel=5,
    )
    n, X = len(model.labels_), model.features_
    settings, fitted = weights_of("perplexity", model.n_neighbors, X, n, None, np.random.default_rng(0))
    there = np.isfinite(model.embedding_).all(axis=1)
    strength = float(model.affinity_.sum()) / there.sum() / (float(fitted.weights.sum()) / n)
    return csr_array(settings.rows(fitted, X, new) * strength)


def _own_places(model: Any, new: Features, placed: FloatArray) -> FloatArray:
    """Bring samples that are exactly as one of the old ones to its place."""
    known = same_rows(model.features_, new)
    placed[known >= 0] = model.embedding_[known[known >= 0]]
    return placed
