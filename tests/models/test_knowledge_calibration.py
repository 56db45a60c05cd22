"""Probabilities of answers: the curve beside scikit-learn's, and reliability where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from relscape.data.triples import KnowledgeGraph
from relscape.models.knowledge import KGEmbedding
from relscape.models.knowledge_calibration import calibrated, logistic, probabilities
from relscape.models.knowledge_queries import Questions
from relscape.models.knowledge_scoring import Trained
from relscape.objectives.energies import energy_named
from relscape.objectives.energies.base import assemble


def test_the_curve_is_that_of_logistic_regression(rng):
    true = rng.random(4000) < 0.3
    features = np.column_stack([np.where(true, 1.0, 3.0), np.where(true, 0.0, 0.5)]) + rng.normal(
        size=(4000, 2)
    )
    weights = rng.integers(1, 5, 4000).astype(float)
    found = logistic(features, true, weights)
    other = LogisticRegression(C=1e8, tol=1e-10).fit(features, true, weights)
    assert_allclose(found, [-other.intercept_[0], *-other.coef_[0]], rtol=0.01)


def test_what_tells_all_apart_stays_finite():
    energies, true = np.array([0.0, 0.1, 5.0, 5.1]), np.array([True, True, False, False])
    found = logistic(np.column_stack([energies, np.zeros(4)]), true, np.ones(4))
    assert np.isfinite(found).all()
    assert found[2] == 0  # of a feature that is always the same nothing can be said
    assert (probabilities(np.array([0.0, 1e9]), np.ones(2), found) <= 1).all()
    far = np.append(np.tile([0.0, 1.0], 10_000), 1e6)[:, None]  # no overflow, whatever lies far out
    assert np.isfinite(logistic(far, far[:, 0] == 0, np.ones(len(far)))).all()


def test_what_counts_the_wrong_way_is_left_out(rng):
    """Alone, a misleading feature leaves nothing but the share; beside a good one it changes nothing."""
    true = np.arange(1000) < 250
    wrong, right = (np.where(true, place, 1.0) + rng.normal(size=1000) for place in (5.0, -1.0))
    found = logistic(wrong[:, None], true, np.ones(1000))
    assert_allclose(1 / (1 + np.exp(found[0])), 0.25, atol=0.005)
    assert found[1] == 0
    alone = logistic(right[:, None], true, np.ones(1000))
    both = logistic(np.column_stack([wrong, right]), true, np.ones(1000))
    assert_allclose(both, [alone[0], 0.0, alone[1]])


def reliability(questions, graph, top):
    """Ask what the test split answers; give chances and truth of the answers at the top of the lists."""
    chances, truth = [], []
    for part in (0, 2):
        asked = np.unique(np.delete(graph.test, part, axis=1), axis=0)
        queries = [tuple(np.insert(row.astype(object), part, None)) for row in asked]
        true = {tuple(row) for row in graph.test.tolist()}
        for query, answers in zip(queries, questions(queries, top), strict=True):
            for answer in answers:
                named = [graph.entity(answer.name) if p is None else p for p in query]
                chances.append(answer.probability)
                truth.append(tuple(named) in true)
    return np.array(chances), np.array(truth)


def assert_reliable(chances, truth, slack, low_side=False):
    """In every class of chances they are right on average, but for chance itself; or too low at most."""
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 1.0)):
        inside = (chances > low) & (chances <= high)
        if inside.sum() >= 30:
            noise = 3 * np.sqrt(chances[inside].mean() / inside.sum())
            assert chances[inside].mean() < truth[inside].mean() + noise + slack
            if not low_side:
                assert chances[inside].mean() > truth[inside].mean() - noise - slack


def asking(model, graph, fitted):
    """Let known facts be those of train and valid: what is held out is what there is to find."""
    questions = Questions(model, seen(graph), fitted)
    return lambda queries, top: questions.predict(queries, top, True, True)


def seen(graph):
    """Give the graph as if nobody had written down its test split."""
    return KnowledgeGraph(graph.train, graph.valid, entities=graph.entities, relations=graph.relations)


def town(rng, *shares):
    """Let people at random places like each other by a known chance that falls with distance.

    Energies are the distances themselves, so nothing is to be learnt but how likely an answer is. Shares of
    the facts are valid and test.
    """
    n = 400
    places = rng.normal(size=(n, 2))
    far = np.linalg.norm(places[:, None] - places, axis=2)
    facts = np.argwhere((rng.random((n, n)) < 0.9 * np.exp(-8 * far)) & ~np.eye(n, dtype=bool))
    facts = rng.permutation(np.insert(facts, 1, 0, axis=1))
    valid, test, train = np.split(facts, np.cumsum([int(len(facts) * share) for share in shares]))
    valid, test = (part[np.isin(part, train).all(axis=1)] for part in (valid, test))
    graph = KnowledgeGraph(train, valid, test, [f"p{i}" for i in range(n)], ["likes"])
    energy = energy_named("Unstructured")
    return Trained(energy, assemble(places, np.zeros((1, 2))), energy.settings("l2")), graph


def test_chances_are_right_where_nothing_else_is_missing(rng):
    """Calibrated in one town, of which all but the validation facts are known, they hold in another."""
    fitted = calibrated(*town(rng, 0.2, 0.0), rng)
    model, graph = town(rng, 0.0, 0.2)
    chances, truth = reliability(asking(model, graph, fitted), graph, 10)
    assert 0.05 < truth.mean() < 0.5
    assert_reliable(chances, truth, 0.04)
    firsts = slice(0, None, 10)
    assert chances[firsts].mean() == pytest.approx(truth[firsts].mean(), abs=0.08)


def test_chances_are_low_where_as_much_is_missing_as_was_held_out(rng):
    """Of v validation facts, v others that are true and f that are false at some place v / (2v + f) count as
    true; when the first are known, v / (v + f) of what is listed are: so p / (1 - p) for p, roughly."""
    model, graph = town(rng, 0.2, 0.2)
    chances, truth = reliability(asking(model, graph, calibrated(model, graph, rng)), graph, 10)
    assert_reliable(chances, truth, 0.04, low_side=True)
    assert chances.mean() < truth.mean()
    assert (chances / (1 - chances)).mean() == pytest.approx(truth.mean(), abs=0.04)


def test_nothing_of_the_test_split_is_looked_at(rng):
    model, graph = town(rng, 0.2, 0.2)
    found = [calibrated(model, facts, np.random.default_rng(0)) for facts in (graph, seen(graph))]
    assert_array_equal(*found)


def test_chances_are_not_too_high_on_umls(data_dir):
    """The test facts are missing when chances are fitted, so these may be low, by what is missing."""
    graph = KnowledgeGraph.from_directory(data_dir / "umls")
    model = KGEmbedding("TransE", 16, n_epochs=60, n_batches=20, random_state=0).fit(graph)
    chances, truth = reliability(asking(model._trained(), graph, model.calibration_), graph, 10)
    assert_reliable(chances, truth, 0.05, low_side=True)
    assert truth.mean() - 0.04 < chances.mean() < truth.mean() + 0.02


def test_without_validation_triples_training_ones_serve(rng):
    graph = KnowledgeGraph([(f"p{i}", "next", f"p{i + 1}") for i in range(30)])
    energy = energy_named("TransE")
    line = np.column_stack([np.arange(31.0), np.ones(31)])
    place = np.array([int(name[1:]) for name in graph.entities])
    model = Trained(energy, assemble(line[place], np.array([[1.0, 0.0]])), energy.settings("l1"))
    fitted = calibrated(model, graph, rng)
    assert fitted.shape == (3, 3)
    assert np.isfinite(fitted).all()
    near, far = probabilities(np.array([0.0, 5.0]), np.array([1.0, 9.0]), fitted[2])
    assert near > 0.8 > 0.05 > far
