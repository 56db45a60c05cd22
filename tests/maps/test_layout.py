from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.maps import Group, Map
from relscape.maps.layout import continued, flatten, linear_picture
from relscape.objectives.neighbour import tsne


def test_pca_is_the_plane_of_largest_spread(rng: np.random.Generator) -> None:
    first, second = rng.normal(size=(30, 5)) * [1, 5, 2, 1, 9], rng.normal(size=(10, 5))
    flat, drawn_by = flatten([first, second], "pca", (0, 1), None)
    pca = PCA(2).fit(np.vstack([first, second]))
    expected = pca.transform(np.vstack([first, second]))
    found = np.vstack(flat)
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=1e-10)
    assert drawn_by["variance_shown"] == pytest.approx(pca.explained_variance_ratio_.sum(), rel=1e-12)
    assert [len(part) for part in flat] == [30, 10]


@pytest.mark.parametrize(("n", "dimensions"), [(1, 1), (1, 4), (2, 4), (5, 1), (3, 2)])
@pytest.mark.parametrize("method", ["axes", "pca"])
def test_the_smallest_maps_have_layouts(
    method: str, n: int, dimensions: int, rng: np.random.Generator
) -> None:
    made = Map([Group("a", range(n), rng.normal(size=(n, dimensions)))]).layout(method)
    assert made.group("a").drawn.shape == (n, 2)


def test_points_on_one_spot_have_a_plane_but_no_t_sne() -> None:
    made = Map([Group("a", range(6), np.ones((6, 3)))])
    assert not made.layout("pca").group("a").drawn.any()
    with pytest.raises(DataError, match="one spot"):
        made.layout("tsne")


@pytest.mark.parametrize("dimensions", [1, 6])
def test_t_sne_keeps_neighbours_and_repeats_itself(dimensions: int) -> None:
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(4, dimensions)) * 40
    points = np.repeat(centres, 15, axis=0) + rng.normal(size=(60, dimensions))
    made = Map([Group("a", range(40), points[:40]), Group("b", range(20), points[40:])])
    one, again = made.layout("tsne", random_state=3), made.layout("tsne", random_state=3)
    drawn = np.vstack([one.group(kind).drawn for kind in one.groups])
    np.testing.assert_array_equal(drawn, np.vstack([again.group(kind).drawn for kind in again.groups]))
    assert trustworthiness(points, drawn, n_neighbors=5) > 0.9
    assert one.drawn_by == {"method": "tsne", "random_state": 3}


def test_layouts_are_refused_with_the_remedy() -> None:
    made = Map([Group("a", range(3), np.eye(3))])
    with pytest.raises(UnknownNameError, match=r"no layout 'pac'. Did you mean 'pca'"):
        made.layout("pac")
    for axes in ((0, 3), (-1, 0), (0,), (0, 1, 2)):
        with pytest.raises(ParameterError, match="give two axes between 0 and 2"):
            made.layout("axes", axes)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="at least 5 points"):
        made.layout("tsne")
    with pytest.raises(ParameterError, match=r"start has shape \(5, 3\); expected \(5, 2\)"):
        tsne(np.eye(5), start=np.ones((5, 3)))


@pytest.mark.parametrize("axes", [5, (0, 1.5), "01", None, (0, "1")])
@pytest.mark.parametrize("dimensions", [1, 3])
def test_axes_are_two_whole_numbers(axes: Any, dimensions: int) -> None:
    made = Map([Group("a", range(3), np.eye(3)[:, :dimensions])])
    with pytest.raises(ParameterError, match=r"axes=.*give two axes between 0 and \d, as whole numbers"):
        made.layout("axes", axes)


def test_a_t_sne_that_is_finished_stays_when_it_is_the_start(capfd: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(5)
    points = np.repeat(rng.normal(size=(4, 6)) * 20, 15, axis=0) + rng.normal(size=(60, 6))
    once = tsne(points, random_state=0)
    again = tsne(points, random_state=0, start=once)
    assert np.linalg.norm(again - once, axis=1).mean() < 0.1 * np.sqrt(once.var(axis=0).sum())
    shuffled = rng.normal(size=(60, 2)) * 1e-4
    assert np.linalg.norm(tsne(points, start=shuffled) - once, axis=1).mean() > 1.0
    assert capfd.readouterr() == ("", "")


def test_a_picture_is_continued_linearly_only_where_it_is_linear(rng: np.random.Generator) -> None:
    points, more = rng.normal(size=(20, 3)), rng.normal(size=(4, 3))
    matrix = rng.normal(size=(3, 2))
    found = linear_picture(points, points @ matrix + [1.0, 2.0])
    assert found is not None
    np.testing.assert_allclose(found, np.vstack([matrix, [1.0, 2.0]]), atol=1e-12)
    np.testing.assert_allclose(
        continued(points, points @ matrix + [1.0, 2.0], more), more @ matrix + [1.0, 2.0], atol=1e-12
    )
    bent = points[:, :2] ** 3
    assert linear_picture(points, bent) is None
    for point, place in zip(more, continued(points, bent, more), strict=True):
        nearest = sorted(range(20), key=lambda i: float(np.linalg.norm(points[i] - point)))[:5]
        weights = [1.0 / np.linalg.norm(points[i] - point) for i in nearest]
        np.testing.assert_allclose(place, np.average(bent[nearest], axis=0, weights=weights), rtol=1e-9)
    assert continued(points, bent, np.empty((0, 3))).shape == (0, 2)
