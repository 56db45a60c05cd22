"""ComplEx: DistMult in complex numbers, E = −Re Σ_i h_i r_i conj(t_i), which need not be symmetric.

Rows hold k real parts, then k imaginary ones.
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Pull, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import HELPER, LOOP
from relscape.objectives.energies.rows import place
from relscape.objectives.energies.scoring import products_and_pull
from relscape.objectives.energies.starting import unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["COMPLEX", "turned"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities and relations of length 1."""
    entities = unit_rows(sizes.n_entities, 2 * sizes.k, rng)
    return assemble(entities, unit_rows(sizes.n_relations, 2 * sizes.k, rng))


@njit(**HELPER)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    k = E.shape[1] // 2
    found = E.dtype.type(0.0)
    for i in range(k):
        re = E[h, i] * R[l, i] - E[h, place(k + i)] * R[l, place(k + i)]
        im = E[h, i] * R[l, place(k + i)] + E[h, place(k + i)] * R[l, i]
        found -= re * E[t, i] + im * E[t, place(k + i)]
    return np.float64(found)


@njit(**HELPER)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``."""
    k = E.shape[1] // 2
    factor = to.dtype.type(-scale)
    for i in range(k):
        h1, h2, t1, t2 = E[h, i], E[h, place(k + i)], E[t, i], E[t, place(k + i)]
        r1, r2 = R[l, i], R[l, place(k + i)]
        to[a, i] += factor * (r1 * t1 + r2 * t2)
        to[a, place(k + i)] += factor * (r1 * t2 - r2 * t1)
        to[b, i] += factor * (h1 * r1 - h2 * r2)
        to[b, place(k + i)] += factor * (h1 * r2 + h2 * r1)
        to_R[l, i] += factor * (h1 * t1 + h2 * t2)
        to_R[l, place(k + i)] += factor * (h1 * t2 - h2 * t1)


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
    return -(turned(E[heads], params["relations"][relations]) @ E.T)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    E = params["entities"]
    return -(turned(E[tails], params["relations"][relations], back=True) @ E.T)


def turned(x: FloatArray, r: FloatArray, back: bool = False) -> FloatArray:
    """Multiply rows of complex numbers (real parts, then imaginary ones) with r, or with its conjugate."""
    k = x.shape[1] // 2
    re, im = r[:, :k], -r[:, k:] if back else r[:, k:]
    return np.hstack([x[:, :k] * re - x[:, k:] * im, x[:, :k] * im + x[:, k:] * re])


def many_tails(
    heads: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as tails, with the way back."""
    found, back = products_and_pull(candidates, turned(heads, relations))

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_queries, to_candidates = back(weights)
        return turned(to_queries, relations, True), turned(to_queries, heads, True), to_candidates

    return found, pull


def many_heads(
    tails: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as heads, with the way back."""
    found, back = products_and_pull(candidates, turned(tails, relations, True))

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_queries, to_candidates = back(weights)
        return turned(to_queries, relations), turned(tails, to_queries, True), to_candidates

    return found, pull


COMPLEX = Energy(
    "ComplEx",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    entity_rule="decay",
    relation_rule="decay",
    defaults={"lambda1": 0.001, "lambda2": 0.001},
    many_tails=many_tails,
    many_heads=many_heads,
)
