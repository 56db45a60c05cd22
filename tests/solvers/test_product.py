from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relscape.protocols import Manifold
from relscape.solvers.manifolds import Stiefel
from relscape.solvers.product import Product
from relscape.solvers.riemann import riemannian_descent

SHAPES = ((6, 2), (5, 3), (2,))


@pytest.fixture
def product():
    return Product([(Stiefel(), SHAPES[0]), (Stiefel("polar"), SHAPES[1]), (None, SHAPES[2])])


@pytest.fixture
def parts(rng):
    return [
        Stiefel().random(rng, SHAPES[0]),
        Stiefel().random(rng, SHAPES[1]),
        rng.normal(size=SHAPES[2]),
    ]


def flat(parts):
    return np.concatenate([part.ravel() for part in parts])


def test_it_is_a_manifold(product):
    assert isinstance(product, Manifold)


def test_every_part_moves_on_its_own_set(product, parts, rng):
    ways = [rng.normal(size=shape) for shape in SHAPES]
    first, second = Stiefel(), Stiefel("polar")
    tangent = [first.project(parts[0], ways[0]), second.project(parts[1], ways[1]), ways[2]]
    assert_array_equal(product.project(flat(parts), flat(ways)), flat(tangent))
    landed = [first.retract(parts[0], tangent[0]), second.retract(parts[1], tangent[1]), parts[2] + ways[2]]
    assert_array_equal(product.retract(flat(parts), flat(tangent)), flat(landed))


def test_repair_leaves_good_points_alone(product, parts):
    point = flat(parts)
    assert product.repair(point) is point
    bad = flat([2 * parts[0], parts[1], parts[2]])
    assert_allclose(product.repair(bad), point, atol=1e-14)


class Apart:
    """tr(UᵀAU) − tr(VᵀBV) + ‖w − 3‖², whose minimum is known part by part."""

    def __init__(self, A, B):
        self.A, self.B = A, B

    def value_and_gradient(self, point):
        U, V, w = point[:12].reshape(6, 2), point[12:27].reshape(5, 3), point[27:]
        AU, BV, gap = self.A @ U, self.B @ V, w - 3
        value = np.vdot(U, AU) - np.vdot(V, BV) + gap @ gap
        return float(value), flat([2 * AU, -2 * BV, 2 * gap])


def test_descent_finds_the_minimum_of_every_part(product, parts, rng):
    A, B = (M + M.T for M in (rng.normal(size=(6, 6)), rng.normal(size=(5, 5))))
    end = riemannian_descent(Apart(A, B), product, flat(parts), first_step=0.1)
    assert end.converged
    assert_allclose(end.value, np.linalg.eigvalsh(A)[:2].sum() - np.linalg.eigvalsh(B)[-3:].sum(), rtol=1e-10)
    assert_allclose(end.point[27:], 3.0, atol=1e-7)
