"""TransR: entities are projected into a space of the relation's own, u = P (e_h − e_t) + r, E = N(u).

A relation's row holds r (k numbers), then P (k × d) row by row.
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import ALLOCATING, L1, LOOP, norm_of, signed, slope
from relscape.objectives.energies.rows import add_part, dot, place
from relscape.objectives.energies.scoring import distances, per_relation
from relscape.objectives.energies.starting import identities, unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["TRANSR", "carry_over", "contain", "project", "pull_projection", "total_of"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities and translations of length 1; projections begin as the identity."""
    entities = unit_rows(sizes.n_entities, sizes.entity, rng)
    relations = unit_rows(sizes.n_relations, sizes.k, rng)
    return assemble(entities, np.hstack([relations, identities(sizes.n_relations, sizes.k, sizes.entity)]))


def carry_over(params: Params, translation: Params) -> None:
    """Begin from a trained TransE of as many entities and relations: copy as many coordinates as fit."""
    for name in ("entities", "relations"):
        width = min(params[name].shape[1], translation[name].shape[1])
        params[name][:, :width] = translation[name][:, :width]


@njit(**ALLOCATING)
def project(E, R, h, l, t, at, apart, u):  # type: ignore[no-untyped-def]
    """Fill ``apart`` with e_h − e_t (one row) and u with P times that; P begins at ``at`` in its row."""
    d = E.shape[1]
    for j in range(d):
        apart[0, j] = E[h, j] - E[t, j]
    for i in range(u.shape[0]):
        u[i] = dot(R, l, at + i * d, apart, 0, 0, d)


@njit(**ALLOCATING)
def total_of(u, R, l, r, norm):  # type: ignore[no-untyped-def]
    """Sum the absolute values (l1) or squares of u plus the translation, which begins at ``r``."""
    total = 0.0
    for i in range(u.shape[0]):
        found = u[i] + R[l, place(r + i)]
        total += abs(found) if len(norm) == L1 else found * found
    return total


@njit(**ALLOCATING)
def pull_projection(  # type: ignore[no-untyped-def]
    scale, u, apart, R, l, at, norm, to, a, b, to_R, r
):
    """Add the gradient for entities, translation and matrix."""
    d = apart.shape[1]
    if len(norm) != L1:
        scale *= slope(total_of(u, R, l, r, norm), norm)
    factor = to.dtype.type(scale)
    back = np.zeros((1, d), R.dtype)
    for i in range(u.shape[0]):
        found = u[i] + R[l, place(r + i)]
        s = signed(found, factor) if len(norm) == L1 else factor * found
        to_R[l, r + i] += s
        add_part(back, 0, 0, s, R, l, at + i * d, d)
        add_part(to_R, l, at + i * d, s, apart, 0, 0, d)
    for j in range(d):
        to[a, j] += back[0, j]
        to[b, j] -= back[0, j]


@njit(**ALLOCATING)
def contain(E, R, triples, others, at):  # type: ignore[no-untyped-def]
    """Keep a batch's projections within the unit ball: a matrix moves as little as brings a longer one to 1.

    The nearest matrix with a shorter P e is P − (1 − 1/|P e|) P e e' / |e|², which leaves what is orthogonal
    to e where it was. ``at`` is where the matrix begins in a relation's row.
    """
    d = E.shape[1]
    k = at
    u = np.empty((1, k), E.dtype)
    for i in range(triples.shape[0]):
        l = triples[i, 1]
        for j in range(-2, others.shape[1]):
            x = others[i, j] if j >= 0 else (triples[i, 0] if j == -2 else triples[i, 2])
            for row in range(k):
                u[0, row] = dot(R, l, at + row * d, E, x, 0, d)
            square = np.float64(dot(u, 0, 0, u, 0, 0, k))
            if square > 1.0:
                factor = E.dtype.type((1.0 - square**-0.5) / dot(E, x, 0, E, x, 0, d))
                for row in range(k):
                    add_part(R, l, at + row * d, -factor * u[0, row], E, x, 0, d)


@njit(**ALLOCATING)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    d = E.shape[1]
    k = R.shape[1] // (1 + d)
    u = np.empty(k, E.dtype)
    project(E, R, h, l, t, k, np.empty((1, d), E.dtype), u)
    return norm_of(total_of(u, R, l, 0, norm), norm)


@njit(**ALLOCATING)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``."""
    d = E.shape[1]
    k = R.shape[1] // (1 + d)
    apart, u = np.empty((1, d), E.dtype), np.empty(k, E.dtype)
    project(E, R, h, l, t, k, apart, u)
    pull_projection(scale, u, apart, R, l, k, norm, to, a, b, to_R, 0)


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
    return score(params, heads, relations, 1.0, settings.norm)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    return score(params, tails, relations, -1.0, settings.norm)


def score(
    params: Params, entities: IntArray, relations: IntArray, way: float, norm: tuple[int, ...]
) -> FloatArray:
    """Measure in each relation's space: all entities are projected once a relation."""
    E, R = params["entities"], params["relations"]
    k = R.shape[1] // (1 + E.shape[1])
    found = np.empty((len(entities), len(E)), dtype=E.dtype)
    for l, places in per_relation(relations):
        image = E @ R[l, k:].reshape(k, -1).T
        found[places] = distances(image, image[entities[places]] + E.dtype.type(way) * R[l, :k], norm)
    return found


def tidy(params: Params, batch: Any) -> None:
    """Keep translations and projections of a batch within the unit ball."""
    E, R = params["entities"], params["relations"]
    k = R.shape[1] // (1 + E.shape[1])
    used = np.unique(batch.triples[:, 1])
    R[used, :k] /= np.maximum(np.linalg.norm(R[used, :k], axis=1, keepdims=True), 1)
    contain(E, R, batch.triples, batch.others, k)


TRANSR = Energy(
    "TransR",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    norms=("l2sq", "l2", "l1"),
    entity_rule="ball",
    tidy=tidy,
)
