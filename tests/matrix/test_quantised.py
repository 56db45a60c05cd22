from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist

from relscape.errors import DataError
from relscape.matrix import quantised
from relscape.matrix.quantised import QuantisedRelation, levels


def slow_levels(values, q):
    """Level = 1 + the number of the values' own q-quantiles that lie below, one by one."""
    cuts = [np.quantile(values, t / q) for t in range(1, q)]
    return np.array([1 + sum(value > cut for cut in cuts) for value in np.ravel(values)])


def slow_loss(R, rows, columns, q):
    """D_Q / √(mn) as written, through the exponential."""
    squares = cdist(rows, columns, "sqeuclidean")
    nearness = np.exp(-squares / squares.mean())
    return np.linalg.norm(slow_levels(R, q) - slow_levels(nearness, q)) / np.sqrt(R.size)


@pytest.mark.parametrize("q", [2, 3, 10])
def test_levels_are_those_of_the_definition(rng, q):
    for values in (rng.random(57), rng.integers(0, 6, 57).astype(float), np.ones(5)):
        found = levels(values, q)
        assert_array_equal(found, slow_levels(values, q))
        assert found.min() >= 1
        assert found.max() <= q


def test_all_levels_are_used_equally(rng):
    assert_array_equal(np.bincount(levels(rng.random(1000), 10))[1:], 100)


def test_i18_increasing_changes_leave_levels_as_they_are(rng):
    values = rng.random((12, 9))
    for change in (np.exp, np.sqrt, lambda x: 7 * x + 3, lambda x: -1 / (x + 1)):
        assert_array_equal(levels(change(values), 10), levels(values, 10))


def test_i18_the_criterion_reads_only_the_order_of_distances(rng):
    R, rows, columns = rng.random((12, 9)), rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    loss = QuantisedRelation(R, 10, rng).loss(rows, columns)
    assert loss == pytest.approx(slow_loss(R, rows, columns, 10), rel=1e-12)
    assert QuantisedRelation(np.exp(R), 10, rng).loss(100 * rows, 100 * columns) == pytest.approx(loss)


def test_the_true_places_lose_nothing(rng):
    rows, columns = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    R = np.exp(-cdist(rows, columns, "sqeuclidean"))
    assert QuantisedRelation(R, 10, rng).loss(rows, columns) == 0
    assert QuantisedRelation(R, 10, rng).loss(-rows, columns) > 0


def test_a_sparse_relation_is_refused_with_the_reason(rng):
    sparse = random_array((60, 40), density=0.05, random_state=rng)
    with pytest.raises(DataError, match=r"quantiles .* coincide, because 95% of its entries are 0"):
        QuantisedRelation(sparse, 10, rng)
    with pytest.raises(DataError, match="100% of its entries are 3"):
        QuantisedRelation(np.full((4, 5), 3.0), 10, rng)


def test_sparse_and_dense_give_the_same(rng):
    R, rows, columns = rng.poisson(1.5, (12, 9)), rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    dense, sparse = QuantisedRelation(R, 4, rng), QuantisedRelation(csr_array(R), 4, rng)
    assert dense.loss(rows, columns) == sparse.loss(rows, columns)
    assert dense.loss(rows, columns) == pytest.approx(slow_loss(R, rows, columns, 4), rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_beyond_the_limit_a_seeded_sample_of_pairs_stands_for_all(rng, monkeypatch, kind):
    monkeypatch.setattr(quantised, "SAMPLE", 4000)
    R, rows, columns = rng.random((200, 150)), rng.normal(size=(200, 2)), rng.normal(size=(150, 2))
    whole = QuantisedRelation(R, 10, rng).loss(rows, columns)

    def sampled(seed):
        sample = QuantisedRelation(kind(R), 10, np.random.default_rng(seed), limit=10_000)
        return sample.loss(rows, columns)

    assert sampled(0) == sampled(0)
    assert sampled(0) != sampled(1)
    assert sampled(0) == pytest.approx(whole, rel=0.05)


def test_the_limits_are_ten_million_pairs_and_a_million(rng):
    assert (quantised.ALL_PAIRS, quantised.SAMPLE) == (10_000_000, 1_000_000)
