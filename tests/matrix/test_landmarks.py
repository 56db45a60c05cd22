from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array

from relscape.errors import DataError, ParameterError
from relscape.matrix.landmarks import landmark_walks, sampled_landmark_walks


def graph(rng, n):
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.15)
    W = W + W.T + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    np.fill_diagonal(W, 0.0)
    return W


def walked_on(W, landmarks, steps=20_000):
    """Move the whole mass step by step; what meets a landmark stays there."""
    P = W / W.sum(axis=1, keepdims=True)
    mass = P[landmarks]
    arrived = np.zeros((len(landmarks), len(landmarks)))
    for _ in range(steps):
        arrived += mass[:, landmarks]
        mass[:, landmarks] = 0.0
        mass = mass @ P
    return arrived


def test_exact_walks_are_those_of_moving_the_mass_step_by_step(rng):
    W, landmarks = graph(rng, 40), np.array([3, 20, 7, 31])
    walks = landmark_walks(csr_array(W), landmarks)
    np.testing.assert_allclose(walks.toarray(), walked_on(W, landmarks), atol=1e-10)
    np.testing.assert_allclose(walks.sum(axis=1), 1.0, rtol=1e-13)


def test_on_a_line_the_chances_are_those_of_the_gambler():
    # Landmarks at 0, 3 and 9 of a path: from 3, one step left then ruin odds, or right.
    W = np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)
    walks = landmark_walks(csr_array(W), [0, 3, 9]).toarray()
    np.testing.assert_allclose(walks[0], [2 / 3, 1 / 3, 0], atol=1e-14)
    np.testing.assert_allclose(walks[1], [1 / 6, 2 / 3 / 2 + 5 / 6 / 2, 1 / 12], atol=1e-14)


def test_all_samples_as_landmarks_give_the_moves_themselves(rng):
    W = graph(rng, 12)
    expected = W / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(landmark_walks(W, np.arange(12)).toarray(), expected, rtol=1e-14)


def test_sampled_walks_come_near_the_exact_ones(rng):
    W, landmarks = csr_array(graph(rng, 40)), [3, 20, 7, 31]
    exact = landmark_walks(W, landmarks).toarray()
    sampled = sampled_landmark_walks(W, landmarks, 20_000, rng).toarray()
    np.testing.assert_allclose(sampled.sum(axis=1), 1.0, rtol=1e-13)
    # Five standard deviations of a share of 20,000.
    assert (np.abs(sampled - exact) <= 5 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-12).all()


def test_sampled_walks_depend_on_the_seed_only(rng):
    W, landmarks = csr_array(graph(rng, 40)), [3, 20, 7, 31]
    threads, found = numba.get_num_threads(), []
    for count in (1, threads):
        numba.set_num_threads(count)
        found.append(sampled_landmark_walks(W, landmarks, 500, np.random.default_rng(5)).toarray())
    numba.set_num_threads(threads)
    np.testing.assert_array_equal(*found)
    other = sampled_landmark_walks(W, landmarks, 500, np.random.default_rng(6)).toarray()
    assert (other != found[0]).any()


@pytest.mark.parametrize("walker", [landmark_walks, sampled_landmark_walks])
def test_lost_walks_are_left_out_and_lonely_landmarks_stay(walker):
    # 0 and 1 are landmarks; 2 is a trap; 3 leads back; 4, 5 are a part without landmarks; 6 is alone.
    W = np.zeros((7, 7))
    W[0, 1], W[0, 2], W[1, 3], W[3, 0], W[2, 2] = 1.0, 3.0, 1.0, 1.0, 1.0
    W[4, 5] = W[5, 4] = 1.0
    walks = walker(csr_array(W), [0, 1, 6]).toarray()
    np.testing.assert_allclose(walks, [[0, 1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-14)


def test_what_is_no_walk_is_refused():
    with pytest.raises(DataError, match=r"shape \(2, 3\)"):
        landmark_walks(np.ones((2, 3)), [0])
    with pytest.raises(DataError, match="negative"):
        landmark_walks(-np.ones((2, 2)), [0])
    with pytest.raises(ParameterError, match="positions among the 2"):
        landmark_walks(np.ones((2, 2)), [2])
    with pytest.raises(ParameterError, match="twice"):
        landmark_walks(np.ones((2, 2)), [0, 0])
    with pytest.raises(ParameterError, match="n_walks=0"):
        sampled_landmark_walks(np.ones((2, 2)), [0], 0)
