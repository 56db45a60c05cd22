"""Kernel features rebuild the kernel they come from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.kernels import kernel_map, kernel_root, kernel_settings


def features(X, asked, rng, scale=None):
    mapped = kernel_map(X, kernel_settings("image", asked), rng, scale)
    return mapped, mapped.columns(X) @ kernel_root(mapped, X)


@pytest.mark.parametrize("sparse", [False, True])
def test_all_landmarks_are_exact(rng, sparse):
    X = rng.normal(size=(12, 3))
    given = csr_array(X) if sparse else X
    assert_allclose((R := features(given, "linear", rng)[1]) @ R.T, X @ X.T, atol=1e-8)
    assert R.shape == (12, 3)
    R = features(given, {"kernel": "rbf", "gamma": 0.3}, rng)[1]
    assert_allclose(R @ R.T, rbf_kernel(X, gamma=0.3), atol=1e-8)
    R = features(rbf_kernel(X, gamma=0.3), "precomputed", rng)[1]
    assert_allclose(R @ R.T, rbf_kernel(X, gamma=0.3), atol=1e-8)


def test_nystroem(rng):
    X = rng.normal(size=(30, 3))
    mapped, R = features(X, {"kernel": "rbf", "gamma": 0.2, "n_landmarks": 8}, rng)
    assert mapped.landmarks.shape == (8, 3)
    peer = Nystroem(gamma=0.2, n_components=8)
    peer.component_indices_ = np.arange(8)
    fitted = peer.fit(mapped.landmarks + mapped.origin).transform(X)
    assert_allclose(R @ R.T, fitted @ fitted.T, atol=1e-8)
    K = rbf_kernel(X, gamma=0.2)
    of_kernel, again = features(K, {"kernel": "precomputed", "n_landmarks": 8}, np.random.default_rng(1))
    chosen = of_kernel.landmarks
    expected = K[:, chosen] @ np.linalg.inv(K[np.ix_(chosen, chosen)]) @ K[chosen]
    assert_allclose(again @ again.T, expected, atol=1e-6)


def test_width_and_scale(rng):
    X = rng.normal(size=(9, 2)) * [1.0, 50.0]
    mapped = features(X, "rbf", rng)[0]
    assert mapped.gamma == pytest.approx(1.0 / (euclidean_distances(X, squared=True).sum() / 81))
    scaled, R = features(X, {"kernel": "rbf", "gamma": 1.0}, rng, X.std(axis=0))
    assert_allclose(R @ R.T, rbf_kernel(X / X.std(axis=0), gamma=1.0), atol=1e-8)
    assert_allclose(scaled.columns(csr_array(X)), scaled.columns(X), atol=1e-12)


def test_features_far_from_0_lose_no_digits(rng):
    X = rng.normal(size=(12, 3))
    far = X + 2.0**23  # of which the features keep 29 bits after the point
    exact = far - 2.0**23
    mapped, R = features(far, {"kernel": "rbf", "gamma": 0.3}, rng)
    assert_allclose(R @ R.T, rbf_kernel(exact, gamma=0.3), atol=1e-8)
    assert_allclose(mapped.columns(csr_array(far)), mapped.columns(far), atol=1e-12)
    assert features(far, "rbf", rng)[0].gamma == pytest.approx(features(exact, "rbf", rng)[0].gamma)
    linear = kernel_map(far, kernel_settings("image", "linear"), rng, centered=True)
    R = linear.columns(far) @ kernel_root(linear, far)
    assert_allclose(R @ R.T, (exact - exact.mean(axis=0)) @ (exact - exact.mean(axis=0)).T, atol=1e-6)


def test_what_is_no_kernel(rng):
    X = rng.normal(size=(6, 2))
    with pytest.raises(DataError, match="not positive semidefinite"):
        features(euclidean_distances(X), "precomputed", rng)
    with pytest.raises(DataError, match="symmetric"):
        features(rng.random((4, 4)), "precomputed", rng)
    with pytest.raises(DataError, match="is square"):
        features(X, "precomputed", rng)


def test_settings():
    with pytest.raises(UnknownNameError, match=r"no kernel 'rfb' in kernels\['image'\]. Did you mean 'rbf'"):
        kernel_settings("image", "rfb")
    with pytest.raises(UnknownNameError, match="no setting 'width'"):
        kernel_settings("image", {"kernel": "rbf", "width": 2})
    for wrong in (3, {"gamma": 1.0}, {"kernel": "rbf", "gamma": -1.0}, {"kernel": "rbf", "n_landmarks": 0}):
        with pytest.raises(ParameterError, match=r"kernels\['image'\]"):
            kernel_settings("image", wrong)
