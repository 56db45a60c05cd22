"""Parametric embedding and sufficient dimensionality reduction against what they must equal."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from relscape.datasets import load_smoking
from relscape.errors import DataError
from relscape.matrix.operators import LocalRelation
from relscape.models.code import CODE
from relscape.models.special import SDR, ParametricEmbedding
from relscape.objectives.bilinear import BilinearObjective, balanced
from relscape.objectives.cooccurrence import MODELS, Table

SMOKING = load_smoking().matrix().toarray().astype(float)


def test_parametric_embedding_minimises_the_divergence_of_posteriors(rng):
    """Σ KL(p(c|x) ‖ q(c|x)), written out, is what the likelihood of equal rows falls short by."""
    posteriors = rng.dirichlet(np.ones(7), size=30)
    model = ParametricEmbedding(ridge=1e-5, n_restarts=1).fit(posteriors)
    prior = posteriors.mean(axis=0)
    squares = ((model.row_embedding_[:, None] - model.column_embedding_) ** 2).sum(axis=2)
    q = prior * np.exp(-squares)
    q /= q.sum(axis=1, keepdims=True)
    divergence = (posteriors * np.log(posteriors / q)).sum() / 30
    assert model.saturated_log_likelihood_ - model.log_likelihood_ == pytest.approx(divergence, abs=1e-12)
    plain = CODE(equal_rows=True, ridge=1e-5, n_restarts=1).fit(posteriors)
    assert_allclose(model.row_embedding_, plain.row_embedding_)


def test_parametric_embedding_recovers_sure_classes(rng):
    """Objects of which a classifier is sure lie nearest to their class."""
    sure = np.full((40, 8), 0.01)
    classes = rng.integers(8, size=40)
    sure[np.arange(40), classes] = 1.0
    model = ParametricEmbedding(3, ridge=1e-4, n_restarts=2, random_state=0).fit(sure)
    distances = ((model.row_embedding_[:, None] - model.column_embedding_) ** 2).sum(axis=2)
    assert (distances.argmin(axis=1) == classes).mean() > 0.9


def test_rows_too_uneven_to_weigh_the_same():
    with pytest.raises(DataError, match=r"between 1\.4e-18 and 5: too far apart"):
        ParametricEmbedding(1).fit([[4.0, 1.0], [1.4e-18, 0.0]])


def point_of(rng, shape, q):
    point = rng.normal(size=(sum(shape), q + 1))
    point[: shape[0], q] = 0.0
    return point


def test_the_gradient_of_the_bilinear_model(rng):
    counts = rng.poisson(2.0, size=(6, 5)) + 1.0
    objective = BilinearObjective(Table(LocalRelation(counts)), ridge=0.1)
    point = point_of(rng, (6, 5), 2)
    _, gradient = objective.value_and_gradient(point)
    step = 1e-6
    for at in np.ndindex(point.shape):
        moved = np.zeros_like(point)
        moved[at] = step
        up, down = (objective.value_and_gradient(point + s * moved)[0] for s in (1, -1))
        assert gradient[at] == pytest.approx((up - down) / (2 * step), abs=1e-7)


def test_the_value_is_the_log_bilinear_likelihood(rng):
    counts = rng.poisson(2.0, size=(6, 5)) + 1.0
    table = Table(LocalRelation(counts))
    point = point_of(rng, (6, 5), 2)
    rows, columns = point[:6, :2], point[6:, :2]
    logs = point[6:, 2] - (columns**2).sum(axis=1) + 2 * rows @ columns.T
    p = counts / counts.sum()
    logs = np.log(p.sum(axis=1, keepdims=True)) + logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
    value, _ = BilinearObjective(table).value_and_gradient(point)
    assert value == pytest.approx(-(p * logs).sum(), rel=1e-12)
    i, j = np.indices(p.shape).reshape(2, -1)
    same = balanced(table, point)
    assert_allclose(same.log_density(i, j), logs.ravel(), rtol=1e-10)
    assert_allclose(same.rows.T @ same.rows, same.columns.T @ same.columns, atol=1e-10)
    assert (same.rows**2).sum() + (same.columns**2).sum() <= (point[:, :2] ** 2).sum() + 1e-9


@pytest.mark.parametrize(("q", "best"), [(2, -2.6500635786), (3, -2.6497569375)])
def test_sdr_on_the_smoking_table(q, best):
    """In the plane it shares the optimum of conditional CODE, in space it is saturated (spec 3.1)."""
    assert SDR(q, ridge=1e-10).fit(SMOKING).log_likelihood_ == pytest.approx(best, abs=1e-8)


def test_sdr_keeps_both_marginals(rng):
    counts = rng.poisson(3.0, size=(20, 15)) + 0.5
    model = SDR(2, ridge=1e-9).fit(counts)
    p = model.conditional(np.arange(20)) * (counts.sum(axis=1) / counts.sum())[:, None]
    assert_allclose(p.sum(axis=0), counts.sum(axis=0) / counts.sum(), atol=1e-6)


@pytest.mark.filterwarnings("ignore:the likelihood may not be at its highest")
@pytest.mark.parametrize("letters", MODELS)
def test_no_model_of_code_is_more_likely_than_sdr(rng, letters):
    counts = rng.poisson(3.0, size=(12, 10)) + 0.5
    best = SDR(2, ridge=1e-7, n_restarts=3, random_state=0).fit(counts).log_likelihood_
    code = CODE(2, letters, ridge=1e-7, n_restarts=2, max_iterations=300, random_state=0).fit(counts)
    assert code.log_likelihood_ <= best + 1e-6


def test_training_rows_come_back_to_their_place(rng):
    counts = rng.poisson(3.0, size=(20, 15)) + 0.5
    model = SDR(2, ridge=1e-4).fit(counts)
    assert_allclose(model.transform(counts), model.row_embedding_, atol=1e-5)
    assert model.log_likelihood(counts) == pytest.approx(model.log_likelihood_, rel=1e-10)
