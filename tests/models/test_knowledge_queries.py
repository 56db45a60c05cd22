"""Questions to a hand-made model: entities on a line, a relation that steps to the right."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.models.knowledge_queries import Questions
from relscape.models.knowledge_scoring import Trained
from relscape.objectives.energies import energy_named
from relscape.objectives.energies.base import assemble

NAMES = ["a", "b", "c", "d", "e", "f"]
# of heads, relations and tails: a constant, and what energies and logarithms of ranks count
CALIBRATION = np.array([[-1.0, 3.0, 1.0], [-3.0, 2.0, 0.5], [-2.0, 4.0, 1.5]])


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
    return Questions(Trained(energy, params, energy.settings("l1")), graph, CALIBRATION)


def test_tails_heads_and_relations(questions):
    tails, heads, relations = questions.predict(
        [("b", "skip", "?"), ("?", "skip", "e"), ("a", None, "c")], 2, True, True
    )
    assert [(p.name, p.energy) for p in tails] == [("d", 0.0), ("c", 1.0)]
    assert [(p.name, p.label) for p in heads] == [("c", "C"), ("b", "B")]
    assert [p.name for p in relations] == ["next"]  # that a skips to c is known
    assert not tails[0].known


def test_probabilities_are_those_of_energies_at_their_places(questions):
    """Other answers are new when the first is: b skips to d (energy 0), then c and e (energy 1, level)."""
    tails, heads, relations = questions.predict(
        [("b", "skip", "?"), ("?", "skip", "e"), ("b", "?", "d")], 3, True, True
    )

    def chance(part, energy, rank):
        a, b, c = CALIBRATION[part]
        return 1 / (1 + np.exp(a + b * energy + c * np.log(rank)))

    assert_allclose([p.probability for p in tails], [chance(2, 0, 1), chance(2, 1, 2.5), chance(2, 1, 2.5)])
    assert_allclose(heads[0].probability, chance(0, 0, 1))
    assert_allclose([p.probability for p in relations], [chance(1, 0, 1), chance(1, 1, 2)])
    known = questions.predict([("a", "skip", "?")], 2, False, True)[0]  # c, as if it were yet to be found
    assert known[0].known
    assert_allclose([p.probability for p in known], [chance(2, 0, 1), chance(2, 1, 1.5)])
    whole = questions.probability(np.array([[1, 1, 3]]))
    assert_allclose(whole, (chance(0, 0, 1) + chance(2, 0, 1)) / 2)
    assert questions.explain(("b", "skip", "d"), 1).probability == pytest.approx(whole[0])


def test_known_facts_are_left_out_or_marked(questions):
    found = questions.predict([("a", "next", "?")], 6, True, False)[0]
    assert [p.name for p in found] == ["a", "c", "d", "e", "f"]
    shown = questions.predict([("a", "next", "?")], 6, False, False)[0]
    assert [(p.name, p.known) for p in shown[:2]] == [("b", True), ("a", False)]


def test_nothing_is_its_own_answer_unless_training_says_so(questions, graph):
    """No step leads back to where it began, so b is no answer to what follows b; a fact would make it one."""
    asked = [("b", "next", "?"), ("?", "next", "b")]
    for found in questions.predict(asked, 6, False, True):
        assert "b" not in [p.name for p in found]
    for found in questions.predict(asked, 6, False, False):
        assert "b" in [p.name for p in found]
    looped = KnowledgeGraph(
        np.concatenate([graph.train, [[4, 0, 4]]]), entities=NAMES, relations=["next", "skip"]
    )
    by_loops = Questions(questions.trained, looped, CALIBRATION)
    assert "b" in [p.name for p in by_loops.predict([("b", "next", "?")], 6, True, True)[0]]
    assert "b" not in [p.name for p in by_loops.predict([("b", "skip", "?")], 6, True, True)[0]]
    assert len(questions.predict([("b", "?", "b")], 6, True, True)[0]) == 2  # asked for, so answered


def test_a_known_loop_is_shown(questions, graph):
    held_out = KnowledgeGraph(graph.train, test=[[1, 1, 1]], entities=NAMES, relations=["next", "skip"])
    shown = Questions(questions.trained, held_out, CALIBRATION).predict([("b", "skip", "?")], 6, False, True)
    assert [p.known for p in shown[0] if p.name == "b"] == [True]


def test_labels_and_numbers_are_understood(questions):
    by_name = questions.predict([("b", "skip", "?")], 3, True, True)
    assert questions.predict([("B", "skip", "?")], 3, True, True) == by_name
    assert questions.predict([(1, 1, None)], 3, True, True) == by_name


def test_many_questions_at_once_are_answered_in_their_order(questions):
    asked = [(NAMES[i % 6], "next" if i % 2 else "skip", "?") for i in range(600)]
    answers = questions.predict(asked, 1, False, True)
    for query, found in zip(asked, answers, strict=True):
        assert found == questions.predict([query], 1, False, True)[0]


def test_unknown_names_suggest_near_ones(questions):
    with pytest.raises(UnknownNameError, match=r"no relation 'nxt'.*Did you mean 'next'"):
        questions.predict([("a", "nxt", "?")], 3, True, True)
    with pytest.raises(UnknownNameError, match="no entity 'zz'"):
        questions.predict([("zz", "next", "?")], 3, True, True)
    with pytest.raises(UnknownNameError, match="no entity 'zz' in question 2"):
        questions.predict([("a", "next", "?"), ("zz", "next", "?")], 3, True, True)


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
        questions.predict([query], 3, True, True)


def test_tops_are_whole_numbers(questions):
    for bad in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="top="):
            questions.predict([("a", "next", "?")], bad, True, True)


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
    with pytest.raises(DataError, match="no facts to look at in valid; name another split"):
        questions.suspicious(1, "valid", None)


def test_explanations_rank_like_reports(questions, graph):
    """The ranks of one triple are worked out without an index of all facts, and are the same."""
    for triple in graph.named(graph.train):
        told = questions.explain(tuple(triple), 1)
        report = questions.trained.rank(graph.numbered([triple]), graph, exclude_self_loops=True)
        assert (told.head_rank, told.tail_rank) == (report.heads.mean_rank, report.tails.mean_rank)
