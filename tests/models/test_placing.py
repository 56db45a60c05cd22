"""New things on an existing map."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import relscape as rs
from relscape.errors import DataError, ParameterError, RelscapeWarning


@pytest.fixture
def data(rng):
    matrix = rng.poisson(2.0, size=(30, 20)) + np.eye(30, 20)
    docs, words = [f"d{i:02}" for i in range(30)], [f"w{j:02}" for j in range(20)]
    made = rs.RelationalData.from_matrix(matrix, "doc", "word", docs, words)
    year = np.arange(30) + 1990
    return made.with_entities(made.entities["doc"].with_fields(docs, {"year": year}))


def twin(data, kind, position, name):
    """The relations of one thing under a new name."""
    relation = data.relation()
    matrix = relation.matrix[[position]] if kind == "doc" else relation.matrix[:, [position]]
    rows = [name] if kind == "doc" else data.entities["doc"].ids
    columns = [name] if kind == "word" else data.entities["word"].ids
    return rs.RelationalData.from_matrix(matrix, "doc", "word", rows, columns)


@pytest.mark.parametrize("method", ["axes", "pca", "tsne"])
@pytest.mark.parametrize("kind", ["doc", "word"])
def test_a_twin_lies_where_its_original_lies(data, kind, method):
    """In the coordinates exactly, and in every kind of picture too."""
    joint = rs.CorrespondenceAnalysis(n_components=4).fit(data).to_map().layout(method)
    grown = rs.place(joint, twin(data, kind, 7, "new"), kind)
    group = grown.group(kind)
    assert group.ids[-1] == "new"
    assert group.fields["placed"].tolist() == [False] * (len(group) - 1) + [True]
    assert_allclose(group.coordinates[-1], group.coordinates[7], atol=1e-12)
    assert_allclose(group.drawn[-1], group.drawn[7], atol=1e-6 * np.abs(group.drawn).max())
    other = "word" if kind == "doc" else "doc"
    np.testing.assert_array_equal(grown.coordinates(other), joint.coordinates(other))
    assert joint.group(kind).ids.tolist() == group.ids[:-1].tolist()


def test_placing_twice_and_again(data):
    """A thing already on the map moves to where its new relations put it; fields stay."""
    joint = rs.CorrespondenceAnalysis().fit(data).to_map()
    once = rs.place(joint, twin(data, "doc", 3, "new"))
    again = rs.place(once, twin(data, "doc", 5, "new"))
    group = again.group("doc")
    assert len(group) == 31
    assert_allclose(group.coordinates[-1], group.coordinates[5], atol=1e-12)
    assert np.isnan(group.fields["year"][-1])
    assert group.fields["year"][3] == 1993
    moved = rs.place(joint, twin(data, "doc", 5, "d00")).group("doc")
    assert len(moved) == 30
    assert_allclose(moved.coordinates[-1], joint.coordinates("doc")[5], atol=1e-12)


def test_a_grown_map_travels(data, tmp_path):
    joint = rs.CorrespondenceAnalysis().fit(data).to_map()
    joint.save(tmp_path / "map")
    grown = rs.place(rs.Map.load(tmp_path / "map"), twin(data, "doc", 3, "new"))
    grown.save(tmp_path / "map")
    loaded = rs.Map.load(tmp_path / "map")
    assert loaded.group("doc").fields["placed"].tolist() == [False] * 30 + [True]
    assert_allclose(loaded.coordinates("doc"), grown.coordinates("doc"))


def test_what_cannot_be_placed(data):
    joint = rs.CorrespondenceAnalysis().fit(data).to_map()
    with pytest.raises(ParameterError, match="'doc' or 'word', not 'author'"):
        rs.place(joint, data, "author")
    strange = rs.RelationalData.from_edges([("x", "w01")], "paper", "word")
    with pytest.raises(DataError, match="no 'doc'"):
        rs.place(joint, strange)
    bare = rs.Map([joint.group(kind) for kind in joint.groups])
    with pytest.raises(ParameterError, match="does not carry its model"):
        rs.place(bare, data)
    empty = rs.RelationalData.from_edges([("x", "w01", 0.0)], "doc", "word")
    with (
        pytest.warns(RelscapeWarning, match="get no place"),
        pytest.raises(DataError, match="none of the 1 new things"),
    ):
        rs.place(joint, empty)


def test_new_things_from_a_data_frame(data):
    joint = rs.CorrespondenceAnalysis().fit(data).to_map()
    frame = pd.DataFrame(data.matrix().toarray()[[7]], index=["new"], columns=data.entities["word"].ids)
    group = rs.place(joint, frame).group("doc")
    assert_allclose(group.coordinates[-1], group.coordinates[7], atol=1e-12)


# ---------------------------------------------------------------------- samples on maps of cohorts


@pytest.fixture
def cells(rng):
    labels = np.array(["ale", "mead", "tea"], dtype=object)[np.arange(60) % 3]
    X = 4.0 * np.eye(3)[np.arange(60) % 3] + rng.normal(size=(60, 3))
    return pd.DataFrame(X, columns=["a", "b", "c"], index=[f"c{i}" for i in range(60)]), labels


def test_new_samples_by_features(cells):
    """A twin comes to its original's place, in whatever order its features come."""
    frame, labels = cells
    joint = rs.COVA(random_state=0).fit(frame, labels).to_map()
    new = frame.iloc[[7]][["c", "a", "b"]].set_axis(["twin"])
    grown = rs.place(joint, new).group("sample")
    assert grown.ids[-1] == "twin"
    assert_allclose(grown.coordinates[-1], grown.coordinates[7], atol=1e-8)
    assert grown.fields["placed"].tolist() == [False] * 60 + [True]
    assert grown.fields["cohort"][-1] == labels[7]
    assert not grown.fields["predicted"].any()
    near = rs.place(joint, new + 0.01).group("sample")
    assert near.fields["cohort"][-1] == labels[7]
    assert near.fields["predicted"].tolist() == [False] * 60 + [True]


def test_new_samples_by_relations(data):
    classes = np.array(["x", "y"], dtype=object)[np.arange(30) % 2]
    joint = rs.COVA(n_components=1, random_state=0).fit(data, classes).to_map()
    grown = rs.place(joint, twin(data, "doc", 7, "new")).group("doc")
    assert_allclose(grown.coordinates[-1], grown.coordinates[7], atol=1e-8)


def test_new_samples_that_cannot_be_placed(cells):
    frame, labels = cells
    joint = rs.COVA(random_state=0).fit(frame, labels).to_map()
    with pytest.raises(DataError, match=r"lack 1 of the 3 features .* 'c'"):
        rs.place(joint, frame[["a", "b"]])
    with pytest.raises(DataError, match="1 blank cell; fill"):
        rs.place(joint, frame.iloc[:2].mask(frame.iloc[:2] == frame.iloc[0, 0]))
    with pytest.raises(ParameterError, match="of kind 'sample', not 'cohort'"):
        rs.place(joint, frame, "cohort")
    with pytest.raises(DataError, match="joins 'doc' and 'word'"):
        rs.place(joint, rs.RelationalData.from_matrix(np.eye(3), "doc", "word"))
