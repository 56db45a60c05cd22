from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.maps import Group, Map
from relscape.maps.layout import flatten


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
