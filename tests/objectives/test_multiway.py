"""Counts of K things at once, against sums over all tuples written out."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numba import get_num_threads, set_num_threads
from numpy.testing import assert_allclose, assert_array_equal

from relscape.errors import DataError, ParameterError
from relscape.matrix.operators import LocalRelation
from relscape.objectives import multiway
from relscape.objectives.cooccurrence import Table, pair_likelihood
from relscape.objectives.multiway import TupleTable, tuple_likelihood


def table_of(counts, **options):
    indices = np.argwhere(counts > 0)
    return TupleTable.from_counts(indices, counts[tuple(indices.T)], counts.shape, **options)


def counts_of(rng, *shape):
    """Sparse counts in which everything occurs at least once."""
    counts = rng.poisson(0.7, size=shape).astype(float)
    for i in range(max(shape)):
        counts[tuple(i % n for n in shape)] += 1
    return counts


def average_square(points):
    pairs = [((a - b) ** 2).sum() for a, b in combinations(points, 2)]
    return sum(pairs) / len(pairs)


def slow_likelihood(counts, model, points):
    """The definition, tuple by tuple."""
    p = counts / counts.sum()
    marginals = [p.sum(axis=tuple(u for u in range(p.ndim) if u != v)) for v in range(p.ndim)]
    weights = np.empty(p.shape)
    for at in product(*map(range, p.shape)):
        factors = [m[i] for letter, m, i in zip(model, marginals, at, strict=True) if letter == "M"]
        weights[at] = np.prod(factors) * np.exp(
            -average_square([e[i] for e, i in zip(points, at, strict=True)])
        )
    return (p[p > 0] * np.log(weights[p > 0] / weights.sum())).sum()


@pytest.mark.parametrize(
    ("shape", "model"),
    [((4, 3), "MU"), ((4, 3, 5), "MMM"), ((6, 3, 2), "MUM"), ((3, 4, 2), "UUU"), ((3, 2, 4, 3), "MMUM")],
)
@pytest.mark.parametrize("q", [1, 2, 3])
def test_likelihood_is_the_sum_over_all_tuples(rng, shape, model, q):
    counts = counts_of(rng, *shape)
    points = [rng.normal(size=(n, q)) for n in shape]
    value, _ = tuple_likelihood(table_of(counts), model, points)
    assert_allclose(value, slow_likelihood(counts, model, points), rtol=1e-12)


@pytest.mark.parametrize(("shape", "model"), [((4, 3, 5), "MUM"), ((3, 2, 4, 3), "MMUM")])
def test_gradient_is_that_of_finite_differences(rng, shape, model):
    table = table_of(counts_of(rng, *shape))
    points = [rng.normal(size=(n, 2)) for n in shape]
    _, gradients = tuple_likelihood(table, model, points)
    for v, gradient in enumerate(gradients):
        for at in np.ndindex(gradient.shape):
            sides = []
            for step in (1e-5, -1e-5):
                moved = [p.copy() for p in points]
                moved[v][at] += step
                sides.append(tuple_likelihood(table, model, moved)[0])
            assert_allclose(gradient[at], (sides[0] - sides[1]) / 2e-5, atol=1e-8)


def test_gradients_sum_to_nothing_and_motions_do_not_matter(rng):
    table = table_of(counts_of(rng, 5, 4, 3))
    points = [rng.normal(size=(n, 2)) for n in (5, 4, 3)]
    value, gradients = tuple_likelihood(table, "MMM", points)
    assert_allclose(sum(g.sum(axis=0) for g in gradients), 0, atol=1e-13)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned, turned_gradients = tuple_likelihood(table, "MMM", [p @ turn + [1e3, -2e3] for p in points])
    assert_allclose(turned, value, rtol=1e-10)
    for plain, other in zip(gradients, turned_gradients, strict=True):
        assert_allclose(other, plain @ turn, atol=1e-10)


@pytest.mark.parametrize("model", ["MM", "MU", "UM", "UU"])
def test_two_variables_are_the_joint_models_of_code(rng, model):
    """Invariant J12."""
    counts = counts_of(rng, 7, 5)
    left, right = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))
    pair = pair_likelihood(Table(LocalRelation(counts)), model, left, right)
    value, gradients = tuple_likelihood(table_of(counts), model, [left, right])
    assert_allclose(value, pair[0], rtol=1e-13)
    assert_allclose(gradients[0], pair[1], atol=1e-14)
    assert_allclose(gradients[1], pair[2], atol=1e-14)


def test_blocks_and_threads_do_not_matter(rng, monkeypatch):
    table = table_of(counts_of(rng, 6, 5, 4))
    points = [rng.normal(size=(n, 2)) for n in (6, 5, 4)]
    value, gradients = tuple_likelihood(table, "MMM", points)
    threads = get_num_threads()
    set_num_threads(1)
    alone = tuple_likelihood(table, "MMM", points)
    set_num_threads(threads)
    assert alone[0] == value
    for one, other in zip(alone[1], gradients, strict=True):
        assert_array_equal(one, other)
    monkeypatch.setattr(multiway, "_BLOCK", 7)
    small, small_gradients = tuple_likelihood(table, "MMM", points)
    assert_allclose(small, value, rtol=1e-13)
    for one, other in zip(small_gradients, gradients, strict=True):
        assert_allclose(one, other, atol=1e-14)


def test_far_apart_keeps_its_digits(rng):
    """Clouds so far apart that exp of no tuple's distance is a number."""
    counts = counts_of(rng, 4, 3, 3)
    points = [rng.normal(size=(n, 2)) for n in (4, 3, 3)]
    far = [points[0], points[1], points[2] + 60.0]
    value, gradients = tuple_likelihood(table_of(counts), "MMM", far)
    assert np.isfinite(value)
    assert all(np.isfinite(g).all() for g in gradients)


def test_equal_first_gives_each_thing_the_same_mass(rng):
    counts = counts_of(rng, 4, 3, 3)
    table = table_of(counts, equal_first=True)
    assert_allclose(table.marginals[0], 0.25)
    inside = table.shares[table.indices[:, 0] == 2]
    assert_allclose(inside, counts[2][counts[2] > 0] / counts[2].sum() / 4)


def test_no_likelihood_beats_the_saturated_one(rng):
    table = table_of(counts_of(rng, 4, 3, 3))
    value, _ = tuple_likelihood(table, "MMM", [rng.normal(size=(n, 2)) for n in (4, 3, 3)])
    assert value < table.saturated


def test_bad_letters_and_empty_things(rng):
    table = table_of(counts_of(rng, 4, 3, 3))
    points = [np.zeros((n, 2)) for n in (4, 3, 3)]
    for wrong in ("MM", "CMM", "mmm", None):
        with pytest.raises(ParameterError, match="3 letters"):
            tuple_likelihood(table, wrong, points)
    with pytest.raises(DataError, match="1 things of variable 2 have no counts"):
        TupleTable.from_counts(np.array([[0, 0], [0, 2]]), np.ones(2), (1, 3))
