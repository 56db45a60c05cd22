r"""Placing a new object among fixed ones under CODE (Globerson et al. 2007; spec of CODE, section 6).

With the other kind fixed, the likelihood of a new object's relations is concave in its place: with
features 2ψ it is a maximum-entropy problem, and damped Newton steps find its one maximum. Where the
new object's own side is normalised over (a column of CM), the same form holds with the normalisers of
the trained map frozen; the exact likelihood of the enlarged table is then not concave, and is climbed
from there.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from scipy.special import expit

from relscape.protocols import FloatArray

__all__ = ["place_frozen", "refine_exact"]

_STEPS, _HALVINGS = 200, 40
_STILL = 1e-14  # of the value: where a full step more is all that is left


def place_frozen(
    means: FloatArray, points: FloatArray, log_weights: FloatArray, ridge: FloatArray
) -> FloatArray:
    r"""Maximise, for every new object, 2φ·mean − log Σ w exp(2φ·ψ − ‖ψ‖²) − ridge ‖φ‖² over its place φ.

    Parameters
    ----------
    means : array of shape (q, k)
        The mean place of each new object's relations.
    points : array of shape (n, k)
        The fixed objects.
    log_weights : array of shape (n,)
        Their log-weights in the normaliser: log β, or log p̄ − log Z where normalisers are frozen.
    ridge : array of shape (q,)
        Positive: an object whose relations lie on the border of the cloud has no finite place without.
    """
    centre = points.mean(axis=0)  # the quadratic terms are small where the cloud is centred
    moved = np.ascontiguousarray(points - centre)
    base = log_weights - (moved**2).sum(axis=1)
    climbed = _newton(np.ascontiguousarray(means - centre), moved, base, ridge, -centre)
    return np.asarray(climbed + centre)


@njit(cache=True)
def _state(x, mean, points, base, ridge, origin, weights, gradient, hessian):  # type: ignore[no-untyped-def]
    """Give the value at x; fill gradient and negative Hessian."""
    n, k = points.shape
    top = -np.inf
    for j in range(n):
        e = base[j]
        for d in range(k):
            e += 2.0 * x[d] * points[j, d]
        weights[j] = e
        top = max(top, e)
    total = 0.0
    gradient[:] = 0.0
    hessian[:] = 0.0
    for j in range(n):
        w = np.exp(weights[j] - top)
        total += w
        for d in range(k):
            gradient[d] += w * points[j, d]
            for c in range(d + 1):
                hessian[d, c] += w * points[j, d] * points[j, c]
    value = -top - np.log(total)
    for d in range(k):
        gradient[d] /= total
    for d in range(k):
        for c in range(d + 1):
            hessian[d, c] = 4.0 * (hessian[d, c] / total - gradient[d] * gradient[c])
            hessian[c, d] = hessian[d, c]
        hessian[d, d] += 2.0 * ridge
    for d in range(k):
        value += 2.0 * x[d] * mean[d] - ridge * (x[d] - origin[d]) ** 2
        gradient[d] = 2.0 * (mean[d] - gradient[d]) - 2.0 * ridge * (x[d] - origin[d])
    return value


@njit(parallel=True, cache=True)
def _newton(means, points, base, ridge, origin):  # type: ignore[no-untyped-def]
    """Climb from the centre of the cloud, each new object by itself."""
    q, k = means.shape
    placed = np.zeros((q, k))
    for i in prange(q):
        weights = np.empty(points.shape[0])
        gradient, trial_gradient = np.empty(k), np.empty(k)
        hessian, trial_hessian = np.empty((k, k)), np.empty((k, k))
        x = np.zeros(k)
        value = _state(x, means[i], points, base, ridge[i], origin, weights, gradient, hessian)
        for _ in range(_STEPS):
            step = np.linalg.solve(hessian, gradient)
            slope = np.sum(step * gradient)
            if slope < _STILL * max(1.0, abs(value)):
                x = x + step
                break
            length = 1.0
            moved = False
            for _ in range(_HALVINGS):
                trial = x + length * step
                reached = _state(
                    trial,
                    means[i],
                    points,
                    base,
                    ridge[i],
                    origin,
                    weights,
                    trial_gradient,
                    trial_hessian,
                )
                if reached >= value + 1e-4 * length * slope:
                    moved = True
                    break
                length *= 0.5
            if not moved:
                break
            x, value = trial, reached
            gradient[:] = trial_gradient
            hessian[:] = trial_hessian
        placed[i] = x
    return placed


def refine_exact(
    start: FloatArray,
    shares: FloatArray,
    points: FloatArray,
    masses: FloatArray,
    log_odds: FloatArray,
    ridge: float,
) -> FloatArray:
    r"""Maximise the exact likelihood of a table enlarged by one object, over that object's place ψ.

    Minimises Σ share_x ‖φ_x − ψ‖² + Σ mass_x log(1 + exp(log_odds_x − ‖φ_x − ψ‖²)) + ridge ‖ψ‖² from
    ``start``, by Newton steps on a Hessian made positive, with halving.

    Parameters
    ----------
    start : array of shape (k,)
    shares : array of shape (m,)
        The new object's entries of the enlarged p̄.
    points : array of shape (m, k)
        The fixed objects that condition.
    masses : array of shape (m,)
        Their marginals in the enlarged table.
    log_odds : array of shape (m,)
        Logarithm of the new object's weight over the old normaliser of each.
    ridge : float
    """
    weight = shares.sum()

    def parts(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        away = x - points
        squares = (away**2).sum(axis=1)
        held = expit(log_odds - squares)
        value = shares @ squares + masses @ np.logaddexp(0.0, log_odds - squares) + ridge * (x @ x)
        gradient = 2.0 * ((shares - masses * held) @ away + ridge * x)
        bend = 4.0 * (away.T * (masses * held * (1.0 - held))) @ away
        return float(value), gradient, bend + 2.0 * (weight - masses @ held + ridge) * np.eye(x.size)

    x = np.array(start, dtype=np.float64)
    value, gradient, hessian = parts(x)
    for _ in range(_STEPS):
        sizes, axes = np.linalg.eigh(hessian)
        step = -axes @ ((axes.T @ gradient) / np.maximum(np.abs(sizes), 1e-9 * weight))
        slope = float(step @ gradient)
        if -slope < _STILL * max(1.0, abs(value)):
            return np.asarray(x + step)
        for halving in range(_HALVINGS):
            trial = x + 0.5**halving * step
            reached = parts(trial)
            if reached[0] <= value + 1e-4 * 0.5**halving * slope:
                break
        else:
            break
        x, (value, gradient, hessian) = trial, reached
    return x
