"""RotatE: a relation turns every complex coordinate by an angle, E = N(h ∘ r − t) with |r_i| = 1.

Rows hold k real parts, then k imaginary ones; a relation's numbers are kept on the unit circle instead of
being worked out from angles. l1 sums the moduli of the complex differences, l2 is the Euclidean length.
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from relscape.objectives.energies.base import Energy, Params, Pull, Settings, Sizes, assemble
from relscape.objectives.energies.complex import turned
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import FAST, HELPER, L1, LOOP, norm_of, slope
from relscape.objectives.energies.rows import place
from relscape.objectives.energies.scoring import PairPull, distances, distances_and_pull
from relscape.objectives.energies.starting import unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["ROTATE"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities of length 1 and relations of even angles."""
    entities = unit_rows(sizes.n_entities, 2 * sizes.k, rng)
    angles = rng.uniform(-np.pi, np.pi, (sizes.n_relations, sizes.k))
    return assemble(entities, np.hstack([np.cos(angles), np.sin(angles)]))


@njit(**HELPER)
def _total(E, R, h, l, t, norm):  # type: ignore[no-untyped-def]
    """Sum the moduli (l1) or the squares of h ∘ r − t."""
    k = E.shape[1] // 2
    found = E.dtype.type(0.0)
    for i in range(k):
        re = E[h, i] * R[l, i] - E[h, place(k + i)] * R[l, place(k + i)] - E[t, i]
        im = E[h, i] * R[l, place(k + i)] + E[h, place(k + i)] * R[l, i] - E[t, place(k + i)]
        square = re * re + im * im
        found += np.sqrt(square) if len(norm) == L1 else square
    return np.float64(found)


@njit(**HELPER)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    return norm_of(_total(E, R, h, l, t, norm), norm)


@njit(**HELPER)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``."""
    k = E.shape[1] // 2
    if len(norm) != L1:
        scale *= slope(_total(E, R, h, l, t, norm), norm)
    size = to.dtype.type(scale)
    for i in range(k):
        h1, h2, r1, r2 = E[h, i], E[h, place(k + i)], R[l, i], R[l, place(k + i)]
        s1, s2 = h1 * r1 - h2 * r2 - E[t, i], h1 * r2 + h2 * r1 - E[t, place(k + i)]
        factor = size
        if len(norm) == L1:
            length = np.sqrt(s1 * s1 + s2 * s2)
            factor = size / length if length > 0 else to.dtype.type(0.0)
        s1, s2 = factor * s1, factor * s2
        to[a, i] += s1 * r1 + s2 * r2
        to[a, place(k + i)] += s2 * r1 - s1 * r2
        to[b, i] -= s1
        to[b, place(k + i)] -= s2
        to_R[l, i] += s1 * h1 + s2 * h2
        to_R[l, place(k + i)] += s2 * h1 - s1 * h2


@njit(**LOOP)
def sweep(model, batch, margin, sums, step):  # type: ignore[no-untyped-def]
    """Walk over a batch."""
    return margin_sweep(value, add_gradient, model, batch, margin, sums, step)


@njit(cache=True, nogil=True)
def values(model, triples, hints):  # type: ignore[no-untyped-def]
    """Give the energies of triples."""
    return values_of(value, model, triples, hints)


@njit(**LOOP)
def pulls(model, triples, hints, weights, sums):  # type: ignore[no-untyped-def]
    """Add up the gradients of triples' energies, each times its weight."""
    pulls_of(add_gradient, model, triples, hints, weights, sums)


def tails_of(params: Params, heads: IntArray, relations: IntArray, settings: Settings) -> FloatArray:
    """Score all tails of queries."""
    E = params["entities"]
    return _distances(E, turned(E[heads], params["relations"][relations]), settings)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    E = params["entities"]
    return _distances(E, turned(E[tails], params["relations"][relations], back=True), settings)


def many_tails(
    heads: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as tails, with the way back."""
    found, back = _distances_and_pull(candidates, turned(heads, relations), settings)

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_queries, to_candidates = back(weights)
        return turned(to_queries, relations, True), turned(to_queries, heads, True), to_candidates

    return found, pull


def many_heads(
    tails: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as heads, with the way back."""
    found, back = _distances_and_pull(candidates, turned(tails, relations, True), settings)

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_queries, to_candidates = back(weights)
        return turned(to_queries, relations), turned(tails, to_queries, True), to_candidates

    return found, pull


def tidy(params: Params, batch: Any) -> None:
    """Bring the relations of a batch back to the unit circle."""
    used = np.unique(batch.triples[:, 1])
    rows = params["relations"][used]
    k = rows.shape[1] // 2
    moduli = np.hypot(rows[:, :k], rows[:, k:])
    params["relations"][used] = rows / np.tile(np.where(moduli > 0, moduli, 1), (1, 2))


def _distances(points: FloatArray, queries: FloatArray, settings: Settings) -> FloatArray:
    if len(settings.norm) == L1:
        return np.asarray(_moduli(np.ascontiguousarray(points), queries))
    return distances(points, queries, settings.norm)


def _distances_and_pull(
    points: FloatArray, queries: FloatArray, settings: Settings
) -> tuple[FloatArray, PairPull]:
    if len(settings.norm) != L1:
        return distances_and_pull(points, queries, settings.norm)

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        to_queries, to_points = _moduli_pull(np.ascontiguousarray(points), queries, weights)
        return to_queries, to_points

    return _distances(points, queries, settings), pull


@njit(cache=True, nogil=True, parallel=True, fastmath=FAST, error_model="numpy")
def _moduli(points, queries):  # type: ignore[no-untyped-def]
    """Sum the moduli of all queries' differences from all points."""
    k = points.shape[1] // 2
    found = np.empty((queries.shape[0], points.shape[0]), dtype=points.dtype)
    for i in prange(queries.shape[0]):
        for j in range(points.shape[0]):
            total = points.dtype.type(0.0)
            for m in range(k):
                re, im = queries[i, m] - points[j, m], queries[i, place(k + m)] - points[j, place(k + m)]
                total += np.sqrt(re * re + im * im)
            found[i, j] = total
    return found


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _moduli_pull(points, queries, weights):  # type: ignore[no-untyped-def]
    """Give the gradients of the weighted sum of :func:`_moduli` for queries and points."""
    k = points.shape[1] // 2
    to_queries, to_points = np.zeros_like(queries), np.zeros_like(points)
    for i in range(queries.shape[0]):
        for j in range(points.shape[0]):
            for m in range(k):
                re, im = queries[i, m] - points[j, m], queries[i, place(k + m)] - points[j, place(k + m)]
                length = np.sqrt(re * re + im * im)
                factor = weights[i, j] / length if length > 0 else points.dtype.type(0.0)
                to_queries[i, m] += factor * re
                to_queries[i, place(k + m)] += factor * im
                to_points[j, m] -= factor * re
                to_points[j, place(k + m)] -= factor * im
    return to_queries, to_points


ROTATE = Energy(
    "RotatE",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    norms=("l1", "l2", "l2sq"),
    entity_rule="free",
    tidy=tidy,
    many_tails=many_tails,
    many_heads=many_heads,
)
