"""Stand-ins for the sets of the COVA paper: geometry, cohorts and chance levels are as described."""

from __future__ import annotations

import numpy as np
import pytest

from relscape import datasets
from relscape.data.cohorts import read_cohorts
from relscape.errors import ParameterError, UnknownNameError
from relscape.scores import neighbor_preservation_chance
from relscape.sources.cohort_shapes import COHORT_SHAPES, make_cohorts

SIZES = {"sinusoid": (1000, 6), "compound": (900, 6), "swiss_roll": (1000, 6)}
SIZES |= {"cylinder1": (1000, 6), "cylinder2": (1000, 12)}


@pytest.mark.parametrize("name", SIZES)
def test_numbers_cohorts_and_seed(name):
    shape = datasets.make_cohorts(name)
    n, c = SIZES[name]
    assert shape.points.shape == (n, 2 if name in ("sinusoid", "compound") else 3)
    cohorts = read_cohorts(shape.labels, n)
    assert cohorts.names.tolist() == shape.names.tolist()
    assert cohorts.codes.tolist() == shape.codes.tolist()
    assert len(shape.names) == c
    sizes = np.bincount(shape.codes)
    if name != "compound":
        assert np.ptp(sizes) <= 1
    again, other = make_cohorts(name, random_state=0), make_cohorts(name, random_state=1)
    assert np.array_equal(again.points, shape.points)
    assert not np.array_equal(other.points, shape.points)
    assert len(make_cohorts(name, n=77).points) == 77
    assert len(make_cohorts(name, n=COHORT_SHAPES[name].fewest).names) == c


def test_sinusoid_is_a_noisy_wave_in_touching_segments():
    shape = make_cohorts("sinusoid", n=60_000)
    x, height = shape.points.T
    # Noise of 0.25 along the axis moves points on a slope of up to 3 as well.
    assert np.std(height - 3 * np.sin(x)) == pytest.approx(0.25 * np.sqrt(1 + 9 / 2), rel=0.1)
    middles = [x[shape.codes == code].mean() for code in range(6)]
    assert middles == pytest.approx(4 * np.pi * (np.arange(6) + 0.5) / 6, abs=0.02)
    spread = [x[shape.codes == code].std() for code in range(6)]
    assert spread == pytest.approx(np.full(6, np.hypot(4 * np.pi / 6 / np.sqrt(12), 0.25)), rel=0.03)


def test_sinusoid_has_its_prototypes_on_a_line_of_radius_two():
    V = make_cohorts("sinusoid").prototypes
    assert V.shape == (6, 2)
    assert V.mean(axis=0) == pytest.approx([0, 0])
    assert np.sqrt((V**2).sum(axis=1).mean()) == pytest.approx(2)
    assert np.diff(V[:, 0]) == pytest.approx(np.full(5, V[1, 0] - V[0, 0]))
    assert (np.diff(V[:, 0]) > 0).all()
    assert not V[:, 1].any()
    assert make_cohorts("compound").prototypes is None


def test_swiss_roll_is_rolled_up_in_order():
    shape = make_cohorts("swiss_roll")
    radius = np.hypot(shape.points[:, 0], shape.points[:, 2])
    share = (radius / (1.5 * np.pi) - 1) / 2
    assert share.min() >= 0
    assert share.max() <= 1
    assert (np.floor(6 * share) == shape.codes).all()
    assert shape.points[:, 0] == pytest.approx(radius * np.cos(radius))
    assert shape.points[:, 1].min() >= 0
    assert 20 < shape.points[:, 1].max() <= 21


def test_cylinders_are_one_wall_cut_in_two_ways():
    rings, cells = make_cohorts("cylinder1"), make_cohorts("cylinder2")
    for shape in (rings, cells):
        assert np.hypot(*shape.points[:, :2].T) == pytest.approx(np.ones(1000))
        assert 0 <= shape.points[:, 2].min() <= shape.points[:, 2].max() <= 6
    assert (np.floor(rings.points[:, 2]) == rings.codes).all()
    turn = np.arctan2(cells.points[:, 1], cells.points[:, 0]) / (2 * np.pi) % 1
    expected = [
        f"ring {int(height // 2) + 1} sector {int(4 * share) + 1}"
        for height, share in zip(cells.points[:, 2], turn, strict=True)
    ]
    assert cells.labels.tolist() == expected


def test_compound_is_made_of_six_shapes():
    shape = make_cohorts("compound", n=9000)
    parts = {name: shape.points[shape.labels == name] for name in shape.names}
    assert set(parts) == {"left blob", "right blob", "ring", "core", "arc", "field"}
    ring = np.linalg.norm(parts["ring"] - parts["ring"].mean(axis=0), axis=1)
    core = np.linalg.norm(parts["core"] - parts["ring"].mean(axis=0), axis=1)
    assert np.quantile(core, 0.99) < np.quantile(ring, 0.01)
    low, high = parts["field"].min(axis=0), parts["field"].max(axis=0)
    inside = ((parts["arc"] >= low - 0.2) & (parts["arc"] <= high + 0.2)).all(axis=1)
    assert inside.mean() > 0.99
    assert len(parts["arc"]) > 5 * len(parts["field"])


def test_chance_levels_are_those_of_the_described_sets():
    assert neighbor_preservation_chance(make_cohorts("sinusoid").labels) == pytest.approx(0.45, abs=0.01)
    assert 0.12 <= neighbor_preservation_chance(make_cohorts("compound").labels) <= 0.14


def test_unknown_names_and_too_few_points_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'sinusoid'"):
        make_cohorts("sinusoids")
    with pytest.raises(ParameterError, match="at least 12 points"):
        make_cohorts("cylinder2", n=11)
