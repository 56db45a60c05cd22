from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.linalg import solve
from scipy.sparse import csr_array

from relscape.errors import DataError, ParameterError, RelscapeWarning
from relscape.models.eigen_cova import axes_of, eigen_cova, quadratic_form
from relscape.objectives.cohort import Anchors


class Case(NamedTuple):
    F: Any
    W: Any
    R: Any
    V: Any


def random_case(rng, n=40, q=7, c=5, k=2):
    """Everything random, nothing structured: for identities."""
    half = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.2)
    W = half + half.T
    np.fill_diagonal(W, 0)
    R = rng.uniform(size=(n, c)) * (rng.uniform(size=(n, c)) < 0.6)
    R[3] = 0
    return Case(rng.standard_normal((n, q)), csr_array(W / W.sum()), R / R.sum(), rng.standard_normal((c, k)))


def ring_case(rng, c=6, each=40, spread=0.25):
    """Blobs on a ring, prototypes on a turned and stretched one, features as distances to samples."""
    angle = 2 * np.pi * np.arange(c) / c
    centres = 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    labels = np.repeat(np.arange(c), each)
    X = centres[labels] + spread * rng.standard_normal((c * each, 2))
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    near = np.argsort(distances, axis=1)[:, 1:9]
    W = np.zeros(distances.shape)
    np.put_along_axis(W, near, 1.0, axis=1)
    W = W + W.T
    R = np.eye(c)[labels]
    V = np.stack([np.cos(angle + 1), 0.8 * np.sin(angle + 1)], axis=1)
    return Case(distances[:, :: max(1, each // 8)], csr_array(W / W.sum()), csr_array(R / R.sum()), V), labels


def pair_sum(case, U, Vp, alpha, eta, anchors=None):
    """The objective as written, pair by pair."""
    Z, E = case.F @ U, case.V @ Vp
    R, W = np.asarray(case.R), case.W.toarray()
    total = 0.0
    for i in range(len(Z)):
        for j in range(len(E)):
            total += alpha * eta * R[i, j] * ((Z[i] - E[j]) ** 2).sum()
        for j in range(len(Z)):
            total += (1 - alpha) * W[i, j] * ((Z[i] - Z[j]) ** 2).sum() / 2
    apart = np.linalg.norm(case.V[:, None] - case.V[None], axis=2)
    apart /= apart.sum()
    for i in range(len(E)):
        for j in range(len(E)):
            total -= alpha * (1 - eta) * apart[i, j] * ((E[i] - E[j]) ** 2).sum() / 2
    if anchors is not None:
        for a, place, strength in zip(anchors.index, anchors.places, anchors.strengths, strict=True):
            total += strength * ((Z[a] - Vp.T @ place) ** 2).sum()
    return total


def schur_least(matrix, k):
    """The smallest eigenvalue of the Schur complement of the first block."""
    A, B, C = matrix[:-k, :-k], matrix[:-k, -k:], matrix[-k:, -k:]
    return np.linalg.eigvalsh(C - B.T @ solve(A, B, assume_a="pos"))[0]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("alpha", "eta"), [(0.3, 0.8), (0.9, 0.2), (1.0, 0.5)])
@pytest.mark.parametrize("held", [False, True])
def test_quadratic_form_is_the_sum_over_pairs(rng, sparse, alpha, eta, held):
    case = random_case(rng)
    anchors = Anchors(np.array([2, 5]), rng.standard_normal((2, 2)), np.array([0.1, 0.03])) if held else None
    R = csr_array(case.R) if sparse else case.R
    matrix = quadratic_form(case.F, case.W, R, case.V, alpha, anchors).at(eta)
    U, Vp = rng.standard_normal((7, 2)), rng.standard_normal((2, 2))
    P = np.vstack([U, Vp])
    assert np.array_equal(matrix, matrix.T)
    assert np.trace(P.T @ matrix @ P) == pytest.approx(pair_sum(case, U, Vp, alpha, eta, anchors), rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_axes_are_orthogonal_of_unit_length_and_cost_what_their_eigenvalues_say(rng, k):
    case = random_case(rng, k=k)
    result = eigen_cova(*case, alpha=0.9, eta=0.1)
    U, Vp = result.projection, result.prototype_map
    assert U.shape == (7, k)
    assert Vp.shape == (k, k)
    for part in (U.T @ U, Vp.T @ Vp):
        assert np.allclose(part, np.diag(np.diagonal(part)), atol=1e-12)
    assert np.allclose((U**2).sum(axis=0) + (Vp**2).sum(axis=0), 1, atol=1e-13)
    for t in range(k):
        cost = pair_sum(case, U[:, [t]], Vp[:, [t]], 0.9, 0.1)
        assert result.eigenvalues[t] == pytest.approx(cost, abs=1e-13)
    assert np.allclose(result.prototypes, case.V @ Vp)
    stacked = np.vstack([U, Vp])
    assert (stacked[np.abs(stacked).argmax(axis=0), np.arange(k)] > 0).all()


def test_deflation_is_that_of_the_features_and_prototypes(rng):
    """Take u out of F and v out of V, form everything anew, and search inside the complement."""
    case = random_case(rng, k=3)
    alpha, eta = 0.9, 0.3
    apart = np.linalg.norm(case.V[:, None] - case.V[None], axis=2)
    L = np.diag(apart.sum(axis=1)) - apart
    L = L / apart.sum()
    LW = np.diag(case.W.toarray().sum(axis=1)) - case.W.toarray()
    F, V = case.F, case.V
    known = np.zeros((10, 0))
    expected = []
    for _ in range(3):
        matrix = np.block(
            [
                [
                    (1 - alpha) * F.T @ LW @ F + alpha * eta * F.T @ np.diag(case.R.sum(axis=1)) @ F,
                    -alpha * eta * F.T @ case.R @ V,
                ],
                [
                    -alpha * eta * V.T @ case.R.T @ F,
                    alpha * eta * V.T @ np.diag(case.R.sum(axis=0)) @ V - alpha * (1 - eta) * V.T @ L @ V,
                ],
            ]
        )
        assert np.abs(matrix @ known).max(initial=0.0) < 1e-13
        basis = np.linalg.svd(known, full_matrices=True)[0][:, known.shape[1] :]
        values, vectors = np.linalg.eigh(basis.T @ matrix @ basis)
        p = basis @ vectors[:, 0]
        expected.append((values[0], p))
        u, v = p[:7], p[7:]
        F = F - np.outer(F @ u, u) / (u @ u)
        V = V - np.outer(V @ v, v) / (v @ v)
        known = np.column_stack([known, np.append(u / np.linalg.norm(u), 0 * v)])
        known = np.column_stack([known, np.append(0 * u, v / np.linalg.norm(v))])
    axes = axes_of(quadratic_form(*case, alpha).at(eta), 3)
    for t, (value, p) in enumerate(expected):
        assert axes.values[t] == pytest.approx(value, abs=1e-12)
        assert abs(axes.vectors[:, t] @ p) == pytest.approx(1, abs=1e-9)


def test_an_axis_never_repeats_an_earlier_one_though_all_eigenvalues_are_positive(rng):
    case = random_case(rng)
    with pytest.warns(RelscapeWarning, match="eta=0.99 is too large"):
        result = eigen_cova(*case, alpha=0.5, eta=0.99)
    assert (result.eigenvalues > 0).all()
    assert not result.negative
    assert abs(result.projection[:, 0] @ result.projection[:, 1]) < 1e-12


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("eta", [0.05, 0.3, 0.6, 0.9, 0.99])
def test_sign_of_the_spectrum_is_that_of_the_schur_complement(rng, alpha, eta):
    matrix = quadratic_form(*random_case(rng), alpha).at(eta)
    assert (axes_of(matrix, 2).values[0] < 0) == (schur_least(matrix, 2) < 0)


def test_auto_keeps_the_usual_eta_where_it_works(rng):
    case, _ = ring_case(rng)
    result = eigen_cova(*case, alpha=0.9)
    assert result.eta == 0.8
    assert result.negative


def test_auto_lowers_eta_to_the_largest_that_works(rng):
    case = random_case(rng)
    with pytest.warns(RelscapeWarning, match=r"eta was lowered from 0\.8 to 0\.\d+"):
        result = eigen_cova(*case, alpha=0.9)
    assert result.negative
    assert (result.eigenvalues < 0).all()
    form = quadratic_form(*case, 0.9)
    scan = [
        thousandth / 1000
        for thousandth in range(1, 800)
        if (axes_of(form.at(thousandth / 1000), 2).values < 0).all()
    ]
    assert result.eta == scan[-1]
    assert len(scan) == round(1000 * scan[-1])


def test_a_suggested_eta_works(rng):
    case = random_case(rng)
    with pytest.warns(RelscapeWarning) as caught:
        eigen_cova(*case, alpha=0.9, eta=0.95)
    suggested = float(str(caught[0].message).split("Up to ")[1].split()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert eigen_cova(*case, alpha=0.9, eta=suggested).negative


def test_samples_come_to_their_prototypes(rng):
    case, labels = ring_case(rng)
    result = eigen_cova(*case, alpha=0.9)
    Z = case.F @ result.projection
    nearest = np.linalg.norm(Z[:, None] - result.prototypes[None], axis=2).argmin(axis=1)
    assert (nearest == labels).mean() > 0.95


def test_a_common_scale_of_weights_of_prototypes_does_not_matter(rng):
    """Distances of prototypes count relative to each other, so that V and E only stretch together."""
    case, _ = ring_case(rng)
    one = quadratic_form(*case, 0.9)
    big = quadratic_form(case.F, case.W, case.R, 10 * case.V, 0.9)
    stretch = np.diag(np.append(np.ones(case.F.shape[1]), [10.0, 10.0]))
    assert np.allclose(big.at(0.7), stretch @ one.at(0.7) @ stretch, atol=1e-12 * np.abs(big.at(0.7)).max())


def test_anchors_draw_samples_to_their_places_among_the_prototypes(rng):
    case, _ = ring_case(rng)
    place = case.V[[3]]
    gaps = []
    for strength in (0.0, 0.01, 0.1):
        anchors = Anchors(np.array([0]), place, np.array([strength]))
        result = eigen_cova(*case, alpha=0.9, eta=0.5, anchors=anchors)
        gaps.append(np.linalg.norm(case.F[0] @ result.projection - place @ result.prototype_map))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < gaps[0] / 2


def test_prototypes_on_a_line_leave_an_axis_without_cohorts(rng):
    case, _ = ring_case(rng)
    V = np.column_stack([np.arange(6.0), np.zeros(6)])
    result = eigen_cova(case.F, case.W, case.R, V, alpha=0.9, eta=0.3)
    assert result.eigenvalues[0] < 0
    assert not result.negative
    assert np.isfinite(result.projection).all()


def test_features_that_say_nothing_are_reported(rng):
    case, _ = ring_case(rng)
    F = 1e6 * rng.standard_normal(case.F.shape)
    with pytest.warns(RelscapeWarning):
        result = eigen_cova(F, case.W, case.R, case.V, alpha=0.9)
    assert np.isfinite(result.projection).all()


def test_the_result_is_repeatable(rng):
    case, _ = ring_case(rng)
    one, two = eigen_cova(*case, alpha=0.9), eigen_cova(*case, alpha=0.9)
    assert np.array_equal(one.projection, two.projection)


def test_refusals(rng):
    case = random_case(rng)
    with pytest.raises(ParameterError, match="alpha=0"):
        eigen_cova(*case, alpha=0.0)
    for eta in (0.0, 1.0, "low"):
        with pytest.raises(ParameterError, match="eta="):
            eigen_cova(*case, alpha=0.5, eta=eta)
    with pytest.raises(DataError, match="one place"):
        eigen_cova(case.F, case.W, case.R, np.ones((5, 2)), alpha=0.5)
    with pytest.raises(ParameterError, match=r"confidences \(40, 4\)"):
        eigen_cova(case.F, case.W, case.R, np.ones((4, 2)), alpha=0.5)
    with pytest.raises(ParameterError, match="there are 1"):
        eigen_cova(case.F[:, :1], case.W, case.R, case.V, alpha=0.5)
