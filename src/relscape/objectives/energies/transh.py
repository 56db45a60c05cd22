"""TransH: translation on a plane of its own for every relation.

With unit normal w and d = e_h − e_t: u = d − (w'd) w + r, E = N(u). A relation's row holds r, then w.
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import HELPER, L1, LOOP, norm_of, signed, slope
from relscape.objectives.energies.rows import place
from relscape.objectives.energies.scoring import distances, per_relation
from relscape.objectives.energies.starting import unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["TRANSH"]

_EPSILON = 1e-3


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities, translations and normals of length 1."""
    entities = unit_rows(sizes.n_entities, sizes.k, rng)
    relations = np.hstack([unit_rows(sizes.n_relations, sizes.k, rng) for _ in range(2)])
    return assemble(entities, relations)


@njit(**HELPER)
def _along(E, R, h, l, t):  # type: ignore[no-untyped-def]
    """Give w'd."""
    k = E.shape[1]
    found = E.dtype.type(0.0)
    for i in range(k):
        found += R[l, place(k + i)] * (E[h, i] - E[t, i])
    return np.float64(found)


@njit(**HELPER)
def _total(E, R, h, l, t, norm, along):  # type: ignore[no-untyped-def]
    """Sum the absolute values (l1) or the squares of u."""
    k = E.shape[1]
    factor, found = E.dtype.type(along), E.dtype.type(0.0)
    for i in range(k):
        u = E[h, i] - E[t, i] - factor * R[l, place(k + i)] + R[l, i]
        found += abs(u) if len(norm) == L1 else u * u
    return np.float64(found)


@njit(**HELPER)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    return norm_of(_total(E, R, h, l, t, norm, _along(E, R, h, l, t)), norm)


@njit(**HELPER)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``, through the plane."""
    k = E.shape[1]
    along = _along(E, R, h, l, t)
    if len(norm) != L1:
        scale *= slope(_total(E, R, h, l, t, norm, along), norm)
    factor, along = to.dtype.type(scale), to.dtype.type(along)
    ws = to.dtype.type(0.0)
    for i in range(k):
        u = E[h, i] - E[t, i] - along * R[l, place(k + i)] + R[l, i]
        ws += R[l, place(k + i)] * (signed(u, factor) if len(norm) == L1 else factor * u)
    for i in range(k):
        w, d = R[l, place(k + i)], E[h, i] - E[t, i]
        u = d - along * w + R[l, i]
        s = signed(u, factor) if len(norm) == L1 else factor * u
        to[a, i] += s - ws * w
        to[b, i] -= s - ws * w
        to_R[l, i] += s
        to_R[l, place(k + i)] -= along * s + ws * d


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
    return _score(params, heads, relations, 1.0, settings.norm)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    return _score(params, tails, relations, -1.0, settings.norm)


def _score(
    params: Params, entities: IntArray, relations: IntArray, way: float, norm: tuple[int, ...]
) -> FloatArray:
    """Measure on each relation's plane: all entities are projected once a relation."""
    E, k = params["entities"], params["entities"].shape[1]
    found = np.empty((len(entities), len(E)), dtype=E.dtype)
    for l, places in per_relation(relations):
        r, w = params["relations"][l, :k], params["relations"][l, k:]
        plane = E - np.outer(E @ w, w)
        found[places] = distances(plane, plane[entities[places]] + E.dtype.type(way) * r, norm)
    return found


def penalty(params: Params, relations: IntArray) -> FloatArray:
    """Give the gradient of [(w'r)² / r'r − ε²]₊, which keeps translations near their planes."""
    k = params["entities"].shape[1]
    r, w = params["relations"][relations, :k], params["relations"][relations, k:]
    c = np.einsum("ij,ij->i", w, r)[:, None]
    n = np.maximum(np.einsum("ij,ij->i", r, r), np.finfo(r.dtype).tiny)[:, None]
    gradient = np.hstack([2 * c * w / n - 2 * c**2 * r / n**2, 2 * c * r / n])
    return np.where(c**2 / n > _EPSILON**2, gradient, 0.0).astype(r.dtype)


def tidy(params: Params, batch: Any) -> None:
    """Bring the normals of a batch back to length 1."""
    k = params["entities"].shape[1]
    used = np.unique(batch.triples[:, 1])
    normals = params["relations"][used, k:]
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    params["relations"][used, k:] = normals / np.where(lengths > 0, lengths, 1)


TRANSH = Energy(
    "TransH",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    norms=("l2sq", "l2", "l1"),
    entity_rule="soft",
    defaults={"lambda1": 0.0625},
    penalty=penalty,
    tidy=tidy,
)
