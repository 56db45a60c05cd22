"""DistMult: a weight for every coordinate of the product, E = −Σ_i h_i r_i t_i."""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Pull, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import HELPER, LOOP
from relscape.objectives.energies.scoring import products_and_pull
from relscape.objectives.energies.starting import unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["DISTMULT"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities and relations of length 1."""
    entities = unit_rows(sizes.n_entities, sizes.k, rng)
    return assemble(entities, unit_rows(sizes.n_relations, sizes.k, rng))


@njit(**HELPER)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    found = E.dtype.type(0.0)
    for i in range(E.shape[1]):
        found -= E[h, i] * R[l, i] * E[t, i]
    return np.float64(found)


@njit(**HELPER)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``."""
    factor = to.dtype.type(-scale)
    for i in range(E.shape[1]):
        head, link, tail = E[h, i], R[l, i], E[t, i]
        to[a, i] += factor * link * tail
        to[b, i] += factor * link * head
        to_R[l, i] += factor * head * tail


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
    return -((params["entities"][heads] * params["relations"][relations]) @ params["entities"].T)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    return tails_of(params, tails, relations, settings)


def many_tails(
    heads: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as tails, with the way back."""
    found, back = products_and_pull(candidates, heads * relations)

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_queries, to_candidates = back(weights)
        return to_queries * relations, to_queries * heads, to_candidates

    return found, pull


def many_heads(
    tails: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as heads, with the way back."""
    return many_tails(tails, relations, candidates, settings)


DISTMULT = Energy(
    "DistMult",
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
