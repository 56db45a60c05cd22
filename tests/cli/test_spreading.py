"""``coembed`` on a cluster: the same map as here."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import relscape as rs

pytest.importorskip("dask.distributed")

pytestmark = pytest.mark.filterwarnings(  # sockets that Dask leaves to the garbage collector
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
)

LONG = ("--rows", "doc", "--columns", "word", "--weight", "n")


@pytest.fixture
def parts(tmp_path, rng):
    folder = tmp_path / "links"
    folder.mkdir()
    for number in range(3):
        lines = 80
        table = {
            "doc": [f"d{k}" for k in rng.integers(12, size=lines)],
            "word": [f"w{k}" for k in rng.integers(9, size=lines)],
            "n": rng.integers(1, 6, size=lines),
        }
        pq.write_table(pa.table(table), folder / f"part-{number}.parquet")
    return folder


def test_workers_and_a_running_cluster_make_the_map_that_is_made_here(relscape, parts):
    here = rs.CorrespondenceAnalysis().fit(rs.read(str(parts / "*.parquet"), "doc", "word", "n"))
    from relscape.distributed import connect

    with connect(workers=1) as client:
        done = relscape(
            "coembed", parts, *LONG, "--cluster", client.scheduler.address, "-o", "there", "--json"
        )
        assert done.code == 0, done.err
        assert done.json["sizes"] == {"doc": 12, "word": 9}
        assert done.json["pairs"] == 108 - _zeros(parts)
    joint = rs.Map.load("there")
    np.testing.assert_allclose(joint.coordinates("doc"), here.row_embedding_, atol=1e-8)
    assert joint.provenance["source"]["files"] == ["*.parquet"]


def _zeros(parts):
    matrix = rs.read(str(parts / "*.parquet"), "doc", "word", "n").matrix().toarray()
    return int((matrix == 0).sum())


def test_workers_on_this_machine(relscape, parts):
    done = relscape("coembed", parts, *LONG, "--workers", 1, "--worker-memory", "1GB", "-o", "there")
    assert done.code == 0, done.err
    assert "12 × doc and 9 × word in 2 dimensions" in done.out
    assert "next: relscape neighbors there" in done.out


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["--workers", "2", "--cluster", "tcp://localhost:1"], "give one of the two"),
        (["--worker-memory", "1GB"], "say how many"),
        (["--cluster", "tcp://localhost:1", "--worker-memory", "1GB"], "their own limit"),
        (["--cluster", "tcp://localhost:1"], "no Dask scheduler answers at tcp://localhost:1"),
    ],
)
def test_clusters_that_cannot_be_had(relscape, parts, given, complaint):
    done = relscape("coembed", parts, *LONG, *given)
    assert done.code == 1
    assert complaint in done.err


def test_what_a_cluster_cannot_do_is_said(relscape, parts):
    done = relscape("coembed", parts / "part-0.parquet", "--workers", 1)
    assert done.code == 1
    assert "name files, --rows, --columns" in done.err
    done = relscape("coembed", parts, *LONG, "--workers", 1, "--min-degree", 2)
    assert "--min-degree cannot be followed there" in done.err
    done = relscape("coembed", parts, *LONG, "--workers", 1, "-m", "multicode")
    assert "maps two kinds" in done.err


@pytest.fixture
def address():
    """A scheduler of two workers, all in this process."""
    from dask.distributed import Client

    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        yield client.scheduler.address


@pytest.fixture
def facts(tmp_path):
    """A graph in Parquet: training facts in a folder of two files, test facts in one file."""
    rows = [(f"p{i}{j}", "east", f"p{i}{j + 1}") for i in range(5) for j in range(4)]
    rows += [(f"p{i}{j}", "south", f"p{i + 1}{j}") for i in range(4) for j in range(5)]
    folder = tmp_path / "facts"
    (folder / "train").mkdir(parents=True)
    names = ("head", "relation", "tail")
    for place, part in (("train/0", rows[:20]), ("train/1", rows[20:]), ("test", [("p00", "east", "p44")])):
        table = dict(zip(names, map(list, zip(*part, strict=True)), strict=True))
        pq.write_table(pa.table(table), folder / f"{place}.parquet")
    return folder


TRAINING = ("--model", "TransE", "-k", 6, "-p", "n_batches=4", "--every", 2)


def test_a_knowledge_graph_is_read_trained_and_ranked_on_a_cluster(relscape, facts, address):
    there = ("--cluster", address)
    done = relscape("kg", "train", facts, *TRAINING, "--epochs", 4, "--parts", 4, *there, "--json")
    assert done.code == 0, done.err
    assert done.json["epochs"] == 4
    ranked = relscape("kg", "rank", "kg", *there, "--json")
    assert ranked.code == 0, ranked.err
    assert ranked.json == relscape("kg", "rank", "kg", "--json").json
    unbroken = relscape("kg", "train", facts, *TRAINING, "--epochs", 6, "--parts", 4, *there, "-o", "six")
    assert unbroken.code == 0, unbroken.err
    done = relscape("kg", "resume", "kg", "--epochs", 6)
    assert done.code == 1
    assert "a training on a cluster, in 4 parts" in done.err
    done = relscape("kg", "resume", "kg", "--epochs", 6, *there)
    assert done.code == 0, done.err
    models = [rs.KGEmbedding.load(place) for place in ("kg", "six")]
    np.testing.assert_array_equal(models[0].params_["entities"], models[1].params_["entities"])
    assert len(models[0].train_) == 40
    assert models[0].n_parts_ == 4


def test_what_a_cluster_cannot_do_with_a_knowledge_graph(relscape, facts, address):
    done = relscape("kg", "train", facts, "--parts", 4)
    assert done.code == 1
    assert "--parts 4 is for a cluster" in done.err
    done = relscape("kg", "train", facts, "--hold-out", "0.1,0.1", "--cluster", address)
    assert done.code == 1
    assert "--dataset, --hold-out and --encoding cannot be followed there" in done.err


def test_an_amount_of_memory_that_is_none(relscape, facts):
    done = relscape("kg", "train", facts, "--workers", 1, "--worker-memory", "lots")
    assert done.code == 1
    assert "memory='lots': give an amount such as '2GB'" in done.err
