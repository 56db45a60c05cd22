"""Putting new things on an existing map, by the model that the map carries."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.data import EntitySet, RelationalData
from relscape.data.frames import wide_table
from relscape.errors import DataError, ParameterError, RelscapeWarning, listing
from relscape.maps import Group, Map
from relscape.maps.align import stored_motion
from relscape.maps.layout import continued, picture_of
from relscape.matrix.completion import predicted_codes
from relscape.models.cohort_base import CohortModel
from relscape.models.feature_inputs import read_new_features, same_rows
from relscape.models.inputs import matched
from relscape.models.many_kinds import ManyKindsModel
from relscape.models.network_base import NetworkModel
from relscape.models.projection_base import ProjectionModel
from relscape.models.registry import revive
from relscape.protocols import AnyArray, FloatArray
from relscape.sources.scaling import standardized

__all__ = ["contents_for", "place"]


def place(map_: Map, data: Any, kind: str | None = None) -> Map:
    """Add new things of one kind to a map, where their relations to the things on it put them.

    Parameters
    ----------
    map_ : Map
        A map that carries its model.
    data : RelationalData or data frame
        One relation between the new things and things already on the map, matched by id; on a map of
        several relations any number of them; on a map of cohorts, between new samples and features; on
        that of a document network, between new documents and what they contain. A frame is wide, with a
        row a thing of the map's first kind and a column a thing of its second, or a feature. On the map of
        a projection, new things come with their features, in a frame or with their kind in the data.
    kind : str, optional
        The kind of the new things; by default the map's first kind (the rows).

    Returns
    -------
    Map
        The map with the new things added (field ``placed`` is True for them); things whose id is
        already on the map are moved to where the new relations put them. New samples on a map of cohorts
        get the cohort of their neighbours, and ``predicted``. Features are standardised first where the
        map was made from standardised ones.
    """
    if map_.model_state is None:
        raise ParameterError("this map does not carry its model, so nothing new can be placed on it.")
    model = revive(map_.model_state)
    if isinstance(model, CohortModel):
        return _with_samples(map_, model, data, kind)
    if isinstance(model, NetworkModel):
        return _with_documents(map_, model, data, kind)
    if isinstance(model, ProjectionModel):
        return _with(map_, *model.newcomers(data, kind))
    many = isinstance(model, ManyKindsModel)
    if not (many or hasattr(model, "transform")):
        raise ParameterError(f"a {type(model).__name__} map has no place for new things; make it anew.")
    kinds = model.kinds_ if many else [model.row_entities_.kind, model.column_entities_.kind]
    if not isinstance(data, RelationalData):
        wide = wide_table(data)
        data = RelationalData.from_matrix(wide.matrix, kinds[0], kinds[:2][-1], wide.row_ids, wide.column_ids)
    kind = kinds[0] if kind is None else kind
    if kind not in kinds:
        raise ParameterError(f"new things can be of kind {' or '.join(map(repr, kinds))}, not {kind!r}.")
    if kind not in data.entities:
        raise DataError(f"the new data has no {kind!r}; it has {', '.join(data.kinds)}.")
    if many:
        within = [r.name for r in data.relations.values() if r.rows == r.columns]
        if within:
            raise DataError(
                f"{', '.join(within)} joins one kind with itself, which does not say what is new and what is "
                "known; place by it in Python, with the model's place(kind, {(kind, kind): counts})."
            )
        found = model.place(kind, data)
    else:
        found = model.transform(data) if kind == kinds[0] else model.transform_columns(data)
    return _with(map_, data.entities[kind], found)


def _with(map_: Map, entities: EntitySet, found: Any) -> Map:
    """Put things on the map where a model places them; those without a place stay out."""
    points = stored_motion(map_.arrays, map_.n_components)(np.asarray(found))
    defined = np.isfinite(points).all(axis=1)
    if not defined.any():
        raise DataError(f"none of the {len(points)} new things is related to anything on the map.")
    grown = _grown(map_, entities.kind, entities.select(defined), points[defined])
    others = [map_.group(name) if name != entities.kind else grown for name in map_.groups]
    return map_.with_groups([*others])


def _with_samples(map_: Map, model: CohortModel, data: Any, kind: str | None) -> Map:
    """Put new samples on a map of cohorts, by their features."""
    own, features = model.row_entities_.kind, model.column_entities_
    if kind not in (None, own):
        raise ParameterError(f"new things on a map of cohorts can be of kind {own!r}, not {kind!r}.")
    if not hasattr(model, "transform"):
        raise ParameterError(f"a {type(model).__name__} map has no place for new things; make it anew.")
    if not isinstance(data, RelationalData):
        data = _features_of_frame(data, own, features.kind)
    relation = data.relation()
    if {own, features.kind} != {relation.rows, relation.columns}:
        raise DataError(
            f"new {own} are placed by their {features.kind!r}, but the data joins {relation.rows!r} and "
            f"{relation.columns!r}."
        )
    entities = data.entities[own]
    if issparse(model.features_):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelscapeWarning)  # transform tells the same
            new = read_new_features(model, data)[0]
        return _with(map_, _in_cohorts(model, entities, new), model.transform(data))
    by_own = relation.matrix if relation.rows == own else csr_array(relation.matrix.T)
    given = data.entities[features.kind].ids
    lacking = features.ids[~np.isin(features.ids, given)]
    if lacking.size:
        raise DataError(
            f"the new {own} lack {lacking.size} of the {len(features)} features that the map was made from: "
            f"{listing(lacking)}."
        )
    ordered = matched(by_own, given, features).toarray()
    measures = map_.provenance.get("source", {}).get("standardized")
    if measures is not None:
        ordered = standardized(ordered, measures)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        found = model.transform(ordered)
    return _with(map_, _in_cohorts(model, entities, ordered), found)


def _with_documents(map_: Map, model: NetworkModel, data: Any, kind: str | None) -> Map:
    """Put new documents on the map of a network, by their contents."""
    own, words = model.row_entities_.kind, model.column_entities_
    if words is None:
        raise ParameterError("this network was fitted without contents, by which new documents are placed.")
    if kind not in (None, own):
        raise ParameterError(f"new things on the map of a network can be of kind {own!r}, not {kind!r}.")
    if not isinstance(data, RelationalData):
        data = _features_of_frame(data, own, words.kind)
    if own not in data.entities:
        raise DataError(f"the new data has no {own!r}; it has {', '.join(data.kinds)}.")
    return _with(map_, data.entities[own], model.transform(contents_for(map_, model, data)))


def contents_for(map_: Map, model: NetworkModel, data: RelationalData) -> Any:
    """Give the contents of new documents as a network's model takes them: standardised as its map's were."""
    measures = map_.provenance.get("source", {}).get("standardized")
    return data if measures is None else standardized(read_new_features(model, data)[0], measures)


def _in_cohorts(model: CohortModel, entities: EntitySet, new: Any) -> EntitySet:
    """Say of new samples which cohort their neighbours vote for; of those of the fit, their own."""
    if not hasattr(model, "labels_"):
        return entities
    codes = predicted_codes(model.features_, model.labels_, new, metric=model._metric())
    known = same_rows(model.features_, new)
    fitted, predicted = known >= 0, np.ones(len(entities), dtype=bool)
    codes[fitted] = model.labels_[known[fitted]]
    predicted[fitted] = model.predicted_[known[fitted]]
    cohorts = np.array([*model.cohorts_, None], dtype=object)[codes]
    return entities.with_fields(entities.ids, {"cohort": cohorts, "predicted": predicted})


def _features_of_frame(frame: Any, kind: str, features: str) -> RelationalData:
    """Read a wide frame of features; blank cells are refused, as they say nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelscapeWarning)
        try:
            wide = wide_table(frame)
        except RelscapeWarning as blanks:
            told = str(blanks).split(" are")[0].split(" is")[0]
            raise DataError(f"the new features have {told}; fill them or drop those rows.") from None
    return RelationalData.from_matrix(wide.matrix, kind, features, wide.row_ids, wide.column_ids)


def _grown(map_: Map, kind: str, entities: EntitySet, points: FloatArray) -> Group:
    """Join the new things to the group of their kind."""
    old = map_.group(kind)
    stay = ~np.isin(old.ids, entities.ids)
    names = {**old.fields, **entities.fields, "placed": None}
    fields = {name: _joined(_values(old, name, stay), _values(entities, name, slice(None))) for name in names}
    fields["placed"] = np.concatenate([_values(old, "placed", stay) == True, np.ones(len(entities), bool)])  # noqa: E712
    if "predicted" in fields:
        fields["predicted"] = np.array([mark is not None and bool(mark) for mark in fields["predicted"]])
    labels = None
    if old.labels is not None or entities.labels is not None:
        labels = np.concatenate([old.shown[stay], entities.shown])
    coordinates, layout = picture_of(map_.group(name) for name in map_.groups)
    return replace(
        old,
        ids=np.concatenate([old.ids[stay], entities.ids]),
        labels=labels,
        coordinates=np.vstack([old.coordinates[stay], points]),
        layout=np.vstack([old.drawn[stay], continued(coordinates, layout, points)]),
        fields=fields,
    )


def _values(things: Group | EntitySet, name: str, keep: AnyArray | slice) -> AnyArray:
    missing = np.full(len(things), None, dtype=object)
    return np.asarray(things.fields.get(name, missing))[keep]


def _joined(first: AnyArray, second: AnyArray) -> AnyArray:
    """Concatenate fields; a missing side becomes NaN among numbers, None among anything else."""
    sides = [first, second]
    known = [side for side in sides if side.dtype != object]
    if len(known) == 1 and known[0].dtype.kind in "if":
        sides = [side.astype(float) for side in sides]
    elif len({side.dtype.kind for side in sides}) > 1:
        sides = [side.astype(object) for side in sides]
    return np.concatenate(sides)
