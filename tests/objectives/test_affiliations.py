"""The loss of communities: pair by pair, by central differences, in blocks and in single precision."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

from relscape.objectives import affiliations
from relscape.objectives.affiliations import AffiliationLoss, Affiliations, NewcomerLoss, word_loss

BACKGROUND = 0.03


@pytest.fixture
def problem(rng):
    words = csr_array((rng.random((7, 5)) < 0.4).astype(float))
    pairs = np.array([pair for pair in combinations(range(7), 2) if rng.random() < 0.4])
    learned = Affiliations(rng.uniform(0, 2, (7, 3)), rng.normal(size=(5, 3)), rng.normal(size=5))
    return words, pairs, learned


def loss_of(words, pairs, weight=0.7, sparsity=0.3, dtype=np.float64):
    return AffiliationLoss(words, pairs, 3, weight, sparsity, BACKGROUND, dtype)


def slow_loss(words, pairs, learned, weight, sparsity):
    """Every pair and every word for itself."""
    F, W, b = learned
    linked = {tuple(pair) for pair in pairs.tolist()}
    value = sparsity * np.abs(W).sum()
    for u, v in combinations(range(len(F)), 2):
        x = F[u] @ F[v]
        value += -np.log(1 - np.exp(-x - BACKGROUND)) if (u, v) in linked else x
    for u in range(len(F)):
        for m in range(len(W)):
            chance = 1 / (1 + np.exp(-(W[m] @ F[u] + b[m])))
            value -= weight * np.log(chance if words[u, m] else 1 - chance)
    return value


@pytest.mark.parametrize(("weight", "sparsity"), [(1.0, 1.0), (0.7, 0.3), (0.0, 0.0)])
def test_the_loss_is_that_of_all_pairs_and_words(problem, weight, sparsity):
    words, pairs, learned = problem
    loss = loss_of(words, pairs, weight, sparsity)
    value, _ = loss.value_and_gradient(loss.packed(*learned))
    assert_allclose(value, slow_loss(words, pairs, learned, weight, sparsity))


def test_the_gradient_is_that_of_central_differences(problem, rng):
    words, pairs, learned = problem
    loss = loss_of(words, pairs)
    point = loss.packed(*learned) + rng.uniform(0.1, 0.2, 7 * 3 + 2 * 5 * 3 + 5)
    _, gradient = loss.value_and_gradient(point)
    moved = np.eye(point.size) * 1e-6
    by_steps = [
        (loss.value_and_gradient(point + step)[0] - loss.value_and_gradient(point - step)[0]) / 2e-6
        for step in moved
    ]
    assert_allclose(gradient, by_steps, rtol=1e-5, atol=1e-6)


def test_a_vector_is_read_as_it_was_written(problem):
    words, pairs, learned = problem
    loss = loss_of(words, pairs)
    point = loss.packed(*learned)
    for got, given in zip(loss.unpacked(point), learned, strict=True):
        assert_allclose(got, given)
    assert (point >= loss.lower_bounds()).all()
    assert np.isinf(loss.lower_bounds()).sum() == 5


def test_links_that_no_community_explains_keep_the_loss_finite(problem):
    words, pairs, learned = problem
    loss = loss_of(words, pairs)
    value, gradient = loss.value_and_gradient(loss.packed(np.zeros((7, 3)), *learned[1:]))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_blocks_of_documents_change_nothing(problem, monkeypatch):
    words, _, learned = problem
    whole = word_loss(words, *learned)
    monkeypatch.setattr(affiliations, "_BLOCK_ENTRIES", 10)
    for part, expected in zip(word_loss(words, *learned), whole, strict=True):
        assert_allclose(part, expected, rtol=1e-12)


def test_single_precision_agrees(problem):
    words, pairs, learned = problem
    exact, rough = loss_of(words, pairs), loss_of(words, pairs, dtype=np.float32)
    point = exact.packed(*learned)
    value, gradient = rough.value_and_gradient(point)
    assert_allclose(value, exact.value_and_gradient(point)[0], rtol=1e-6)
    assert_allclose(gradient, exact.value_and_gradient(point)[1], rtol=1e-4, atol=1e-5)


def test_far_logits_neither_overflow_nor_vanish():
    words = csr_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    value, *gradients = word_loss(
        words, np.array([[1.0], [1.0]]), np.array([[2000.0], [-2000.0]]), np.zeros(2)
    )
    assert_allclose(value, 4000.0)
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_newcomers_lose_by_their_words_and_the_prior(problem, rng):
    words, _, learned = problem
    prior = np.array([1.0, 2.0, 0.5])
    loss = NewcomerLoss(words, learned, prior)
    places = rng.uniform(0, 1, (7, 3))
    value, gradient = loss.value_and_gradient(places)
    assert_allclose(value, word_loss(words, places, *learned[1:])[0] + (places * prior).sum())
    by_steps = approx_fprime(places.ravel(), lambda x: loss.value_and_gradient(x.reshape(7, 3))[0], 1e-7)
    assert_allclose(gradient.ravel(), by_steps, rtol=1e-4, atol=1e-4)
