"""Guidance says what it is told, in one canonical form, and refuses what contradicts itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from relscape.data import EntitySet, Relation, RelationalData, labels
from relscape.data.guidance import Guidance, as_guidance
from relscape.errors import DataError, ParameterError, UnknownNameError

SIZES = {"image": 3, "tag": 2}
NAMES = {"image": np.array(["a", "b", "c"], dtype=object), "tag": np.array(["sea", "sky"], dtype=object)}


def table(guidance, pair, names=None):
    return guidance.resolved(SIZES, names)[pair].toarray().tolist()


def test_pairs_by_position_and_by_id():
    guidance = Guidance().similar("image", 0, "tag", "sky").dissimilar("tag", 0, "image", "c", weight=0.25)
    assert table(guidance, ("image", "tag"), NAMES) == [[0, 1], [0, 0], [-0.25, 0]]
    assert list(guidance.resolved(SIZES, NAMES)) == [("image", "tag")]
    assert guidance.kinds == ("image", "tag")


def test_blocks_are_turned_into_the_order_of_the_data():
    W = np.array([[1, 0, -1], [0, 0.5, 0]])
    blocks = Guidance().block("tag", "image", W).similar("image", 2, "image", 0).resolved(SIZES)
    assert list(blocks) == [("image", "image"), ("image", "tag")]
    assert_array_equal(blocks["image", "tag"].toarray(), W.T)
    assert_array_equal(blocks["image", "image"].toarray(), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_the_diagonal_is_dropped():
    assert table(Guidance().block("tag", "tag", [[1, 0.5], [0.5, 1]]), ("tag", "tag")) == [[0, 0.5], [0.5, 0]]


def test_frames_are_matched_by_name():
    wide = pd.DataFrame([[0.5, 0], [0, 1]], index=["c", "a"], columns=["sky", "sea"])
    assert table(Guidance().block("image", "tag", wide), ("image", "tag"), NAMES) == [
        [1, 0],
        [0, 0],
        [0, 0.5],
    ]
    long = pd.DataFrame({"from": ["b", "a"], "to": ["sea", "sky"], "weight": [-1.0, 0.5]})
    for frame in (long, long.set_axis(["photo", "word", "w"], axis=1)):
        found = table(Guidance().pairs("image", "tag", frame), ("image", "tag"), NAMES)
        assert found == [[0, 0.5], [-1, 0], [0, 0]]
    unweighted = Guidance().pairs("image", "tag", {"from": [0, 2], "to": [1, 1]})
    assert table(unweighted, ("image", "tag")) == [[0, 1], [0, 0], [0, 1]]


def test_frames_within_a_kind_have_rows_and_columns_in_any_order():
    square = pd.DataFrame([[0, 0.5, -1], [0.5, 0, 0], [-1, 0, 0]], index=list("abc"), columns=list("abc"))
    expected = table(Guidance().block("image", "image", square), ("image", "image"), NAMES)
    for turned in (square[["b", "a", "c"]], square.loc[["c", "a", "b"]]):
        assert table(Guidance().block("image", "image", turned), ("image", "image"), NAMES) == expected
    with pytest.raises(DataError, match="the rows 'c' have no column of their name"):
        Guidance().block("image", "image", square.rename(columns={"c": "d"}))


def test_many_pairs_are_looked_up_at_once(monkeypatch):
    calls = []

    def counted(names, ids):
        calls.append(len(names))
        return labels.match(names, ids)

    monkeypatch.setattr("relscape.data.guidance_blocks.match", counted)
    guidance = Guidance()
    for image in range(3):
        guidance.similar("image", "abc"[image], "tag", image % 2)
    assert table(guidance, ("image", "tag"), NAMES) == [[1, 0], [0, 1], [1, 0]]
    assert calls == [3, 0]


def test_labels():
    same = table(Guidance().labels("image", ["x", "y", "x"]), ("image", "image"))
    assert same == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    signed = table(Guidance().labels("image", ["x", "y", "x"], negative=0.5), ("image", "image"))
    assert signed == [[0, -0.5, 1], [-0.5, 0, -0.5], [1, -0.5, 0]]
    partly = table(Guidance().labels("image", ["x", None, "x"], negative=0.5), ("image", "image"))
    assert partly == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    with pytest.raises(DataError, match="give the classes as a kind of their own"):
        Guidance().labels("image", np.zeros(8000))


def test_relations():
    entities = [EntitySet("image", ["c", "a", "b"]), EntitySet("tag", ["sky", "sea"])]
    counts = Relation("tagged", "image", "tag", np.array([[4.0, 0], [2, 0], [0, 0]]))
    links = Relation("links", "image", "image", np.array([[0, 1.0, 0], [0, 0, 0], [0, 0, 0]]))
    data = RelationalData(entities, [counts, links])
    blocks = Guidance.from_relations(data, {"tagged": -0.5, "links": 1.0}).resolved(SIZES, NAMES)
    assert_array_equal(blocks["image", "tag"].toarray(), [[0, -0.25], [0, 0], [0, -0.5]])
    assert_array_equal(blocks["image", "image"].toarray(), [[0, 0, 0.5], [0, 0, 0], [0.5, 0, 0]])
    with pytest.raises(UnknownNameError, match=r"no relation 'taged'.*Did you mean 'tagged'"):
        Guidance.from_relations(data, {"taged": 1.0})
    for wrong in ("much", None, 2.0, 0.0):
        with pytest.raises(ParameterError, match="relation 'tagged': weight"):
            Guidance.from_relations(data, {"tagged": wrong})


def test_balanced_blocks_have_equal_sums():
    guidance = Guidance().block("image", "tag", np.ones((3, 2))).similar("image", 0, "image", 1, 0.5)
    blocks = guidance.balanced().resolved(SIZES)
    assert np.abs(blocks["image", "tag"].data).sum() == pytest.approx(0.5)
    assert_array_equal(blocks["image", "image"].toarray()[0], [0, 0.5, 0])


def test_things_that_only_guidance_knows():
    guidance = (
        Guidance().pairs("image", "tag", {"from": ["b", "a"], "to": [10, 9]}).similar("image", "a", "x", 3)
    )
    assert guidance.names_of("image").tolist() == ["a", "b"]
    assert guidance.names_of("tag").tolist() == ["10", "9"]
    assert guidance.names_of("x").tolist() == ["0", "1", "2", "3"]
    assert Guidance().block("image", "tag", np.ones((2, 3))).names_of("tag").tolist() == ["0", "1", "2"]
    with pytest.raises(UnknownNameError, match="no kind 'place'"):
        guidance.names_of("place")


def test_the_same_pair_twice_is_refused_by_name():
    twice = Guidance().similar("image", "a", "tag", "sky").block("tag", "image", [[0, 0, 0], [-1, 0, 0]])
    with pytest.raises(DataError, match="image 'a' and tag 'sky', with 1 and -1; merge"):
        twice.resolved(SIZES, NAMES)
    with pytest.raises(DataError, match="image 'a' and image 'c'"):
        Guidance().similar("image", 0, "image", 2).similar("image", 2, "image", 0).resolved(SIZES, NAMES)


@pytest.mark.parametrize("weight", [0, -0.5, 1.5, np.nan, "much", True])
def test_weights_of_pairs(weight):
    with pytest.raises(ParameterError, match="above 0 and at most 1"):
        Guidance().similar("image", 0, "tag", 0, weight)


def test_bad_blocks_and_tables():
    with pytest.raises(DataError, match=r"1 weights.*the first 2 between image 1 and tag 0"):
        Guidance().block("image", "tag", [[0, 1], [2, 0], [0, 0]])
    with pytest.raises(DataError, match="not finite"):
        Guidance().block("image", "tag", [[0, np.nan]])
    with pytest.raises(DataError, match=r"image 'b' and tag 'sky'"):
        Guidance().pairs("image", "tag", {"from": ["a", "b"], "to": ["sky", "sky"], "weight": [1.0, 3.0]})
    with pytest.raises(DataError, match="two columns or more"):
        Guidance().pairs("image", "tag", {"from": ["a"]})
    with pytest.raises(DataError, match=r"not symmetric: 1 from 0 to 1 but 0 back.*symmetrize=True"):
        Guidance().block("tag", "tag", [[0, 1], [0, 0]])
    mean = Guidance().block("tag", "tag", csr_array([[0, 1], [0, 0]]), symmetrize=True)
    assert table(mean, ("tag", "tag")) == [[0, 0.5], [0.5, 0]]
    with pytest.raises(DataError, match="must be square"):
        Guidance().block("tag", "tag", [[0, 1]])


def test_what_the_data_does_not_have():
    with pytest.raises(UnknownNameError, match="no kind 'place'"):
        Guidance().similar("image", 0, "place", 0).resolved(SIZES)
    with pytest.raises(UnknownNameError, match="no tag 'se'"):
        Guidance().similar("image", 0, "tag", "se").resolved(SIZES, NAMES)
    with pytest.raises(DataError, match="image number 3; positions go from 0 to 2"):
        Guidance().similar("image", 3, "tag", 0).resolved(SIZES)
    with pytest.raises(DataError, match="4 entries for kind 'image', which has 3 things"):
        Guidance().block("image", "tag", np.ones((4, 2))).resolved(SIZES)
    with pytest.raises(ParameterError, match="by its position"):
        Guidance().similar("image", 1.5, "tag", 0)


def test_forms_of_guidance():
    guidance = Guidance()
    assert as_guidance(guidance) is guidance
    assert table(as_guidance({("image", "tag"): np.eye(3, 2)}), ("image", "tag")) == np.eye(3, 2).tolist()
    assert as_guidance({(1, 2): np.eye(3, 2)}).kinds == ("1", "2")
    with pytest.raises(DataError, match="type ndarray is not understood"):
        as_guidance(np.eye(3))
    with pytest.raises(DataError, match="names no pair of kinds"):
        as_guidance({"image": np.eye(3)})
