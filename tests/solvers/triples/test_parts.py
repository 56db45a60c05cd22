"""Parts and meetings: who meets whom, what is trained when, and what rounds make of relations."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relscape.objectives.energies import ENERGIES, Sizes
from relscape.solvers.triples.meeting import Common, Moved, Rows, put_together, report_of, train_meeting
from relscape.solvers.triples.options import Options
from relscape.solvers.triples.parts import Cutter, deal, meeting_of, tournament
from relscape.solvers.triples.sampling import corrupt, new_streams, sampler
from relscape.solvers.triples.training import EpochReport, State, train_epoch, training_set

N, M, K = 23, 3, 4
RNG = np.random.default_rng(0)
TRIPLES = np.unique(
    np.column_stack([RNG.integers(0, N, 200), RNG.integers(0, M, 200), RNG.integers(0, N, 200)]), axis=0
)


def cutter(n_parts, weights=None, **options):
    data = training_set(TRIPLES, sampler(TRIPLES, N, M, **options), weights)
    return Cutter(data, deal(N, n_parts))


def named(triples, parts, i, j):
    """Turn a meeting's numbers back into those of the whole graph."""
    both = np.concatenate([parts.members[i], parts.members[j]])
    return [(int(both[h]), int(link), int(both[t])) for h, link, t in triples]


@pytest.mark.parametrize("n_parts", [2, 3, 4, 7, 8])
def test_all_pairs_meet_once_and_no_part_is_in_two_places(n_parts):
    rounds = tournament(n_parts)
    assert len(rounds) == (n_parts - 1 if n_parts % 2 == 0 else n_parts)
    for pairs in rounds:
        met = [part for pair in pairs for part in pair]
        assert len(met) == len(set(met))
        assert len(pairs) == n_parts // 2
    met = Counter(pair for pairs in rounds for pair in pairs)
    assert met == {(i, j): 1 for i in range(n_parts) for j in range(i + 1, n_parts)}


def test_parts_hold_every_entity_once():
    parts = deal(N, 4)
    assert sorted(np.concatenate(parts.members)) == list(range(N))
    assert {part.size for part in parts.members} == {5, 6}
    for entity in range(N):
        assert parts.members[parts.part[entity]][parts.place[entity]] == entity


@pytest.mark.parametrize("n_parts", [2, 3, 4])
def test_every_triple_is_trained_once_an_epoch_and_everywhere_in_time(n_parts):
    cut = cutter(n_parts)
    where = {}
    for epoch in range(n_parts - 1):
        seen = Counter()
        for pairs in tournament(n_parts):
            for i, j in pairs:
                due = meeting_of(cut.cut(i, j)).due(epoch)
                for triple in named(due.triples, cut.parts, i, j):
                    seen[triple] += 1
                    where.setdefault(triple, set()).add((i, j))
        assert seen == {tuple(map(int, triple)): 1 for triple in TRIPLES}
    for (head, _, tail), met in where.items():
        within = cut.parts.part[head] == cut.parts.part[tail]
        assert len(met) == (n_parts - 1 if within else 1)


def test_corruptions_are_of_the_two_parts_and_never_known():
    cut = cutter(4)
    known = {tuple(map(int, triple)) for triple in TRIPLES}
    for i, j in ((0, 1), (1, 3)):
        meeting = meeting_of(cut.cut(i, j))
        triples = meeting.due(0).triples.astype(np.int64)
        others, sides = corrupt(meeting.sampler, triples, 6, new_streams(2, 0), 1)
        assert others.max() < sum(meeting.cut.sizes)
        for replaced in (0, 1):
            rows, columns = np.nonzero(sides == replaced)
            false = triples[rows].copy()
            false[:, 2 * replaced] = others[rows, columns]
            assert not known & set(named(false, cut.parts, i, j))


def test_shares_and_pools_are_those_of_the_whole_graph():
    cut = cutter(3, sides="bernoulli", type_aware=True)
    whole = cut.data.sampler
    meeting = meeting_of(cut.cut(0, 2)).sampler
    assert_array_equal(meeting.head_share, whole.head_share)
    both = np.concatenate([cut.parts.members[0], cut.parts.members[2]])
    for group in range(2 * M):
        pool = whole.pools[whole.starts[group] : whole.starts[group + 1]]
        here = meeting.pools[meeting.starts[group] : meeting.starts[group + 1]]
        assert set(both[here]) == set(pool) & set(both)


def rows_of(values, adagrad=False):
    return Rows(values, np.zeros_like(values) if adagrad else np.empty((len(values), 0)))


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
def test_one_meeting_of_two_parts_is_the_epoch_that_the_engine_trains(optimizer):
    """With two parts there is one meeting: the same triples, renumbered, by the same engine."""
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(TRIPLES))
    cut = cutter(2, weights)
    options = Options(n_batches=5, optimizer=optimizer, learning_rate=0.05)
    params = ENERGIES["TransE"].start(Sizes(N, M, K), np.random.default_rng(0))
    adagrad = optimizer == "adagrad"
    first, second = (rows_of(params["entities"][part], adagrad) for part in cut.parts.members)
    common = Common(
        rows_of(params["relations"], adagrad), rows_of(params["shared"], adagrad), params["fixed"]
    )
    kept = params["relations"].copy()
    meeting = meeting_of(cut.cut(0, 1))
    learnt = train_meeting(
        ENERGIES["TransE"], options, first, second, common, meeting, 0, len(TRIPLES), [3, 0]
    )
    assert_array_equal(params["relations"], kept)  # what is given is not changed

    together = np.concatenate(cut.parts.members)
    own = {**params, "entities": params["entities"][together]}
    squares = {name: np.zeros_like(own[name]) for name in ("entities", "relations", "shared")}
    state = State(new_streams(2, np.random.SeedSequence([3, 0])), 0, squares if adagrad else {})
    report = train_epoch(ENERGIES["TransE"], own, state, meeting.due(0), options)
    assert_array_equal(np.concatenate([learnt.first.values, learnt.second.values]), own["entities"])
    joined = put_together(ENERGIES["TransE"], common, [learnt.moved], K)
    assert_allclose(joined.relations.values, own["relations"], rtol=0, atol=1e-15)
    assert report_of([learnt.moved]) == pytest.approx(report)
    if adagrad:
        assert_allclose(joined.relations.squares, state.squares["relations"], rtol=1e-14)


def moved(used, counts, values, base, shared=0.0):
    rows = Rows(np.array(values, dtype=float), np.full((len(used), base), 1.0))
    own = Rows(np.full((1, 1), shared), np.full((1, 1), 2.0))
    return Moved(np.array(used), np.array(counts), rows, own, EpochReport(shared, 0.5))


def test_relations_go_to_the_mean_by_their_triples_and_squares_add_up():
    common = Common(
        Rows(np.zeros((4, 2)), np.zeros((4, 2))), Rows(np.zeros((1, 1)), np.zeros((1, 1))), np.empty((4, 0))
    )
    meetings = [
        moved([0, 1], [3, 1], [[1.0, 0.0], [2.0, 2.0]], 2, shared=1.0),
        moved([1, 3], [3, 1], [[-2.0, 2.0], [5.0, 5.0]], 2, shared=3.0),
    ]
    joined = put_together(ENERGIES["TransE"], common, meetings, 2)
    assert joined.relations.values.tolist() == [[1.0, 0.0], [-1.0, 2.0], [0.0, 0.0], [5.0, 5.0]]
    assert joined.relations.squares[:, 0].tolist() == [1.0, 2.0, 0.0, 1.0]
    assert joined.shared == (2.0, 4.0)
    assert report_of(meetings) == (2.0, 0.5)


@pytest.mark.parametrize("name", ["TransH", "RotatE", "TransR", "CTransR"])
def test_means_of_relations_keep_the_rules_of_their_model(name, rng):
    """A mean of unit normals is shorter than 1, one of vectors in a ball may not be longer."""
    energy = ENERGIES[name]
    start = energy.start(Sizes(N, M, K, clusters=2), rng)
    base = start["relations"]
    common = Common(rows_of(base), rows_of(start["shared"]), start["fixed"])
    used = np.arange(M)
    told = [
        Moved(
            used,
            np.ones(M, dtype=int),
            rows_of(base + rng.normal(size=base.shape)),
            common.shared,
            EpochReport(0, 0),
        )
        for _ in range(2)
    ]
    width = start["entities"].shape[1]
    relations = put_together(energy, common, told, width).relations.values
    if name == "TransH":
        assert_allclose(np.linalg.norm(relations[:, K:], axis=1), 1.0)
    elif name == "RotatE":
        half = relations.shape[1] // 2
        assert_allclose(np.hypot(relations[:, :half], relations[:, half:]), 1.0)
    else:
        assert (np.linalg.norm(relations[:, :K], axis=1) <= 1 + 1e-12).all()
        assert_allclose(
            relations[:, K : K + 3], np.mean([m.relations.values for m in told], axis=0)[:, K : K + 3]
        )
