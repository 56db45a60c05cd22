"""Workers that die, and workers with too little memory for what they hold."""

from __future__ import annotations

import os
import signal
import time
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import relscape as rs
from relscape.distributed import DistributedRelation, cluster, connect
from relscape.distributed.rounds import Rounds
from relscape.errors import ClusterError, ParameterError


def topics(number, rows=150, n=700):
    """One block of a made-up corpus, the same whoever makes it."""
    rng = np.random.default_rng(number)
    kind = rng.integers(4, size=rows)
    rates = 0.05 + np.array([0.4, 0.7, 1.0, 1.5])[kind][:, None] * (kind[:, None] == np.arange(n) % 4)
    return csr_array(rng.poisson(rates).astype(float))


def killing(client, monkeypatch, at):
    """Kill one worker process, without a word to anyone, when a round has just been handed out."""
    started = Rounds._started
    seen = {"rounds": 0, "killed": 0}

    def counted(self, *given):
        futures = started(self, *given)
        seen["rounds"] += 1
        if seen["rounds"] == at:
            pid = next(iter(client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            seen["killed"] = pid
        return futures

    monkeypatch.setattr(Rounds, "_started", counted)
    return seen


@pytest.mark.parametrize(
    ("model", "at"),
    [(rs.LatentSemanticIndexing(3), 12), (rs.CODE(2, ridge=1e-3, n_restarts=1, max_iterations=5), 35)],
)
@pytest.mark.filterwarnings("ignore:the likelihood may not be at its highest")
def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(client, monkeypatch, model, at):
    blocks = [partial(topics, number) for number in range(10)]
    expected = model.fit(DistributedRelation(blocks, client=client)).row_embedding_
    relation = DistributedRelation(blocks, client=client)
    seen = killing(client, monkeypatch, at)
    found = model.fit(relation).row_embedding_
    assert seen["killed"]
    assert seen["rounds"] > at
    client.wait_for_workers(2, timeout=60)
    assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_a_worker_that_dies_is_started_again_whatever_dask_is_set_to():
    import dask

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "0s"}),
        connect(workers=1, memory="1GB") as client,
    ):
        before = set(client.scheduler_info()["workers"])
        [process] = client.run(os.getpid).values()
        os.kill(process, signal.SIGKILL)
        end = time.monotonic() + 60
        while set(client.scheduler_info()["workers"]) <= before and time.monotonic() < end:
            time.sleep(0.1)
        assert len(set(client.scheduler_info()["workers"]) - before) == 1


def test_lost_work_is_handed_out_again_a_few_times(client):
    from concurrent.futures import CancelledError

    rounds, calls = Rounds(client), []

    def attempt():
        calls.append(1)
        if len(calls) < 3:
            raise CancelledError("gone")
        return "done"

    assert rounds.repeated(attempt) == "done"
    calls.clear()

    def hopeless():
        raise CancelledError("gone")

    with pytest.raises(ClusterError, match=r"lost its workers 4 times .*CancelledError: gone"):
        rounds.repeated(hopeless)


def wide(number, rows, n):
    """One block in which seven of ten entries are there, with one strong direction."""
    rng = np.random.default_rng(number)
    dense = rng.random((rows, n)) * (rng.random((rows, n)) < 0.7)
    dense[:, : n // 2] *= 3.0
    return csr_array(dense)


@pytest.mark.long
def test_a_relation_beyond_the_memory_of_every_worker():
    limit, rows, n, count = 400 * 2**20, 20_000, 100, 30
    assert rows * n * count * 8 > limit
    with connect(workers=2, memory=limit) as client:
        relation = DistributedRelation([partial(wide, k, rows, n) for k in range(count)], client=client)
        assert relation.n_stored * 12 > limit
        model = rs.LatentSemanticIndexing(1).fit(relation)
        assert len(client.scheduler_info()["workers"]) == 2
    gram = sum((block.T @ block).toarray() for block in (wide(k, rows, n) for k in range(count)))
    values, vectors = np.linalg.eigh(gram)
    assert_allclose(model.singular_values_[0] ** 2, values[-1], rtol=1e-10)
    axis = model.column_embedding_[:, 0] / np.linalg.norm(model.column_embedding_)
    assert_allclose(np.abs(axis), np.abs(vectors[:, -1]), atol=1e-8)


def test_a_cluster_that_cannot_be_had(monkeypatch):
    monkeypatch.setattr(cluster, "_ANSWER_SECONDS", 0.5)
    with pytest.raises(ParameterError, match="one of the two"), connect():
        pass
    with pytest.raises(ParameterError, match="workers=0"), connect(workers=0):
        pass
    with pytest.raises(ParameterError, match="own limit"), connect("tcp://localhost:1", memory="1GB"):
        pass
    no_answer = pytest.raises(ClusterError, match="no Dask scheduler answers at tcp://localhost:1")
    with no_answer, connect("tcp://localhost:1"):
        pass
