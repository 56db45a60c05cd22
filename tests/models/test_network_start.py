"""Where documents start."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.sparse import csr_array

from relscape.models.network_start import first_places

N, K = 30, 3


@pytest.fixture
def contents(rng):
    weights = rng.random((N, N)) ** 4
    np.fill_diagonal(weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.fixture
def pairs(rng):
    links = np.argwhere(rng.random((N, N)) < 0.1)
    return links[links[:, 0] != links[:, 1]]


def by_hand(contents, pairs):
    """Generalised eigenvectors of the graph and its degrees, written out."""
    either = np.zeros((N, N))
    for i, j in pairs:
        either[i, j] += 1.0
        either[j, i] += 1.0
    walk = either / np.maximum(either.sum(axis=1, keepdims=True), 1.0)
    graph = (walk + contents) + (walk + contents).T
    values, vectors = eigh(graph, np.diag(graph.sum(axis=1)))
    leading = np.argsort(-values)[1 : K + 1]
    return vectors[:, leading] * values[leading]


def test_spectral_places_are_eigenvectors_of_the_walk(contents, pairs):
    expected = by_hand(contents, pairs)
    expected *= np.sqrt(2 / K / np.mean(expected**2))
    for given in (contents, csr_array(contents)):
        found = first_places(given, pairs, N, K, "spectral", np.random.default_rng(0))
        turned = found * np.sign((found * expected).sum(axis=0))
        assert_allclose(turned, expected, atol=0.01)


def test_random_places_are_uniform(contents, pairs):
    places = first_places(contents, pairs, N, 50, "random", np.random.default_rng(0))
    bound = np.sqrt(6 / 50)
    assert abs(places).max() <= bound
    assert places.std() == pytest.approx(bound / np.sqrt(3), rel=0.05)


def test_auto_looks_for_contents(contents, pairs):
    def start(given, init):
        return first_places(given, pairs, N, K, init, np.random.default_rng(0))

    assert_allclose(start(contents, "auto"), start(contents, "spectral"))
    assert_allclose(start(None, "auto"), start(None, "random"))
    assert np.isfinite(start(None, "spectral")).all()


@pytest.mark.parametrize("n", [3, 4, 7])
def test_without_leading_eigenvectors_places_are_random(n):
    """Everybody is as near to everybody: all eigenvalues of the walk but the first are −1/(n − 1)."""
    even = (np.ones((n, n)) - np.eye(n)) / (n - 1)
    everyone = np.argwhere(even)
    for given in (even, csr_array(even)):
        found = first_places(given, everyone, n, 2, "spectral", np.random.default_rng(0))
        assert_allclose(found, first_places(None, everyone, n, 2, "random", np.random.default_rng(0)))


def test_more_axes_than_documents(contents, pairs):
    places = first_places(contents, pairs, N, 40, "spectral", np.random.default_rng(0))
    assert places.shape == (N, 40)
    assert np.isfinite(places).all()
    assert abs(places[:, -1]).max() > 0
