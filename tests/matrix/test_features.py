from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.compaction import compaction_of
from relscape.matrix.features import RelationFeatures, feature_scale


@pytest.fixture
def samples(rng):
    codes = rng.integers(-1, 5, 120)
    X = np.abs(rng.normal(size=(120, 8)) + 2 * rng.normal(size=(6, 8))[codes])
    return X, codes


def relations(measure, X, P, bandwidth):
    if measure == "cosine":
        return 1 - cdist(X, P, "cosine")
    D = cdist(X, P)
    return D if measure == "euclidean" else np.exp(-(D**2) / (2 * bandwidth**2))


@pytest.mark.parametrize("measure", ["euclidean", "gaussian", "cosine"])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_are_relations_to_representatives(rng, samples, measure, sparse):
    X, codes = samples
    given = csr_array(X) if sparse else X
    settings = RelationFeatures(measure, n_representatives=40, energy=1)
    fitted = settings.fit(given, codes, 5, rng)
    assert len(np.unique(fitted.chosen)) == 40
    np.testing.assert_array_equal(fitted.representative_codes, codes[fitted.chosen])
    P = X[fitted.chosen]
    expected = relations(measure, X, P, np.median(cdist(P, P)[np.triu_indices(40, 1)]))
    np.testing.assert_allclose(fitted.table, expected, atol=1e-9)
    np.testing.assert_array_equal(fitted.directions, np.eye(40))


@pytest.mark.parametrize("energy", [0.5, 0.9, 0.99])
def test_directions_are_leading_and_hold_the_energy_about_the_mean(rng, samples, energy):
    X, codes = samples
    whole = RelationFeatures(n_representatives=60, energy=1).fit(X, codes, 5, np.random.default_rng(3)).table
    fitted = RelationFeatures(n_representatives=60, energy=energy).fit(
        X, codes, 5, np.random.default_rng(3), least=1
    )
    r = fitted.directions.shape[1]
    _, _, Vt = np.linalg.svd(whole)
    overlap = np.linalg.svd(Vt[:r] @ fitted.directions, compute_uv=False)
    np.testing.assert_allclose(overlap, 1, atol=1e-8)
    np.testing.assert_allclose(fitted.directions.T @ fitted.directions, np.eye(r), atol=1e-12)
    np.testing.assert_allclose(fitted.table, whole @ fitted.directions, atol=1e-10)
    centred = whole - whole.mean(axis=0)
    held = [((centred @ Vt[:k].T) ** 2).sum() / (centred**2).sum() for k in (r, r - 1)]
    assert held[0] >= energy > held[1]


def test_the_number_of_directions_can_be_asked_for(rng, samples):
    X, codes = samples
    assert RelationFeatures(n_directions=7).fit(X, codes, 5, rng).table.shape == (120, 7)
    assert RelationFeatures(energy=0.01).fit(X, codes, 5, rng, least=4).table.shape == (120, 4)
    assert RelationFeatures(share=0.25, energy=1).fit(X, codes, 5, rng).table.shape == (120, 30)
    assert RelationFeatures(n_representatives=2).fit(X, codes, 5, rng, least=4).table.shape == (120, 2)


@pytest.mark.parametrize("measure", ["euclidean", "gaussian", "cosine"])
@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_samples_already_present_get_their_own_features(rng, samples, measure, compact, sparse):
    X, codes = samples
    X = csr_array(X) if sparse else X
    links = csr_array((rng.random((120, 120)) < 0.1).astype(float))
    settings = RelationFeatures(measure, n_representatives=50, compact=compact, n_neighbors=9)
    fitted = settings.fit(X, codes, 5, rng, links=links).scaled(2.5)
    who = np.arange(0, 120, 7)
    rows = settings.rows(fitted, X[who], links=links[who], who=who)
    np.testing.assert_allclose(rows, fitted.table[who], rtol=1e-8, atol=1e-8)


def test_scaling_is_a_factor(rng, samples):
    X, codes = samples
    once = RelationFeatures().fit(X, codes, 5, rng)
    twice = once.scaled(3.0).scaled(6.0)
    np.testing.assert_allclose(twice.table, 6 * once.table)
    np.testing.assert_allclose(RelationFeatures().rows(twice, X), 6 * once.table, atol=1e-9)


def test_the_same_seed_draws_the_same(samples):
    X, codes = samples
    first, second = (
        RelationFeatures(n_representatives=30).fit(X, codes, 5, np.random.default_rng(8)) for _ in range(2)
    )
    np.testing.assert_array_equal(first.table, second.table)


def slow_compaction(X, chosen, codes, c, similarity, h, links, training):
    """Average by cohort, in loops: over samples, over their h most similar representatives, over cohorts."""
    found = np.zeros((len(X), 2 * c))
    for i in range(len(X)):
        others = [p for p in chosen if not (training and p == i)]
        nearest = sorted(others, key=lambda p: -similarity(X[i], p))[:h]
        for j in range(c):
            kept = [similarity(X[i], p) for p in nearest if codes[p] == j]
            count = sum(codes[p] == j for p in others)
            found[i, j] = sum(kept) / count if count else 0
            linked = [t for t in range(len(codes)) if codes[t] == j and not (training and t == i)]
            found[i, c + j] = sum(links[i, t] for t in linked) / len(linked) if linked else 0
    return found


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("h", [1, 6, 100])
def test_compaction_is_a_double_loop(rng, samples, cosine, training, h):
    X, codes = samples
    X = X - 1.0
    links = (rng.random((120, 120)) < 0.1).astype(float)
    chosen = np.sort(rng.choice(np.flatnonzero(codes >= 0), 40, replace=False))

    def similarity(x, p):
        if cosine:
            return max(x @ X[p] / np.linalg.norm(x) / np.linalg.norm(X[p]), 0.0)
        return np.exp(-((x - X[p]) ** 2).sum() / (2 * 1.7**2))

    compaction = compaction_of(X[chosen], chosen, codes, 5, 0.0 if cosine else 1.7, h, True)
    found = compaction.rows(X, csr_array(links), np.arange(120) if training else None)
    expected = slow_compaction(X, chosen, codes, 5, similarity, h, links, training)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_no_sample_sees_its_own_label(rng, samples):
    X, codes = samples
    codes = np.maximum(codes, 0)
    links = csr_array((rng.random((120, 120)) < 0.2).astype(float))
    chosen, who = np.arange(0, 120, 2), np.arange(120)
    before = compaction_of(X[chosen], chosen, codes, 5, None, 9, True).rows(X, links, who)
    for i in (0, 40, 41):
        changed = codes.copy()
        changed[i] = (codes[i] + 1) % 5
        after = compaction_of(X[chosen], chosen, changed, 5, None, 9, True).rows(X, links, who)
        np.testing.assert_array_equal(after[i], before[i])
        assert (np.delete(after, i, axis=0) != np.delete(before, i, axis=0)).any()


def test_compacted_features_have_a_representative_of_every_cohort(rng):
    codes = np.r_[np.zeros(500, int), 1, 2, np.full(20, -1)]
    X = rng.normal(size=(522, 3))
    fitted = RelationFeatures(compact=True, n_representatives=10).fit(X, codes, 4, rng)
    assert set(fitted.representative_codes) == {0, 1, 2}
    assert len(fitted.chosen) == 10
    assert fitted.compaction is not None
    described = fitted.compaction.rows(X)
    assert described.shape == (522, 4)
    assert np.isfinite(described).all()
    assert (described[:, 3] == 0).all()


def test_coinciding_samples_and_a_single_one_are_no_trouble(rng):
    for n in (1, 12):
        for compact in (False, True):
            settings = RelationFeatures("gaussian", compact=compact)
            fitted = settings.fit(np.ones((n, 3)), np.zeros(n, int), 1, rng)
            assert np.isfinite(fitted.table).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (RelationFeatures("manhattan"), "no measure of relation features 'manhattan'"),
        (RelationFeatures(share=1.5), "share=1.5"),
        (RelationFeatures(energy=0.0), "energy=0.0"),
        (RelationFeatures(bandwidth=0.0), "bandwidth=0.0"),
        (RelationFeatures(n_representatives=0), "n_representatives=0"),
        (RelationFeatures(n_neighbors=0), "n_neighbors=0"),
        (RelationFeatures(n_directions=0), "n_directions=0"),
    ],
)
def test_settings_are_checked(rng, samples, settings, message):
    with pytest.raises((ParameterError, UnknownNameError), match=message):
        settings.fit(*samples, 5, rng)


def test_compacting_without_labels_is_refused(rng, samples):
    with pytest.raises(DataError, match="compact=False"):
        RelationFeatures(compact=True).fit(samples[0], np.full(120, -1), 5, rng)


def test_the_scale_is_that_of_the_unconstrained_minimum(rng):
    n, c, r, alpha = 40, 4, 5, 0.7
    F, V, R = rng.normal(size=(n, r)), rng.normal(size=(c, 2)), rng.random((n, c))
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.2)
    W = W + W.T
    np.fill_diagonal(W, 0)
    W, R = W / W.sum(), R / R.sum()

    def objective(u):
        Z = F @ u.reshape(r, 2)
        pulls = (R * cdist(Z, V, "sqeuclidean")).sum()
        return alpha * pulls + (1 - alpha) * 0.5 * (W * cdist(Z, Z, "sqeuclidean")).sum()

    best = minimize(objective, np.zeros(2 * r), method="BFGS", options={"gtol": 1e-9}).x
    expected = np.sqrt((best**2).sum() / 2)
    for form in (np.asarray, csr_array):
        assert feature_scale(F, alpha, csr_array(W), form(R), V) == pytest.approx(expected, rel=1e-5)
    doubled = np.hstack([F, F])
    assert feature_scale(doubled, alpha, csr_array(W), R, V) == pytest.approx(expected / np.sqrt(2), rel=1e-5)
    assert feature_scale(F, alpha, csr_array(W), R, np.zeros((c, 2))) == 1.0


def test_settings_are_plain_values():
    assert replace(RelationFeatures(), measure="cosine") == RelationFeatures("cosine")
