"""COVA: the invariants of its specification (section 19), and its degenerate cases (section 20)."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, diags_array, issparse
from scipy.spatial.distance import cdist

from relscape import (
    CosineAffinity,
    DistanceAffinity,
    GaussianAffinity,
    GaussianConfidence,
    MDSPrototypes,
    RangeConfidence,
    RelationFeatures,
    SNEPrototypes,
)
from relscape.datasets import make_cohorts
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.models.cova import COVA
from relscape.models.cova_fitting import _some_of_all, best_scale
from relscape.models.cova_placing import _rows
from relscape.models.registry import load_model

VARIANTS = ("E1", "E2", "E3", "E4", "P1", "P2", "P3", "P4", "eigen")
ITERATIVE = ("E2", "E3", "E4")
SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])


@pytest.fixture
def blobs(rng):
    """Four overlapping cohorts of twenty samples in three dimensions."""
    centres = np.repeat(2.5 * rng.normal(size=(4, 3)), 20, axis=0)
    return centres + rng.normal(size=centres.shape)


@pytest.fixture
def labels():
    return np.repeat(["a", "b", "c", "d"], 20)


def model(variant="E1", **parameters):
    return COVA(variant, **{"random_state": 0, "n_neighbors": 8, **parameters})


def rms(places):
    return np.sqrt(((places - places.mean(axis=0)) ** 2).sum(axis=1).mean())


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else matrix


def slow_value(fitted, variant, Z, V):
    """f by its definition, with loops over all pairs in dense matrices."""
    W, R = dense(fitted.affinity_), dense(fitted.confidence_)
    to_prototypes, to_others = cdist(Z, V, "sqeuclidean"), cdist(Z, Z, "sqeuclidean")
    if variant[1] in "24":
        t = 1 / (1 + to_prototypes)
        cohort = (R[R > 0] * np.log(R[R > 0] / (t / t.sum())[R > 0])).sum()
    else:
        cohort = (R * to_prototypes).sum()
    if variant[1] in "23":
        q = 1 / (1 + to_others)
        np.fill_diagonal(q, 0)
        local = (W[W > 0] * np.log(W[W > 0] / (q / q.sum())[W > 0])).sum()
    else:
        local = 0.5 * (W * to_others).sum()
    return cohort, local


# ---------------------------------------------------------------------- E1


def test_e1_solves_the_linear_system(blobs, labels):
    """Against a dense solution with the factor alpha on the right (invariant 7, erratum 1)."""
    fitted = model(alpha=0.3).fit(blobs, labels)
    W, R = dense(fitted.affinity_), dense(fitted.confidence_)
    system = 0.3 * np.diag(R.sum(axis=1)) + 0.7 * (np.diag(W.sum(axis=1)) - W)
    assert_allclose(
        fitted.embedding_, np.linalg.solve(system, 0.3 * R @ fitted.prototypes_), rtol=1e-9, atol=1e-11
    )
    gradient = 2 * (system @ fitted.embedding_ - 0.3 * R @ fitted.prototypes_)
    assert np.abs(gradient).max() < 1e-12


def test_e1_response(blobs, labels):
    """Z = B V with B nonnegative and rows of sum one: samples lie in the hull of the prototypes."""
    fitted = model(alpha=0.4).fit(blobs, labels)
    assert_allclose(fitted.embedding_, fitted.response_ @ fitted.prototypes_, atol=1e-12)
    assert fitted.response_.min() > -1e-12
    assert_allclose(fitted.response_.sum(axis=1), 1.0, atol=1e-10)
    assert (fitted.embedding_.max(axis=0) <= fitted.prototypes_.max(axis=0) + 1e-9).all()
    lean = model(alpha=0.4, keep_response=False).fit(blobs, labels)
    assert not hasattr(lean, "response_")
    assert_allclose(lean.embedding_, fitted.embedding_, atol=1e-9)


def test_dragging_a_prototype_equals_fitting_anew(blobs, labels):
    fitted = model(prototypes=SQUARE).fit(blobs, labels)
    before = fitted.embedding_.copy()
    there = SQUARE + np.array([[3.0, 0], [0, 0], [0, -1.0], [0, 0]])
    anew = model(prototypes=there).fit(blobs, labels).embedding_
    assert_allclose(fitted.move(there), anew, atol=1e-10)
    assert_allclose(
        fitted.move(there) - before, fitted.response_[:, [0, 2]] @ (there - SQUARE)[[0, 2]], atol=1e-10
    )
    assert_array_equal(fitted.embedding_, before)
    lean = model(prototypes=SQUARE, keep_response=False).fit(blobs, labels)
    assert_allclose(lean.move(there), anew, atol=1e-9)


def test_e1_carries_shifts_over(blobs, labels):
    near = model(prototypes=SQUARE).fit(blobs, labels).embedding_
    shift = np.array([100.0, -50.0])
    far = model(prototypes=SQUARE + shift).fit(blobs, labels).embedding_
    assert_allclose(far, near + shift, atol=1e-9)


def test_e1_with_cohorts_only(blobs, labels):
    """alpha = 1: on the prototype, or with foreign confidence at the weighted mean (invariant 8)."""
    fitted = model(alpha=1.0).fit(blobs, labels)
    assert_allclose(fitted.embedding_, fitted.prototypes_[fitted.labels_], atol=1e-9)
    nearly = model(alpha=1 - 1e-7).fit(blobs, labels)
    assert_allclose(nearly.embedding_, nearly.prototypes_[nearly.labels_], atol=1e-3)
    shared = model(alpha=1.0, confidence=GaussianConfidence(floor=0.03)).fit(blobs, labels)
    R = dense(shared.confidence_)
    assert_allclose(shared.embedding_, R @ shared.prototypes_ / R.sum(axis=1)[:, None], atol=1e-9)


def test_e1_front(blobs, labels):
    """O_C falls and O_L rises with alpha, and the slope of the front is -(1 - alpha)/alpha (invariant 9)."""
    alphas = np.linspace(0.05, 0.95, 19)
    terms = np.array([model(alpha=a, prototypes=SQUARE).fit(blobs, labels).objective_ for a in alphas])
    assert (np.diff(terms[:, 0]) < 0).all()
    assert (np.diff(terms[:, 1]) > 0).all()
    step = 1e-4
    around = [model(alpha=0.4 + s, prototypes=SQUARE).fit(blobs, labels).objective_ for s in (-step, step)]
    slope = (around[1][0] - around[0][0]) / (around[1][1] - around[0][1])
    assert_allclose(slope, -0.6 / 0.4, rtol=1e-4)


def test_large_systems_are_solved_as_small_ones(rng):
    """Conjugate gradients beyond 2,000 samples against a direct solution."""
    from scipy.sparse.linalg import spsolve

    codes = np.arange(2200) % 3
    X = np.column_stack([codes + rng.normal(size=2200), rng.normal(size=2200)])
    fitted = model(alpha=0.2).fit(X, codes)
    W, R = fitted.affinity_, fitted.confidence_
    system = diags_array(0.2 * R.sum(axis=1) + 0.8 * W.sum(axis=1)) - 0.8 * W
    expected = spsolve(system.tocsc(), 0.2 * (R @ fitted.prototypes_))
    assert_allclose(fitted.embedding_, expected, atol=1e-8)


# ---------------------------------------------------------------------- E2 to E4


@pytest.mark.parametrize("variant", ["E1", *ITERATIVE])
def test_objective_against_its_definition(blobs, labels, variant):
    fitted = model(variant).fit(blobs, labels)
    expected = slow_value(fitted, variant, fitted.embedding_, fitted.prototypes_)
    assert_allclose(fitted.objective_, expected, rtol=1e-9)
    assert_allclose(fitted.solve_result_.value, 0.6 * expected[0] + 0.4 * expected[1], rtol=1e-9)


@pytest.mark.parametrize("variant", ITERATIVE)
def test_descent_ends_where_nothing_pulls(blobs, labels, variant):
    """Central differences of the slow objective at the end are zero (invariants 4 and 10)."""
    fitted = model(variant, tolerance=1e-8, max_iterations=5000).fit(blobs, labels)
    assert fitted.solve_result_.converged
    for i, axis in ((0, 0), (31, 1), (77, 0)):
        values = []
        for step in (-1e-5, 1e-5):
            Z = fitted.embedding_.copy()
            Z[i, axis] += step
            cohort, local = slow_value(fitted, variant, Z, fitted.prototypes_)
            values.append(0.6 * cohort + 0.4 * local)
        assert abs(values[1] - values[0]) / 2e-5 < 1e-7
    assert np.linalg.matrix_rank(fitted.embedding_) == 2


@pytest.mark.parametrize("variant", ITERATIVE)
def test_solvers_agree(blobs, labels, variant):
    """The reference descent never rises; momentum and L-BFGS find a place as low, nearly."""
    lowest = model(variant, solver="lbfgs").fit(blobs, labels).solve_result_.value
    reference = model(variant, solver="descent", max_iterations=300).fit(blobs, labels).solve_result_
    assert (np.diff(reference.trace) <= 0).all()
    momentum = model(variant, solver="momentum").fit(blobs, labels).solve_result_.value
    assert reference.value < 1.2 * lowest + 1e-3
    assert momentum < 1.2 * lowest + 1e-3


@pytest.mark.parametrize("variant", ["E2", "E3"])
def test_alpha_0_is_t_sne(blobs, labels, variant):
    fitted = model(variant, alpha=0.0).fit(blobs, labels)
    assert fitted.solve_result_.value == pytest.approx(fitted.objective_[1])


@pytest.mark.parametrize("variant", ["E1", "E4", "P1", "P4", "eigen"])
def test_alpha_0_is_refused_where_it_means_one_spot(blobs, labels, variant):
    with pytest.raises(ParameterError, match="one spot"):
        model(variant, alpha=0.0).fit(blobs, labels)


def test_common_motions_change_nothing(blobs, labels):
    """Turned and shifted prototypes turn and shift the map; doubled ones do so for E1 only (invariant 6)."""
    turn, shift = np.array([[0.6, -0.8], [0.8, 0.6]]), np.array([3.0, -1.0])
    for variant in ("E1", *ITERATIVE):
        fitted = model(variant, prototypes=SQUARE).fit(blobs, labels)
        turned = fitted.embedding_ @ turn + shift
        assert_allclose(fitted.move(SQUARE @ turn + shift, turned), turned, atol=1e-3)
    single, double = (model("E1", prototypes=SQUARE, scale=s).fit(blobs, labels).objective_ for s in (1, 2))
    assert_allclose(double, 4 * single, rtol=1e-9)
    single, double = (model("E2", prototypes=SQUARE, scale=s).fit(blobs, labels).objective_ for s in (1, 2))
    assert np.abs(double / single - 4).min() > 0.1


def test_scales(blobs, labels):
    """Automatic prototypes: RMS radius 1 for E1, 2 for E4, the least divergence for E2 and E3."""
    assert rms(model("E1").fit(blobs, labels).prototypes_) == pytest.approx(1.0)
    assert rms(model("E4").fit(blobs, labels).prototypes_) == pytest.approx(2.0)
    assert rms(model("E2", scale=5.0).fit(blobs, labels).prototypes_) == pytest.approx(5.0)
    fitted = model("E3").fit(blobs, labels)
    assert rms(fitted.prototypes_) == pytest.approx(fitted.scale_)
    unit = model("E1").fit(blobs, labels)

    def divergence(scale):
        return slow_value(fitted, "E3", scale * unit.embedding_, unit.prototypes_)[1]

    least = min(divergence(scale) for scale in np.geomspace(0.1, 1e4, 200))
    assert divergence(fitted.scale_) <= 1.0015 * least < divergence(0.9 * fitted.scale_)
    given = model("E2", prototypes=SQUARE).fit(blobs, labels)
    assert_array_equal(given.prototypes_, SQUARE)
    assert given.scale_ == 1.0


def test_cohorts_that_nothing_joins_stay_in_one_picture(rng):
    """Their divergence falls without end as they part; the scale does not follow it there."""
    codes = np.arange(120) % 6
    X = 100 * rng.normal(size=(6, 3))[codes] + rng.normal(size=(120, 3))
    for variant in ("E2", "E3"):
        assert 1 < model(variant, n_neighbors=5).fit(X, codes).scale_ < 200


def test_the_scale_of_many_samples_is_found_on_some_of_them(rng, monkeypatch):
    codes = np.arange(6000) % 6
    X = 3 * rng.normal(size=(6, 3))[codes] + rng.normal(size=(6000, 3))
    unit = COVA("E1", random_state=0, n_neighbors=10).fit(X, codes)
    estimated = best_scale(unit.affinity_, unit.embedding_, codes)
    monkeypatch.setattr("relscape.models.cova_fitting._FEW", 6000)
    assert estimated == pytest.approx(best_scale(unit.affinity_, unit.embedding_, codes), rel=0.1)


def test_a_few_of_many_samples_are_drawn_from_all_cohorts_alike(rng):
    codes = rng.permutation(np.repeat([-1, 0, 1], [600, 6000, 5400]))
    drawn = _some_of_all(codes, np.random.default_rng(0))
    assert len(np.unique(drawn)) == len(drawn) == 5000
    assert_allclose(np.bincount(codes[drawn] + 1), [250, 2500, 2250], atol=1)


@pytest.mark.parametrize(("variant", "taken"), [("E2", "momentum"), ("E3", "momentum"), ("E4", "lbfgs")])
def test_quick_sums_are_taken_where_there_are_any(blobs, labels, variant, taken, monkeypatch):
    """Momentum ends as low as L-BFGS; which is taken beyond so many samples depends on what is summed."""
    monkeypatch.setattr("relscape.models.cova_fitting.EXACT_POINTS", len(blobs) - 1)
    chosen = model(variant).fit(blobs, labels)
    ways = {name: model(variant, solver=name).fit(blobs, labels) for name in ("lbfgs", "momentum")}
    assert np.array_equal(chosen.embedding_, ways[taken].embedding_)
    lowest = {name: fitted.solve_result_.value for name, fitted in ways.items()}
    assert lowest["momentum"] < 1.01 * lowest["lbfgs"]


# ---------------------------------------------------------------------- the conditional form


def conditional_value(fitted, Z):
    """Section 7.4 as it is written, column by column, divided by the number of samples."""
    W, total = dense(fitted.affinity_), 0.0
    for j in range(len(Z)):
        q = 1 / (1 + ((Z - Z[j]) ** 2).sum(axis=1))
        q[j] = 0
        p, own = W[:, j] / W[:, j].sum(), q / q.sum()
        total += (p[p > 0] * np.log(p[p > 0] / own[p > 0])).sum()
    return total / len(Z)


@pytest.mark.parametrize("variant", ["E2", "E3", "P2", "P3"])
def test_neighbours_can_be_compared_sample_by_sample(blobs, labels, variant, tmp_path):
    fitted = model(variant, local="conditional").fit(blobs, labels)
    cohort, _ = slow_value(fitted, variant, fitted.embedding_, fitted.prototypes_)
    assert_allclose(fitted.objective_, [cohort, conditional_value(fitted, fitted.embedding_)], rtol=1e-9)
    joint = model(variant, scale=fitted.scale_).fit(blobs, labels)
    own, other = ((1 - fitted.alpha_) * conditional_value(m, m.embedding_) for m in (fitted, joint))
    apart = [fitted.alpha_ * slow_value(m, variant, m.embedding_, m.prototypes_)[0] for m in (fitted, joint)]
    assert own + apart[0] <= other + apart[1] + 1e-6  # lower than where the joint form ends
    fitted.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.local == "conditional"
    assert_allclose(again.move(fitted.prototypes_), fitted.embedding_, atol=0.05 * rms(fitted.embedding_))
    assert np.isfinite(fitted.transform(blobs[:3] + 0.1)).all()


def test_the_conditional_form_is_for_divergences_of_few_samples(rng):
    X, codes = rng.normal(size=(10_001, 2)), np.arange(10_001) % 2
    with pytest.raises(ParameterError, match=r"up to 10,000; there are 10,001"):
        COVA("E2", local="conditional").fit(X, codes)
    with pytest.raises(ParameterError, match="which E1 does not have"):
        COVA("E1", local="conditional").fit(X, codes)
    with pytest.raises(UnknownNameError, match="'conditional'"):
        COVA("E2", local="conditonal").fit(X, codes)


# ---------------------------------------------------------------------- projections


@pytest.mark.parametrize("retraction", ["qr", "polar"])
@pytest.mark.parametrize("variant", ["P1", "P2", "P3", "P4"])
def test_projections(blobs, labels, variant, retraction):
    fitted = model(variant, retraction=retraction).fit(blobs, labels)
    U = fitted.projection_
    assert_allclose(U.T @ U, np.eye(2), atol=1e-12)
    assert_allclose(fitted.embedding_, fitted.relations_.table @ U + fitted.origin_, atol=1e-12)
    expected = slow_value(fitted, variant, fitted.embedding_, fitted.prototypes_)
    assert_allclose(fitted.objective_, expected, rtol=1e-8)


def test_p1_is_bounded_by_the_unconstrained_minimum(blobs, labels):
    fitted = model("P1", prototypes=SQUARE, max_iterations=3000, tolerance=1e-9).fit(blobs, labels)
    W, R, F = dense(fitted.affinity_), dense(fitted.confidence_), fitted.relations_.table
    system = 0.9 * np.diag(R.sum(axis=1)) + 0.1 * (np.diag(W.sum(axis=1)) - W)
    free = np.linalg.lstsq(F.T @ system @ F, 0.9 * F.T @ R @ SQUARE, rcond=None)[0]
    cohort, local = slow_value(fitted, "P1", F @ free, SQUARE)
    bound = 0.9 * cohort + 0.1 * local
    assert bound - 1e-9 <= fitted.solve_result_.value <= 1.5 * bound


def test_projections_in_batches(blobs, labels):
    whole = model("P1").fit(blobs, labels)
    parts = model("P1", batch_size=30).fit(blobs, labels)
    assert_allclose(parts.projection_.T @ parts.projection_, np.eye(2), atol=1e-12)
    assert parts.solve_result_.value < 1.5 * whole.solve_result_.value + 0.05


def test_projections_follow_a_shift_of_prototypes(blobs, labels):
    near = model("P1", prototypes=SQUARE).fit(blobs, labels).embedding_
    far = model("P1", prototypes=SQUARE + 40.0).fit(blobs, labels).embedding_
    assert_allclose(far, near + 40.0, atol=1e-6)


def test_compact_features_place_new_samples(blobs, labels):
    settings = RelationFeatures("cosine", share=0.5, compact=True, n_neighbors=10)
    fitted = model("P1", features=settings).fit(blobs, labels)
    assert_allclose(fitted.transform(blobs[:9]), fitted.embedding_[:9])
    assert np.isfinite(fitted.transform(blobs[:9] + 0.01)).all()


def test_eigen(blobs, labels):
    fitted = model("eigen", eta=0.5, prototypes=SQUARE).fit(blobs, labels)
    assert_allclose(fitted.embedding_, fitted.relations_.table @ fitted.projection_, atol=1e-12)
    assert_allclose(fitted.prototypes_, SQUARE @ fitted.prototype_map_, atol=1e-12)
    assert fitted.eta_ == 0.5
    assert_allclose(fitted.move(fitted.prototypes_), fitted.embedding_, atol=1e-9)


def test_projections_need_features(blobs, labels):
    weights = model().fit(blobs, labels).affinity_
    with pytest.raises(DataError, match="needs X"):
        model("P1", affinity=weights).fit(None, labels)
    with pytest.raises(ParameterError, match="features="):
        model("P1", features=3).fit(blobs, labels)


# ---------------------------------------------------------------------- guides


@pytest.mark.parametrize("variant", VARIANTS)
def test_anchors_hold(blobs, labels, variant):
    place = np.array([2.0, 2.0])
    free = model(variant, prototypes=SQUARE, eta=0.3).fit(blobs, labels)
    held = model(variant, prototypes=SQUARE, eta=0.3).fit(blobs, labels, anchors={45: (place, 50.0)})
    if variant == "eigen":  # places move along with the prototypes
        before, after = (
            np.linalg.norm(m.embedding_[45] - place @ m.prototype_map_) / rms(m.prototypes_)
            for m in (free, held)
        )
    else:
        before, after = (np.linalg.norm(m.embedding_[45] - place) for m in (free, held))
    assert after < (before if variant[0] in "Pe" else 0.1 * before)


def test_anchored_e1(blobs, labels):
    anchors = {3: ([5.0, 5.0], 2.0), 60: [0.0, 9.0]}
    fitted = model(alpha=0.5).fit(blobs, labels, anchors=anchors)
    W, R = dense(fitted.affinity_), dense(fitted.confidence_)
    system = 0.5 * np.diag(R.sum(axis=1)) + 0.5 * (np.diag(W.sum(axis=1)) - W)
    right = 0.5 * R @ fitted.prototypes_
    for i, place, weight in ((3, [5.0, 5.0], 2.0), (60, [0.0, 9.0], 1.0)):
        system[i, i] += weight / 80
        right[i] += weight / 80 * np.array(place)
    assert_allclose(fitted.embedding_, np.linalg.solve(system, right), atol=1e-9)
    whole = np.hstack([fitted.response_, fitted.anchor_response_])
    assert_allclose(whole.sum(axis=1), 1.0, atol=1e-9)
    assert_allclose(fitted.move(fitted.prototypes_), fitted.embedding_, atol=1e-12)


def test_bad_anchors_are_refused(blobs, labels):
    for anchors, message in (
        ([3], "mapping"),
        ({3: ([1.0], 1.0)}, "2 finite numbers"),
        ({3: ([1.0, np.nan], 1.0)}, "2 finite numbers"),
        ({3: ([1.0, 2.0], -1.0)}, "at least 0"),
        ({80: ([1.0, 2.0], 1.0)}, "no sample 80"),
    ):
        with pytest.raises((DataError, ParameterError), match=message):
            model().fit(blobs, labels, anchors=anchors)
    with pytest.raises(UnknownNameError, match="'nobody'"):
        model().fit(blobs, labels, anchors={"nobody": ([1.0, 2.0], 1.0)})


@pytest.mark.parametrize("variant", ["E1", "E2", "E3", "eigen"])
def test_maps_grow_without_jumping(rng, variant):
    codes = np.arange(150) % 5
    X = 3 * rng.normal(size=(5, 4))[codes] + rng.normal(size=(150, 4))
    few = model(variant).fit(X[:120], codes[:120])
    # another seed would turn and mirror the automatic prototypes otherwise
    grown = model(variant, random_state=7).fit(X, codes, init=few.to_map())
    moved = np.linalg.norm(grown.embedding_[:120] - few.embedding_, axis=1)
    assert np.median(moved) < 0.35 * rms(few.embedding_)
    places = np.vstack([few.embedding_, np.full((30, 2), np.nan)])
    again = model(variant, random_state=7).fit(X, codes, init=places)
    moved = np.linalg.norm(again.embedding_[:120] - few.embedding_, axis=1)
    assert np.median(moved) < 0.5 * rms(few.embedding_)


def test_a_map_of_another_variant_gives_only_the_orientation(blobs, labels):
    first = model("E1").fit(blobs, labels)
    second = model("E3", random_state=5).fit(blobs, labels, init=first.to_map())
    assert second.scale_ == model("E3", random_state=5).fit(blobs, labels).scale_
    assert_allclose(second.prototypes_ / second.scale_, first.prototypes_, atol=0.1)


def test_bad_starts_are_refused(blobs, labels):
    with pytest.raises(ParameterError, match="init has shape"):
        model().fit(blobs, labels, init=np.zeros((3, 2)))
    with pytest.raises(ParameterError, match="array of places"):
        model().fit(blobs, labels, init="there")
    three = model(n_components=3).fit(blobs, labels).to_map()
    with pytest.raises(ParameterError, match="3 axes"):
        model().fit(blobs, labels, init=three)


@pytest.mark.filterwarnings("ignore:the two nearest prototypes")
def test_links_arrange_prototypes(blobs, labels, rng):
    """a-b and c-d cite each other, whatever their features say."""
    pairs = [(int(i), int(20 + j)) for i, j in rng.integers(20, size=(60, 2))]
    pairs += [(int(40 + i), int(60 + j)) for i, j in rng.integers(20, size=(60, 2))]
    fitted = model().fit(blobs, labels, links=pairs)
    away = cdist(fitted.prototypes_, fitted.prototypes_)
    assert away[0, 1] < min(away[0, 2], away[0, 3])
    assert away[2, 3] < min(away[2, 0], away[2, 1])
    matrix = csr_array((np.ones(120), np.array(pairs).T), shape=(80, 80))
    frame = pd.DataFrame(pairs, columns=["from", "to"], index=np.arange(120)[::-1])
    for links in (matrix, frame, np.array(pairs), np.array(pairs, dtype=str)):
        assert_array_equal(model().fit(blobs, labels, links=links).prototypes_, fitted.prototypes_)
    with pytest.raises(DataError, match="link 1 has the weight 'much'"):
        model().fit(blobs, labels, links=[(0, 1, 2.0), (1, 2, "much")])
    with pytest.raises(DataError, match="links have shape"):
        model().fit(blobs, labels, links=csr_array((3, 3)))
    with pytest.raises(DataError, match="link 0 is"):
        model().fit(blobs, labels, links=[(1, 2, 3, 4)])


# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_labels_are_predicted(blobs, labels, missing):
    partly = labels.astype(object)
    partly[::3] = missing
    fitted = model().fit(blobs, partly)
    assert_array_equal(fitted.predicted_, np.arange(80) % 3 == 0)
    given = ~fitted.predicted_
    assert_array_equal(fitted.cohorts_[fitted.labels_[given]], labels[given])
    assert (fitted.labels_ >= 0).all()
    map_ = fitted.to_map()
    assert map_.group("sample").fields["predicted"].sum() == 27
    assert {"cohort_separation", "cohort_separation_with_predicted"} <= map_.scores.keys()


def test_prototypes_come_from_given_labels_only(blobs, labels):
    partly = labels.astype(object)
    partly[::3] = None
    whole = model(prototypes="mds").fit(blobs, partly)
    alone = model(prototypes="mds").fit(blobs[partly != None], labels[partly != None])  # noqa: E711
    assert_allclose(whole.prototypes_, alone.prototypes_, atol=1e-9)


def test_without_labels_clusters_are_found(rng):
    codes = np.repeat([0, 1, 2], 30)
    X = 10 * np.eye(3)[codes] + rng.normal(size=(90, 3))
    fitted = model(n_cohorts=3).fit(X)
    assert fitted.cohorts_.tolist() == ["cluster 1", "cluster 2", "cluster 3"]
    assert len(set(zip(codes.tolist(), fitted.labels_.tolist(), strict=True))) == 3
    assert fitted.predicted_.all()
    assert fitted.to_map().scores["cohort_separation"] > 0.9


def test_one_cohort_is_refused(blobs):
    with pytest.raises(DataError, match="one class only, 'same'"):
        model().fit(blobs, ["same"] * 80)


# ---------------------------------------------------------------------- matrices and settings


@pytest.mark.parametrize("variant", ["E1", "E2"])
def test_given_matrices_need_no_features(blobs, labels, variant, tmp_path):
    first = model(variant).fit(blobs, labels)
    second = model(
        variant,
        affinity=first.affinity_,
        confidence=first.confidence_,
        prototypes=first.prototypes_,
    ).fit(None, labels)
    if variant == "E1":
        assert_allclose(second.embedding_, first.embedding_, atol=1e-9)
    assert_allclose(second.solve_result_.value, first.solve_result_.value, rtol=0.1)
    with pytest.raises(ParameterError, match="cannot place new samples"):
        second.transform(blobs)
    second.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_array_equal(again.affinity.toarray(), first.affinity_.toarray())
    assert_array_equal(dense(again.confidence), dense(first.confidence_))
    assert_array_equal(again.embedding_, second.embedding_)
    assert_array_equal(again.move(2 * first.prototypes_), second.move(2 * first.prototypes_))
    map_ = second.to_map()
    assert map_.parameters["affinity"] == {"sparse": [80, 80]}
    assert "neighbor_preservation" not in map_.scores  # there are no features to compare with
    map_.save(tmp_path / "map")


def test_new_samples_are_weighed_by_features_where_weights_were_given(blobs, labels):
    own = model("E1").fit(blobs, labels)
    given = model("E1", affinity=7 * own.affinity_, confidence=own.confidence_).fit(blobs, labels)
    new = blobs[::5] + 0.3
    with pytest.warns(RelscapeWarning, match="weighed against the others by their features"):
        placed = given.transform(new)
    # The weights are those of the default affinity, so the places are as if they had not been given.
    plain = model("E1", confidence=own.confidence_).fit(blobs, labels)
    assert_allclose(placed, plain.transform(new), atol=1e-9)


@pytest.mark.parametrize("variant", ["P1", "eigen"])
def test_new_samples_have_links_too(blobs, labels, variant, rng):
    codes = np.repeat(np.arange(4), 20)
    links = ((codes[:, None] == codes) & (rng.random((80, 80)) < 0.3)).astype(float)
    kept = np.arange(80) % 5 > 0
    settings = RelationFeatures(compact=True)
    fitted = model(variant, features=settings).fit(blobs[kept], labels[kept], links=links[kept][:, kept])
    assert fitted.relations_.compaction.link_codes.size == 64
    new, theirs = blobs[~kept], links[~kept][:, kept]
    placed = fitted.transform(new, links=csr_array(theirs))
    table = fitted.feature_settings_.rows(fitted.relations_, new, theirs)
    assert_allclose(placed, table @ fitted.projection_ + fitted.origin_)
    with pytest.warns(RelscapeWarning, match="samples without links"):
        without = fitted.transform(new)
    assert np.abs(without - placed).max() > 0.01
    with pytest.raises(DataError, match="expected 16 × 64"):
        fitted.transform(new, links=links)
    with pytest.raises(ParameterError, match="leave them out"):
        model("E1").fit(blobs, labels).transform(new, links=links)


def test_new_samples_are_weighed_by_given_labels_as_the_old_ones_are(blobs, labels):
    """Weights shrink between cohorts; towards samples whose cohort was predicted they do not, as in W."""
    partial = labels.astype(object)
    partial[::3] = None
    new, codes, raw = blobs + 0.05, np.repeat(np.arange(4), 20), []
    for shrink in (1.0, 0.2):
        fitted = model("E1", affinity=GaussianAffinity(8, shrink=shrink)).fit(blobs, partial)
        raw.append(_rows(fitted, new, codes)[0].toarray() * fitted.affinity_fit_.total)
    between = (codes[:, None] != codes) & ~fitted.predicted_
    assert_allclose(raw[1], np.where(between, 0.2, 1.0) * raw[0], atol=1e-12)
    assert raw[0][between].any()
    assert raw[0][:, fitted.predicted_].any()


NAMED = {"c": (-1.0, 1.0), "a": (1.0, 1.0), "d": (-1.0, -1.0), "b": (1.0, -1.0)}


@pytest.mark.parametrize(
    "named",
    [
        NAMED,
        pd.DataFrame(NAMED.values(), index=list(NAMED)),
        pl.DataFrame([(name, *place) for name, place in NAMED.items()], ["cohort", "x", "y"], orient="row"),
    ],
    ids=["mapping", "pandas", "polars"],
)
def test_prototypes_go_by_name_where_they_have_names(blobs, labels, named, tmp_path):
    fitted = model("E1", prototypes=named).fit(blobs, labels)
    assert_array_equal(fitted.prototypes_, SQUARE)
    assert_allclose(fitted.move(named), fitted.embedding_, atol=1e-9)
    fitted.save(tmp_path / "model")
    again = load_model(tmp_path / "model").fit(blobs, labels)
    assert_allclose(again.embedding_, fitted.embedding_)
    numbers = np.repeat([1, 2, 3, 10], 20)
    frame = pd.DataFrame(SQUARE[::-1], index=[10, 3, 2, 1])
    assert_array_equal(model("E1", prototypes=frame).fit(blobs, numbers).prototypes_, SQUARE)
    plain = pd.DataFrame(SQUARE)
    assert_array_equal(model("E1", prototypes=plain).fit(blobs, labels).prototypes_, SQUARE)


def test_names_of_prototypes_that_do_not_fit_are_refused(blobs, labels):
    with pytest.raises(DataError, match=r"no place for 'd' and 'e', which are no cohorts"):
        model("E1", prototypes={"a": (0, 0), "b": (0, 1), "c": (1, 0), "e": (1, 1)}).fit(blobs, labels)
    with pytest.raises(DataError, match="a cohort twice"):
        model("E1", prototypes=pd.DataFrame(np.eye(5, 2), index=list("abcda"))).fit(blobs, labels)


def test_labels_in_another_order_than_the_features_are_told_of(blobs, labels):
    X, y = pd.DataFrame(blobs, columns=list("uvw")), pd.Series(labels)
    with pytest.warns(RelscapeWarning, match=r"give y.loc\[X.index\]"):
        model("E1").fit(X, y[::-1])
    model("E1").fit(X[::-1], y[::-1])


@pytest.mark.parametrize("seed", [-1, "a"])
def test_what_is_no_seed_is_refused_by_name(blobs, labels, seed):
    with pytest.raises(ParameterError, match="random_state="):
        model("E1", random_state=seed).fit(blobs, labels)


def test_prototypes_on_one_spot_are_told_of(blobs, labels):
    with pytest.warns(RelscapeWarning, match="all lie on one spot; give them places apart"):
        model("E1", prototypes=np.ones((4, 2))).fit(blobs, labels)


def test_eta_is_checked_in_every_variant(blobs, labels):
    with pytest.raises(ParameterError, match="eta=3"):
        model("E1", eta=3).fit(blobs, labels)


def test_without_features_weights_are_needed(labels):
    with pytest.raises(DataError, match="as affinity"):
        model().fit(None, labels)


def test_settings_survive_saving(blobs, labels, tmp_path):
    fitted = model(
        "P1",
        affinity=GaussianAffinity(5.0, n_neighbors=10, shrink=0.5),
        confidence=RangeConfidence(floor=0.02),
        prototypes=MDSPrototypes(dissimilarity=1.0 - np.eye(4)),
        features=RelationFeatures("gaussian", n_representatives=40),
        n_components=3,
    ).fit(blobs, labels)
    fitted.save(tmp_path / "model")
    again = COVA.load(tmp_path / "model")
    for name in ("affinity", "confidence", "features"):
        assert getattr(again, name) == getattr(fitted, name)
    assert_array_equal(again.prototypes.dissimilarity, 1.0 - np.eye(4))
    assert_array_equal(again.transform(blobs + 0.1), fitted.transform(blobs + 0.1))
    assert_array_equal(again.fit(blobs, labels).embedding_, fitted.embedding_)


def test_tables_in_frames_survive_saving(blobs, labels, tmp_path):
    tables = {"confidence": np.eye(4)[np.repeat(np.arange(4), 20)], "prototypes": SQUARE}
    given = model(**{name: pd.DataFrame(table) for name, table in tables.items()}).fit(blobs, labels)
    given.save(tmp_path / "model")
    again = COVA.load(tmp_path / "model")
    assert_array_equal(again.embedding_, given.embedding_)
    assert_array_equal(again.fit(blobs, labels).embedding_, model(**tables).fit(blobs, labels).embedding_)


@pytest.mark.parametrize("affinity", ["cosine", "distance", CosineAffinity(5), DistanceAffinity(5)])
@pytest.mark.parametrize("confidence", ["student", "kernel", "range", GaussianConfidence("centroid")])
def test_other_affinities_and_confidences(blobs, labels, affinity, confidence):
    fitted = model(affinity=affinity, confidence=confidence).fit(blobs, labels)
    W = fitted.affinity_
    assert W.sum() == pytest.approx(1.0)
    assert abs(W - W.T).max() < 1e-15
    assert fitted.confidence_.sum() == pytest.approx(1.0)
    new = fitted.transform(blobs + 1e-7)  # where they were, unless their neighbours are of another cohort
    assert np.median(np.abs(new - fitted.embedding_)) < 0.1


@pytest.mark.parametrize("prototypes", ["sne", "tsne", "mds", "laplacian", "means", SNEPrototypes("density")])
def test_prototypes(blobs, labels, prototypes):
    fitted = model(prototypes=prototypes).fit(blobs, labels)
    assert fitted.prototypes_.shape == (4, 2)
    assert rms(fitted.prototypes_) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"variant": "E5"}, "variant"),
        ({"alpha": 1.5}, "alpha"),
        ({"alpha": "much"}, "alpha"),
        ({"n_components": 0}, "n_components"),
        ({"scale": 0.0}, "scale"),
        ({"variant": "eigen", "eta": None}, "eta"),
        ({"affinity": "magic"}, "affinity"),
        ({"confidence": "magic"}, "confidence"),
        ({"prototypes": "magic"}, "prototypes"),
        ({"prototypes": np.zeros((3, 2))}, "prototypes have shape"),
        ({"variant": "E2", "solver": "magic"}, "solver"),
        ({"keep_response": "perhaps"}, "keep_response"),
        ({"batch_size": 1}, "batch_size"),
        ({"n_cohorts": 1}, "n_cohorts"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"),
    ],
)
def test_bad_parameters_are_refused(blobs, labels, parameters, message):
    with pytest.raises((ParameterError, UnknownNameError, DataError), match=message):
        model(**parameters).fit(blobs, labels)


# ---------------------------------------------------------------------- new samples


def test_the_rule_of_e1_for_new_samples(blobs, labels):
    """A new sample minimises the objective with all else in place; by hand, from its rows of W and R."""
    fitted = model(alpha=0.3).fit(blobs, labels)
    new = blobs[5:6] + 0.3
    codes = fitted.labels_
    cohort = np.bincount(codes[np.argsort(cdist(new, blobs)[0])[:5]]).argmax()
    weights = fitted.affinity_settings_.rows(fitted.affinity_fit_, blobs, new, codes, np.array([cohort]))
    own = fitted.confidence_settings_.raw(
        fitted.confidence_fit_.laws, weights, new, np.array([cohort]), codes
    )
    r, w = dense(own)[0] / fitted.confidence_fit_.total, dense(weights)[0]
    drawn = 0.3 * r @ fitted.prototypes_ + 0.7 * w @ fitted.embedding_
    assert_allclose(fitted.transform(new)[0], drawn / (0.3 * r.sum() + 0.7 * w.sum()), atol=1e-10)


@pytest.mark.parametrize("affinity", ["perplexity", "cosine", "distance"])
@pytest.mark.parametrize("confidence", ["gaussian", "range"])
def test_the_rule_of_e1_gives_old_samples_their_places(blobs, labels, affinity, confidence, monkeypatch):
    """Where all else is in place, the minimum for a sample is its own place (section 13)."""
    fitted = model(affinity=affinity, confidence=confidence).fit(blobs, labels)
    monkeypatch.setattr("relscape.models.cova_placing.same_rows", lambda _, new: np.full(len(new), -1))
    monkeypatch.setattr("relscape.models.cova_placing.predicted_codes", lambda *_, **__: fitted.labels_)
    assert_allclose(fitted.transform(blobs), fitted.embedding_, atol=1e-8)


@pytest.mark.parametrize("variant", ITERATIVE)
def test_new_samples_are_as_near_as_old_ones(variant):
    shape = make_cohorts("sinusoid", n=300)
    old, new = np.arange(300) % 10 != 0, np.arange(300) % 10 == 0
    fitted = COVA(variant, random_state=0).fit(shape.points[old], shape.labels[old])
    placed = fitted.transform(shape.points[new])
    own = fitted.prototypes_[np.searchsorted(fitted.cohorts_, shape.labels[new])]
    usual = np.linalg.norm(fitted.embedding_ - fitted.prototypes_[fitted.labels_], axis=1)
    assert np.median(np.linalg.norm(placed - own, axis=1)) < 1.5 * np.median(usual)


# ---------------------------------------------------------------------- degenerate cases


def test_singleton_and_tiny_cohorts(rng):
    X = rng.normal(size=(40, 3))
    y = ["big"] * 30 + ["pair"] * 2 + ["one"] + ["other"] * 7
    for variant in VARIANTS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelscapeWarning)
            fitted = model(variant).fit(X, y)
            assert np.isfinite(fitted.embedding_).all()
            assert fitted.to_map().scores


def test_coincident_samples_coincide(rng):
    X = np.repeat(rng.normal(size=(20, 3)), 3, axis=0)
    y = np.repeat(np.arange(20) % 3, 3)
    fitted = model(affinity=np.exp(-cdist(X, X, "sqeuclidean"))).fit(X, y)
    trios = fitted.embedding_.reshape(20, 3, 2)
    assert_allclose(trios, np.broadcast_to(trios[:, :1], trios.shape), atol=1e-9)


def test_graphs_in_parts(labels):
    """Two parts that nothing joins are legal; a sample that nothing holds gets no place, and is named."""
    ring = np.roll(np.eye(10), 1, axis=1)
    W = np.kron(np.eye(2), ring + ring.T)
    W = np.pad(W, (0, 1))
    y = np.array([0, 1] * 10 + [-1])
    with pytest.warns(RelscapeWarning, match=r"1 of 21 samples \('20'\).* no place"):
        fitted = model(affinity=W, prototypes=[[1.0], [-1.0]], n_components=1).fit(None, y)
    assert np.isnan(fitted.embedding_[20]).all()
    assert np.isfinite(fitted.embedding_[:20]).all()
    map_ = fitted.to_map()
    assert len(map_.group("sample")) == 20
    assert "cohort_separation" in map_.scores
    again = fitted.move([[2.0], [-2.0]])
    assert_allclose(again[:20], 2 * fitted.embedding_[:20], atol=1e-9)
    assert np.isnan(again[20]).all()


@pytest.mark.parametrize("variant", ["E1", *ITERATIVE])
def test_an_anchor_alone_holds_a_sample(variant):
    """A sample without neighbours and cohort has a place once it is anchored."""
    ring = np.roll(np.eye(20), 1, axis=1)
    W = np.pad(ring + ring.T, (0, 1))
    y = np.array([0] * 7 + [1] * 7 + [2] * 6 + [-1])
    fitted = model(variant, affinity=W).fit(None, y, anchors={20: ([1.0, 2.0], 1000.0)})
    assert_allclose(fitted.embedding_[20], [1.0, 2.0], atol=0.01)


def test_samples_without_confidence_follow_their_neighbours(blobs, labels):
    R = np.eye(4)[np.repeat(np.arange(4), 20)]
    R[::2] = 0.0
    for alpha in (0.5, 1.0):
        fitted = model(confidence=R, alpha=alpha).fit(blobs, labels)
        W = dense(fitted.affinity_)
        expected = W @ fitted.embedding_ / W.sum(axis=1)[:, None]
        assert_allclose(fitted.embedding_[::2], expected[::2], atol=1e-9)


def test_few_samples():
    fitted = model(n_components=1).fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    assert np.isfinite(fitted.embedding_).all()
    with pytest.warns(RelscapeWarning, match="choose n_components=1"):
        model().fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    with pytest.raises(DataError, match="n_samples=1"):
        model().fit([[0.0]], ["a"])


def test_scores_compare_features_as_the_affinity_does(blobs, labels):
    from relscape import neighbor_preservation

    fitted = model(affinity="cosine").fit(blobs, labels)
    expected = neighbor_preservation(blobs, fitted.embedding_, labels, random_state=0, metric="cosine")
    assert fitted.to_map().scores["neighbor_preservation"] == expected


def test_kinds_named_cohort_do_not_collide(blobs, labels):
    from relscape.data import RelationalData

    data = RelationalData.from_matrix(blobs, "cohort", "value")
    assert model().fit(data, labels).to_map().groups == ("cohort", "cohort-prototype")
