"""CODE over Gram matrices: values, gradients, convexity, and the largest useful penalty."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from relscape.datasets import load_smoking
from relscape.matrix.operators import LocalRelation
from relscape.objectives import gram
from relscape.objectives.cooccurrence import MODELS, CooccurrenceObjective, Table
from relscape.objectives.gram import GramGradient, GramObjective, dense_table, largest_penalty

M, N = 5, 4


@pytest.fixture
def joint(rng):
    counts = rng.poisson(4.0, size=(M, N)) + np.eye(M, N)
    return counts / counts.sum()


@pytest.fixture
def smoking():
    counts = load_smoking().matrix().toarray()
    return counts / counts.sum()


def semidefinite(rng, rank=3):
    points = 0.7 * rng.normal(size=(M + N, rank))
    return points @ points.T


def symmetric(rng):
    matrix = rng.normal(size=(M + N, M + N))
    return (matrix + matrix.T) / 2


def slow_log_likelihood(joint, model, points):
    """Section 2 of the specification, pair by pair."""
    m, n = joint.shape
    p_x, p_y = joint.sum(axis=1), joint.sum(axis=0)
    weight = np.zeros((m, n))
    for x in range(m):
        for y in range(n):
            alpha = p_x[x] if model[0] == "M" else 1.0
            beta = p_y[y] if model[1] == "M" else 1.0
            weight[x, y] = alpha * beta * np.exp(-np.sum((points[x] - points[m + y]) ** 2))
    if model[0] == "C":
        p = np.array([p_x[x] * weight[x] / weight[x].sum() for x in range(m)])
    elif model[1] == "C":
        p = np.array([p_y[y] * weight[:, y] / weight[:, y].sum() for y in range(n)]).T
    else:
        p = weight / weight.sum()
    assert_allclose(p.sum(), 1.0)
    return sum(joint[x, y] * np.log(p[x, y]) for x in range(m) for y in range(n) if joint[x, y] > 0)


@pytest.mark.parametrize("model", MODELS)
def test_the_value_is_minus_the_log_likelihood_of_points_with_these_products(rng, joint, model):
    points = rng.normal(size=(M + N, 3))
    products = points @ points.T
    truth = slow_log_likelihood(joint, model, points)
    objective = GramObjective(joint, model)
    assert_allclose(objective.value_and_gradient(products)[0], -truth, rtol=1e-12)
    assert_allclose(objective.log_likelihood(products), truth, rtol=1e-12)
    penalised, _ = GramObjective(joint, model, 0.3).value_and_gradient(products)
    assert_allclose(penalised, 0.3 * (points**2).sum() - truth, rtol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_trace_and_ridge_are_the_same_penalty(rng, joint, model):
    points = rng.normal(size=(M + N, 2))
    ridge = CooccurrenceObjective(Table(LocalRelation(joint)), model, 0.1)
    value, gradient = ridge.value_and_gradient(points)
    whole, slope = GramObjective(joint, model, 0.1).value_and_gradient(points @ points.T)
    assert_allclose(whole, value, rtol=1e-12)
    assert_allclose(2 * slope @ points, gradient, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_j11_gradient_is_the_finite_difference_in_the_trace_inner_product(rng, joint, model):
    objective, at = GramObjective(joint, model, 0.05), semidefinite(rng)
    _, gradient = objective.value_and_gradient(at)
    assert_allclose(gradient, gradient.T)
    for _ in range(5):
        direction, step = symmetric(rng), 1e-5
        ahead, behind = (objective.value_and_gradient(at + s * direction)[0] for s in (step, -step))
        assert_allclose(np.trace(gradient @ direction), (ahead - behind) / (2 * step), atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_the_gradient_is_a_laplacian(rng, joint, model):
    _, gradient = GramObjective(joint, model).value_and_gradient(semidefinite(rng))
    assert_allclose(gradient.sum(axis=0), 0.0, atol=1e-14)
    if model[0] == "C":
        assert_allclose(np.diagonal(gradient)[:M], 0.0, atol=1e-14)
    if model[1] == "C":
        assert_allclose(np.diagonal(gradient)[M:], 0.0, atol=1e-14)


@pytest.mark.parametrize("model", MODELS)
def test_j11_convex_along_segments(rng, joint, model):
    objective = GramObjective(joint, model)
    for _ in range(20):
        one, other = semidefinite(rng, 2), semidefinite(rng, 4)
        t = rng.uniform()
        between, _ = objective.value_and_gradient((1 - t) * one + t * other)
        (start, slope), (end, _) = objective.value_and_gradient(one), objective.value_and_gradient(other)
        assert between <= (1 - t) * start + t * end + 1e-12
        assert end >= start + np.vdot(slope, other - one) - 1e-12


def test_zero_counts_add_nothing(rng):
    joint = np.array([[0.5, 0.0], [0.2, 0.3]])
    points = rng.normal(size=(4, 2))
    value, gradient = GramObjective(joint, "CM").value_and_gradient(points @ points.T)
    assert_allclose(value, -slow_log_likelihood(joint, "CM", points))
    assert np.isfinite(gradient).all()


# ---------------------------------------------------------------------- the largest penalty


@pytest.mark.parametrize("model", ["MM", "CM", "MC"])
def test_j11_largest_penalty_is_a_spectral_norm(joint, smoking, model):
    for p in (joint, smoking):
        dependence = p - np.outer(p.sum(axis=1), p.sum(axis=0))
        assert_allclose(largest_penalty(p, model), np.linalg.norm(dependence, 2), rtol=1e-12)
    assert_allclose(largest_penalty(smoking, model), 0.0820158319, atol=5e-11)


@pytest.mark.parametrize("model", MODELS)
def test_at_the_largest_penalty_one_place_is_optimal_and_below_it_is_not(rng, joint, model):
    largest = largest_penalty(joint, model)
    zero = np.zeros((M + N, M + N))
    objective = GramObjective(joint, model, largest)
    start, _ = objective.value_and_gradient(zero)
    for scale in (1e-3, 0.1, 1.0, 10.0):
        assert objective.value_and_gradient(scale * semidefinite(rng))[0] >= start - 1e-14
    below = GramObjective(joint, model, 0.9 * largest)
    start, gradient = below.value_and_gradient(zero)
    vector = np.linalg.eigh(gradient)[1][:, 0]
    assert below.value_and_gradient(1e-4 * np.outer(vector, vector))[0] < start


def test_an_independent_table_needs_no_penalty():
    assert largest_penalty(np.outer([0.4, 0.6], [0.1, 0.2, 0.7]), "CM") < 1e-15


# ---------------------------------------------------------------------- the gradient as an operator


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("model", MODELS)
def test_operator_and_matrix_are_the_same(rng, joint, model, kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(gram, "_BLOCK", 2 * N)
        monkeypatch.setattr(gram, "_KEPT_BLOCKS", 0)
    points = rng.normal(size=(M + N, 3)) + 5.0
    centred = points - points.mean(axis=0)
    _, truth = GramObjective(joint, model, 0.2).value_and_gradient(centred @ centred.T)
    operator = GramGradient(Table(LocalRelation(csr_array(joint))), model, 0.2, points)
    assert_allclose(operator @ np.eye(M + N), truth, atol=1e-12)
    assert_allclose(operator @ points[:, 0], truth @ points[:, 0], atol=1e-12)
    assert_allclose(operator.T @ points[:, 0], truth @ points[:, 0], atol=1e-12)


@pytest.mark.parametrize("equal_rows", [False, True])
def test_dense_table_is_the_empirical_distribution(rng, equal_rows):
    counts = rng.poisson(3.0, size=(6, 3)) + 1.0
    dense = dense_table(Table(LocalRelation(csr_array(counts)), equal_rows))
    truth = counts / counts.sum(axis=1, keepdims=True) / 6 if equal_rows else counts / counts.sum()
    assert_allclose(dense, truth, rtol=1e-12)
