"""Gaussian neighbourhoods of a chosen size: every sample's bandwidth from its perplexity."""

from __future__ import annotations

import warnings

import numpy as np
from numba import njit, prange

from relscape.errors import ParameterError, RelscapeWarning
from relscape.protocols import FloatArray

__all__ = ["calibrated", "log_masses"]

# Bisection on a float64 cannot be halved more often than this and still move.
MOST_HALVINGS = 1100
CLOSE_ENOUGH = 1e-10


def calibrated(squares: FloatArray, perplexity: float) -> tuple[FloatArray, FloatArray]:
    """Weigh each sample's candidates by a Gaussian whose entropy is that of ``perplexity`` equal ones.

    Parameters
    ----------
    squares : array of shape (n, K)
        Squared distances of every sample to its candidates.
    perplexity : float
        The exponential of the entropy wanted; smaller than K, at least 1. From K on all candidates
        weigh the same, with a warning.

    Returns
    -------
    probabilities : array of shape (n, K)
        ``exp(-beta d²)``, each row divided by its sum. Where more than ``perplexity`` candidates
        share the smallest distance no bandwidth is narrow enough: they share the row evenly.
    betas : array of shape (n,)
        The precisions ``1 / (2 sigma²)``.
    """
    if not 1 <= perplexity < np.inf:
        raise ParameterError(f"perplexity={perplexity}: a neighbourhood has at least 1 member.")
    squares = np.ascontiguousarray(squares, dtype=np.float64)
    candidates = squares.shape[1]
    if perplexity >= candidates:
        warnings.warn(
            f"perplexity={perplexity:g} with {candidates} candidates a sample: all of them weigh the same. "
            "Choose a smaller perplexity, about a third of the candidates or less.",
            RelscapeWarning,
            stacklevel=2,
        )
        return np.full(squares.shape, 1.0 / candidates), np.zeros(len(squares))
    probabilities, betas = _calibrate(squares, np.log(perplexity), perplexity)
    return probabilities, betas


def log_masses(squares: FloatArray, betas: FloatArray) -> FloatArray:
    """Give the logarithm of every row's sum of ``exp(-beta d²)``, which itself may be too small a number."""
    exponents = -betas[:, None] * squares
    largest = exponents.max(axis=1)
    return np.asarray(largest + np.log(np.exp(exponents - largest[:, None]).sum(axis=1)))


@njit(cache=True)
def _weigh(gaps, beta, weights):  # type: ignore[no-untyped-def]
    """Fill in a row's probabilities; give its entropy, and the mass beyond the smallest distance."""
    total, beyond, moment = 0.0, 0.0, 0.0
    for j in range(gaps.size):
        weights[j] = np.exp(-beta * gaps[j])
        total += weights[j]
        moment += weights[j] * gaps[j]
        if gaps[j] > 0:
            beyond += weights[j]
    for j in range(gaps.size):
        weights[j] /= total
    return np.log(total) + beta * moment / total, beyond


@njit(parallel=True, cache=True)
def _calibrate(squares, target, perplexity):  # type: ignore[no-untyped-def]
    n, candidates = squares.shape
    probabilities = np.empty((n, candidates))
    betas = np.empty(n)
    for i in prange(n):
        gaps = squares[i] - squares[i].min()
        mean = gaps.mean()
        beta = 1.0 / mean if mean > 0 else 0.0
        low, high = 0.0, np.inf
        for _ in range(MOST_HALVINGS if beta > 0 else 1):
            entropy, beyond = _weigh(gaps, beta, probabilities[i])
            if abs(np.exp(entropy) - perplexity) <= CLOSE_ENOUGH or (beyond == 0 and entropy > target):
                break
            if entropy > target:
                low = beta
            else:
                high = beta
            halfway = 2.0 * beta if high == np.inf else 0.5 * (low + high)
            if halfway == beta:
                break
            beta = halfway
        betas[i] = beta
    return probabilities, betas
