"""S_n: hand cases, a slow double loop, ties, samples, and the chance level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist

from relscape.data.cohorts import read_cohorts
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.scores import (
    neighbor_preservation,
    neighbor_preservation_chance,
    neighbor_preservation_curve,
    preservation,
)


def slow_curve(X, Z, y, k=None, metric="euclidean"):
    """Compare the two lists of every sample at every size, as the definition says."""
    y = np.asarray(y)
    sizes = [s for s in np.unique(y, return_counts=True)[1] if s > 1]
    largest = int(np.floor(0.9 * min(sizes))) if k is None else k
    curve = []
    for size in range(1, largest + 1):
        shares = []
        for i in range(len(y)):
            others = np.array([j for j in range(len(y)) if y[j] == y[i] and j != i], dtype=int)
            if len(others) == 0:
                continue
            at = min(size, len(others))
            near = [
                set(others[np.argsort(cdist(P[i : i + 1], P[others], m)[0], kind="stable")[:at]])
                for P, m in ((X, metric), (Z, "euclidean"))
            ]
            shares.append(len(near[0] & near[1]) / at)
        curve.append(np.mean(shares))
    return np.array(curve)


def cohorts(rng, sizes, dimensions=3):
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(y), dimensions)) + 3 * y[:, None]
    return X, X[:, :2] + rng.normal(size=(len(y), 2)), y


def test_hand_cases():
    X = [[0.0], [1.0], [3.0], [7.0]]  # lists, nearest first: 1 2 3, 0 2 3, 1 0 3, 2 1 0
    Z = [[0.0], [1.0], [-5.1], [7.0]]  # 1 2 3, 0 3 2, 0 1 3, 1 0 2
    assert neighbor_preservation_curve(X, Z, ["a"] * 4) == pytest.approx([1 / 2, 3 / 4, 1])
    assert neighbor_preservation(X, Z, ["a"] * 4) == pytest.approx(3 / 4)
    Z = [[0.0], [3.0], [1.0], [7.0]]  # 2 1 3, 2 0 3, 0 1 3, 1 2 0
    assert neighbor_preservation_curve(X, Z, ["a"] * 4) == pytest.approx([0, 1, 1])
    # A cohort that is kept whole beside it, in the same place: only lists within cohorts count.
    assert neighbor_preservation_curve(X + X, Z + X, ["a"] * 4 + ["b"] * 4) == pytest.approx([1 / 2, 1, 1])


@pytest.mark.parametrize("dimensions", [1, 3, 30])
@pytest.mark.parametrize("sizes", [[12], [9, 14, 20], [2, 11], [1, 8, 1, 10]])
def test_curve_is_that_of_the_definition(rng, sizes, dimensions):
    X, _, y = cohorts(rng, sizes, dimensions)
    Z = X[:, :1] * [[1.0, 0.0]] + rng.normal(size=(len(y), 2))
    curve = neighbor_preservation_curve(X, Z, y)
    assert curve == pytest.approx(slow_curve(X, Z, y), abs=1e-14)
    assert neighbor_preservation(X, Z, y) == pytest.approx(curve.mean())


def test_small_cohorts_are_compared_at_all_their_others(rng):
    X, Z, y = cohorts(rng, [3, 15])
    curve = neighbor_preservation_curve(X, Z, y, k=10)
    assert curve == pytest.approx(slow_curve(X, Z, y, k=10), abs=1e-14)
    assert neighbor_preservation_curve(X, Z, y, k=99)[-1] == 1


@pytest.mark.parametrize("form", [np.asarray, csr_array, coo_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_dense_sparse_and_both_metrics(rng, form, metric):
    X, Z, y = cohorts(rng, [13, 9], dimensions=25)
    X = np.where(rng.random(X.shape) < 0.5, X, 0)
    curve = neighbor_preservation_curve(form(X), Z, y, metric=metric)
    assert curve == pytest.approx(slow_curve(X, Z, y, metric=metric), abs=1e-14)


def test_similar_maps_keep_everything(rng):
    X, _, y = cohorts(rng, [20, 30], dimensions=2)
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    assert neighbor_preservation(X, 5 * X @ turn + [3, -8], y) == 1
    words = (rng.random((50, 40)) < 0.2).astype(float)
    assert neighbor_preservation(csr_array(words), 3 * words, y) == 1


def test_structureless_maps_have_the_chance_level(rng):
    y = np.repeat(["a", "b", "c"], [30, 60, 90])
    X = rng.normal(size=(180, 4))
    values = [neighbor_preservation(X, rng.normal(size=(180, 2)), y) for _ in range(30)]
    chance = neighbor_preservation_chance(y)
    assert np.mean(values) == pytest.approx(chance, abs=0.006)
    # The closed form for K no larger than any cohort's number of others.
    assert chance == pytest.approx((27 + 1) / 2 * (30 / 29 + 60 / 59 + 90 / 89) / 180)


def test_a_map_in_one_point_has_the_chance_level_in_any_order_of_the_file(rng):
    y = np.zeros(60, dtype=int)
    X = np.sort(rng.normal(size=(60, 1)), axis=0)
    values = [neighbor_preservation(X, np.zeros((60, 2)), y, random_state=seed) for seed in range(40)]
    assert np.mean(values) == pytest.approx(neighbor_preservation_chance(y), abs=0.03)
    assert values[3] == neighbor_preservation(X, np.zeros((60, 2)), y, random_state=3)


def test_chance_with_small_cohorts_and_a_given_size():
    assert neighbor_preservation_chance(["a"] * 3 + ["b"] * 5 + ["c"], k=4) == pytest.approx(
        (3 * (1 / 2 + 1 + 1 + 1) / 4 + 5 * (1 + 2 + 3 + 4) / 16) / 8
    )


def test_published_chance_levels():
    assert neighbor_preservation_chance(np.repeat(np.arange(365), 100)) == pytest.approx(0.46, abs=0.005)
    cora = np.repeat(np.arange(7), [818, 426, 418, 351, 298, 217, 180])
    assert neighbor_preservation_chance(cora) == pytest.approx(0.21, abs=0.005)


def test_a_sample_comes_close_and_all_of_them_are_exact(rng):
    X, Z, y = cohorts(rng, [300, 500])
    whole = neighbor_preservation(X, Z, y)
    drawn = [neighbor_preservation(X, Z, y, sample=100, random_state=seed) for seed in range(12)]
    assert len(set(drawn)) > 1
    assert np.mean(drawn) == pytest.approx(whole, abs=0.01)
    assert neighbor_preservation(X, Z, y, sample=800, random_state=5) == pytest.approx(whole, abs=1e-12)


def test_large_data_are_sampled_of_their_own_accord(rng, monkeypatch):
    X, Z, y = cohorts(rng, [300, 500])
    whole = neighbor_preservation(X, Z, y)
    monkeypatch.setattr(preservation, "MOST_PAIRS", 100)
    monkeypatch.setattr(preservation, "FEWEST_SAMPLED", 80)
    estimate = neighbor_preservation(X, Z, y, random_state=0)
    assert estimate == neighbor_preservation(X, Z, y, sample=80, random_state=0)
    assert estimate != whole
    assert estimate == pytest.approx(whole, abs=0.03)


def test_samples_without_cohort_or_place_are_left_out(rng):
    X, Z, y = cohorts(rng, [12, 15])
    labels = [None if i in (2, 5) else f"cohort {code}" for i, code in enumerate(y)]
    Z[7] = np.nan
    kept = np.delete(np.arange(len(y)), [2, 5, 7])
    expected = slow_curve(X[kept], Z[kept], y[kept])
    assert neighbor_preservation_curve(X, Z, labels) == pytest.approx(expected, abs=1e-14)
    assert neighbor_preservation_curve(X, Z, read_cohorts(labels, len(y))) == pytest.approx(expected)
    y[[2, 5]] = -1
    assert neighbor_preservation_curve(X, Z, y) == pytest.approx(expected, abs=1e-14)


def test_what_cannot_be_scored_is_refused(rng):
    X, Z, y = cohorts(rng, [5, 6])
    with pytest.raises(DataError, match="no cohort has two members"):
        neighbor_preservation(X, Z, np.arange(11))
    with pytest.raises(DataError, match="11 samples and Z has 9 places"):
        neighbor_preservation(X, Z[:9], y)
    with pytest.raises(DataError, match="4 labels for 11 samples"):
        neighbor_preservation(X, Z, y[:4])
    with pytest.raises(DataError, match="missing or infinite"):
        neighbor_preservation(np.where(X > 0, np.nan, X), Z, y)
    with pytest.raises(DataError, match="X has shape"):
        neighbor_preservation(X[:, 0], Z, y)
    with pytest.raises(UnknownNameError, match="Did you mean 'cosine'"):
        neighbor_preservation(X, Z, y, metric="cosinus")
    with pytest.raises(ParameterError, match="sample"):
        neighbor_preservation(X, Z, y, sample=0)


def test_cora_words_by_their_own_distances_and_by_a_structureless_map(data_dir, rng):
    from relscape import datasets

    cora = datasets.load_cora()
    words, classes = cora.matrix("words"), cora.entities["doc"].fields["class"]
    assert neighbor_preservation(words, 2 * words.toarray(), classes, sample=200) == 1
    structureless = neighbor_preservation(words, rng.normal(size=(2708, 2)), classes, metric="cosine")
    assert structureless == pytest.approx(neighbor_preservation_chance(classes), abs=0.005)
