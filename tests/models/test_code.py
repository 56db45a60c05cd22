"""CODE as an estimator: known optima, newcomers, its distribution, starts and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from relscape.datasets import load_smoking
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.models.code import CODE
from relscape.objectives.cooccurrence import MODELS

SMOKING = load_smoking().matrix().toarray().astype(float)


@pytest.fixture
def planted(rng):
    """Counts drawn from CM with known places."""
    rows, columns = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    weights = rng.dirichlet(np.full(30, 5.0))
    p = weights * np.exp(-((rows[:, None] - columns) ** 2).sum(axis=2))
    return rng.poisson(400 * p / p.sum(axis=1, keepdims=True)).astype(float)


@pytest.mark.parametrize(("q", "best"), [(1, -2.6547035011), (2, -2.6500635786), (3, -2.6497569375)])
def test_the_known_optima_of_the_smoking_table(q, best):
    model = CODE(q, ridge=0.0, n_restarts=3, random_state=0).fit(SMOKING)
    assert model.log_likelihood_ == pytest.approx(best, abs=2e-10)
    assert model.log_likelihood_ <= model.saturated_log_likelihood_ + 1e-12


@pytest.mark.parametrize("letters", ["CM", "CU", "MC", "UC"])
def test_conditional_models_share_their_optimum_on_a_small_table(letters):
    model = CODE(model=letters, ridge=1e-9, random_state=0).fit(SMOKING)
    assert model.log_likelihood_ == pytest.approx(-2.6500635786, abs=1e-8)


def test_conjugate_gradients_reach_the_same(planted):
    first = CODE(ridge=1e-4, n_restarts=1, tolerance=1e-6).fit(planted)
    second = CODE(ridge=1e-4, n_restarts=1, tolerance=1e-6, solver="cg").fit(planted)
    assert second.solve_result_.converged
    assert second.solve_result_.value == pytest.approx(first.solve_result_.value, abs=1e-7)


def test_without_a_ridge_points_run_away_and_with_one_they_do_not():
    """A row with one column at the hull has no finite place (spec of CODE, 3.1)."""
    table = np.array([[5.0, 0, 0, 0], [1, 2, 3, 1], [2, 1, 1, 3], [1, 3, 1, 2], [2, 2, 1, 1], [1, 1, 2, 2]])
    free = CODE(1, ridge=0.0, n_restarts=1).fit(table)
    held = CODE(1, ridge=1e-2, n_restarts=1).fit(table)
    assert np.abs(free.row_embedding_).max() > 3 * np.abs(held.row_embedding_).max()
    assert held.solve_result_.converged


def test_the_moment_condition_holds_at_an_optimum(planted):
    """Model and data agree on the mean place of every row's columns (equation 9)."""
    model = CODE(ridge=0.0, n_restarts=1, tolerance=1e-9).fit(planted + 0.5)
    counts = planted + 0.5
    observed = counts @ model.column_embedding_ / counts.sum(axis=1, keepdims=True)
    assert_allclose(model.conditional(np.arange(40)) @ model.column_embedding_, observed, atol=1e-5)


@pytest.mark.parametrize("letters", MODELS)
def test_the_best_of_several_starts_wins(letters):
    model = CODE(model=letters, ridge=1e-3, n_restarts=4, random_state=1).fit(SMOKING)
    values = [end["value"] for end in model.restarts_]
    assert len(values) == 4
    assert model.solve_result_.value <= min(values) + 1e-9
    penalty = 1e-3 * (model.row_embedding_**2).sum() + 1e-3 * (model.column_embedding_**2).sum()
    assert penalty - model.log_likelihood_ == pytest.approx(model.solve_result_.value, abs=1e-7)


def test_coordinates_are_centred_and_turned_to_principal_axes(planted):
    model = CODE(n_restarts=1, ridge=1e-4).fit(planted)
    points = np.vstack([model.row_embedding_, model.column_embedding_])
    assert_allclose(points.mean(axis=0), 0.0, atol=1e-12)
    scatter = points.T @ points
    assert abs(scatter[0, 1]) < 1e-9 * scatter[0, 0]
    assert scatter[0, 0] >= scatter[1, 1]


@pytest.mark.parametrize("equal_rows", [False, True])
@pytest.mark.parametrize("letters", ["CM", "CU"])
def test_training_rows_come_back_to_their_place(planted, letters, equal_rows):
    model = CODE(model=letters, ridge=1e-4, n_restarts=1, equal_rows=equal_rows).fit(planted)
    assert_allclose(model.transform(planted), model.row_embedding_, atol=1e-5)


@pytest.mark.parametrize("equal_rows", [False, True])
@pytest.mark.parametrize("letters", ["MC", "UC"])
def test_training_columns_come_back_where_columns_condition(planted, letters, equal_rows):
    model = CODE(model=letters, ridge=1e-4, n_restarts=1, equal_rows=equal_rows).fit(planted)
    assert_allclose(model.transform_columns(planted), model.column_embedding_, atol=1e-5)


def enlarged_loss(place, fixed, other, counts, marginal, ridge):
    """−ℓ of a table enlarged by one column, written out; ``fixed`` condition, ``other`` are the columns."""
    p = counts / counts.sum()
    squares = ((fixed[:, None] - np.vstack([other, place])) ** 2).sum(axis=2)
    logs = -squares + (np.log(p.sum(axis=0)) if marginal else 0.0)
    logs = logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
    return -(p * logs).sum() + ridge * place @ place


@pytest.mark.parametrize(("letters", "equal_rows"), [("CM", False), ("CU", False), ("CU", True)])
def test_a_new_column_is_where_the_enlarged_table_is_most_likely(planted, letters, equal_rows):
    """The exact place against a general optimiser."""
    old, new = planted[:, :-1] + 0.1, planted[:, -1:]
    model = CODE(model=letters, ridge=1e-4, n_restarts=1, equal_rows=equal_rows).fit(old)
    frozen, exact = model.transform_columns(new)[0], model.transform_columns(new, exact=True)[0]
    table = np.hstack([old, new])
    table = table / (table.sum(axis=1, keepdims=True) if equal_rows else 1.0)
    known = (model.row_embedding_, model.column_embedding_, table, letters == "CM", 1e-4)
    slow = minimize(enlarged_loss, frozen, args=known, tol=1e-13)
    assert enlarged_loss(exact, *known) <= slow.fun + 1e-10
    assert_allclose(exact, slow.x, atol=1e-3)


@pytest.mark.parametrize("equal_rows", [False, True])
@pytest.mark.parametrize("letters", ["MC", "UC"])
def test_a_new_row_is_where_the_enlarged_table_is_most_likely(planted, letters, equal_rows):
    old, new = planted[:-1] + 0.1, planted[-1:]
    model = CODE(model=letters, ridge=1e-4, n_restarts=1, equal_rows=equal_rows).fit(old)
    frozen, exact = model.transform(new)[0], model.transform(new, exact=True)[0]
    table = np.vstack([old, new])
    table = table / (table.sum(axis=1, keepdims=True) if equal_rows else 1.0)
    known = (model.column_embedding_, model.row_embedding_, table.T, letters == "MC", 1e-4)
    slow = minimize(enlarged_loss, frozen, args=known, tol=1e-13)
    assert enlarged_loss(exact, *known) <= slow.fun + 1e-10
    assert_allclose(exact, slow.x, atol=1e-3)


def test_exact_places_elsewhere(planted):
    model = CODE(n_restarts=1, ridge=1e-3).fit(planted + 0.1)
    assert_array_equal(model.transform(planted[:3], exact=True), model.transform(planted[:3]))
    with pytest.warns(RelscapeWarning, match="get no place"):
        assert np.isnan(model.transform_columns(np.zeros((40, 1)), exact=True)).all()
    equal = CODE(n_restarts=1, ridge=1e-3, equal_rows=True).fit(planted + 0.1)
    with pytest.raises(ParameterError, match="counts of the fit"):
        equal.transform_columns(planted[:, :1], exact=True)
    joint = CODE(model="MM", n_restarts=1, ridge=1e-3).fit(planted + 0.1)
    with pytest.raises(ParameterError, match="MM has no exact place for a new row"):
        joint.transform(planted[:3], exact=True)


def test_exact_places_where_points_have_run_far(planted):
    """Normalisers of rows far from every column do not overflow."""
    planted[0] = 0
    planted[0, 0] = 5
    model = CODE(n_restarts=1, ridge=1e-9, max_iterations=5000, tolerance=1e-6).fit(planted + 1e-9)
    assert np.isfinite(model.transform_columns(planted[:, :3], exact=True)).all()


@pytest.mark.parametrize("letters", ["CM", "MM"])
def test_the_number_of_blas_threads_does_not_matter(rng, letters):
    dense = rng.poisson(1.0, size=(700, 90)) + 0.5
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(CODE(model=letters, n_restarts=1, ridge=1e-5, tolerance=1e-4).fit(dense))
    assert_array_equal(found[0].row_embedding_, found[1].row_embedding_)


def test_likelihood_of_other_counts(planted, rng):
    model = CODE(n_restarts=1).fit(planted + 0.5)
    assert model.log_likelihood(planted + 0.5) == pytest.approx(model.log_likelihood_, rel=1e-12)
    shuffled = rng.permuted(planted, axis=1)
    assert model.log_likelihood(shuffled) < model.log_likelihood(planted)
    with pytest.raises(DataError, match="40"):
        model.log_likelihood(planted[:3])


def test_likelihood_counts_rows_as_the_fit_did(planted):
    model = CODE(n_restarts=1, equal_rows=True).fit(planted + 0.5)
    assert model.log_likelihood(planted + 0.5) == pytest.approx(model.log_likelihood_, rel=1e-12)


def test_objects_without_counts_have_no_place_and_no_probability(planted):
    planted[3] = 0
    planted[:, 5] = 0
    with pytest.warns(RelscapeWarning, match="no relation"):
        model = CODE(n_restarts=1).fit(csr_array(planted))
    assert np.isnan(model.row_embedding_[3]).all()
    assert np.isnan(model.column_embedding_[5]).all()
    given = model.conditional([2, 3])
    assert given[0].sum() == pytest.approx(1.0)
    assert given[0, 5] == 0
    assert np.isnan(given[1]).all()
    i, j = model.sample(500, random_state=0)
    assert 3 not in i
    assert 5 not in j
    used = np.delete(np.delete(planted, 3, axis=0), 5, axis=1)
    whole = CODE(n_restarts=1).fit(used)
    assert whole.log_likelihood_ == pytest.approx(model.log_likelihood_, abs=1e-9)
    bad = np.zeros_like(planted)
    bad[3, 0] = 1
    with pytest.raises(DataError, match="no relation when"):
        model.log_likelihood(bad)


def test_random_starts_are_seeded(planted):
    first, second = (CODE(start="random", n_restarts=2, random_state=5).fit(planted) for _ in range(2))
    assert_array_equal(first.row_embedding_, second.row_embedding_)


def test_a_given_start_resumes(planted):
    """A fit that was cut short goes on from its own places."""
    with pytest.warns(RelscapeWarning, match="5 iterations are spent") as caught:
        short = CODE(n_restarts=1, ridge=1e-4, max_iterations=5).fit(planted)
    assert caught[0].filename == __file__
    assert not short.solve_result_.converged
    assert "5 iterations" in short.solve_result_.reason
    places = np.vstack([short.row_embedding_, short.column_embedding_])
    longer = CODE(start=places, n_restarts=1, ridge=1e-4).fit(planted)
    assert longer.log_likelihood_ > short.log_likelihood_
    assert longer.solve_result_.trace[0] == pytest.approx(short.solve_result_.value, abs=1e-4)


def test_more_dimensions_than_axes(planted):
    """Coordinates beyond what correspondence analysis can start from are used too."""
    model = CODE(4, n_restarts=1, ridge=1e-5).fit(planted[:, :3] + 1)
    assert model.row_embedding_.shape == (40, 4)
    assert model.log_likelihood_ == pytest.approx(model.saturated_log_likelihood_, abs=1e-3)


def test_more_dimensions_than_objects():
    model = CODE(9, n_restarts=1, ridge=1e-3).fit(np.array([[3.0, 1.0, 0.5], [1.0, 2.0, 1.0]]))
    assert model.row_embedding_.shape == (2, 9)
    assert model.log_likelihood_ <= model.saturated_log_likelihood_


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": "CC"}, "CC"),
        ({"model": "XY"}, "XY"),
        ({"solver": "newton"}, "newton"),
        ({"start": "pca"}, "pca"),
        ({"start": np.zeros((3, 2))}, "places for 5 rows and then 4 columns"),
        ({"start": np.full((9, 2), np.nan)}, "NaN"),
        ({"ridge": -1.0}, "ridge"),
        ({"n_restarts": 0}, "n_restarts"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"tolerance": float("nan")}, "tolerance"),
    ],
)
def test_refusals(wrong, message):
    with pytest.raises((ParameterError, UnknownNameError), match=message):
        CODE(**wrong).fit(SMOKING)


def test_conditional_refuses_rows_that_are_not_there():
    model = CODE(n_restarts=1, ridge=1e-3).fit(SMOKING)
    for rows in (5, -1, [0.5], "x"):
        with pytest.raises(ParameterError, match="positions of rows"):
            model.conditional(rows)


@pytest.mark.parametrize("letters", ["CM", "MM"])
def test_a_table_without_structure_is_said_to_tell_nothing(letters):
    with pytest.warns(RelscapeWarning, match="the map tells nothing") as caught:
        model = CODE(model=letters, n_restarts=1, ridge=1e-4).fit(np.ones((5, 4)))
    assert caught[0].filename == __file__
    assert model.log_likelihood_ == pytest.approx(model.one_place_log_likelihood_, abs=1e-6)
    assert model.one_place_log_likelihood_ == pytest.approx(-np.log(20))


def test_the_ends_of_the_likelihood():
    model = CODE(ridge=1e-6, n_restarts=1).fit(SMOKING)
    p = SMOKING / SMOKING.sum()
    independent = (p * np.log(np.outer(p.sum(axis=1), p.sum(axis=0)))).sum()
    assert model.one_place_log_likelihood_ == pytest.approx(independent, abs=1e-12)
    assert independent == pytest.approx(-2.6921082148, abs=1e-9)
    assert model.saturated_log_likelihood_ == pytest.approx(-2.6497569375, abs=1e-9)
    scores = model.to_map().scores
    assert scores["log_likelihood_in_one_place"] < scores["log_likelihood"] < scores["log_likelihood_limit"]
