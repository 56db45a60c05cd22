"""Losses over shared corruptions against central differences and plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from relscape.solvers.triples.losses import self_adversarial, softmax

RNG = np.random.default_rng(0)
TRUE, FALSE = RNG.normal(2, 1, 4), RNG.normal(3, 1, (4, 6))
HIDDEN = RNG.random((4, 6)) < 0.3
FALSE[HIDDEN] = np.inf


def test_softmax_is_minus_the_log_probability() -> None:
    losses, to_true, to_false = softmax(TRUE, FALSE)
    for i in range(4):
        others = np.exp(-FALSE[i][~HIDDEN[i]])
        assert losses[i] == pytest.approx(-np.log(np.exp(-TRUE[i]) / (np.exp(-TRUE[i]) + others.sum())))
    check(lambda true, false: softmax(true, false)[0].sum(), to_true, to_false)
    assert not to_false[HIDDEN].any()


def test_self_adversarial_weighs_the_lowest_most() -> None:
    losses, to_true, to_false = self_adversarial(TRUE, FALSE, 2.5, 0.7)
    shares = np.exp(-0.7 * FALSE)
    shares /= shares.sum(axis=1, keepdims=True)

    def value(true: np.ndarray, false: np.ndarray) -> float:
        positive = -np.log(1 / (1 + np.exp(true - 2.5)))
        return float((positive - (shares * np.log(1 / (1 + np.exp(2.5 - false)))).sum(axis=1)).sum())

    assert losses.sum() == pytest.approx(value(TRUE, FALSE))
    check(value, to_true, to_false)


def test_a_row_without_corruptions_and_huge_energies_stay_finite() -> None:
    nothing = np.full((4, 6), np.inf)
    for found in (softmax(TRUE, nothing), self_adversarial(TRUE, nothing, 1.0, 1.0)):
        assert all(np.isfinite(part).all() for part in found)
        assert not found[2].any()
    for found in (
        softmax(1e4 * TRUE, 1e4 * FALSE),
        self_adversarial(1e4 * TRUE, 1e4 * FALSE, 1.0, 1.0),
    ):
        assert all(np.isfinite(part).all() for part in found)


def test_single_precision_is_as_good_as_it_can_be() -> None:
    for loss in (softmax, lambda true, false: self_adversarial(true, false, 2.5, 0.7)):
        for one, two in zip(loss(TRUE, FALSE), loss(TRUE, FALSE.astype(np.float32)), strict=True):
            np.testing.assert_allclose(two, one, rtol=2e-6)


def check(value, to_true: np.ndarray, to_false: np.ndarray) -> None:
    for array, gradient, place in ((TRUE, to_true, 0), (FALSE, to_false, 1)):
        for index in zip(*np.nonzero(np.isfinite(array)), strict=True):
            ends = []
            for way in (1e-6, -1e-6):
                arrays = [TRUE.copy(), FALSE.copy()]
                arrays[place][index] += way
                ends.append(value(*arrays))
            assert gradient[index] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)
