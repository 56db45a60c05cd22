"""Lists of candidates beside slow and obvious counts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from relscape.data.triples import KnowledgeGraph
from relscape.models.knowledge_lists import Lists, completions, list_ranks, lowest
from relscape.models.knowledge_scoring import Trained
from relscape.objectives.energies import energy_named
from relscape.objectives.energies.base import assemble


@pytest.mark.parametrize("most", [1, 3, 10, 30, 99])
def test_the_lowest_are_the_first_of_all_in_order(rng, most):
    energies = rng.integers(0, 8, 40).astype(float)  # many are level: the first of them come first
    listed = rng.random(40) < 0.7
    order = [place for place in np.argsort(energies, kind="stable") if listed[place]]
    assert lowest(energies, listed, most).tolist() == order[:most]


def test_ranks_count_what_lies_before_and_half_of_what_is_level(rng):
    energies = rng.integers(0, 6, 30).astype(float)
    listed = rng.random(30) < 0.5
    for place, rank in enumerate(list_ranks(energies, listed, np.arange(30))):
        others = [energies[j] for j in range(30) if listed[j] and j != place]
        before = sum(other < energies[place] for other in others)
        assert rank == 1 + before + sum(other == energies[place] for other in others) / 2


@pytest.mark.parametrize("part", [0, 1, 2])
def test_completions_are_found_one_by_one(rng, part):
    facts = rng.integers(0, 5, (60, 3))
    asked = rng.integers(0, 7, (20, 3))  # some ask about what no fact has
    found = completions(part, asked, facts, 5)
    known = {tuple(fact) for fact in facts.tolist()}
    for row, triple in enumerate(asked.tolist()):
        for candidate in range(5):
            completed = tuple(candidate if p == part else triple[p] for p in range(3))
            assert found[row, candidate] == (completed in known)


def test_nothing_completes_a_question_without_facts():
    assert not completions(2, np.array([[0, 0, 0]]), np.empty((0, 3), dtype=np.int64), 4).any()


def test_facts_of_other_splits_need_not_be_known(rng):
    """A loop that only the test split has is barred for those who do not know it."""
    graph = KnowledgeGraph(
        [(0, 0, 1), (1, 0, 2)],
        valid=[(0, 0, 2)],
        test=[(2, 0, 1), (2, 0, 2)],
        entities=["a", "b", "c"],
        relations=["r"],
    )
    energy = energy_named("TransE")
    params = assemble(rng.normal(size=(3, 4)), rng.normal(size=(1, 4)))
    trained = Trained(energy, params, energy.settings("l2"))
    asked = np.array([(0, 0, 0), (2, 0, 0)])
    _, known, loops = Lists(trained, graph).of(2, asked)
    assert known.tolist() == [[False, True, True], [False, True, True]]
    assert loops.tolist() == [[True, False, False], [False, False, False]]
    _, known, loops = Lists(trained, graph, ("train", "valid")).of(2, asked)
    assert known.tolist() == [[False, True, True], [False, False, False]]
    assert loops.tolist() == [[True, False, False], [False, False, True]]


def test_candidates_of_heads_relations_and_tails(rng):
    """Energies are those of the completed triples; loops are barred where training has none."""
    graph = KnowledgeGraph(
        [(0, 0, 1), (1, 0, 1), (1, 1, 2)],
        test=[(2, 1, 2)],
        entities=["a", "b", "c"],
        relations=["reflexive", "strict"],
    )
    energy = energy_named("TransE")
    params = assemble(rng.normal(size=(3, 4)), rng.normal(size=(2, 4)))
    trained = Trained(energy, params, energy.settings("l2"))
    asked = np.array([(h, r, t) for h in range(3) for r in range(2) for t in range(3)])
    for part, size in ((0, 3), (1, 2), (2, 3)):
        energies, _, loops = Lists(trained, graph).of(part, asked)
        for candidate in range(size):
            completed = asked.copy()
            completed[:, part] = candidate
            np.testing.assert_allclose(energies[:, candidate], trained.energies(completed), atol=1e-6)
            loop = (completed[:, 0] == completed[:, 2]) & (part != 1)
            known = (completed == [2, 1, 2]).all(axis=1)
            assert_array_equal(loops[:, candidate], loop & (completed[:, 1] == 1) & ~known)
