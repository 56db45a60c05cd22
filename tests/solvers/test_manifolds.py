from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm, fractional_matrix_power

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.protocols import Manifold
from relscape.solvers.manifolds import RETRACTIONS, FullRank, Stiefel


def gap(U):
    return np.abs(U.T @ U - np.eye(U.shape[1])).max()


@pytest.fixture(params=RETRACTIONS)
def stiefel(request):
    return Stiefel(request.param)


def test_they_are_manifolds():
    assert isinstance(Stiefel(), Manifold)
    assert isinstance(FullRank(), Manifold)


def test_projection_is_idempotent_and_self_adjoint(stiefel, rng):
    U = stiefel.random(rng, (9, 3))
    A, B = rng.standard_normal((2, 9, 3))
    PA, PB = stiefel.project(U, A), stiefel.project(U, B)
    assert np.allclose(stiefel.project(U, PA), PA, atol=1e-14)
    assert np.vdot(PA, B) == pytest.approx(np.vdot(A, PB), abs=1e-13)


def test_projection_is_tangent_and_has_the_form_of_the_definition(stiefel, rng):
    U = stiefel.random(rng, (9, 3))
    G = rng.standard_normal((9, 3))
    xi = stiefel.project(U, G)
    skew = (U.T @ G - G.T @ U) / 2
    assert np.allclose(U.T @ xi, -xi.T @ U, atol=1e-14)
    assert np.allclose(xi, (np.eye(9) - U @ U.T) @ G + U @ skew, atol=1e-14)


def test_retraction_stays_begins_at_the_point_and_follows_the_tangent(stiefel, rng):
    U = stiefel.random(rng, (9, 3))
    xi = stiefel.project(U, rng.standard_normal((9, 3)))
    assert gap(stiefel.retract(U, 5 * xi)) < 1e-14
    assert np.allclose(stiefel.retract(U, 0 * xi), U, atol=1e-14)
    step = 1e-5
    slope = (stiefel.retract(U, step * xi) - stiefel.retract(U, -step * xi)) / (2 * step)
    assert np.allclose(slope, xi, atol=1e-8)


def test_polar_retraction_is_the_printed_formula_with_exponent_minus_a_half(rng):
    manifold = Stiefel("polar")
    U = manifold.random(rng, (9, 3))
    xi = manifold.project(U, rng.standard_normal((9, 3)))
    expected = (U + xi) @ fractional_matrix_power(np.eye(3) + xi.T @ xi, -0.5)
    assert np.allclose(manifold.retract(U, xi), expected, atol=1e-13)


def test_qr_retraction_has_a_positive_triangle(rng):
    manifold = Stiefel("qr")
    U = manifold.random(rng, (9, 3))
    xi = manifold.project(U, rng.standard_normal((9, 3)))
    triangle = manifold.retract(U, xi).T @ (U + xi)
    assert np.allclose(np.tril(triangle, -1), 0, atol=1e-14)
    assert (np.diagonal(triangle) > 0).all()


def test_thousands_of_steps_stay_orthonormal(stiefel, rng):
    U = stiefel.random(rng, (12, 2))
    worst = 0.0
    for _ in range(3000):
        U = stiefel.retract(U, 0.3 * stiefel.project(U, rng.standard_normal(U.shape)))
        worst = max(worst, gap(U))
    assert worst < 1e-12


def test_square_matrices_are_rotations(stiefel, rng):
    U = stiefel.random(rng, (4, 4))
    A = rng.standard_normal((4, 4))
    skew = 1e-3 * (A - A.T)
    assert np.allclose(stiefel.retract(U, U @ skew), U @ expm(skew), atol=1e-4)


def test_repair_finds_the_nearest_orthonormal_matrix(stiefel, rng):
    U = stiefel.random(rng, (9, 3))
    assert stiefel.repair(U) is U
    off = U + 0.1 * rng.standard_normal(U.shape)
    repaired = stiefel.repair(off)
    assert gap(repaired) < 1e-14
    others = [
        stiefel.retract(repaired, 0.05 * stiefel.project(repaired, rng.standard_normal(U.shape)))
        for _ in range(50)
    ]
    assert all(np.linalg.norm(repaired - off) <= np.linalg.norm(other - off) for other in others)


def test_unknown_retraction():
    with pytest.raises(UnknownNameError, match="'polar'"):
        Stiefel("polr")


@pytest.mark.parametrize("manifold", [Stiefel(), FullRank()])
def test_refuses_more_columns_than_rows(manifold):
    with pytest.raises(ParameterError, match="2 × 3"):
        manifold.repair(np.ones((2, 3)))


@pytest.mark.parametrize("manifold", [Stiefel(), FullRank()])
def test_refuses_what_is_not_finite(manifold):
    with pytest.raises(DataError, match="not finite"):
        manifold.repair(np.full((3, 2), np.nan))


def test_every_direction_is_tangent_to_matrices_of_full_rank(rng):
    Z, G = rng.standard_normal((2, 9, 3))
    assert np.array_equal(FullRank().project(Z, G), G)
    assert np.array_equal(FullRank().retract(Z, G), Z + G)


def test_full_rank_is_left_alone_even_when_thin(rng):
    Z = rng.standard_normal((50, 2))
    assert FullRank().repair(Z) is Z
    thin = Z * [1.0, 1e-9]
    assert FullRank().repair(thin) is thin


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_repair_lifts_only_vanishing_values(rng, size):
    direction = np.array([[3.0, 4.0], [-4.0, 3.0]]) / 5
    flat = size * rng.standard_normal((50, 1)) @ direction[:1]
    repaired = FullRank().repair(flat)
    values = np.linalg.svd(repaired, compute_uv=False)
    assert values[1] / values[0] == pytest.approx(1e-8, rel=1e-6)
    assert np.linalg.norm(repaired - flat) < 1e-6 * np.linalg.norm(flat)
    assert FullRank().repair(repaired) is repaired


def test_repair_of_nothing(rng):
    repaired = FullRank().repair(np.zeros((5, 2)))
    assert np.allclose(np.linalg.svd(repaired, compute_uv=False), 1e-8)
