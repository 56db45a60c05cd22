from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from relscape.data import Relation
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.maps import Group, Map
from relscape.maps.group import field_columns


def random_map(rng: np.random.Generator, dimensions: int = 3) -> Map:
    docs = Group("doc", [f"d{i}" for i in range(30)], rng.normal(size=(30, dimensions)))
    words = Group(
        "word",
        [f"w{i}" for i in range(20)],
        rng.normal(size=(20, dimensions)),
        [f"Word {i}" for i in range(20)],
    )
    return Map([docs, words], model="Test")


def test_neighbours_against_brute_force(rng: np.random.Generator) -> None:
    made = random_map(rng)
    everything = [
        (kind, name, made.coordinates(kind)[i])
        for kind in made.groups
        for i, name in enumerate(made.group(kind).ids)
    ]
    for kind, name, point in everything[::7]:
        for among in (None, "doc", ["word"], ["word", "doc", "word"]):
            kinds = made.groups if among is None else [among] if isinstance(among, str) else among
            slow = sorted(
                (float(np.sqrt(((other - point) ** 2).sum())), k, i)
                for k, i, other in everything
                if k in kinds and (k, i) != (kind, name)
            )
            found = made.neighbors((kind, name), among, k=12)
            assert [(n.kind, n.id) for n in found] == [(k, i) for _, k, i in slow[:12]]
            np.testing.assert_allclose([n.distance for n in found], [d for d, _, _ in slow[:12]], rtol=1e-12)


def test_neighbours_leave_out_the_thing_itself_even_among_twins() -> None:
    made = Map([Group("a", list("pqrs"), np.zeros((4, 2)))])
    for name in "pqrs":
        found = made.neighbors(f"a:{name}", k=2)
        assert len(found) == 2
        assert name not in [n.id for n in found]
    assert len(made.neighbors("a:p", k=100)) == 3


def test_a_free_point_has_neighbours_too(rng: np.random.Generator) -> None:
    made = random_map(rng)
    nearest = made.nearest(made.coordinates("word")[3] + 1e-9, k=1)[0]
    assert (nearest.kind, nearest.id, nearest.label) == ("word", "w3", "Word 3")
    for wrong in ([1.0, 2.0], [np.nan, 0.0, 0.0]):
        with pytest.raises(ParameterError, match="3 finite coordinates"):
            made.nearest(wrong)
    for k in (0, -1):
        with pytest.raises(ParameterError, match="at least one neighbour"):
            made.nearest([0.0, 0.0, 0.0], k=k)
        with pytest.raises(ParameterError, match="at least one neighbour"):
            made.neighbors("doc:d1", k=k)
    with pytest.raises(UnknownNameError, match="no kind 'wrod'"):
        made.neighbors("doc:d1", among="wrod")


def test_queries_are_split_at_the_first_colon() -> None:
    made = Map([Group("url", ["http://a:80/x", "b"], np.eye(2)), Group("a:b", ["c"], np.ones((1, 2)))])
    assert made.locate("url:http://a:80/x") == ("url", 0)
    assert made.locate(("url", "b")) == ("url", 1)
    assert made.locate(("a:b", "c")) == ("a:b", 0)
    with pytest.raises(ParameterError, match="has no kind: write kind:id, for example url:b"):
        made.locate("b")
    with pytest.raises(ParameterError, match="is not a pair"):
        made.locate(("url", "b", "c"))  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"no kind 'ulr' in this map. Did you mean 'url'"):
        made.locate("ulr:b")


def test_labels_are_understood_unless_they_are_ambiguous() -> None:
    made = Map([Group("e", ["m1", "m2", "m3"], np.eye(3), ["Paris", "Lyon", "Paris"])])
    assert made.locate("e:Lyon") == ("e", 1)
    with pytest.raises(
        ParameterError, match="2 things of kind 'e' are labelled 'Paris'; say which: 'm1', 'm3'"
    ):
        made.locate("e:Paris")
    with pytest.raises(UnknownNameError, match="Did you mean 'Lyon'"):
        made.locate("e:Lyonn")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coordinates": [1.0, 2.0]}, "two-dimensional array of real numbers"),
        ({"coordinates": [["a"], ["b"]]}, "two-dimensional array of real numbers"),
        ({"coordinates": np.empty((2, 0))}, "two-dimensional array of real numbers"),
        ({"coordinates": [[1.0]]}, "2 ids but 1 rows of coordinates"),
        ({"coordinates": [[1.0], [np.nan]]}, "the coordinates of 'q' are not finite"),
        ({"labels": ["P"]}, "2 ids but 1 labels"),
        ({"layout": [[1.0, 2.0]]}, "2 ids but 1 rows of layout"),
        ({"layout": [[1.0], [2.0]]}, "a layout has two columns"),
        ({"coordinates": [[1.0], [-1e200]]}, "the coordinates of 'q' are .* so large"),
        ({"layout": [[1.0, np.inf], [0, 0]]}, "the layout of 'p' are not finite"),
        ({"fields": {"f": [1]}}, "2 ids but 1 rows of field 'f'"),
        ({"ids": ["p", "p"]}, "1 ids repeat"),
    ],
)
def test_a_group_checks_what_it_is_given(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Group(**{"kind": "k", "ids": ["p", "q"], "coordinates": [[1.0], [2.0]], **options})


def test_a_map_checks_what_it_is_given() -> None:
    two, three = Group("a", ["1"], [[1, 2]]), Group("b", ["1"], [[1, 2, 3]])
    with pytest.raises(DataError, match=r"have \[2, 3\] dimensions"):
        Map([two, three])
    with pytest.raises(DataError, match="at least one kind"):
        Map([])
    with pytest.raises(DataError, match="the group 'a' is given twice"):
        Map([two, two])
    relation = Relation("r", "a", "a", csr_array([[1]]))
    with pytest.raises(DataError, match="the relation 'r' is given twice"):
        Map([two], relations=[relation, relation])
    with pytest.raises(DataError, match="relation 'r' has 2 entries for kind 'a', the map has 1 points"):
        Map([two], relations=[Relation("r", "a", "a", csr_array(np.eye(2)))])
    with pytest.raises(UnknownNameError, match="no kind 'c'"):
        Map([two], relations=[Relation("r", "a", "c", csr_array([[1]]))])


def test_what_is_on_a_map(rng: np.random.Generator) -> None:
    made = random_map(rng)
    assert made.groups == ("doc", "word")
    assert len(made) == 50
    assert repr(made) == "<Map: 30 × doc, 20 × word in 3 dimensions, by Test>"
    assert made.coordinates("doc").shape == (30, 3)
    np.testing.assert_array_equal(made.group("doc").drawn, made.coordinates("doc")[:, :2])
    with pytest.raises(DataError, match="has no layout yet"):
        _ = Group("a", ["1"], [[1.0]]).drawn


def test_a_layout_leaves_the_map_itself_alone(rng: np.random.Generator) -> None:
    made = random_map(rng)
    drawn = made.layout("axes", (2, 1))
    np.testing.assert_array_equal(drawn.group("word").drawn, made.coordinates("word")[:, [2, 1]])
    assert drawn.drawn_by == {"method": "axes", "axes": [2, 1]}
    assert made.drawn_by == {"method": "axes", "axes": [0, 1]}
    assert drawn.neighbors("doc:d1") == made.neighbors("doc:d1")


def test_new_points_take_relations_and_layout_with_them(rng: np.random.Generator) -> None:
    old = Map(
        [Group("a", ["x", "y"], rng.normal(size=(2, 3))), Group("b", ["z"], rng.normal(size=(1, 3)))],
        relations=[
            Relation("r", "a", "b", csr_array([[1.0], [2.0]])),
            Relation("s", "b", "b", csr_array([[3.0]])),
        ],
    ).layout("axes", (1, 2))
    more = Group("a", ["y", "new", "x"], rng.normal(size=(3, 3)))
    new = old.with_groups([more, old.group("b")])
    assert new.relations["r"].matrix.toarray().tolist() == [[2.0], [0.0], [1.0]]
    assert new.relations["s"].matrix.toarray().tolist() == [[3.0]]
    np.testing.assert_array_equal(new.group("a").drawn, more.coordinates[:, [1, 2]])
    assert set(old.with_groups([more]).relations) == set()
    assert old.relations["r"].matrix.shape == (2, 1)


def test_field_names_never_meet_columns_of_the_map() -> None:
    names = ["id", "label", "kind", "z0", "z7", "x", "y", "field_id", "field_field_id", "year"]
    group = Group("a", ["1"], [[1.0, 2.0]], fields={name: [name] for name in names})
    columns = field_columns(group)
    assert len(set(columns.values())) == len(names)
    assert columns["year"] == "year"
    assert columns["z7"] == "z7"
    assert columns["field_id"] == "field_id"
    table = Map([group]).to_frame()
    for name, column in columns.items():
        assert table.column(column).to_pylist() == [name]
    assert table.column("id").to_pylist() == ["1"]


def test_to_frame_stacks_all_kinds(rng: np.random.Generator) -> None:
    made = Map(
        [
            Group("doc", ["d"], [[1.0, 2.0]], fields={"class": ["news"], "n": [3], "mixed": ["a"]}),
            Group("word", ["w"], [[3.0, 4.0]], ["W"], fields={"class": [None], "m": [2.5], "mixed": [1]}),
        ]
    )
    table = made.to_frame()
    frame = table.to_pandas()
    assert frame["kind"].tolist() == ["doc", "word"]
    assert frame["label"].tolist() == ["d", "W"]
    assert frame[["z0", "z1"]].to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert table.column("class").to_pylist() == ["news", None]
    assert table.column("n").to_pylist() == [3, None]
    assert table.column("m").to_pylist() == [None, 2.5]
    assert table.column("mixed").to_pylist() == ["a", "1"]
    assert pl.from_arrow(table).shape == frame.shape
    assert isinstance(frame, pd.DataFrame)


@pytest.mark.parametrize("single", [False, True])
def test_many_questions_have_the_answers_of_one_each(single: bool, rng: np.random.Generator) -> None:
    """Also among twins, with empty kinds, and with far more neighbours than things."""
    grid = rng.integers(0, 4, size=(400, 3)).astype(np.float32 if single else np.float64)
    made = Map(
        [
            Group("a", range(300), grid[:300]),
            Group("none", [], np.empty((0, 3))),
            Group("b", range(100), grid[300:]),
        ]
    )
    queries: list[Any] = [("a", str(i)) for i in range(0, 300, 23)] + ["b:7", "b:99"]
    for among in (None, "b", ["b", "a"], "none"):
        for k in (1, 9, 1000):
            found = made.neighbors_of(queries, among, k)
            assert found == [made.neighbors(query, among, k) for query in queries]
    assert made.neighbors_of([]) == []
    with pytest.raises(UnknownNameError):
        made.neighbors_of(["a:1", "a:ghost"])
    with pytest.raises(ParameterError, match="whole number"):
        made.neighbors_of(["a:1"], k=0)


def test_equal_distances_are_ordered_by_position(rng: np.random.Generator) -> None:
    points = rng.integers(0, 3, size=(200, 2)).astype(float)
    made = Map([Group("a", range(200), points)])
    for k in (1, 7, 60, 200, 500):
        slow = sorted(range(200), key=lambda i: (float((points[i] ** 2).sum()), i))[:k]
        assert [int(n.id) for n in made.nearest([0.0, 0.0], k=k)] == slow


def test_wrong_questions_are_refused_in_words(rng: np.random.Generator) -> None:
    made = random_map(rng)
    for k in (2.5, "3", None, True, 0):
        with pytest.raises(ParameterError, match=r"k=.*at least one neighbour, by a whole number"):
            made.neighbors("doc:d1", k=k)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match=r"k=.*at least one neighbour, by a whole number"):
            made.nearest([0.0, 0.0, 0.0], k=k)  # type: ignore[arg-type]
    for query in (5, None, ("doc",), ["doc", "d1", "d2"]):
        with pytest.raises(ParameterError, match="is not a pair"):
            made.neighbors(query)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="3 finite coordinates"):
        made.nearest("abc")
    with pytest.raises(ParameterError, match="among=5: give the name of a kind"):
        made.nearest([0.0, 0.0, 0.0], among=5)  # type: ignore[arg-type]
    assert len(made.neighbors("doc:d1", k=np.int64(3))) == 3  # type: ignore[arg-type]


def test_positions_of_ids_are_laid_out_once(rng: np.random.Generator) -> None:
    group = random_map(rng).group("doc")
    assert group.places is group.places
    assert group.places["d7"] == 7
    assert group.select([3, 1]).places == {"d3": 0, "d1": 1}


def test_relations_given_later_are_checked_as_well(rng: np.random.Generator) -> None:
    made = random_map(rng)
    fits = Relation("r", "doc", "word", csr_array(np.ones((30, 20))))
    assert list(made.with_relations([fits]).relations) == ["r"]
    assert made.with_relations([fits]).with_relations([]).relations == {}
    with pytest.raises(DataError, match="has 3 entries for kind 'doc', the map has 30 points"):
        made.with_relations([Relation("r", "doc", "doc", csr_array(np.eye(3)))])
    with pytest.raises(UnknownNameError, match="no kind 'author'"):
        made.with_relations([Relation("r", "author", "doc", csr_array(np.ones((1, 30))))])
    with pytest.raises(DataError, match="the relation 'r' is given twice"):
        made.with_relations([fits, fits])


def test_a_part_of_a_kind_takes_everything_with_it(rng: np.random.Generator) -> None:
    weights = rng.integers(0, 3, size=(6, 4)).astype(float)
    among = rng.integers(0, 3, size=(6, 6)).astype(float)
    made = Map(
        [
            Group("a", list("pqrstu"), rng.normal(size=(6, 3)), list("PQRSTU"), fields={"n": np.arange(6)}),
            Group("b", range(4), rng.normal(size=(4, 3))),
        ],
        relations=[
            Relation("r", "a", "b", csr_array(weights)),
            Relation("s", "a", "a", csr_array(among)),
        ],
    ).layout("pca")
    mask = np.array([True, False, True, True, False, False])
    for keep in (mask, mask.tolist(), [0, 2, 3], np.array([3, 0, 2]), [-1, 1]):
        at = np.arange(6)[keep]
        part = made.select("a", keep)
        group, whole = part.group("a"), made.group("a")
        assert group.ids.tolist() == whole.ids[at].tolist()
        assert group.shown.tolist() == whole.shown[at].tolist()
        assert group.fields["n"].tolist() == at.tolist()
        np.testing.assert_array_equal(group.coordinates, whole.coordinates[at])
        np.testing.assert_array_equal(group.drawn, whole.drawn[at])
        np.testing.assert_array_equal(part.relations["r"].matrix.toarray(), weights[at])
        np.testing.assert_array_equal(part.relations["s"].matrix.toarray(), among[np.ix_(at, at)])
        assert part.drawn_by == made.drawn_by
        assert len(part.group("b")) == 4
    assert len(made.select("a", []).group("a")) == 0
    for wrong in ([True, False], [0, 6], [-7], [0.5], "a", [[0]], 1):
        with pytest.raises(
            ParameterError, match="keep is a mask of 6 True or False, or positions among the 6"
        ):
            made.select("a", wrong)
    with pytest.raises(DataError, match="repeat"):
        made.select("a", [1, 1])
    with pytest.raises(UnknownNameError):
        made.select("c", [0])


def test_one_dimension_is_one() -> None:
    assert repr(Map([Group("a", ["p"], [[1.0]])])) == "<Map: 1 × a in 1 dimension, by hand>"


def test_kinds_with_colons_are_asked_for_by_text() -> None:
    made = Map([Group(kind, ["x", "b:x"], np.eye(2)) for kind in ("go:term", "go:term:part", "gene")])
    assert made.locate("go:term:x") == ("go:term", 0)
    assert made.locate("go:term:b:x") == ("go:term", 1)
    assert made.locate("go:term:part:x") == ("go:term:part", 0)
    assert made.locate("gene:b:x") == ("gene", 1)
    with pytest.raises(UnknownNameError, match="no kind 'other'"):
        made.locate("other:x")
    both = Map([Group("a", ["b:x"], np.eye(1)), Group("a:b", ["x"], np.eye(1))])
    assert both.locate("a:b:x") == ("a", 0)  # as it was before: split at the first colon


@pytest.mark.parametrize("size", [1e-200, 1e-320, 1e-120])
def test_points_that_lie_very_near_each_other_are_told_apart(size: float) -> None:
    made = Map([Group("a", ["p", "q", "r"], np.array([[0.0], [3.0], [1.0]]) * size)])
    for found in (made.neighbors("a:p"), made.neighbors_of(["a:p"])[0]):
        assert [(n.id, n.distance) for n in found] == [("r", 1.0 * size), ("q", 3.0 * size)]
