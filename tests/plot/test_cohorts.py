"""Pictures of cohorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from relscape.errors import DataError, ParameterError
from relscape.maps import Group, Map
from relscape.plot import draw_cohorts, save_picture
from relscape.plot.cohorts import LOST, shows_cohorts
from relscape.scores.cohorts import cohort_links

NAMES = np.array(["ale", "beer", "cider", "mead", "tea"], dtype=object)
ANGLES = np.arange(5) * 2 * np.pi / 5
RING = 3.0 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


def samples(rng: np.random.Generator, n: int = 200) -> tuple[Any, Any]:
    codes = rng.integers(0, 5, n)
    return RING[codes] + 0.3 * rng.normal(size=(n, 2)), codes


def lines(figure: Figure) -> list[LineCollection]:
    return [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]


def stars(figure: Figure) -> PathCollection:
    clouds = [c for c in figure.axes[0].collections if isinstance(c, PathCollection)]
    return clouds[-1]


def written(figure: Figure) -> str:
    return " ".join(text.get_text() for text in [*figure.texts, *figure.axes[0].texts])


def test_links_kept_and_lost_are_those_of_the_score(rng: np.random.Generator) -> None:
    Z, codes = samples(rng)
    swapped = RING[[3, 1, 2, 0, 4]]
    figure = draw_cohorts(Z, NAMES[codes], swapped)
    found = cohort_links(Z, NAMES[codes], swapped)
    assert len(found.lost) > 0
    for drawn, pairs in zip(lines(figure), (found.kept, found.lost), strict=True):
        assert_allclose(np.array(drawn.get_segments()), swapped[pairs])
    assert to_hex(lines(figure)[1].get_colors()[0]) == LOST.lower()
    assert f"{len(found.kept)} of {len(found.kept) + len(found.lost)} kept" in written(figure)
    assert lines(draw_cohorts(Z, NAMES[codes], swapped, k=0)) == []


def test_prototypes_are_named_stars_of_their_cohorts_colour(rng: np.random.Generator) -> None:
    Z, codes = samples(rng)
    figure = draw_cohorts(Z, NAMES[codes], RING)
    assert_allclose(stars(figure).get_offsets(), RING)
    for name in NAMES:
        assert name in written(figure)
    cloud = figure.axes[0].collections[0]
    offsets, colors = np.asarray(cloud.get_offsets()), cloud.get_facecolors()
    for code, star in enumerate(stars(figure).get_facecolors()):
        own = np.flatnonzero((offsets == Z[np.flatnonzero(codes == code)[0]]).all(axis=1))[0]
        assert_allclose(star[:3], colors[own][:3])


def test_prototypes_far_out_stay_in_the_frame(rng: np.random.Generator) -> None:
    Z, codes = samples(rng, 1000)
    far = 10.0 * RING
    axes = draw_cohorts(Z, codes, far).axes[0]
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    assert (far > low).all()
    assert (far < high).all()


def test_few_cohorts_and_unknown_ones(rng: np.random.Generator) -> None:
    """Two cohorts have no neighbours to compare; samples without a cohort or place are drawn so or not."""
    Z, _ = samples(rng, 60)
    Z[0] = np.nan
    labels = np.array(["a", "b", None], dtype=object)[np.arange(60) % 3]
    figure = draw_cohorts(Z, labels, RING[:2])
    assert lines(figure) == []
    assert len(figure.axes[0].collections[0].get_offsets()) == 59
    legend = " ".join(text.get_text() for text in figure.legends[-1].get_texts())
    assert "not known (20)" in legend


def cohort_map(rng: np.random.Generator, dimensions: int = 2, **fields: Any) -> Map:
    Z, codes = samples(rng)
    high = np.zeros((len(Z), dimensions))
    high[:, :2] = Z
    places = np.zeros((5, dimensions))
    places[:, :2] = RING
    return Map(
        [
            Group("cell", [f"c{i}" for i in range(len(Z))], high, fields={"cohort": NAMES[codes], **fields}),
            Group("cohort", NAMES, places, fields={"size": np.bincount(codes, minlength=5)}),
        ],
        model="COVA",
    )


def test_maps_of_any_dimension(rng: np.random.Generator, tmp_path: Any) -> None:
    joint = cohort_map(rng, 3)
    assert shows_cohorts(joint)
    figure = draw_cohorts(joint.layout("pca"), title="Cells", dark=True)
    assert "Cells" in written(figure)
    assert "PCA layout" in written(figure)
    picture = save_picture(draw_cohorts(joint), tmp_path / "a.png", dpi=40)
    again = save_picture(draw_cohorts(joint), tmp_path / "b.png", dpi=40)
    assert picture.read_bytes() == again.read_bytes()


def test_new_things_are_named(rng: np.random.Generator) -> None:
    placed = np.zeros(200, dtype=bool)
    placed[7] = True
    joint = cohort_map(rng, placed=placed)
    names = [text.get_text() for text in draw_cohorts(joint).axes[0].texts]
    assert "c7" in names
    assert "c8" not in names
    assert len(draw_cohorts(joint, labels=12).axes[0].texts) > len(names)


def test_predicted_cohorts_are_paler_and_told(rng: np.random.Generator) -> None:
    predicted = np.arange(200) < 30
    joint = cohort_map(rng, predicted=predicted)
    figure = draw_cohorts(joint, full=True)
    cloud = figure.axes[0].collections[0]
    where = {tuple(place): at for at, place in enumerate(joint.coordinates("cell"))}
    at = np.array([where[tuple(place)] for place in np.asarray(cloud.get_offsets())])
    colors, names = np.asarray(cloud.get_facecolors())[:, :3], joint.group("cell").fields["cohort"][at]
    for name in NAMES:
        own = colors[names == name]
        given, pale = own[~predicted[at[names == name]]], own[predicted[at[names == name]]]
        assert_allclose(given - given[0], 0)
        assert (pale.sum(axis=1) > given[0].sum()).all()
    told = " ".join(text.get_text() for legend in figure.legends for text in legend.get_texts())
    assert "paler: predicted (30)" in told
    found = draw_cohorts(cohort_map(rng, predicted=np.ones(200, dtype=bool)))
    assert "paler" not in " ".join(t.get_text() for legend in found.legends for t in legend.get_texts())


def test_what_cannot_be_drawn_is_refused(rng: np.random.Generator) -> None:
    Z, codes = samples(rng)
    with pytest.raises(ParameterError, match="give y"):
        draw_cohorts(Z)
    with pytest.raises(DataError, match="4 prototypes for the 5 cohorts"):
        draw_cohorts(Z, codes, RING[:4])
    with pytest.raises(ParameterError, match="leave y and prototypes out"):
        draw_cohorts(cohort_map(rng), codes)
    with pytest.raises(ParameterError, match="has no cohorts"):
        draw_cohorts(Map([Group("doc", ["a", "b"], Z[:2])]))
    with pytest.raises(ParameterError, match="k=-1"):
        draw_cohorts(Z, codes, RING, k=-1)
    with pytest.raises(ParameterError, match="size="):
        draw_cohorts(Z, codes, RING, size=(1, 1))
