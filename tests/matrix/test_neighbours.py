from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from relscape.errors import DataError, ParameterError
from relscape.matrix import neighbours
from relscape.matrix.neighbours import (
    are_near,
    count_nearer,
    kth_distance,
    kth_nearest,
    nearest,
    pair_squares,
)


def cloud(rng, size, dimensions, kind):
    if kind == "smooth":
        return rng.normal(size=(size, dimensions))
    # Whole numbers from a small range: many equal places, and equal distances that are exact in binary.
    return rng.integers(0, 3, (size, dimensions)).astype(float)


def slow_order(points, queries):
    """All points of every query by distance, then by index, from the full matrix of squared distances."""
    squares = cdist(queries, points, "sqeuclidean")
    return squares, np.argsort(squares, axis=1, kind="stable")


@pytest.mark.parametrize("kind", ["smooth", "whole"])
@pytest.mark.parametrize("dimensions", [1, 2, 10, 11, 30])
@pytest.mark.parametrize(("size", "k"), [(7, 7), (60, 1), (500, 4), (2500, 9), (2500, 1500)])
def test_nearest_is_the_full_sort(rng, kind, dimensions, size, k):
    points, queries = cloud(rng, size, dimensions, kind), cloud(rng, 40, dimensions, kind)
    squares, order = slow_order(points, queries)
    expected = order[:, :k]

    distances, indices = nearest(points, queries, k)

    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(distances, np.sqrt(np.take_along_axis(squares, expected, 1)), rtol=1e-13)
    np.testing.assert_allclose(kth_distance(points, queries, k), distances[:, -1], rtol=1e-13)
    border, last = kth_nearest(points, queries, k)
    np.testing.assert_array_equal(last, expected[:, -1])
    np.testing.assert_allclose(np.sqrt(border), distances[:, -1], rtol=1e-13)


@pytest.mark.parametrize("dimensions", [3, 25])
def test_nearest_agrees_with_scikit_learn(rng, dimensions):
    points, queries = rng.normal(size=(800, dimensions)), rng.normal(size=(50, dimensions))
    distances, indices = nearest(points, queries, 6)
    theirs = NearestNeighbors(n_neighbors=6, algorithm="brute").fit(points).kneighbors(queries)
    np.testing.assert_array_equal(indices, theirs[1])
    np.testing.assert_allclose(distances, theirs[0], rtol=1e-6)


@pytest.mark.parametrize("dimensions", [2, 12])
def test_points_that_coincide_far_from_the_origin_are_at_distance_zero(rng, dimensions):
    points = 1e6 + rng.normal(size=(400, dimensions))
    distances, indices = nearest(points, points, 1)
    assert (distances == 0).all()
    np.testing.assert_array_equal(indices[:, 0], np.arange(400))


def test_of_many_coinciding_points_the_first_are_taken(rng):
    points = np.repeat(rng.normal(size=(5, 2)), 200, axis=0)
    _, indices = nearest(points, points[::200], 3)
    np.testing.assert_array_equal(indices, 200 * np.arange(5)[:, None] + np.arange(3))


@pytest.mark.parametrize("kind", ["smooth", "whole"])
@pytest.mark.parametrize("dimensions", [1, 2, 12])
def test_count_nearer_is_the_place_in_the_full_sort(rng, kind, dimensions):
    points, queries = cloud(rng, 90, dimensions, kind), cloud(rng, 30, dimensions, kind)
    targets = rng.integers(0, 90, (30, 4))
    _, order = slow_order(points, queries)
    places = np.argsort(order, axis=1)
    np.testing.assert_array_equal(
        count_nearer(points, queries, targets), np.take_along_axis(places, targets, 1)
    )


def test_pair_squares_are_those_of_the_scan_to_the_last_bit(rng):
    points, queries = rng.normal(size=(300, 7)), rng.normal(size=(20, 7))
    border, last = kth_nearest(points, queries, 5)
    np.testing.assert_array_equal(pair_squares(queries, points, np.arange(20), last), border)
    np.testing.assert_array_equal(pair_squares(points, queries, last, np.arange(20)), border)


def test_threads_do_not_change_the_result(rng):
    points, queries = rng.normal(size=(1500, 12)), rng.normal(size=(64, 12))
    many = nearest(points, queries, 8)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = nearest(points, queries, 8)
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(one[0], many[0])
    np.testing.assert_array_equal(one[1], many[1])


def test_no_queries_have_no_neighbours(rng):
    distances, indices = nearest(rng.normal(size=(100, 2)), np.empty((0, 2)), 3)
    assert distances.shape == indices.shape == (0, 3)


def test_what_cannot_be_used_is_refused(rng):
    points = rng.normal(size=(5, 2))
    with pytest.raises(ParameterError, match="k=6: among 5 points"):
        nearest(points, points, 6)
    with pytest.raises(ParameterError, match="k=0"):
        kth_distance(points, points, 0)
    with pytest.raises(DataError, match=r"points \(5, 2\) and queries \(5, 3\)"):
        nearest(points, np.zeros((5, 3)), 1)
    with pytest.raises(DataError, match="not finite"):
        nearest(points, np.full((1, 2), np.nan), 1)
    with pytest.raises(ParameterError, match="indices of the 5 points"):
        count_nearer(points, points, np.full((5, 1), 5))
    with pytest.raises(ParameterError, match="one row for each of 5 queries"):
        count_nearer(points, points, np.zeros((4, 1), dtype=int))


@pytest.mark.parametrize("counted", [0, 10**9])
@pytest.mark.parametrize("d", [2, 12])
def test_whether_a_pair_is_near(rng, monkeypatch, counted, d):
    """Whichever way it is found, also where distances are equal."""
    monkeypatch.setattr(neighbours, "COUNTED_DISTANCES", counted)
    points, queries = (rng.integers(0, 4, size=(n, d)).astype(float) for n in (400, 50))
    whose, target = rng.integers(0, 50, 300), rng.integers(0, 400, 300)
    table = ((queries[:, None] - points[None]) ** 2).sum(axis=2)
    squares = table[whose, target]
    expected = squares <= np.sort(table, axis=1)[whose, 6]
    np.testing.assert_array_equal(are_near(points, queries, whose, squares, 7), expected)
    nudged = squares * (1.0 + 1e-13)
    np.testing.assert_array_equal(are_near(points, queries, whose, nudged, 7, slack=1e-12), expected)
