"""The Rand index of two kinds is what a double loop over all pairs counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import precision_score, recall_score

from relscape.errors import DataError
from relscape.scores import rand_index


@pytest.mark.parametrize("density", [0.05, 0.5])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_as_a_double_loop(rng, density, k):
    W = np.where(rng.random((14, 11)) < density, rng.choice([-1.0, 0.2, 1.0], (14, 11)), 0.0)
    W[0, 0] = 1.0
    left, right = rng.integers(0, k, 14), rng.integers(0, k, 11)
    right[0] = left[0]
    agreeing = sum((left[i] == right[j]) == (W[i, j] > 0) for i in range(14) for j in range(11))
    found = rand_index(csr_array(W), left, right)
    assert found.rand == pytest.approx(agreeing / (14 * 11))
    related, together = (W > 0).ravel(), (left[:, None] == right).ravel()
    assert found.precision == pytest.approx(precision_score(related, together))
    assert found.recall == pytest.approx(recall_score(related, together))
    # Clusters by any other names are the same.
    names = np.array(["sea", "town", "wood", "hill", "road"], dtype=object)
    assert rand_index(W, names[left], list(names[right])) == found


def test_perfect_and_opposite_clusters():
    W = np.kron(np.eye(2), np.ones((3, 2)))
    assert rand_index(W, [0, 0, 0, 1, 1, 1], [0, 0, 1, 1]) == (1, 1, 1)
    assert rand_index(W, [0, 0, 0, 1, 1, 1], [1, 1, 0, 0]) == (0, 0, 0)


def test_no_pairs_to_judge_by():
    apart = rand_index([[1, 0]], ["a"], ["b", "c"])
    assert apart.rand == 0.5
    assert math.isnan(apart.precision)
    assert apart.recall == 0
    unrelated = rand_index([[0, -1]], ["a"], ["a", "c"])
    assert unrelated.rand == 0.5
    assert unrelated.precision == 0
    assert math.isnan(unrelated.recall)


def test_what_is_refused():
    with pytest.raises(DataError, match="column_clusters has 1 entries, but W is 1 × 2"):
        rand_index([[1, 0]], [0], [0])
    with pytest.raises(DataError, match="clusters: 1 entries are missing"):
        rand_index([[1, 0]], [0], [0, None])
