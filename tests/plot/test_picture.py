from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

from relscape.errors import ParameterError, StorageError, UnknownNameError
from relscape.maps import Group, Map
from relscape.maps.fields import is_categorical
from relscape.plot import draw_map, save_picture
from relscape.plot import frame as framing
from relscape.plot.palette import CLASS_COLORS, LIGHT, sort_into_classes
from relscape.plot.texts import choose_labels, label_counts, plain_text, quiet_glyphs


def two_kinds(rng: np.random.Generator, docs: int = 60, words: int = 40, dimensions: int = 2) -> Map:
    doc = Group(
        "doc",
        [f"d{i}" for i in range(docs)],
        rng.normal(size=(docs, dimensions)),
        fields={
            "class": np.array(["news", "sport", "law"], object)[np.arange(docs) % 3],
            "year": rng.normal(size=docs),
        },
    )
    names = ["".join(rng.choice(list("abcdefghij"), 6)) + "abcdefghij"[i % 10] for i in range(words)]
    word = Group(
        "word", [f"{n}{'x' * (i // 10)}" for i, n in enumerate(names)], rng.normal(size=(words, dimensions)),
        fields={"degree": np.arange(words)},
    )  # fmt: skip
    return Map([doc, word], model="Test")


def written(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_visible() and text.get_text()]


def names_in(figure: Figure) -> list[Text]:
    return [text for text in figure.axes[0].texts if text.get_text()]


@pytest.mark.parametrize("size", [(60, 40), (3000, 2000)])
def test_no_name_covers_another_or_leaves_the_frame(size: tuple[int, int], rng: np.random.Generator) -> None:
    figure = draw_map(two_kinds(rng, *size))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in names_in(figure)]
    assert len(boxes) >= 20
    inside = figure.axes[0].get_window_extent()
    for position, box in enumerate(boxes):
        assert box.x0 >= inside.x0 - 1
        assert box.x1 <= inside.x1 + 1
        assert box.y0 >= inside.y0 - 1
        assert box.y1 <= inside.y1 + 1
        for other in boxes[:position]:
            width = min(box.x1, other.x1) - max(box.x0, other.x0)
            height = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert width <= 0.5 or height <= 0.5


def test_pyplot_is_left_alone(rng: np.random.Generator) -> None:
    from matplotlib import pyplot

    settings = dict(matplotlib.rcParams)
    assert isinstance(two_kinds(rng).plot(), Figure)
    assert pyplot.get_fignums() == []
    assert dict(matplotlib.rcParams) == settings


def test_kinds_differ_in_marker_and_colour(rng: np.random.Generator) -> None:
    figure = draw_map(two_kinds(rng), labels=0)
    clouds = [c for c in figure.axes[0].collections if len(c.get_offsets())]
    assert len(clouds) == 2
    first, second = (c.get_paths()[0].vertices for c in clouds)
    assert first.shape != second.shape
    colors = {tuple(c.get_facecolors()[0][:3]) for c in clouds}
    assert len(colors) == 2
    assert {"doc (60)", "word (40)"} <= set(written(figure))


def test_a_kind_keeps_its_colour_when_drawn_alone(rng: np.random.Generator) -> None:
    made = two_kinds(rng)
    together = draw_map(made, labels=0).axes[0].collections
    alone = draw_map(made, kinds="word", labels=0).axes[0].collections[0]
    colors = [tuple(c.get_facecolors()[0][:3]) for c in together if len(c.get_offsets())]
    assert tuple(alone.get_facecolors()[0][:3]) in colors


def test_classes_have_colours_and_a_legend(rng: np.random.Generator) -> None:
    made = two_kinds(rng)
    figure = draw_map(made, color="class", labels=0)
    assert {"class", "news (20)", "sport (20)", "law (20)"} <= set(written(figure))
    docs = next(c for c in figure.axes[0].collections if len(c.get_offsets()) == 60)
    by_place = {
        tuple(p): tuple(c[:3]) for p, c in zip(docs.get_offsets(), docs.get_facecolors(), strict=True)
    }
    for name, color in zip(["law", "news", "sport"], CLASS_COLORS, strict=False):
        chosen = made.coordinates("doc")[made.group("doc").fields["class"] == name]
        found = {by_place[tuple(point)] for point in chosen}
        assert found == {matplotlib.colors.to_rgb(color)}


def test_many_classes_and_missing_ones_are_grey(rng: np.random.Generator) -> None:
    values = [f"class {i}" for i in range(30) for _ in range(31 - i)] + [None, float("nan")]
    made = Map([Group("a", range(len(values)), rng.normal(size=(len(values), 2)), fields={"c": values})])
    texts = written(draw_map(made, color="c"))
    left = sum(31 - i for i in range(20, 30)) + 2
    assert f"10 others ({left})" in texts
    assert "class 0 (31)" in texts
    assert "class 25 (6)" not in texts


def test_classes_are_the_most_frequent_first() -> None:
    classes = sort_into_classes(np.array(["b", "a", None, "b", "c", "c", "c"], object), limit=2)
    assert classes.names == ["c", "b"]
    assert classes.codes.tolist() == [1, -1, -1, 1, 0, 0, 0]
    assert (classes.counts, classes.left_over) == ([3, 2], 1)
    assert sort_into_classes(np.array([10, 9, 10])).names == ["9", "10"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array(["a"], object), True),
        (np.array([True]), True),
        (np.arange(10), True),
        (np.arange(11), False),
        (np.array([1.5]), False),
        (np.array([1.5, None], object), False),
        (np.array([None], object), True),
    ],
)
def test_which_fields_name_classes(values: Any, expected: bool) -> None:
    assert is_categorical(values) == expected


def test_numbers_have_a_scale_and_extremes_do_not_take_it(rng: np.random.Generator) -> None:
    values = np.append(rng.uniform(0, 1, 400), [1e6, np.nan])
    made = Map([Group("a", range(402), rng.normal(size=(402, 2)), fields={"v": values})])
    figure = draw_map(made, color="v", labels=0)
    low, high = figure.axes[1].get_ylim()
    assert high < 2.0
    assert low >= 0.0


def test_odd_names_are_written_plainly(rng: np.random.Generator) -> None:
    odd = ["$x_1", "a $ b $ c", "two\nlines\there", "\x00\x07", "漢字", "_hidden", "x" * 200, r"\frac{", "%s"]
    made = Map(
        [Group("$k$", odd, rng.normal(size=(len(odd), 2)), fields={"_f$": odd, "degree": np.ones(len(odd))})],
        model="$m$",
    )
    figure = draw_map(made, color="_f$", title="$t")
    with quiet_glyphs():
        figure.canvas.draw()
    texts = written(figure)
    assert {"$x_1", "a $ b $ c", "two lines here", "_hidden", "x" * 25 + "…", "$t"} <= set(texts)


def test_saving_odd_names_is_silent(tmp_path: Path, rng: np.random.Generator) -> None:
    made = Map([Group("a", ["漢字", "$x"], rng.normal(size=(2, 2)))])
    save_picture(made, tmp_path / "a.png")


@pytest.mark.parametrize(
    ("value", "expected"), [("a" * 26, "a" * 26), ("a" * 27, "a" * 25 + "…"), (" a\n b ", "a b"), (3, "3")]
)
def test_plain_text(value: object, expected: str) -> None:
    assert plain_text(value) == expected


def test_labels_are_shared_between_kinds() -> None:
    words = Group("word", [f"w{'x' * i}" for i in range(90)], np.zeros((90, 2)))
    codes = Group("code", range(1000), np.zeros((1000, 2)))
    tags = Group("tag", ["a", "b", "c"], np.zeros((3, 2)))
    assert label_counts(None, [words, codes]) == {"word": 36, "code": 4}
    assert label_counts(40, [words, tags]) == {"word": 37, "tag": 3}
    assert label_counts(40, [codes]) == {"code": 40}
    assert label_counts(0, [words, tags]) == {"word": 0, "tag": 0}
    assert label_counts({"tag": 2}, [words, tags]) == {"word": 0, "tag": 2}
    with pytest.raises(UnknownNameError, match=r"no kind 'tga' in the picture. Did you mean 'tag'"):
        label_counts({"tga": 2}, [words, tags])
    for wrong in (-1, 1.5, "many", True):
        with pytest.raises(ParameterError, match="give a number of labels"):
            label_counts(wrong, [words])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="room for 500"):
        label_counts(501, [codes])


def test_the_most_important_are_named_first_and_all_regions_have_a_turn(rng: np.random.Generator) -> None:
    points = np.vstack([rng.uniform(0, 0.1, size=(50, 2)), rng.uniform(0.9, 1.0, size=(50, 2))])
    weight = np.arange(100.0)[::-1]
    chosen = choose_labels(points, weight, np.ones(100, bool), 4)
    assert chosen.tolist()[:2] == [0, 1]
    assert (chosen >= 50).sum() == 2
    inside = np.arange(100) > 97
    assert choose_labels(points, weight, inside, 10).tolist() == [98, 99]
    assert choose_labels(points, weight, np.zeros(100, bool), 10).size == 0


def test_the_names_written_are_those_of_largest_degree(rng: np.random.Generator) -> None:
    made = two_kinds(rng, 5, 400)
    shown = {text.get_text() for text in names_in(draw_map(made, labels={"word": 10}))}
    ids = made.group("word").ids
    by_degree = {plain_text(name) for name in ids[-150:]}
    assert len(shown) == 10
    assert shown <= by_degree


def test_outliers_do_not_squeeze_the_rest(rng: np.random.Generator) -> None:
    points = np.vstack([rng.normal(size=(1000, 2)), [[1e6, 0.0], [0.0, -1e5]]])
    made = Map([Group("a", range(1002), points)])
    axes = draw_map(made, labels=0)
    assert axes.axes[0].get_xlim()[1] < 20
    outside = int(((np.abs(points) > 1e4).any(axis=1)).sum())
    note = next(text for text in written(axes) if "outside the frame" in text)
    assert int(note.split()[0]) >= outside
    full = draw_map(made, labels=0, full=True)
    assert full.axes[0].get_xlim()[1] > 1e6
    assert not any("outside" in text for text in written(full))


def test_limits_count_all_points_unless_some_are_far_out() -> None:
    even = np.linspace(0, 1, 101)[:, None] * [1.0, 2.0]
    np.testing.assert_allclose(framing.limits(even, full=False), [[-0.06, -0.12], [1.06, 2.12]])
    one = np.array([[3.0, 4.0]])
    low, high = framing.limits(one, full=False)
    assert (low < one).all()
    assert (high > one).all()


def test_equal_steps_have_equal_length(rng: np.random.Generator) -> None:
    made = Map([Group("a", range(50), rng.normal(size=(50, 2)) * [10.0, 1.0])])
    figure = draw_map(made, size=(11.0, 5.0))
    figure.draw_without_rendering()
    axes = figure.axes[0]
    here = axes.transData.transform([(0, 0), (1, 0), (0, 1)])
    assert here[1, 0] - here[0, 0] == pytest.approx(here[2, 1] - here[0, 1], rel=1e-6)


@pytest.mark.parametrize(
    ("method", "axes", "expected"),
    [
        ("axes", (3, 1), {"axis 4 of 6", "axis 2 of 6"}),
        ("pca", (0, 1), {"first principal axis", "second principal axis"}),
        ("tsne", (0, 1), set()),
    ],
)
def test_a_picture_says_what_it_shows(
    method: str, axes: tuple[int, int], expected: set[str], rng: np.random.Generator
) -> None:
    made = two_kinds(rng, 30, 20, dimensions=6).layout(method, axes)
    texts = written(draw_map(made))
    assert expected <= set(texts)
    assert "doc and word" in texts
    assert "Test · doc 30 · word 20" in texts
    foot = " ".join(texts)
    if method == "pca":
        assert f"PCA layout, {100 * made.drawn_by['variance_shown']:.0f} % of variance" in foot
    if method == "tsne":
        assert "t-SNE layout" in foot


def test_maps_of_one_dimension_or_one_point_are_drawn() -> None:
    assert "axis 1 of 1" in written(draw_map(Map([Group("a", range(4), np.arange(4.0)[:, None])])))
    assert isinstance(draw_map(Map([Group("a", ["x"], [[1.0, 1.0]])])), Figure)
    own = Map([Group("a", ["x"], [[1.0, 1.0]], layout=[[0.0, 0.0]])])
    assert "layout as given" in written(draw_map(own, labels=0))


def test_wrong_options_are_refused(rng: np.random.Generator) -> None:
    made = two_kinds(rng)
    with pytest.raises(
        UnknownNameError, match=r"no field 'clas' in the kinds of the picture. Did you mean 'class'"
    ):
        draw_map(made, color="clas")
    with pytest.raises(UnknownNameError, match="no field 'class'"):
        draw_map(made, color="class", kinds=["word"])
    with pytest.raises(UnknownNameError, match="no kind 'wrod'"):
        draw_map(made, kinds="wrod")
    with pytest.raises(ParameterError, match="name at least one kind"):
        draw_map(made, kinds=[])
    with pytest.raises(ParameterError, match="width and height in inches"):
        draw_map(made, size=(1.0, 1.0))
    with pytest.raises(ParameterError, match="have no points"):
        draw_map(Map([Group("a", [], np.empty((0, 2)))]))


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "PNG"])
@pytest.mark.parametrize("options", [{}, {"color": "class", "dark": True}, {"color": "year"}])
def test_the_same_map_gives_the_same_bytes(
    tmp_path: Path, ending: str, options: dict[str, Any], rng: np.random.Generator
) -> None:
    made = two_kinds(rng)
    one = save_picture(made, tmp_path / f"a.{ending}", **options)
    again = save_picture(draw_map(made, **options), tmp_path / "new" / f"b.{ending}")
    assert one.read_bytes() == again.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"a.{ending}", "new"]


def test_pictures_have_the_size_asked_for(tmp_path: Path, rng: np.random.Generator) -> None:
    path = save_picture(two_kinds(rng), tmp_path / "a.png", size=(8.0, 6.0), dpi=50)
    assert imread(path).shape[:2] == (300, 400)


def test_dense_clouds_are_images_inside_an_svg(tmp_path: Path, rng: np.random.Generator) -> None:
    few = save_picture(two_kinds(rng), tmp_path / "few.svg")
    many = save_picture(two_kinds(rng, 20_000, 3_000), tmp_path / "many.svg")
    images = [len(list(ElementTree.parse(p).iter("{http://www.w3.org/2000/svg}image"))) for p in (few, many)]
    assert images[0] == 0
    assert images[1] >= 1
    assert many.stat().st_size < 3_000_000


def test_other_endings_are_refused(tmp_path: Path, rng: np.random.Generator) -> None:
    made = two_kinds(rng)
    for name in ("a.jpg", "a"):
        with pytest.raises(ParameterError, match=r"can be \.png, \.svg, \.pdf"):
            save_picture(made, tmp_path / name)
    with pytest.raises(ParameterError, match="title: the figure is drawn already"):
        save_picture(draw_map(made), tmp_path / "a.png", title="x")
    (tmp_path / "d.png").mkdir()
    with pytest.raises(StorageError, match="it is a directory"):
        save_picture(made, tmp_path / "d.png")
    assert [p.name for p in tmp_path.iterdir()] == ["d.png"]


def test_few_names_may_be_longer() -> None:
    name = "the quick brown fox jumps over it"
    ids = [f"{letter} {name}" for letter in "abcdefghijklmnop"]
    across = np.column_stack([np.zeros(16), np.linspace(0.0, 10.0, 16)])
    many = Map([Group("a", ids, across)])
    few = Map([Group("a", ids[:3], across[[0, 8, 15]])])
    assert {len(text.get_text()) for text in names_in(draw_map(many, labels=16))} <= {25, 26}
    assert {text.get_text() for text in names_in(draw_map(few))} <= set(ids)
    assert names_in(draw_map(few))
    assert {text.get_text() for text in names_in(draw_map(few, longest=6))} <= {"a the…", "b the…", "c the…"}
    assert {text.get_text() for text in names_in(draw_map(many, labels=16, longest=60))} <= set(ids)
    for wrong in (0, -3, 2.5, "9", True):
        with pytest.raises(ParameterError, match=r"longest=.*give a number of letters, 1 or more"):
            draw_map(few, longest=wrong)  # type: ignore[arg-type]


def test_the_foot_counts_in_english() -> None:
    made = Map([Group("a", ["x", "y"], [[1.0, 1.0], [2.0, 3.0]])])
    assert any(text.startswith("1 name written") for text in written(draw_map(made, labels=1)))
    assert any(text.startswith("every name written") for text in written(draw_map(made)))


def test_kinds_are_listed_in_english() -> None:
    kinds = [Group(kind, ["x"], [[1.0, k]]) for k, kind in enumerate(("guest", "dish", "cook"))]
    assert "guest and dish" in written(draw_map(Map(kinds[:2])))
    assert "guest, dish and cook" in written(draw_map(Map(kinds)))


def test_new_things_are_named_first(rng: np.random.Generator) -> None:
    made = two_kinds(rng, 60, 300)
    words = made.group("word")
    placed = np.arange(300) < 5
    for degree in (np.where(placed, np.nan, 1.0), np.where(placed, None, 1.0).astype(object)):
        grown = Group("word", words.ids, words.coordinates, fields={"degree": degree, "placed": placed})
        figure = draw_map(Map([made.group("doc"), grown]), labels={"word": 5})
        assert {text.get_text() for text in names_in(figure)} == {plain_text(name) for name in words.ids[:5]}
        assert any("chosen by degree, new things first" in text for text in written(figure))
    together = np.zeros((20, 2))
    weight = np.r_[np.full(10, np.inf), np.arange(10.0)]
    assert choose_labels(together, weight, np.ones(20, bool), 10).tolist() == list(range(10))


def test_axes_tell_their_share_of_the_inertia(rng: np.random.Generator) -> None:
    made = two_kinds(rng, 30, 20, dimensions=3)
    made.provenance["axis_inertia"] = [0.5, 0.25, 0.1234]
    assert {"axis 3 of 3 (12.3 %)", "axis 1 of 3 (50.0 %)"} <= set(
        written(draw_map(made.layout("axes", (2, 0))))
    )
    assert "first principal axis" in written(draw_map(made.layout("pca")))
    moved = made.align(to=two_kinds(rng, 30, 20, dimensions=3).select("word", []))
    assert not any("%)" in text for text in written(draw_map(moved.layout("axes"))))


def test_the_legend_is_as_wide_as_it_needs(rng: np.random.Generator) -> None:
    values = np.array(["a class with a name that has some forty letters", "b"], object)[np.arange(60) % 2]
    made = Map([Group("a", range(60), rng.normal(size=(60, 2)), fields={"c": values})])
    ends = []
    for color in (None, "c"):
        figure = draw_map(made, color=color, labels=0)
        figure.draw_without_rendering()
        frame = figure.axes[0].get_window_extent()
        boxes = [block.get_window_extent() for block in figure.legends]
        assert all(frame.x1 < box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
        assert figure.bbox.x1 - max(box.x1 for box in boxes) < 0.4 * figure.dpi
        ends.append(frame.x1)
    assert ends[0] > ends[1] + 0.5 * figure.dpi
    assert "a class with a name that\nhas some forty letters (30)" in written(figure)


def test_long_names_have_two_lines_where_there_is_room(rng: np.random.Generator) -> None:
    names = [f"{letter} name of a class that is rather long" for letter in "abcdefghijklmnopqrst"]
    values = np.array(names, object)[np.arange(100) % 20]
    made = Map([Group("a", range(100), rng.normal(size=(100, 2)), fields={"c": values})])
    assert "a name of a class that is\nrather long (5)" in written(draw_map(made, color="c", size=(10, 12)))
    assert "a name of a class that is… (5)" in written(draw_map(made, color="c"))
    for size in ((10, 12), (10, 7)):
        figure = draw_map(made, color="c", size=size, labels=0)
        figure.draw_without_rendering()
        assert min(block.get_window_extent().y0 for block in figure.legends) > 0


def test_fields_of_names_give_no_colours(rng: np.random.Generator) -> None:
    fields = {"title": [f"t{i}" for i in range(60)], "topic": ["a", "b", "c"] * 20, "n": rng.normal(size=60)}
    points = rng.normal(size=(60, 2))
    with pytest.raises(
        ParameterError, match=r"color='title': more than half .* with classes, such as 'topic'"
    ):
        draw_map(Map([Group("a", range(60), points, fields=fields)]), color="title")
    with pytest.raises(ParameterError, match="or leave color out"):
        draw_map(Map([Group("a", range(60), points, fields={"title": fields["title"]})]), color="title")
    few = {"title": [f"t{i}" for i in range(20)]}
    assert draw_map(Map([Group("a", range(20), points[:20], fields=few)]), color="title", labels=0)
    pairs = {"pair": [f"t{i // 2}" for i in range(60)]}
    assert draw_map(Map([Group("a", range(60), points, fields=pairs)]), color="pair", labels=0)


def test_the_foot_counts_names_without_room(rng: np.random.Generator) -> None:
    figure = draw_map(two_kinds(rng, 600, 600), labels=300)
    shown = len(names_in(figure))
    assert 0 < shown < 300
    assert any(f"{shown} names written, no room for {300 - shown} more" in text for text in written(figure))


def test_a_field_without_things_is_drawn(rng: np.random.Generator) -> None:
    empty = Group("b", [], np.empty((0, 2)), fields={"c": np.array([], object)})
    made = Map([Group("a", range(5), rng.normal(size=(5, 2))), empty])
    assert {"a (5)", "b (0)", "c"} <= set(written(draw_map(made, color="c")))


def lab(color: str) -> Any:
    """Give the CIE L*a*b* coordinates of a colour under daylight (D65)."""
    rgb = np.array(matplotlib.colors.to_rgb(color))
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    weights = [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
    x, y, z = np.cbrt(np.array(weights) @ linear / [0.9505, 1.0, 1.0888])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_no_two_class_colours_are_near_twins() -> None:
    points = np.array([lab(color) for color in (*CLASS_COLORS, LIGHT.other)])
    apart = np.linalg.norm(points[:, None] - points, axis=2) + np.diag(np.full(len(points), np.inf))
    assert len(CLASS_COLORS) == 20
    assert apart.min() > 24
    assert apart[:10, :10].min() > 30


def test_leaders_are_long_enough_to_see_and_cross_no_name(rng: np.random.Generator) -> None:
    figure = draw_map(two_kinds(rng, 200, 200), labels=200)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    leaders = [axes.transData.transform(line.get_xydata()) for line in axes.lines if line.get_zorder() == 5]
    boxes = [text.get_window_extent() for text in names_in(figure)]
    assert leaders
    for ends in leaders:
        assert np.linalg.norm(ends[1] - ends[0]) > 6
        steps = ends[0] + np.linspace(0.1, 1, 50)[:, None] * (ends[1] - ends[0])
        through = [box for box in boxes if any(box.padded(-2).contains(*step) for step in steps)]
        assert not through


def test_few_colours_make_a_small_file(tmp_path: Path, rng: np.random.Generator) -> None:
    made = Map([Group("a", [f"p{i}" for i in range(20)], rng.normal(size=(20, 2)))])
    many = save_picture(made, tmp_path / "many.png", dpi=60)
    few = save_picture(made, tmp_path / "few.png", dpi=60, colors=16)
    assert few.stat().st_size < many.stat().st_size
    with pytest.raises(ParameterError, match=r"colors=16: only a PNG"):
        save_picture(made, tmp_path / "p.svg", colors=16)
    with pytest.raises(ParameterError, match=r"colors=1: give a number"):
        save_picture(made, tmp_path / "p.png", colors=1)
