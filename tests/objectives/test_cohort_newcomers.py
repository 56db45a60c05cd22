"""New samples among fixed ones: what they minimise, and where they end."""

from __future__ import annotations

import numpy as np
import pytest
from numba import get_num_threads, set_num_threads
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from relscape.objectives.cohort_newcomers import Surroundings, _arguments, _value, settle

VARIANTS = ("1", "2", "3", "4")


@pytest.fixture
def places(rng):
    return rng.normal(size=(600, 2)) * 3  # more than one tile


@pytest.fixture
def prototypes(rng):
    return rng.normal(size=(4, 2)) * 3


@pytest.fixture
def weights(rng):
    return csr_array(rng.random((5, 600)) * (rng.random((5, 600)) < 0.05) / 600)


@pytest.fixture
def confidence(rng):
    return rng.random((5, 4)) / 600


def newcomer_value(around, place, weights, confidence):
    """What the compiled descent sees at a place: the value and its slope."""
    _, indices, data, rows, Z, V, *rest = _arguments(around, weights, confidence)
    slope = np.empty(2)
    return _value(np.asarray(place), slope, indices, data, rows[0], Z, V, *rest), slope


def slow_value(around, place, weights, confidence):
    """The terms of section 7 that contain the new sample, with all sums written out."""
    Z, V, alpha = around.places, around.prototypes, around.alpha
    w, r = weights.toarray()[0], confidence[0]
    to_old, to_prototypes = ((Z - place) ** 2).sum(axis=1), ((V - place) ** 2).sum(axis=1)
    t_old, q_old = 1 / (1 + cdist(Z, V, "sqeuclidean")), 1 / (1 + cdist(Z, Z, "sqeuclidean"))
    np.fill_diagonal(q_old, 0)
    t, q = 1 / (1 + to_prototypes), 1 / (1 + to_old)
    cohort = r @ to_prototypes
    if around.variant in "24":
        cohort = -r @ np.log(t) + (1 + r.sum()) * np.log(t_old.sum() + t.sum())
    local = w @ to_old
    if around.variant in "23":
        local = -2 * w @ np.log(q) + (1 + 2 * w.sum()) * np.log(q_old.sum() + 2 * q.sum())
    return alpha * cohort + (1 - alpha) * local


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_value_and_slope(places, prototypes, weights, confidence, variant, alpha):
    around = Surroundings(places, prototypes, alpha, variant)
    place = np.array([0.4, -1.1])
    one = csr_array(weights[[0]])
    value, slope = newcomer_value(around, place, one, confidence[:1])
    assert_allclose(value, slow_value(around, place, one, confidence[:1]), rtol=1e-10)
    for axis in range(2):
        step = 1e-5 * np.eye(2)[axis]
        ends = [slow_value(around, place + s * step, one, confidence[:1]) for s in (-1, 1)]
        assert_allclose(slope[axis], (ends[1] - ends[0]) / 2e-5, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_newcomers_end_lower_and_alone(places, prototypes, weights, confidence, variant):
    around = Surroundings(places, prototypes, 0.4, variant)
    starts = [np.zeros((5, 2)), np.ones((5, 2))]
    ends = settle(around, starts, weights, confidence)
    for i in range(5):
        one, own = csr_array(weights[[i]]), confidence[[i]]
        lowest = min(newcomer_value(around, start[i], one, own)[0] for start in starts)
        assert newcomer_value(around, ends[i], one, own)[0] <= lowest
        assert_array_equal(settle(around, [s[[i]] for s in starts], one, own)[0], ends[i])


def test_newcomers_of_distances_end_at_the_minimum(places, prototypes, weights, confidence):
    around = Surroundings(places, prototypes, 0.4, "1")
    ends = settle(around, [np.zeros((5, 2))], weights, confidence)
    drawn = 0.4 * confidence @ prototypes + 0.6 * (weights @ places)
    pull = 0.4 * confidence.sum(axis=1) + 0.6 * weights.sum(axis=1)
    assert_allclose(ends, drawn / pull[:, None], atol=1e-3)


def test_threads_change_nothing(places, prototypes, weights, confidence):
    around = Surroundings(places, prototypes, 0.4, "2")
    several = settle(around, [np.zeros((5, 2))], weights, confidence)
    threads = get_num_threads()
    set_num_threads(1)
    try:
        assert_array_equal(settle(around, [np.zeros((5, 2))], weights, confidence), several)
    finally:
        set_num_threads(threads)
