from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix.confidence import (
    Confidence,
    GaussianConfidence,
    KernelConfidence,
    RangeConfidence,
    StudentConfidence,
    confidence_rows,
    confidence_settings,
    given_confidence,
    unplaced,
)
from relscape.matrix.confidence_reach import lifted

LAWS = [GaussianConfidence, StudentConfidence, KernelConfidence]
ALL = [*LAWS, RangeConfidence]


@pytest.fixture
def samples(rng):
    """Ninety samples, three cohorts of different size, a few samples of unknown cohort."""
    codes = np.repeat([0, 1, 2, -1], [50, 22, 11, 7])
    X = rng.normal(size=(90, 4)) + 2.0 * rng.normal(size=(4, 4))[codes]
    W = np.exp(-(cdist(X, X) ** 2)) * (rng.random((90, 90)) < 0.5)
    W = W + W.T
    np.fill_diagonal(W, 0.0)
    return codes, csr_array(W / W.sum()), X


def dense(R):
    return R.toarray() if issparse(R) else R


def slow_neighbours(codes, W, c):
    """The mean weight of each sample to the members of each cohort other than itself."""
    found = np.zeros((len(codes), c))
    for i in range(len(codes)):
        for j in range(c):
            others = [W[i, t] for t in range(len(codes)) if codes[t] == j and t != i]
            found[i, j] = np.mean(others) if others else np.nan
    return found


def slow_centroids(codes, X, c, metric):
    middle = np.array([X[codes == j].mean(axis=0) for j in range(c)])
    if metric == "cosine":
        return np.maximum(1 - cdist(X, middle, "cosine"), 0)
    return cdist(X, middle).max() - cdist(X, middle)


def likeness(samples, similarity, metric="euclidean", c=3):
    codes, W, X = samples
    if similarity == "neighbors":
        return slow_neighbours(codes, W.toarray(), c)
    return slow_centroids(codes, X, c, metric)


def law_of(settings, members):
    if isinstance(settings, GaussianConfidence):
        return stats.norm(members.mean(), members.std(ddof=1)).pdf, members.mean()
    if isinstance(settings, StudentConfidence):
        law = stats.t(len(members) - 1, members.mean(), members.std(ddof=1))
        return law.pdf, members.mean()
    law = stats.gaussian_kde(members)
    grid = np.linspace(members.min(), members.max(), 20_001)
    return law.pdf, grid[law.pdf(grid).argmax()]


@pytest.mark.parametrize("settings", [law() for law in LAWS])
@pytest.mark.parametrize(
    ("similarity", "metric"), [("neighbors", "euclidean"), ("centroid", "euclidean"), ("centroid", "cosine")]
)
@pytest.mark.parametrize("density", ["relative", "pdf"])
def test_own_confidence_is_the_density_of_the_cohorts_law(samples, settings, similarity, metric, density):
    codes, W, X = samples
    settings = replace(settings, similarity=similarity, metric=metric, density=density)
    s = likeness(samples, similarity, metric)
    expected = np.zeros((90, 3))
    for j in range(3):
        pdf, mode = law_of(settings, s[codes == j, j])
        expected[codes == j, j] = pdf(s[codes == j, j]) / (pdf(mode) if density == "relative" else 1.0)

    found = settings.fit(codes, 3, weights=W, X=X)

    assert issparse(found.matrix)
    tolerance = 2e-3 if isinstance(settings, KernelConfidence) else 1e-8
    np.testing.assert_allclose(found.matrix.toarray() * found.total, expected, rtol=tolerance)
    assert found.matrix.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("settings", [law(floor=0.03) for law in LAWS])
def test_foreign_cohorts_have_the_floor(samples, settings):
    codes, W, _ = samples
    without = replace(settings, floor=None).fit(codes, 4, weights=W)
    found = settings.fit(codes, 4, weights=W)
    own = without.matrix.toarray() * without.total
    expected = np.where(own > 0, own, 0.03)
    expected[codes < 0] = 0
    expected[:, 3] = 0
    assert isinstance(found.matrix, np.ndarray)
    np.testing.assert_allclose(found.matrix * found.total, expected, rtol=1e-12)


@pytest.mark.parametrize("similarity", ["neighbors", "centroid"])
def test_ranges_are_stretched_over_own_and_foreign_entries_apart(samples, similarity):
    codes, W, X = samples
    found = RangeConfidence(similarity, floor=0.05).fit(codes, 3, weights=W, X=X)
    R = found.matrix * found.total
    s, known = likeness(samples, similarity), codes >= 0
    own = np.eye(3, dtype=bool)[codes] & known[:, None]
    foreign = ~own & known[:, None]
    for mask, low, high in ((own, 0.95, 1.0), (foreign, 0.0, 0.05)):
        assert R[mask].min() == pytest.approx(low, abs=1e-12)
        assert R[mask].max() == pytest.approx(high, abs=1e-12)
        slope, at = np.polyfit(s[mask], R[mask], 1)
        np.testing.assert_allclose(R[mask], slope * s[mask] + at, atol=1e-12)
        assert slope > 0
    assert (R[~known] == 0).all()


def test_without_floor_own_likenesses_stay_as_they_are(samples):
    codes, W, X = samples
    found = RangeConfidence().fit(codes, 3, weights=W, X=X)
    expected = np.where(np.eye(3, dtype=bool)[codes], likeness(samples, "neighbors"), 0)
    expected[codes < 0] = 0
    np.testing.assert_allclose(found.matrix.toarray() * found.total, expected, rtol=1e-12)


def test_values_that_do_not_differ_go_to_one_end():
    codes = np.array([0, 0, 1, 1])
    pairs = np.zeros((4, 4))
    pairs[0, 1] = pairs[1, 0] = pairs[2, 3] = pairs[3, 2] = 0.25
    found = RangeConfidence(floor=0.1).fit(codes, 2, weights=csr_array(pairs))
    np.testing.assert_array_equal(found.matrix * found.total, np.eye(2)[codes])
    across = csr_array(np.kron([[0, 1], [1, 0]], np.full((2, 2), 0.125)))
    found = RangeConfidence(floor=0.1).fit(codes, 2, weights=across)
    np.testing.assert_allclose(found.matrix * found.total, np.where(np.eye(2)[codes] > 0, 0.9, 0.1))


@pytest.mark.parametrize("settings", [settings() for settings in ALL])
@pytest.mark.parametrize("similarity", ["neighbors", "centroid"])
@pytest.mark.parametrize("floor", [0.0, 0.03])
@pytest.mark.parametrize("sparse", [False, True])
def test_samples_already_present_get_their_own_rows(samples, settings, similarity, floor, sparse):
    codes, W, X = samples
    X = csr_array(X) if sparse else X
    settings = replace(settings, similarity=similarity)
    fitted = settings.fit(codes, 3, weights=W, X=X, floor=floor)
    who = np.arange(0, 90, 4)
    rows = confidence_rows(settings, fitted, W[who], X[who], codes, codes[who])
    assert issparse(rows) == issparse(fitted.matrix)
    np.testing.assert_allclose(dense(rows), dense(fitted.matrix)[who], rtol=1e-9, atol=1e-15)


def test_new_samples_of_unknown_cohort_have_empty_rows_and_far_ones_little(samples):
    codes, _, X = samples
    settings = GaussianConfidence("centroid")
    fitted = settings.fit(codes, 3, X=X)
    new = np.vstack([X[0], X[0], X[0] + 1e3])
    rows = confidence_rows(settings, fitted, None, new, codes, np.array([-1, 0, 0])).toarray()
    assert (rows[0] == 0).all()
    assert rows[1, 0] > rows[2, 0] >= 0


@pytest.mark.parametrize("settings", [settings() for settings in ALL])
@pytest.mark.parametrize("similarity", ["neighbors", "centroid"])
@pytest.mark.parametrize("floor", [0.0, 0.01])
def test_odd_cohorts_give_finite_confidences(samples, settings, similarity, floor):
    _, W, X = samples
    codes = np.repeat([0, 1, 3, -1], [60, 1, 25, 4])
    X[61:86] = X[61]
    found = replace(settings, similarity=similarity).fit(codes, 5, weights=W, X=X, floor=floor)
    R = dense(found.matrix) * found.total
    assert np.isfinite(R).all()
    assert R.min() >= 0
    assert (R[:, [2, 4]] == 0).all()
    assert (R[codes < 0] == 0).all()
    if not isinstance(settings, RangeConfidence):
        assert R[60, 1] == pytest.approx(1)
        if similarity == "centroid":
            np.testing.assert_allclose(R[61:86, 3], 1)


def test_a_lone_member_is_as_sure_as_the_surest(samples):
    _, W, _ = samples
    codes = np.repeat([0, 1, 2], [60, 1, 29])
    R = RangeConfidence().fit(codes, 3, weights=W).matrix.toarray()
    assert R[60, 1] == np.delete(R, 1, axis=1).max()
    everyone_alone = RangeConfidence().fit(np.arange(90), 90, weights=W)
    np.testing.assert_array_equal(everyone_alone.matrix.toarray() * everyone_alone.total, np.eye(90))


def test_too_much_floor_is_said_and_the_usual_is_not(samples):
    codes, W, _ = samples
    with pytest.warns(RelscapeWarning, match=r"adds up to 0.4 .* Up to 0.05 is harmless"):
        GaussianConfidence(floor=0.2).fit(codes, 3, weights=W)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for c in range(3, 30):
            GaussianConfidence().fit(codes, c, weights=W, floor=0.1 / (c - 1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (GaussianConfidence(floor=1.0), "floor=1.0"),
        (GaussianConfidence(floor=-0.1), "at least 0"),
        (GaussianConfidence("neighbours"), "Did you mean 'neighbors'"),
        (GaussianConfidence(density="absolute"), "no density 'absolute'"),
        (RangeConfidence(metric="manhattan"), "no metric 'manhattan'"),
        (RangeConfidence("centroid"), "give X"),
    ],
)
def test_settings_are_checked(samples, settings, message):
    codes, W, _ = samples
    with pytest.raises((ParameterError, UnknownNameError, DataError), match=message):
        settings.fit(codes, 3, weights=W)


def test_missing_weights_and_empty_confidence_are_said():
    with pytest.raises(DataError, match="give weights"):
        GaussianConfidence().fit(np.array([0, 1]), 2)
    across = csr_array(np.kron([[0, 1], [1, 0]], np.full((2, 2), 0.125)))
    with pytest.raises(DataError, match="neighbour of its own cohort"):
        RangeConfidence().fit(np.array([0, 0, 1, 1]), 2, weights=across)


def test_settings_by_name():
    assert confidence_settings("student") == StudentConfidence()
    own = KernelConfidence(floor=0.1)
    assert confidence_settings(own) is own
    with pytest.raises(UnknownNameError, match="Did you mean 'gaussian'"):
        confidence_settings("gausian")


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_given_table_is_divided_by_its_total(form):
    R = np.array([[3.0, 0.0], [1.0, 2.0], [0.0, 4.0]])
    found = given_confidence(form(R), 3, 2)
    assert found.total == 10
    np.testing.assert_allclose(dense(found.matrix), R / 10)
    rows = confidence_rows(None, found, None, None, np.array([0, 0, 1]), np.array([1, 0, -1]))
    np.testing.assert_allclose(dense(rows), [[0, 0.4], [0.2, 0.1], [0, 0]])


@pytest.mark.parametrize(
    ("R", "message"),
    [
        (np.ones((2, 2)), r"shape \(2, 2\); expected a row for each of 3 samples"),
        (np.full((3, 2), np.nan), "not finite"),
        (-np.ones((3, 2)), "negative"),
        (np.zeros((3, 2)), "all confidences are 0"),
        ([["a", "b"]] * 3, "no number"),
    ],
)
def test_a_given_table_is_checked(R, message):
    with pytest.raises(DataError, match=message):
        given_confidence(R, 3, 2)


def in_pieces():
    """Samples 0-1, 2-3 and 4-5 joined in pairs, 6 and 7 alone; cohorts 0, 0, 1, 1, unknown, 1, 0, unknown."""
    weights = [1 / 6] * 6 + [0.0]  # the last is stored, yet joins nobody
    W = csr_array((weights, ([0, 1, 2, 3, 4, 5, 6], [1, 0, 3, 2, 5, 4, 0])), shape=(8, 8))
    return W, np.array([0, 0, 1, 1, -1, 1, 0, -1])


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_every_component_with_a_known_sample_gets_confidence(form):
    W, codes = in_pieces()
    R = np.zeros((8, 2))
    R[0, 0], R[1, 0], R[1, 1] = 0.6, 0.3, 0.1
    np.testing.assert_array_equal(unplaced(form(R), W), [False, False, *[True] * 6])

    found, count = lifted(form(R), W, codes)

    assert count == 4
    expected = R.copy()
    expected[[2, 3, 5], 1] = expected[6, 0] = 0.3
    np.testing.assert_allclose(dense(found), expected)
    np.testing.assert_array_equal(unplaced(found, W), [*[False] * 7, True])
    again, none = lifted(found, W, codes)
    assert none == 0
    assert again is found

    kept, count = Confidence(form(R), 5.0).reaching(W, codes)
    assert count == 4
    np.testing.assert_allclose(dense(kept.matrix) * kept.total, expected * 5.0)
