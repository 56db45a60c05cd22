"""The loops that every energy compiles with its own value and gradient.

An energy looks at one triple of head, relation and tail numbers at a time, and gives its value or adds a
multiple of its gradient::

    value(E, R, S, F, number, norm, h, l, t, hint) -> float
    add_gradient(scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S)

``E, R, S, F`` are the entities, relations, shared and fixed rows of a :class:`Model`, ``number`` and
``norm`` its further number and norm. The gradient of the head goes to ``to[a]``, of the tail to ``to[b]``,
of the relation to ``to_R[l]`` and of what is shared to ``to_S[0]``. ``hint`` is what is known about a
training triple beforehand (−1 otherwise). Arrays are handed over one by one and rows named by their numbers,
for every view and every bundle would count references that all threads share; a norm is the length of a
tuple, so that it is known when a loop is compiled. A compiled function that receives
functions as arguments cannot be kept on disk between runs; so each energy's file has three short functions
of its own that call the bodies here with the energy's own two functions. Whatever they call is compiled into
them (``forceinline``): a call would be answered by one copy of the code in the process that compiled it and
by another, optimised once more, in those that read it from disk, with sums in another order.
"""

# ruff: noqa: E741 (l is the link, as in the formulas)
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from relscape.objectives.energies.fetching import fetch
from relscape.objectives.energies.norms import HELPER
from relscape.protocols import FloatArray

__all__ = [
    "BALL",
    "DECAY",
    "FREE",
    "SOFT",
    "UNIT",
    "Model",
    "apply_rows",
    "margin_sweep",
    "one_by_one",
    "pulls_of",
    "values_of",
]

FREE, UNIT, SOFT, BALL, DECAY = 0, 1, 2, 3, 4
_TINY = 1e-10
_AHEAD = 2  # how many triples ahead rows are asked for
_MET, _MOVED = 1, 2  # marks of rows, one bit each: met in this batch; moved, or to be moved


class Model(NamedTuple):
    """What an energy reads: its rows of numbers (see :mod:`relscape.objectives.energies.base`).

    ``number`` is one further setting, such as the ξ of TransPES; ``norm`` is a tuple whose length says which.
    """

    entities: FloatArray
    relations: FloatArray
    shared: FloatArray
    fixed: FloatArray
    number: float
    norm: tuple[int, ...]


@njit(**HELPER)
def square_of(rows, x):  # type: ignore[no-untyped-def]
    """Give the squared length of a row, in double precision."""
    total = 0.0
    for i in range(rows.shape[1]):
        total += np.float64(rows[x, i]) * np.float64(rows[x, i])
    return total


@njit(**HELPER)
def move_row(rows, x, gradients, g, squares, rate, clip, adagrad):  # type: ignore[no-untyped-def]
    """Step downhill along a gradient no longer than ``clip`` (if positive), then clear the gradient."""
    factor = 1.0
    if clip > 0.0:
        length = np.sqrt(square_of(gradients, g))
        if length > clip:
            factor = clip / length
    if adagrad:
        stride, part, tiny = rows.dtype.type(rate), rows.dtype.type(factor), rows.dtype.type(_TINY)
        for i in range(rows.shape[1]):
            gradient = part * gradients[g, i]
            squares[x, i] += gradient * gradient
            rows[x, i] -= stride * gradient / (np.sqrt(squares[x, i]) + tiny)
            gradients[g, i] = 0.0
    else:
        stride = rows.dtype.type(rate * factor)
        for i in range(rows.shape[1]):
            rows[x, i] -= stride * gradients[g, i]
            gradients[g, i] = 0.0


@njit(**HELPER)
def tend_row(rows, x, rule, weight, rate):  # type: ignore[no-untyped-def]
    """Keep a row to its rule: length 1, length at most 1, or a step down its penalty."""
    factor = 1.0 - 2.0 * rate * weight
    if rule == FREE:
        return
    if rule != DECAY:
        square = square_of(rows, x)
        if rule == UNIT:
            factor = 1.0 / np.sqrt(square) if square > 0.0 else 1.0
        elif square <= 1.0:
            return
        elif rule == BALL:
            factor = 1.0 / np.sqrt(square)
    scale = rows.dtype.type(factor)
    for i in range(rows.shape[1]):
        rows[x, i] *= scale


@njit(**HELPER)
def _greet(rows, marks, x, rule, weight, rate):  # type: ignore[no-untyped-def]
    """Mark a row as met; at its first meeting in a batch take the step down its penalty.

    Whether it is the first is a question no processor can guess, so it is asked only where it matters.
    """
    if rule in (SOFT, DECAY):
        if marks[x] == 0:
            marks[x] = _MET
            tend_row(rows, x, rule, weight, rate)
    else:
        marks[x] |= _MET


@njit(**HELPER)
def _merge(model, sums, triples, begin, end, step):  # type: ignore[no-untyped-def]
    """Move those relations of some triples that have a gradient, and what is shared by all triples."""
    for i in range(begin, end):
        l = triples[i, 1]
        if sums.relation_marks[l] >= _MOVED:
            sums.relation_marks[l] = _MET
            move_row(
                model.relations,
                l,
                sums.relations,
                l,
                step.relation_squares,
                step.rate,
                step.clip,
                step.adagrad,
            )
    if model.shared.shape[1]:
        move_row(model.shared, 0, sums.shared, 0, step.shared_squares, step.rate, 0.0, step.adagrad)


@njit(inline="always")
def one_by_one(value, E, R, S, F, number, norm, triples, hints, others, sides, i, found):  # type: ignore[no-untyped-def]
    """Write the energies of triple i's corruptions to ``found``, and its own behind them."""
    h, l, t = triples[i, 0], triples[i, 1], triples[i, 2]
    n_others = others.shape[1]
    for j in range(n_others):
        heads, x = sides[i, j] == 0, others[i, j]
        found[j] = value(E, R, S, F, number, norm, x if heads else h, l, t if heads else x, -1)
    found[n_others] = value(E, R, S, F, number, norm, h, l, t, hints[i])


@njit(inline="always")
def margin_sweep(value, add_gradient, model, batch, margin, sums, step, energies=one_by_one):  # type: ignore[no-untyped-def]
    """Walk over a batch's triples and their corruptions; give loss, active pairs and all pairs.

    Every pair adds the hinge [margin + E(true) − E(corrupted)]₊ times the triple's weight. Without a window
    the gradient is that of the parameters as they stand, summed; with one, rows move along the way. The
    bundles ``batch``, ``sums`` and ``step`` are explained in :mod:`relscape.solvers.triples.batches`. An
    energy that can look at a triple and its corruptions together brings its own ``energies``.
    """
    triples, hints, weights, others, sides = batch
    n, n_others = others.shape
    entity_marks, relation_marks, squares = sums.entity_marks, sums.relation_marks, step.entity_squares
    E, R, S, F, number, norm = model
    to_R, to_S = sums.relations, sums.shared
    window, rate, clip, adagrad = step.window, step.rate, step.clip, step.adagrad
    direct = window > 0
    rule, weight1 = step.entity_rule if direct else FREE, step.entity_weight
    weight2 = step.relation_weight
    relation_rule = DECAY if direct and weight2 > 0.0 else FREE
    greets = not direct or rule in (SOFT, DECAY)
    own, found = sums.own, sums.found
    to = own if direct else sums.entities
    loss, n_active, n_pairs, since = 0.0, 0, 0, 0
    for i in range(n):
        h, l, t = triples[i, 0], triples[i, 1], triples[i, 2]
        weight, hint = weights[i], hints[i]
        if i + _AHEAD < n:
            fetch(E, triples[i + _AHEAD, 0])
            fetch(E, triples[i + _AHEAD, 2])
            for j in range(n_others):
                fetch(E, others[i + _AHEAD, j])
        if greets:
            _greet(E, entity_marks, h, rule, weight1, rate)
            _greet(E, entity_marks, t, rule, weight1, rate)
            for j in range(n_others):
                if sides[i, j] >= 0:
                    _greet(E, entity_marks, others[i, j], rule, weight1, rate)
        _greet(R, relation_marks, l, relation_rule, weight2, rate)
        energies(value, E, R, S, F, number, norm, triples, hints, others, sides, i, found)
        threshold = margin + found[n_others]
        count = 0
        for j in range(n_others):
            bracket = threshold - found[j]
            found[j] = 0.0
            if sides[i, j] >= 0:
                n_pairs += 1
                if bracket > 0.0:
                    found[j] = 1.0
                    if direct and adagrad:
                        fetch(squares, others[i, j])
                    loss += weight * bracket
                    count += 1
        if count > 0:
            n_active += count
            if direct and adagrad:
                fetch(squares, h)
                fetch(squares, t)
            entity_marks[h] = _MOVED
            entity_marks[t] = _MOVED
            relation_marks[l] = _MOVED
            a, b = (0, 1) if direct else (h, t)
            add_gradient(weight * count, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S)
            for j in range(n_others):
                if found[j] > 0.0:
                    x = others[i, j]
                    entity_marks[x] = _MOVED
                    c = 2 if direct else x
                    if sides[i, j] == 0:
                        add_gradient(-weight, E, R, S, F, number, norm, x, l, t, -1, to, c, b, to_R, to_S)
                    else:
                        add_gradient(-weight, E, R, S, F, number, norm, h, l, x, -1, to, a, c, to_R, to_S)
                    if direct:
                        move_row(E, x, own, 2, squares, rate, clip, adagrad)
            if direct:
                move_row(E, h, own, 0, squares, rate, clip, adagrad)
                move_row(E, t, own, 1, squares, rate, clip, adagrad)
        since += 1
        if direct and (since == window or i == n - 1):
            _merge(model, sums, triples, i + 1 - since, i + 1, step)
            since = 0
    if direct and step.shared_weight > 0.0:
        tend_row(model.shared, 0, DECAY, step.shared_weight, step.rate)
    if rule in (UNIT, BALL):
        for x in range(entity_marks.shape[0]):
            if entity_marks[x] >= _MOVED:
                tend_row(E, x, rule, weight1, rate)
    return loss, n_active, n_pairs


@njit(inline="always")
def values_of(value, model, triples, hints):  # type: ignore[no-untyped-def]
    """Give the energies of triples, one by one."""
    E, R, S, F, number, norm = model
    found = np.empty(triples.shape[0])
    for i in range(triples.shape[0]):
        found[i] = value(E, R, S, F, number, norm, triples[i, 0], triples[i, 1], triples[i, 2], hints[i])
    return found


@njit(inline="always")
def pulls_of(add_gradient, model, triples, hints, weights, sums):  # type: ignore[no-untyped-def]
    """Add up the gradients of triples' energies, each times its weight."""
    E, R, S, F, number, norm = model
    to, to_R, to_S = sums.entities, sums.relations, sums.shared
    for i in range(triples.shape[0]):
        h, l, t = triples[i, 0], triples[i, 1], triples[i, 2]
        sums.entity_marks[h] = _MOVED
        sums.entity_marks[t] = _MOVED
        sums.relation_marks[l] = _MOVED
        add_gradient(weights[i], E, R, S, F, number, norm, h, l, t, hints[i], to, h, t, to_R, to_S)


@njit(cache=True, nogil=True, error_model="numpy")
def apply_rows(rows, sums, marks, squares, how):  # type: ignore[no-untyped-def]
    """Move the rows met in a batch, and clear their sums and marks.

    A row's gradient is the sum over the parts of a batch (parts × rows × numbers) and its penalty's; hard
    rules apply after the step. ``how`` is (rate, clip, adagrad, rule, weight).
    """
    rate, clip, adagrad, rule, weight = how
    for x in range(rows.shape[0]):
        mark = 0
        for part in range(marks.shape[0]):
            mark = max(mark, marks[part, x])
            marks[part, x] = 0
        pulled = mark > 0 and (rule == DECAY or (rule == SOFT and square_of(rows, x) > 1.0))
        if mark < _MOVED and not pulled:
            continue
        for part in range(1, sums.shape[0]):
            for i in range(rows.shape[1]):
                sums[0, x, i] += sums[part, x, i]
                sums[part, x, i] = 0.0
        if pulled:
            factor = rows.dtype.type(2.0 * weight)
            for i in range(rows.shape[1]):
                sums[0, x, i] += factor * rows[x, i]
        move_row(rows, x, sums[0], x, squares, rate, clip, adagrad)
        if rule in (UNIT, BALL):
            tend_row(rows, x, rule, weight, rate)
