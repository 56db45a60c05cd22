from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.mutual_pairs import TIES, mutual_pairs
from relscape.scores import gamma_loss, gamma_of_pairs, gamma_terms, mean_rank


def among_largest(line, k, ties):
    k = min(k, len(line))
    if ties == "inclusive":
        return line >= np.sort(line)[::-1][k - 1]
    chosen = np.zeros(len(line), dtype=bool)
    chosen[np.argsort(-line, kind="stable")[:k]] = True
    return chosen


def indicator(matrix, k_rows, k_columns, ties):
    """K of a matrix whose larger entries are stronger, entry by entry."""
    by_column = np.column_stack([among_largest(column, k_rows, ties) for column in matrix.T])
    by_row = np.vstack([among_largest(row, k_columns, ties) for row in matrix])
    return by_column & by_row


def slow_gamma(R, rows, columns, k_rows, k_columns, ties):
    """Γ from the two m × n indicator matrices."""
    wanted = indicator(R, k_rows, k_columns, "inclusive" if ties == "inclusive" else "index")
    if ties == "positive":
        wanted &= R > 0
    # Rounding makes equal distances of the map equal again.
    near = -np.round(cdist(rows, columns, "sqeuclidean"), 10)
    kept = indicator(near, k_rows, k_columns, "index" if ties == "index" else "inclusive")
    return int((wanted & ~kept).sum()), int(wanted.sum())


def random_case(rng):
    m, n, dimensions = rng.integers(1, 14), rng.integers(1, 14), rng.choice([1, 2, 12])
    R = rng.integers(0, 4, (m, n)) if rng.random() < 0.6 else rng.random((m, n))
    if rng.random() < 0.4:
        R = R * (rng.random((m, n)) < 0.3)
    if rng.random() < 0.5:
        rows, columns = rng.normal(size=(m, dimensions)), rng.normal(size=(n, dimensions))
    else:
        rows = rng.integers(0, 3, (m, dimensions)).astype(float)
        columns = rng.integers(0, 3, (n, dimensions)).astype(float)
    return R.astype(float), rows, columns


@pytest.mark.parametrize("ties", TIES)
def test_gamma_is_that_of_the_indicator_matrices(rng, ties):
    for _ in range(300):
        R, rows, columns = random_case(rng)
        k_rows, k_columns = (int(k) for k in rng.integers(1, 16, 2))
        terms = gamma_terms(csr_array(R), rows, columns, k_rows, k_columns, ties)
        assert (terms.loss, terms.pairs) == slow_gamma(R, rows, columns, k_rows, k_columns, ties)
        assert 0 <= terms.loss <= terms.pairs
        if ties != "inclusive":
            assert terms.pairs <= min(len(rows) * k_columns, len(columns) * k_rows)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("dimensions", [2, 12])
def test_gamma_on_more_points(rng, ties, dimensions):
    R = rng.poisson(0.3, (250, 400)).astype(float)
    rows, columns = rng.normal(size=(250, dimensions)), rng.normal(size=(400, dimensions))
    columns[200:300] = columns[:100]
    terms = gamma_terms(R, rows, columns, 4, 6, ties)
    assert (terms.loss, terms.pairs) == slow_gamma(R, rows, columns, 4, 6, ties)


@pytest.mark.parametrize("ties", TIES)
def test_gamma_is_zero_for_any_map_when_all_are_neighbours(rng, ties):
    R = rng.integers(0, 3, (8, 11))
    assert gamma_loss(R, rng.normal(size=(8, 2)), rng.normal(size=(11, 2)), 8, 11, ties) == 0
    assert gamma_loss(R, rng.normal(size=(8, 2)), rng.normal(size=(11, 2)), 99, 99, ties) == 0


@pytest.mark.parametrize("ties", TIES)
def test_gamma_is_zero_for_the_coordinates_the_relation_was_made_from(rng, ties):
    rows, columns = rng.normal(size=(80, 2)), rng.normal(size=(60, 2))
    squares = cdist(rows, columns, "sqeuclidean")
    R = np.exp(-squares / squares.mean())
    assert gamma_loss(R, rows, columns, 5, 5, ties) == 0
    assert mean_rank(R, rows, columns) == pytest.approx(5.5)
    assert gamma_loss(R, rng.permutation(rows), columns, 5, 5, ties) > 0


def test_scale_of_map_and_relation_does_not_matter(rng):
    R, rows, columns = rng.poisson(1.0, (40, 30)), rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    plain = gamma_loss(R, rows, columns), mean_rank(R, rows, columns)
    assert (gamma_loss(7 * R, 1e-9 * rows, 1e-9 * columns), mean_rank(R, 64 * rows, 64 * columns)) == plain


def test_places_that_differ_by_rounding_are_equally_near():
    # Three columns at one place up to the last digit, so that strict comparison would lose one of the pairs.
    rows = np.array([[0.0]])
    columns = np.array([[1.0], [1.0 + 2e-16], [1.0 + 4e-16]])
    assert gamma_loss([[0, 0, 1]], rows, columns, k_rows=1, k_columns=1) == 0
    assert gamma_loss([[0, 0, 1]], rows, columns, k_rows=1, k_columns=1, ties="index") == 1


def test_ratio_is_the_share_of_pairs():
    R = np.eye(4)
    rows = np.arange(4.0)[:, None]
    terms = gamma_terms(R, rows, rows[[1, 0, 2, 3]], 1, 1, "positive")
    assert terms == (2.0, 4)
    assert terms.ratio == 0.5
    assert gamma_terms(np.zeros((2, 2)), rows[:2], rows[:2], 1, 1, "positive").ratio == 0


@pytest.mark.parametrize("ties", TIES)
def test_sampled_gamma_is_unbiased(rng, ties):
    R = rng.integers(0, 5, (60, 50))
    rows, columns = rng.normal(size=(60, 2)), rng.normal(size=(50, 2))
    exact = gamma_terms(R, rows, columns, 10, 10, ties)
    estimates = np.array(
        [gamma_loss(R, rows, columns, 10, 10, ties, sample=40, random_state=seed) for seed in range(400)]
    )
    error = estimates.std() / np.sqrt(len(estimates))
    assert estimates.std() > 0
    assert abs(estimates.mean() - exact.loss) < 4 * error


def test_sample_is_seeded_and_at_most_all(rng):
    R, rows, columns = rng.poisson(1.0, (40, 30)), rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    exact = gamma_terms(R, rows, columns)
    assert gamma_terms(R, rows, columns, sample=exact.pairs) == exact
    assert gamma_terms(R, rows, columns, sample=10**9) == exact
    once = gamma_loss(R, rows, columns, sample=20, random_state=3)
    assert gamma_loss(R, rows, columns, sample=20, random_state=3) == once


def test_known_pairs_give_the_same(rng):
    R, rows, columns = rng.poisson(1.0, (40, 30)), rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    pairs = mutual_pairs(R, 3, 4, "positive")
    assert gamma_of_pairs(pairs, rows, columns, 3, 4, "positive") == gamma_terms(
        R, rows, columns, 3, 4, "positive"
    )


def slow_mean_rank(R, rows, columns, top):
    distances = cdist(rows, columns, "sqeuclidean")
    ranks = rankdata(np.round(distances, 10), method="ordinal", axis=1)
    best = np.argsort(-R, axis=1, kind="stable")[:, : min(top, R.shape[1])]
    return np.take_along_axis(ranks, best, axis=1).mean(axis=1).mean()


def test_mean_rank_is_that_of_the_full_sort(rng):
    for _ in range(300):
        R, rows, columns = random_case(rng)
        top = int(rng.integers(1, 16))
        found = mean_rank(csr_array(R), rows, columns, top)
        assert found == pytest.approx(slow_mean_rank(R, rows, columns, top), rel=1e-12)
        assert found >= (min(top, len(columns)) + 1) / 2


def test_mean_rank_of_ten_is_at_least_five_and_a_half(rng):
    R, rows, columns = rng.poisson(1.0, (40, 30)), rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    assert mean_rank(R, rows, columns) >= 5.5


@pytest.mark.parametrize("ties", TIES)
def test_objects_without_coordinates_are_left_out(rng, ties):
    R, rows, columns = rng.poisson(0.7, (25, 30)), rng.normal(size=(25, 2)), rng.normal(size=(30, 2))
    rows[[3, 9], 0] = np.nan
    columns[[0, 4, 17]] = np.nan
    kept_rows, kept_columns = np.delete(np.arange(25), [3, 9]), np.delete(np.arange(30), [0, 4, 17])
    part = R[np.ix_(kept_rows, kept_columns)], rows[kept_rows], columns[kept_columns]
    assert gamma_terms(csr_array(R), rows, columns, 4, 4, ties) == gamma_terms(*part, 4, 4, ties)
    assert mean_rank(R, rows, columns) == mean_rank(*part)


def test_what_cannot_be_used_is_refused(rng):
    R, rows, columns = np.ones((4, 3)), rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    with pytest.raises(DataError, match=r"columns has shape \(4, 2\), but R is 4 × 3"):
        gamma_loss(R, rows, rows)
    with pytest.raises(DataError, match="must lie in one space"):
        mean_rank(R, rows, columns[:, :1])
    with pytest.raises(DataError, match="none of the 4 objects of rows"):
        mean_rank(R, rows * np.nan, columns)
    with pytest.raises(DataError, match="infinite"):
        mean_rank(R, rows, columns * np.inf)
    with pytest.raises(UnknownNameError, match="rule for ties 'first'"):
        gamma_loss(R, rows, columns, ties="first")
    with pytest.raises(ParameterError, match="k_columns=0"):
        gamma_loss(R, rows, columns, k_columns=0)
    with pytest.raises(ParameterError, match="sample=0"):
        gamma_loss(R, rows, columns, sample=0)
    with pytest.raises(ParameterError, match="top=-1"):
        mean_rank(R, rows, columns, top=-1)
