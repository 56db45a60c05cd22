"""Orders of members by nearness: sorted by key, equal ones by index, whatever the keys look like."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from relscape.scores import agreement
from relscape.scores.agreement import CohortSpace, agreements, nearest_others

KEYS = {
    "smooth": lambda rng: rng.normal(size=300),
    "skewed": lambda rng: np.exp(20 * rng.normal(size=300)),
    "one far away": lambda rng: np.append(rng.random(299), 1e12),
    "whole numbers": lambda rng: rng.integers(0, 5, 300).astype(float),
    "all equal": lambda rng: np.full(300, 7.0),
    "almost equal": lambda rng: 1e-310 * rng.integers(0, 9, 300),
    "enormous": lambda rng: 1e308 * rng.uniform(-1, 1, 300),
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS.keys())
@pytest.mark.parametrize("reach", [1, 40, 299])
def test_members_are_listed_by_key_and_then_by_index(rng, keys, reach):
    values = keys(rng)
    for own in (0, 123, 299):
        others = np.delete(np.arange(300), own)
        expected = others[np.argsort(values[others], kind="stable")]
        order, ends = np.empty(300, np.int32), np.empty(301, np.int32)
        agreement._nearest_first(values, own, reach, order, ends)
        assert order[:reach].tolist() == expected[:reach].tolist()


@pytest.mark.parametrize("dimensions", [2, 16, 17, 40])
@pytest.mark.parametrize("sparse", [False, True])
def test_nearness_orders_as_distances_do(rng, dimensions, sparse):
    points = rng.integers(-3, 4, (30, dimensions)).astype(float)
    points[4] = 0
    given = csr_array(points) if sparse else points
    keys = CohortSpace.of(given, "euclidean").from_members(slice(5, 12))
    squares = cdist(points[5:12], points, "sqeuclidean")
    # The two differ by what is the same for all members, and whole numbers are exact.
    assert np.ptp(np.asarray(keys) - squares, axis=1) == pytest.approx(np.zeros(7), abs=0)
    cosines = CohortSpace.of(given, "cosine").from_members(slice(3, 6))
    lengths = np.linalg.norm(points, axis=1)
    expected = points[3:6] @ points.T / np.where(lengths > 0, lengths, 1.0)
    assert -cosines == pytest.approx(expected)


def test_a_large_offset_costs_no_digits(rng):
    points = rng.normal(size=(50, 30))
    keys = CohortSpace.of(points + 1e7, "euclidean").from_members(slice(0, 50))
    order = np.argsort(keys, axis=1)
    assert (order == np.argsort(cdist(points, points), axis=1)).mean() > 0.999


def test_parts_and_threads_do_not_matter(rng, monkeypatch):
    spaces = (CohortSpace.of(rng.normal(size=(60, d)), "euclidean") for d in (20, 2))
    original, mapped = spaces
    whole = agreements(original, mapped, 60, 50)
    monkeypatch.setattr(agreement, "_TILE", 200)
    monkeypatch.setattr(agreement, "get_num_threads", lambda: 1)
    assert agreements(original, mapped, 60, 50).tolist() == whole.tolist()


@pytest.mark.parametrize("dimensions", [2, 20])
def test_nearest_others_are_those_of_the_distance_matrix(rng, dimensions, monkeypatch):
    points = rng.normal(size=(40, dimensions))
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    monkeypatch.setattr(agreement, "_TILE", 120)
    found = nearest_others(CohortSpace.of(points, "euclidean"))
    assert found.tolist() == distances.argmin(axis=1).tolist()
