"""Dealing triples into train, valid and test without asking about anything that was never seen."""

from __future__ import annotations

import warnings

import numpy as np

from relscape.errors import ParameterError, RelscapeWarning
from relscape.protocols import IntArray

__all__ = ["dealt"]


def dealt(
    triples: IntArray,
    n_entities: int,
    n_relations: int,
    valid: float,
    test: float,
    random_state: int | np.random.Generator | None,
    inverse_safe: bool,
) -> tuple[IntArray, IntArray, IntArray]:
    """Choose the rows of train, valid and test, each in ascending order.

    Groups of triples are visited in random order. One is held out when every entity and relation in it
    still occurs elsewhere in train, and while it does not exceed what is wanted. A group is one triple, or
    with ``inverse_safe`` all triples between two entities.
    """
    n = len(triples)
    wanted = [_amount(given, name, n) for given, name in ((valid, "valid"), (test, "test"))]
    if sum(wanted) >= n:
        raise ParameterError(
            f"valid and test would take {sum(wanted)} of {n} triples; leave at least one for training."
        )
    groups = _groups(triples, n_entities, inverse_safe)
    rng = np.random.default_rng(random_state)
    held_out = _held_out(triples, n_entities, n_relations, groups, sum(wanted), rng)
    count = sum(len(group) for group in held_out)
    if count < sum(wanted):
        warnings.warn(
            f"{sum(wanted):,} triples were to be held out, but only {count:,} can be so that every entity "
            "and relation of valid and test still occurs in train; they are shared out in proportion.",
            RelscapeWarning,
            stacklevel=3,
        )
        wanted = [round(amount * count / sum(wanted)) for amount in wanted]
    parts: tuple[list[IntArray], list[IntArray]] = ([], [])
    room = wanted[0]
    for group in held_out:
        into_valid = len(group) <= room
        room -= len(group) if into_valid else 0
        parts[0 if into_valid else 1].append(group)
    rows = [np.sort(np.concatenate([np.empty(0, dtype=np.int64), *part])) for part in parts]
    taken = np.zeros(n, dtype=bool)
    taken[np.concatenate(rows)] = True
    return np.flatnonzero(~taken), rows[0], rows[1]


def _amount(given: float, name: str, n: int) -> int:
    """Turn a share (below 1) or a number of triples into a number."""
    if not given >= 0 or (given >= 1 and not isinstance(given, int | np.integer)):
        raise ParameterError(
            f"{name} is {given}; expected a share of the triples below 1, or a whole number."
        )
    return round(given * n) if given < 1 else int(given)


def _groups(triples: IntArray, n_entities: int, inverse_safe: bool) -> list[IntArray]:
    """List the rows that must stay together."""
    if not inverse_safe:
        return list(np.arange(len(triples)).reshape(-1, 1))
    ends = triples[:, [0, 2]]
    pairs = ends.min(axis=1) * n_entities + ends.max(axis=1)
    order = np.argsort(pairs, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(pairs[order])) + 1)


def _held_out(
    triples: IntArray,
    n_entities: int,
    n_relations: int,
    groups: list[IntArray],
    wanted: int,
    rng: np.random.Generator,
) -> list[IntArray]:
    """Take groups out of train in random order, while every name in them stays known there."""
    numbered = triples + np.array([0, n_entities, 0])
    left = np.bincount(numbered.ravel(), minlength=n_entities + n_relations).tolist()
    names = numbered.tolist()
    chosen: list[IntArray] = []
    room = wanted
    for k in rng.permutation(len(groups)):
        if room == 0:
            break
        group = groups[k]
        if len(group) > room:
            continue
        inside = [name for row in group for name in names[row]]
        for name in inside:
            left[name] -= 1
        if all(left[name] for name in inside):
            chosen.append(group)
            room -= len(group)
        else:
            for name in inside:
                left[name] += 1
    return chosen
