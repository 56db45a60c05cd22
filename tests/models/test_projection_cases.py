"""The named special cases against their textbook forms and scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, sqrtm
from sklearn.cross_decomposition import CCA

from relscape.errors import DataError, ParameterError, RelscapeWarning
from relscape.models.projection import HeterogeneousProjection
from relscape.models.projection_cases import LPP, MultiViewLPP, RidgeCCA
from relscape.solvers import whitening


@pytest.fixture
def views(rng):
    shared = rng.normal(size=(60, 3))
    X = shared @ rng.normal(size=(3, 5)) + 0.5 * rng.normal(size=(60, 5)) + 1.0
    Y = shared @ rng.normal(size=(3, 4)) + 0.5 * rng.normal(size=(60, 4))
    return X, Y


@pytest.fixture
def graph(rng):
    W = np.triu(rng.random((60, 60)) * (rng.random((60, 60)) < 0.1), 1)
    return W + W.T


def canonical(X, Y, ridges=(0.0, 0.0)):
    """Correlations and directions by whitening and singular values."""
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    roots = [
        np.linalg.inv(sqrtm(V.T @ V + ridge * np.eye(V.shape[1])).real)
        for V, ridge in zip((X, Y), ridges, strict=True)
    ]
    U, rho, Vt = np.linalg.svd(roots[0] @ X.T @ Y @ roots[1])
    return rho, roots[0] @ U, roots[1] @ Vt.T


def test_lpp(views, graph):
    X = views[0]
    model = LPP(3, regularization=0, center=False).fit(X, graph)
    D = np.diag(graph.sum(axis=1))
    values, vectors = eigh(X.T @ (D - graph) @ X, X.T @ D @ X)
    assert_allclose(model.eigenvalues_, values[:3], atol=1e-8)
    assert_allclose(np.abs(model.projection_), np.abs(vectors[:, :3]), atol=1e-8)
    assert_allclose(model.mean_, 0.0)
    assert_allclose(model.transform(X[:4]), model.embedding_[:4])
    alone = HeterogeneousProjection(3, 0, "reference", center=False).fit({"x": X}, {("x", "x"): graph})
    assert_allclose(alone.eigenvalues_, values[:3], atol=1e-8)


def test_multi_view_lpp(views, graph):
    X, Y = views
    model = MultiViewLPP(2, regularization=0, center=False)
    model.fit({"x": X, "y": Y}, {"x": graph, "y": graph.T / 2})
    W = np.block([[graph, np.eye(60)], [np.eye(60), graph / 2]])
    Z = np.block([[X, np.zeros((60, 4))], [np.zeros((60, 5)), Y]])
    D = np.diag(W.sum(axis=1))
    values = eigh(Z.T @ (D - W) @ Z, Z.T @ D @ Z, eigvals_only=True)
    assert_allclose(model.eigenvalues_, values[:2], atol=1e-8)
    P = np.vstack([model.projections_["x"], model.projections_["y"]])
    assert_allclose(P.T @ Z.T @ D @ Z @ P, np.eye(2), atol=1e-8)
    assert_allclose(P.T @ Z.T @ (D - W) @ Z @ P, np.diag(values[:2]), atol=1e-8)
    a, b = model.projections_["x"][:, 0], model.projections_["y"][:, 0]
    cost = sum(
        (V @ v) @ (np.diag(G.sum(axis=1)) - G) @ (V @ v) for V, v, G in ((X, a, graph), (Y, b, graph / 2))
    )
    assert model.costs_[0] == pytest.approx(cost + ((X @ a - Y @ b) ** 2).sum())


def test_cca(views):
    X, Y = views
    model = RidgeCCA(4, regularization=0).fit(X, Y)
    rho, left, right = canonical(X, Y)
    assert_allclose(model.correlations_, rho, atol=1e-8)
    assert_allclose(np.abs(model.projections_["x"]), np.abs(left[:, :4]) / np.sqrt(2), atol=1e-8)
    assert_allclose(np.abs(model.projections_["y"]), np.abs(right) / np.sqrt(2), atol=1e-8)
    peer = CCA(n_components=1, tol=1e-12, max_iter=5000).fit(X, Y)
    agreed = [np.corrcoef(peer.transform(X)[:, 0], model.embeddings_["x"][:, 0])[0, 1]]
    agreed += [np.corrcoef(*(points[:, 0] for points in model.transform(X, Y)))[0, 1]]
    assert np.abs(agreed[0]) == pytest.approx(1.0, abs=1e-6)
    assert agreed[1] == pytest.approx(rho[0], abs=1e-8)


def test_plain_cca_of_large_tables_keeps_all_directions(views, monkeypatch):
    monkeypatch.setattr(whitening, "DENSE_ENTRIES", 0)
    monkeypatch.setattr(whitening, "RANK", 2)
    assert_allclose(RidgeCCA(4, regularization=0).fit(*views).correlations_, canonical(*views)[0], atol=1e-8)


def test_the_whole_spectrum_of_cca(views):
    """1 − ρ, 1 + ρ and ones for what one view has more."""
    with pytest.warns(UserWarning, match="only 4 of 9 axes"):
        model = RidgeCCA(9, regularization=0).fit(*views)
    rho = canonical(*views)[0]
    assert_allclose(model.eigenvalues_, np.sort([*(1 - rho), *(1 + rho), 1.0]), atol=1e-8)


def test_ridge_cca(views):
    X, Y = views
    model = RidgeCCA(3, regularization={"x": 0.3, "y": 0.05}).fit(X, Y)
    rho, left, _ = canonical(X, Y, (model.ridges_["x"], model.ridges_["y"]))
    assert model.ridges_["x"] == pytest.approx(0.3 * ((X - X.mean(axis=0)) ** 2).sum() / 5)
    assert_allclose(model.correlations_, rho[:3], atol=1e-8)
    assert_allclose(np.abs(model.projections_["x"]), np.abs(left[:, :3]) / np.sqrt(2), atol=1e-8)


def test_related_instances_are_cca_on_the_list_of_pairs(views, rng):
    X, Y = views[0][:20], views[1][:15]
    related = (rng.random((20, 15)) < 0.3).astype(float)
    i, j = np.nonzero(related)
    rho, left, right = canonical(X[i], Y[j])
    joint = HeterogeneousProjection(2, 0).fit({"x": X, "y": Y}, {("x", "y"): related})
    assert_allclose(joint.strengths_, rho[:2], atol=1e-8)
    one = HeterogeneousProjection(2, 0, "reference").fit({"x": X, "y": Y}, {("x", "y"): related})
    assert_allclose(one.eigenvalues_, 1 - rho[:2] ** 2, atol=1e-8)
    assert_allclose(np.abs(one.projections_["x"]), np.abs(left[:, :2]), atol=1e-8)
    assert_allclose(np.abs(one.projections_["y"]), np.abs(right[:, :2]) * rho[:2], atol=1e-8)


def test_views_must_fit_together(views):
    X, Y = views
    with pytest.raises(DataError, match=r"'x' has 60, 'y' has 59; a row is one sample"):
        RidgeCCA().fit(X, Y[1:])
    with pytest.raises(DataError, match="at least two views"):
        MultiViewLPP().fit({"x": X})
    for given in ((X, None), (3, Y)):
        with pytest.raises(DataError, match=r"view '[xy]' is of type (NoneType|int); give a table"):
            RidgeCCA().fit(*given)
    ids = [f"s{i}" for i in range(60)]
    frames = pd.DataFrame(X, index=ids), pd.DataFrame(Y, index=ids[::-1])
    with pytest.warns(RelscapeWarning, match="those of 'x' in another order; rows are taken"):
        RidgeCCA().fit(*frames)
    with pytest.raises(ParameterError, match="center='no'"):
        LPP(center="no").fit(X, np.ones((60, 60)))
    with pytest.raises(DataError, match="by view"):
        MultiViewLPP().fit({"x": X, "y": Y}).transform(X)
