from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import KNeighborsClassifier

from relscape.errors import DataError, ParameterError
from relscape.matrix.completion import completed_by_graph, completed_codes, predicted_codes


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_votes_are_those_of_a_nearest_neighbour_classifier(rng, form):
    truth = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4)) + truth[:, None]
    codes = np.where(rng.random(300) < 0.4, truth, -1)
    # Two cohorts and five voters: no vote is tied.
    theirs = KNeighborsClassifier(5).fit(X[codes >= 0], codes[codes >= 0]).predict(X)
    completed = completed_codes(form(X), codes)
    np.testing.assert_array_equal(completed, np.where(codes >= 0, codes, theirs))
    new = rng.normal(size=(50, 4))
    classifier = KNeighborsClassifier(5).fit(X[codes >= 0], codes[codes >= 0])
    np.testing.assert_array_equal(predicted_codes(form(X), codes, form(new)), classifier.predict(new))


def test_equal_votes_go_to_the_nearest():
    X = np.array([[0.0], [1.0], [1.2], [-2.0], [5.0], [6.0]])
    # The neighbours of 0 are 1 (cohort 1), 1.2 (cohort 0), -2 (cohort 0), 5 (cohort 1).
    codes = np.array([-1, 1, 0, 0, 1, 1])
    assert completed_codes(X, codes, n_neighbors=2)[0] == 1
    assert completed_codes(X, codes, n_neighbors=4)[0] == 1  # two votes each: capped at 2 by cohort 0


def test_a_small_cohort_caps_the_voters():
    X = np.array([[0.0], [0.1], [1.0], [1.1], [1.2], [1.3]])
    codes = np.array([-1, 0, 1, 1, 1, 1])
    assert completed_codes(X, codes, n_neighbors=5)[0] == 0


def test_complete_labels_stay_and_the_input_is_not_changed(rng):
    codes = np.array([0, 1, -1])
    completed_codes(rng.normal(size=(3, 2)), codes)
    np.testing.assert_array_equal(codes, [0, 1, -1])
    full = np.array([0, 1, 1])
    np.testing.assert_array_equal(completed_codes(rng.normal(size=(3, 2)), full), full)


def test_without_any_label_or_voter_it_refuses(rng):
    with pytest.raises(DataError, match="no sample has a cohort"):
        completed_codes(rng.normal(size=(3, 2)), np.full(3, -1))
    with pytest.raises(DataError, match="no sample has a cohort"):
        completed_by_graph(csr_array(np.eye(3)), np.full(3, -1))
    with pytest.raises(ParameterError, match="n_neighbors=0"):
        completed_codes(rng.normal(size=(3, 2)), np.array([0, 1, -1]), n_neighbors=0)


def test_cohorts_spread_along_a_chain_and_stop_where_it_ends():
    W = np.zeros((7, 7))
    for i, j, weight in ((0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 5.0), (5, 6, 1.0)):
        W[i, j] = W[j, i] = weight
    codes = np.array([0, -1, -1, -1, 1, -1, -1])
    # Round 1: 1 joins 0 and 3 joins 1; round 2: 2 hangs evenly between them and takes the lower code.
    assert completed_by_graph(csr_array(W), codes).tolist() == [0, 0, 0, 1, 1, -1, -1]


def test_the_sum_of_weights_decides():
    W = np.zeros((5, 5))
    W[0, 1:] = [0.3, 0.4, 0.4, 0.2]
    codes = np.array([-1, 2, 0, 2, 0])
    assert completed_by_graph(csr_array(W + W.T), codes)[0] == 2


def test_spreading_equals_a_slow_loop(rng):
    W = rng.random((60, 60)) * (rng.random((60, 60)) < 0.05)
    W = W + W.T
    codes = np.where(rng.random(60) < 0.2, rng.integers(0, 3, 60), -1)
    slow = codes.copy()
    while True:
        before = slow.copy()
        for i in range(60):
            pulls = [W[i, before == cohort].sum() for cohort in range(3)]
            if before[i] < 0 and max(pulls) > 0:
                slow[i] = int(np.argmax(pulls))
        if (slow == before).all():
            break
    np.testing.assert_array_equal(completed_by_graph(csr_array(W), codes), slow)
