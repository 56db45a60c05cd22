"""Corruptions: sides, shares, filters, types, and what happens where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from relscape.errors import ParameterError
from relscape.solvers.triples.sampling import (
    corrupt,
    hide_known,
    new_streams,
    sampler,
    shared_entities,
    shuffled,
)

RNG = np.random.default_rng(0)
TRIPLES = np.unique(
    np.column_stack([RNG.integers(0, 30, 400), RNG.integers(0, 3, 400), RNG.integers(0, 30, 400)]), axis=0
)


def draw(
    triples: np.ndarray, n_others: int = 2, n: tuple[int, int] = (30, 3), seed: int = 0, **options: object
):
    source = sampler(triples, *n, **options)
    return corrupt(source, triples, n_others, new_streams(2, seed), 1)


def replaced(triples: np.ndarray, others: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Write out all corrupted triples."""
    found = np.repeat(triples, others.shape[1], axis=0)
    flat, side = others.ravel(), sides.ravel()
    found[side == 0, 0] = flat[side == 0]
    found[side == 1, 2] = flat[side == 1]
    return found[side >= 0]


@pytest.mark.parametrize("sides", ["both", "uniform", "bernoulli", "tail"])
@pytest.mark.parametrize("type_aware", [False, True])
def test_filtered_corruptions_are_never_training_triples(sides: str, type_aware: bool) -> None:
    others, which = draw(TRIPLES, 4, sides=sides, type_aware=type_aware)
    true = {tuple(triple) for triple in TRIPLES}
    assert not any(tuple(triple) in true for triple in replaced(TRIPLES, others, which))


def test_unfiltered_corruptions_differ_in_one_entity_and_are_even() -> None:
    others, sides = draw(TRIPLES, 200, filter_negatives=False)
    found = replaced(TRIPLES, others, sides)
    assert ((found != np.repeat(TRIPLES, 200, axis=0)).sum(axis=1) == 1).all()
    counts = np.bincount(others.ravel(), minlength=30)
    assert np.abs(counts / counts.mean() - 1).max() < 0.1


def test_sides_come_in_turn_by_a_coin_or_by_cardinality() -> None:
    assert (draw(TRIPLES, 4)[1] == [0, 1, 0, 1]).all()
    for odd in (1, 3):  # in turn from triple to triple, so that tails are never left out
        sides = draw(TRIPLES, odd)[1].ravel()
        assert (sides == np.arange(sides.size) % 2).all()
    assert draw(TRIPLES, 100, sides="uniform")[1].mean() == pytest.approx(0.5, abs=0.02)
    assert (draw(TRIPLES, 3, sides="tail")[1] == 1).all()
    fan = np.array([[0, 0, t] for t in range(1, 10)] + [[10, 1, 11]])  # nine tails of one head: tph 9, hpt 1
    sides = draw(fan, 2000, sides="bernoulli")[1]
    assert (sides[:9] == 0).mean() == pytest.approx(0.9, abs=0.01)
    assert (sides[9] == 0).mean() == pytest.approx(0.5, abs=0.05)


def test_types_are_those_seen_with_the_relation() -> None:
    triples = np.array([[h, 0, 10 + t] for h in range(5) for t in range(5) if h != t])
    others, sides = draw(triples, 50, type_aware=True, filter_negatives=False)
    assert set(others[sides == 0]) == set(range(5))
    assert set(others[sides == 1]) == set(range(10, 15))


def test_a_side_without_any_corruption_is_skipped() -> None:
    full = np.array([[0, 0, t] for t in range(4)])  # all tails of 0 are known; heads are free
    others, sides = draw(full, 2, n=(4, 1))
    assert (sides[:, 0] == 0).all()
    assert (sides[:, 1] == -1).all()
    alone = np.array([[0, 0, 0]])
    assert (draw(alone, 2, n=(1, 1))[1] == -1).all()
    nearly = np.array([[0, 0, t] for t in range(99)])
    others, sides = draw(nearly, 2, n=(100, 1))
    assert (others[:, 1] == 99).all()
    assert (sides[:, 1] == 1).all()


def test_streams_repeat_and_differ() -> None:
    first, again, other = (draw(TRIPLES, 2, seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    streams = new_streams(2, 5)
    order = shuffled(1000, streams, 0)
    assert sorted(order) == list(range(1000))
    assert not np.array_equal(order, shuffled(1000, streams, 0))
    assert np.array_equal(order, shuffled(1000, new_streams(2, 5), 0))
    counts = np.bincount(shared_entities(100_000, 10, streams, 1), minlength=10)
    assert np.abs(counts / 10_000 - 1).max() < 0.05


@pytest.mark.parametrize("side", [0, 1])
def test_shared_candidates_that_are_true_are_hidden(side: int) -> None:
    energies = np.zeros((len(TRIPLES), 30), dtype=np.float32)
    hide_known(sampler(TRIPLES, 30, 3), TRIPLES, np.arange(30), side, energies)
    true = {tuple(triple) for triple in TRIPLES}
    expected = [
        [((x, l, t) if side == 0 else (h, l, x)) in true for x in range(30)]
        for h, l, t in TRIPLES  # noqa: E741
    ]
    assert np.array_equal(np.isinf(energies), expected)


def test_bad_settings_are_named() -> None:
    with pytest.raises(ParameterError, match="sides='left'"):
        sampler(TRIPLES, 30, 3, sides="left")
    with pytest.raises(ParameterError, match="64 bits"):
        sampler(TRIPLES, 2**32, 1)
