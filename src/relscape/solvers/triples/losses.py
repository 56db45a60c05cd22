"""Losses over many shared corruptions: a value, and how much each energy weighs in its gradient.

Low energy means likely, so −E is the score. ``false`` (B × K) holds the energies of the corruptions; where
``masked``, the corruption is no negative (it is known, or the triple itself) and weighs nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp

from relscape.protocols import BoolArray, FloatArray

__all__ = ["self_adversarial", "softmax"]


def self_adversarial(
    true: FloatArray, false: FloatArray, masked: BoolArray, margin: float, temperature: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Push true energies below the margin and false ones above it, the lowest of these hardest.

    −log σ(γ − E) − Σ_j p_j log σ(E_j − γ), where p is the softmax of −τ E_j and taken as constant.

    Returns
    -------
    losses (B), weights of the true energies (B) and of the false ones (B × K).
    """
    share = _shares(-temperature * false, masked)
    losses = np.logaddexp(0.0, true - margin) + np.sum(share * np.logaddexp(0.0, margin - false), axis=1)
    return losses, expit(true - margin), -share * expit(margin - false)


def softmax(
    true: FloatArray, false: FloatArray, masked: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Minus the log-probability of the true candidate among all: E + log(e^−E + Σ_j e^−E_j)."""
    scores = np.where(masked, -np.inf, -false)
    total = logsumexp(np.column_stack([-true, scores]), axis=1)
    return true + total, 1.0 - np.exp(-true - total), -np.exp(scores - total[:, None])


def _shares(scores: FloatArray, masked: BoolArray) -> FloatArray:
    """Give the softmax of each row's unmasked scores; a row without any weighs nothing."""
    scores = np.where(masked, -np.inf, scores)
    top = scores.max(axis=1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    totals = powers.sum(axis=1, keepdims=True)
    return np.asarray(powers / np.where(totals > 0, totals, 1.0))
