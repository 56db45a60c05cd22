from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp

from relscape.errors import DataError, UnknownNameError
from relscape.objectives import linkage_newcomers
from relscape.objectives.linkage import Linkage
from relscape.objectives.linkage_newcomers import log_incoming, place_newcomers

KERNELS = ("cauchy", "gaussian")


def divergence(h, H, q, kernel):
    """Σ q log(q/p) of one new document, term by term."""
    squares = ((h - H) ** 2).sum(axis=1)
    logs = -np.log1p(squares) if kernel == "cauchy" else -squares
    logs = logs - logsumexp(logs)
    positive = q > 0
    return float((q[positive] * (np.log(q[positive]) - logs[positive])).sum())


def probabilities(rng, m, n, near=6):
    q = np.zeros((m, n))
    for row in q:
        row[rng.choice(n, near, replace=False)] = rng.random(near)
    return q / q.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_is_that_of_the_divergence(rng, kernel):
    H, q, h = rng.normal(size=(15, 3)), probabilities(rng, 4, 15), rng.normal(size=(4, 3))
    values, gradients = linkage_newcomers._value_and_gradient(H, q, h, kernel)
    for row in range(4):
        entropy = -(q[row][q[row] > 0] @ np.log(q[row][q[row] > 0]))
        assert np.isclose(values[row] - entropy, divergence(h[row], H, q[row], kernel))
        for axis in range(3):
            step = 1e-6 * np.eye(3)[axis]
            above, below = (divergence(h[row] + s, H, q[row], kernel) for s in (step, -step))
            assert np.isclose(gradients[row, axis], (above - below) / 2e-6, atol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_places_are_as_low_as_another_solver_finds(rng, kernel):
    H, q = rng.normal(size=(60, 4)), probabilities(rng, 6, 60)
    places, left = place_newcomers(H, q, kernel)
    for row in range(6):
        assert np.isclose(left[row], divergence(places[row], H, q[row], kernel), atol=1e-10)
        starts = [q[row] @ H, *H[np.argsort(-q[row])[:3]]]
        found = min(minimize(divergence, start, args=(H, q[row], kernel)).fun for start in starts)
        assert left[row] <= found + 1e-6


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_place_that_fits_is_found_again(rng, kernel):
    H, h = rng.normal(size=(80, 2)), 0.5 * rng.normal(size=(5, 2))
    squares = ((h[:, None] - H[None]) ** 2).sum(axis=2)
    weights = 1 / (1 + squares) if kernel == "cauchy" else np.exp(-squares)
    places, left = place_newcomers(H + 7.0, weights / weights.sum(axis=1, keepdims=True), kernel)
    assert np.allclose(places, h + 7.0, atol=1e-4)
    assert left.max() < 1e-9


def test_batches_and_sparse_rows_change_nothing(rng, monkeypatch):
    H, q = rng.normal(size=(40, 3)), probabilities(rng, 9, 40)
    places, left = place_newcomers(H, q)
    assert np.allclose(place_newcomers(H, csr_array(q))[0], places, atol=1e-12)
    monkeypatch.setattr(linkage_newcomers, "BLOCK_ENTRIES", 2 * 4 * 40)
    apart = place_newcomers(H, q)
    assert np.allclose(apart[0], places, atol=1e-5)
    assert np.allclose(apart[1], left, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_incoming_probabilities_are_those_of_the_network_with_one_more(rng, kernel):
    H, h = rng.normal(size=(20, 3)), rng.normal(size=(4, 3))
    cost = Linkage(None, 0.0, 0.1, kernel, np.float64)
    found = np.exp(log_incoming(H, cost.normalisers(H), h, kernel))
    for row in range(4):
        squares = ((H - h[row]) ** 2).sum(axis=1)
        weights = 1 / (1 + squares) if kernel == "cauchy" else np.exp(-squares)
        together = cost.normalisers(np.vstack([H, h[row]]))[:-1]
        expected = weights / (together if kernel == "cauchy" else np.exp(together))
        assert np.allclose(found[row], expected, rtol=1e-10)


def test_far_documents_are_told_apart_where_probabilities_vanish():
    """At distances whose kernel is below every number, log w − log Z is what is left."""
    H = np.array([[30.0], [40.0], [50.0]])
    logs = log_incoming(H, np.array([1.0, 2.0, 3.0]), np.zeros((1, 1)), "gaussian")
    assert np.allclose(logs, [[-901.0, -1602.0, -2503.0]], rtol=1e-12)


def test_no_newcomers(rng):
    places, left = place_newcomers(rng.normal(size=(5, 2)), np.empty((0, 5)))
    assert places.shape == (0, 2)
    assert left.shape == (0,)


def test_what_cannot_be_used_is_refused(rng):
    H = rng.normal(size=(5, 2))
    with pytest.raises(UnknownNameError, match="no kernel 'student'"):
        place_newcomers(H, np.full((1, 5), 0.2), "student")
    with pytest.raises(UnknownNameError, match="no kernel 'student'"):
        log_incoming(H, np.ones(5), H, "student")
    with pytest.raises(DataError, match="probabilities of 4 documents, but 5 places"):
        place_newcomers(H, np.full((1, 4), 0.25))
