"""TransE: a relation carries its heads to its tails, E = N(e_h + r − e_t)."""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Pull, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, one_by_one, pulls_of, values_of
from relscape.objectives.energies.norms import HELPER, L1, LOOP, norm_of, signed, slope
from relscape.objectives.energies.scoring import distances, distances_and_pull
from relscape.objectives.energies.starting import unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["TRANSE", "heads_of", "tails_of"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities and relations of length 1."""
    entities = unit_rows(sizes.n_entities, sizes.k, rng)
    return assemble(entities, unit_rows(sizes.n_relations, sizes.k, rng))


@njit(**HELPER)
def total(E, R, h, l, t, norm):  # type: ignore[no-untyped-def]
    """Sum the absolute values (l1) or the squares of e_h + r − e_t."""
    found = E.dtype.type(0.0)
    for i in range(E.shape[1]):
        u = E[h, i] + R[l, i] - E[t, i]
        found += abs(u) if len(norm) == L1 else u * u
    return np.float64(found)


@njit(**HELPER)
def three(E, R, l, h1, t1, h2, t2, h3, t3, norm):  # type: ignore[no-untyped-def]
    """Give the energies of three triples of a relation."""
    a, b, c = E.dtype.type(0.0), E.dtype.type(0.0), E.dtype.type(0.0)
    for i in range(E.shape[1]):
        u, v, w = E[h1, i] + R[l, i] - E[t1, i], E[h2, i] + R[l, i] - E[t2, i], E[h3, i] + R[l, i] - E[t3, i]
        a += abs(u) if len(norm) == L1 else u * u
        b += abs(v) if len(norm) == L1 else v * v
        c += abs(w) if len(norm) == L1 else w * w
    return norm_of(np.float64(a), norm), norm_of(np.float64(b), norm), norm_of(np.float64(c), norm)


@njit(**HELPER)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    return norm_of(total(E, R, h, l, t, norm), norm)


@njit(inline="always")
def together(value, E, R, S, F, number, norm, triples, hints, others, sides, i, found):  # type: ignore[no-untyped-def]
    """Work out the energies of a triple and of its two corruptions in one walk along their rows."""
    if others.shape[1] != 2:
        one_by_one(value, E, R, S, F, number, norm, triples, hints, others, sides, i, found)
    else:
        h, l, t, x, y = triples[i, 0], triples[i, 1], triples[i, 2], others[i, 0], others[i, 1]
        h1, t1 = (x, t) if sides[i, 0] == 0 else (h, x)
        h2, t2 = (y, t) if sides[i, 1] == 0 else (h, y)
        found[0], found[1], found[2] = three(E, R, l, h1, t1, h2, t2, h, t, norm)


@njit(**HELPER)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``: s for head and relation, −s for the tail."""
    if len(norm) != L1:
        scale *= slope(total(E, R, h, l, t, norm), norm)
    factor = to.dtype.type(scale)
    for i in range(E.shape[1]):
        u = E[h, i] + R[l, i] - E[t, i]
        s = signed(u, factor) if len(norm) == L1 else factor * u
        to[a, i] += s
        to[b, i] -= s
        to_R[l, i] += s


@njit(**LOOP)
def sweep(model, batch, margin, sums, step):  # type: ignore[no-untyped-def]
    """Walk over a batch."""
    return margin_sweep(value, add_gradient, model, batch, margin, sums, step, together)


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
    return distances(
        params["entities"], params["entities"][heads] + params["relations"][relations], settings.norm
    )


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    return distances(
        params["entities"], params["entities"][tails] - params["relations"][relations], settings.norm
    )


def many_tails(
    heads: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as tails, with the way back."""
    found, back = distances_and_pull(candidates, heads + relations, settings.norm)

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_queries, to_candidates = back(weights)
        return to_queries, to_queries, to_candidates

    return found, pull


def many_heads(
    tails: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as heads, with the way back."""
    found, back = distances_and_pull(candidates, tails - relations, settings.norm)

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_queries, to_candidates = back(weights)
        return to_queries, -to_queries, to_candidates

    return found, pull


TRANSE = Energy(
    "TransE",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    norms=("l1", "l2", "l2sq"),
    many_tails=many_tails,
    many_heads=many_heads,
)
