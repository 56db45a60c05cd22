"""Unstructured: linked entities lie together whatever the relation, E = N(e_h − e_t)."""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import HELPER, L1, LOOP, norm_of, signed, slope
from relscape.objectives.energies.scoring import distances
from relscape.objectives.energies.starting import unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["UNSTRUCTURED"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities of length 1; relations have no numbers."""
    return assemble(unit_rows(sizes.n_entities, sizes.k, rng), np.zeros((sizes.n_relations, 0)))


@njit(**HELPER)
def _total(E, h, t, norm):  # type: ignore[no-untyped-def]
    """Sum the absolute values (l1) or the squares of e_h − e_t."""
    found = E.dtype.type(0.0)
    for i in range(E.shape[1]):
        u = E[h, i] - E[t, i]
        found += abs(u) if len(norm) == L1 else u * u
    return np.float64(found)


@njit(**HELPER)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    return norm_of(_total(E, h, t, norm), norm)


@njit(**HELPER)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``: s for the head, −s for the tail."""
    if len(norm) != L1:
        scale *= slope(_total(E, h, t, norm), norm)
    factor = to.dtype.type(scale)
    for i in range(E.shape[1]):
        u = E[h, i] - E[t, i]
        s = signed(u, factor) if len(norm) == L1 else factor * u
        to[a, i] += s
        to[b, i] -= s


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
    return distances(params["entities"], params["entities"][heads], settings.norm)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    return distances(params["entities"], params["entities"][tails], settings.norm)


UNSTRUCTURED = Energy(
    "Unstructured",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    norms=("l2", "l1", "l2sq"),
)
