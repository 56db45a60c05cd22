"""The axes of the mutual co-embedding against literal dense problems and arithmetic with 120 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eig
from scipy.sparse import csr_array

from relscape.matrix.mutual import averaged_axes, mutual_operator, mutual_weights, zeta_weights
from relscape.matrix.operators import LocalRelation
from relscape.solvers.spectral import truncated_svd

ETAS = [(1.0, 1.0), (0.0, 0.0), (2.5, 0.5), (0.0, 3.0), (4.0, 1.0)]


@pytest.fixture
def table(rng):
    return rng.gamma(2.0, size=(9, 7))


def literal(R, eta_rows, eta_columns):
    """True a, b, u, v, T and B, as the paper writes them."""
    a, b = R.sum(axis=1) ** (eta_rows - 1), R.sum(axis=0) ** (eta_columns - 1)
    u, v = R @ b, R.T @ a
    T = (R * b / u[:, None]) @ (R * a[:, None] / v).T
    B = R * np.sqrt(np.outer(a / u, b / v))
    return a, b, u, v, T, B


def axes_of(R, etas, k):
    relation = LocalRelation(R)
    weights = mutual_weights(relation, *etas)
    U = truncated_svd(mutual_operator(relation, weights), k, np.random.default_rng(0)).U
    return weights, averaged_axes(relation, weights, U)


@pytest.mark.parametrize("etas", ETAS)
def test_weights_are_the_paper_s_up_to_the_constants_kept(table, etas):
    a, b, u, v, _, _ = literal(table, *etas)
    w = mutual_weights(LocalRelation(table), *etas)
    assert w.a.max() == w.b.max() == 1.0
    assert_allclose(w.a * np.exp(w.log_a), a, rtol=1e-12)
    assert_allclose(w.b * np.exp(w.log_b), b, rtol=1e-12)
    assert_allclose(w.u * np.exp(w.log_b), u, rtol=1e-12)
    assert_allclose(w.v * np.exp(w.log_a), v, rtol=1e-12)


@pytest.mark.parametrize("etas", ETAS)
def test_i01_every_row_of_T_sums_to_one(table, etas):
    w = mutual_weights(LocalRelation(table), *etas)
    T = (table * w.b / w.u[:, None]) @ (table * w.a[:, None] / w.v).T
    assert_allclose(T, literal(table, *etas)[4], rtol=1e-12)
    assert_allclose(T.sum(axis=1), 1.0, rtol=1e-13)


@pytest.mark.parametrize("etas", ETAS)
def test_i02_the_spectrum_of_T_is_real_and_between_0_and_1(table, etas):
    values = eig(literal(table, *etas)[4], right=False)
    assert_allclose(values.imag, 0, atol=1e-10)
    assert values.real.min() > -1e-10
    assert values.real.max() < 1 + 1e-10
    _, axes = axes_of(table, etas, 6)
    assert_allclose(axes.sigma**2, np.sort(values.real)[::-1][1:7], atol=1e-10)


@pytest.mark.parametrize("etas", ETAS)
def test_i03_eigenvalues_of_T_are_squared_singular_values_of_B(table, etas):
    *_, T, B = literal(table, *etas)
    singular = np.linalg.svd(B, compute_uv=False)
    assert_allclose(np.sort(eig(T, right=False).real)[::-1][:7], singular**2, atol=1e-10)
    assert_allclose(singular[0], 1.0, rtol=1e-12)
    assert_allclose(axes_of(table, etas, 6)[1].sigma, singular[1:], rtol=1e-9)


@pytest.mark.parametrize("etas", ETAS)
def test_the_operator_is_B_without_its_trivial_triplet(table, etas):
    a, b, u, v, _, B = literal(table, *etas)
    left, right = np.sqrt(a * u), np.sqrt(b * v)
    assert_allclose(left @ left, a @ table @ b, rtol=1e-12)
    assert_allclose(right @ right, a @ table @ b, rtol=1e-12)
    relation = LocalRelation(csr_array(table))
    operator = mutual_operator(relation, mutual_weights(relation, *etas))
    assert_allclose(operator @ np.eye(7), B - np.outer(left, right) / (left @ left), atol=1e-13)


@pytest.mark.parametrize("etas", ETAS)
def test_i08_axes_are_orthogonal_and_centred_in_their_metrics(table, etas):
    a, b, u, v, _, _ = literal(table, *etas)
    _, axes = axes_of(table, etas, 5)
    for points, metric in ((axes.psi, a * u), (axes.phi, b * v)):
        gram = points.T @ (metric[:, None] * points)
        sizes = np.sqrt(np.diag(gram))
        assert_allclose(gram / np.outer(sizes, sizes), np.eye(5), atol=1e-12)
        assert_allclose(metric @ points / (sizes * np.sqrt(metric.sum())), 0, atol=1e-12)


def test_an_object_without_relations_has_no_weight_and_place_zero(table):
    padded = np.zeros((11, 8))
    padded[1:10, 1:] = table
    w, axes = axes_of(padded, (3.0, 2.0), 3)
    _, plain = axes_of(table, (3.0, 2.0), 3)
    assert w.a[0] == w.u[0] == w.b[0] == w.v[0] == 0
    assert_allclose(np.abs(axes.psi[1:10]), np.abs(plain.psi), rtol=1e-9)
    assert not axes.psi[[0, 10]].any()
    assert not axes.phi[0].any()


def test_weights_do_not_overflow():
    sums = np.geomspace(1e-60, 1e60, 6)
    w = mutual_weights(LocalRelation(np.diag(sums)), 10.0, 10.0)
    assert np.isfinite(np.concatenate([w.a, w.b, w.u, w.v, [w.log_a, w.log_b]])).all()
    assert w.log_a == pytest.approx(9 * np.log(1e60))


def test_zeta_weights_give_the_columns_their_size(table):
    zeta = np.array([0.5, 2.0, 0.0])
    weights, axes = axes_of(table, (2.0, 3.0), 3)
    v = literal(table, 2.0, 3.0)[3]
    phi = axes.phi * np.exp(-0.5 * weights.log_b) * zeta_weights(axes, weights, zeta)
    assert_allclose(v @ phi**2, zeta, rtol=1e-12)


def with_many_digits(R, eta_rows, eta_columns, k):
    """ψ (unit in D(u)), φ/σ and σ by 120-digit arithmetic, in R's own scale."""
    with mpmath.workdps(120):
        m, n = R.shape
        M = mpmath.matrix(R.tolist())
        a = [mpmath.fsum(M[i, :]) ** (eta_rows - 1) for i in range(m)]
        b = [mpmath.fsum(M[:, j]) ** (eta_columns - 1) for j in range(n)]
        u = [mpmath.fsum(M[i, j] * b[j] for j in range(n)) for i in range(m)]
        v = [mpmath.fsum(M[i, j] * a[i] for i in range(m)) for j in range(n)]
        B = mpmath.matrix(m, n)
        for i in range(m):
            for j in range(n):
                B[i, j] = M[i, j] * mpmath.sqrt(a[i] * b[j] / (u[i] * v[j]))
        values, vectors = mpmath.eigsy(B.T * B)
        order = sorted(range(n), key=lambda t: -values[t])[1 : k + 1]
        psi, phi, sigma = np.empty((m, k)), np.empty((n, k)), np.empty(k)
        for q, t in enumerate(order):
            root = mpmath.sqrt(values[t])
            column = [vectors[j, t] / mpmath.sqrt(b[j] * v[j]) for j in range(n)]
            row = [mpmath.fsum(M[i, j] * b[j] * column[j] for j in range(n)) / u[i] / root for i in range(m)]
            size = mpmath.sqrt(mpmath.fsum(u[i] * row[i] ** 2 for i in range(m)))
            psi[:, q] = [float(x / size) for x in row]
            phi[:, q] = [float(x / size) for x in column]
            sigma[q] = float(root)
    return psi, phi, sigma


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("span", [20.0, 4e3, 2e5])
@pytest.mark.parametrize("eta", [3, 6, 10])
def test_the_averaging_pass_keeps_all_digits(seed, span, eta):
    """Section 7, step 5: to 1e-13 of an axis' largest coordinate, where σ is not itself rounding."""
    rng = np.random.default_rng(seed)
    rows, columns = np.geomspace(1, span, 9), np.geomspace(1, span, 8)
    R = rng.gamma(1.0, size=(9, 8)) * np.outer(rng.permutation(rows), rng.permutation(columns)) / span
    psi, phi, sigma = with_many_digits(R, eta, eta, 2)
    weights, axes = axes_of(R, (float(eta), float(eta)), 2)
    real = sigma > 1e-13
    scale = np.exp(-0.5 * weights.log_b) * np.sign((axes.psi * psi).sum(axis=0))
    assert_allclose(axes.sigma[real], sigma[real], rtol=1e-12)
    for ours, exact in ((axes.psi * scale, psi), (axes.phi * scale / axes.sigma, phi)):
        error = np.abs(ours - exact).max(axis=0) / np.abs(exact).max(axis=0)
        assert (error[real] < 1e-13).all()


def test_without_the_pass_the_digits_are_lost():
    """The reason for the pass: the plain formula fails on the same relation."""
    rng = np.random.default_rng(1)
    rows, columns = np.geomspace(1, 2e5, 9), np.geomspace(1, 2e5, 8)
    R = rng.gamma(1.0, size=(9, 8)) * np.outer(rng.permutation(rows), rng.permutation(columns)) / 2e5
    psi, _, _ = with_many_digits(R, 10, 10, 1)
    relation = LocalRelation(R)
    weights = mutual_weights(relation, 10.0, 10.0)
    U = truncated_svd(mutual_operator(relation, weights), 1, np.random.default_rng(0)).U
    plain = U / np.sqrt(weights.a * weights.u)[:, None]
    plain /= np.sqrt(weights.u @ plain**2)
    exact = np.abs(psi) / np.abs(psi).max()
    assert np.abs(np.abs(plain) / np.abs(plain).max() - exact).max() > 1e-3
