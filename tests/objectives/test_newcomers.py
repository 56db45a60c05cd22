"""Newcomers against a general optimiser on the obvious formula."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import logsumexp

from relscape.objectives.newcomers import place_frozen, refine_exact


@pytest.fixture
def cloud(rng):
    return rng.normal(size=(30, 3)), np.log(rng.dirichlet(np.ones(30)))


def frozen_loss(x, mean_distance, points, log_weights, ridge):
    """The likelihood as written: distances, not features."""
    squares = ((x - points) ** 2).sum(axis=1)
    return mean_distance(squares) + logsumexp(log_weights - squares) + ridge * (x @ x)


@pytest.mark.parametrize("ridge", [1e-3, 0.3])
@pytest.mark.parametrize("away", [0.0, 50.0])
def test_the_place_is_the_maximum_of_the_likelihood(cloud, rng, ridge, away):
    points, log_weights = cloud
    points = points + away
    counts = rng.poisson(1.0, size=(4, 30)).astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    found = place_frozen(shares @ points, points, log_weights, np.full(4, ridge))
    for x, share in zip(found, shares, strict=True):
        slow = minimize(
            frozen_loss,
            points.mean(axis=0),
            args=(lambda squares, share=share: share @ squares, points, log_weights, ridge),
            tol=1e-13,
        )
        here = frozen_loss(x, lambda squares, share=share: share @ squares, points, log_weights, ridge)
        assert here <= slow.fun + 1e-10
        assert_allclose(x, slow.x, atol=1e-3)


def test_an_object_with_one_relation_on_the_border_stays_finite(cloud):
    points, log_weights = cloud
    corner = np.argmax(points[:, 0])
    found = place_frozen(points[[corner]], points, log_weights, np.array([1e-6]))
    assert np.isfinite(found).all()
    squares = ((found[0] - points) ** 2).sum(axis=1)
    assert np.argmax(log_weights - squares) == corner
    assert np.exp(log_weights[corner] - squares[corner] - logsumexp(log_weights - squares)) > 0.999


def test_alone_or_in_a_batch(cloud, rng):
    points, log_weights = cloud
    means = rng.normal(scale=0.3, size=(7, 3))
    together = place_frozen(means, points, log_weights, np.full(7, 0.01))
    alone = [place_frozen(mean[None], points, log_weights, np.array([0.01]))[0] for mean in means]
    assert_array_equal(together, alone)


def test_the_exact_place_is_a_maximum_of_the_enlarged_table(cloud, rng):
    points, _ = cloud
    shares = rng.dirichlet(np.ones(30)) * 0.05
    masses, odds = rng.dirichlet(np.ones(30)), rng.uniform(0.01, 2.0, 30)

    def loss(x):
        squares = ((x - points) ** 2).sum(axis=1)
        return shares @ squares + masses @ np.log(1 + odds * np.exp(-squares)) + 1e-3 * (x @ x)

    start = shares @ points / shares.sum()
    found = refine_exact(start, shares, points, masses, np.log(odds), 1e-3)
    slow = minimize(loss, start, tol=1e-14)
    assert loss(found) <= slow.fun + 1e-12
    step = 1e-5
    slopes = [(loss(found + step * e) - loss(found - step * e)) / (2 * step) for e in np.eye(3)]
    assert_allclose(slopes, 0.0, atol=1e-9)
