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
    assert "12 doc and 9 word in 2 dimensions" in done.out
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
