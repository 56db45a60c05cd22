"""Semidefinite minimisation: closed forms, certificates, and two solvers that agree."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse.linalg import aslinearoperator

from relscape.datasets import load_smoking
from relscape.matrix.operators import LocalRelation
from relscape.objectives.cooccurrence import CooccurrenceObjective, Table
from relscape.objectives.gram import GramGradient, GramObjective, largest_penalty
from relscape.solvers import semidefinite
from relscape.solvers.semidefinite import (
    factored_descent,
    lowest_eigenpairs,
    positive_part,
    projected_gradient,
    square_root,
)

TIGHT = 1e-8


class Nearest:
    """½‖G − C‖², whose minimum over semidefinite matrices is the projection of C."""

    def __init__(self, target):
        self.target = target

    def value_and_gradient(self, point):
        return 0.5 * np.sum((point - self.target) ** 2), point - self.target


@pytest.fixture
def target(rng):
    matrix = rng.normal(size=(6, 6))
    return matrix + matrix.T


@pytest.fixture
def smoking():
    counts = load_smoking().matrix().toarray()
    return counts / counts.sum()


def factored(joint, model, penalty, **settings):
    table = Table(LocalRelation(joint))
    objective = CooccurrenceObjective(table, model, penalty)
    settings = {
        "tolerance": TIGHT,
        "max_iterations": 5000,
        "start": np.zeros((sum(joint.shape), 1)),
    } | settings
    return factored_descent(objective, partial(GramGradient, table, model, penalty), **settings)


def assert_certified(joint, model, penalty, products, tolerance):
    _, gradient = GramObjective(joint, model, penalty).value_and_gradient(products)
    assert np.linalg.eigvalsh(gradient)[0] >= -1.01 * tolerance
    assert abs(np.trace(gradient @ products)) <= 1.01 * tolerance * max(1.0, np.trace(products))
    assert np.linalg.eigvalsh(products)[0] >= -1e-12


def test_positive_part_is_the_nearest_semidefinite_matrix(rng, target):
    part = positive_part(target)
    assert np.linalg.eigvalsh(part)[0] >= -1e-12
    # the rest is negative and orthogonal to it, which characterises a projection on a cone
    assert np.linalg.eigvalsh(target - part)[-1] <= 1e-12
    assert abs(np.vdot(part, target - part)) < 1e-12


def test_square_root_gives_the_matrix_back_in_principal_axes(rng):
    points = rng.normal(size=(8, 3))
    root = square_root(points @ points.T)
    assert root.shape == (8, 3)
    assert_allclose(root @ root.T, points @ points.T, atol=1e-12)
    products = root.T @ root
    assert_allclose(products, np.diag(np.diagonal(products)), atol=1e-12)
    assert (np.diff(np.diagonal(products)) < 0).all()
    assert not square_root(np.zeros((4, 4))).any()


def test_projected_gradient_finds_a_projection(target):
    found = projected_gradient(Nearest(target), np.zeros_like(target), 1e-10, 100)
    assert found.converged
    assert_allclose(found.point, positive_part(target), atol=1e-9)


@pytest.mark.parametrize("model", ["CM", "MM", "UU"])
@pytest.mark.parametrize("part", [0.3, 0.03])
def test_j11_monotone_certified_centred_and_without_local_minima(rng, smoking, model, part):
    penalty = part * largest_penalty(smoking, model)
    points = rng.normal(size=(9, 9))
    objective = GramObjective(smoking, model, penalty)
    ends = [
        projected_gradient(objective, start, 1e-7, 20_000)
        for start in (np.eye(9), np.zeros((9, 9)), points @ points.T)
    ]
    for end in ends:
        assert end.converged, end.reason
        assert (np.diff(end.trace) <= 0).all()
        assert len(end.trace) == end.iterations + 1
        assert end.value == end.trace[-1] == objective.value_and_gradient(end.point)[0]
        assert_certified(smoking, model, penalty, end.point, 1e-7)
        # the gradient maps 1 to λ1, so the certificate also bounds how far G1 is from 0
        assert 0 <= penalty * end.point.sum() / 9 + 1e-15 <= 2e-7 * max(1.0, np.trace(end.point))
        assert_allclose(end.value, ends[0].value, atol=1e-6)


def test_the_certificate_bounds_the_distance_from_the_least_value(smoking):
    penalty = 0.03 * largest_penalty(smoking, "CM")
    objective = GramObjective(smoking, "CM", penalty)
    best = projected_gradient(objective, np.zeros((9, 9)), TIGHT, 20_000)
    for tolerance in (1e-3, 1e-4, 1e-5):
        end = projected_gradient(objective, np.eye(9), tolerance, 20_000)
        bound = tolerance * (max(1.0, np.trace(end.point)) + np.trace(best.point))
        assert 0 <= end.value - best.value + 1e-9 <= bound


def test_projected_gradient_says_why_it_stopped(smoking):
    objective = GramObjective(smoking, "CM", 1e-3)
    few = projected_gradient(objective, np.eye(9), 1e-9, 3)
    assert not few.converged
    assert few.iterations == 3
    assert "3 iterations" in few.reason
    seen = []

    def watch(iteration, value, point):
        seen.append((iteration, value, point.shape))
        return iteration == 2

    stopped = projected_gradient(objective, np.eye(9), 1e-9, 100, watch)
    assert not stopped.converged
    assert "callback" in stopped.reason
    assert seen == [(i, stopped.trace[i], (9, 9)) for i in (1, 2)]
    exact = projected_gradient(objective, np.eye(9), 0.0, 100_000)
    assert "rounding" in exact.reason or exact.converged


@pytest.mark.parametrize("model", ["CM", "UC", "MM", "UU"])
@pytest.mark.parametrize("part", [0.5, 0.05])
def test_g3_factored_and_projected_agree(smoking, model, part):
    penalty = part * largest_penalty(smoking, model)
    whole = projected_gradient(GramObjective(smoking, model, penalty), np.eye(9), TIGHT, 50_000)
    end = factored(smoking, model, penalty)
    assert end.converged, end.reason
    assert (np.diff(end.trace) <= 0).all()
    assert_certified(smoking, model, penalty, end.point @ end.point.T, TIGHT)
    assert_allclose(end.value, whole.value, atol=1e-7)
    assert_allclose(end.point @ end.point.T, whole.point, atol=2e-3)


def test_a_factor_grows_the_columns_it_needs(smoking):
    largest = largest_penalty(smoking, "CM")
    ranks = []
    for part in (1.0, 0.5, 0.15, 0.03):  # of rank 0, 1, 2 and 3 (figure 4 of the paper)
        point = factored(smoking, "CM", part * largest).point
        ranks.append(int(((point**2).sum(axis=0) > 1e-4).sum()))
    assert ranks == [0, 1, 2, 3]


def test_factored_descent_says_why_it_stopped(smoking):
    few = factored(smoking, "CM", 1e-3, max_iterations=4)
    assert not few.converged
    assert few.reason == "4 iterations are spent"
    stopped = factored(smoking, "CM", 1e-3, callback=lambda iteration, value, point: iteration == 3)
    assert stopped.iterations == 3
    assert "callback" in stopped.reason


def test_lanczos_and_lapack_find_the_same_lowest_eigenvalues(target, monkeypatch):
    wide = np.kron(np.eye(12), target)  # every eigenvalue twelve times
    dense, _ = lowest_eigenpairs(aslinearoperator(wide), 2, 1e-10)
    assert_allclose(dense, np.linalg.eigvalsh(target)[[0, 0]], atol=1e-10)
    monkeypatch.setattr(semidefinite, "_DENSE_SIDE", 10)
    values, vectors = lowest_eigenpairs(aslinearoperator(wide), 2, 1e-10)
    assert_allclose(values[0], dense[0], atol=1e-8)
    assert_allclose(wide @ vectors[:, 0], values[0] * vectors[:, 0], atol=1e-6)


def test_certificates_by_lanczos_end_at_the_same_optimum(rng, monkeypatch):
    counts = rng.poisson(1.5, size=(40, 25)) + 1.0
    joint = counts / counts.sum()
    penalty = 0.4 * largest_penalty(joint, "CM")
    dense = factored(joint, "CM", penalty, tolerance=1e-3 * penalty)
    monkeypatch.setattr(semidefinite, "_DENSE_SIDE", 10)
    lanczos = factored(joint, "CM", penalty, tolerance=1e-3 * penalty)
    assert dense.converged
    assert lanczos.converged
    assert_allclose(lanczos.value, dense.value, rtol=1e-6)
