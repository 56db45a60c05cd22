from __future__ import annotations

import numpy as np
import pytest
from openTSNE.affinity import PerplexityBasedNN
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.affinity import (
    CosineAffinity,
    DistanceAffinity,
    GaussianAffinity,
    affinity_settings,
    calibrated,
    given_affinity,
)
from relscape.matrix.weights import finish, shrunk

KINDS = [
    GaussianAffinity(perplexity=5),
    GaussianAffinity(perplexity=5, n_neighbors=8),
    GaussianAffinity(perplexity=5, metric="cosine"),
    GaussianAffinity(perplexity=5, shrink=0.3),
    GaussianAffinity(perplexity=5, shrink_distances=0.4, shrink=0.5),
    CosineAffinity(n_neighbors=7),
    CosineAffinity(n_neighbors=7, shrink=0.2),
    DistanceAffinity(n_neighbors=7),
    DistanceAffinity(n_neighbors=7, shrink=0.2),
]


def make(rng, n=80, d=4):
    codes = rng.integers(-1, 3, n)
    return rng.normal(size=(n, d)) + codes[:, None], codes


def mask(similarity, h):
    """1 where j is among the h most similar of i or i among those of j; ties to the lower index."""
    similarity = similarity.copy()
    np.fill_diagonal(similarity, -np.inf)
    N = np.zeros_like(similarity, dtype=bool)
    for i, row in enumerate(similarity):
        N[i, np.argsort(-row, kind="stable")[:h]] = True
    return N | N.T


def unit_sum(W):
    return W / W.sum()


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("settings", KINDS)
def test_weights_are_symmetric_nonnegative_without_diagonal_and_sum_to_one(rng, settings, form):
    X, codes = make(rng)
    fitted = settings.fit(form(X), codes)
    W = fitted.weights.toarray()
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_array_equal(np.diag(W), 0.0)
    assert (W >= 0).all()
    assert W.sum() == pytest.approx(1.0, abs=1e-14)
    assert isinstance(fitted.weights, csr_array)


def test_distance_weights_are_those_of_the_full_matrix(rng):
    X, codes = make(rng)
    D = cdist(X, X)
    S = D.max() - D
    fitted = DistanceAffinity(n_neighbors=7, shrink=0.2).fit(X, codes)
    W = S * mask(S, 7)
    between = (codes[:, None] != codes) & (codes[:, None] >= 0) & (codes >= 0)
    W = np.where(between, 0.2 * W, W)
    np.testing.assert_allclose(fitted.weights.toarray(), unit_sum(W), atol=1e-15)
    assert fitted.total == pytest.approx(W.sum(), rel=1e-12)
    assert fitted.span == pytest.approx(D.max(), rel=1e-13)


def test_cosine_weights_are_those_of_the_full_matrix(rng):
    X = rng.normal(size=(60, 3))
    X[5] = 0.0
    lengths = np.maximum(np.linalg.norm(X, axis=1), 1e-300)
    S = (X @ X.T) / lengths / lengths[:, None]
    W = np.maximum(S, 0.0) * mask(S, 9)
    np.testing.assert_allclose(CosineAffinity(9).fit(X).weights.toarray(), unit_sum(W), atol=1e-15)


def slow_gaussian(D, perplexity, candidates, kept):
    P = np.zeros_like(D)
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    for i, row in enumerate(D):
        near = np.argsort(row, kind="stable")[:candidates]
        low, high = 0.0, 1e6
        for _ in range(200):
            beta = (low + high) / 2
            p = np.exp(-beta * (row[near] ** 2 - row[near[0]] ** 2))
            p /= p.sum()
            size = np.exp(-(p[p > 0] * np.log(p[p > 0])).sum())
            low, high = (beta, high) if size > perplexity else (low, beta)
        P[i, near[:kept]] = p[:kept] / p[:kept].sum()
    return P


@pytest.mark.parametrize("kept", [None, 8])
def test_gaussian_weights_are_those_of_a_slow_loop(rng, kept):
    X, _ = make(rng)
    P = slow_gaussian(cdist(X, X), 5.0, 15, 15 if kept is None else kept)
    fitted = GaussianAffinity(5.0, n_neighbors=kept).fit(X)
    np.testing.assert_allclose(fitted.weights.toarray(), unit_sum(P + P.T), atol=1e-10)
    assert fitted.total == pytest.approx(80.0, rel=1e-12)


def test_gaussian_weights_are_those_of_opentsne(rng):
    X, _ = make(rng, 200)
    theirs = PerplexityBasedNN(X, perplexity=10, method="exact", n_jobs=1).P.toarray()
    np.testing.assert_allclose(GaussianAffinity(10.0).fit(X).weights.toarray(), theirs, atol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_shortened_distances_within_cohorts_are_those_of_the_full_matrix(rng, metric):
    X, codes = make(rng)
    D = cdist(X, X, metric)
    same = (codes[:, None] == codes) & (codes >= 0)
    P = slow_gaussian(np.where(same, 0.25 * D, D), 5.0, 15, 15)
    fitted = GaussianAffinity(5.0, metric=metric, shrink_distances=0.25).fit(X, codes)
    np.testing.assert_allclose(fitted.weights.toarray(), unit_sum(P + P.T), atol=1e-10)


def test_shrinking_touches_only_pairs_of_different_cohorts():
    W = csr_array(np.array([[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]], dtype=float))
    codes = np.array([0, 1, 1, -1])
    expected = [[0, 0.5, 1, 3], [0.5, 0, 4, 5], [1, 4, 0, 6], [3, 5, 6, 0]]
    np.testing.assert_array_equal(shrunk(W, codes, codes, 0.5).toarray(), expected)


@pytest.mark.parametrize("settings", KINDS)
def test_a_sample_already_present_gets_its_own_row(rng, settings):
    X, codes = make(rng)
    X[11] = X[4]
    X[70] = 0.0
    codes[11] = codes[4]
    fitted = settings.fit(X, codes)
    chosen = [0, 4, 33, 79]
    rows = settings.rows(fitted, X, X[chosen], codes, codes[chosen])
    np.testing.assert_array_equal(rows.toarray(), fitted.weights[chosen].toarray())
    if isinstance(settings, CosineAffinity):
        assert settings.rows(fitted, X, X[[70]]).nnz == 0


@pytest.mark.parametrize("settings", KINDS)
def test_a_sample_that_stands_like_an_old_one_gets_its_row(rng, settings):
    """Mirror a sample at the flat that holds all others: same distances, another place."""
    X, codes = make(rng)
    X = np.column_stack((X, np.zeros(80)))
    X[9, -1] = 3.0  # far from its own mirror image, so the two are no neighbours
    fitted = settings.fit(X, codes)
    new = X[[9]] * [1, 1, 1, 1, -1]
    row = settings.rows(fitted, X, new, codes, codes[[9]]).toarray()[0]
    assert row[9] == 0.0
    np.testing.assert_allclose(row, fitted.weights[[9]].toarray()[0], rtol=1e-9)


def test_new_samples_are_weighed_as_by_a_slow_loop(rng):
    X, _ = make(rng)
    new = rng.normal(size=(10, 4))
    settings = GaussianAffinity(5.0)
    fitted = settings.fit(X)
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    D = np.sort(D, axis=1)[:, :15]
    rows = np.zeros((10, 80))
    for i, far in enumerate(cdist(new, X)):
        near = np.argsort(far)[:15]
        rows[i, near] += calibrated(far[None, near] ** 2, 5.0)[0][0]
        for j in range(80):
            if far[j] <= D[j, -1]:
                beta = fitted.bandwidths[j]
                rows[i, j] += np.exp(-beta * far[j] ** 2) / np.exp(-beta * D[j] ** 2).sum()
    np.testing.assert_allclose(settings.rows(fitted, X, new).toarray(), rows / 2 / 80, rtol=1e-9)


@pytest.mark.parametrize("settings", [GaussianAffinity(5.0), DistanceAffinity(7), CosineAffinity(7)])
def test_duplicates_make_no_nan_and_have_equal_rows(rng, settings):
    X = np.repeat(rng.normal(size=(6, 3)), 12, axis=0)
    W = settings.fit(X).weights.toarray()
    assert np.isfinite(W).all()
    assert (W.sum(axis=1) > 0).all()


def test_samples_all_at_one_place_have_equal_gaussian_weights():
    W = GaussianAffinity(2.0).fit(np.ones((7, 3))).weights.toarray()
    np.testing.assert_allclose(W[~np.eye(7, dtype=bool)], 1 / 42, rtol=1e-14)
    with pytest.raises(DataError, match="no two samples are related"):
        DistanceAffinity(2).fit(np.ones((7, 3)))


def test_given_weights_are_finished():
    W = np.array([[9.0, 1, 0], [3, 0, 0], [0, 2, 5]])
    fitted = given_affinity(W, 3)
    np.testing.assert_allclose(fitted.weights.toarray(), np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]]) / 6)
    assert fitted.total == 6.0
    one_sided, _ = finish(csr_array(np.array([[0.0, -1, 1], [0, 0, 0], [1, 0, 0]])))
    assert one_sided.toarray()[0, 1] == 0.0


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        (np.array([[0, -1.0, 0], [0, 0, 0], [0, 0, 0]]), "samples 0 and 1 is -1"),
        (np.array([[0, 1.0, 0], [0, 0, np.nan], [0, 0, 0]]), "not finite"),
        (np.zeros((3, 3)), "no two samples"),
        (np.eye(3), "no two samples"),
    ],
)
def test_what_cannot_be_weights_is_refused(W, message):
    with pytest.raises(DataError, match=message):
        given_affinity(W, 3)


def test_names_stand_for_settings():
    assert affinity_settings("perplexity", 12) == GaussianAffinity(perplexity=12.0)
    assert affinity_settings("cosine", 12) == CosineAffinity(n_neighbors=12)
    assert affinity_settings("distance", 12) == DistanceAffinity(n_neighbors=12)
    own = DistanceAffinity(3)
    assert affinity_settings(own, 12) is own
    with pytest.raises(UnknownNameError, match="Did you mean 'cosine'"):
        affinity_settings("cosin", 12)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (GaussianAffinity(0.5), "perplexity"),
        (GaussianAffinity(n_neighbors=0), "n_neighbors"),
        (GaussianAffinity(shrink=2.0), "shrink"),
        (GaussianAffinity(shrink_distances=0.0), "shrink_distances"),
        (CosineAffinity(0), "n_neighbors"),
        (DistanceAffinity(3, shrink=-1.0), "shrink"),
    ],
)
def test_impossible_settings_are_refused(rng, settings, name):
    with pytest.raises(ParameterError, match=f"{name}="):
        settings.fit(rng.normal(size=(10, 2)))


def test_one_sample_has_no_weights():
    with pytest.raises(DataError, match="at least 2"):
        CosineAffinity().fit(np.ones((1, 2)))
