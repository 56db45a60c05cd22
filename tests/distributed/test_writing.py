"""A map written by workers, part by part, against the same map made in memory."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import relscape as rs
from relscape.distributed import DistributedRelation, StoredMap, write_placed
from relscape.distributed.rounds import Rounds
from relscape.errors import DataError, ParameterError, RelscapeWarning
from relscape.maps.layout import continued, picture_of


@pytest.fixture(scope="module")
def corpus():
    """Counts of 90 documents and 12 words, a document without words, and a map of every third."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (90, 12)).astype(float) + np.eye(90, 12)
    data = rs.RelationalData.from_matrix(counts[::3], "doc", "word")
    joint = rs.CorrespondenceAnalysis(3).fit(data).to_map()
    counts[40] = 0.0
    return counts, joint


def spread(counts, client, named=True):
    docs = rs.EntitySet("doc", [f"d{i:02}" for i in range(90)], labels=[f"Doc {i}" for i in range(90)])
    words = rs.EntitySet("word", [*map(str, range(11, -1, -1)), "new"])  # another order, and one more
    if not named:
        return DistributedRelation.from_matrix(counts, 7, client=client)
    table = np.column_stack([counts[:, ::-1], np.ones(90)])
    entities = {"row_entities": docs, "column_entities": words}
    return DistributedRelation.from_matrix(table, 7, client=client, **entities)


def check(path, counts, joint, ids):
    stored, found = StoredMap(path), rs.Map.load(path)
    keep = np.arange(90) != 40
    points = rs.CorrespondenceAnalysis(3).fit(counts[::3]).transform(counts[keep])
    assert found.groups == joint.groups == stored.groups
    assert found.group("doc").ids.tolist() == np.array(ids)[keep].tolist()
    assert_allclose(found.coordinates("doc"), points, atol=1e-12)
    picture = picture_of(joint.group(kind) for kind in joint.groups)
    assert_allclose(found.group("doc").drawn, continued(*picture, points), atol=1e-12)
    assert_array_equal(found.coordinates("word"), joint.coordinates("word"))
    near, expected = (m.neighbors(f"doc:{ids[7]}", k=4) for m in (stored, found))
    assert [n.id for n in near] == [n.id for n in expected]
    assert len(list((path / "doc.parquet").glob("*"))) == 7
    assert found.model_state is not None
    return found


def test_all_rows_are_placed_by_workers(client, corpus, tmp_path):
    counts, joint = corpus
    with pytest.warns(RelscapeWarning) as told:
        write_placed(joint, spread(counts, client), tmp_path / "map")
    messages = sorted(str(warning.message) for warning in told)
    assert messages[0].startswith("1 of 13 ids of kind 'word' were not there when the model was fitted")
    assert messages[1].startswith("1 of 90 doc things ('d40') have no relation to anything on the map")
    found = check(tmp_path / "map", counts, joint, [f"d{i:02}" for i in range(90)])
    assert found.group("doc").labels[3] == "Doc 3"
    assert found.group("doc").fields["degree"][3] == counts[3].sum() + 1
    assert found.provenance["placed"]["rows"] == 90
    joint.save(tmp_path / "map")  # replaces all parts
    assert sorted(path.name for path in (tmp_path / "map").iterdir())[0] == "doc.parquet"
    assert (tmp_path / "map" / "doc.parquet").is_file()


@pytest.mark.filterwarnings("ignore:1 of 90 doc")
def test_a_worker_killed_while_writing(client, corpus, tmp_path, monkeypatch):
    counts, joint = corpus
    relation = spread(counts, client, named=False)
    started = Rounds._started

    def killing(self, *given):
        futures = started(self, *given)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        monkeypatch.undo()
        return futures

    monkeypatch.setattr(Rounds, "_started", killing)
    write_placed(joint, relation, tmp_path / "map")
    client.wait_for_workers(2, timeout=60)
    check(tmp_path / "map", counts, joint, [str(i) for i in range(90)])


def test_what_fails_leaves_the_earlier_map(client, corpus, tmp_path):
    counts, joint = corpus
    joint.save(tmp_path / "map")
    before = (tmp_path / "map" / "map.json").read_bytes()
    with pytest.raises(DataError, match="none of the 90 doc things is related"):
        empty = DistributedRelation.from_matrix(csr_array((90, 12)), 3, client=client)
        write_placed(joint, empty, tmp_path / "map")
    with pytest.raises(DataError, match="has 5 columns without names, but the map was made from 12"):
        few = DistributedRelation.from_matrix(counts[:, :5], 3, client=client)
        write_placed(joint, few, tmp_path / "map")
    with pytest.raises(ParameterError, match="does not carry its model"):
        write_placed(rs.Map([joint.group("doc")]), spread(counts, client, named=False), tmp_path / "map")
    assert (tmp_path / "map" / "map.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["map"]
