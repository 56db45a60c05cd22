"""Whitened tables have unit size, whichever way they are whitened."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from relscape.errors import DataError
from relscape.matrix.guided import CenteredFeatures, weighted_mean
from relscape.solvers import whitening as module
from relscape.solvers.whitening import one_hot_whitening, whitening


class Table:
    """A table held as it is."""

    rounding = 0.0

    def __init__(self, matrix):
        self.matrix, self.shape = matrix, matrix.shape

    def dense(self):
        return self.matrix

    def gram(self):
        return self.matrix.T @ self.matrix


def formed(operator):
    return operator @ np.eye(operator.shape[1])


@pytest.mark.parametrize("way", ["complete", "factored"])
def test_unit_size(rng, monkeypatch, way):
    if way == "factored":
        monkeypatch.setattr(module, "DENSE_ENTRIES", 0)
    X = rng.normal(size=(20, 6))
    T = whitening(Table(X), 0.7, None, rng)
    full = formed(T)
    assert_allclose(full.T @ (X.T @ X + 0.7 * np.eye(6)) @ full, np.eye(6), atol=1e-10)
    assert_allclose(T.rmatmat(np.eye(6)), full.T, atol=1e-12)
    assert_allclose(T.rmatvec(np.ones(6)), full.T @ np.ones(6), atol=1e-12)
    assert_allclose(T.matvec(np.ones(6)), full @ np.ones(6), atol=1e-12)


def test_directions_without_variation_are_left_out(rng):
    X = rng.normal(size=(4, 6))
    X[:, 5] = X[:, 0]
    T = formed(whitening(Table(X), 0.1, None, rng))
    assert T.shape == (6, 4)
    assert formed(whitening(Table(X), 0.1, 2, rng)).shape == (6, 2)


@pytest.mark.parametrize("n", [20, 5])
def test_leading_directions_of_a_large_table(rng, monkeypatch, n):
    X = rng.normal(size=(n, 6)) * [5.0, 4.0, 1.0, 0.5, 0.2, 0.1]
    expected = formed(whitening(Table(X), 0.1, 2, rng))
    monkeypatch.setattr(module, "DENSE_ENTRIES", 0)
    found = formed(whitening(CenteredFeatures(X, np.zeros(6)), 0.1, 2, rng))
    assert_allclose(found @ found.T, expected @ expected.T, atol=1e-10)


@pytest.mark.parametrize("n", [20, 5])
def test_no_more_directions_of_a_large_table_than_it_has(rng, monkeypatch, n):
    monkeypatch.setattr(module, "DENSE_ENTRIES", 0)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 6))
    assert formed(whitening(CenteredFeatures(X, np.zeros(6)), 0.0, 4, rng)).shape == (6, 2)


def test_all_directions_of_a_large_table_without_a_ridge(rng, monkeypatch):
    """No more are cut off than have no variation, however many there are."""
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 7))
    monkeypatch.setattr(module, "DENSE_ENTRIES", 0)
    monkeypatch.setattr(module, "RANK", 2)
    T = formed(whitening(CenteredFeatures(X, np.zeros(7)), 0.0, None, rng))
    assert T.shape == (7, 5)
    assert_allclose(T.T @ X.T @ X @ T, np.eye(5), atol=1e-8)


@pytest.mark.parametrize("entries", [0, 10**6])
@pytest.mark.parametrize("constant", [0.1, 1e5 + 0.1])
def test_what_centring_leaves_of_a_constant_is_no_direction(rng, monkeypatch, entries, constant):
    monkeypatch.setattr(module, "DENSE_ENTRIES", entries)
    X = np.full((30, 2), constant)
    table = CenteredFeatures(X, weighted_mean(X, rng.random(30))).weighted(rng.random(30))
    assert table.squares() == 0.0
    assert formed(whitening(table, 0.0, None, rng)).shape == (2, 0)


def test_a_large_table_that_never_varies(rng, monkeypatch):
    monkeypatch.setattr(module, "DENSE_ENTRIES", 0)
    with pytest.raises(DataError, match="found 0 of 2 directions"):
        whitening(CenteredFeatures(np.ones((20, 6)), np.ones(6)), 0.1, 2, rng)


def test_a_ridge_too_small_to_factorise(monkeypatch, rng):
    monkeypatch.setattr(module, "DENSE_ENTRIES", 0)
    X = rng.normal(size=(5, 1)) @ np.ones((1, 4)) * 1e8
    with pytest.raises(DataError, match="raise regularization"):
        whitening(Table(X), 1e-14, None, rng)


@pytest.mark.parametrize("ridge", [0.0, 0.4])
@pytest.mark.parametrize("centered", [False, True])
def test_one_hot(rng, ridge, centered):
    weights = np.array([0.0, 1, 2, 5, 0.5])
    T = one_hot_whitening(weights, ridge, centered)
    full = formed(T)
    phi = np.eye(5) - (np.outer(np.ones(5), weights / weights.sum()) if centered else 0.0)
    size = full.T @ (phi.T @ np.diag(weights) @ phi + ridge * np.eye(5)) @ full
    assert_allclose(size @ size, size, atol=1e-10)  # the identity, but for directions without any size
    lost = 0 if ridge else 1 + int(centered)
    assert np.trace(size) == pytest.approx(5 - lost)
    assert_allclose(T.rmatmat(np.eye(5)), full.T, atol=1e-12)
    assert_allclose(T.rmatvec(weights), full.T @ weights, atol=1e-12)
    assert_allclose(T.matvec(weights), full @ weights, atol=1e-12)
