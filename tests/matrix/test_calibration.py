from __future__ import annotations

import numpy as np
import pytest

from relscape.errors import ParameterError, RelscapeWarning
from relscape.matrix.calibration import calibrated, log_masses


def perplexities(probabilities):
    logs = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return np.exp(-(probabilities * logs).sum(axis=1))


@pytest.mark.parametrize("perplexity", [1.5, 5.0, 29.9])
@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e8])
def test_every_row_has_the_perplexity_asked_for(rng, perplexity, scale):
    squares = scale * np.sort(rng.exponential(size=(50, 30)), axis=1)
    probabilities, betas = calibrated(squares, perplexity)
    np.testing.assert_allclose(perplexities(probabilities), perplexity, atol=1e-8)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-13)
    direct = np.exp(-betas[:, None] * (squares - squares[:, :1]))
    np.testing.assert_allclose(probabilities, direct / direct.sum(axis=1, keepdims=True), rtol=1e-10)


def test_distances_far_from_zero_do_not_underflow(rng):
    squares = 1e6 + np.sort(rng.random((20, 40)), axis=1)
    probabilities, betas = calibrated(squares, 10.0)
    np.testing.assert_allclose(perplexities(probabilities), 10.0, atol=1e-8)
    assert np.isfinite(log_masses(squares, betas)).all()
    assert (np.exp(-betas[:, None] * squares) == 0).all()  # why logarithms are kept


def test_log_masses_are_logarithms_of_sums(rng):
    squares, betas = rng.random((5, 8)), rng.random(5)
    np.testing.assert_allclose(
        log_masses(squares, betas), np.log(np.exp(-betas[:, None] * squares).sum(axis=1)), rtol=1e-13
    )


@pytest.mark.parametrize("smallest", [0.0, 3.0])
def test_more_equally_near_ones_than_the_perplexity_share_evenly(smallest):
    squares = np.array([[smallest] * 6 + [smallest + 1.0, smallest + 2.0]])
    probabilities, betas = calibrated(squares, 4.0)
    np.testing.assert_allclose(probabilities, [[1 / 6] * 6 + [0, 0]], atol=1e-15)
    assert np.isfinite(betas).all()


def test_all_candidates_at_one_place_weigh_the_same():
    probabilities, betas = calibrated(np.full((3, 9), 2.5), 4.0)
    np.testing.assert_allclose(probabilities, 1 / 9, rtol=1e-15)
    assert np.isfinite(betas).all()


def test_perplexity_one_takes_the_nearest():
    probabilities, _ = calibrated(np.array([[1.0, 2.0, 3.0]]), 1.0)
    np.testing.assert_allclose(probabilities, [[1, 0, 0]], atol=1e-9)


@pytest.mark.parametrize("perplexity", [4.0, 7.0])
def test_too_large_a_perplexity_warns_and_is_uniform(rng, perplexity):
    with pytest.warns(RelscapeWarning, match="4 candidates"):
        probabilities, betas = calibrated(rng.random((3, 4)), perplexity)
    np.testing.assert_array_equal(probabilities, 0.25)
    np.testing.assert_array_equal(betas, 0.0)


@pytest.mark.parametrize("perplexity", [0.5, np.nan, np.inf])
def test_an_impossible_perplexity_is_refused(perplexity):
    with pytest.raises(ParameterError, match="perplexity"):
        calibrated(np.ones((2, 5)), perplexity)
