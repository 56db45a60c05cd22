from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors import SafetensorError
from scipy.sparse import csr_array, random_array

from relscape.data import Relation
from relscape.errors import DataError, FormatError, ParameterError, StorageError
from relscape.maps import Group, Map, weighing
from relscape.maps import state as state_module
from relscape.maps import store as store_module
from relscape.maps.state import ModelState, read_arrays, write_arrays

FIELDS: dict[str, Any] = {
    "text": ["a", "ü 漢字 😀", ""],
    "text or none": ["a", None, "c"],
    "nothing": [None, None, None],
    "int": np.array([1, -2, 2**62]),
    "small": np.array([1, 2, 3], dtype=np.uint8),
    "float": np.array([1.5, np.nan, np.inf]),
    "single": np.array([1.5, 2.5, 0.1], dtype=np.float32),
    "bool": np.array([True, False, True]),
    "bool or none": [True, None, False],
    "day": np.array(["2024-01-01", "NaT", "1969-12-31"], dtype="datetime64[D]"),
    **{name: [name, "x", "y"] for name in ("id", "label", "kind", "z0", "x", "y", "field_id", "")},
}


def full_map() -> Map:
    rng = np.random.default_rng(0)
    docs = Group("doc", ["a", "b:c", "ü\n😀"], rng.normal(size=(3, 4)), ["A", "B", "C"], None, FIELDS)
    words = Group("wörd/..", ["x", "y"], rng.normal(size=(2, 4)).astype(np.float32))
    return Map(
        [docs, words],
        model="Test",
        parameters={"alpha": np.float64(0.5), "axes": (1, 2), "name": None, "list": np.arange(3)},
        scores={"gamma": 0.25},
        provenance={"fingerprint": "ff", "packages": {"numpy": "2"}},
        relations=[
            Relation("counts", "doc", "wörd/..", csr_array([[1.0, 0], [0, 2.5], [0, 0]])),
            Relation(
                "like/../x", "doc", "doc", csr_array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]), directed=False
            ),
        ],
        arrays={"prototypes": np.eye(2, dtype=np.float32), "scalar": np.array(3.5), "none": np.zeros((0, 2))},
        model_state=ModelState(
            "Test",
            {"k": 2},
            {"done": True},
            {"v": np.arange(4.0)},
            {"names": np.array(["a", "ü", ""], object)},
        ),
    ).layout("pca")


def assert_same(one: Map, other: Map) -> None:
    assert one.groups == other.groups
    for kind in one.groups:
        a, b = one.group(kind), other.group(kind)
        assert a.ids.tolist() == b.ids.tolist()
        assert (a.labels is None) == (b.labels is None)
        assert a.shown.tolist() == b.shown.tolist()
        np.testing.assert_array_equal(a.coordinates, b.coordinates)
        assert a.coordinates.dtype == b.coordinates.dtype
        np.testing.assert_array_equal(a.drawn, b.drawn)
        assert list(a.fields) == list(b.fields)
        for name in a.fields:
            np.testing.assert_array_equal(a.fields[name], b.fields[name])
            assert a.fields[name].dtype.kind == b.fields[name].dtype.kind
    assert one.drawn_by == other.drawn_by
    assert (one.model, one.scores, one.provenance) == (other.model, other.scores, other.provenance)
    assert list(one.relations) == list(other.relations)
    for name, relation in one.relations.items():
        twin = other.relations[name]
        assert (relation.rows, relation.columns, relation.directed) == (
            twin.rows,
            twin.columns,
            twin.directed,
        )
        assert relation.matrix.dtype == twin.matrix.dtype
        np.testing.assert_array_equal(relation.matrix.toarray(), twin.matrix.toarray())
    assert set(one.arrays) == set(other.arrays)
    for name, array in one.arrays.items():
        assert array.shape == other.arrays[name].shape
        assert array.dtype == other.arrays[name].dtype
        np.testing.assert_array_equal(array, other.arrays[name])


def test_everything_comes_back(tmp_path: Path) -> None:
    made = full_map()
    assert made.save(tmp_path / "map") == tmp_path / "map"
    read = Map.load(str(tmp_path / "map"))
    assert_same(made, read)
    assert read.parameters == {"alpha": 0.5, "axes": [1, 2], "name": None, "list": [0, 1, 2]}
    assert read.model_state is not None
    assert (read.model_state.model, read.model_state.parameters) == ("Test", {"k": 2})
    assert read.model_state.values == {"done": True}
    assert read.model_state.arrays["v"].tolist() == [0, 1, 2, 3]
    assert read.model_state.texts["names"].tolist() == ["a", "ü", ""]


def test_field_types_come_back(tmp_path: Path) -> None:
    read = Map.load(full_map().save(tmp_path / "map")).group("doc").fields
    expected = {"int": "int64", "small": "uint8", "float": "float64", "single": "float32", "bool": "bool"}
    assert {name: str(read[name].dtype) for name in expected} == expected
    assert read["bool or none"].tolist() == [True, None, False]
    assert read["nothing"].tolist() == [None, None, None]


def test_numbers_with_gaps_come_back_as_floats(tmp_path: Path) -> None:
    made = Map([Group("a", ["p", "q"], np.eye(2), fields={"n": [1, None]})])
    np.testing.assert_array_equal(Map.load(made.save(tmp_path / "m")).group("a").fields["n"], [1.0, np.nan])


def test_mixed_fields_come_back_as_text(tmp_path: Path) -> None:
    made = Map([Group("a", ["p", "q", "r"], np.eye(3), fields={"n": [1, "x", None]})])
    assert Map.load(made.save(tmp_path / "m")).group("a").fields["n"].tolist() == ["1", "x", None]


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kinds=st.lists(_texts.filter(bool), min_size=1, max_size=4, unique=True),
    ids=st.lists(_texts, max_size=5, unique=True),
    data=st.data(),
)
def test_any_names_come_back(tmp_path: Path, kinds: list[str], ids: list[str], data: st.DataObject) -> None:
    names = data.draw(st.lists(_texts, max_size=3, unique=True))
    numbers = arrays(np.float64, len(ids), elements=st.floats(allow_nan=False, width=32))
    groups = [
        Group(kind, ids, data.draw(arrays(np.float64, (len(ids), 2), elements=st.floats(-1e6, 1e6))),
              fields={name: data.draw(numbers) for name in names})
        for kind in kinds
    ]  # fmt: skip
    shutil.rmtree(tmp_path / "map", ignore_errors=True)
    made = Map(groups)
    read = Map.load(made.save(tmp_path / "map"))
    assert_same(made, read)
    assert len(list((tmp_path / "map").iterdir())) == len(kinds) + 1


def test_anything_can_read_the_tables(tmp_path: Path) -> None:
    full_map().save(tmp_path / "map")
    table = pq.read_table(tmp_path / "map" / "doc.parquet")
    assert table.column_names[:9] == ["id", "label", "z0", "z1", "z2", "z3", "x", "y", "text"]
    links = pq.read_table(tmp_path / "map" / "relations" / "counts.parquet")
    assert links.to_pylist() == [
        {"from": "a", "to": "x", "weight": 1.0},
        {"from": "b:c", "to": "y", "weight": 2.5},
    ]
    header = json.loads((tmp_path / "map" / "map.json").read_text(encoding="utf-8"))
    assert (header["format"], header["version"]) == ("relscape-map", 1)


def test_a_large_relation_comes_back(tmp_path: Path, rng: np.random.Generator) -> None:
    matrix = random_array((300, 200), density=0.1, rng=rng, dtype=np.float32).tocsr()
    groups = [
        Group("r", range(300), rng.normal(size=(300, 2))),
        Group("c", range(200), rng.normal(size=(200, 2))),
    ]
    made = Map(groups, relations=[Relation("m", "r", "c", matrix)])
    assert_same(made, Map.load(made.save(tmp_path / "map")))


def test_folders_named_like_partitions_do_no_harm(tmp_path: Path) -> None:
    made = Map([Group("a", ["p"], np.eye(1), fields={"year": [1]})])
    assert_same(made, Map.load(made.save(tmp_path / "year=2020" / "kind=b")))


def test_saving_again_replaces_the_map_and_keeps_a_persons_files(tmp_path: Path) -> None:
    full_map().save(tmp_path / "map")
    (tmp_path / "map" / "notes.md").write_text("mine")
    Map([Group("other", ["p"], np.eye(1))]).save(tmp_path / "map")
    assert sorted(p.name for p in (tmp_path / "map").iterdir()) == ["map.json", "notes.md", "other.parquet"]
    assert Map.load(tmp_path / "map").groups == ("other",)
    assert [p.name for p in tmp_path.iterdir()] == ["map"]


def test_a_foreign_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "map.json").write_text("{}")
    with pytest.raises(StorageError, match="holds something else"):
        full_map().save(tmp_path / "src")
    assert (tmp_path / "src" / "map.json").read_text() == "{}"


@pytest.mark.parametrize("broken", ["write_json", "write_arrays", "group_table"])
def test_a_write_that_breaks_leaves_the_earlier_map(
    tmp_path: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = Map([Group("earlier", ["p"], np.eye(1))])
    earlier.save(tmp_path / "map")

    def fail(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store_module, broken, fail)
    with pytest.raises(StorageError, match=r"No space left on device\. Free some space"):
        full_map().save(tmp_path / "map")
    monkeypatch.undo()
    assert_same(Map.load(tmp_path / "map"), earlier)
    assert [p.name for p in tmp_path.iterdir()] == ["map"]


def test_arrays_that_cannot_be_written_are_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device")

    monkeypatch.setattr(state_module, "save_file", full)
    with pytest.raises(StorageError, match=r"cannot write .*a\.safetensors: .*No space left on device"):
        write_arrays(tmp_path / "a.safetensors", {"a": np.ones(10)})


def test_every_file_of_a_map_has_the_usual_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        full_map().save(tmp_path / "map")
    finally:
        os.umask(mask)
    modes = {p.is_dir(): p.stat().st_mode & 0o777 for p in (tmp_path / "map").rglob("*")}
    assert modes == {True: 0o755, False: 0o644}
    assert (tmp_path / "map" / "arrays.safetensors").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"scores": {"gamma": float("nan")}}, r"scores\.gamma"),
        ({"parameters": {"deep": {"f": object()}}}, r"parameters\.deep\.f"),
        ({"provenance": {("a", "b"): 1}}, r"provenance\.a key"),
    ],
)
def test_what_json_cannot_hold_is_named(tmp_path: Path, options: dict[str, Any], where: str) -> None:
    made = Map([Group("a", ["p"], np.eye(1))], **options)
    with pytest.raises(DataError, match=where):
        made.save(tmp_path / "map")
    assert list(tmp_path.iterdir()) == []


def _edit(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        header = json.loads((path / "map.json").read_text(encoding="utf-8"))
        change(header)
        (path / "map.json").write_text(json.dumps(header), encoding="utf-8")

    return apply


def _truncate(name: str) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        content = (path / name).read_bytes()
        (path / name).write_bytes(content[: len(content) // 2])

    return apply


def _retable(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        pq.write_table(change(pq.read_table(path / "doc.parquet")), path / "doc.parquet")

    return apply


DAMAGE = {
    "truncated map.json": _truncate("map.json"),
    "truncated table": _truncate("doc.parquet"),
    "truncated relation": _truncate("relations/counts.parquet"),
    "truncated arrays": _truncate("arrays.safetensors"),
    "truncated model.json": _truncate("model/model.json"),
    "truncated model": _truncate("model/model.safetensors"),
    "lost map.json": lambda path: (path / "map.json").unlink(),
    "lost table": lambda path: (path / "doc.parquet").unlink(),
    "lost relation": lambda path: (path / "relations" / "counts.parquet").unlink(),
    "lost arrays": lambda path: (path / "arrays.safetensors").unlink(),
    "lost model": lambda path: shutil.rmtree(path / "model"),
    "no JSON object": lambda path: (path / "map.json").write_text("[]"),
    "not utf-8": lambda path: (path / "map.json").write_bytes(b"\xff\xfe{"),
    "nested too deep": lambda path: (path / "map.json").write_text("[" * 100_000),
    "other format": _edit(lambda h: h.update(format="x")),
    "newer version": _edit(lambda h: h.update(version=2)),
    "no groups": _edit(lambda h: h.update(groups=[])),
    "groups no list": _edit(lambda h: h.update(groups=3)),
    "no dimensions": _edit(lambda h: h.update(n_components=0)),
    "dimensions as text": _edit(lambda h: h.update(n_components="2")),
    "too many dimensions": _edit(lambda h: h.update(n_components=10**15)),
    "lost key": _edit(lambda h: h.pop("scores")),
    "scores a list": _edit(lambda h: h.update(scores=[1])),
    "model no text": _edit(lambda h: h.update(model=3)),
    "kind no text": _edit(lambda h: h["groups"][0].update(kind=1e308)),
    "size a truth value": _edit(lambda h: h["groups"][0].update(size=True)),
    "entry no table": _edit(lambda h: h["groups"].append("doc")),
    "column no text": _edit(lambda h: h["groups"][0]["fields"].update(text=3)),
    "name of a relation lost": _edit(lambda h: h["relations"][0].update(name=None)),
    "direction no truth value": _edit(lambda h: h["relations"][0].update(directed="yes")),
    "layout nothing": _edit(lambda h: h.update(layout=None)),
    "method no text": _edit(lambda h: h["layout"].update(method=3)),
    "share no number": _edit(lambda h: h["layout"].update(variance_shown="x")),
    **{
        f"axes {axes!r}": _edit(lambda h, axes=axes: h.update(layout={"method": "axes", "axes": axes}))
        for axes in (None, "x", [-1, 0], [], [0, 4], [True, 0])
    },
    "seed no number": _edit(lambda h: h.update(layout={"method": "tsne", "random_state": "x"})),
    "scores not finite": _edit(lambda h: h.update(scores={"gamma": float("nan")})),
    "provenance not finite": _edit(lambda h: h.update(provenance={"a": [float("inf")]})),
    "half a character": _edit(lambda h: h.update(provenance={"a": "\ud800"})),
    "fields a list": _edit(lambda h: h["groups"][0].update(fields=["text"])),
    "unknown field": _edit(lambda h: h["groups"][0]["fields"].update(more="more")),
    "wrong size": _edit(lambda h: h["groups"][0].update(size=4)),
    "upward": _edit(lambda h: h["groups"][0].update(file="../doc.parquet")),
    "upward inside": _edit(lambda h: h["groups"][0].update(file="relations/../../doc.parquet")),
    "absolute": _edit(lambda h: h["groups"][0].update(file="/etc/passwd")),
    "windows path": _edit(lambda h: h["groups"][0].update(file="..\\doc.parquet")),
    "nul in name": _edit(lambda h: h["groups"][0].update(file="a\0b")),
    "arrays outside": _edit(lambda h: h.update(arrays="../arrays.safetensors")),
    "relation outside": _edit(lambda h: h["relations"][0].update(file="../x.parquet")),
    "relation of strangers": _edit(lambda h: h["relations"][0].update(rows="wörd/..")),
    "relation of an unknown kind": _edit(lambda h: h["relations"][0].update(rows="ghost")),
    "ids repeat": _retable(lambda t: t.set_column(0, "id", pa.array(["a", "a", "b"]))),
    "id missing": _retable(lambda t: t.set_column(0, "id", pa.array(["a", None, "b"]))),
    "coordinates as text": _retable(lambda t: t.set_column(2, "z0", pa.array(["a", "b", "c"]))),
    "coordinate missing": _retable(lambda t: t.set_column(2, "z0", pa.array([1.0, None, 2.0]))),
    "layout lost": _retable(lambda t: t.drop_columns(["x"])),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_map_is_refused_by_its_file(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    full_map().save(tmp_path / "map")
    damage(tmp_path / "map")
    with pytest.raises(FormatError) as caught:
        Map.load(tmp_path / "map")
    assert str(tmp_path / "map") in str(caught.value)


def test_a_version_we_do_not_know_is_named(tmp_path: Path) -> None:
    full_map().save(tmp_path / "map")
    _edit(lambda h: h.update(version=9))(tmp_path / "map")
    with pytest.raises(FormatError, match="has format version 9; this relscape reads version 1"):
        Map.load(tmp_path / "map")


def test_no_map_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no map at"):
        Map.load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(FormatError, match="is a file; a map is a directory"):
        Map.load(tmp_path / "file")


def test_arrays_keep_shape_and_type(tmp_path: Path) -> None:
    made = {
        "scalar": np.array(2), "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "bool": np.array([True, False]), "view": np.arange(10)[::3], "empty": np.zeros((0, 3), np.float32),
    }  # fmt: skip
    write_arrays(tmp_path / "a.safetensors", made)
    read = read_arrays(tmp_path / "a.safetensors")
    for name, array in made.items():
        assert read[name].shape == array.shape
        assert read[name].dtype == array.dtype
        np.testing.assert_array_equal(read[name], array)


def _files(path: Path) -> set[str]:
    return {str(p.relative_to(path)) for p in path.rglob("*") if p.is_file()}


def test_a_persons_folders_stay_even_when_named_like_ours(tmp_path: Path) -> None:
    small, target = Map([Group("a", ["p"], np.eye(1))]), tmp_path / "map"
    small.save(target)
    mine = {"model/mine.txt", "relations/mine.txt"}
    for name in mine:
        (target / name).parent.mkdir()
        (target / name).write_text("mine")
    (target / "arrays.safetensors").write_text("mine")
    small.save(target)
    assert _files(target) == mine | {"arrays.safetensors", "map.json", "a.parquet"}
    with pytest.raises(StorageError, match=r"arrays\.safetensors is not part of the earlier result"):
        full_map().save(target)
    (target / "arrays.safetensors").unlink()
    full_map().save(target)
    assert_same(Map.load(target), full_map())
    assert mine < _files(target)
    small.save(target)
    assert _files(target) == mine | {"map.json", "a.parquet"}
    assert all((target / name).read_text() == "mine" for name in mine)


@pytest.mark.parametrize(
    "claim",
    [
        lambda h, name: h["relations"][0].update(file=name),
        lambda h, name: h["groups"][0].update(file=name),
        lambda h, name: h.update(arrays=name),
    ],
)
@pytest.mark.parametrize("name", ["thesis.txt", "work/thesis.parquet", "relations/thesis.txt", ".parquet"])
def test_a_header_cannot_claim_a_persons_file(tmp_path: Path, claim: Any, name: str) -> None:
    target = full_map().save(tmp_path / "map")
    (target / name).parent.mkdir(exist_ok=True)
    (target / name).write_text("mine")
    _edit(lambda h: claim(h, name))(target)
    Map([Group("other", ["p"], np.eye(1))]).save(target)
    assert (target / name).read_text() == "mine"
    assert Map.load(target).groups == ("other",)


def test_of_a_table_in_parts_only_the_parts_are_replaced(tmp_path: Path) -> None:
    small = Map([Group("a", ["p"], np.eye(1))])
    target = small.save(tmp_path / "map")
    (target / "a.parquet").rename(target / "part.parquet")
    (target / "a.parquet").mkdir()
    (target / "part.parquet").rename(target / "a.parquet" / "part.parquet")
    assert_same(Map.load(target), small)
    (target / "a.parquet" / "thesis.txt").write_text("mine")
    with pytest.raises(StorageError, match=r"a\.parquet is not part of the earlier result"):
        small.save(target)
    Map([Group("other", ["p"], np.eye(1))]).save(target)
    assert _files(target) == {"a.parquet/thesis.txt", "map.json", "other.parquet"}


def _many_rows(path: Path, rows: int) -> None:
    table = pq.read_table(path / "doc.parquet")
    pq.write_table(table.take(pa.array(np.zeros(rows, dtype=np.int64))), path / "doc.parquet")


def test_more_rows_than_the_header_says_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = full_map().save(tmp_path / "map")
    _many_rows(target, 1000)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda file: pytest.fail("it was read"))
    with pytest.raises(FormatError, match=r"says it holds 1,000 rows, where the map has room for 3"):
        Map.load(target)


def test_one_value_for_very_many_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = full_map().save(tmp_path / "map")
    _many_rows(target, 100_000)
    _edit(lambda h: h["groups"][0].update(size=100_000))(target)
    monkeypatch.setattr(weighing, "_LARGE", 10_000)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda file: pytest.fail("it was read"))
    with pytest.raises(FormatError, match=r"bytes, but says it holds 100,000 rows"):
        Map.load(target)


@pytest.mark.parametrize("rows", [6, 7])
def test_a_relation_has_at_most_every_pair_once(tmp_path: Path, rows: int) -> None:
    target = full_map().save(tmp_path / "map")
    file = target / "relations" / "counts.parquet"
    pq.write_table(pq.read_table(file).take(pa.array([0, 1] * 3 + [0])).slice(0, rows), file)
    if rows == 6:
        assert Map.load(target).relations["counts"].matrix.toarray().tolist() == [[3, 0], [0, 7.5], [0, 0]]
        return
    with pytest.raises(FormatError, match=r"says it holds 7 rows, where the map has room for 6"):
        Map.load(target)


def test_too_little_memory_is_not_called_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = full_map().save(tmp_path / "map")

    def short(*args: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(state_module, "load_file", short)
    with pytest.raises(MemoryError):
        Map.load(target)


def test_a_picture_without_its_making_is_drawn(tmp_path: Path) -> None:
    for method in ("axes", "pca", "tsne", "by hand"):
        given = Group("a", ["p", "q"], np.eye(2), layout=np.eye(2))
        made = Map([given], drawn_by={"method": method}, provenance={"axis_inertia": 3})
        made.save(tmp_path / "map")
        Map.load(tmp_path / "map").plot()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"model": 3}, "name of a model is a text"),
        ({"scores": [1]}, r"scores=\[1\]: give a mapping"),
        ({"drawn_by": "pca"}, "drawn_by='pca': give a mapping"),
        ({"drawn_by": {"axes": "x"}}, "give two axes between 0 and 1"),
        ({"drawn_by": {"method": []}}, "the name of a layout is a text"),
        ({"drawn_by": {"method": "tsne", "random_state": -1}}, "random_state=-1"),
    ],
)
def test_what_a_map_says_of_itself_is_checked(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        Map([Group("a", ["p", "q"], np.eye(2))], **options)


def test_reading_brings_back_a_map_that_was_set_aside(tmp_path: Path) -> None:
    full_map().save(tmp_path / "map")
    (tmp_path / "map").rename(tmp_path / ".map.previous")
    assert_same(Map.load(tmp_path / "map"), full_map())
    assert [p.name for p in tmp_path.iterdir()] == ["map"]


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array(["a", "b"]), "<U1"),
        (np.array([1, None], dtype=object), "object"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), r"datetime64\[D\]"),
        (np.array([1j]), "complex128"),
    ],
)
def test_an_array_of_a_type_that_cannot_be_stored_is_named(tmp_path: Path, array: Any, dtype: str) -> None:
    made = Map([Group("a", ["p"], np.eye(1))], arrays={"fine": np.eye(2), "odd": array})
    with pytest.raises(DataError, match=f"^the array 'odd' is of type {dtype}, which cannot be stored"):
        made.save(tmp_path / "map")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8"]
)
def test_every_type_that_can_be_stored_comes_back(tmp_path: Path, dtype: str) -> None:
    write_arrays(tmp_path / "a.safetensors", {"a": np.array([0, 1], dtype=dtype)})
    read = read_arrays(tmp_path / "a.safetensors")["a"]
    assert read.dtype == np.dtype(dtype)
    assert read.tolist() == np.array([0, 1], dtype=dtype).tolist()


def test_too_few_threads_are_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow tells of them by an OSError; under ``ulimit`` it happens to a map that is whole."""
    target = Map([Group("doc", ["a", "b"], [[0.0, 1.0], [1.0, 0.0]])]).save(tmp_path / "map")

    def refused(*_: object) -> None:
        raise OSError("Unknown error: Failed to launch worker thread: Resource temporarily unavailable")

    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", refused)
    with pytest.raises(MemoryError, match="worker thread"):
        Map.load(target)
