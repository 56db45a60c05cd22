"""Cohorts put elsewhere on an existing map."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from relscape.datasets import make_cohorts
from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Map
from relscape.models.cova import COVA
from relscape.models.moving import move_cohorts
from relscape.models.placing import place

ANGLES = np.arange(6) * np.pi / 3
HEXAGON = 2.0 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


@pytest.fixture(scope="module")
def shape():
    return make_cohorts("sinusoid", n=150)


def made(shape, variant):
    model = COVA(variant, prototypes=HEXAGON, random_state=0, max_iterations=60)
    return model.fit(shape.points, shape.labels)


@pytest.mark.parametrize("variant", ["E1", "E3"])
def test_samples_follow_as_the_model_says(shape, variant, tmp_path):
    model = made(shape, variant)
    name = str(model.cohorts_[2])
    joint = Map.load(model.to_map().save(tmp_path / "map"))
    new = move_cohorts(joint, {name: (5.0, -1.0)})
    places = HEXAGON.copy()
    places[2] = 5.0, -1.0
    assert_allclose(new.coordinates("cohort"), places)
    assert_allclose(new.coordinates("sample"), model.move(places), atol=1e-8)
    assert_allclose(joint.coordinates("cohort"), HEXAGON)
    back = move_cohorts(new, {name: HEXAGON[2]})
    assert back.provenance["moved"] == [name, name]
    if variant == "E1":
        assert_allclose(back.coordinates("sample"), model.embedding_, atol=1e-8)


def test_a_moved_projection_cannot_place(shape):
    """Its projection belongs to the old prototypes."""
    model = made(shape, "P1")
    new = move_cohorts(model.to_map(), {str(model.cohorts_[0]): (3.0, 3.0)})
    assert new.model_state is None
    assert_allclose(new.coordinates("cohort")[0], [3.0, 3.0])
    with pytest.raises(ParameterError, match="does not carry its model"):
        place(new, {"a": [1.0], "b": [2.0]})


def test_what_cannot_be_moved(shape):
    joint = made(shape, "E1").to_map()
    with pytest.raises(UnknownNameError, match="no cohort 'nobody'"):
        move_cohorts(joint, {"nobody": (0, 0)})
    with pytest.raises(ParameterError, match="2 finite coordinates"):
        move_cohorts(joint, {joint.group("cohort").ids[0]: (0, np.nan)})
    with pytest.raises(ParameterError, match="no cohort is named"):
        move_cohorts(joint, {})
    joint.model_state = None
    with pytest.raises(ParameterError, match="a map of COVA's"):
        move_cohorts(joint, {"a": (0, 0)})
