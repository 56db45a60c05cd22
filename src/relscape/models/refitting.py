"""Fitting the cohorts of an existing map again, with another variant, weight or arrangement."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from relscape.data.labels import match
from relscape.errors import DataError, ParameterError
from relscape.maps import Map
from relscape.maps.align import stored_motion
from relscape.models.cova import COVA
from relscape.models.cova_fitting import best_scale, linear_places
from relscape.models.cova_variants import VARIANTS
from relscape.models.moving import shifted
from relscape.models.registry import revive
from relscape.protocols import FloatArray, IntArray

__all__ = ["refit_cohorts", "why_not_refit"]

# Divergences of neighbours compare with a kernel of width 1, so that the size of a picture matters.
_SIZED = ("E2", "E3")
_USUAL_SIZE = {"E4": 2.0}
_CLOSE_ENOUGH = 1e-6  # residual of the E1 picture by which a size is chosen


def why_not_refit(map_: Map) -> str:
    """Say why the cohorts of a map cannot be fitted again; nothing where they can."""
    state = map_.model_state
    if state is None:
        return "this map does not carry its model"
    if state.model != COVA.__name__:
        return f"only maps of COVA can be fitted again here, and this one is by {state.model}"
    kind = state.values["row_entities_"]["kind"]
    later = int((match(map_.group(kind).ids, state.texts["row_entities_.ids"]) < 0).sum())
    if later:
        return f"{later:,} {kind} things were placed on this map later, and the model does not know them"
    return ""


def refit_cohorts(
    map_: Map, variant: str | None = None, alpha: float | None = None, prototypes: Any = None
) -> Map:
    """Fit the samples of a map of cohorts again; the map stays as it is.

    Parameters
    ----------
    map_ : Map
        A map that carries its COVA model and nothing that was placed later.
    variant : str, optional
        Another variant of COVA.
    alpha : float, optional
        Another weight of the cohorts against the neighbours.
    prototypes : array, c × k, optional
        Where the cohorts should lie, in the map's coordinates; where they are unless given. They keep their
        arrangement, but where a variant with another natural size comes in they are drawn together or apart.

    Returns
    -------
    Map
        The same samples and cohorts in the same order, drawn the same way, scored anew, with the new model.
    """
    reason = why_not_refit(map_)
    if reason or map_.model_state is None:
        raise ParameterError(f"{reason}, so that its cohorts cannot be fitted again.")
    model: COVA = revive(map_.model_state)
    motion = stored_motion(map_.arrays, map_.n_components)
    wanted = model.variant if variant is None else variant
    places = model.prototypes_
    if prototypes is not None:
        given = np.asarray(prototypes, dtype=np.float64)
        if given.shape != places.shape or not np.isfinite(given).all():
            raise ParameterError(
                f"prototypes have shape {given.shape}; expected {places.shape[0]} × {places.shape[1]} finite "
                "coordinates, a row for every cohort."
            )
        places = np.linalg.solve(motion.matrix.T, (given - motion.offset).T).T
    fresh = _fitted(model, wanted, model.alpha if alpha is None else alpha, places)
    return _drawn_alike(fresh, map_, motion)


def _fitted(model: COVA, variant: str, alpha: Any, places: FloatArray) -> COVA:
    """Fit to the same samples, cohorts and weights of neighbours."""
    fresh: COVA = clone(model).set_params(variant=variant, alpha=alpha, prototypes=places, scale="auto")
    if variant in VARIANTS and (variant in _SIZED) != (model.variant in _SIZED):
        fresh.set_params(prototypes=_resized(model, variant, places))
    if model.local == "conditional" and variant not in ("E2", "E3", "P2", "P3"):
        fresh.set_params(local="joint")
    fresh._weighed = model.affinity_settings_, model.affinity_fit_
    found = bool(model.predicted_.all())  # by clustering: there are no labels that were given
    codes: IntArray = np.where(model.predicted_ & (not found), -1, model.labels_)
    features = model.features_ if model.features_.shape[1] else None
    fresh.fit(features, codes, anchors=_anchors_of(model))
    fresh.row_entities_, fresh.column_entities_ = model.row_entities_, model.column_entities_
    fresh.data_fingerprint_, fresh.cohorts_ = model.data_fingerprint_, model.cohorts_
    if found:
        fresh.predicted_ = model.predicted_
    return fresh


def _anchors_of(model: COVA) -> dict[int, tuple[FloatArray, float]] | None:
    """Give the anchors of a fitted model as fit takes them."""
    if model.anchors_ is None:
        return None
    n = len(model.labels_)
    anchors = model.anchors_
    parts = zip(anchors.index.tolist(), anchors.places, (anchors.strengths * n).tolist(), strict=True)
    return {position: (place, weight) for position, place, weight in parts}


def _resized(model: COVA, variant: str, places: FloatArray) -> FloatArray:
    """Bring an arrangement to the size that suits a variant, about its middle."""
    middle = places.mean(axis=0)
    radius = float(np.sqrt(((places - middle) ** 2).sum(axis=1).mean()))
    if radius == 0.0:
        return places
    unit = (places - middle) / radius
    size = _USUAL_SIZE.get(variant, 1.0)
    if variant in _SIZED:
        held = np.flatnonzero(np.isfinite(model.embedding_).all(axis=1))
        weights = model.affinity_[held][:, held]
        picture, _ = linear_places(
            weights, model.confidence_[held], unit, max(model.alpha_, 1e-3), None, _CLOSE_ENOUGH
        )
        size = best_scale(weights / weights.sum(), picture, model.labels_[held])
    return np.asarray(middle + size * unit)


def _drawn_alike(fresh: COVA, old: Map, motion: Any) -> Map:
    """Make the map of a new fit lie and look as the old one does."""
    new = fresh.to_map()
    kind = fresh.row_entities_.kind
    if new.group(kind).ids.tolist() != old.group(kind).ids.tolist():
        raise DataError(
            f"fitted like this, other {kind} find a place than on the map, so that the two cannot be shown "
            "as one; fit it by itself with 'relscape cohorts'."
        )
    new.provenance = old.provenance | {"refitted": True}
    if "alignment_matrix" in old.arrays:
        new = new.with_groups(shifted(new, motion))
        new.arrays |= motion.arrays()
    if old.drawn_by.get("method") in ("pca", "tsne"):
        return new.layout(old.drawn_by["method"], random_state=old.drawn_by.get("random_state"))
    return new.layout("axes", tuple(old.drawn_by.get("axes", (0, 1))))
