"""Several tables at once: gradients by finite differences, newcomers by a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize

from relscape.models.multi_terms import build_part
from relscape.models.relations import KindCounts
from relscape.objectives.newcomers import place_frozen
from relscape.objectives.several import RowProblems, SeveralTables, place_by_several

PLACES = {"doc": np.arange(5), "word": np.arange(5, 11), "author": np.arange(11, 14)}


def counted(kinds, counts):
    cells = np.argwhere(counts > 0)
    return KindCounts(kinds, cells, counts[tuple(cells.T)].astype(float))


def part_of(kinds, counts, model, exclude_self=True):
    return build_part(counted(kinds, counts), model, PLACES, False, exclude_self)


def assert_gradient(objective, point):
    def value(flat):
        return objective.value_and_gradient(flat.reshape(point.shape))[0]

    expected = approx_fprime(point.ravel(), value, 1e-7).reshape(point.shape)
    assert_allclose(objective.value_and_gradient(point)[1], expected, atol=2e-6)


def slow_within(p, points, given, exclude_self):
    """Spec section 6: p(x₁|x₂) = p̄(x₁) exp(−d²)/Z(x₂), ℓ = Σ p̄(x₁,x₂) log p̄(x₂) p(x₁|x₂)."""
    p = p if given == "columns" else p.T
    first, second = p.sum(axis=1), p.sum(axis=0)
    value = 0.0
    for b in range(len(p)):
        weights = [
            0.0 if exclude_self and a == b else first[a] * np.exp(-((points[a] - points[b]) ** 2).sum())
            for a in range(len(p))
        ]
        for a in range(len(p)):
            if p[a, b] > 0:
                value += p[a, b] * np.log(second[b] * weights[a] / sum(weights))
    return value


def test_gradient_of_a_weighted_sum(rng):
    tables = [
        part_of(("doc", "word"), rng.poisson(2, (5, 6)) + 1, "CM"),
        part_of(("author", "word"), rng.poisson(2, (3, 6)) + 1, "MU"),
        part_of(("doc", "author", "word"), rng.poisson(1, (5, 3, 6)), "MUM"),
        part_of(("word", "word"), rng.poisson(2, (6, 6)) * (1 - np.eye(6)), "MC"),
    ]
    objective = SeveralTables([part.term for part in tables], [0.4, 0.3, 0.2, 0.1], ridge=0.01)
    assert_gradient(objective, rng.normal(size=(14, 2)))


def test_weights_scale_the_terms(rng):
    points = rng.normal(size=(14, 2))
    terms = [
        part_of(("doc", "word"), rng.poisson(2, (5, 6)) + 1, "CM").term,
        part_of(("author", "word"), rng.poisson(2, (3, 6)) + 1, "CM").term,
    ]
    ells = [term.likelihood(points)[0] for term in terms]
    value, _ = SeveralTables(terms, [0.7, 2.0], 0.5).value_and_gradient(points)
    assert_allclose(value, -0.7 * ells[0] - 2.0 * ells[1] + 0.5 * (points**2).sum())


@pytest.mark.parametrize("exclude_self", [True, False])
@pytest.mark.parametrize(("model", "given"), [("MC", "columns"), ("CM", "rows")])
def test_within_one_kind(rng, model, given, exclude_self):
    counts = rng.poisson(2, (6, 6)) + 1.0
    counts[np.diag_indices(6)] *= not exclude_self
    part = part_of(("word", "word"), counts, model, exclude_self)
    points = rng.normal(size=(14, 2))
    expected = slow_within(counts / counts.sum(), points[5:11], given, exclude_self)
    assert_allclose(part.term.likelihood(points)[0], expected, rtol=1e-12)
    assert_gradient(SeveralTables([part.term], [1.0]), points)


@pytest.mark.parametrize("model", ["CM", "MC"])
def test_within_one_kind_with_one_sided_things(rng, model):
    """Words that are only ever cited, or only ever cite, have no part on the other side."""
    counts = rng.poisson(2, (6, 6)) + 1.0
    counts[np.diag_indices(6)] = 0
    counts[[0, 3]] = 0
    counts[:, [1, 5]] = 0
    part = part_of(("word", "word"), counts, model)
    points = rng.normal(size=(14, 2))
    expected = slow_within(counts / counts.sum(), points[5:11], "columns" if model == "MC" else "rows", True)
    assert_allclose(part.term.likelihood(points)[0], expected, rtol=1e-12)
    assert_gradient(SeveralTables([part.term], [1.0]), points)
    assert part.n_cells == 16


@pytest.mark.parametrize("model", ["MM", "UU", "CU"])
def test_one_sided_things_in_joint_models(rng, model):
    counts = np.array([[0, 2, 1], [0, 0, 3], [0, 1, 0]])
    part = build_part(counted(("doc", "doc"), counts), model, {"doc": np.arange(3)}, False, True)
    points = rng.normal(size=(3, 2))
    p = counts / counts.sum()
    logs = -((points[:, None] - points[None]) ** 2).sum(axis=2)
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    weights = np.exp(logs) * (rows[:, None] if model == "MM" else 1) * (columns if model == "MM" else 1)
    weights *= (1 - np.eye(3)) * (columns > 0)
    weights /= weights.sum(axis=1, keepdims=True) / rows[:, None] if model == "CU" else weights.sum()
    expected = (p[p > 0] * np.log(weights[p > 0])).sum()
    assert_allclose(part.term.likelihood(points)[0], expected, rtol=1e-12)


def test_newcomers_by_several_tables(rng):
    problems = [
        RowProblems(
            rng.normal(size=(4, 2)) * 0.3, rng.normal(size=(n, 2)), rng.normal(size=n), rng.uniform(size=4)
        )
        for n in (7, 5)
    ]
    problems[1].shares[2] = 0.0
    ridge = np.array([0.1, 1.0, 0.01, 0.1])
    placed = place_by_several(problems, ridge)
    for i in range(4):

        def loss(x, i=i):
            value = ridge[i] * x @ x
            for part in problems:
                logs = part.log_weights + 2 * part.points @ x - (part.points**2).sum(axis=1)
                value -= part.shares[i] * (2 * x @ part.means[i] - np.log(np.exp(logs).sum()))
            return value

        found = minimize(loss, np.ones(2), tol=1e-12)
        assert_allclose(placed[i], found.x, atol=1e-5)


def test_one_table_places_as_alone(rng):
    means, points, log_weights = rng.normal(size=(4, 3)), rng.normal(size=(9, 3)), rng.normal(size=9)
    ridge = np.full(4, 0.2)
    alone = place_frozen(means, points, log_weights, ridge)
    assert_allclose(
        place_by_several([RowProblems(means, points, log_weights, np.ones(4))], ridge), alone, atol=1e-8
    )
