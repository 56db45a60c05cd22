"""What is near on a map: one question by a pass over all points, many by a search made for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from relscape.errors import ParameterError
from relscape.maps.group import Group
from relscape.protocols import FloatArray, IntArray

__all__ = ["Neighbor", "check_count", "nearest_to_all", "nearest_to_one", "split_query"]

_SMALLEST = 1e-100  # squares of differences between smaller coordinates lose their digits, or are 0


class Neighbor(NamedTuple):
    """One answer to "what is near": a thing and how far it is."""

    kind: str
    id: str
    label: str
    distance: float


def split_query(query: str, kinds: Sequence[str]) -> tuple[str, str]:
    """Split ``"kind:id"`` at its first colon; where that gives no kind, behind the longest that fits.

    >>> split_query("word:a:b", ["word"]), split_query("go:term:x", ["go:term", "gene"])
    (('word', 'a:b'), ('go:term', 'x'))
    """
    kind, colon, name = query.partition(":")
    if not colon:
        raise ParameterError(
            f"the query {query!r} has no kind: write kind:id, for example {kinds[0]}:{query}."
        )
    if kind in kinds:
        return kind, name
    longest = max((known for known in kinds if query.startswith(f"{known}:")), key=len, default=kind)
    return longest, query[len(longest) + 1 :]


def check_count(k: Any) -> int:
    """Give how many neighbours are asked for; only a whole number of at least 1 will do."""
    if isinstance(k, bool) or not isinstance(k, Integral) or int(k) < 1:
        raise ParameterError(f"k={k!r}: ask for at least one neighbour, by a whole number.")
    return int(k)


def nearest_to_one(groups: Sequence[Group], point: FloatArray, k: int) -> list[Neighbor]:
    """Give the ``k`` things nearest to a point, equal distances by kind and position."""
    scale = _scale(groups, point)
    parts = [(group, *_closest(_scaled(group.coordinates, scale), point * scale, k)) for group in groups]
    return _merged([(group, found, distances / scale) for group, found, distances in parts], k)


def nearest_to_all(groups: Sequence[Group], points: FloatArray, k: int) -> list[list[Neighbor]]:
    """Give the ``k`` things nearest to each of many points; the same as one by one, only sooner."""
    from relscape.matrix.neighbours import nearest

    known = [group for group in groups if len(group)]
    scale = _scale(known, points)
    searched = [
        (group, *nearest(_scaled(group.coordinates, scale), points * scale, min(k, len(group))))
        for group in known
    ]
    return [
        _merged([(group, indices[row], distances[row] / scale) for group, distances, indices in searched], k)
        for row in range(len(points))
    ]


def _scale(groups: Sequence[Group], points: FloatArray) -> float:
    """Give the power of two by which places are measured: 1, save where their squares would be 0."""
    reach = max([float(np.abs(points).max(initial=0.0)), *(group.reach for group in groups)])
    return 1.0 if reach == 0.0 or reach >= _SMALLEST else 2.0 ** min(-math.frexp(reach)[1], 1000)


def _scaled(coordinates: FloatArray, scale: float) -> FloatArray:
    return coordinates if scale == 1.0 else coordinates.astype(np.float64) * scale


def _closest(coordinates: FloatArray, point: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    """Find the ``k`` nearest points, by the formula of :mod:`relscape.matrix.neighbours`."""
    squares = np.zeros(len(coordinates))
    for axis in range(coordinates.shape[1]):
        squares += (coordinates[:, axis].astype(np.float64, copy=False) - point[axis]) ** 2
    if k < len(squares):
        within = np.flatnonzero(squares <= np.partition(squares, k - 1)[k - 1])
    else:
        within = np.arange(len(squares))
    closest = within[np.argsort(squares[within], kind="stable")][:k]
    return closest, np.sqrt(squares[closest])


def _merged(parts: Sequence[tuple[Group, IntArray, FloatArray]], k: int) -> list[Neighbor]:
    found = [
        Neighbor(group.kind, group.ids[i], group.shown[i], distance)
        for group, indices, distances in parts
        for i, distance in zip(indices.tolist(), distances.tolist(), strict=True)
    ]
    return sorted(found, key=lambda neighbor: neighbor.distance)[:k]
