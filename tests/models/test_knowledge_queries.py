"""Questions to a hand-made model: entities on a line, a relation that steps to the right."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from relscape.data.triples import KnowledgeGraph
from relscape.errors import ParameterError, UnknownNameError
from relscape.models.knowledge_calibration import made_up, platt, probabilities
from relscape.models.knowledge_queries import Questions
from relscape.models.knowledge_scoring import Trained
from relscape.objectives.energies import energy_named
from relscape.objectives.energies.base import assemble

NAMES = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture
def graph():
    """Steps along a → b → ... → f, one two-step, and a fact that is wrong: f next b."""
    steps = [(i, 0, i + 1) for i in range(5)]
    return KnowledgeGraph(
        [*steps, (0, 1, 2), (5, 0, 1)],
        entities=NAMES,
        relations=["next", "skip"],
        entity_labels=[name.upper() for name in NAMES],
    )


@pytest.fixture
def questions(graph):
    energy = energy_named("TransE")
    entities = np.column_stack([np.arange(6.0), np.ones(6)])
    params = assemble(entities, np.array([[1.0, 0.0], [2.0, 0.0]]))
    return Questions(Trained(energy, params, energy.settings("l1")), graph, np.array([-2.0, 4.0]))


def test_tails_heads_and_relations(questions):
    tails, heads, relations = questions.predict(
        [("b", "skip", "?"), ("?", "skip", "e"), ("a", None, "c")], top=2, exclude_known=True
    )
    assert [(p.name, p.energy) for p in tails] == [("d", 0.0), ("c", 1.0)]
    assert [(p.name, p.label) for p in heads] == [("c", "C"), ("b", "B")]
    assert [p.name for p in relations] == ["next"]  # that a skips to c is known
    assert tails[0].probability == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert not tails[0].known


def test_known_facts_are_left_out_or_marked(questions):
    assert [p.name for p in questions.predict([("a", "next", "?")], 6, True)[0]] == ["a", "c", "d", "e", "f"]
    shown = questions.predict([("a", "next", "?")], 6, False)[0]
    assert [(p.name, p.known) for p in shown[:2]] == [("b", True), ("a", False)]


def test_labels_and_numbers_are_understood(questions):
    by_name = questions.predict([("b", "skip", "?")], 3, True)
    assert questions.predict([("B", "skip", "?")], 3, True) == by_name
    assert questions.predict([(1, 1, None)], 3, True) == by_name


def test_many_questions_at_once_are_answered_in_their_order(questions):
    asked = [(NAMES[i % 6], "next" if i % 2 else "skip", "?") for i in range(600)]
    answers = questions.predict(asked, 1, False)
    for query, found in zip(asked, answers, strict=True):
        assert found == questions.predict([query], 1, False)[0]


def test_unknown_names_suggest_near_ones(questions):
    with pytest.raises(UnknownNameError, match=r"no relation 'nxt'.*Did you mean 'next'"):
        questions.predict([("a", "nxt", "?")], 3, True)
    with pytest.raises(UnknownNameError, match="no entity 'zz'"):
        questions.predict([("zz", "next", "?")], 3, True)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (("a", "next", "b"), "exactly one part"),
        (("?", "next", "?"), "exactly one part"),
        (("a", "next"), "no triple"),
        ((9, "next", "?"), "numbered from 0 to 5"),
    ],
)
def test_bad_questions_are_refused(questions, query, message):
    with pytest.raises(ParameterError, match=message):
        questions.predict([query], 3, True)


def test_tops_are_whole_numbers(questions):
    for bad in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="top="):
            questions.predict([("a", "next", "?")], bad, True)


def test_similar_entities_point_the_same_way(questions):
    found = questions.similar("f", 5)
    rows = questions.trained.params["entities"]
    cosines = rows @ rows[5] / (np.linalg.norm(rows, axis=1) * np.linalg.norm(rows[5]))
    assert [s.name for s in found] == ["e", "d", "c", "b", "a"]
    assert_allclose([s.similarity for s in found], np.sort(cosines[:5])[::-1])


def test_explanations_show_facts_alike_and_between(questions):
    told = questions.explain(("d", "next", "e"), 2)
    assert told.known
    assert told.energy == 0
    assert (told.head_rank, told.tail_rank) == (1, 1)
    # the directions of d and e lie nearest those of e and f
    assert [(a.head, a.tail) for a in told.alike] == [("e", "f"), ("c", "d")]
    assert told.alike[0].distance < told.alike[1].distance
    assert questions.explain(("c", "next", "a"), 1).between == (("a", "skip", "c"),)


def test_the_wrong_fact_is_found(questions):
    worst = questions.suspicious(1, "train", None)[0]
    assert (worst.head, worst.relation, worst.tail) == ("f", "next", "b")
    assert worst.energy == 5
    assert worst.tail_rank > 1
    assert [s.relation for s in questions.suspicious(9, "train", ["skip"])] == ["skip"]


def test_platt_equals_logistic_regression(rng):
    true = np.arange(4000) < 2000
    energies = np.where(true, rng.normal(1, 1, 4000), rng.normal(3, 1, 4000))
    found = platt(energies, true)
    other = LogisticRegression(C=1e8, tol=1e-10).fit(energies[:, None], true)
    assert_allclose(found, [-other.intercept_[0], -other.coef_[0, 0]], rtol=0.01)
    chances = probabilities(energies, found)
    near = np.abs(chances - 0.7) < 0.05
    assert true[near].mean() == pytest.approx(0.7, abs=0.06)


def test_platt_of_energies_that_tell_all_apart_stays_finite():
    found = platt(np.array([0.0, 0.1, 5.0, 5.1]), np.array([True, True, False, False]))
    assert np.isfinite(found).all()
    assert (probabilities(np.array([0.0, 1e9]), found) <= 1).all()
    far = np.append(np.tile([0.0, 1.0], 10_000), 1e6)  # no overflow on the way, whatever lies far out
    assert np.isfinite(platt(far, far == 0)).all()


def test_platt_never_rewards_high_energies(rng):
    true = np.arange(100) < 50
    found = platt(np.where(true, 5.0, 1.0) + rng.normal(size=100), true)
    assert_allclose(probabilities(np.array([0.0, 9.0]), found), 0.5)


def test_made_up_triples_are_unknown_and_change_one_end(rng, graph):
    false = made_up(np.repeat(graph.train, 50, axis=0), graph, rng)
    known = {tuple(row) for row in graph.triples().tolist()}
    assert not known.intersection(map(tuple, false.tolist()))
    assert len(false) == 50 * len(graph.train)
