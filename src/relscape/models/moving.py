"""Putting cohorts elsewhere on an existing map, by the model that the map carries."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from relscape.data.labels import match
from relscape.errors import ParameterError, RelscapeWarning, UnknownNameError, listing
from relscape.maps import Group, Map
from relscape.maps.align import Motion, stored_motion
from relscape.models.cova import COVA
from relscape.models.cova_moving import moved
from relscape.models.registry import revive

__all__ = ["move_cohorts", "shifted"]


def move_cohorts(map_: Map, places: Mapping[str, Any]) -> Map:
    """Move cohorts to other places on a map of cohorts; the samples follow.

    Parameters
    ----------
    map_ : Map
        A map that carries its COVA model; it stays as it is.
    places : mapping of str to place
        The new place of some cohorts, by name, in the map's coordinates; the others stay.

    Returns
    -------
    Map
        The moved map, scored anew, with the moved model: new things can be placed on it, and cohorts moved
        again. Things that were placed on the old map later are left out, with a warning, as the model does
        not know them.
    """
    model = None if map_.model_state is None else revive(map_.model_state)
    if not isinstance(model, COVA):
        raise ParameterError("cohorts can be moved only on a map of COVA's that carries its model.")
    if not places:
        raise ParameterError("no cohort is named: give at least one, and where to.")
    motion = stored_motion(map_.arrays, map_.n_components)
    prototypes = model.prototypes_.copy()
    at = match([str(name) for name in places], model.cohorts_)
    for position, (name, place) in zip(at, places.items(), strict=True):
        point = np.asarray(place, dtype=np.float64)
        if position < 0:
            raise UnknownNameError("cohort", name, model.cohorts_, "this map")
        if point.shape != (map_.n_components,) or not np.isfinite(point).all():
            raise ParameterError(f"the place of {name!r} has {map_.n_components} finite coordinates.")
        prototypes[position] = np.linalg.solve(motion.matrix.T, point - motion.offset)
    moved(model, prototypes, model.embedding_).adopt(model)
    return _redrawn(map_, model, list(places))


def _redrawn(map_: Map, model: COVA, names: list[str]) -> Map:
    """Make the map of a moved model, with what the earlier one says of its samples."""
    fresh = model.to_map()
    kind = model.row_entities_.kind
    later = map_.group(kind).ids[~np.isin(map_.group(kind).ids, fresh.group(kind).ids)]
    if later.size:
        warnings.warn(
            f"{later.size} {kind} things ({listing(later, 3)}) were placed on the map later and are left "
            "out; place them again.",
            RelscapeWarning,
            stacklevel=3,
        )
    motion = stored_motion(map_.arrays, map_.n_components)
    told = fresh.provenance | map_.provenance
    fresh.provenance = told | {"moved": [*told.get("moved", []), *names]}
    if "alignment_matrix" in map_.arrays:
        fresh = fresh.with_groups(shifted(fresh, motion))
        fresh.arrays |= motion.arrays()
    return fresh


def shifted(map_: Map, motion: Motion) -> list[Group]:
    """Give the groups of a map moved as another map was, to be drawn anew."""
    groups = (map_.group(kind) for kind in map_.groups)
    return [replace(group, coordinates=motion(group.coordinates), layout=None) for group in groups]
