from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import random_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from relscape.errors import DataError, ParameterError
from relscape.matrix.operators import LocalRelation, ScaledRelation
from relscape.solvers.spectral import DENSE_ENTRIES, thin_svd, truncated_svd


def _check_triplets(
    matrix: np.ndarray, U: np.ndarray, values: np.ndarray, V: np.ndarray, rtol: float
) -> None:
    k = values.size
    expected = np.linalg.svd(matrix, compute_uv=False)[:k]
    np.testing.assert_allclose(values, expected, rtol=rtol, atol=rtol * expected[0])
    np.testing.assert_allclose(matrix @ V, U * values, atol=10 * rtol * expected[0])
    np.testing.assert_allclose(U.T @ U, np.eye(k), atol=10 * rtol)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=10 * rtol)
    largest = np.abs(U).argmax(axis=0)
    assert (U[largest, np.arange(k)] > 0).all()


@pytest.mark.parametrize("shape", [(8, 5), (5, 8), (6, 6), (1, 4), (4, 1)])
def test_thin_svd_against_numpy(shape: tuple[int, int], rng: np.random.Generator) -> None:
    matrix = rng.normal(size=shape)
    _check_triplets(matrix, *thin_svd(matrix), rtol=1e-12)


def test_ties_for_the_largest_entry_are_decided_by_the_first() -> None:
    noise = 1e-13
    for matrix in ([[1.0, 0.0], [-1.0 - noise, 0.0]], [[1.0 + noise, 0.0], [-1.0, 0.0]]):
        U = thin_svd(np.array(matrix)).U
        assert U[0, 0] > 0 > U[1, 0]


@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_small_operators_are_exact(shape: tuple[int, int], k: int, rng: np.random.Generator) -> None:
    matrix = rng.normal(size=shape)
    _check_triplets(matrix, *truncated_svd(aslinearoperator(matrix), k, rng), rtol=1e-12)


def _large(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[np.ndarray, LinearOperator]:
    """A sparse matrix less a low-rank part, too large for the dense road, and the same as an operator."""
    sparse = random_array(shape, density=0.02, rng=rng).tocsr()
    left, right = np.asarray(sparse.sum(axis=1)), np.asarray(sparse.sum(axis=0)) / sparse.sum()
    operator = LinearOperator(
        shape,
        matvec=lambda x: sparse @ x.ravel() - left * (right @ x.ravel()),
        rmatvec=lambda x: sparse.T @ x.ravel() - right * (left @ x.ravel()),
        dtype=np.float64,
    )
    return sparse.toarray() - np.outer(left, right), operator


@pytest.mark.parametrize("shape", [(2600, 400), (400, 2600)])
def test_large_operators_agree_with_the_dense_decomposition(
    shape: tuple[int, int], rng: np.random.Generator
) -> None:
    assert shape[0] * shape[1] > DENSE_ENTRIES
    dense, operator = _large(rng, shape)
    found = truncated_svd(operator, 5, rng, tolerance=0.0)
    _check_triplets(dense, *found, rtol=1e-9)
    exact = thin_svd(dense)
    np.testing.assert_allclose(found.U, exact.U[:, :5], atol=1e-6)
    np.testing.assert_allclose(found.V, exact.V[:, :5], atol=1e-6)


@pytest.mark.parametrize("shape", [(2600, 400), (400, 2600)])
def test_a_scaled_relation_long_or_wide_agrees_with_the_dense_decomposition(
    shape: tuple[int, int], rng: np.random.Generator
) -> None:
    relation = LocalRelation(random_array(shape, density=0.05, rng=rng).tocsr())
    rows, columns = relation.row_sums() ** -0.5, relation.column_sums() ** -0.5
    trivial = (np.sqrt(relation.row_sums()), np.sqrt(relation.column_sums()))
    deflated = (trivial[0] / np.linalg.norm(trivial[0]), trivial[1] / np.linalg.norm(trivial[1]))
    found = truncated_svd(ScaledRelation(relation, rows, columns, deflated), 5, rng, tolerance=0.0)
    dense = rows[:, None] * relation.matrix.toarray() * columns - np.outer(*deflated)
    _check_triplets(dense, *found, rtol=1e-9)


def test_the_same_seed_gives_the_same_bits_and_another_the_same_axes() -> None:
    _, operator = _large(np.random.default_rng(1), (2600, 400))
    one, again, other = (truncated_svd(operator, 3, np.random.default_rng(seed)) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.U, again.U)
    np.testing.assert_allclose(one.U, other.U, atol=1e-5)


def test_a_start_takes_the_place_of_the_seed() -> None:
    _, operator = _large(np.random.default_rng(1), (2600, 400))
    start = np.random.default_rng(2).normal(size=400)
    one, other = (truncated_svd(operator, 2, np.random.default_rng(s), start=start) for s in (7, 8))
    np.testing.assert_array_equal(one.U, other.U)


def test_fewer_axes_than_asked_for_come_with_zeros(rng: np.random.Generator) -> None:
    low_rank = rng.normal(size=(2600, 2)) @ rng.normal(size=(2, 400))
    U, values, V = truncated_svd(aslinearoperator(low_rank), 4, rng)
    np.testing.assert_allclose(values[:2], np.linalg.svd(low_rank, compute_uv=False)[:2], rtol=1e-8)
    assert (values[2:] < 1e-5 * values[0]).all()
    assert np.isfinite(U).all()
    assert np.isfinite(V).all()


def test_an_operator_of_nothing_but_zeros_has_no_axes_to_find(rng: np.random.Generator) -> None:
    zero = aslinearoperator(np.zeros((2600, 400)))
    with pytest.raises(DataError, match=r"did not converge|no axes"):
        truncated_svd(zero, 2, rng)


@pytest.mark.parametrize("k", [0, -1, 21])
def test_k_is_between_one_and_the_smaller_side(k: int, rng: np.random.Generator) -> None:
    with pytest.raises(ParameterError, match="between 1 and 20"):
        truncated_svd(aslinearoperator(np.ones((30, 20))), k, rng)


def test_large_operators_leave_one_axis_out(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relscape.solvers.spectral.GRAM_SIDE", 0)
    with pytest.raises(ParameterError, match="at most 2"):
        truncated_svd(aslinearoperator(np.ones((400_000, 3))), 3, rng)
