"""The fitted distribution over pairs against tables written out cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from relscape.objectives.cooccurrence import MODELS
from relscape.objectives.pairs import pair_distribution


@pytest.fixture
def counts(rng):
    return rng.poisson(2.0, size=(7, 5)) + np.eye(7, 5)


def joint(counts, model, rows, columns):
    """p(x, y) from the definition of the model."""
    p = counts / counts.sum()
    alpha = p.sum(axis=1) if model[0] == "M" else np.ones(len(p))
    beta = p.sum(axis=0) if model[1] == "M" else np.ones(p.shape[1])
    squares = ((rows[:, None] - columns[None]) ** 2).sum(axis=2)
    kernel = alpha[:, None] * beta * np.exp(-squares)
    if model[0] == "C":
        return p.sum(axis=1, keepdims=True) * kernel / kernel.sum(axis=1, keepdims=True)
    if model[1] == "C":
        return p.sum(axis=0) * kernel / kernel.sum(axis=0)
    return kernel / kernel.sum()


@pytest.fixture(params=MODELS)
def both(request, counts, rng):
    """The distribution, and the table of its probabilities."""
    rows, columns = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))
    p = counts / counts.sum()
    fitted = pair_distribution(request.param, rows, columns, p.sum(axis=1), p.sum(axis=0))
    return fitted, joint(counts, request.param, rows, columns)


def test_the_density_is_that_of_the_model(both):
    fitted, p = both
    i, j = np.indices(p.shape).reshape(2, -1)
    assert_allclose(np.exp(fitted.log_density(i, j)), p.ravel(), rtol=1e-12)


def test_likelihood_conditionals_and_marginal(both, counts):
    fitted, p = both
    assert fitted.log_likelihood(csr_array(counts)) == pytest.approx(
        (counts * np.log(p)).sum() / counts.sum(), rel=1e-12
    )
    some = np.array([3, 0])
    assert_allclose(fitted.conditional(some), (p / p.sum(axis=1, keepdims=True))[some], rtol=1e-12)
    assert_allclose(fitted.row_marginal(), p.sum(axis=1), rtol=1e-12)
    assert_allclose(fitted.transposed().conditional(some), (p / p.sum(axis=0)).T[some], rtol=1e-12)


def test_samples_follow_the_distribution(both):
    fitted, p = both
    i, j = fitted.sample(200_000, np.random.default_rng(1))
    found = np.bincount(i * p.shape[1] + j, minlength=p.size).reshape(p.shape) / len(i)
    assert np.abs(found - p).max() < 5 * np.sqrt(p.max() / len(i))
    again, _ = fitted.sample(50, np.random.default_rng(1))
    assert len(again) == 50


def test_newcomers_maximise_their_conditional_likelihood(both, rng):
    """No small step from the place found raises the likelihood of the newcomer's counts."""
    fitted, _ = both
    new = rng.poisson(3.0, size=(3, 5)).astype(float)
    new[2] = 0
    ridge = 1e-3
    placed = fitted.place_rows(csr_array(new), np.full(3, ridge))
    assert np.isnan(placed[2]).all()
    for x, share in zip(placed[:2], new[:2] / new[:2].sum(axis=1, keepdims=True), strict=True):

        def loss(at, share=share):
            logs = fitted.column_factors - ((at - fitted.columns) ** 2).sum(axis=1)
            return np.logaddexp.reduce(logs) - share @ logs + ridge * (at @ at)

        slopes = [(loss(x + 1e-5 * e) - loss(x - 1e-5 * e)) / 2e-5 for e in np.eye(2)]
        assert_allclose(slopes, 0.0, atol=1e-8)
