from __future__ import annotations

import os
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from numba import njit
from scipy.special import logsumexp

from relscape.objectives import gauss_sums
from relscape.objectives.gauss_sums import conditional_sums, joint_sums

# One column, fewer rows than blocks, less than a tile, a tile and a bit, three tiles.
SHAPES = [(1, 1, 1), (3, 2, 2), (40, 7, 1), (33, 256, 2), (130, 300, 3), (65, 700, 5), (500, 301, 2)]


@njit
def exponentials(values):
    found = np.empty(values.size)
    for i in range(values.size):
        found[i] = gauss_sums._exp(values[i])
    return found


def clouds(rng, m, n, q):
    return rng.normal(size=(m, q)), 2 * rng.normal(size=(n, q)), rng.normal(size=n), rng.normal(size=m)


def exponents(X, Y, log_b, exclude_self=False):
    """All exponents as one array; the pairs of an object with itself are −∞ when they are left out."""
    logs = log_b - ((X[:, None] - Y[None]) ** 2).sum(axis=2)
    return np.where(np.eye(*logs.shape, dtype=bool), -np.inf, logs) if exclude_self else logs


def test_exponential_over_its_whole_range():
    values = np.concatenate([-np.linspace(0, 707.9, 200_001), -np.logspace(-300, 2, 2001)])
    assert np.abs(exponentials(values) / np.exp(values) - 1).max() < 2e-15


def test_exponential_against_many_digits():
    values = -np.random.default_rng(0).uniform(0, 700, 500)
    with mpmath.workdps(40):
        errors = [
            abs(float(mpmath.mpf(float(found)) / mpmath.exp(mpmath.mpf(float(value))) - 1))
            for found, value in zip(exponentials(values), values, strict=True)
        ]
    assert max(errors) < 1e-15


def test_exponential_at_its_ends():
    assert exponentials(np.array([0.0, -0.0, -708.5, -1e5, -1e300])).tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(("m", "n", "q"), SHAPES)
def test_conditional_sums_are_those_of_the_full_array(rng, m, n, q):
    X, Y, log_b, _ = clouds(rng, m, n, q)
    weights = rng.uniform(size=m)
    check_conditional(conditional_sums(X, Y, log_b, weights), X, Y, weights, exponents(X, Y, log_b))


@pytest.mark.parametrize("n", [2, 5, 40, 300, 350])
def test_conditional_sums_without_self(rng, n):
    X, Y, log_b, _ = clouds(rng, n, n, 2)
    weights = rng.uniform(size=n)
    sums = conditional_sums(X, Y, log_b, weights, exclude_self=True)
    check_conditional(sums, X, Y, weights, exponents(X, Y, log_b, exclude_self=True))


def check_conditional(sums, X, Y, weights, logs):
    log_z = logsumexp(logs, axis=1)
    p = np.exp(logs - log_z[:, None])
    assert np.allclose(sums.log_normalisers, log_z, rtol=0, atol=1e-13)
    assert np.allclose(sums.row_means, p @ Y, rtol=0, atol=1e-13)
    assert np.allclose(sums.column_masses, weights @ p, rtol=1e-12, atol=1e-300)
    assert np.allclose(sums.column_moments, p.T @ (weights[:, None] * X), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("m", "n", "q"), SHAPES)
def test_joint_sums_are_those_of_the_full_array(rng, m, n, q):
    X, Y, log_b, log_a = clouds(rng, m, n, q)
    check_joint(joint_sums(X, Y, log_a, log_b), X, Y, log_a[:, None] + exponents(X, Y, log_b))


@pytest.mark.parametrize("n", [2, 5, 40, 350])
def test_joint_sums_without_self(rng, n):
    X, Y, log_b, log_a = clouds(rng, n, n, 2)
    logs = log_a[:, None] + exponents(X, Y, log_b, exclude_self=True)
    check_joint(joint_sums(X, Y, log_a, log_b, exclude_self=True), X, Y, logs)


@pytest.mark.parametrize("order", [1, -1])
def test_joint_sums_of_rows_that_weigh_ever_more_or_less(rng, order):
    """The running maximum of a block rises with every row, or never; whole blocks weigh nothing."""
    X, Y, log_b, _ = clouds(rng, 400, 30, 2)
    log_a = np.linspace(-2000, 900, 400)[::order]
    check_joint(joint_sums(X, Y, log_a, log_b), X, Y, log_a[:, None] + exponents(X, Y, log_b))


def check_joint(sums, X, Y, logs):
    log_total = logsumexp(logs)
    p = np.exp(logs - log_total)
    assert sums.log_total == pytest.approx(log_total, abs=1e-12)
    assert np.allclose(sums.row_weights, p.sum(axis=1), rtol=0, atol=1e-13)
    assert np.allclose(sums.row_weights[:, None] * sums.row_means, p @ Y, rtol=0, atol=1e-13)
    assert np.allclose(sums.column_masses, p.sum(axis=0), rtol=0, atol=1e-13)
    assert np.allclose(sums.column_moments, p.T @ X, rtol=0, atol=1e-12)
    assert sums.column_masses.sum() == pytest.approx(1, abs=1e-12)


def test_rows_far_from_every_column_keep_their_digits(rng):
    X, Y, log_b, _ = clouds(rng, 20, 300, 2)
    X += 1000.0
    sums = conditional_sums(X, Y, log_b, np.ones(20))
    logs = exponents(X, Y, log_b)
    log_z = logsumexp(logs, axis=1)
    assert np.allclose(sums.log_normalisers, log_z, rtol=1e-14)
    assert np.allclose(sums.row_means, np.exp(logs - log_z[:, None]) @ Y, atol=1e-8)


def test_few_and_many_pairs_agree(rng, monkeypatch):
    X, Y, log_b, log_a = clouds(rng, 300, 200, 2)
    alone = joint_sums(X, Y, log_a, log_b)
    monkeypatch.setattr(gauss_sums, "FEW_PAIRS", 0)
    for one, other in zip(alone, joint_sums(X, Y, log_a, log_b), strict=True):
        assert np.allclose(one, other, rtol=1e-13, atol=1e-15)


def test_what_is_given_stays_as_it_is(rng):
    given = clouds(rng, 50, 60, 2)
    copies = [array.copy() for array in given]
    joint_sums(given[0], given[1], given[3], given[2])
    conditional_sums(given[0], given[1], given[2], given[3])
    assert all(np.array_equal(one, other) for one, other in zip(given, copies, strict=True))


@pytest.mark.long
def test_code_just_compiled_and_code_kept_give_the_same_bits(tmp_path):
    """Processes of a cluster have either: a sum that the compiler may reorder differs between them."""
    script = (
        "import numpy as np; from relscape.objectives.gauss_sums import joint_sums\n"
        "rng = np.random.default_rng(0); X, Y = rng.normal(size=(450, 2)), rng.normal(size=(300, 2))\n"
        "found = joint_sums(X, Y, rng.normal(size=450), rng.normal(size=300))\n"
        "print(found.log_total.hex(), *(array.tobytes().hex() for array in found[:-1]))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    found = [
        subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True)
        for _ in range(2)
    ]
    assert found[0].stdout == found[1].stdout
    assert len(found[0].stdout) > 450 * 16
