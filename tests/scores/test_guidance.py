"""Satisfied guidance is what all distances in one table say, however the pairs are walked over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError
from relscape.scores import guidance, guidance_satisfaction


def share(values):
    return np.mean(values) if len(values) else np.nan


def slow(W, rows, columns, thresholds, within=False):
    """Look at every pair on its own, in the table of all distances."""
    distance = cdist(rows, columns)
    counted = ~np.eye(len(rows), dtype=bool) if within else np.ones(W.shape, dtype=bool)
    every = distance[counted]
    mean = every.mean()
    near = [share(distance[counted & (W > 0)] < tau * mean) for tau in thresholds]
    far = [share(distance[counted & (W < 0)] > tau * mean) for tau in thresholds]
    parts = []
    for d in distance[counted & (W > 0)]:
        level = np.sum(every == d)
        parts.append(np.clip((len(every) / 2 - np.sum(every < d)) / level, 0, 1))
    return near, far, share(parts)


def signs(rng, shape):
    return rng.choice([-0.5, 0.0, 0.0, 0.25, 1.0], shape)


@pytest.mark.parametrize("tile", [1, 60, 4_000_000])
@pytest.mark.parametrize("dimensions", [1, 2, 12])
def test_shares_are_those_of_the_whole_table(rng, dimensions, tile, monkeypatch):
    """Small tiles have the median settled bit by bit."""
    monkeypatch.setattr(guidance, "_TILE", tile)
    W, rows, columns = signs(rng, (40, 25)), *(rng.normal(size=(n, dimensions)) for n in (40, 25))
    found = guidance_satisfaction(csr_array(W), rows, columns)
    near, far, half = slow(W, rows, columns, found.thresholds)
    assert_allclose(found.thresholds, np.arange(41) / 20)
    assert_allclose(found.similar, near, atol=1e-14)
    assert_allclose(found.dissimilar, far, atol=1e-14)
    assert found.closest_half == pytest.approx(half, abs=1e-14)


@pytest.mark.parametrize("tile", [1, 60, 4_000_000])
@pytest.mark.parametrize("within", [False, True])
def test_equal_distances_and_any_size_of_blocks(rng, tile, within, monkeypatch):
    """On a grid many distances are level, also with the median."""
    monkeypatch.setattr(guidance, "_TILE", tile)
    for shape in ((30, 17), (15, 15), (1, 3), (2, 2)):
        if within:
            shape = (max(shape), max(shape))
        W = signs(rng, shape)
        W[0, 1] = 1.0
        rows = rng.integers(0, 4, (shape[0], 2)).astype(float)
        columns = rows if within else rng.integers(0, 4, (shape[1], 2)).astype(float)
        found = guidance_satisfaction(W, rows, None if within else columns, [0.0, 0.7, 1.0, 3.0])
        near, far, half = slow(W, rows, columns, found.thresholds, within)
        assert_allclose(found.similar, near, atol=1e-14)
        assert_allclose(found.dissimilar, far, atol=1e-14)
        assert found.closest_half == pytest.approx(half, abs=1e-14)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_curve_rises_from_none_to_all(data):
    m, n = (data.draw(st.integers(1, 6)) for _ in range(2))
    coordinate = st.integers(-3, 3).map(float)
    rows, columns = (
        np.array(data.draw(st.lists(st.tuples(coordinate, coordinate), min_size=size, max_size=size)))
        for size in (m, n)
    )
    W = np.array(data.draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=m * n, max_size=m * n)))
    W = W.reshape(m, n)
    W[0, 0] = 1.0
    distance = cdist(rows, columns)
    beyond = 1.0 + distance.max() / distance.mean() if distance.any() else 1.0
    found = guidance_satisfaction(W, rows, columns, np.linspace(0.0, beyond, 30))
    assert (np.diff(found.similar) >= 0).all()
    assert found.similar[0] == 0
    assert 0 <= found.closest_half <= 1
    if distance.any():
        assert found.similar[-1] == 1
    if (W < 0).any():
        assert (np.diff(found.dissimilar) <= 0).all()
        assert found.dissimilar[-1] == 0
    else:
        assert np.isnan(found.dissimilar).all()


def test_scale_and_place_of_the_map_and_size_of_weights_do_not_matter(rng):
    W, rows, columns = signs(rng, (20, 30)), rng.normal(size=(20, 3)), rng.normal(size=(30, 3))
    one = guidance_satisfaction(W, rows, columns)
    other = guidance_satisfaction(np.sign(W), 8 * rows + 1024, 8 * columns + 1024)
    assert_allclose(one.similar, other.similar)
    assert_allclose(one.dissimilar, other.dissimilar)
    assert one.closest_half == other.closest_half


def test_all_in_one_place_is_chance():
    found = guidance_satisfaction([[1, 0, -1], [1, 1, 0]], np.ones((2, 2)), np.ones((3, 2)))
    assert found.closest_half == 0.5
    assert_array_equal(found.similar, 0)
    assert_array_equal(found.dissimilar, 0)


def test_only_dissimilar_pairs(rng):
    found = guidance_satisfaction([[0, -1]], [[0.0]], [[1.0], [2.0]], [0.0, 1.2, 1.4])
    assert np.isnan(found.similar).all()
    assert np.isnan(found.closest_half)
    assert found.dissimilar.tolist() == [1, 1, 0]


def test_things_without_coordinates_are_left_out(rng):
    W, rows, columns = signs(rng, (12, 9)), rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    rows[[1, 5]], columns[3] = np.nan, np.nan
    kept, others = np.delete(np.arange(12), [1, 5]), np.delete(np.arange(9), 3)
    whole = guidance_satisfaction(W, rows, columns)
    part = guidance_satisfaction(W[np.ix_(kept, others)], rows[kept], columns[others])
    assert_array_equal(whole.similar, part.similar)
    assert whole.closest_half == part.closest_half


def test_what_is_refused(rng):
    rows, columns = rng.normal(size=(2, 2)), rng.normal(size=(3, 2))
    with pytest.raises(DataError, match="W has no pairs"):
        guidance_satisfaction(np.zeros((2, 3)), rows, columns)
    with pytest.raises(DataError, match="missing or infinite"):
        guidance_satisfaction([[np.nan, 0, 1], [0, 0, 1]], rows, columns)
    with pytest.raises(DataError, match="rows has shape"):
        guidance_satisfaction(np.ones((3, 3)), rows, columns)
    with pytest.raises(DataError, match="within one kind is square"):
        guidance_satisfaction(np.ones((2, 3)), rows)
    with pytest.raises(DataError, match=r"W has no pairs"):
        guidance_satisfaction(np.eye(2), rows)
    with pytest.raises(ParameterError, match="thresholds"):
        guidance_satisfaction(np.ones((2, 3)), rows, columns, [-1.0])
