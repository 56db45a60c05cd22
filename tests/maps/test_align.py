from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes as scipy_procrustes
from scipy.stats import ortho_group
from sklearn.manifold import trustworthiness

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


def _drawn(made: Map) -> np.ndarray:
    return np.vstack([made.group(kind).drawn for kind in made.groups])


@pytest.mark.parametrize(("method", "axes"), [("axes", (0, 1)), ("axes", (2, 0)), ("pca", (0, 1))])
def test_the_picture_follows_the_coordinates(
    method: str, axes: tuple[int, int], rng: np.random.Generator
) -> None:
    points = rng.normal(size=(40, 3)) * [3.0, 2.0, 1.0]
    old = Map([Group("a", range(30), points[:30]), Group("b", range(10), points[30:])]).layout(method, axes)
    turned = points[:, [2, 0, 1]] * 0.5 + 7.0
    new = Map([Group("a", range(30), turned[:30]), Group("b", range(10), turned[30:])])
    aligned = new.align(to=old)
    np.testing.assert_allclose(aligned.coordinates("a"), old.coordinates("a"), atol=1e-12)
    np.testing.assert_allclose(_drawn(aligned), _drawn(old), atol=1e-12)
    shown = aligned.drawn_by.pop("variance_shown", None)
    assert shown == pytest.approx(old.drawn_by.pop("variance_shown", None))
    assert aligned.drawn_by == {**old.drawn_by, "aligned": True}
    assert new.drawn_by == {"method": "axes", "axes": [0, 1]}


def test_the_share_shown_is_that_of_the_aligned_points(rng: np.random.Generator) -> None:
    points = rng.normal(size=(40, 3)) * [3.0, 2.0, 1.0]
    old = Map([Group("a", range(30), points[:30])]).layout("pca")
    aligned = Map([Group("a", range(40), points)]).align(old)
    plane = np.linalg.svd(points[:30] - points[:30].mean(axis=0))[2][:2]
    centred = points - points.mean(axis=0)
    expected = ((centred @ plane.T) ** 2).sum() / (centred**2).sum()
    assert aligned.drawn_by["variance_shown"] == pytest.approx(expected, rel=1e-6)


def test_a_t_sne_of_grown_data_stays_close() -> None:
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(6, 5)) * 4
    points = np.tile(centres, (30, 1)) + rng.normal(size=(180, 5))
    old = Map([Group("a", range(100), points[:100]), Group("b", range(70), points[100:170])])
    old = old.layout("tsne", random_state=1)
    turned = 2.0 * points @ ortho_group.rvs(5, random_state=3) + 1.0
    new = Map([Group("b", range(80), turned[100:]), Group("a", range(100), turned[:100])])
    aligned = new.align(old)
    assert aligned.drawn_by == {"method": "tsne", "random_state": 1, "aligned": True}
    moved = aligned.group("a").drawn - old.group("a").drawn
    spread = np.sqrt(_drawn(old).var(axis=0).sum())
    assert np.linalg.norm(moved, axis=1).mean() < 0.1 * spread
    assert trustworthiness(aligned.coordinates("b"), aligned.group("b").drawn, n_neighbors=5) > 0.9
    np.testing.assert_array_equal(_drawn(new.align(old)), _drawn(aligned))


def test_a_picture_made_by_hand_is_continued(rng: np.random.Generator) -> None:
    points, layout = rng.normal(size=(12, 2)), rng.normal(size=(12, 2)) ** 3
    old = Map([Group("a", range(12), points, layout=layout)], drawn_by={"method": "by hand"})
    new = Map([Group("a", range(13), np.vstack([points, points[4]]) * 2.0)])
    aligned = new.align(old)
    np.testing.assert_array_equal(aligned.group("a").drawn[:12], layout)
    np.testing.assert_allclose(aligned.group("a").drawn[12], layout[4], atol=1e-9)
    assert aligned.drawn_by == {"method": "by hand", "aligned": True}
