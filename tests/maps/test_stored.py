"""A map on the disk against the same map in memory."""

from __future__ import annotations

import os
import signal

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

import relscape as rs
from relscape.errors import DataError, FormatError, ParameterError, StorageError, UnknownNameError
from relscape.maps import Group
from relscape.maps.owned import map_files
from relscape.maps.store import Parts, write_group, write_map
from relscape.maps.stored import StoredMap


@pytest.fixture
def joint(rng):
    R = rng.poisson(1.0, (300, 40)).astype(float)
    data = rs.RelationalData.from_matrix(R)
    return rs.CorrespondenceAnalysis(3).fit(data).to_map()


def test_neighbours_are_those_of_the_map_in_memory(joint, tmp_path):
    stored = StoredMap(joint.save(tmp_path / "it's [a] map"))
    assert stored.groups == joint.groups
    rows, columns = joint.groups
    assert stored.size(rows) == 300
    for query in (f"{rows}:7", (columns, "3")):
        for among in (None, rows, columns):
            found, expected = stored.neighbors(query, among, 8), joint.neighbors(query, among, 8)
            assert [(n.kind, n.id, n.label) for n in found] == [(n.kind, n.id, n.label) for n in expected]
            assert_allclose([n.distance for n in found], [n.distance for n in expected], rtol=1e-12)


def test_a_sample_is_a_map(joint, tmp_path):
    stored = StoredMap(joint.save(tmp_path / "map"))
    drawn = stored.sample(100, random_state=1)
    rows, columns = joint.groups
    assert (len(drawn.group(rows)), len(drawn.group(columns))) == (88, 12)
    at = {name: place for place, name in enumerate(joint.group(rows).ids)}
    places = [at[name] for name in drawn.group(rows).ids]
    assert places == sorted(places)
    np.testing.assert_array_equal(drawn.coordinates(rows), joint.coordinates(rows)[places])
    assert drawn.provenance["sample"] == {"of": 340, "random_state": 1}
    assert stored.sample(100, random_state=1).group(rows).ids.tolist() == drawn.group(rows).ids.tolist()
    assert len(stored.sample().group(rows)) == 300


def test_a_kind_may_be_a_folder_of_parts(joint, tmp_path):
    path = joint.save(tmp_path / "map")
    rows = joint.groups[0]
    [file] = [path / f"{rows}.parquet"]
    table = pq.read_table(file)
    file.unlink()
    file.mkdir()
    for part in range(3):
        pq.write_table(table.slice(100 * part, 100), file / f"part-{part}.parquet")
    found = StoredMap(path).neighbors(f"{rows}:7", k=5)
    assert [n.id for n in found] == [n.id for n in joint.neighbors(f"{rows}:7", k=5)]


def test_what_cannot_be_answered_is_said(joint, tmp_path):
    path = joint.save(tmp_path / "map")
    stored = StoredMap(path)
    with pytest.raises(UnknownNameError, match="no kind 'town'"):
        stored.neighbors("town:1")
    with pytest.raises(DataError, match="there is no row 'nobody' on this map"):
        stored.neighbors(f"{joint.groups[0]}:nobody")
    with pytest.raises(ParameterError, match="size=0"):
        stored.sample(0)
    (path / f"{joint.groups[0]}.parquet").write_bytes(b"no table")
    with pytest.raises(FormatError, match="cannot be read"):
        stored.neighbors(f"{joint.groups[0]}:7")
    with pytest.raises(StorageError):
        StoredMap(tmp_path / "nowhere")


def test_a_folder_of_parts_is_read_replaced_and_found_damaged(joint, tmp_path):
    rows, columns = joint.groups
    whole = joint.group(rows)

    def write(folder):
        for part in range(3):
            write_group(whole.select(np.arange(100 * part, 100 * (part + 1))), folder / f"p{part}.parquet")
        return 300

    path = write_map(joint, tmp_path / "map", Parts(rows, write))
    found = rs.Map.load(path)
    np.testing.assert_array_equal(found.coordinates(rows), joint.coordinates(rows))
    assert found.group(rows).ids.tolist() == whole.ids.tolist()
    assert {f"p{part}.parquet" for part in range(3)} <= {file.name for file in map_files(path)}
    (path / f"{rows}.parquet" / "p1.parquet").unlink()
    with pytest.raises(FormatError, match=r"has 200 rows, map\.json says 300"):
        rs.Map.load(path)
    joint.save(path)
    assert (path / f"{rows}.parquet").is_file()
    assert rs.Map.load(path).groups == (rows, columns)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_writer_killed_between_two_parts_leaves_the_earlier_map(joint, tmp_path):
    rows, _ = joint.groups

    def write(folder):
        write_group(joint.group(rows).select(np.arange(9)), folder / "p0.parquet")
        os.kill(os.getpid(), signal.SIGKILL)

    for earlier in (False, True):
        child = os.fork()
        if child == 0:
            write_map(joint, tmp_path / "map", Parts(rows, write))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        assert (tmp_path / "map").exists() == earlier
        joint.save(tmp_path / "map")
        assert rs.Map.load(tmp_path / "map").group(rows).ids.size == 300
        assert [path.name for path in tmp_path.iterdir()] == ["map"]


def test_kinds_with_colons_are_asked_for_by_text(tmp_path):
    made = rs.Map([Group("go:term", ["x", "y"], np.eye(2)), Group("gene", ["z"], np.ones((1, 2)))])
    stored = StoredMap(made.save(tmp_path / "map"))
    assert stored.neighbors("go:term:x", k=1) == stored.neighbors(("go:term", "x"), k=1)
