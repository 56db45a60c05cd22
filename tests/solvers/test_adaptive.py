"""Descents on costs whose terms are drawn as they go."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from relscape.errors import DataError, ParameterError
from relscape.solvers.adaptive import adam_descent, adaptive_descent


@pytest.fixture
def samples(rng):
    """The cost is the mean squared distance to some of these; all together are least at their mean."""
    return 1.0 + rng.normal(size=(200, 3))


@pytest.fixture
def cost(samples):
    def value_and_gradient(point, terms):
        ways = point - samples[terms]
        return float((ways**2).sum(axis=1).mean()), 2.0 * ways.mean(axis=0)

    return value_and_gradient


def draws(seed, size=200, count=40):
    rng = np.random.default_rng(seed)
    return lambda: rng.choice(size, count, replace=False)


def test_the_adaptive_rate_is_that_of_the_procedure(cost):
    """The loop as it is written down, with a rate at which steps fail and succeed in turn."""
    draw = draws(5)
    point, base = np.zeros(3), 0.99
    firsts = []
    for _ in range(4):
        terms, rate, best = draw(), base, np.inf
        for step in range(6):
            c, gradient = cost(point, terms)
            if step == 0:
                firsts.append(c)
            if c <= best:
                rate *= 1.01
            else:
                rate *= 0.4
            best = min(best, c)
            point = point - rate * gradient
        if rate < base:
            base *= 0.4
    result = adaptive_descent(cost, draws(5), np.zeros(3), rate=0.99, rounds=4, steps=6)
    assert_allclose(result.point, point, rtol=1e-12)
    assert_allclose(result.trace[:-1], firsts, rtol=1e-12)
    assert base < 0.99
    assert result.iterations == 4
    assert not result.converged


def test_adam_is_adam():
    """Three steps of one coordinate, written out."""
    gradients = [2.0, -1.0, 0.5]
    given = iter([*gradients, 0.0])
    result = adam_descent(
        lambda _point, _terms: (1.0, np.array([next(given)])),
        lambda: np.arange(1),
        np.array([0.0]),
        rate=0.1,
        max_iterations=3,
    )
    x, m, v = 0.0, 0.0, 0.0
    for t, g in enumerate(gradients, start=1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        x -= 0.1 * (m / (1 - 0.9**t)) / np.sqrt(v / (1 - 0.999**t))
    assert_allclose(result.point, [x], rtol=1e-9)


def test_both_find_the_mean(cost, samples):
    start = np.zeros(3)
    rounds = adaptive_descent(cost, draws(0), start, rate=0.3, rounds=60, steps=5)
    steps = adam_descent(cost, draws(0), start, tolerance=1e-3)
    assert_allclose(rounds.point, samples.mean(axis=0), atol=0.3)
    assert_allclose(steps.point, samples.mean(axis=0), atol=0.1)
    assert steps.converged
    assert "25 steps" in steps.reason
    assert steps.value < steps.trace[0]


def test_a_flat_cost_ends_the_rounds(cost):
    result = adaptive_descent(cost, draws(0), np.zeros(3), rate=0.3, rounds=500, steps=5, tolerance=1e-2)
    assert result.converged
    assert result.iterations < 500
    assert "ten rounds" in result.reason


@pytest.mark.parametrize("solve", [adam_descent, adaptive_descent])
def test_a_callback_stops(solve, cost):
    seen = []

    def watch(iteration, value, point):
        seen.append((iteration, value, point.copy()))
        return iteration == 3

    result = solve(cost, draws(0), np.zeros(3), callback=watch)
    assert [iteration for iteration, _, _ in seen] == [1, 2, 3]
    assert result.reason == "stopped by the callback"
    assert_allclose(result.point, seen[-1][2])


@pytest.mark.parametrize("solve", [adam_descent, adaptive_descent])
def test_what_cannot_work(solve, cost):
    with pytest.raises(ParameterError, match="rate="):
        solve(cost, draws(0), np.zeros(3), -1.0)
    with pytest.raises(ParameterError, match="iterations"):
        solve(cost, draws(0), np.zeros(3), 0.1, 0)
    with pytest.raises(DataError, match="the cost is nan"):
        solve(lambda point, _: (float("nan"), point), draws(0), np.zeros(3))
    with pytest.raises(DataError, match="gradient is not finite where the cost is 1"):
        solve(lambda point, _: (1.0, np.full_like(point, np.nan)), draws(0), np.zeros(3))


def test_the_start_is_left_alone(cost):
    start = np.zeros(3)
    for solve in (adam_descent, adaptive_descent):
        solve(cost, draws(0), start, 0.1, 2)
        assert_allclose(start, 0.0)
