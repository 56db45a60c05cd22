"""New samples on a fitted COVA, each by itself (its specification, section 13)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.matrix.completion import predicted_codes
from relscape.matrix.confidence import confidence_rows
from relscape.models.feature_inputs import Features, same_rows
from relscape.objectives.cohort_newcomers import Surroundings, settle
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["placed_by_features", "placed_by_neighbours"]


def placed_by_features(model: Any, new: Features) -> FloatArray:
    """Project the relation features of new samples; those that were there come to their own place."""
    table = model.feature_settings_.rows(model.relations_, new)
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
    n = len(model.labels_)
    if model.affinity_settings_ is None:
        weights = csr_array((new.shape[0], n), dtype=np.float64)
    else:
        weights = model.affinity_settings_.rows(
            model.affinity_fit_, model.features_, new, model.labels_, codes
        )
    confidence = confidence_rows(
        model.confidence_settings_, model.confidence_fit_, weights, new, model.labels_, codes
    )
    return weights, np.asarray(confidence.toarray() if issparse(confidence) else confidence)


def _own_places(model: Any, new: Features, placed: FloatArray) -> FloatArray:
    """Bring samples that are exactly as one of the old ones to its place."""
    known = same_rows(model.features_, new)
    placed[known >= 0] = model.embedding_[known[known >= 0]]
    return placed
