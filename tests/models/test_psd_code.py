"""PSD-CODE: the path of λ, its choice, polishing, the factored route, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from relscape import progress
from relscape.datasets import load_smoking
from relscape.errors import ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix.operators import LocalRelation
from relscape.models import psd_code
from relscape.models.psd_code import PSDCODE
from relscape.objectives.cooccurrence import MODELS, CooccurrenceObjective, Table
from relscape.solvers.descent import lowest, minimise

# Known optima of CM on the smoking table (section 12 of the specification).
BEST = {1: -2.6547035011, 2: -2.6500635786, 3: -2.6497569375}
INDEPENDENT = -2.6921082148


@pytest.fixture(scope="module")
def fitted():
    return PSDCODE(n_lambdas=25, tolerance=1e-4, max_iterations=20_000).fit(load_smoking())


@pytest.fixture
def counts(rng):
    topics, shares = rng.dirichlet(np.full(15, 0.3), 3), rng.dirichlet(np.full(3, 0.5), 20)
    return rng.poisson(60 * shares @ topics) + np.eye(20, 15)


def column(model, name):
    return np.array([station[name] for station in model.path_])


def test_g1_the_likeliest_map_of_the_smoking_table_lies_within_the_path(fitted):
    largest = fitted.path_[0]["lambda"]
    assert_allclose(largest, 0.0820158319, atol=5e-11)
    assert 0.025 < fitted.lambda_ / largest < 0.036
    assert_allclose(fitted.log_likelihood_, -2.651566, atol=2e-6)
    fine = PSDCODE(n_lambdas=2, lambda_ratio=0.030, tolerance=1e-5, max_iterations=20_000)
    fine.fit(load_smoking())
    assert_allclose(fine.log_likelihood_, -2.651566, atol=6e-7)
    assert_allclose(fine.gram_eigenvalues_[:3], [1.098, 0.558, 0.115], atol=2e-3)
    assert_allclose(fine.gram_eigenvalues_[3:], 0.0, atol=1e-3)


def test_j11_trace_and_likelihood_grow_as_lambda_falls(fitted):
    assert column(fitted, "converged").all()
    assert_allclose(np.diff(np.log(column(fitted, "lambda"))), np.log(1e-3) / 24)
    assert (np.diff(column(fitted, "trace")) > 0).all()
    assert (np.diff(column(fitted, "log_likelihood")) > 0).all()
    first, last = fitted.path_[0], fitted.path_[-1]
    assert_allclose(first["log_likelihood"], INDEPENDENT, atol=5e-11)
    assert first["trace"] == 0.0
    assert BEST[2] < last["log_likelihood"] <= BEST[3] + 1e-9
    assert_allclose(last["log_likelihood"], BEST[3], atol=1e-6)


def test_g9_the_end_of_the_path_is_not_the_best_map(fitted):
    assert_allclose(fitted.path_[-1]["projected_log_likelihood"], -2.65186, atol=3e-5)
    assert fitted.path_[-1]["projected_log_likelihood"] < fitted.log_likelihood_ - 2e-4


def test_rank_two_only_where_the_penalty_shrinks(fitted):
    for station in fitted.path_:
        part = station["lambda"] / fitted.path_[0]["lambda"]
        if 0.1 < part < 0.19:
            assert_allclose(station["projected_log_likelihood"], station["log_likelihood"], atol=1e-6)
            assert station["projected_log_likelihood"] < -2.6529


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_map_is_never_likelier_than_the_best_code_and_polished_reaches_it(k):
    rough = PSDCODE(k).fit(load_smoking())
    polished = PSDCODE(k, polish=True).fit(load_smoking())
    assert rough.log_likelihood_ < BEST[k]
    assert rough.log_likelihood_ <= polished.log_likelihood_ <= BEST[k] + 1e-9
    assert_allclose(polished.log_likelihood_, BEST[k], atol=2e-6)
    assert polished.polish_result_.converged
    assert polished.lambda_ == rough.lambda_


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_a_path_that_bounds_its_low_rank_optima(counts, model, rng):
    fitted = PSDCODE(model=model, n_lambdas=8, lambda_ratio=0.05).fit(counts)
    assert_allclose(fitted.log_likelihood_, max(column(fitted, "projected_log_likelihood")), rtol=1e-12)
    assert (column(fitted, "projected_log_likelihood") <= column(fitted, "log_likelihood") + 1e-3).all()
    assert (column(fitted, "log_likelihood") <= fitted.saturated_log_likelihood_).all()
    penalty, trace = fitted.path_[-1]["lambda"], fitted.path_[-1]["trace"]
    objective = CooccurrenceObjective(Table(LocalRelation(counts)), model, penalty)
    starts = [rng.uniform(-1, 1, (35, 2)) for _ in range(2)]
    low = lowest([minimise(objective, start, tolerance=1e-5) for start in starts])
    assert penalty * trace - fitted.path_[-1]["log_likelihood"] <= low.value + 1e-6


def test_the_likelihood_is_that_of_the_map(fitted):
    joint = load_smoking().matrix().toarray() / 193
    rows, columns = fitted.row_embedding_, fitted.column_embedding_
    weights = joint.sum(axis=0) * np.exp(-cdist(rows, columns, "sqeuclidean"))
    p = joint.sum(axis=1, keepdims=True) * weights / weights.sum(axis=1, keepdims=True)
    assert_allclose(fitted.log_likelihood_, np.sum(joint * np.log(p)), rtol=1e-12)
    points = fitted.solve_result_.point
    assert_allclose(fitted.gram_eigenvalues_, np.linalg.svd(points, compute_uv=False) ** 2, atol=1e-12)
    assert_allclose(np.vstack([rows, columns]).sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("model", ["CM", "MM", "UC"])
def test_g3_factored_and_whole_paths_agree(counts, model):
    settings = {"n_lambdas": 7, "lambda_ratio": 0.03, "tolerance": 1e-4, "max_iterations": 10_000}
    whole = PSDCODE(model=model, **settings).fit(counts)
    parts = PSDCODE(model=model, solver="factored", **settings).fit(csr_array(counts))
    assert column(whole, "converged").all()
    assert column(parts, "converged").all()
    assert_allclose(column(parts, "lambda"), column(whole, "lambda"), rtol=1e-9)
    value = [column(m, "lambda") * column(m, "trace") - column(m, "log_likelihood") for m in (whole, parts)]
    assert_allclose(value[1], value[0], rtol=1e-5)
    assert parts.lambda_ == pytest.approx(whole.lambda_)
    assert_allclose(parts.log_likelihood_, whole.log_likelihood_, atol=1e-3)


def test_equal_rows_weighs_every_row_the_same(counts):
    scaled = counts * np.arange(1, 21)[:, None]
    settings = {"equal_rows": True, "n_lambdas": 5, "lambda_ratio": 0.1}
    one, other = PSDCODE(**settings).fit(counts), PSDCODE(**settings).fit(scaled)
    assert_allclose(one.log_likelihood_, other.log_likelihood_, rtol=1e-6)
    assert_allclose(one.row_embedding_, other.row_embedding_, atol=1e-3)


def test_objects_without_relation_are_left_out(counts):
    wider = np.zeros((21, 16))
    wider[1:, 1:] = counts
    with pytest.warns(RelscapeWarning, match="no relation at all"):
        model = PSDCODE(n_lambdas=4, lambda_ratio=0.1).fit(wider)
    alone = PSDCODE(n_lambdas=4, lambda_ratio=0.1).fit(counts)
    assert_array_equal(np.isnan(model.row_embedding_).any(axis=1), np.arange(21) == 0)
    assert_array_equal(np.isnan(model.column_embedding_).any(axis=1), np.arange(16) == 0)
    assert_allclose(model.row_embedding_[1:], alone.row_embedding_, atol=1e-3)


def test_new_objects_find_places_and_a_saved_model_is_the_same(counts, tmp_path):
    model = PSDCODE(n_lambdas=5, lambda_ratio=0.05).fit(counts)
    placed = model.transform(counts[:3])
    assert placed.shape == (3, 2)
    assert np.isfinite(placed).all()
    assert model.transform_columns(counts[:, :2]).shape == (2, 2)
    back = PSDCODE.load(model.save(tmp_path / "model"))
    assert_allclose(back.transform(counts[:3]), placed)
    assert back.path_ == model.path_
    assert_array_equal(back.solve_result_.point, model.solve_result_.point)
    assert model.to_map().scores["log_likelihood"] == model.log_likelihood_


def test_progress_counts_the_path(counts):
    seen = []

    class Reporter:
        def task(self, title, total):
            seen.append((title, total))
            return self

        def note(self, text):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def advance(self, steps=1):
            seen.append(steps)

    with progress.reporting(Reporter()):
        PSDCODE(n_lambdas=3, lambda_ratio=0.5).fit(counts)
    assert seen == [("following the path of λ", 3), 1, 1, 1]


# ---------------------------------------------------------------------- refusals and warnings


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_lambdas": 1}, "n_lambdas=1"),
        ({"lambda_ratio": 1.0}, "between 0 and 1"),
        ({"lambda_ratio": 0.0}, "between 0 and 1"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"),
    ],
)
def test_parameters_out_of_range_are_refused(counts, settings, words):
    with pytest.raises(ParameterError, match=words):
        PSDCODE(**settings).fit(counts)


@pytest.mark.parametrize("settings", [{"solver": "newton"}, {"model": "CC"}])
def test_unknown_names_are_refused(counts, settings):
    with pytest.raises(UnknownNameError):
        PSDCODE(**settings).fit(counts)


@pytest.mark.parametrize("solver", ["gradient", "factored"])
def test_an_independent_table_has_nothing_to_show(solver):
    with pytest.raises(ParameterError, match="independent"):
        PSDCODE(solver=solver).fit(np.outer([1, 2, 3], [1, 1, 4]))


@pytest.mark.parametrize(
    ("solver", "advice"), [("gradient", "tolerance, or use"), ("factored", r"tolerance\.$")]
)
def test_a_solution_that_is_not_certified_is_told(counts, solver, advice):
    with pytest.warns(RelscapeWarning, match=f"not certified optimal: 2 iterations are spent.*{advice}"):
        PSDCODE(n_lambdas=3, lambda_ratio=0.01, max_iterations=2, solver=solver).fit(counts)


def test_axes_that_are_not_there_are_zero():
    with pytest.warns(RelscapeWarning, match="n_components=5, but the likeliest solution has"):
        model = PSDCODE(5, n_lambdas=2, lambda_ratio=0.5).fit(load_smoking())
    assert not model.row_embedding_[:, 1:].round(5).any()


def test_memory_is_told_before_it_is_taken(monkeypatch):
    with pytest.warns(RelscapeWarning, match=r"3000 rows and 2000 columns: about 2\.4 GB.*factored"):
        psd_code._check_memory(3000, 2000)
    monkeypatch.setattr(psd_code, "_machine_memory", lambda: 10**8)
    with pytest.raises(ParameterError, match=r"2\.4 GB, but this machine has 0\.1 GB.*'factored', or CODE"):
        psd_code._check_memory(3000, 2000)
    monkeypatch.setattr(psd_code, "_machine_memory", lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        psd_code._check_memory(1000, 1000)
