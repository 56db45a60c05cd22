"""How likely an answer is to be true, learnt from where held-out facts stood among all candidates."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from relscape.data.triples import KnowledgeGraph
from relscape.models.knowledge_lists import Lists, completions, list_ranks, lowest
from relscape.models.knowledge_scoring import Trained
from relscape.protocols import BoolArray, FloatArray, IntArray

__all__ = ["calibrated", "fact_probabilities", "logistic", "probabilities"]

_MOST = 500  # questions of a kind to calibrate on
_BLOCK = 128  # questions at a time
_NEAR = 64  # candidates at the top of a list, all of which are looked at
_FAR = 64  # candidates further down, drawn to stand for all of them
_STEPS = 100


def calibrated(trained: Trained, graph: KnowledgeGraph, rng: np.random.Generator) -> FloatArray:
    """Fit what turns energies and ranks into probabilities, for heads, relations and tails: 3 × 3 numbers.

    The questions are those that the validation split answers. All candidates that are not known otherwise
    are set against its answers, so that a probability tells how often a candidate of such energy at such a
    place of such a list was true. Energies alone would not do: what is low for one question is high for
    another. Nothing of the test split is looked at: its facts count as false here, like all that is true and
    not known, so probabilities are too low where much is missing. Without a validation split single training
    facts stand for it; then probabilities are too high, for the model has seen the answers.
    """
    lists = Lists(trained, graph, ("train", "valid"))
    return np.stack([_calibrated_part(part, lists, rng) for part in range(3)])


def _calibrated_part(part: int, lists: Lists, rng: np.random.Generator) -> FloatArray:
    questions = _questions(part, lists, rng)
    found = []
    for start in range(0, len(questions), _BLOCK):
        block = questions[start : start + _BLOCK]
        energies, known, loops = lists.of(part, block)
        if len(lists.graph.valid):
            true = completions(part, block, lists.graph.valid, energies.shape[1])
        else:
            true = np.arange(energies.shape[1]) == block[:, [part]]
        listed = (~known & ~loops) | true
        found += [_sampled(*row, rng) for row in zip(energies, listed, true, strict=True)]
    features, true, weights = (np.concatenate(column) for column in zip(*found, strict=True))
    return logistic(features, true, weights)


def _questions(part: int, lists: Lists, rng: np.random.Generator) -> IntArray:
    """Draw questions that the validation split answers, each once; or training facts where it is empty."""
    asked = lists.graph.train
    if len(lists.graph.valid):
        asked = lists.graph.valid.copy()
        asked[:, part] = 0
        asked = np.unique(asked, axis=0)
    if len(asked) > _MOST:
        asked = asked[np.sort(rng.choice(len(asked), _MOST, replace=False))]
    return asked


def _sampled(
    energies: FloatArray, listed: BoolArray, true: BoolArray, rng: np.random.Generator
) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Take the top of one list, all that is true, and some of the rest, each of which counts for several."""
    sure = true.copy()
    sure[lowest(energies, listed, _NEAR)] = True
    rest = np.flatnonzero(listed & ~sure)
    drawn = rest if rest.size <= _FAR else rng.choice(rest, _FAR, replace=False, shuffle=False)
    chosen = np.concatenate([np.flatnonzero(sure), drawn])
    weights = np.ones(chosen.size)
    weights[chosen.size - drawn.size :] = rest.size / max(drawn.size, 1)
    features = np.column_stack([energies[chosen], np.log(list_ranks(energies, listed, chosen))])
    return features.astype(np.float64), true[chosen], weights


def logistic(features: FloatArray, true: BoolArray, weights: FloatArray) -> FloatArray:
    """Fit P(true) = 1 / (1 + exp(a + b₁x₁ + b₂x₂ + ...)) by likelihood, no b below 0; gives (a, b₁, b₂, ...).

    The targets are not quite 1 and 0 (Platt 1999), so that features which tell all apart give a steep curve
    and not an infinite one. A feature that would count the wrong way is left out.
    """
    n_true, n_false = float(weights @ true), float(weights @ ~true)
    targets = np.where(true, (n_true + 1) / (n_true + 2), 1 / (n_false + 2))
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scaled = (features - centre) / np.where(scale > 0, scale, 1.0)
    used = np.flatnonzero(scale > 0)
    while True:
        fitted = _newton(np.column_stack([np.ones(len(scaled)), scaled[:, used]]), targets, weights)
        if not (fitted[1:] < 0).any():
            break
        used = np.delete(used, np.argmin(fitted[1:]))
    slopes = np.zeros(features.shape[1])
    slopes[used] = fitted[1:] / scale[used]
    return np.array([fitted[0] - slopes @ centre, *slopes])


def _newton(design: FloatArray, targets: FloatArray, weights: FloatArray) -> FloatArray:
    """Minimise the loss by Newton's method, halving steps that go too far."""
    found = np.zeros(design.shape[1])
    value = _loss(design @ found, targets, weights)
    for _ in range(_STEPS):
        chances = expit(-(design @ found))
        gradient = design.T @ (weights * (targets - chances))
        curvature = (design * (weights * chances * (1 - chances))[:, None]).T @ design
        step = np.linalg.solve(curvature + 1e-9 * np.eye(len(found)), gradient)
        while (after := _loss(design @ (found - step), targets, weights)) > value:
            step = step / 2
        found, before, value = found - step, value, after
        if before - value <= 1e-12 * max(value, 1.0):
            break
    return found


def _loss(exponents: FloatArray, targets: FloatArray, weights: FloatArray) -> float:
    """Give minus the log-likelihood of P = 1 / (1 + exp(exponent))."""
    losses = targets * np.logaddexp(0, exponents) + (1 - targets) * np.logaddexp(0, -exponents)
    return float(weights @ losses)


def probabilities(energies: FloatArray, ranks: FloatArray | float, fitted: FloatArray) -> FloatArray:
    """Turn energies and ranks of answers to one kind of question into probabilities."""
    exponents = fitted[0] + fitted[1] * np.asarray(energies, dtype=np.float64) + fitted[2] * np.log(ranks)
    return np.asarray(np.exp(-np.logaddexp(0, exponents)))


def fact_probabilities(
    energies: FloatArray,
    head_ranks: FloatArray | float,
    tail_ranks: FloatArray | float,
    calibration: FloatArray,
) -> FloatArray:
    """Give how likely whole triples are: the mean of the chances as an answer about heads and about tails."""
    by_head = probabilities(energies, head_ranks, calibration[0])
    by_tail = probabilities(energies, tail_ranks, calibration[2])
    return np.asarray((by_head + by_tail) / 2)
