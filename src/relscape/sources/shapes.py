"""Eight shapes in the plane whose points are dealt to two kinds, with the truth known.

Look-alikes of the synthetic sets of Wu, Mu, Liatsis and Goulermas (2016), whose own points exist only as
pictures. Every cluster goes whole to the rows or to the columns, except one or two co-clusters whose
points are split between them at random. A model sees nothing but the relation of equation 44, and has to
find the picture again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from relscape.data import EntitySet, Relation, RelationalData
from relscape.errors import UnknownNameError
from relscape.protocols import FloatArray, TextArray

__all__ = ["SHAPES", "Shape", "deal_shape", "gaussian_relation", "make_shape"]

ROWS, COLUMNS, BOTH = "rows", "columns", "both"


@dataclass(frozen=True, eq=False)
class Shape:
    """Points of two kinds in one plane, the cluster of each, and the relation that a model is given.

    ``relation`` is m × n, dense, between 0 and 1: see :func:`gaussian_relation`.
    """

    name: str
    row_points: FloatArray
    column_points: FloatArray
    row_labels: TextArray
    column_labels: TextArray
    relation: FloatArray

    def to_relational(self) -> RelationalData:
        """Give kinds "row" and "column" (field "cluster") and the relation "similarity"."""
        sides = (("row", self.row_labels), ("column", self.column_labels))
        entities = [
            EntitySet(
                kind,
                np.array([f"{kind[0]}{number:03}" for number in range(len(labels))], dtype=object),
                fields={"cluster": labels},
            )
            for kind, labels in sides
        ]
        return RelationalData(entities, [Relation("similarity", "row", "column", self.relation)])


def gaussian_relation(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Relate points by r_ij = exp(−d_ij² / mean d²), the mean over all pairs (equation 44).

    >>> gaussian_relation(np.array([[0.0]]), np.array([[1.0], [1.0]])).round(4).tolist()
    [[0.3679, 0.3679]]
    """
    squares = cdist(rows, columns, "sqeuclidean")
    relation: FloatArray = np.exp(-squares / squares.mean())
    return relation


def make_shape(name: str, random_state: int | np.random.Generator | None = None) -> Shape:
    """Draw one of the eight shapes, a few hundred points.

    Parameters
    ----------
    name : str
        dots, circles, r15, target, rface, 2dnormals, compound or ring.
    random_state : int, Generator or None
        Draws the points and splits the co-clusters.

    Examples
    --------
    >>> shape = make_shape("ring", random_state=0)
    >>> shape.relation.shape == (len(shape.row_points), len(shape.column_points))
    True
    """
    if name not in SHAPES:
        raise UnknownNameError("shape", name, SHAPES)
    rng = np.random.default_rng(random_state)
    return _dealt(name, SHAPES[name](rng), rng)


def deal_shape(
    name: str,
    points: FloatArray,
    labels: TextArray,
    mixed: Collection[str],
    random_state: int | np.random.Generator | None = None,
) -> Shape:
    """Deal labelled points to rows and columns: the ``mixed`` clusters by halves, the others whole.

    Those others become rows and columns in turn, in the order of their labels, whole numbers by size.

    Examples
    --------
    >>> shape = deal_shape("pair", np.arange(8.0).reshape(4, 2), np.array(list("abcc")), ["c"], 0)
    >>> shape.row_labels.tolist(), shape.column_labels.tolist()
    (['a', 'c'], ['b', 'c'])
    """
    known = sorted(set(labels.tolist()), key=lambda label: (len(label), label))
    for label in mixed:
        if label not in known:
            raise UnknownNameError("cluster", label, known)
    turns = cycle((ROWS, COLUMNS))
    clusters = [
        _Cluster(label, points[labels == label], BOTH if label in mixed else next(turns)) for label in known
    ]
    return _dealt(name, clusters, np.random.default_rng(random_state))


def _dealt(name: str, clusters: list[_Cluster], rng: Draw) -> Shape:
    """Gather clusters on their sides, splitting those of both at random."""
    sides: dict[str, list[tuple[str, FloatArray]]] = {ROWS: [], COLUMNS: []}
    for cluster in clusters:
        if cluster.side != BOTH:
            sides[cluster.side].append((cluster.name, cluster.points))
            continue
        shuffled = rng.permutation(cluster.points)
        half = len(shuffled) // 2
        sides[ROWS].append((cluster.name, shuffled[:half]))
        sides[COLUMNS].append((cluster.name, shuffled[half:]))
    (rows, row_labels), (columns, column_labels) = (_gathered(part) for part in sides.values())
    return Shape(name, rows, columns, row_labels, column_labels, gaussian_relation(rows, columns))


def _gathered(parts: list[tuple[str, FloatArray]]) -> tuple[FloatArray, TextArray]:
    points = np.vstack([part for _, part in parts])
    labels = np.array([name for name, part in parts for _ in range(len(part))], dtype=object)
    return points, labels


class _Cluster(NamedTuple):
    name: str
    points: FloatArray
    side: str


Draw = np.random.Generator


def _blob(rng: Draw, n: int, centre: tuple[float, float], spread: float | tuple[float, float]) -> FloatArray:
    points: FloatArray = np.asarray(centre) + rng.standard_normal((n, 2)) * np.asarray(spread)
    return points


def _arc(
    rng: Draw,
    n: int,
    radius: float,
    noise: float,
    centre: tuple[float, float] = (0.0, 0.0),
    turn: tuple[float, float] = (0.0, 1.0),
) -> FloatArray:
    """Draw points along a part of a circle, from one share of a full turn to another."""
    angle = 2 * np.pi * rng.uniform(*turn, size=n)
    return np.asarray(centre) + _polar(radius + noise * rng.standard_normal(n), angle)


def _disc(rng: Draw, n: int, radius: float, turn: tuple[float, float] = (0.0, 1.0)) -> FloatArray:
    angle = 2 * np.pi * rng.uniform(*turn, size=n)
    return _polar(radius * np.sqrt(rng.uniform(size=n)), angle)


def _polar(reach: FloatArray, angle: FloatArray) -> FloatArray:
    return np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])


def _dots(rng: Draw) -> list[_Cluster]:
    """Draw a grid of sixteen small blobs, rows and columns in turn, two of them mixed."""
    mixed = {(0, 0), (2, 3)}
    return [
        _Cluster(
            f"dot {x}{y}",
            _blob(rng, 20, (float(x), float(y)), 0.1),
            BOTH if (x, y) in mixed else (ROWS, COLUMNS)[(x + y) % 2],
        )
        for x in range(4)
        for y in range(4)
    ]


def _circles(rng: Draw) -> list[_Cluster]:
    """Draw two rings around one centre, the inner one mixed."""
    return [
        _Cluster("outer", _arc(rng, 160, 2.0, 0.06), ROWS),
        _Cluster("inner", _arc(rng, 180, 1.0, 0.06), BOTH),
    ]


def _r15(rng: Draw) -> list[_Cluster]:
    """Draw fifteen blobs: one in the centre, seven around it and seven far out; two are mixed."""
    clusters = [_Cluster("centre", _blob(rng, 24, (0.0, 0.0), 0.18), BOTH)]
    for circle, (radius, shift) in {"inner": (1.6, 0.0), "outer": (4.2, 0.5)}.items():
        for number in range(7):
            angle = 2 * np.pi * (number + shift) / 7
            centre = (radius * float(np.cos(angle)), radius * float(np.sin(angle)))
            side = BOTH if (circle, number) == ("outer", 0) else (ROWS, COLUMNS)[number % 2]
            clusters.append(_Cluster(f"{circle} {number}", _blob(rng, 24, centre, 0.18), side))
    return clusters


def _target(rng: Draw) -> list[_Cluster]:
    """Draw a disc of two halves, a mixed ring around it, and four small groups in the corners."""
    corners = {"north-east": (3, 3), "north-west": (-3, 3), "south-west": (-3, -3), "south-east": (3, -3)}
    return [
        _Cluster("left half", _disc(rng, 90, 0.8, (0.25, 0.75)), ROWS),
        _Cluster("right half", _disc(rng, 90, 0.8, (-0.25, 0.25)), COLUMNS),
        _Cluster("ring", _arc(rng, 160, 2.2, 0.1), BOTH),
        *(
            _Cluster(name, _blob(rng, 10, (float(x), float(y)), 0.12), (ROWS, COLUMNS)[number % 2])
            for number, (name, (x, y)) in enumerate(corners.items())
        ),
    ]


def _rface(rng: Draw) -> list[_Cluster]:
    """Draw a face: eyes, nose, a mixed mouth, chin, beard, and a few outliers around it."""
    nose = np.column_stack([0.12 * rng.standard_normal(40), rng.uniform(-0.6, 0.6, 40)])
    chin = np.column_stack([rng.uniform(-1.6, 1.6, 40), -2.3 + 0.05 * rng.standard_normal(40)])
    beard = np.column_stack([rng.uniform(-1.2, 1.2, 60), rng.uniform(-3.4, -2.6, 60)])
    return [
        _Cluster("left eye", _blob(rng, 40, (-1.2, 1.3), 0.18), ROWS),
        _Cluster("right eye", _blob(rng, 40, (1.2, 1.3), 0.18), COLUMNS),
        _Cluster("nose", nose, COLUMNS),
        _Cluster("mouth", _arc(rng, 80, 1.5, 0.06, (0.0, 0.0), (0.6, 0.9)), BOTH),
        _Cluster("chin", chin, ROWS),
        _Cluster("beard", beard, COLUMNS),
        _Cluster("outliers", _arc(rng, 12, 4.5, 0.3), ROWS),
    ]


def _two_normals(rng: Draw) -> list[_Cluster]:
    """Draw two overlapping Gaussians, both mixed."""
    return [
        _Cluster("lower", _blob(rng, 150, (-1.0, -1.0), 1.0), BOTH),
        _Cluster("upper", _blob(rng, 150, (1.0, 1.0), 1.0), BOTH),
    ]


def _compound(rng: Draw) -> list[_Cluster]:
    """Draw two touching blobs, a ring with a core, and a dense arc inside a sparse field."""
    field = np.column_stack([rng.uniform(1.0, 5.0, 50), rng.uniform(-4.5, 4.5, 50)])
    return [
        _Cluster("left blob", _blob(rng, 50, (-3.6, 2.4), 0.4), ROWS),
        _Cluster("right blob", _blob(rng, 50, (-1.9, 2.4), 0.4), COLUMNS),
        _Cluster("ring", _arc(rng, 90, 1.6, 0.08, (-2.7, -2.0)), COLUMNS),
        _Cluster("core", _blob(rng, 50, (-2.7, -2.0), 0.3), BOTH),
        _Cluster("arc", _arc(rng, 80, 1.4, 0.08, (3.4, 0.0), (0.25, 0.75)), BOTH),
        _Cluster("field", field, ROWS),
    ]


def _ring(rng: Draw) -> list[_Cluster]:
    """Draw a mixed blob inside a ring."""
    return [
        _Cluster("ring", _arc(rng, 180, 2.0, 0.1), COLUMNS),
        _Cluster("blob", _blob(rng, 140, (0.0, 0.0), 0.35), BOTH),
    ]


SHAPES: dict[str, Callable[[Draw], list[_Cluster]]] = {
    "dots": _dots,
    "circles": _circles,
    "r15": _r15,
    "target": _target,
    "rface": _rface,
    "2dnormals": _two_normals,
    "compound": _compound,
    "ring": _ring,
}
