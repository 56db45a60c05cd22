"""Weights and axes of the mutual co-embedding (Wu, Mu, Liatsis and Goulermas 2016).

In their notation r and c are the row and column sums of R, ``a = r^(η₁−1)``, ``b = c^(η₂−1)``,
``u = R b`` and ``v = Rᵀ a``; the model's axes are the singular vectors of
``B = D(a/u)^½ R D(b/v)^½`` beside the trivial ones, divided by ``(a u)^½`` and ``(b v)^½``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relscape.matrix.operators import ScaledRelation
from relscape.protocols import FloatArray, RelationOperator

__all__ = [
    "MutualAxes",
    "MutualWeights",
    "averaged_axes",
    "mutual_operator",
    "mutual_weights",
    "zeta_weights",
]


class MutualWeights(NamedTuple):
    """The weights a, b, u, v, with a and b divided by their maxima so that nothing overflows.

    ``log_a`` and ``log_b`` are the logarithms of those maxima: true a = a · exp(log_a).
    """

    a: FloatArray
    b: FloatArray
    u: FloatArray
    v: FloatArray
    log_a: float
    log_b: float


class MutualAxes(NamedTuple):
    """Axes of the model: ``psi`` (m × k, unit in the metric D(u)), its image ``phi`` (n × k), and σ.

    ``phi = D(v)⁻¹ Rᵀ (a ∘ psi)``: every column object at the weighted mean of its row objects.
    """

    psi: FloatArray
    phi: FloatArray
    sigma: FloatArray


def mutual_weights(relation: RelationOperator, eta_rows: float, eta_columns: float) -> MutualWeights:
    """Weigh heavy and light objects by the powers η of their sums (spec section 7, step 2)."""
    a, log_a = _power(relation.row_sums(), eta_rows - 1.0)
    b, log_b = _power(relation.column_sums(), eta_columns - 1.0)
    return MutualWeights(a, b, relation.matmat(b), relation.rmatmat(a), log_a, log_b)


def _power(sums: FloatArray, exponent: float) -> tuple[FloatArray, float]:
    """Give ``sums ** exponent`` over its maximum (0 for empty objects), and the maximum's logarithm."""
    weights = np.zeros_like(sums)
    used = sums > 0
    logs = exponent * np.log(sums[used])
    largest = float(logs.max())
    weights[used] = np.exp(logs - largest)
    return weights, largest


def mutual_operator(relation: RelationOperator, weights: MutualWeights) -> ScaledRelation:
    """Give B with its trivial triplet (σ = 1) taken out, as an operator."""
    trivial = np.sqrt(weights.a * weights.u), np.sqrt(weights.b * weights.v)
    size = np.linalg.norm(trivial[0])
    return ScaledRelation(
        relation,
        np.sqrt(_ratio(weights.a, weights.u)),
        np.sqrt(_ratio(weights.b, weights.v)),
        (trivial[0] / size, trivial[1] / size),
    )


def averaged_axes(relation: RelationOperator, weights: MutualWeights, U: FloatArray) -> MutualAxes:
    """Turn left singular vectors of B into the model's axes, repairing what the division lost.

    Dividing U by ``(a u)^½`` blows up the rounding of small entries when η is large. Each pass
    through the averaging equations, centred and orthogonalised in the model's own metric, removes
    it (spec section 7, step 5: without the pass, up to 5000 % error; with it, 3e-14).
    """
    row_metric, column_metric = weights.a * weights.u, weights.b * weights.v
    psi = _orthogonal(U * np.sqrt(_ratio(1.0, row_metric))[:, None], row_metric)
    phi = _orthogonal(_column_means(relation, weights, psi), column_metric)
    psi = _orthogonal(_row_means(relation, weights, phi), row_metric)
    psi = psi / _norms(psi, weights.u)
    phi = _orthogonal(_column_means(relation, weights, psi), column_metric)
    return MutualAxes(psi, phi, _norms(phi, column_metric) / _norms(psi, row_metric))


def zeta_weights(axes: MutualAxes, weights: MutualWeights, zeta: FloatArray) -> FloatArray:
    """Weights of φ that give the columns' cloud the squared size ζ in the metric D(v) (39, 40)."""
    sizes = weights.v @ axes.phi**2
    scale = np.exp(0.5 * (weights.log_b - weights.log_a))
    return np.asarray(np.sqrt(_ratio(zeta, sizes)) * scale)


def _column_means(relation: RelationOperator, weights: MutualWeights, psi: FloatArray) -> FloatArray:
    return relation.rmatmat(weights.a[:, None] * psi) * _ratio(1.0, weights.v)[:, None]


def _row_means(relation: RelationOperator, weights: MutualWeights, phi: FloatArray) -> FloatArray:
    return relation.matmat(weights.b[:, None] * phi) * _ratio(1.0, weights.u)[:, None]


def _orthogonal(vectors: FloatArray, metric: FloatArray) -> FloatArray:
    """Centre every column with weights ``metric`` and make it orthogonal to the ones before it."""
    done = np.empty_like(vectors)
    total = metric.sum()
    for q in range(vectors.shape[1]):
        column = vectors[:, q] - metric @ vectors[:, q] / total
        for p in range(q):
            weighted = metric * done[:, p]
            size = weighted @ done[:, p]
            if size > 0:
                column = column - done[:, p] * ((weighted @ column) / size)
        done[:, q] = np.where(metric > 0, column, 0.0)
    return done


def _norms(vectors: FloatArray, metric: FloatArray) -> FloatArray:
    norms = np.sqrt(metric @ vectors**2)
    return np.where(norms > 0, norms, 1.0)


def _ratio(numerator: FloatArray | float, denominator: FloatArray) -> FloatArray:
    """Divide, giving 0 where the denominator is 0 (objects without any relation)."""
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)
