"""Losses over many shared corruptions: a value, and how much each energy weighs in its gradient.

Low energy means likely, so −E is the score. ``false`` (B × K) holds the energies of the corruptions; an
infinite one weighs nothing: it is no corruption (but known, or the triple itself). Everything about the
corruptions is worked out in their own precision, with functions that run on vector units.
"""

from __future__ import annotations

import numpy as np

from relscape.protocols import FloatArray

__all__ = ["self_adversarial", "softmax"]


def self_adversarial(
    true: FloatArray, false: FloatArray, margin: float, temperature: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Push true energies below the margin and false ones above it, the lowest of these hardest.

    −log σ(γ − E) − Σ_j p_j log σ(E_j − γ), where p is the softmax of −τ E_j and taken as constant.

    Returns
    -------
    losses (B), weights of the true energies (B) and of the false ones (B × K).
    """
    lowest = false.min(axis=1, keepdims=True, initial=np.inf)
    share = np.exp(temperature * (np.where(np.isfinite(lowest), lowest, 0) - false))
    share /= np.maximum(share.sum(axis=1, keepdims=True), np.finfo(share.dtype).tiny)
    costs, to_false = _log_and_chance(margin - false)
    own, to_true = _log_and_chance(true - margin)
    losses = own + np.einsum("ij,ij->i", share, costs)
    to_false *= share
    return losses, to_true, np.negative(to_false, out=to_false)


def softmax(true: FloatArray, false: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Minus the log-probability of the true candidate among all: E + log(e^−E + Σ_j e^−E_j)."""
    lowest = np.minimum(true, false.min(axis=1, initial=np.inf)).astype(false.dtype)
    chance = np.exp(lowest[:, None] - false)
    own = np.exp(lowest - true)
    total = own + chance.sum(axis=1)
    chance /= -total[:, None].astype(chance.dtype)
    return true - lowest + np.log(total), 1.0 - own / total, chance


def _log_and_chance(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give log(1 + e^x) and σ(x), without overflow."""
    chance = np.exp(np.minimum(x, 0))
    total = 1 + np.exp(-np.abs(x))
    chance /= total
    return np.maximum(x, 0) + np.log(total), chance
