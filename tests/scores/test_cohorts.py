"""Scores of cohorts: hand cases, double loops, shared places, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from relscape.data.cohorts import Cohorts, read_cohorts
from relscape.errors import DataError, ParameterError
from relscape.scores import cohort_links, cohort_neighbors, cohort_position, cohort_separation, cohorts


def slow_separation(Z, y):
    """Average, over samples, the share of the own cohort among those that are nearest."""
    distance = cdist(Z, Z)
    np.fill_diagonal(distance, np.inf)
    near = distance == distance.min(axis=1, keepdims=True)
    return np.mean([np.mean(y[near[i]] == y[i]) for i in range(len(y))])


def slow_neighbors(Z, y, V, k):
    """Count wanted links that are found, pair by pair."""
    there = np.unique(y)
    centres = np.array([Z[y == j].mean(axis=0) for j in there])

    def linked(P, a, b):
        def near(one, other):
            far = [np.linalg.norm(P[one] - P[j]) for j in range(len(P)) if j != one]
            return np.linalg.norm(P[one] - P[other]) <= sorted(far)[min(k, len(far)) - 1]

        return near(a, b) or near(b, a)

    pairs = [(a, b) for a in range(len(there)) for b in range(a)]
    wanted = [(a, b) for a, b in pairs if linked(V[there], a, b)]
    return np.mean([linked(centres, a, b) for a, b in wanted])


def test_separation_by_hand():
    Z = [[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]]
    assert cohort_separation(Z, ["a", "a", "b", "b"]) == 1
    assert cohort_separation(Z, ["a", "b", "a", "b"]) == 0
    assert cohort_separation(Z, ["a", "a", "a", "b"]) == 0.5


@pytest.mark.parametrize("dimensions", [1, 2, 12, 30])
def test_separation_is_that_of_the_distance_matrix(rng, dimensions):
    y = rng.integers(0, 4, 90)
    Z = rng.normal(size=(90, dimensions)) + y[:, None] / 2
    assert cohort_separation(Z, y) == pytest.approx(slow_separation(Z, y), abs=1e-14)


def test_samples_in_one_place_count_by_their_shares(rng):
    places = rng.normal(size=(15, 2))
    Z = places[rng.integers(0, 15, 60)]
    y = rng.integers(0, 3, 60)
    assert cohort_separation(Z, y) == pytest.approx(slow_separation(Z, y), abs=1e-14)
    # Everything in one point tells nothing, in whatever order samples come.
    y = np.repeat([0, 1], [10, 30])
    expected = (10 * 9 / 39 + 30 * 29 / 39) / 40
    assert cohort_separation(np.zeros((40, 2)), y) == pytest.approx(expected)
    assert cohort_separation(np.zeros((40, 2)), y[::-1]) == pytest.approx(expected)


def test_position_by_hand():
    V = [[0.0, 0.0], [4.0, 0.0]]
    Z = [[0.1, 0.0], [1.9, 3.0], [3.0, 0.0], [9.0, 9.0]]
    assert cohort_position(Z, ["a", "a", "b", "b"], V) == 1
    assert cohort_position(Z, ["a", "b", "a", "b"], V) == 0.5
    assert cohort_position(Z, ["b", "b", "a", "a"], V) == 0
    # Halfway, both prototypes share a sample.
    assert cohort_position([[2.0, 5.0], [0.0, 0.0]], ["b", "a"], V) == 0.75


def test_position_is_that_of_a_loop_and_of_small_tiles(rng, monkeypatch):
    y = rng.integers(0, 5, 80)
    V = rng.normal(size=(5, 3))
    Z = V[y] + rng.normal(size=(80, 3))
    loop = np.mean(
        [np.argmin([np.linalg.norm(z - v) for v in V]) == code for z, code in zip(Z, y, strict=True)]
    )
    assert cohort_position(Z, y, V) == pytest.approx(loop)
    monkeypatch.setattr(cohorts, "_TILE", 12)
    assert cohort_position(Z, y, V) == pytest.approx(loop)


def test_neighbours_by_hand():
    y = ["a", "b", "c", "d"]
    line = np.array([[0.0], [1.0], [3.0], [7.0]])  # with one neighbour: a-b, b-c, c-d
    assert cohort_neighbors(line, y, line, k=1) == 1
    swapped = line[[0, 3, 1, 2]]  # places of a, b, c, d: 0, 7, 1, 3, so that a-c, c-d and b-d are found
    links = cohort_links(swapped, y, line, k=1)
    assert links.kept.tolist() == [[2, 3]]
    assert links.lost.tolist() == [[0, 1], [1, 2]]
    assert links.added.tolist() == [[0, 2], [1, 3]]
    assert cohort_neighbors(swapped, y, line, k=1) == pytest.approx(1 / 3) == links.share


@pytest.mark.parametrize("k", [1, 2, 3, 20])
def test_neighbours_are_those_of_a_double_loop(rng, k):
    y = rng.integers(0, 9, 200)
    Z, V = rng.normal(size=(200, 2)) / 5 + rng.normal(size=(9, 2))[y], rng.normal(size=(9, 3))
    assert cohort_neighbors(Z, y, V, k) == pytest.approx(slow_neighbors(Z, y, V, k))
    if k >= 8:
        assert cohort_neighbors(Z, y, V, k) == 1


def test_a_regular_arrangement_is_kept_by_its_own_copy(rng):
    grid = np.array([[x, y] for x in range(4) for y in range(5)], dtype=float)
    angle = 0.3
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    y = rng.permutation(np.repeat(np.arange(20), 3))
    assert cohort_neighbors((0.1 * grid @ turn + 7)[y], y, grid) == 1


def test_relations_instead_of_places(rng):
    V = rng.normal(size=(6, 2))
    distances = cdist(V, V)
    y = np.repeat(np.arange(6), 4)
    Z = rng.normal(size=(24, 2))
    expected = cohort_neighbors(Z, y, V)
    assert cohort_neighbors(Z, y, distances, similarity=False) == expected
    assert cohort_neighbors(Z, y, np.exp(-distances), similarity=True) == expected
    with pytest.raises(DataError, match="square table"):
        cohort_neighbors(Z, y, V, similarity=True)


def test_labels_of_any_type_and_those_left_out(rng):
    V = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    codes = rng.integers(0, 3, 60)
    Z = V[codes] + 2 * rng.normal(size=(60, 2))
    named = np.array(["ant", "bee", "cow"], dtype=object)[codes]
    scores = (cohort_position, cohort_neighbors)
    for score in scores:
        assert score(Z, named, V) == score(Z, codes, V)
    kept = np.arange(60) % 5 != 0
    gone = np.where(kept, named, None)
    hidden = np.where(kept[:, None], Z, np.nan)
    for score in scores:
        expected = score(Z[kept], codes[kept], V)
        assert (
            score(Z, gone, V) == score(hidden, named, V) == score(Z, np.where(kept, codes, -1), V) == expected
        )
    assert cohort_separation(Z, gone) == cohort_separation(Z[kept], codes[kept])


def test_cohorts_without_members_keep_their_rows_and_no_links():
    V = np.array([[0.0], [1.0], [np.nan], [3.0]])
    Z, codes = [[0.0], [1.0], [3.0]], [0, 1, 3]
    names = np.array(list("abcd"), dtype=object)
    given = Cohorts(names, names, np.array(codes), np.ones(3, dtype=bool))
    for y in (codes, given):
        assert cohort_position(Z, y, V) == 1
        assert cohort_links(Z, y, V, k=1).kept.tolist() == [[0, 1], [1, 3]]
    with pytest.raises(DataError, match="missing or infinite"):
        cohort_position(Z, [0, 1, 2], V)
    with pytest.raises(DataError, match="4 prototypes and 3 cohorts"):
        cohort_position(Z, ["a", "b", "d"], V)


def test_chance_levels_of_structureless_maps(rng):
    y = np.repeat(np.arange(5), 200)
    Z = rng.normal(size=(1000, 2))
    assert cohort_separation(Z, y) == pytest.approx(0.2, abs=0.04)
    assert cohort_position(Z, y, rng.normal(size=(5, 2))) == pytest.approx(0.2, abs=0.04)


def test_what_cannot_be_scored_is_refused(rng):
    Z = rng.normal(size=(4, 2))
    with pytest.raises(DataError, match="at least two"):
        cohort_separation(Z, ["a", None, None, None])
    with pytest.raises(DataError, match="1 cohorts have members"):
        cohort_neighbors(Z, [0, 0, 0, 0], Z)
    with pytest.raises(ParameterError, match="k"):
        cohort_neighbors(Z, [0, 1, 2, 3], Z, k=0)
    with pytest.raises(DataError, match="one space"):
        cohort_position(Z, [0, 1, 2, 3], Z[:, :1])
    with pytest.raises(DataError, match="infinite"):
        cohort_separation(np.full((4, 2), np.inf), [0, 1, 0, 1])
    with pytest.raises(DataError, match="3 cohorts for 4 samples"):
        cohort_separation(Z, read_cohorts(["a", "b", "c"], 3))
    with pytest.raises(DataError, match="Z has shape"):
        cohort_position(Z[:, 0], [0, 1, 2, 3], Z)
