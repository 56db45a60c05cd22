"""Questions that a page cannot answer by itself: neighbours, facts, links, newcomers and live scores."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Any

import numpy as np

from relscape.data.labels import match
from relscape.errors import ParameterError, UnknownNameError
from relscape.explorer.bundle import starts_of
from relscape.explorer.cohorts import CohortView, cohort_view
from relscape.explorer.exhibit import Exhibit
from relscape.maps import Map
from relscape.models.registry import revive
from relscape.protocols import FloatArray, IntArray
from relscape.scores import (
    cohort_position,
    cohort_separation,
    neighbor_preservation,
    neighbor_preservation_chance,
)

__all__ = ["Questions"]

MOST_SCORED = 5_000  # samples; of more, S_n looks at the neighbours of some
_SAMPLED = 500

Ranked = dict[str, list[tuple[int, float]]]


class Questions:
    """Answers about one exhibit, things named by their number among all points."""

    def __init__(self, exhibit: Exhibit) -> None:
        self.exhibit = exhibit
        self.map: Map = exhibit.map
        self.starts = starts_of(exhibit.map)

    def thing(self, point: int, kind: str | None = None) -> tuple[str, int]:
        """Find the kind of a point and its position in it; with ``kind``, any other one is refused."""
        if not 0 <= point < len(self.map):
            raise ParameterError(f"point {point}: the map has points from 0 to {len(self.map) - 1}.")
        found = self.map.groups[bisect_right([*self.starts.values()], point) - 1]
        if kind is not None and found != kind:
            raise ParameterError(f"point {point} is of kind {found!r}; this is asked of {kind!r}.")
        return found, point - self.starts[found]

    # ------------------------------------------------------------------ what is near

    def neighbors(self, point: int, k: int) -> Ranked:
        """Give the nearest things of every kind, by the real coordinates."""
        kind, place = self.thing(point)
        own = (kind, str(self.map.group(kind).ids[place]))
        return {
            name: [(self._number(n.kind, n.id), n.distance) for n in self.map.neighbors(own, name, k)]
            for name in self.map.groups
        }

    def _number(self, kind: str, id: str) -> int:
        return self.starts[kind] + self.map.group(kind).places[id]

    def landing(self, row: int, k: int) -> dict[str, Any]:
        """Say where a new thing lands, and what is near it there."""
        new = self.exhibit.newcomers
        if new is None:
            raise ParameterError("no table of new things was given: start with --new TABLE.")
        if not 0 <= row < len(new.names):
            raise ParameterError(f"row {row}: there are rows from 0 to {len(new.names) - 1}.")
        nearest = {
            name: [
                (self._number(n.kind, n.id), n.distance)
                for n in self.map.nearest(new.coordinates[row], name, k)
            ]
            for name in self.map.groups
        }
        x, y = new.drawn[row].tolist()
        return {"x": x, "y": y, "known": bool(new.known[row]), "nearest": nearest}

    # ------------------------------------------------------------------ facts and links

    def facts(self, head: int | None, tail: int | None, relation: str, top: int) -> dict[str, Any]:
        """Give the most likely tails of a head, or heads of a tail, known ones marked."""
        model = self.exhibit.knowledge
        if model is None:
            raise ParameterError(
                "no trained knowledge graph is here to ask: 'relscape explore KG' opens the directory of one."
            )
        entity = head if tail is None else tail
        if entity is None or None not in (head, tail):
            raise ParameterError("give either head or tail, the entity that is known.")
        relations = model.relations_.ids
        if relation not in set(relations):
            raise UnknownNameError("relation", relation, relations)
        known = self.thing(entity, "entity")[1]
        name = str(self.map.group("entity").ids[known])
        if tail is None:
            found = model.predict_tails(name, relation, top, exclude_known=False)
        else:
            found = model.predict_heads(relation, name, top, exclude_known=False)
        answers = [(self._number("entity", f.name), f.energy, f.probability, f.known) for f in found]
        return {"answers": answers, "side": "tail" if tail is None else "head"}

    @cached_property
    def _model(self) -> Any:
        """The model that the map carries, made again once."""
        if self.map.model_state is None:
            raise ParameterError("this map does not carry its model, so that this cannot be asked of it.")
        return revive(self.map.model_state)

    def links(self, point: int, top: int) -> dict[str, Any]:
        """Give the links that a document most likely lacks."""
        model = self._model
        if not hasattr(model, "predict_links"):
            raise ParameterError(
                f"{type(model).__name__} does not suggest links; maps of document networks do."
            )
        kind = model.row_entities_.kind
        _, place = self.thing(point, kind)
        group = self.map.group(kind)
        found = model.predict_links(str(group.ids[place]), top)
        links = [
            (self._number(kind, f.id), f.score, f.probability, f.known) for f in found if f.id in group.places
        ]
        return {"links": links, "outward": model.direction == "out"}

    # ------------------------------------------------------------------ cohorts

    @cached_property
    def cohorts(self) -> CohortView:
        """The map as one of cohorts."""
        view = cohort_view(self.map)
        if view is None:
            raise ParameterError("this map has no cohorts to move.")
        return view

    def prototypes(self, body: bytes) -> FloatArray:
        """Read the places of prototypes in the picture: c × 2 numbers in 32 bits, little-endian."""
        shape = self.cohorts.handles.drawn.shape
        if len(body) != 4 * shape[0] * shape[1]:
            raise ParameterError(
                f"expected {4 * shape[0] * shape[1]} bytes, the places of {shape[0]} prototypes as pairs of "
                f"32-bit numbers; these are {len(body)}."
            )
        places = np.frombuffer(body, dtype="<f4").astype(np.float64).reshape(shape)
        if not np.isfinite(places).all():
            raise ParameterError("places of prototypes are finite numbers; some of these are not.")
        return places

    def scores(self, prototypes: FloatArray) -> dict[str, float | None]:
        """Score the map as it is with prototypes dragged to other places in the picture."""
        view = self.cohorts
        places, targets = view.moved(prototypes), view.placed(prototypes)
        labelled = view.codes >= 0
        points, codes = places[labelled], view.codes[labelled]
        present, within = np.unique(codes, return_inverse=True)
        if present.size < 2:
            return {"S_c": None, "S_s": None, "S_n": None, "S_n_chance": None}
        return {
            "S_c": float(cohort_position(points, within, targets[present])),
            "S_s": float(cohort_separation(points, within)),
            **self._preservation(points, np.flatnonzero(labelled), within),
        }

    def _preservation(self, points: FloatArray, at: IntArray, codes: IntArray) -> dict[str, float | None]:
        """Compare neighbours with those of the features, where the map carries its model with features."""
        nothing: dict[str, float | None] = {"S_n": None, "S_n_chance": None}
        if self.map.model_state is None or np.bincount(codes).max() < 2:
            return nothing
        model = self._model
        rows = _rows_of(self.cohorts.samples.ids[at], model.row_entities_.ids)
        if model.features_.shape[1] == 0 or rows is None:
            return nothing
        found = neighbor_preservation(
            model.features_[rows],
            points,
            codes,
            sample=None if len(points) <= MOST_SCORED else _SAMPLED,
            random_state=0,
            metric=model._metric(),
        )
        return {"S_n": float(found), "S_n_chance": float(neighbor_preservation_chance(codes))}


def _rows_of(names: Any, ids: Any) -> IntArray | None:
    """Find names among ids; None where one is missing."""
    rows = match(names, ids)
    return rows if (rows >= 0).all() else None
