"""The scores that a map of cohorts carries."""

from __future__ import annotations

from typing import Any

import numpy as np

from relscape.protocols import FloatArray, IntArray
from relscape.scores import (
    cohort_neighbors,
    cohort_position,
    cohort_separation,
    neighbor_preservation,
    neighbor_preservation_chance,
)

__all__ = ["map_scores"]


def map_scores(model: Any) -> dict[str, float]:
    """Score a fitted cohort model: separation, position, neighbours of cohorts and of samples.

    Against the labels that were given; where some were predicted, against all of them too, under names
    that end in ``_with_predicted``. A model without labels has no scores.
    """
    if not hasattr(model, "labels_"):
        return {}
    placed = np.isfinite(model.embedding_).all(axis=1)
    predicted = model.predicted_
    all_codes = np.where(placed, model.labels_, -1)
    given = np.where(predicted, -1, all_codes)
    if (given < 0).all():  # clusters: there is nothing else to compare with
        return _scores(model, all_codes)
    scores = _scores(model, given)
    if predicted.any():
        scores |= {f"{name}_with_predicted": value for name, value in _scores(model, all_codes).items()}
    return scores


def _scores(model: Any, codes: IntArray) -> dict[str, float]:
    keep = codes >= 0
    points, labels = model.embedding_[keep], codes[keep]
    sizes = np.bincount(labels, minlength=len(model.cohorts_))
    if (sizes > 0).sum() < 2:
        return {}
    scores = {"cohort_separation": cohort_separation(points, labels)}
    present, within = np.unique(labels, return_inverse=True)
    prototypes: FloatArray | None = getattr(model, "prototypes_", None)
    if prototypes is not None:
        scores["cohort_position"] = cohort_position(points, within, prototypes[present])
        if present.size > 2:
            scores["cohort_neighbors"] = cohort_neighbors(points, within, prototypes[present])
    if model.features_.shape[1] > 0 and sizes.max() > 1:
        scores["neighbor_preservation"] = neighbor_preservation(
            model.features_[keep], points, within, random_state=0, metric=model._metric()
        )
        scores["neighbor_preservation_chance"] = neighbor_preservation_chance(within)
    return {name: float(value) for name, value in scores.items()}
