"""Bundle: a map as one data object, a manifest and named columns, for the live page and the single file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relscape.explorer.cohorts import CohortView, cohort_view, sent_response
from relscape.explorer.columns import NONE, Column, numbers, rounded, texts
from relscape.explorer.exhibit import Exhibit, Newcomers
from relscape.explorer.fields import field_columns, importance
from relscape.explorer.pairs import pairs_of
from relscape.maps import Group, Map
from relscape.maps.captions import axis_captions, layout_caption
from relscape.maps.fields import newly_placed
from relscape.models.cova_variants import VARIANTS
from relscape.models.refitting import why_not_refit
from relscape.models.registry import methods
from relscape.protocols import FloatArray

__all__ = ["FORMAT", "VERSION", "Bundle", "make_bundle", "sayable", "starts_of"]

FORMAT = "relscape-explorer"
VERSION = 1
MOST_COORDINATES = 8_000_000  # values; beyond, neighbours are looked up by the server
MOST_EXACT_IN_FILE = 1_000_000  # values; beyond, a file has them in 16 bits
MOST_DENSE_IN_FILE = 4_000_000  # entries of a response matrix
IN_A_FILE = "this page is a file: open the map with 'relscape explore' for that"
SHORT_SCORES = {
    "S_c": "cohort_position",
    "S_s": "cohort_separation",
    "S_n": "neighbor_preservation",
    "S_n_chance": "neighbor_preservation_chance",
}


@dataclass(frozen=True, eq=False)
class Bundle:
    """What a page needs to show a map: a manifest that JSON can say, and the columns that it names."""

    manifest: dict[str, Any]
    columns: dict[str, Column] = field(default_factory=dict)


def make_bundle(exhibit: Exhibit, served: bool = True) -> Bundle:
    """Lay a map out for a page.

    Parameters
    ----------
    exhibit : Exhibit
        The map, and what else can be asked of it.
    served : bool
        Whether a server stands behind the page, which answers what the page cannot find out by itself.
    """
    map_ = exhibit.map
    groups = [map_.group(kind) for kind in map_.groups]
    starts = starts_of(map_)
    columns = _points(groups)
    coordinates = _coordinates(groups, served, columns)
    fields = field_columns(groups, starts)
    for number, found in enumerate(fields):
        columns[f"field-{number}"] = found.column
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "title": exhibit.title,
        "offline": not served,
        "summary": _summary(map_),
        "kinds": [{"name": g.kind, "start": starts[g.kind], "count": len(g)} for g in groups],
        "coordinates": coordinates,
        "neighbors": "page" if coordinates else "server" if served else "none",
        "fields": [found.describe(f"field-{number}") for number, found in enumerate(fields)],
        "importance": importance(fields),
        "relations": _relations(exhibit, starts, columns),
        "cohorts": _cohorts(map_, served, columns),
        "knowledge": _knowledge(exhibit, served),
        "network": _network(exhibit, served),
        "projection": None if exhibit.newcomers is None else _projection(exhibit.newcomers, columns),
    }
    manifest["columns"] = {name: column.describe() for name, column in columns.items()}
    return Bundle(sayable(manifest), columns)


def starts_of(map_: Map) -> dict[str, int]:
    """Give the number of the first thing of every kind among all points, kind after kind."""
    sizes = [len(map_.group(kind)) for kind in map_.groups]
    return dict(zip(map_.groups, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))


def _points(groups: list[Group]) -> dict[str, Column]:
    drawn = np.vstack([group.drawn for group in groups])
    columns = {
        "x": numbers(drawn[:, 0], "f32"),
        "y": numbers(drawn[:, 1], "f32"),
        "ids": texts(name for group in groups for name in group.ids),
    }
    if any((group.shown != group.ids).any() for group in groups):
        columns["labels"] = texts(name for group in groups for name in group.shown)
    return columns


def _coordinates(groups: list[Group], served: bool, columns: dict[str, Column]) -> dict[str, Any] | None:
    """Add the real coordinates, where they are few enough to travel; says how they are laid out."""
    size = sum(group.coordinates.size for group in groups)
    if size > MOST_COORDINATES:
        return None
    points = np.vstack([group.coordinates for group in groups]).astype(np.float64)
    described: dict[str, Any] = {"column": "coordinates", "k": points.shape[1]}
    if served or size <= MOST_EXACT_IN_FILE:
        columns["coordinates"] = numbers(points, "f32")
        return described | {"quantised": False, "scale": None, "offset": None, "error": 0.0}
    sent = rounded(points, axis=0)
    columns["coordinates"] = numbers(sent.codes, "u16")
    return described | {
        "quantised": True,
        "scale": sent.scale.tolist(),
        "offset": sent.offset.tolist(),
        "error": float(np.abs(points - sent.values()).max() / max(np.ptp(points), np.finfo(float).tiny)),
    }


def _summary(map_: Map) -> dict[str, Any]:
    across, up = axis_captions(map_)
    method = map_.drawn_by.get("method", "")
    return {
        "model": map_.model,
        "parameters": map_.parameters,
        "scores": map_.scores,
        "provenance": map_.provenance,
        "n_components": map_.n_components,
        "placed": sum(int(newly_placed(map_.group(kind)).sum()) for kind in map_.groups),
        "layout": {"name": method, "note": layout_caption(map_.drawn_by), "axes": [across, up]},
    }


def _relations(
    exhibit: Exhibit, starts: Mapping[str, int], columns: dict[str, Column]
) -> list[dict[str, Any]]:
    described = []
    linked = _is_network(exhibit.map)
    for number, relation in enumerate(exhibit.map.relations.values() if exhibit.relations else ()):
        pairs = pairs_of(relation, starts)
        names = {part: f"relation-{number}-{part}" for part in ("from", "to", "weight")}
        columns[names["from"]] = numbers(pairs.sources, "u32")
        columns[names["to"]] = numbers(pairs.targets, "u32")
        columns[names["weight"]] = numbers(pairs.weights, "f32")
        described.append(pairs.describe(names, "link" if linked else "relation"))
    return described


# ---------------------------------------------------------------------- the modes


def _cohorts(map_: Map, served: bool, columns: dict[str, Column]) -> dict[str, Any] | None:
    view = cohort_view(map_)
    if view is None:
        return None
    columns["prototypes"] = numbers(view.handles.drawn, "f32")
    columns["prototype-coordinates"] = numbers(view.handles.coordinates, "f64")
    columns["membership"] = numbers(np.where(view.codes < 0, NONE, view.codes), "u32")
    reason = why_not_refit(map_) if served else IN_A_FILE
    return {
        "kind": view.handles.kind,
        "samples": view.samples.kind,
        "names": view.handles.shown.tolist(),
        "prototypes": {"column": "prototypes", "shape": list(view.handles.drawn.shape)},
        "coordinates": {
            "column": "prototype-coordinates",
            "to": None if view.step is None else _tidy(view.step).tolist(),
        },
        "membership": "membership",
        "response": _response(view, served, columns),
        "drag": view.response is not None,
        "drag_reason": view.reason,
        "variant": view.variant,
        "alpha": view.alpha,
        "scores": {short: map_.scores.get(name) for short, name in SHORT_SCORES.items()},
        "refit": not reason,
        "refit_reason": reason,
        "variants": [] if reason else list(VARIANTS),
    }


def _response(view: CohortView, served: bool, columns: dict[str, Column]) -> dict[str, Any] | None:
    if view.response is None:
        return None
    sent = sent_response(view) if served else sent_response(view, MOST_DENSE_IN_FILE)
    columns |= sent.columns
    return sent.description


def _tidy(step: FloatArray) -> FloatArray:
    """Round off what a pseudo-inverse leaves of zeros and ones."""
    return np.round(step, 12) + 0.0


def _knowledge(exhibit: Exhibit, served: bool) -> dict[str, Any] | None:
    if exhibit.knowledge is None or not served:
        return None
    return {"relations": exhibit.knowledge.relations_.ids.tolist(), "entities_kind": "entity"}


def _is_network(map_: Map) -> bool:
    """Tell whether a map is one of linked documents."""
    return map_.model in {entry.class_name for entry in methods("network").values()}


def _network(exhibit: Exhibit, served: bool) -> dict[str, Any] | None:
    map_ = exhibit.map
    if not _is_network(map_):
        return None
    links = next(iter(map_.relations), None) if exhibit.relations else None
    can = served and map_.model_state is not None
    reason = "" if can else "this map does not carry its model" if served else IN_A_FILE
    return {"kind": map_.groups[0], "links": links, "suggest": can, "suggest_reason": reason}


def _projection(newcomers: Newcomers, columns: dict[str, Column]) -> dict[str, Any]:
    columns["new-x"] = numbers(newcomers.drawn[:, 0], "f32")
    columns["new-y"] = numbers(newcomers.drawn[:, 1], "f32")
    columns["new-coordinates"] = numbers(newcomers.coordinates, "f32")
    return {
        "kind": newcomers.kind,
        "count": len(newcomers.names),
        "names": newcomers.names.tolist(),
        "columns": {"x": "new-x", "y": "new-y", "coordinates": "new-coordinates"},
    }


def sayable(value: Any) -> Any:
    """Turn numpy values into what JSON knows; a number that is none becomes null."""
    if isinstance(value, Mapping):
        return {str(key): sayable(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [sayable(part) for part in value]
    if isinstance(value, np.ndarray):
        return sayable(value.tolist())
    if isinstance(value, np.generic):
        return sayable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
