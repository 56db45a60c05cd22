"""From energies to probabilities: how likely is a triple of this energy to be true rather than made up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from relscape.data.fact_numbers import contained
from relscape.data.triples import KnowledgeGraph
from relscape.protocols import BoolArray, FloatArray, IntArray

__all__ = ["calibrated", "made_up", "platt", "probabilities"]

_MOST = 20_000  # true triples to calibrate on
_REDRAWS = 10
_STEPS = 100


def calibrated(
    energies: Callable[[IntArray], FloatArray], graph: KnowledgeGraph, rng: np.random.Generator
) -> FloatArray:
    """Fit the two numbers that turn energies into probabilities.

    True triples, of the validation split where there is one, are set against as many corrupted ones; so a
    probability tells how likely a triple is where true and corrupted ones are equally frequent.
    """
    true = graph.valid if len(graph.valid) else graph.train
    if len(true) > _MOST:
        true = true[np.sort(rng.choice(len(true), _MOST, replace=False))]
    false = made_up(true, graph, rng)
    values = np.concatenate([energies(true), energies(false)]) if len(false) else energies(true)
    return platt(np.asarray(values, dtype=np.float64), np.arange(len(values)) < len(true))


def made_up(triples: IntArray, graph: KnowledgeGraph, rng: np.random.Generator) -> IntArray:
    """Replace the head or the tail of every triple at random so that no known triple comes out.

    A triple for which ten draws do not succeed is left out.
    """
    known = np.sort(graph.keys(graph.triples()))
    found = triples.copy()
    open_ = np.arange(len(triples))
    for _ in range(_REDRAWS):
        sides = np.where(rng.random(open_.size) < 0.5, 0, 2)
        found[open_] = triples[open_]
        found[open_, sides] = rng.integers(graph.n_entities, size=open_.size)
        open_ = open_[contained(graph.keys(found[open_]), known)]
    return np.delete(found, open_, axis=0)


def platt(energies: FloatArray, true: BoolArray) -> FloatArray:
    """Fit P(true) = 1 / (1 + exp(a + bE)) by likelihood, b at least 0; gives (a, b).

    The targets are not quite 1 and 0 (Platt 1999), so that energies which tell all triples apart give a
    steep curve and not an infinite one.
    """
    n_true = int(np.sum(true))
    high, low = (n_true + 1) / (n_true + 2), 1 / (len(true) - n_true + 2)
    targets = np.where(true, high, low)
    centre, scale = float(energies.mean()), float(energies.std()) or 1.0
    design = np.column_stack([np.ones_like(energies), (energies - centre) / scale])
    found = np.zeros(2)
    value = _loss(design @ found, targets)
    for _ in range(_STEPS):
        chances = expit(-(design @ found))
        gradient = design.T @ (targets - chances)
        curvature = (design * (chances * (1 - chances))[:, None]).T @ design + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        while (after := _loss(design @ (found - step), targets)) > value:
            step = step / 2
        found, before, value = found - step, value, after
        if before - value <= 1e-12 * max(value, 1.0):
            break
    slope = found[1] / scale
    if slope < 0:  # no better than chance: all triples are as likely as their share
        return np.array([np.log((1 - targets.mean()) / targets.mean()), 0.0])
    return np.array([found[0] - slope * centre, slope])


def _loss(exponents: FloatArray, targets: FloatArray) -> float:
    """Give minus the log-likelihood of P = 1 / (1 + exp(exponent))."""
    return float(np.sum(targets * np.logaddexp(0, exponents) + (1 - targets) * np.logaddexp(0, -exponents)))


def probabilities(energies: FloatArray, calibration: FloatArray) -> FloatArray:
    """Turn energies into probabilities."""
    exponents = calibration[0] + calibration[1] * np.asarray(energies, dtype=np.float64)
    return np.asarray(np.exp(-np.logaddexp(0, exponents)))
