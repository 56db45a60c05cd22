"""The loss of a metric: triple by triple, and by central differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from relscape.objectives.metric import MetricLoss


@pytest.fixture
def problem(rng):
    features = rng.normal(size=(9, 4))
    root = rng.normal(size=(4, 4))
    triples = rng.integers(9, size=(30, 3))
    return features, root @ root.T / 8, triples


@pytest.mark.parametrize("shrinkage", [0.0, 0.5])
def test_the_loss_is_that_of_all_triples(problem, shrinkage):
    features, metric, triples = problem
    hinges = []
    for i, j, k in triples:
        near, far = features[i] - features[j], features[i] - features[k]
        hinges.append(max(0.0, near @ metric @ near - far @ metric @ far + 1))
    assert 0 < np.count_nonzero(hinges) < len(hinges)
    value, _ = MetricLoss(features, shrinkage).value_and_gradient_of(metric, triples)
    assert_allclose(value, shrinkage / 2 * np.sum(metric**2) + np.mean(hinges))


def test_the_subgradient_is_that_of_central_differences(problem, rng):
    features, metric, triples = problem
    loss = MetricLoss(features, 0.5)
    _, gradient = loss.value_and_gradient_of(metric, triples)
    assert_allclose(gradient, gradient.T)
    for _ in range(5):
        direction = rng.normal(size=(4, 4))
        step = 1e-6 * direction
        above = loss.value_and_gradient_of(metric + step, triples)[0]
        below = loss.value_and_gradient_of(metric - step, triples)[0]
        assert_allclose(np.sum(gradient * direction), (above - below) / 2e-6, rtol=1e-5)
