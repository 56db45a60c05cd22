"""RESCAL: a bilinear form for every relation, E = −e_h' W e_t; a relation's row holds W (k × k)."""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import math

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Pull, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import HELPER, LOOP
from relscape.objectives.energies.rows import add_part, dot
from relscape.objectives.energies.scoring import per_relation, products_and_pull
from relscape.objectives.energies.starting import glorot, unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["RESCAL"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities of length 1 and matrices after Glorot."""
    entities = unit_rows(sizes.n_entities, sizes.k, rng)
    return assemble(
        entities, glorot((sizes.n_relations, sizes.k, sizes.k), rng).reshape(sizes.n_relations, -1)
    )


@njit(**HELPER)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    k = E.shape[1]
    total = 0.0
    for i in range(k):
        total -= E[h, i] * dot(R, l, i * k, E, t, 0, k)
    return total


@njit(**HELPER)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``."""
    k = E.shape[1]
    factor = to.dtype.type(scale)
    for i in range(k):
        head = -factor * E[h, i]
        to[a, i] -= factor * dot(R, l, i * k, E, t, 0, k)
        add_part(to, b, 0, head, R, l, i * k, k)
        add_part(to_R, l, i * k, head, E, t, 0, k)


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


def many_tails(
    heads: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as tails, with the way back; every row of ``relations`` is a matrix of its own."""
    return _many(heads, _matrices(relations), candidates)


def many_heads(
    tails: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as heads, with the way back: those of W are the tails of W'."""
    found, back = _many(tails, _matrices(relations).transpose(0, 2, 1), candidates)

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_tails, to_relations, to_candidates = back(weights)
        turned = _matrices(to_relations).transpose(0, 2, 1)
        return to_tails, turned.reshape(to_relations.shape), to_candidates

    return found, pull


def _many(known: FloatArray, matrices: FloatArray, candidates: FloatArray) -> tuple[FloatArray, Pull]:
    found, back = products_and_pull(candidates, (known[:, None, :] @ matrices)[:, 0])

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_queries, to_candidates = back(weights)
        to_matrices = known[:, :, None] * to_queries[:, None, :]
        return (
            (matrices @ to_queries[:, :, None])[:, :, 0],
            to_matrices.reshape(len(known), -1),
            to_candidates,
        )

    return found, pull


def _matrices(relations: FloatArray) -> FloatArray:
    k = math.isqrt(relations.shape[1])
    return relations.reshape(-1, k, k)


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
    many_tails=many_tails,
    many_heads=many_heads,
)
