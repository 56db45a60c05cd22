from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix import mutual_pairs as module
from relscape.matrix.mutual_pairs import as_relation, mutual_pairs, strongest


def among_largest(values, k, ties):
    """One line of the matrix: which entries are among its k largest, straight from the definition."""
    k = min(k, len(values))
    if ties == "inclusive":
        return values >= np.sort(values)[::-1][k - 1]
    chosen = np.zeros(len(values), dtype=bool)
    chosen[sorted(range(len(values)), key=lambda index: (-values[index], index))[:k]] = True
    return chosen & (values > 0) if ties == "positive" else chosen


def slow_indicator(R, k_rows, k_columns, ties):
    by_column = np.column_stack([among_largest(column, k_rows, ties) for column in R.T])
    by_row = np.vstack([among_largest(row, k_columns, ties) for row in R])
    return by_column & by_row


def indicator(pairs, shape):
    full = np.zeros(shape, dtype=bool)
    full[pairs.rows, pairs.columns] = True
    assert full.sum() == len(pairs.rows), "a pair is listed twice"
    return full


def random_relation(rng):
    """A small relation of any sort: counts with ties, sparse, empty lines, continuous, repeated rows."""
    m, n = rng.integers(1, 14, 2)
    sort = rng.integers(0, 5)
    if sort == 0:
        return rng.integers(0, 3, (m, n)).astype(float)
    if sort == 1:
        return rng.random((m, n))
    if sort == 2:
        return rng.random((m, n)) * (rng.random((m, n)) < 0.2)
    if sort == 3:
        return rng.integers(0, 4, (m, n))[rng.integers(0, m, m)].astype(float)
    return np.zeros((m, n))


@pytest.mark.parametrize("ties", module.TIES)
@pytest.mark.parametrize("form", [np.asarray, csr_array, csc_array, csr_matrix])
def test_pairs_follow_the_definition(rng, ties, form):
    for _ in range(150):
        R = random_relation(rng)
        k_rows, k_columns = rng.integers(1, 16, 2)
        pairs = mutual_pairs(form(R), int(k_rows), int(k_columns), ties)
        np.testing.assert_array_equal(indicator(pairs, R.shape), slow_indicator(R, k_rows, k_columns, ties))
        order = np.lexsort((pairs.columns, pairs.rows))
        np.testing.assert_array_equal(order, np.arange(len(order)))


@pytest.mark.parametrize("ties", ["index", "positive"])
def test_number_of_pairs_is_bounded(rng, ties):
    for _ in range(50):
        R = random_relation(rng)
        m, n = R.shape
        k_rows, k_columns = (int(k) for k in rng.integers(1, 6, 2))
        assert len(mutual_pairs(R, k_rows, k_columns, ties).rows) <= min(m * k_columns, n * k_rows)


@pytest.mark.parametrize("ties", ["index", "inclusive"])
def test_everything_is_a_pair_when_everything_may_be(rng, ties):
    R = rng.integers(0, 3, (6, 9))
    assert len(mutual_pairs(R, 6, 9, ties).rows) == 54


def test_larger_sparse_relation(rng):
    R = rng.integers(1, 6, (300, 200)) * (rng.random((300, 200)) < 0.03)
    for ties in module.TIES:
        pairs = mutual_pairs(csr_array(R), 5, 7, ties)
        np.testing.assert_array_equal(indicator(pairs, R.shape), slow_indicator(R, 5, 7, ties))


def test_inclusive_does_not_depend_on_the_order_of_objects(rng):
    R = rng.integers(0, 3, (12, 10))
    rows, columns = rng.permutation(12), rng.permutation(10)
    plain = indicator(mutual_pairs(R, 3, 2, "inclusive"), R.shape)
    moved = indicator(mutual_pairs(R[np.ix_(rows, columns)], 3, 2, "inclusive"), R.shape)
    np.testing.assert_array_equal(moved, plain[np.ix_(rows, columns)])


def test_transposing_exchanges_the_roles(rng):
    R = rng.integers(0, 4, (9, 13))
    for ties in module.TIES:
        there = indicator(mutual_pairs(R, 2, 4, ties), R.shape)
        back = indicator(mutual_pairs(R.T, 4, 2, ties), R.T.shape)
        np.testing.assert_array_equal(back.T, there)


def test_too_many_zeros_are_refused_with_the_remedy():
    R = csr_array(([1.0], ([0], [0])), shape=(20_000, 20_000))
    with pytest.raises(DataError, match="ties='positive'"):
        mutual_pairs(R, 5, 5, "inclusive")
    assert len(mutual_pairs(R, 5, 5, "positive").rows) == 1
    corner = np.zeros((30, 30))
    corner[0, 0] = 1.0
    pairs = mutual_pairs(R, 5, 5, "index")
    np.testing.assert_array_equal(indicator(pairs, corner.shape), slow_indicator(corner, 5, 5, "index"))


def test_zeros_are_also_counted_before_they_are_listed(monkeypatch):
    monkeypatch.setattr(module, "MOST_ZERO_PAIRS", 10)
    with pytest.raises(DataError, match="more than the 10"):
        mutual_pairs(np.eye(6), 4, 4, "index")


def test_strongest_follows_the_definition(rng):
    for _ in range(200):
        R = random_relation(rng)
        top = int(rng.integers(1, R.shape[1] + 1))
        chosen = np.zeros(R.shape, dtype=bool)
        np.put_along_axis(chosen, strongest(csr_array(R), top), True, axis=1)
        np.testing.assert_array_equal(chosen, [among_largest(row, top, "index") for row in R])


def test_relation_is_brought_into_one_form_without_touching_the_input():
    given = csr_array(
        (np.array([2.0, 0.0, 1.0, 3.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3)
    )
    before = given.data.copy(), given.indices.copy(), given.indptr.copy()
    relation = as_relation(given)
    np.testing.assert_array_equal(relation.toarray(), [[0, 0, 2], [0, 4, 0]])
    assert relation.nnz == 2 and relation.has_canonical_format
    for now, then in zip((given.data, given.indices, given.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_what_cannot_be_used_is_refused():
    R = np.ones((3, 4))
    with pytest.raises(UnknownNameError, match="Did you mean 'inclusive'"):
        mutual_pairs(R, 1, 1, "inclusiv")
    with pytest.raises(ParameterError, match="k_rows=0"):
        mutual_pairs(R, 0, 1, "index")
    with pytest.raises(ParameterError, match=r"k_columns=1\.5"):
        mutual_pairs(R, 1, 1.5, "index")
    with pytest.raises(DataError, match="in row 1, column 2"):
        mutual_pairs(coo_array(([1.0, -1.0], ([0, 1], [0, 2])), shape=(2, 3)), 1, 1)
    with pytest.raises(DataError, match="not finite"):
        mutual_pairs([[1.0, np.nan]], 1, 1)
    with pytest.raises(DataError, match="has 1 dimensions"):
        mutual_pairs([1.0, 2.0], 1, 1)
    with pytest.raises(DataError, match="at least one row"):
        mutual_pairs(np.ones((0, 3)), 1, 1)
    with pytest.raises(ParameterError, match="top=5: the relation has 4 columns"):
        strongest(R, 5)
