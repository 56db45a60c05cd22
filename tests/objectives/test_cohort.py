"""The objective of COVA in its four variants: parts, gradients, invariances, anchors and batches."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from relscape.errors import ParameterError, UnknownNameError
from relscape.objectives.cohort import VARIANTS, Anchors, CohortObjective, ProjectedObjective, batches
from relscape.objectives.cohort_terms import graph_tension, prototype_divergence, prototype_pull
from relscape.objectives.neighbour import neighbour_divergence
from relscape.protocols import BatchObjective, Objective

N, C, K = 12, 3, 2


@pytest.fixture
def problem(rng):
    W = np.triu(rng.random((N, N)) * (rng.random((N, N)) < 0.4), 1)
    W = W + W.T
    R = np.full((N, C), 0.05) + np.eye(C)[rng.integers(0, C, N)] * rng.uniform(0.2, 1.0, (N, 1))
    return {
        "weights": csr_array(W / W.sum()),
        "confidence": R / R.sum(),
        "prototypes": 2.0 * rng.normal(size=(C, K)),
        "alpha": 0.6,
    }


@pytest.fixture
def anchors(rng):
    return Anchors(np.array([1, 7]), rng.normal(size=(2, K)), np.array([1.0, 3.0]) / N)


def slopes(function, Z, step=1e-5):
    gradient = np.zeros(Z.shape)
    for place in np.ndindex(Z.shape):
        move = np.zeros(Z.shape)
        move[place] = step
        gradient[place] = (function(Z + move)[0] - function(Z - move)[0]) / (2 * step)
    return gradient


@pytest.mark.parametrize("variant", VARIANTS)
def test_terms_are_those_of_the_variant(rng, problem, variant):
    Z = rng.normal(size=(N, K))
    cohort = prototype_divergence if variant in "24" else prototype_pull
    local = neighbour_divergence if variant in "23" else graph_tension
    R, V, W = problem["confidence"], problem["prototypes"], problem["weights"]
    objective = CohortObjective(**problem, variant=variant)
    O_C, O_L = cohort(Z, R, V)[0], local(Z, W)[0]
    assert_allclose(objective.terms(Z), (O_C, O_L), rtol=1e-14)
    assert_allclose(objective.value_and_gradient(Z)[0], 0.6 * O_C + 0.4 * O_L, rtol=1e-14)
    assert min(O_C, O_L) >= 0


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_gradient_is_the_slope(rng, problem, anchors, variant, alpha):
    objective = CohortObjective(**{**problem, "alpha": alpha}, variant=variant, anchors=anchors)
    Z = rng.normal(size=(N, K))
    _, gradient = objective.value_and_gradient(Z)
    assert_allclose(gradient, slopes(objective.value_and_gradient, Z), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradient_in_a_projection_is_the_slope(rng, problem, anchors, variant):
    F, U = rng.normal(size=(N, 4)), rng.normal(size=(4, K))
    inner = CohortObjective(**problem, variant=variant, anchors=anchors)
    objective = ProjectedObjective(inner, F)
    value, gradient = objective.value_and_gradient(U)
    assert value == inner.value_and_gradient(F @ U)[0]
    assert_allclose(gradient, F.T @ inner.value_and_gradient(F @ U)[1], atol=1e-14)
    assert_allclose(gradient, slopes(objective.value_and_gradient, U), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("variant", VARIANTS)
def test_turning_and_shifting_everything_changes_nothing(rng, problem, variant):
    Z, V = rng.normal(size=(N, K)), problem["prototypes"]
    turn, _ = np.linalg.qr(rng.normal(size=(K, K)))
    shift = 5.0 * rng.normal(size=K)
    value, _ = CohortObjective(**problem, variant=variant).value_and_gradient(Z)
    moved = CohortObjective(**{**problem, "prototypes": V @ turn + shift}, variant=variant)
    assert_allclose(moved.value_and_gradient(Z @ turn + shift)[0], value, rtol=1e-11)


def test_doubling_everything_is_four_times_the_distances_and_other_divergences(rng, problem):
    Z, V = rng.normal(size=(N, K)), problem["prototypes"]
    for variant in VARIANTS:
        value, _ = CohortObjective(**problem, variant=variant).value_and_gradient(Z)
        doubled = CohortObjective(**{**problem, "prototypes": 2 * V}, variant=variant)
        ratio = doubled.value_and_gradient(2 * Z)[0] / value
        assert (abs(ratio - 4) < 1e-12) == (variant == "1")


def test_sparse_confidences_are_dense_ones(rng, problem):
    Z = rng.normal(size=(N, K))
    R = problem["confidence"] * (problem["confidence"] > problem["confidence"].mean())
    R /= R.sum()
    for variant in VARIANTS:
        value, gradient = CohortObjective(**{**problem, "confidence": R}, variant=variant).value_and_gradient(
            Z
        )
        sparse = CohortObjective(**{**problem, "confidence": csr_array(R)}, variant=variant)
        assert_allclose(sparse.value_and_gradient(Z)[0], value, rtol=1e-12)
        assert_allclose(sparse.value_and_gradient(Z)[1], gradient, atol=1e-13)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_term_without_a_share_is_not_used(rng, problem, variant):
    Z = rng.normal(size=(N, K))
    nothing = csr_array((N, N))
    only = {**problem, "alpha": 1.0}
    value, _ = CohortObjective(**only, variant=variant).value_and_gradient(Z)
    assert CohortObjective(**{**only, "weights": nothing}, variant=variant).value_and_gradient(Z)[0] == value
    # Without weights there is no local term, whatever its share.
    rest = CohortObjective(**{**problem, "weights": nothing}, variant=variant)
    assert rest.terms(Z) == (pytest.approx(value), 0.0)


def test_anchors_add_their_pull(rng, problem, anchors):
    Z = rng.normal(size=(N, K))
    held = CohortObjective(**problem, variant="1", anchors=anchors).value_and_gradient(Z)[0]
    free = CohortObjective(**problem, variant="1").value_and_gradient(Z)[0]
    gaps = ((Z[[1, 7]] - anchors.places) ** 2).sum(axis=1)
    assert_allclose(held - free, (gaps[0] + 3.0 * gaps[1]) / N, rtol=1e-12)


def test_what_does_not_fit_is_refused(problem):
    with pytest.raises(UnknownNameError, match="no variant '5'"):
        CohortObjective(**problem, variant="5")
    with pytest.raises(ParameterError, match=r"alpha is 1.5; expected a number from 0 to 1"):
        CohortObjective(**{**problem, "alpha": 1.5}, variant="1")
    with pytest.raises(ParameterError, match="weights have shape"):
        CohortObjective(**{**problem, "weights": csr_array((3, 3))}, variant="1")
    with pytest.raises(ParameterError, match="there are 2 prototypes and confidences in 3 cohorts"):
        CohortObjective(**{**problem, "prototypes": np.zeros((2, 2))}, variant="1")


def test_objectives_keep_the_interfaces(problem):
    objective = CohortObjective(**problem, variant="2")
    assert isinstance(objective, Objective)
    assert isinstance(ProjectedObjective(objective, np.ones((N, 3))), BatchObjective)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_batch_is_the_problem_of_its_samples(rng, problem, anchors, variant, sparse):
    F, U = rng.normal(size=(N, 4)), rng.normal(size=(4, K))
    R = csr_array(problem["confidence"]) if sparse else problem["confidence"]
    whole = CohortObjective(**{**problem, "confidence": R}, variant=variant, anchors=anchors)
    objective = ProjectedObjective(whole, F)
    batch = np.array([7, 0, 3, 4, 9, 11])
    W = problem["weights"].toarray()[np.ix_(batch, batch)]
    part = problem["confidence"][batch]
    by_hand = CohortObjective(
        csr_array(W / W.sum()),
        part / part.sum(),
        problem["prototypes"],
        0.6,
        variant,
        Anchors(np.array([0]), anchors.places[1:], anchors.strengths[1:] * N / len(batch)),
    )
    value, gradient = by_hand.value_and_gradient(F[batch] @ U)
    for _ in range(2):
        found, slope = objective.value_and_gradient_of(U, batch)
        assert_allclose(found, value, rtol=1e-12)
        assert_allclose(slope, F[batch].T @ gradient, atol=1e-13)
    everything, _ = objective.value_and_gradient_of(U, np.arange(N))
    assert_allclose(everything, objective.value_and_gradient(U)[0], rtol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_without_edges_has_its_cohort_term(rng, problem, variant):
    W = np.zeros((N, N))
    W[0, 1] = W[1, 0] = 0.5
    whole = CohortObjective(**{**problem, "weights": csr_array(W)}, variant=variant)
    batch = np.array([2, 3, 4])
    part = whole.within(batch)
    Z = rng.normal(size=(3, K))
    O_C, O_L = part.terms(Z)
    assert O_L == 0.0
    assert_allclose(part.value_and_gradient(Z)[0], 0.6 * O_C)
    assert part.anchors is None


def test_a_batch_of_no_cohort_has_its_local_term(rng, problem):
    R = problem["confidence"].copy()
    R[:4] = 0.0
    part = CohortObjective(**{**problem, "confidence": R / R.sum()}, variant="2").within(np.arange(4))
    assert part.terms(rng.normal(size=(4, K)))[0] == 0.0


def test_anchors_outside_a_batch_are_left_out(anchors):
    assert anchors.within(np.array([0, 2]), N) is None


def ring(n, reach=3):
    steps = np.arange(1, reach + 1)
    rows = np.repeat(np.arange(n), 2 * reach)
    columns = (np.arange(n)[:, None] + np.concatenate([-steps, steps])[None]) % n
    return csr_array((np.ones(rows.size), (rows, columns.ravel())), shape=(n, n))


def test_batches_share_out_all_samples_and_keep_edges(rng):
    n, size = 1000, 100
    W = ring(n)
    cut = batches(W, size, rng)
    assert [len(batch) for batch in cut] == [size] * (n // size)
    assert_array_equal(np.sort(np.concatenate(cut)), np.arange(n))
    kept = sum(W[batch][:, batch].nnz for batch in cut) / W.nnz
    drawn = np.split(rng.permutation(n), n // size)
    by_chance = sum(W[batch][:, batch].nnz for batch in drawn) / W.nnz
    assert by_chance < 0.15
    assert kept > 0.35


def test_batches_follow_the_seed_and_differ_between_cycles():
    W = ring(50)
    first = batches(W, 20, np.random.default_rng(1))
    again = batches(W, 20, np.random.default_rng(1))
    other = batches(W, 20, np.random.default_rng(2))
    assert [len(batch) for batch in first] == [20, 20, 10]
    for one, two in zip(first, again, strict=True):
        assert_array_equal(one, two)
    assert any(not np.array_equal(one, two) for one, two in zip(first, other, strict=True))


def test_batches_need_a_size(rng):
    with pytest.raises(ParameterError, match="size is 0"):
        batches(ring(10), 0, rng)
