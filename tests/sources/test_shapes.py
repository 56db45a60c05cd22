"""Shapes: clusters go where they should, and the relation is that of equation 44."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relscape import datasets
from relscape.errors import UnknownNameError
from relscape.scores import gamma_loss
from relscape.sources.shapes import SHAPES, deal_shape, gaussian_relation, make_shape

NAMES = ("dots", "circles", "r15", "target", "rface", "2dnormals", "compound", "ring")


def test_there_are_the_eight_published_shapes():
    assert tuple(SHAPES) == NAMES
    assert datasets.make_shape is make_shape


@pytest.mark.parametrize("name", NAMES)
def test_clusters_are_whole_but_one_or_two(name):
    shape = make_shape(name, random_state=1)
    rows, columns = set(shape.row_labels), set(shape.column_labels)
    mixed = rows & columns
    assert 1 <= len(mixed) <= 2
    for label in mixed:
        difference = (shape.column_labels == label).sum() - (shape.row_labels == label).sum()
        assert difference in (0, 1)
    assert 250 <= len(shape.row_points) + len(shape.column_points) <= 450
    assert shape.row_points.shape == (len(shape.row_labels), 2)
    assert shape.column_points.shape == (len(shape.column_labels), 2)


@pytest.mark.parametrize("name", NAMES)
def test_the_truth_loses_no_mutual_pair(name):
    shape = make_shape(name, random_state=0)
    assert gamma_loss(shape.relation, shape.row_points, shape.column_points) == 0


def test_relation_is_the_formula_entry_by_entry(rng):
    rows, columns = rng.standard_normal((4, 2)), rng.standard_normal((3, 2))
    squares = [[math.dist(a, b) ** 2 for b in columns] for a in rows]
    mean = sum(map(sum, squares)) / 12
    expected = [[math.exp(-square / mean) for square in line] for line in squares]
    np.testing.assert_allclose(gaussian_relation(rows, columns), expected, rtol=1e-12)


def test_seed_decides():
    first, again, other = (make_shape("rface", random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.row_points, again.row_points)
    np.testing.assert_array_equal(first.column_labels, again.column_labels)
    assert not np.array_equal(first.row_points, other.row_points)


def test_shapes_look_as_their_names_say():
    assert len({*make_shape("dots", 0).row_labels, *make_shape("dots", 0).column_labels}) == 16
    fifteen = make_shape("r15", 0)
    assert len({*fifteen.row_labels, *fifteen.column_labels}) == 15
    ring = make_shape("ring", 0)
    reach = np.linalg.norm(ring.column_points, axis=1)
    assert reach[ring.column_labels == "ring"].min() > np.quantile(reach[ring.column_labels == "blob"], 0.95)
    circles = make_shape("circles", 0)
    reach = np.linalg.norm(circles.row_points, axis=1)
    assert reach[circles.row_labels == "outer"].min() > reach[circles.row_labels == "inner"].max()
    face = make_shape("rface", 0)
    eyes = (
        face.row_points[face.row_labels == "left eye"],
        face.column_points[face.column_labels == "right eye"],
    )
    assert eyes[0][:, 0].max() < 0 < eyes[1][:, 0].min()
    assert face.row_points[face.row_labels == "mouth"][:, 1].max() < eyes[0][:, 1].min()


def test_relational_data_keeps_clusters():
    shape = make_shape("target", random_state=0)
    data = shape.to_relational()
    assert data.kinds == ("row", "column")
    np.testing.assert_array_equal(data.matrix("similarity").toarray(), shape.relation)
    assert data.entities["row"].fields["cluster"].tolist() == shape.row_labels.tolist()


def test_unknown_shape_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'circles'"):
        make_shape("circle")


def test_labelled_points_are_dealt_by_whole_clusters_but_the_mixed(rng):
    points = rng.normal(size=(60, 2))
    labels = np.repeat(np.array(["10", "9", "2", "1"], dtype=object), 15)
    shape = deal_shape("four", points, labels, ["9"], 0)
    assert [(name, (shape.row_labels == name).sum()) for name in ("1", "9", "10")] == [
        ("1", 15),
        ("9", 7),
        ("10", 15),
    ]
    assert [(name, (shape.column_labels == name).sum()) for name in ("2", "9")] == [("2", 15), ("9", 8)]
    dealt = np.vstack([shape.row_points, shape.column_points])
    named = np.concatenate([shape.row_labels, shape.column_labels])
    for name in "9", "2":
        assert set(map(tuple, dealt[named == name])) == set(map(tuple, points[labels == name]))
    assert gamma_loss(shape.relation, shape.row_points, shape.column_points) == 0
    other = deal_shape("four", points, labels, ["9"], 1)
    assert not np.array_equal(other.row_points, shape.row_points)
    with pytest.raises(UnknownNameError, match="cluster '3'"):
        deal_shape("four", points, labels, ["3"], 0)
