"""A map on the disk against the same map in memory."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

import relscape as rs
from relscape.errors import DataError, FormatError, ParameterError, StorageError, UnknownNameError
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
