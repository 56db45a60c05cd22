"""Ranks of true answers: by hand on a graph with ties, against a slow loop, and their invariants."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError, ParameterError
from relscape.scores import rank_counts
from relscape.scores.ranking import Filter, rank_triples


class Table:
    """A scorer that looks energies up in a table of heads × relations × tails."""

    def __init__(self, energies):
        self.energies, self.asked = energies, 0

    def tails_of(self, heads, relations):
        self.asked += len(heads)
        return self.energies[heads, relations, :]

    def heads_of(self, tails, relations):
        self.asked += len(tails)
        return self.energies[:, relations, tails].T


def ranked(energies, graph, triples=None, **options):
    table = Table(np.asarray(energies))
    return rank_triples(
        table.tails_of, table.heads_of, graph.test if triples is None else triples, graph, **options
    )


@pytest.fixture
def graph():
    """Five entities, one relation; (a, r, b) is asked, (a, r, c) and (d, r, b) are known besides."""
    return KnowledgeGraph(
        [(0, 0, 2), (3, 0, 1), (4, 0, 4)],
        test=[(0, 0, 1)],
        entities=list("abcde"),
        relations=["r"],
    )


@pytest.fixture
def energies():
    """Tails of a: c (known) beats b; b, d and e tie; a itself beats all. Heads of b: all tie."""
    table = np.full((5, 1, 5), 9.0)
    table[:, 0, 1] = 3.0
    table[0, 0] = [0.0, 3.0, 1.0, 3.0, 3.0]
    return table


def test_rank_rules_by_hand(energies, graph):
    report = ranked(energies, graph)
    # tails: a and c before b, which ties with d and e
    assert report.raw.tails.optimistic.ranks.tolist() == [3]
    assert report.raw.tails.pessimistic.ranks.tolist() == [5]
    assert report.raw.tails.ranks.tolist() == [4]
    # c is known: only a is before b
    assert report.tails.optimistic.ranks.tolist() == [2]
    assert report.tails.pessimistic.ranks.tolist() == [4]
    assert report.tails.ranks.tolist() == [3]
    # heads: all five tie; d is known
    assert report.raw.heads.ranks.tolist() == [3]
    assert report.heads.pessimistic.ranks.tolist() == [4]
    assert report.heads.ranks.tolist() == [2.5]
    assert report.mean_rank == (3 + 2.5) / 2
    assert report.mrr == pytest.approx((1 / 3 + 1 / 2.5) / 2)
    assert report.hits == {1: 0.0, 3: 1.0, 10: 1.0}
    assert report.n_triples == report.heads.n_triples == 1


def test_hits_count_a_rank_of_ten_and_a_half_as_a_miss():
    graph = KnowledgeGraph([(15, 0, 16)], entities=[str(i) for i in range(20)], relations=["r"])
    energies = np.ones((20, 1, 20))
    energies[0, 0, :10], energies[0, 0, 10:] = [0.0] * 9 + [1.0], [1.0] + [2.0] * 9
    report = ranked(energies, graph, np.array([[0, 0, 9]])).tails
    assert report.ranks.tolist() == [10.5]
    assert report.hits[10] == 0
    assert report.optimistic.hits[10] == 1


def test_self_loops_may_be_left_out(energies, graph):
    """The relation has a loop in training (e, r, e), so nothing is left out; without it a is no candidate."""
    assert ranked(energies, graph, exclude_self_loops=True).tails.ranks.tolist() == [3]
    without = KnowledgeGraph(graph.train[:2], test=graph.test, entities=list("abcde"), relations=["r"])
    report = ranked(energies, without, exclude_self_loops=True)
    assert report.tails.ranks.tolist() == [2]
    assert report.raw.tails.ranks.tolist() == [3]
    assert report.heads.ranks.tolist() == [2]  # b itself ties no more
    loop = ranked(energies, without, np.array([[0, 0, 0]]), exclude_self_loops=True)
    assert loop.tails.ranks.tolist() == [1]  # an answer always stays a candidate


def slow_ranks(energies, graph, triples, known):
    """Say the definition: every candidate in turn, known completions skipped."""
    true = {tuple(row) for row in known.tolist()}
    found = {"heads": [], "tails": [], "raw heads": [], "raw tails": []}
    for h, r, t in triples.tolist():
        for side, own, completed in (
            ("heads", h, [(j, r, t) for j in range(graph.n_entities)]),
            ("tails", t, [(h, r, j) for j in range(graph.n_entities)]),
        ):
            for name, skipped in ((side, true), (f"raw {side}", set())):
                kept = [c for j, c in enumerate(completed) if j == own or c not in skipped]
                values = np.array([energies[c] for c in kept])
                best = 1 + (values < energies[h, r, t]).sum()
                worst = (values <= energies[h, r, t]).sum()
                found[name].append((best + worst) / 2)
    return found


@pytest.fixture
def random_graph(rng):
    triples = np.unique(
        np.column_stack([rng.integers(0, 12, 150), rng.integers(0, 3, 150), rng.integers(0, 12, 150)]), axis=0
    )
    rng.shuffle(triples)
    names = [f"e{i:02}" for i in range(12)]
    return KnowledgeGraph(triples[:80], triples[80:100], triples[100:], names, ["p", "q", "s"])


@pytest.mark.parametrize("block", [1, 1_000, 10**8])
def test_ranks_equal_a_slow_loop(rng, random_graph, block, monkeypatch):
    monkeypatch.setattr(rank_counts, "BLOCK_BYTES", block)
    energies = rng.integers(0, 6, (12, 3, 12)).astype(float)
    report = ranked(energies, random_graph)
    slow = slow_ranks(energies, random_graph, random_graph.test, random_graph.triples())
    for side in ("heads", "tails"):
        assert_array_equal(getattr(report, side).ranks, slow[side])
        assert_array_equal(getattr(report.raw, side).ranks, slow[f"raw {side}"])


def test_a_filter_may_be_narrower(rng, random_graph):
    energies = rng.random((12, 3, 12))
    splits = ("train", "valid")
    report = ranked(energies, random_graph, known=Filter.of(random_graph, splits))
    slow = slow_ranks(energies, random_graph, random_graph.test, random_graph.triples(splits))
    assert_array_equal(report.tails.ranks, slow["tails"])
    assert report.mean_rank >= ranked(energies, random_graph).mean_rank


def test_equal_questions_are_scored_once(random_graph):
    table = Table(np.zeros((12, 3, 12)))
    rank_triples(table.tails_of, table.heads_of, random_graph.test, random_graph)
    distinct = sum(len(np.unique(random_graph.test[:, columns], axis=0)) for columns in ([0, 1], [1, 2]))
    assert table.asked == distinct < 2 * len(random_graph.test)


def test_invariants(rng, random_graph):
    energies = rng.integers(0, 6, (12, 3, 12)).astype(float)
    report = ranked(energies, random_graph)
    for one in (report, report.raw, report.heads, report.by_category["N-N"]):
        assert (one.optimistic.ranks <= one.ranks).all()
        assert (one.ranks <= one.pessimistic.ranks).all()
        assert one.hits[1] <= one.hits[3] <= one.hits[10]
        assert 1 / one.mean_rank <= one.mrr <= 1
    assert (report.ranks <= report.raw.ranks).all()
    assert report.mean_rank == pytest.approx((report.heads.mean_rank + report.tails.mean_rank) / 2)
    assert_array_equal(ranked(np.exp(2 * energies - 9), random_graph).ranks, report.ranks)


def test_constant_and_perfect_scorers(random_graph):
    constant = ranked(np.zeros((12, 3, 12)), random_graph)
    assert_array_equal(constant.raw.ranks, (12 + 1) / 2)
    assert constant.raw.optimistic.mean_rank == 1
    perfect = np.ones((12, 3, 12))
    h, r, t = random_graph.triples().T
    perfect[h, r, t] = 0
    assert ranked(perfect, random_graph).optimistic.mean_rank == 1
    # filtered, the answer is the only true one left
    assert_array_equal(ranked(perfect, random_graph).ranks, 1)


def test_renumbering_entities_changes_nothing(rng, random_graph):
    energies = rng.random((12, 3, 12))
    order = rng.permutation(12)
    place = np.argsort(order)
    parts = [np.column_stack([place[p[:, 0]], p[:, 1], place[p[:, 2]]]) for p in
             (random_graph.train, random_graph.valid, random_graph.test)]  # fmt: skip
    other = KnowledgeGraph(*parts, random_graph.entities[order], random_graph.relations)
    moved = energies[order][:, :, order]
    assert_array_equal(ranked(moved, other).ranks, ranked(energies, random_graph).ranks)


def test_every_triple_is_in_one_class(rng, random_graph):
    report = ranked(rng.random((12, 3, 12)), random_graph)
    for parts in (report.by_category, report.by_partition, report.by_relation):
        assert sum(part.n_triples for part in parts.values()) == report.n_triples
        weighted = sum(part.mean_rank * part.n_triples for part in parts.values())
        assert_allclose(weighted / report.n_triples, report.mean_rank)
    for number, name in enumerate(random_graph.relations):
        rows = random_graph.test[:, 1] == number
        assert_array_equal(report.by_relation[name].heads.ranks, report.heads.ranks[rows])


def test_reports_tell_their_figures(rng, random_graph):
    report = ranked(rng.random((12, 3, 12)), random_graph)
    told = report.to_dict()
    assert told["hits"]["10"] == report.hits[10]
    assert told["raw"]["mean_rank"] == report.raw.mean_rank
    assert told["by_relation"]["p"]["n_triples"] == report.by_relation["p"].n_triples
    assert "only heads" in str(report)
    assert f"{report.n_triples} triples" in repr(report)


def test_one_entity_has_rank_one():
    graph = KnowledgeGraph([("a", "r", "a")])
    assert ranked(np.zeros((1, 1, 1)), graph, graph.train).mean_rank == 1


def test_bad_input(rng, random_graph):
    energies = rng.random((12, 3, 12))
    with pytest.raises(DataError, match="no triples to rank"):
        ranked(energies, random_graph, np.empty((0, 3), dtype=np.int64))
    with pytest.raises(ParameterError, match="ties='lucky'"):
        ranked(energies, random_graph, ties="lucky")
    with pytest.raises(ParameterError, match="only; it has no tails"):
        ranked(energies, random_graph).heads.tails  # noqa: B018
    h, r, _ = random_graph.test[0]
    energies[h, r, 5] = np.nan
    with pytest.raises(DataError, match=f"entity {h} and relation {r} are not all numbers"):
        ranked(energies, random_graph)


def test_classes_of_fb15k(data_dir):
    """Every test triple of FB15k falls into one class, in the published numbers."""
    from relscape.scores.ranking import triple_classes

    graph = KnowledgeGraph.from_directory(data_dir / "fb15k")
    classes = triple_classes(graph.test, graph)
    categories = dict(zip(*np.unique(classes["category"].astype(str), return_counts=True), strict=True))
    assert categories == {"1-1": 846, "1-N": 5275, "N-1": 8641, "N-N": 44309}
    partitions = dict(zip(*np.unique(classes["partition"].astype(str), return_counts=True), strict=True))
    assert partitions == {"reciprocal": 4336, "reverse": 41481, "other": 13254}
