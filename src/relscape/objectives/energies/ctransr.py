"""CTransR: TransR with several translations a relation, one for each cluster of its pairs.

u = P (e_h − e_t) + r_c, E = N(u) + α |r_c − r|². A training triple uses its pair's cluster, every other
triple the cluster of least energy. A relation's row holds r (k), P (k × d), then r_1 ... r_C; ``fixed`` says
which clusters are in use.
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from relscape.objectives.energies import transr
from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import ALLOCATING, LOOP, norm_of
from relscape.objectives.energies.rows import place
from relscape.objectives.energies.scoring import distances, per_relation
from relscape.objectives.energies.transr import contain, project, pull_projection, total_of
from relscape.protocols import FloatArray, IntArray

__all__ = ["CTRANSR"]

_PAIRS = 50


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Begin as TransR, with one cluster a relation until :func:`prepare` finds more."""
    params = transr.start(sizes, rng)
    r = params["relations"][:, : sizes.k]
    used = np.zeros((sizes.n_relations, sizes.clusters))
    used[:, 0] = 1.0
    return assemble(
        params["entities"], np.hstack([params["relations"], np.tile(r, (1, sizes.clusters))]), fixed=used
    )


def prepare(params: Params, triples: IntArray, rng: np.random.Generator) -> IntArray:
    """Cluster the offsets e_h − e_t of each relation's pairs and give each triple its cluster.

    The entities should be those of a trained TransE. A relation gets one cluster for every 50 pairs or part
    of it, up to the number there is room for; all its translations begin at r.
    """
    from sklearn.cluster import KMeans

    most = params["fixed"].shape[1]
    hints = np.zeros(len(triples), dtype=np.int64)
    params["fixed"][:] = 0.0
    params["fixed"][:, 0] = 1.0
    for l, places in per_relation(triples[:, 1]):
        offsets = params["entities"][triples[places, 0]] - params["entities"][triples[places, 2]]
        count = min(most, -(-len(places) // _PAIRS), len(np.unique(offsets, axis=0)))
        if count > 1:
            seed = int(rng.integers(2**31))
            hints[places] = KMeans(count, n_init=1, random_state=seed).fit_predict(offsets)
            params["fixed"][l, :count] = 1.0
    return hints


@njit(**ALLOCATING)
def _of_cluster(u, R, number, norm, l, at):  # type: ignore[no-untyped-def]
    """Give the energy with the translation that begins at ``at``; u is P (e_h − e_t)."""
    away = 0.0
    for i in range(u.shape[0]):
        away += (R[l, place(at + i)] - R[l, i]) ** 2
    return norm_of(total_of(u, R, l, at, norm), norm) + number * away


@njit(**ALLOCATING)
def _translation(u, d, R, F, number, norm, l, hint):  # type: ignore[no-untyped-def]
    """Say where the translation begins that counts: of the cluster known, or else of least energy."""
    k = u.shape[0]
    begin = k * (1 + d)
    if hint >= 0:
        return begin + hint * k
    least, best = np.inf, begin
    for c in range(F.shape[1]):
        if F[l, c] > 0.0:
            found = _of_cluster(u, R, number, norm, l, begin + c * k)
            if found < least:
                least, best = found, begin + c * k
    return best


@njit(**ALLOCATING)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    d = E.shape[1]
    u = np.empty(R.shape[1] // (1 + d + F.shape[1]), E.dtype)
    project(E, R, h, l, t, u.shape[0], np.empty((1, d), E.dtype), u)
    return _of_cluster(u, R, number, norm, l, _translation(u, d, R, F, number, norm, l, hint))


@njit(**ALLOCATING)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``: TransR's with r_c, and the pull between r_c and r."""
    d = E.shape[1]
    k = R.shape[1] // (1 + d + F.shape[1])
    apart, u = np.empty((1, d), E.dtype), np.empty(k, E.dtype)
    project(E, R, h, l, t, k, apart, u)
    at = _translation(u, d, R, F, number, norm, l, hint)
    pull_projection(scale, u, apart, R, l, k, norm, to, a, b, to_R, at)
    factor = to.dtype.type(2.0 * number * scale)
    for i in range(k):
        pull = factor * (R[l, at + i] - R[l, i])
        to_R[l, at + i] += pull
        to_R[l, i] -= pull


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
    return _score(params, heads, relations, 1.0, settings)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    return _score(params, tails, relations, -1.0, settings)


def _score(
    params: Params, entities: IntArray, relations: IntArray, way: float, settings: Settings
) -> FloatArray:
    """Take the least over the clusters of each relation; all entities are projected once a relation."""
    E, R, F = params["entities"], params["relations"], params["fixed"]
    d = E.shape[1]
    k = R.shape[1] // (1 + d + F.shape[1])
    found = np.full((len(entities), len(E)), np.inf, dtype=E.dtype)
    for l, places in per_relation(relations):
        image = E @ R[l, k : k * (1 + d)].reshape(k, d).T
        for c in np.flatnonzero(F[l] > 0):
            r = R[l, k * (1 + d + c) : k * (2 + d + c)]
            apart = E.dtype.type(settings.number * np.sum((r - R[l, :k]) ** 2))
            queries = image[entities[places]] + E.dtype.type(way) * r
            found[places] = np.minimum(found[places], distances(image, queries, settings.norm) + apart)
    return found


def tidy(params: Params, batch: Any) -> None:
    """Keep translations and projections of a batch within the unit ball."""
    E, R, C = params["entities"], params["relations"], params["fixed"].shape[1]
    d = E.shape[1]
    k = R.shape[1] // (1 + d + C)
    used = np.unique(batch.triples[:, 1])
    for begin in (0, *range(k * (1 + d), R.shape[1], k)):
        r = R[used, begin : begin + k]
        R[used, begin : begin + k] = r / np.maximum(np.linalg.norm(r, axis=1, keepdims=True), 1)
    contain(E, R, batch.triples, batch.others, k)


CTRANSR = Energy(
    "CTransR",
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
    extra="alpha",
    defaults={"alpha": 0.001},
    prepare=prepare,
    tidy=tidy,
)
