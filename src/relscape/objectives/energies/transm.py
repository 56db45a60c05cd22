"""TransM: TransE with a weight for every relation, E = w_l N(e_h + r − e_t).

The weight, 1 / ln(hpt + tph), is counted from the training triples and not learnt. Within one question all
candidates share it: it acts during training only.
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies import transe
from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import HELPER, LOOP, norm_of
from relscape.objectives.energies.starting import unit_rows
from relscape.objectives.energies.transe import add_gradient as translate
from relscape.objectives.energies.transe import total
from relscape.protocols import FloatArray, IntArray

__all__ = ["TRANSM"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities and relations of length 1; all weights are 1 until :func:`prepare` counts them."""
    entities = unit_rows(sizes.n_entities, sizes.k, rng)
    relations = unit_rows(sizes.n_relations, sizes.k, rng)
    return assemble(entities, relations, fixed=np.ones((sizes.n_relations, 1)))


def prepare(params: Params, triples: IntArray, rng: np.random.Generator) -> None:
    """Weigh relations by how many heads a tail and how many tails a head has; one without triples keeps 1."""
    for relation in np.unique(triples[:, 1]):
        mine = triples[triples[:, 1] == relation]
        tails_per_head = len(mine) / np.unique(mine[:, 0]).size
        heads_per_tail = len(mine) / np.unique(mine[:, 2]).size
        params["fixed"][relation, 0] = 1.0 / np.log(heads_per_tail + tails_per_head)


@njit(**HELPER)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    return F[l, 0] * norm_of(total(E, R, h, l, t, norm), norm)


@njit(**HELPER)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add TransE's gradient times the weight and ``scale``."""
    translate(scale * F[l, 0], E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S)


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
    weights = params["fixed"][relations].astype(params["entities"].dtype)
    return np.asarray(weights * transe.tails_of(params, heads, relations, settings))


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    weights = params["fixed"][relations].astype(params["entities"].dtype)
    return np.asarray(weights * transe.heads_of(params, relations, tails, settings))


TRANSM = Energy(
    "TransM",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    norms=("l1", "l2", "l2sq"),
    prepare=prepare,
)
