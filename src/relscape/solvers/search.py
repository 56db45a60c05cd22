"""Seeded evolutionary search on a grid, within a budget of evaluations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import differential_evolution

from relscape.protocols import IntArray

__all__ = ["SearchResult", "evolve", "pattern_search"]

_GENERATIONS = 10_000


class SearchResult(NamedTuple):
    """The best point found, its value, and why the search ended."""

    point: tuple[int, ...]
    value: float
    evaluations: int
    reason: str


class _BudgetSpent(Exception):  # noqa: N818 - a signal, not an error
    """Ends the search from within an evaluation."""


def evolve(
    cost: Callable[[tuple[int, ...]], float],
    sizes: Sequence[int],
    starts: Sequence[tuple[int, ...]],
    max_evaluations: int,
    random_state: np.random.Generator,
    population: int = 12,
) -> SearchResult:
    """Minimise a costly function of grid points by differential evolution.

    Parameters
    ----------
    cost : callable
        Called once for every distinct point; lower is better.
    sizes : sequence of int
        Number of grid values along each coordinate; points are tuples of indices.
    starts : sequence of points
        Evaluated first, and members of the first population.
    max_evaluations : int
        Budget of distinct points.
    random_state : numpy.random.Generator
        Drives the evolution; the same state gives the same search.
    population : int
        Size of the population; filled up with random points.
    """
    known: dict[tuple[int, ...], float] = {}

    def remembered(vector: IntArray) -> float:
        point = tuple(int(x) for x in np.rint(vector))
        if point not in known:
            if len(known) >= max_evaluations:
                raise _BudgetSpent
            known[point] = cost(point)
        return known[point]

    first = np.array([*starts, *_random_points(sizes, population - len(starts), random_state)], dtype=float)
    try:
        for start in starts:
            remembered(np.asarray(start))
        differential_evolution(
            remembered,
            [(0, size - 1) for size in sizes],
            init=first,
            integrality=[True] * len(sizes),
            polish=False,
            maxiter=_GENERATIONS,
            tol=0.0,
            atol=0.0,
            rng=random_state,
        )
        reason = "the population agrees"
    except _BudgetSpent:
        reason = f"{max_evaluations} evaluations are spent"
    point = min(known, key=lambda p: (known[p], p))
    return SearchResult(point, known[point], len(known), reason)


def _random_points(
    sizes: Sequence[int], count: int, random_state: np.random.Generator
) -> list[tuple[int, ...]]:
    return [tuple(int(random_state.integers(size)) for size in sizes) for _ in range(max(count, 0))]


def pattern_search(
    cost: Callable[[tuple[int, int]], Any],
    starts: Sequence[tuple[int, int]],
    sizes: tuple[int, int],
    steps: Sequence[int],
) -> tuple[int, int]:
    """Walk downhill on a grid from the best of some starts, by steps of shrinking width.

    ``cost`` is asked often for the same point and should remember; it may give anything that can be
    compared.
    """
    at = min(starts, key=cost)
    for step in steps:
        nearest = min(_around(at, step, sizes), key=cost)
        while cost(nearest) < cost(at):
            at, nearest = nearest, min(_around(nearest, step, sizes), key=cost)
    return at


def _around(at: tuple[int, int], step: int, sizes: tuple[int, int]) -> list[tuple[int, int]]:
    """Give the four grid points a step away, as far as they are on the grid, and the point itself."""
    x, y = at
    points = [at, (x + step, y), (x - step, y), (x, y + step), (x, y - step)]
    return [(x, y) for x, y in points if 0 <= x < sizes[0] and 0 <= y < sizes[1]]
