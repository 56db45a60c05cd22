"""Relations that travel with a map, drawn as thin lines between the things they join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array

from relscape.data import Relation
from relscape.data.relation import without_zeros
from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Group, Map
from relscape.plot.canvas import RASTER_FROM
from relscape.plot.palette import Theme
from relscape.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["chosen_relations", "draw_lines", "lines_caption", "segments"]

MOST = 20_000  # lines; more would be one grey sheet
WIDTH = 0.55


def chosen_relations(map_: Map, groups: Sequence[Group], links: bool | str) -> list[Relation]:
    """Find the relations to draw: all between kinds of the picture, or the one named."""
    if links is False:
        return []
    there = {group.kind for group in groups}
    if isinstance(links, str):
        if links not in map_.relations:
            raise UnknownNameError("relation", links, map_.relations, "this map")
        relations = [map_.relations[links]]
    else:
        relations = list(map_.relations.values())
    drawn = [relation for relation in relations if {relation.rows, relation.columns} <= there]
    if not drawn:
        raise ParameterError(
            "this map carries no relation between the kinds of the picture, so there are no links to draw; "
            "maps of document networks carry theirs, others when made with keep_relations."
        )
    return drawn


def segments(relation: Relation, groups: Sequence[Group]) -> FloatArray:
    """Give the two ends of every pair of a relation (m × 2 × 2), in the picture.

    Within one kind a pair is drawn once, whichever way it goes; a thing's pair with itself is not.
    """
    places = {group.kind: group.drawn for group in groups}
    pairs = _pairs(relation)
    if relation.rows == relation.columns:
        pairs = _once(pairs)
    ends = places[relation.rows][pairs[:, 0]], places[relation.columns][pairs[:, 1]]
    return np.stack(ends, axis=1)


def _pairs(relation: Relation) -> IntArray:
    """Give the pairs of things (m × 2) with a weight other than zero; none of a thing with itself."""
    pairs: IntArray = np.stack(coo_array(without_zeros(relation.matrix)).coords, axis=1).astype(np.int64)
    return pairs[pairs[:, 0] != pairs[:, 1]] if relation.rows == relation.columns else pairs


def _once(pairs: IntArray) -> IntArray:
    return np.unique(np.sort(pairs, axis=1), axis=0).reshape(-1, 2)


def draw_lines(axes: Axes, relations: Sequence[Relation], groups: Sequence[Group], theme: Theme) -> int:
    """Draw relations below the points, the paler the more there are; returns how many lines there would be.

    Of a great many, a random sample is drawn.
    """
    from matplotlib.collections import LineCollection

    if not relations:
        return 0
    lines = np.vstack([segments(relation, groups) for relation in relations])
    shown = lines
    if len(lines) > MOST:
        shown = lines[np.random.default_rng(0).choice(len(lines), MOST, replace=False)]
    drawn: Any = LineCollection(
        list(shown),
        colors=theme.muted,
        linewidths=WIDTH,
        alpha=float(np.clip((40.0 / max(len(shown), 1)) ** 0.45, 0.07, 0.5)),
        zorder=1.5,
        rasterized=len(shown) > RASTER_FROM,
    )
    axes.add_collection(drawn, autolim=False)
    return len(lines)


def lines_caption(count: int, relations: Sequence[Relation]) -> str:
    """Say what the lines of a picture are."""
    if not relations:
        return ""
    names = " and ".join(relation.name for relation in relations)
    number = f"{count:,}" if count <= MOST else f"{MOST:,} of {count:,}"
    given = sum(len(_pairs(relation)) for relation in relations)
    merged = f" ({given:,} counting both ways)" if count < given else ""
    return f"lines are {names}: {number}{merged}"
