from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes as scipy_procrustes
from scipy.stats import ortho_group

from relscape.errors import DataError
from relscape.maps import Group, Map
from relscape.maps.align import procrustes, stored_motion


@pytest.mark.parametrize("dimensions", [1, 2, 3, 7])
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_known_motion_is_found_again(dimensions: int, mirrored: bool, rng: np.random.Generator) -> None:
    turn = np.array([[1.0]]) if dimensions == 1 else ortho_group.rvs(dimensions, random_state=4)
    if (np.linalg.det(turn) < 0) != mirrored:
        turn[:, 0] *= -1
    points = rng.normal(size=(40, dimensions))
    target = 2.5 * points @ turn + rng.normal(size=dimensions)
    motion = procrustes(points, target)
    np.testing.assert_allclose(motion(points), target, atol=1e-12)
    np.testing.assert_allclose(motion.matrix, 2.5 * turn, atol=1e-12)
    assert motion.residual == pytest.approx(0.0, abs=1e-12)


def test_the_residual_is_scipys_disparity(rng: np.random.Generator) -> None:
    points, target = rng.normal(size=(25, 3)), rng.normal(size=(25, 3))
    motion = procrustes(points, target)
    assert motion.residual == pytest.approx(scipy_procrustes(target, points)[2], rel=1e-10)
    left_over = ((motion(points) - target) ** 2).sum() / ((target - target.mean(axis=0)) ** 2).sum()
    assert motion.residual == pytest.approx(left_over, rel=1e-10)


def _pair(rng: np.random.Generator) -> tuple[Map, Map, np.ndarray]:
    raw = rng.normal(size=(30, 3))
    turn = ortho_group.rvs(3, random_state=1)
    ids = np.array([f"d{i}" for i in range(30)])
    order = rng.permutation(30)
    first = Map([Group("doc", ids, raw), Group("only", ["o"], rng.normal(size=(1, 3)))])
    other = (0.3 * raw @ turn + [1.0, 2.0, 3.0])[order][:20]
    second = Map([Group("doc", ids[order][:20], other), Group("word", ["w"], np.ones((1, 3)))])
    return first, second, raw


def test_maps_are_aligned_by_the_things_they_share(rng: np.random.Generator) -> None:
    first, second, _ = _pair(rng)
    aligned = first.align(to=second)
    places = dict(zip(first.group("doc").ids, aligned.coordinates("doc"), strict=True))
    for name, point in zip(second.group("doc").ids, second.coordinates("doc"), strict=True):
        np.testing.assert_allclose(places[name], point, atol=1e-12)
    assert aligned.provenance["aligned"]["shared_things"] == 20
    assert aligned.provenance["aligned"]["residual"] < 1e-12
    assert "aligned" not in first.provenance
    assert first.arrays == {}


def test_alignments_compose_so_that_new_things_can_be_placed(rng: np.random.Generator) -> None:
    first, second, raw = _pair(rng)
    third = Map([Group("doc", first.group("doc").ids, 5.0 - 2.0 * raw)])
    twice = first.align(second).align(third)
    motion = stored_motion(twice.arrays, 3)
    np.testing.assert_allclose(motion(raw), twice.coordinates("doc"), atol=1e-12)
    np.testing.assert_allclose(twice.coordinates("doc"), third.coordinates("doc"), atol=1e-12)
    identity = stored_motion({}, 3)
    np.testing.assert_array_equal(identity(raw), raw)


def test_neighbours_keep_their_order(rng: np.random.Generator) -> None:
    first, second, _ = _pair(rng)
    before = [n.id for n in first.neighbors("doc:d3")]
    assert [n.id for n in first.align(second).neighbors("doc:d3")] == before


def test_maps_that_cannot_be_aligned_say_why(rng: np.random.Generator) -> None:
    a = Map([Group("a", ["x", "y"], rng.normal(size=(2, 2)))])
    with pytest.raises(DataError, match="2 and 3 dimensions"):
        a.align(Map([Group("a", ["x"], np.ones((1, 3)))]))
    with pytest.raises(DataError, match="share 1 things"):
        a.align(Map([Group("a", ["x", "z"], rng.normal(size=(2, 2)))]))
    with pytest.raises(DataError, match="share 0 things"):
        a.align(Map([Group("b", ["x", "y"], rng.normal(size=(2, 2)))]))
    with pytest.raises(DataError, match="all lie on one spot"):
        a.align(Map([Group("a", ["x", "y"], np.ones((2, 2)))]))
