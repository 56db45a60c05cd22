from __future__ import annotations

import numpy as np
import pytest

from relscape.solvers.search import evolve, pattern_search


class Bowl:
    """A bowl on the grid, lowest at (30, 7), that counts how often each point is asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, point):
        self.asked.append(point)
        return float((point[0] - 30) ** 2 + 3 * (point[1] - 7) ** 2)


def test_evolution_finds_the_lowest_point():
    bowl = Bowl()
    found = evolve(bowl, (41, 41), [(4, 4)], 500, np.random.default_rng(0))
    assert found.point == (30, 7)
    assert found.value == 0


@pytest.mark.parametrize("budget", [1, 2, 5, 13, 40])
def test_evolution_keeps_its_budget_and_asks_for_no_point_twice(budget):
    bowl = Bowl()
    starts = [(4, 4), (2, 2), (8, 8)]
    found = evolve(bowl, (41, 41), starts, budget, np.random.default_rng(0))
    assert len(bowl.asked) == found.evaluations == budget
    assert len(set(bowl.asked)) == budget
    assert bowl.asked[:3] == starts[:budget]
    assert found.reason == f"{budget} evaluations are spent"
    plain = Bowl()
    assert found.value == min(plain(point) for point in bowl.asked)


def test_evolution_repeats_itself_with_the_same_seed():
    def run(seed):
        bowl = Bowl()
        evolve(bowl, (41, 41), [(4, 4)], 40, np.random.default_rng(seed))
        return bowl.asked

    assert run(3) == run(3)
    assert run(3) != run(4)


@pytest.mark.parametrize("sizes", [(1, 41), (41, 1), (2, 2)])
def test_evolution_stops_when_there_is_nothing_more_to_find(sizes):
    bowl = Bowl()
    found = evolve(bowl, sizes, [(0, 0)], 10_000, np.random.default_rng(0))
    assert found.reason == "the population agrees"
    assert len(set(bowl.asked)) == len(bowl.asked) <= sizes[0] * sizes[1]
    assert all(0 <= x < n for point in bowl.asked for x, n in zip(point, sizes, strict=True))
    plain = Bowl()
    assert found.value == min(plain((x, y)) for x in range(sizes[0]) for y in range(sizes[1]))


def test_equal_points_go_to_the_lowest_index():
    found = evolve(lambda _: 1.0, (5, 5), [(3, 3), (2, 4), (0, 1)], 3, np.random.default_rng(0))
    assert found.point == (0, 1)


def test_pattern_search_walks_to_the_lowest_point_of_a_bowl():
    assert pattern_search(Bowl(), [(0, 0), (40, 40)], (41, 41), (8, 3, 1)) == (30, 7)


def test_pattern_search_stays_on_the_grid_and_never_ends_above_a_start(rng):
    for _ in range(50):
        heights = rng.random((7, 9))
        starts = [(0, 0), (6, 8), (3, 3)]
        at = pattern_search(lambda p, heights=heights: heights[p], starts, (7, 9), (4, 2, 1))
        assert heights[at] <= min(heights[start] for start in starts)
        around = [(at[0] + x, at[1] + y) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        inside = [(x, y) for x, y in around if 0 <= x < 7 and 0 <= y < 9]
        assert heights[at] <= min(heights[point] for point in inside)


def test_pattern_search_compares_whatever_can_be_compared():
    assert pattern_search(lambda p: (0, abs(p[0] - 2), p[1]), [(0, 0)], (5, 5), (1,)) == (2, 0)
