"""Cohorts put elsewhere on an existing map."""

from __future__ import annotations

import numpy as np
import pandas as pd
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


@pytest.mark.filterwarnings("ignore:eta was lowered")
@pytest.mark.parametrize("variant", ["P1", "P2", "eigen"])
def test_a_moved_projection_places_and_moves_again(shape, variant):
    model = made(shape, variant)
    joint = model.to_map()
    before = joint.coordinates("cohort").copy()
    name, target = str(model.cohorts_[0]), before[0] * 1.5
    new = move_cohorts(joint, {name: target})
    assert_allclose(new.coordinates("cohort"), [target, *before[1:]], atol=1e-12)
    assert new.scores["cohort_position"] > 0.5
    # by new features, hardly different, each sample is placed where it is
    columns = {name: shape.points[:, at] + 1e-9 for at, name in enumerate(model.column_entities_.ids)}
    ids = [f"new {i}" for i in range(150)]
    placed = place(new, pd.DataFrame(columns, index=pd.Index(ids, name="sample")))
    assert_allclose(placed.coordinates("sample")[150:], new.coordinates("sample"), atol=1e-5)
    back = move_cohorts(new, dict(zip(model.cohorts_, before, strict=True)))
    assert_allclose(back.coordinates("cohort"), before, atol=1e-12)
    if variant == "eigen":  # has one answer, the others depend on where they begin
        assert_allclose(back.coordinates("sample"), model.embedding_, atol=1e-8)


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
