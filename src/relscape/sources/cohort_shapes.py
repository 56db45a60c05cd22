"""Five small sets of points in touching cohorts, with the truth known.

Stand-ins for the synthetic sets of Mu, Goulermas and Ananiadou, whose own points exist only as pictures:
they have the shapes, the numbers of points and the cohorts described there, but are not the same points,
so that scores on them compare with the published ones only roughly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relscape.errors import ParameterError, UnknownNameError
from relscape.matrix.mutual_pairs import check_count
from relscape.protocols import FloatArray, IntArray, TextArray

__all__ = ["COHORT_SHAPES", "CohortShape", "make_cohorts"]

Draw = np.random.Generator


@dataclass(frozen=True, eq=False)
class CohortShape:
    """Points in two or three dimensions, the cohort of each, and where cohorts should go if that is known.

    ``labels`` names the cohort of every point; ``names`` lists the cohorts, sorted, and ``prototypes``
    (c × 2) has their places in that order: the Sinusoid has some, the others have None.
    """

    name: str
    points: FloatArray
    labels: TextArray
    names: TextArray
    prototypes: FloatArray | None

    @property
    def codes(self) -> IntArray:
        """The cohort of every point as a position in ``names``."""
        return np.unique(self.labels, return_inverse=True)[1]


def make_cohorts(name: str, n: int | None = None, random_state: int | Draw | None = 0) -> CohortShape:
    """Draw a stand-in for one of the five synthetic sets of the COVA paper.

    Parameters
    ----------
    name : str
        "sinusoid", a noisy wave in six segments; "compound", two touching blobs, a ring with a core and
        a dense arc inside a sparse field; "swiss_roll", a rolled sheet in six strips; "cylinder1", an
        open wall of six stacked rings; "cylinder2", the same wall cut into three rings of four sectors.
    n : int, optional
        Number of points: by default 1000, and 900 for compound.
    random_state : int, Generator or None
        Draws the points.

    Returns
    -------
    CohortShape
        Cohorts of the wave, the roll and the cylinders are equally large, up to one point.

    Examples
    --------
    >>> wave = make_cohorts("sinusoid")
    >>> wave.points.shape, wave.names[0]
    ((1000, 2), 'segment 1')
    """
    if name not in COHORT_SHAPES:
        raise UnknownNameError("set of cohorts", name, COHORT_SHAPES)
    recipe = COHORT_SHAPES[name]
    n = recipe.n if n is None else check_count("n", n)
    if n < recipe.fewest:
        raise ParameterError(f"n={n}: {name} needs at least {recipe.fewest} points, some in each cohort.")
    points, labels = recipe.draw(np.random.default_rng(random_state), n)
    names = np.unique(labels)
    return CohortShape(name, points, labels, names, _line(len(names)) if recipe.ordered else None)


def _line(c: int, radius: float = 2.0) -> FloatArray:
    """Put cohorts on a straight line at equal steps, centred, with a root mean square radius."""
    steps = np.arange(c) - (c - 1) / 2
    return np.column_stack([radius * steps / np.sqrt(np.mean(steps**2)), np.zeros(c)])


def _along(rng: Draw, n: int, parts: int) -> tuple[FloatArray, IntArray]:
    """Draw numbers between 0 and 1, equally many in each of some equal parts; give them with their part."""
    part = np.sort(np.arange(n) % parts)
    return (part + rng.uniform(size=n)) / parts, part


def _named(what: str, part: IntArray) -> TextArray:
    return np.array([f"{what} {number + 1}" for number in part], dtype=object)


def _sinusoid(rng: Draw, n: int) -> tuple[FloatArray, TextArray]:
    share, part = _along(rng, n, 6)
    t = 4 * np.pi * share
    wave = np.column_stack([t, 3 * np.sin(t)])
    return wave + 0.25 * rng.standard_normal((n, 2)), _named("segment", part)


def _swiss_roll(rng: Draw, n: int) -> tuple[FloatArray, TextArray]:
    share, part = _along(rng, n, 6)
    t = 1.5 * np.pi * (1 + 2 * share)
    across = 21 * rng.uniform(size=n)
    return np.column_stack([t * np.cos(t), across, t * np.sin(t)]), _named("strip", part)


def _wall(turn: FloatArray, height: FloatArray) -> FloatArray:
    """Give points of an open cylinder of radius 1 and height 6, from shares of both."""
    angle = 2 * np.pi * turn
    return np.column_stack([np.cos(angle), np.sin(angle), 6 * height])


def _cylinder1(rng: Draw, n: int) -> tuple[FloatArray, TextArray]:
    height, ring = _along(rng, n, 6)
    return _wall(rng.uniform(size=n), height), _named("ring", ring)


def _cylinder2(rng: Draw, n: int) -> tuple[FloatArray, TextArray]:
    ring, sector = np.divmod(np.sort(np.arange(n) % 12), 4)
    turn, height = (sector + rng.uniform(size=n)) / 4, (ring + rng.uniform(size=n)) / 3
    labels = [f"ring {r + 1} sector {s + 1}" for r, s in zip(ring, sector, strict=True)]
    return _wall(turn, height), np.array(labels, dtype=object)


def _compound(rng: Draw, n: int) -> tuple[FloatArray, TextArray]:
    """Draw two touching blobs, a ring with a core, and a dense arc inside a sparse field."""
    shares = {"left blob": 0.14, "right blob": 0.2, "ring": 0.22, "core": 0.1, "arc": 0.29, "field": 0.05}
    ends = np.round(n * np.cumsum([*shares.values()])).astype(int)
    sizes = dict(zip(shares, np.diff(ends, prepend=0), strict=True))
    parts = {
        "left blob": _blob(rng, sizes["left blob"], (-3.6, 2.4), 0.4),
        "right blob": _blob(rng, sizes["right blob"], (-1.9, 2.4), 0.4),
        "ring": _bow(rng, sizes["ring"], (-2.7, -2.0), 1.6, (0.0, 1.0)),
        "core": _blob(rng, sizes["core"], (-2.7, -2.0), 0.3),
        "arc": _bow(rng, sizes["arc"], (3.4, 0.0), 1.4, (0.25, 0.75)),
        "field": rng.uniform((1.0, -4.5), (5.0, 4.5), (sizes["field"], 2)),
    }
    labels = [name for name, part in parts.items() for _ in range(len(part))]
    return np.vstack([*parts.values()]), np.array(labels, dtype=object)


def _blob(rng: Draw, n: int, centre: tuple[float, float], spread: float) -> FloatArray:
    return np.asarray(centre) + spread * rng.standard_normal((n, 2))


def _bow(
    rng: Draw, n: int, centre: tuple[float, float], radius: float, turn: tuple[float, float]
) -> FloatArray:
    """Draw points near a part of a circle, from one share of a full turn to another."""
    angle = 2 * np.pi * rng.uniform(*turn, size=n)
    reach = radius + 0.08 * rng.standard_normal(n)
    return np.asarray(centre) + np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])


class _Recipe(NamedTuple):
    draw: Callable[[Draw, int], tuple[FloatArray, TextArray]]
    n: int
    fewest: int
    ordered: bool


COHORT_SHAPES: dict[str, _Recipe] = {
    "sinusoid": _Recipe(_sinusoid, 1000, 6, True),
    "compound": _Recipe(_compound, 900, 20, False),
    "swiss_roll": _Recipe(_swiss_roll, 1000, 6, False),
    "cylinder1": _Recipe(_cylinder1, 1000, 6, False),
    "cylinder2": _Recipe(_cylinder2, 1000, 12, False),
}
