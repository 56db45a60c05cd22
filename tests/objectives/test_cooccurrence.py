from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array

from relscape.errors import DataError, UnknownNameError
from relscape.matrix.operators import LocalRelation
from relscape.objectives.cooccurrence import (
    MODELS,
    CooccurrenceObjective,
    Table,
    check_model,
    log_likelihood,
    pair_likelihood,
)
from relscape.solvers.descent import lowest, minimise
from relscape.sources.classic import load_smoking

SMOKING = load_smoking().matrix().toarray().astype(float)


@pytest.fixture
def counts(rng):
    return rng.poisson(2.0, size=(7, 5)) + np.eye(7, 5)


def distribution(counts, model, left, right, keep=None):
    """The model's p(x, y) as written in the paper, one cell after the other."""
    p = counts / counts.sum()
    m, n = p.shape
    alpha = p.sum(axis=1) if model[0] == "M" else np.ones(m)
    beta = p.sum(axis=0) if model[1] == "M" else np.ones(n)
    joint = np.zeros((m, n))
    for x in range(m):
        for y in range(n):
            if keep is None or keep[x, y]:
                joint[x, y] = alpha[x] * beta[y] * np.exp(-np.sum((left[x] - right[y]) ** 2))
    if model[0] == "C":
        return p.sum(axis=1)[:, None] * joint / joint.sum(axis=1, keepdims=True)
    if model[1] == "C":
        return p.sum(axis=0) * joint / joint.sum(axis=0)
    return joint / joint.sum()


def likelihood(counts, model, left, right, keep=None):
    p = counts / counts.sum()
    some = p > 0
    return float(np.sum(p[some] * np.log(distribution(counts, model, left, right, keep)[some])))


def points(rng, counts, q=2):
    m, n = counts.shape
    return rng.normal(size=(m, q)), rng.normal(size=(n, q))


def table_of(counts, **options):
    return Table(LocalRelation(csr_array(counts)), **options)


def differences(function, point, step=1e-5):
    """Central differences of a function of an array, of whatever the function gives."""
    slopes = []
    for index in np.ndindex(point.shape):
        move = np.zeros(point.shape)
        move[index] = step
        slopes.append((function(point + move) - function(point - move)) / (2 * step))
    return np.array(slopes)


def optimum(counts, model, q, ridge=0.0, starts=4, seed=0):
    rng = np.random.default_rng(seed)
    objective = CooccurrenceObjective(table_of(counts), model, ridge)
    first = [rng.uniform(-1, 1, (sum(counts.shape), q)) for _ in range(starts)]
    result = lowest([minimise(objective, start) for start in first])
    return result, result.point[: len(counts)], result.point[len(counts) :]


@pytest.mark.parametrize("q", [1, 2, 3, 4])
@pytest.mark.parametrize("model", MODELS)
def test_likelihood_is_that_of_the_definition(rng, counts, model, q):
    left, right = points(rng, counts, q)
    p = distribution(counts, model, left, right)
    assert p.sum() == pytest.approx(1, abs=1e-14)
    if model[0] == "C":
        assert np.allclose(p.sum(axis=1), counts.sum(axis=1) / counts.sum(), rtol=1e-13)
    if model[1] == "C":
        assert np.allclose(p.sum(axis=0), counts.sum(axis=0) / counts.sum(), rtol=1e-13)
    value = log_likelihood(table_of(counts), model, left, right)
    assert value == pytest.approx(likelihood(counts, model, left, right), abs=1e-13)


@pytest.mark.parametrize("model", MODELS)
def test_gradients_are_finite_differences(rng, counts, model):
    left, right = points(rng, counts)
    _, of_left, of_right = pair_likelihood(table_of(counts), model, left, right)
    by_left = differences(lambda at: likelihood(counts, model, at, right), left)
    by_right = differences(lambda at: likelihood(counts, model, left, at), right)
    assert np.allclose(of_left.ravel(), by_left, atol=1e-9)
    assert np.allclose(of_right.ravel(), by_right, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_gradients_are_those_of_the_excess(rng, counts, model):
    left, right = points(rng, counts, 3)
    _, of_left, of_right = pair_likelihood(table_of(counts), model, left, right)
    excess = distribution(counts, model, left, right) - counts / counts.sum()
    assert np.allclose(of_left, 2 * (excess.sum(axis=1)[:, None] * left - excess @ right), atol=1e-14)
    assert np.allclose(of_right, 2 * (excess.sum(axis=0)[:, None] * right - excess.T @ left), atol=1e-14)
    assert np.allclose(of_left.sum(axis=0) + of_right.sum(axis=0), 0, atol=1e-14)


@pytest.mark.parametrize("model", MODELS)
def test_a_rigid_motion_changes_nothing(rng, counts, model):
    table = table_of(counts)
    left, right = points(rng, counts, 3)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    shift = rng.normal(size=3)
    value, of_left, of_right = pair_likelihood(table, model, left, right)
    moved, turned_left, turned_right = pair_likelihood(
        table, model, left @ turn + shift, right @ turn + shift
    )
    assert moved == pytest.approx(value, abs=1e-13)
    assert np.allclose(turned_left, of_left @ turn, atol=1e-13)
    assert np.allclose(turned_right, of_right @ turn, atol=1e-13)


@pytest.mark.parametrize("model", MODELS)
def test_transposing_swaps_the_letters(rng, counts, model):
    left, right = points(rng, counts)
    value, of_left, of_right = pair_likelihood(table_of(counts), model, left, right)
    other, of_first, of_second = pair_likelihood(table_of(counts.T), model[::-1], right, left)
    assert other == pytest.approx(value, abs=1e-13)
    assert np.allclose(of_first, of_right, atol=1e-14)
    assert np.allclose(of_second, of_left, atol=1e-14)


@pytest.mark.parametrize("model", MODELS)
def test_no_likelihood_exceeds_the_saturated_one(rng, counts, model):
    table = table_of(counts)
    p = counts / counts.sum()
    assert table.saturated == pytest.approx(np.sum(p[p > 0] * np.log(p[p > 0])), abs=1e-14)
    left, right = points(rng, counts)
    value = log_likelihood(table, model, left, right)
    assert value < table.saturated
    q = distribution(counts, model, left, right)
    divergence = np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0]))
    assert value == pytest.approx(table.saturated - divergence, abs=1e-13)


def test_likelihood_of_cm_with_its_constants(rng, counts):
    """Equation 7: the squares, the normalisers, and the entropies of both marginals."""
    left, right = points(rng, counts)
    p = counts / counts.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    squares = ((left[:, None] - right[None]) ** 2).sum(axis=2)
    normalisers = np.log((columns * np.exp(-squares)).sum(axis=1))
    expected = -(p * squares).sum() - rows @ normalisers + rows @ np.log(rows) + columns @ np.log(columns)
    assert log_likelihood(table_of(counts), "CM", left, right) == pytest.approx(expected, abs=1e-13)
    together = np.zeros((7, 2)), np.zeros((5, 2))
    independent = rows @ np.log(rows) + columns @ np.log(columns)
    assert log_likelihood(table_of(counts), "CM", *together) == pytest.approx(independent, abs=1e-13)


@pytest.mark.parametrize("model", ["CM", "CU"])
def test_curvature_of_a_row_is_its_covariance(rng, counts, model):
    table = table_of(counts)
    left, right = points(rng, counts)
    p = distribution(counts, model, left, right)

    def of_row(at, x):
        moved = left.copy()
        moved[x] = at
        return pair_likelihood(table, model, moved, right)[1][x]

    for x in range(7):
        curvature = differences(lambda at, x=x: of_row(at, x), left[x])
        given = p[x] / p[x].sum()
        spread = right - given @ right
        assert np.allclose(curvature, -4 * p[x].sum() * spread.T @ (given[:, None] * spread), atol=1e-9)


def test_means_agree_at_an_optimum_of_cm():
    _, left, right = optimum(SMOKING, "CM", 2)
    p = distribution(SMOKING, "CM", left, right)
    given = p / p.sum(axis=1, keepdims=True)
    seen = SMOKING / SMOKING.sum(axis=1, keepdims=True)
    assert np.allclose(given @ right, seen @ right, atol=1e-6)


def test_cm_saturates_with_one_dimension_less_than_columns(rng):
    counts = rng.integers(1, 20, size=(6, 4)).astype(float)
    result, left, right = optimum(counts, "CM", 3)
    assert -result.value == pytest.approx(table_of(counts).saturated, abs=1e-10)
    assert np.allclose(distribution(counts, "CM", left, right), counts / counts.sum(), atol=1e-6)


@pytest.mark.parametrize(
    ("model", "q", "value"),
    [
        ("CM", 1, -2.6547035011),
        ("CM", 2, -2.6500635786),
        ("CU", 2, -2.6500635786),
        ("MC", 2, -2.6500635786),
        ("UC", 2, -2.6500635786),
        ("CM", 3, -2.6497569375),
    ],
)
def test_known_optima_of_the_smoking_table(model, q, value):
    result, _, _ = optimum(SMOKING, model, q)
    assert result.converged
    assert -result.value == pytest.approx(value, abs=2e-10)


@pytest.mark.parametrize(
    ("model", "shape", "q", "flat"),
    [
        ("CU", (8, 6), 2, 3),  # a conic has 6 coefficients: fewer columns leave freedom
        ("CU", (8, 5), 2, 3 + 1),
        ("CU", (8, 4), 2, 3 + 2),
        ("UC", (5, 8), 2, 3 + 1),
        ("CU", (8, 3), 1, 1),
        ("CU", (12, 10), 3, 6),
        ("CU", (12, 9), 3, 6 + 1),
        ("UU", (4, 4), 2, 3),
        ("UU", (6, 6), 3, 6),
        ("UU", (5, 5), 3, 6 + 1),
    ],
)
def test_number_of_flat_directions(rng, model, shape, q, flat):
    """At an optimum known beforehand, that of a table made by the model itself."""
    left, right = 0.7 * rng.normal(size=(shape[0], q)), 0.7 * rng.normal(size=(shape[1], q))
    table = table_of(distribution(np.ones(shape), model, left, right))
    objective = CooccurrenceObjective(table, model)
    best = np.concatenate([left, right])
    value, gradient = objective.value_and_gradient(best)
    assert -value == pytest.approx(table.saturated, abs=1e-13)
    assert np.abs(gradient).max() < 1e-14
    values = curvatures(objective, best)
    assert np.abs(values[:flat]).max() < 1e-9
    assert values[flat] > 1e-7


@pytest.mark.parametrize(("model", "flat"), [("CM", 3 + 2), ("MC", 3 + 1)])
def test_flat_directions_of_the_smoking_table(model, flat):
    result, _, _ = optimum(SMOKING, model, 2)
    values = curvatures(CooccurrenceObjective(table_of(SMOKING), model), result.point)
    assert np.abs(values[:flat]).max() < 1e-6
    assert values[flat] > 1e-5


def curvatures(objective, point):
    """The eigenvalues of the matrix of second derivatives, from differences of the gradient."""
    second = differences(lambda at: objective.value_and_gradient(at)[1].ravel(), point)
    return np.linalg.eigvalsh((second + second.T) / 2)


@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_within_one_kind_the_two_gradients_add_up(rng, model, exclude_self):
    counts = rng.poisson(2.0, size=(6, 6)) + 1.0
    if exclude_self:
        np.fill_diagonal(counts, 0)
    keep = ~np.eye(6, dtype=bool) if exclude_self else None
    at = rng.normal(size=(6, 2))
    value, of_left, of_right = pair_likelihood(table_of(counts), model, at, at, exclude_self=exclude_self)
    assert value == pytest.approx(likelihood(counts, model, at, at, keep), abs=1e-13)
    slopes = differences(lambda at: likelihood(counts, model, at, at, keep), at)
    assert np.allclose((of_left + of_right).ravel(), slopes, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_objects_far_from_all_others_keep_their_digits_without_themselves(rng, model):
    """Without the pair of an object with itself, no normaliser may be measured against it."""
    counts = np.ones((4, 4)) - np.eye(4)
    corners = 40.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    value, of_left, of_right = pair_likelihood(table_of(counts), model, corners, corners, exclude_self=True)
    squares = ((corners[:, None] - corners[None]) ** 2).sum(axis=2)
    logs = np.where(np.eye(4, dtype=bool), -np.inf, -squares)
    if "C" in model:
        normaliser = np.logaddexp.reduce(logs, axis=1).mean() + np.log(4)
    else:
        normaliser = np.logaddexp.reduce(logs.ravel())
    expected = -(squares * counts).sum() / 12 - normaliser
    assert value == pytest.approx(expected, rel=1e-13)
    assert np.isfinite(of_left).all()
    assert np.isfinite(of_right).all()


@pytest.mark.parametrize("model", MODELS)
def test_dense_and_sparse_relations_agree(rng, counts, model):
    left, right = points(rng, counts)
    sparse = pair_likelihood(table_of(counts), model, left, right)
    dense = pair_likelihood(Table(LocalRelation(counts)), model, left, right)
    for one, other in zip(sparse, dense, strict=True):
        assert np.allclose(one, other, rtol=0, atol=1e-15)


@pytest.mark.parametrize("model", MODELS)
def test_equal_rows_are_a_table_with_equal_rows(rng, counts, model):
    left, right = points(rng, counts)
    equal = counts / counts.sum(axis=1, keepdims=True)
    table = table_of(counts, equal_rows=True)
    assert np.allclose(table.row_masses, 1 / 7, rtol=1e-14)
    assert np.allclose(table.column_masses, equal.mean(axis=0), rtol=1e-14)
    assert table.saturated == pytest.approx(table_of(equal).saturated, abs=1e-14)
    assert log_likelihood(table, model, left, right) == pytest.approx(
        likelihood(equal, model, left, right), abs=1e-13
    )


@pytest.mark.parametrize("model", MODELS)
def test_points_far_from_the_origin(rng, counts, model):
    table = table_of(counts)
    left, right = points(rng, counts)
    far = np.array([1e6, -1e6])
    rounded_left, rounded_right = (left + far) - far, (right + far) - far
    here = pair_likelihood(table, model, rounded_left, rounded_right)
    there = pair_likelihood(table, model, left + far, right + far)
    for one, other in zip(here, there, strict=True):
        assert np.allclose(one, other, rtol=0, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_rows_far_from_every_column_do_not_underflow(rng, counts, model):
    table = table_of(counts)
    left, right = points(rng, counts)
    left[0] = [300.0, 400.0]
    value, of_left, of_right = pair_likelihood(table, model, left, right)
    assert np.isfinite(value)
    squares = ((left[:, None] - right[None]) ** 2).sum(axis=2)
    p = counts / counts.sum()
    alpha, beta = p.sum(axis=1), p.sum(axis=0)
    logs = -squares
    logs = logs + (np.log(alpha)[:, None] if model[0] == "M" else 0)
    logs = logs + (np.log(beta) if model[1] == "M" else 0)
    if model[0] == "C":
        logs = np.log(alpha)[:, None] + logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
    elif model[1] == "C":
        logs = np.log(beta) + logs - np.logaddexp.reduce(logs, axis=0)
    else:
        logs = logs - np.logaddexp.reduce(logs.ravel())
    assert value == pytest.approx((p * logs).sum(), rel=1e-12)
    excess = np.exp(logs) - p
    assert np.allclose(of_left, 2 * (excess.sum(axis=1)[:, None] * left - excess @ right), atol=1e-10)
    assert np.allclose(of_right, 2 * (excess.sum(axis=0)[:, None] * right - excess.T @ left), atol=1e-10)


def test_objective_is_the_penalised_likelihood(rng, counts):
    left, right = points(rng, counts)
    objective = CooccurrenceObjective(table_of(counts), "MM", ridge=0.3)
    point = np.concatenate([left, right])
    value, gradient = objective.value_and_gradient(point)
    assert value == pytest.approx(0.3 * (point**2).sum() - likelihood(counts, "MM", left, right), abs=1e-12)
    slopes = differences(lambda at: objective.value_and_gradient(at)[0], point)
    assert np.allclose(gradient.ravel(), slopes, atol=1e-8)


def test_objective_without_self(rng):
    counts = rng.poisson(2.0, size=(5, 5)) + 1.0
    np.fill_diagonal(counts, 0)
    objective = CooccurrenceObjective(table_of(counts), "CM", exclude_self=True)
    left, right = points(rng, counts)
    value, _ = objective.value_and_gradient(np.concatenate([left, right]))
    assert value == pytest.approx(-likelihood(counts, "CM", left, right, ~np.eye(5, dtype=bool)), abs=1e-13)


def test_a_ridge_keeps_a_map_finite():
    """A row with a single column runs away; a ridge brings it back to a minimum."""
    counts = np.array([[5.0, 0, 0], [1, 3, 2], [2, 2, 4], [0, 0, 3]])
    start = np.random.default_rng(0).uniform(-1, 1, (7, 2))
    result = minimise(CooccurrenceObjective(table_of(counts), "CM", ridge=1e-3), start)
    assert result.converged
    assert np.abs(result.point).max() < 10


@pytest.mark.parametrize("model", MODELS)
def test_number_of_threads_does_not_change_a_bit(rng, model):
    counts = rng.poisson(0.3, size=(401, 307)) + np.eye(401, 307)
    counts[:, 0] += 1
    table = table_of(counts)
    left, right = points(rng, counts)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = pair_likelihood(table, model, left, right)
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        two = pair_likelihood(table, model, left, right)
    finally:
        numba.set_num_threads(before)
    for first, second in zip(one, two, strict=True):
        assert np.array_equal(first, second)


def test_diagonal_is_found_across_blocks(rng, monkeypatch):
    counts = rng.poisson(2.0, size=(7, 7)) + 1.0
    monkeypatch.setattr("relscape.data.blocks._BLOCK_ROWS", 3)
    table = table_of(counts)
    assert table.diagonal == pytest.approx(np.trace(counts) / counts.sum())
    p = counts / counts.sum()
    assert table.saturated == pytest.approx((p * np.log(p)).sum())


def test_names_of_models():
    assert [check_model(model) for model in MODELS] == list(MODELS)
    with pytest.raises(UnknownNameError, match="nothing is left to model; the usual choice is 'CM'"):
        check_model("CC")
    with pytest.raises(UnknownNameError, match="no model 'XY' in CODE"):
        check_model("XY")


def test_what_cannot_be_used_is_named(rng, counts):
    with pytest.raises(DataError, match=r"1 of 2 rows .* the first is row 1"):
        table_of(np.array([[1.0, 2.0], [0.0, 0.0]]))
    with pytest.raises(DataError, match=r"1 of 2 columns .* the first is column 0"):
        table_of(np.array([[0.0, 2.0], [0.0, 1.0]]))
    left, right = points(rng, counts)
    table = table_of(counts)
    with pytest.raises(DataError, match="expected 7 and 5 points"):
        pair_likelihood(table, "CM", right, left)
    with pytest.raises(DataError, match="not finite or too far away"):
        pair_likelihood(table, "CM", left * np.nan, right)
    with pytest.raises(DataError, match="the relation is 7 × 5; expected a square one"):
        pair_likelihood(table, "CM", left, right, exclude_self=True)
    square = table_of(np.ones((3, 3)))
    with pytest.raises(DataError, match=r"33\.33% of all counts"):
        pair_likelihood(square, "CM", left[:3], left[:3], exclude_self=True)
