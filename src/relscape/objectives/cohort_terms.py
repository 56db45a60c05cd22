"""The terms of COVA other than t-SNE's: value and gradient of each (its specification, section 7).

Z are the places of n samples (n × k), R the confidences of samples in cohorts (n × c, summing to one, dense
or sparse), V the prototypes of the cohorts (c × k) and W the weights of pairs of samples (symmetric, summing
to one). Values are full ones: no term is ever negative.
"""

from __future__ import annotations

import numpy as np

from relscape.objectives.neighbour import information
from relscape.objectives.neighbour_sums import prototypes
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["anchor_pull", "graph_tension", "prototype_divergence", "prototype_pull"]


def prototype_pull(Z: FloatArray, R: FloatArray | SparseArray, V: FloatArray) -> tuple[float, FloatArray]:
    """Give Σ r_ij ‖z_i − v_j‖², how far samples are from the prototypes they belong to, and its gradient."""
    # About the mean prototype, so that no digits are lost where the map lies far from the origin.
    centre = V.mean(axis=0)
    moved, targets = Z - centre, V - centre
    rows, columns = R.sum(axis=1), R.sum(axis=0)
    pulled = R @ targets
    half = rows[:, None] * moved - pulled
    spread = float(columns @ (targets**2).sum(axis=1))
    value = float(np.sum(moved * (half - pulled))) + spread
    return max(value, 0.0), 2.0 * half


def graph_tension(Z: FloatArray, W: SparseArray) -> tuple[float, FloatArray]:
    """Give ½ Σ w_ij ‖z_i − z_j‖² = tr(Z'L(W)Z), how far neighbours are from each other, and its gradient."""
    centred = Z - Z.mean(axis=0)
    half = W.sum(axis=1)[:, None] * centred - W @ centred
    return max(float(np.sum(centred * half)), 0.0), 2.0 * half


def prototype_divergence(
    Z: FloatArray, R: FloatArray | SparseArray, V: FloatArray, constant: float | None = None
) -> tuple[float, FloatArray]:
    """Give Σ r_ij log(r_ij T_s / t_ij) with t_ij = 1/(1 + ‖z_i − v_j‖²) and T_s their sum, and its gradient.

    ``constant`` is ``information(R)``, which a solver need not have computed anew at every step. Memory is
    that of the places, whatever the number of cohorts.
    """
    pulls, pushes, logs, total = prototypes(Z, R, V)
    constant = information(R) if constant is None else constant
    value = constant - logs + np.log(total)
    return float(value), 2.0 * (pulls - pushes / total)


def anchor_pull(
    Z: FloatArray, index: IntArray, places: FloatArray, strengths: FloatArray
) -> tuple[float, FloatArray]:
    """Give Σ s_a ‖z_a − p_a‖² over the samples that are held to a place, and its gradient.

    A sample may be held to several places.
    """
    gaps = Z[index] - places
    held = strengths[:, None] * gaps
    gradient = np.zeros(Z.shape)
    np.add.at(gradient, index, 2.0 * held)
    return float(np.sum(held * gaps)), gradient
