"""RESCAL: a bilinear form for every relation, E = −e_h' W e_t; a relation's row holds W (k × k)."""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import FAST
from relscape.objectives.energies.scoring import per_relation
from relscape.objectives.energies.starting import glorot, unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["RESCAL"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities of length 1 and matrices after Glorot."""
    entities = unit_rows(sizes.n_entities, sizes.k, rng)
    return assemble(
        entities, glorot((sizes.n_relations, sizes.k, sizes.k), rng).reshape(sizes.n_relations, -1)
    )


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    k = E.shape[1]
    total = 0.0
    for i in range(k):
        found = E.dtype.type(0.0)
        for j in range(k):
            found += R[l, i * k + j] * E[t, j]
        total -= E[h, i] * found
    return total


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``."""
    k = E.shape[1]
    factor = to.dtype.type(scale)
    for i in range(k):
        head = factor * E[h, i]
        found = E.dtype.type(0.0)
        for j in range(k):
            found += R[l, i * k + j] * E[t, j]
            to[b, j] -= head * R[l, i * k + j]
            to_R[l, i * k + j] -= head * E[t, j]
        to[a, i] -= factor * found


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def sweep(model, batch, margin, sums, step):  # type: ignore[no-untyped-def]
    """Walk over a batch."""
    return margin_sweep(value, add_gradient, model, batch, margin, sums, step)


@njit(cache=True, nogil=True)
def values(model, triples, hints):  # type: ignore[no-untyped-def]
    """Give the energies of triples."""
    return values_of(value, model, triples, hints)


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def pulls(model, triples, hints, weights, sums):  # type: ignore[no-untyped-def]
    """Add up the gradients of triples' energies, each times its weight."""
    pulls_of(add_gradient, model, triples, hints, weights, sums)


def tails_of(params: Params, heads: IntArray, relations: IntArray, settings: Settings) -> FloatArray:
    """Score all tails of queries."""
    E, k = params["entities"], params["entities"].shape[1]
    queries = np.empty((len(heads), k), dtype=E.dtype)
    for l, places in per_relation(relations):
        queries[places] = E[heads[places]] @ params["relations"][l].reshape(k, k)
    return -(queries @ E.T)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    E, k = params["entities"], params["entities"].shape[1]
    queries = np.empty((len(tails), k), dtype=E.dtype)
    for l, places in per_relation(relations):
        queries[places] = E[tails[places]] @ params["relations"][l].reshape(k, k).T
    return -(queries @ E.T)


RESCAL = Energy(
    "RESCAL",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    relation_rule="decay",
    defaults={"lambda2": 0.001},
)
