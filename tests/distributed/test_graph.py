"""Knowledge graphs in parts on a cluster: as good as in one piece, and the same whoever does the work."""

from __future__ import annotations

import os
import signal
from concurrent.futures import CancelledError
from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dask.distributed import Client
from numpy.testing import assert_array_equal

import relscape as rs
from relscape.distributed import DistributedGraph, RankCounter, training
from relscape.errors import ClusterError, DataError, ParameterError, StorageError
from relscape.models.knowledge_training import begin, training_data
from relscape.objectives.energies import ENERGIES
from relscape.scores import rank_counts
from relscape.solvers.triples.meeting import Common, Rows, put_together, train_meeting
from relscape.solvers.triples.parts import Cutter, deal, meeting_of, tournament

STEPS = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "xy": (1, 1, 0), "yz": (0, 1, 1)}
QUICK = {"n_components": 6, "n_epochs": 3, "n_batches": 5, "random_state": 0}
SHARED = {"model": "DistMult", "loss": "softmax", "negatives": 12, "options": {"optimizer": "adagrad"}}
WALKED = ("TransE", "CTransR")  # between them every kind of parameter that meetings treat in its own way
EVERY = [name if name in WALKED else pytest.param(name, marks=pytest.mark.long) for name in ENERGIES]


def lattice(side):
    """Points of a cube and the steps between them, which vectors can add."""
    facts = []
    for point, (name, step) in product(product(range(side), repeat=3), STEPS.items()):
        end = tuple(a + b for a, b in zip(point, step, strict=True))
        if max(end) < side:
            facts.append(("p{}{}{}".format(*point), name, "p{}{}{}".format(*end)))
    return rs.KnowledgeGraph(facts).split(0.05, 0.1, random_state=0)


@pytest.fixture(scope="module")
def graph():
    return lattice(6)


@pytest.fixture(scope="module")
def small():
    return lattice(3)


@pytest.fixture(scope="module")
def three():
    """Three workers in this process."""
    with Client(processes=False, n_workers=3, threads_per_worker=1, dashboard_address=None) as client:
        yield client


def same(one, other):
    for name, rows in one.params_.items():
        assert_array_equal(other.params_[name], rows)
    assert other.history_ == one.history_


def obvious(model, graph, n_parts):
    """Train one meeting after another, here."""
    plan = model.check()
    run = begin(plan, graph, model.random_state)
    data = training_data(plan, graph, run.hints)
    parts, cutter, params, state = deal(graph.n_entities, n_parts), None, run.params, run.state
    cutter = Cutter(data, parts)

    def rows(name, which=slice(None)):
        squares = state.squares[name] if state.squares else np.empty((len(params[name]), 0))
        return Rows(params[name][which], squares[which])

    for epoch in range(plan.n_epochs):
        held = [rows("entities", members) for members in parts.members]
        common = Common(rows("relations"), rows("shared"), params["fixed"])
        seed = [int(state.streams[0]), epoch]
        schedule = tournament(n_parts)
        for number in np.random.default_rng(seed).permutation(len(schedule)):
            told = []
            for i, j in schedule[number]:
                learnt = train_meeting(
                    plan.energy, plan.engine, held[i], held[j], common, meeting_of(cutter.cut(i, j)),
                    epoch, len(data.triples), [*seed, i, j],
                )  # fmt: skip
                held[i], held[j] = learnt.first, learnt.second
                told.append(learnt.moved)
            common = put_together(plan.energy, common, told, params["entities"].shape[1])
        for part, members in zip(held, parts.members, strict=True):
            params["entities"][members] = part.values
            if state.squares:
                state.squares["entities"][members] = part.squares
        for name, learnt in (("relations", common.relations), ("shared", common.shared)):
            params[name] = learnt.values
            if state.squares:
                state.squares[name] = learnt.squares
    return params


# ---------------------------------------------------------------------- training


def test_as_good_as_in_one_piece(three, graph):
    model = rs.KGEmbedding("TransE", 16, negatives=10, n_epochs=30, n_batches=10, random_state=0)
    here = model.fit(graph).rank().hits[10]
    spread = DistributedGraph(graph, 4, client=three)
    there = model.fit(spread)
    assert here > 0.95
    assert there.rank().hits[10] > here - 0.03
    assert there.n_parts_ == 4
    assert spread.traffic.rounds == 30 * 3
    assert there.predict_tails("p000", "x", exclude_known=False)[0].name == "p100"


@pytest.mark.parametrize("name", EVERY)
def test_every_model_ends_where_one_meeting_after_another_ends(three, small, name):
    model = rs.KGEmbedding(name, **QUICK, options={"warm_epochs": 0, "validate_last": 1})
    found = model.fit(DistributedGraph(small, 4, client=three))
    for part, rows in obvious(model, small, 4).items():
        assert_array_equal(found.params_[part], rows)


@pytest.mark.parametrize(
    "settings",
    [
        SHARED,
        {"model": "TransE", "options": {"reciprocal": True, "validate_last": 1}},
        {"model": "TransE", "options": {"sides": "bernoulli", "type_aware": True, "validate_last": 1}},
    ],
)
def test_losses_and_samplings_likewise(three, small, settings):
    model = rs.KGEmbedding(**{**QUICK, **settings})
    found = model.fit(DistributedGraph(small, 5, client=three))
    for part, rows in obvious(model, small, 5).items():
        assert_array_equal(found.params_[part], rows)


def test_the_number_of_workers_changes_nothing_and_that_of_parts_does(client, three, small):
    weighted = rs.KnowledgeGraph(small.train, entities=small.entities, relations=small.relations,
                                 weights=np.linspace(0.5, 2.0, len(small.train)))  # fmt: skip
    quick = {**QUICK, "n_epochs": 2}
    two, more = (
        rs.KGEmbedding("TransE", **quick).fit(DistributedGraph(weighted, 6, client=c))
        for c in (client, three)
    )
    same(two, more)
    other = rs.KGEmbedding("TransE", **quick).fit(DistributedGraph(weighted, 5, client=three))
    assert not np.array_equal(other.params_["entities"], two.params_["entities"])


def test_models_that_begin_from_transe_are_warmed_up_there(three, small):
    found = rs.KGEmbedding("CTransR", **QUICK, options={"warm_epochs": 2})
    spread = DistributedGraph(small, 4, client=three)
    found.fit(spread)
    assert spread.traffic.rounds == (2 + 3) * 3
    assert np.isfinite(found.params_["relations"]).all()


def test_parts(three, small):
    assert DistributedGraph(small, client=three).n_parts == 6
    with pytest.raises(ParameterError, match="n_parts=1"):
        DistributedGraph(small, 1, client=three)
    with pytest.raises(ParameterError, match="n_parts=28: there are 27 entities"):
        DistributedGraph(small, 28, client=three)
    with pytest.raises(DataError, match=r"epoch 1: the .*infinite or NaN; lower learning_rate"):
        rs.KGEmbedding("TransE", **QUICK, learning_rate=1e38).fit(DistributedGraph(small, 4, client=three))


# ---------------------------------------------------------------------- stopping, losing, going on


def test_resumed_it_ends_where_an_unbroken_training_ends(three, small, tmp_path, monkeypatch):
    unbroken = rs.KGEmbedding("TransE", **QUICK).fit(DistributedGraph(small, 4, client=three))
    spread = DistributedGraph(small, 4, client=three)
    meet, calls = training.PartedEpochs._round, []

    def failing(self, *given):
        calls.append(given)
        if len(calls) > 7:  # in the second round of the third epoch, and ever after
            raise CancelledError("gone")
        return meet(self, *given)

    monkeypatch.setattr(training.PartedEpochs, "_round", failing)
    with pytest.raises(
        ClusterError, match=r"lost its workers 4 times.*last good checkpoint, of epoch 2, is in"
    ):
        rs.KGEmbedding("TransE", **QUICK).fit(spread, checkpoints=tmp_path / "run", every=1)
    monkeypatch.undo()
    with pytest.raises(ParameterError, match="a training on a cluster, in 4 parts"):
        rs.KGEmbedding.resume(tmp_path / "run")
    again = rs.KGEmbedding.resume(tmp_path / "run", spread=partial(DistributedGraph, client=three))
    same(unbroken, again)
    rs.KGEmbedding("TransE", **QUICK).fit(small, checkpoints=tmp_path / "here")
    with pytest.raises(ParameterError, match="a training in one piece"):
        rs.KGEmbedding.resume(tmp_path / "here", spread=partial(DistributedGraph, client=three))


def test_a_worker_killed_in_the_middle_of_an_epoch_changes_nothing(client, small, monkeypatch):
    expected = rs.KGEmbedding("TransE", **QUICK).fit(DistributedGraph(small, 4, client=client))
    spread = DistributedGraph(small, 4, client=client)
    meet, seen = training.PartedEpochs._round, {"rounds": 0, "killed": 0}

    def counted(self, *given):
        seen["rounds"] += 1
        if seen["rounds"] == 5:
            seen["killed"] = next(iter(client.run(os.getpid).values()))
            os.kill(seen["killed"], signal.SIGKILL)
        return meet(self, *given)

    monkeypatch.setattr(training.PartedEpochs, "_round", counted)
    found = rs.KGEmbedding("TransE", **QUICK).fit(spread)
    client.wait_for_workers(2, timeout=60)
    assert seen["killed"]
    assert seen["rounds"] > 3 * 3
    same(expected, found)


# ---------------------------------------------------------------------- ranking


def cut_blocks(size):
    """Let a worker score so many bytes at a time; gives what it was."""
    before, rank_counts.BLOCK_BYTES = rank_counts.BLOCK_BYTES, size
    return before


@pytest.mark.parametrize("settings", [{"model": "TransE", "norm": "l1"}, SHARED])
def test_ranks_are_exactly_those_of_one_machine(client, graph, settings, monkeypatch):
    model = rs.KGEmbedding(**{**QUICK, **settings}).fit(graph)
    model.params_["entities"][::2] = model.params_["entities"][1::2]  # ties
    counter = RankCounter(client)
    monkeypatch.setattr(rank_counts, "BLOCK_BYTES", 216 * 8 * 7)  # many blocks
    before = client.run(cut_blocks, rank_counts.BLOCK_BYTES)
    for how in (
        {},
        {"triples": "train", "exclude_self_loops": True, "ties": "pessimistic"},
        {"known": ("train",)},
    ):
        here, there = model.rank(**how), model.rank(**how, count=counter)
        assert there.to_dict() == here.to_dict()
        assert_array_equal(there.ranks, here.ranks)
        assert_array_equal(there.raw.ranks, here.raw.ranks)
    assert (here.ranks % 1 == 0.5).any()
    assert counter.traffic.rounds == 6
    client.run(cut_blocks, next(iter(before.values())))


# ---------------------------------------------------------------------- reading


def written(folder, graph, split, n_files, **columns):
    names = graph.named(getattr(graph, split))
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(names)), n_files)):
        head, relation, tail = names[rows].T
        table = {"head": head, "relation": relation, "tail": tail}
        table |= {name: column[rows] for name, column in columns.items()}
        pq.write_table(pa.table(table), folder / f"part-{number}.parquet")


def test_parquet_is_read_by_workers_as_it_would_be_here(client, graph, tmp_path):
    weights = np.linspace(1.0, 2.0, len(graph.train))
    written(tmp_path / "train", graph, "train", 3, weight=weights)
    written(tmp_path / "test", graph, "test", 1)
    found = DistributedGraph.from_parquet(
        tmp_path / "train", test=tmp_path / "test" / "*.parquet", n_parts=4, client=client
    ).graph
    expected = rs.KnowledgeGraph(graph.named(graph.train), test=graph.named(graph.test), weights=weights)
    assert found.fingerprint() == expected.fingerprint()
    assert len(found.valid) == 0


def test_names_that_are_numbers_are_numbered_as_they_are_here(client, tmp_path):
    facts = rs.KnowledgeGraph([("10", "2", "9"), ("9", "10", "100"), ("1e1", "2", "10")])
    written(tmp_path / "train", facts, "train", 2)
    found = DistributedGraph.from_parquet(tmp_path / "train", n_parts=2, client=client).graph
    assert found.entities.tolist() == facts.entities.tolist() == ["10", "100", "1e1", "9"]
    assert found.fingerprint() == facts.fingerprint()


def test_files_that_are_no_facts(client, small, tmp_path):
    written(tmp_path / "train", small, "train", 2)
    pq.write_table(
        pa.table({"head": ["a", None], "relation": ["r", "r"], "tail": ["b", "c"]}), tmp_path / "bad.parquet"
    )
    with pytest.raises(DataError, match=r"bad\.parquet, row 1: the head is empty"):
        DistributedGraph.from_parquet([tmp_path / "train", tmp_path / "bad.parquet"], client=client)
    (tmp_path / "none").mkdir()
    with pytest.raises(StorageError, match="no Parquet files"):
        DistributedGraph.from_parquet(tmp_path / "none", client=client)
    pq.write_table(
        pa.table({"head": ["a"], "relation": ["r"], "tail": ["b"], "weight": [2.0]}),
        tmp_path / "more.parquet",
    )
    with pytest.raises(DataError, match=r"part-0\.parquet has no column weight"):
        DistributedGraph.from_parquet([tmp_path / "train", tmp_path / "more.parquet"], client=client)
