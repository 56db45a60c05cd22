"""The eigenproblems of guided projections against closed forms and a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eig
from scipy.sparse.linalg import aslinearoperator

from relscape.errors import DataError
from relscape.solvers.guided import following_axes, generalized_axes, leading_axes, reference_axes


def symmetric(rng, size):
    M = rng.normal(size=(size, size))
    return (M + M.T) / 2


def test_operators_and_arrays_agree(rng):
    C = symmetric(rng, 40)
    formed, iterated = leading_axes(C, 3, rng), leading_axes(aslinearoperator(C), 3, rng)
    assert_allclose(formed.values, 1 - np.linalg.eigvalsh(C)[::-1][:3])
    assert_allclose(iterated.values, formed.values, atol=1e-8)
    assert_allclose(np.abs(np.sum(iterated.vectors * formed.vectors, axis=0)), 1.0, atol=1e-8)


def test_generalized(rng):
    A, B = symmetric(rng, 6), symmetric(rng, 6)
    B = B @ B + np.eye(6)
    axes = generalized_axes(A, B, 4)
    assert_allclose(axes.vectors.T @ B @ axes.vectors, np.eye(4), atol=1e-10)
    assert_allclose(axes.vectors.T @ A @ axes.vectors, np.diag(axes.values), atol=1e-10)
    with pytest.raises(DataError, match=r'not positive in every direction .*degree="absolute"'):
        generalized_axes(A, np.diag([1.0, 1, 1, 1, 1, -2]), 2)


def test_a_singular_size_is_refused_though_rounding_makes_it_positive(rng):
    """What LAPACK factorises by luck would give axes of rounding."""
    for _ in range(20):
        X = rng.normal(size=(30, 3))
        X = np.column_stack([X, X @ rng.normal(size=(3, 2))])
        with pytest.raises(DataError, match="raise regularization"):
            generalized_axes(symmetric(rng, 5), X.T @ X, 2)
    scales = np.diag([1.0, 1e-8, 1e8])  # of features, which are no reason
    axes = generalized_axes(scales @ np.diag([3.0, 2.0, 1.0]) @ scales, scales @ scales, 3)
    assert_allclose(axes.values, [1.0, 2.0, 3.0])


def test_reference_against_qz(rng):
    """The finite eigenvalues of A p = μ diag(B, 0) p, where there is a least value."""
    M = rng.normal(size=(8, 8))
    A, B = M @ M.T, np.diag(rng.uniform(1, 2, 3))
    padded = np.zeros((8, 8))
    padded[:3, :3] = B
    values = eig(A, padded, right=False, homogeneous_eigvals=True)
    top, bottom = values[:, np.abs(values[1]) > 1e-8]
    finite = np.sort((top / bottom).real)
    axes = reference_axes(A, B, 3, 3, "b", np.eye(5))
    assert_allclose(axes.values, finite, atol=1e-6)
    assert_allclose(axes.vectors[:3].T @ B @ axes.vectors[:3], np.eye(3), atol=1e-10)
    first = axes.vectors[:, 0]
    assert first @ A @ first == pytest.approx(axes.values[0])
    for _ in range(5):
        other = first + np.concatenate([np.zeros(3), 0.1 * rng.normal(size=5)])
        assert other @ A @ other > axes.values[0]


@pytest.mark.parametrize("formed_side", [0, 100])
def test_followers_without_guidance_of_their_own(rng, formed_side):
    """C_bb = 0: the matrix of all coordinates is not needed."""
    C = 0.1 * symmetric(rng, 60)
    C[40:, 40:] = 0.0
    expected = reference_axes(np.eye(60) - C, None, 40, 3, "b", np.eye(20))
    found = following_axes(aslinearoperator(C), 40, 3, formed_side, rng)
    assert_allclose(found.values, expected.values, atol=1e-9)
    assert_allclose(np.abs(found.vectors), np.abs(expected.vectors), atol=1e-7)


def test_reference_alone(rng):
    A = symmetric(rng, 4)
    axes = reference_axes(A, None, 4, 2, "", np.zeros((0, 0)))
    assert_allclose(axes.values, np.linalg.eigvalsh(A)[:2])


def test_unbounded_problems_are_refused_with_the_ridge_that_repairs_them():
    A = np.diag([1.0, 1.0, -0.5])
    with pytest.raises(DataError, match=r"tag, place.*least eigenvalue -0.5.*by 0.252 or more"):
        reference_axes(A, None, 1, 1, "tag, place", 2.0 * np.eye(2))
    repaired = A + np.diag([0, 0.252 * 2, 0.252 * 2])
    assert reference_axes(repaired, None, 1, 1, "tag, place", np.eye(2)).values[0] == pytest.approx(1.0)


def test_a_free_direction_without_curvature_that_pulls_is_unbounded():
    A = np.array([[1.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(DataError, match="unbounded"):
        reference_axes(A, None, 1, 1, "b", np.eye(2))
