"""Choosing weights: against every fit made by hand, and against what the theory says of E1."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from relscape.datasets import make_cohorts
from relscape.errors import ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix.completion import completed_codes
from relscape.models.cova import COVA
from relscape.scores import cohort_position, cohort_separation, neighbor_preservation
from relscape.tuning import choose_weights, e1_local_budget, keep_local_objective, keep_neighbourhoods

ALPHAS = (0.1, 0.5, 0.9)
ANGLES = np.arange(6) * np.pi / 3
HEXAGON = 2.0 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


@pytest.fixture(scope="module")
def shape():
    return make_cohorts("sinusoid", n=150)


@pytest.fixture(scope="module")
def by_hand(shape):
    """E1 at every weight of the grid, with its scores."""
    rows = {}
    for alpha in ALPHAS:
        model = COVA("E1", alpha=alpha, prototypes=HEXAGON).fit(shape.points, shape.labels)
        Z, V = model.embedding_, model.prototypes_
        rows[alpha] = (
            neighbor_preservation(shape.points, Z, shape.labels, random_state=0),
            cohort_position(Z, shape.labels, V),
            cohort_separation(Z, shape.labels),
        )
    return rows


def model_of(variant="E1", **parameters):
    return COVA(variant, prototypes=HEXAGON, random_state=0, **parameters)


def test_the_grid_is_what_fits_by_hand_give(shape, by_hand):
    model = model_of()
    choice = choose_weights(model, shape.points, shape.labels, alphas=ALPHAS)
    assert [trial.alpha for trial in choice.records] == list(ALPHAS)
    for trial in choice.records:
        assert_allclose((trial.neighbours, trial.position, trial.separation), by_hand[trial.alpha], atol=1e-9)
        assert trial.eta is None
    best = max(ALPHAS, key=lambda alpha: sum(by_hand[alpha]))
    assert choice.alpha == best
    assert choice.model.alpha_ == best
    assert model.alpha == "auto"
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize(("name", "place"), [("neighbours", 0), ("position", 1), ("separation", 2)])
def test_only_what_is_preferred_counts(shape, by_hand, name, place):
    choice = choose_weights(model_of(), shape.points, shape.labels, alphas=ALPHAS, preference={name: 2})
    best = max(by_hand[alpha][place] for alpha in ALPHAS)
    assert_allclose(by_hand[choice.alpha][place], best, atol=1e-9)
    assert name in choice.reason


def test_relative_position_counts_links(shape):
    choice = choose_weights(
        model_of(),
        shape.points,
        shape.labels,
        alphas=(0.5,),
        preference={"position": 1},
        relative=True,
    )
    assert f"{choice.records[0].links:.3f}" in choice.reason


def test_the_model_chosen_is_an_ordinary_fit(shape):
    """It can place new samples, which one fitted on given weights cannot."""
    choice = choose_weights(model_of(), shape.points, shape.labels, alphas=(0.3, 0.6))
    plain = model_of(alpha=choice.alpha).fit(shape.points, shape.labels)
    assert choice.model.get_params()["affinity"] == "perplexity"
    assert_allclose(choice.model.embedding_, plain.embedding_, atol=1e-8)
    assert_allclose(choice.model.transform(shape.points[:3]), plain.embedding_[:3], atol=1e-6)


def test_eta_is_tried_for_eigen_cova(shape):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        choice = choose_weights(model_of("eigen"), shape.points, shape.labels, alphas=(0.9,), etas=(0.2, 0.5))
    assert [(trial.alpha, trial.eta) for trial in choice.records] == [(0.9, 0.2), (0.9, 0.5)]
    assert choice.eta == choice.model.eta_


def test_neighbourhoods_are_kept(shape, by_hand):
    best = max(scores[0] for scores in by_hand.values())
    for share in (0.5, 0.8, 1.0):
        choice = keep_neighbourhoods(model_of(), shape.points, shape.labels, share=share, alphas=ALPHAS)
        assert choice.alpha == max(a for a in ALPHAS if by_hand[a][0] >= share * best - 1e-12)


def test_a_budget_is_met_exactly(shape):
    """E1's samples' term grows with α, so the α found spends the budget and no more."""
    target = model_of(alpha=0.37).fit(shape.points, shape.labels)
    budget = float(target.objective_[1])
    choice = e1_local_budget(model_of(), shape.points, shape.labels, budget=budget)
    assert_allclose(choice.alpha, 0.37, rtol=2e-4)
    assert choice.model.objective_[1] <= budget * (1 + 1e-9)
    records = sorted(choice.records, key=lambda trial: trial.alpha)
    assert (np.diff([trial.sample_term for trial in records]) >= -1e-12).all()
    assert (np.diff([trial.cohort_term for trial in records]) <= 1e-12).all()


def test_a_budget_for_everything_takes_the_largest_weight(shape):
    choice = e1_local_budget(model_of(), shape.points, shape.labels, budget=1e6)
    assert choice.alpha == 0.999


def test_a_divergence_may_grow_by_a_share(shape):
    model = model_of("E3", max_iterations=60)
    choice = keep_local_objective(model, shape.points, shape.labels, slack=0.2, alphas=(0.2, 0.8))
    terms = {trial.alpha: trial.sample_term for trial in choice.records}
    assert set(terms) == {0.0, 0.2, 0.8}
    allowed = [alpha for alpha, term in terms.items() if term <= 1.2 * min(terms.values())]
    assert choice.alpha == max(allowed)


def test_warnings_come_once(shape):
    """Whatever the number of fits, a person reads of a fault once."""
    line = np.column_stack([np.arange(6.0), np.zeros(6)])
    with pytest.warns(RelscapeWarning, match="span only 1") as told:
        choose_weights(COVA(prototypes=line), shape.points, shape.labels, alphas=(0.2, 0.4, 0.6))
    assert len([w for w in told if "span only 1" in str(w.message)]) == 1


def test_partly_labelled_samples_are_scored_by_given_labels(shape):
    labels = np.array(shape.labels, dtype=object)
    labels[::3] = None
    choice = choose_weights(model_of(), shape.points, labels, alphas=(0.6,))
    Z, given = choice.model.embedding_, ~choice.model.predicted_
    expected = cohort_separation(Z[given], labels[given])
    assert_allclose(choice.records[0].separation, expected, atol=1e-9)


def test_what_makes_no_sense_is_refused(shape):
    X, y, model = shape.points, shape.labels, model_of()
    with pytest.raises(UnknownNameError, match="neighbours"):
        choose_weights(model, X, y, preference={"neighbors": 1})
    with pytest.raises(ParameterError, match="0 or more"):
        choose_weights(model, X, y, preference={"position": -1})
    with pytest.raises(ParameterError, match="nothing counts"):
        choose_weights(model, X, y, preference={"position": 0})
    with pytest.raises(ParameterError, match="alphas"):
        choose_weights(model, X, y, alphas=(0.5, 1.0))
    with pytest.raises(ParameterError, match="empty"):
        choose_weights(model, X, y, alphas=())
    with pytest.raises(ParameterError, match="share=0"):
        keep_neighbourhoods(model, X, y, share=0)
    with pytest.raises(ParameterError, match="only for E1"):
        e1_local_budget(model_of("E2"), X, y, budget=1.0)
    with pytest.raises(ParameterError, match="budget=0"):
        e1_local_budget(model, X, y, budget=0)
    with pytest.raises(ParameterError, match="smallest value is 0"):
        keep_local_objective(model, X, y)
    with pytest.raises(ParameterError, match="slack"):
        keep_local_objective(model_of("E2"), X, y, slack=0)


def test_a_score_that_cannot_be_had_is_not_preferred(shape):
    two = np.where(np.arange(len(shape.points)) < 75, "a", "b")
    with pytest.warns(RelscapeWarning), pytest.raises(ParameterError, match="three cohorts"):
        choose_weights(COVA(), shape.points, two, alphas=(0.5,), preference={"position": 1}, relative=True)


def test_later_trials_predict_labels_by_the_affinity_of_the_first(rng):
    """Long and short samples of one direction are alike by cosine, and far apart by distance."""
    codes = np.arange(60) % 3
    X = np.eye(3)[codes] + 0.3 * rng.normal(size=(60, 3))
    X *= rng.uniform(0.1, 10, size=(60, 1))
    y = np.where(np.arange(60) < 12, codes, -1)
    votes = [completed_codes(X, y, metric=metric) for metric in ("cosine", "euclidean")]
    assert (votes[0] != votes[1]).sum() > 5
    model = COVA("E1", affinity="cosine", n_neighbors=30, prototypes=HEXAGON[:3], random_state=0)
    alone = {alpha: model.set_params(alpha=alpha).fit(X, y).objective_.copy() for alpha in (0.3, 0.7)}
    choice = choose_weights(model, X, y, alphas=(0.3, 0.7))
    for trial in choice.records:
        assert_allclose((trial.cohort_term, trial.sample_term), alone[trial.alpha], rtol=1e-9)
