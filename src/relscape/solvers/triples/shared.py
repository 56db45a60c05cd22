"""Gradients of losses over corruptions that a whole batch shares, by blocked matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from relscape.protocols import FloatArray, IntArray
from relscape.solvers.triples.batches import Batch, Params, Sums, TrainableEnergy
from relscape.solvers.triples.losses import self_adversarial, softmax
from relscape.solvers.triples.options import Options
from relscape.solvers.triples.sampling import Sampler, hide_known, shared_entities

__all__ = ["shared_gradient"]

_BLOCK = 2**21  # energies at a time


def shared_gradient(
    energy: TrainableEnergy,
    params: Params,
    batch: Batch,
    source: Sampler,
    sums: Sums,
    options: Options,
    streams: IntArray,
) -> tuple[float, float, int]:
    """Add up the gradient of a batch; give loss, corruptions below their true triple, and all questions.

    Tails are asked for and, unless corruptions are of tails only, heads as well, each with corruptions of
    their own; with two questions a triple each counts half.
    """
    sides = (1,) if (source.head_share == 0.0).all() else (0, 1)
    settings = energy.settings(options.norm, options.number)
    drawn = {side: shared_entities(options.negatives, source.n_entities, streams, 1) for side in sides}
    rows = max(1, _BLOCK // options.negatives)
    loss, below = 0.0, 0.0
    for begin in range(0, len(batch.triples), rows):
        triples, hints = batch.triples[begin : begin + rows], batch.hints[begin : begin + rows]
        weights = batch.weights[begin : begin + rows] / len(sides)
        true = energy.energies(params, triples, settings, hints)
        own = np.zeros(len(triples))
        for side in sides:
            found, to_true, low = _question(
                energy, params, triples, drawn[side], side, source, true, weights, sums, options, settings
            )
            loss += found
            below += low / len(sides)
            own += to_true
        energy.pulls(energy.model(params, settings), triples, hints, own, sums)
    return loss, below, len(batch.triples)


def _question(
    energy: TrainableEnergy,
    params: Params,
    triples: IntArray,
    candidates: IntArray,
    side: int,
    source: Sampler,
    true: FloatArray,
    weights: FloatArray,
    sums: Sums,
    options: Options,
    settings: Any,
) -> tuple[float, FloatArray, float]:
    """Ask for heads (0) or tails (1); give loss, weights of the true energies, and the share below."""
    E, R = params["entities"], params["relations"]
    known = triples[:, 2] if side == 0 else triples[:, 0]
    many = energy.many_heads if side == 0 else energy.many_tails
    found, pull = many(E[known], R[triples[:, 1]], E[candidates], settings)
    false = found.copy()
    hide_known(source, triples, candidates, side, false)
    if options.loss == "softmax":
        losses, to_true, to_false = softmax(true, false)
    else:
        losses, to_true, to_false = self_adversarial(true, false, options.margin, options.temperature)
    to_false *= weights[:, None].astype(to_false.dtype)
    for target, marks, places, gradient in zip(
        (sums.entities, sums.relations, sums.entities),
        (sums.entity_marks, sums.relation_marks, sums.entity_marks),
        (known, triples[:, 1], candidates),
        pull(to_false),
        strict=True,
    ):
        _scatter(target, marks, places, gradient)
    low = np.count_nonzero(false < true[:, None].astype(false.dtype)) / len(candidates)
    return float(weights @ losses), weights * to_true, low


@njit(cache=True, nogil=True)
def _scatter(target, marks, places, rows):  # type: ignore[no-untyped-def]
    """Add rows to places that may occur several times."""
    for i in range(places.shape[0]):
        x = places[i]
        marks[x] = 2
        for j in range(rows.shape[1]):
            target[x, j] += rows[i, j]
