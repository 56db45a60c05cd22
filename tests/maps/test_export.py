"""Maps for other programs, each opened by that program: coordinates equal, and nothing else overwritten."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

from relscape.data import Relation
from relscape.errors import FormatError, MissingExtraError, ParameterError, StorageError, UnknownNameError
from relscape.maps import Group, Map
from relscape.maps.export import FORMATS, only_kinds, pictured
from relscape.maps.naming import distinct, full_names, words

COUNTS = np.array([[1.0, 0, 2], [0, 2.5, 0], [0, 0, 0], [3, 0, 0]])
CITES = np.array([[0.0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]])
LIKE = np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]])
FIELDS: dict[str, Any] = {
    "year": np.array([1999, 2004, 2010, 2011]),
    "share": np.array([0.5, np.nan, 1.0, np.inf]),
    "topic": ["a <b> & 'c' \"d\"", None, "tab\tline\nend", ""],
    "read": np.array([True, False, True, False]),
    "day": np.array(["2024-01-01", "NaT", "1969-12-31", "2000-02-29"], dtype="datetime64[D]"),
    "text": ["w", "x", "y", "z"],
    "a/b": [1.5, 2.5, 3.5, 4.5],
    "_index": [1, 2, 3, 4],
    "nothing": [None, None, None, None],
    "mixed": np.array(["a", 1, None, 2.5], dtype=object),
    "large": np.array([1, 2**64 - 1, 3, 4], dtype=np.uint64),
    "tab\tname": [1, 2, 3, 4],
    "": [1, 2, 3, 4],
}


def full_map(dimensions: int = 3, within: bool = True) -> Map:
    rng = np.random.default_rng(0)
    docs = Group(
        "doc", ["d 1", "d_1", "ü\n😀 <&>", "\x01"], rng.normal(size=(4, dimensions)),
        ["One", "Two", "", "Four"], None, FIELDS,
    )  # fmt: skip
    things = Group("word", ["cat", "d:og", "new york"], rng.normal(size=(3, dimensions)))
    relations = [Relation("counts", "doc", "word", csr_array(COUNTS))]
    if within:
        relations += [Relation("cites/x", "doc", "doc", csr_array(CITES))]
    relations += [Relation("like", "word", "word", csr_array(LIKE), directed=False)]
    return Map([docs, things], model="Test", relations=relations).layout("pca")


def plain_map() -> Map:
    """Ten things with names that every format keeps as they are."""
    rng = np.random.default_rng(1)
    return Map([Group("word", [f"w{i}" for i in range(10)], rng.normal(size=(10, 4)))])


def stacked(map_: Map) -> np.ndarray:
    return np.vstack([map_.coordinates(kind) for kind in map_.groups])


# ---------------------------------------------------------------------- names


def test_names_are_distinct_across_kinds() -> None:
    points = np.zeros((1, 2))
    map_ = Map([Group("a", ["b:c"], points), Group("a:b", ["c"], points)])
    assert full_names(map_) == ["a:b:c", "a:b:c_2"]
    assert words(["a b", "a_b", "a\u3000b", ""]) == ["a_b", "a_b_2", "a_b_3", "_"]
    assert distinct(["a", "a", "a_2"]) == ["a", "a_3", "a_2"]


# ---------------------------------------------------------------------- word2vec


@pytest.mark.parametrize(("name", "binary"), [("map.vec", False), ("map.txt", False), ("map.bin", True)])
@pytest.mark.parametrize("make", [full_map, plain_map])
def test_word2vec_opens_in_gensim(tmp_path: Path, name: str, binary: bool, make: Any) -> None:
    gensim = pytest.importorskip("gensim.models")
    map_ = make()
    vectors = gensim.KeyedVectors.load_word2vec_format(str(map_.export(tmp_path / name)), binary=binary)
    assert vectors.index_to_key == words(full_names(map_))
    np.testing.assert_array_equal(vectors.vectors, stacked(map_).astype(np.float32))


def test_word2vec_text_keeps_every_digit(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    map_ = full_map()
    path = str(map_.export(tmp_path / "map.vec"))
    vectors = gensim.KeyedVectors.load_word2vec_format(path, datatype=np.float64)
    np.testing.assert_array_equal(vectors.vectors, stacked(map_))


def test_gensim_finds_the_same_neighbours_in_direction(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    map_ = plain_map()
    vectors = gensim.KeyedVectors.load_word2vec_format(str(map_.export(tmp_path / "map.vec")))
    points = stacked(map_)
    cosines = points @ points[0] / np.linalg.norm(points, axis=1)
    assert vectors.most_similar("w0", topn=1)[0][0] == f"w{np.argsort(-cosines)[1]}"


# ---------------------------------------------------------------------- TensorBoard


def test_tensorboard_has_the_documented_form(tmp_path: Path) -> None:
    map_ = full_map()
    folder = map_.export(tmp_path / "board", "tensorboard")
    tensors = np.loadtxt(folder / "tensors.tsv", delimiter="\t")
    np.testing.assert_array_equal(tensors, stacked(map_))
    head, *lines = (folder / "metadata.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    assert head.split("\t")[:3] == ["label", "kind", "id"]
    assert len(lines) == len(map_)
    assert {len(line.split("\t")) for line in lines} == {len(head.split("\t"))}
    assert lines[0].startswith("One\tdoc\td 1\t1999\t0.5\ta <b> & 'c' \"d\"\ttrue\t2024-01-01")
    assert lines[-1].split("\t")[:3] == ["new york", "word", "new york"]
    config = (folder / "projector_config.pbtxt").read_text()
    assert re.search(r'tensor_path: "tensors.tsv"', config)
    assert re.search(r'metadata_path: "metadata.tsv"', config)


def test_tensorboard_reads_its_own_files(tmp_path: Path) -> None:
    projector = pytest.importorskip("tensorboard.plugins.projector.projector_plugin")
    configs = pytest.importorskip("tensorboard.plugins.projector.projector_config_pb2")
    text_format = pytest.importorskip("google.protobuf.text_format")
    map_ = full_map()
    folder = map_.export(tmp_path / "board", "tensorboard")
    config = text_format.Parse((folder / "projector_config.pbtxt").read_text(), configs.ProjectorConfig())
    [told] = config.embeddings
    tensors = projector._read_tensor_tsv_file(str(folder / told.tensor_path))
    np.testing.assert_array_equal(tensors, stacked(map_).astype(np.float32))


# ---------------------------------------------------------------------- tables


def test_csv_and_parquet_hold_the_frame(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    map_ = full_map()
    frame = map_.to_frame()
    stored = pq.read_table(map_.export(tmp_path / "map.parquet"))
    assert stored.replace_schema_metadata(None).equals(frame.replace_schema_metadata(None))
    csv = map_.export(tmp_path / "map.csv")
    found = duckdb.sql(f"SELECT kind, id, z0, z1, z2, x, y FROM read_csv('{csv}')").fetchnumpy()
    assert found["id"].tolist() == frame.column("id").to_pylist()
    for column in ("z0", "z1", "z2", "x", "y"):
        np.testing.assert_array_equal(found[column], frame.column(column).to_numpy())
    assert pa_csv.read_csv(csv, parse_options=pa_csv.ParseOptions(newlines_in_values=True)).num_rows == 7


def test_embedding_atlas_finds_its_columns(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    map_ = full_map()
    path = map_.export(tmp_path / "atlas.parquet", "embedding-atlas")
    found = duckdb.sql(f"SELECT id, x, y, text, kind, year, field_text FROM '{path}'").fetchnumpy()
    drawn = np.vstack([map_.group(kind).drawn for kind in map_.groups])
    np.testing.assert_array_equal(np.column_stack([found["x"], found["y"]]), drawn)
    assert found["id"].tolist() == full_names(map_)
    assert found["text"].tolist()[:2] == ["One", "Two"]
    assert found["field_text"].tolist()[:4] == ["w", "x", "y", "z"]
    assert len(set(found["id"].tolist())) == len(map_)


# ---------------------------------------------------------------------- graphs


def node_at(graph: Any, name: str) -> dict[str, Any]:
    return dict(graph.nodes[name])


def node_names(map_: Map) -> list[str]:
    """What XML has no room for comes back as U+FFFD."""
    return [name.replace("\x01", "\ufffd") for name in full_names(map_)]


def edges_of(map_: Map, directed: bool) -> dict[tuple[str, str, str], float]:
    """List all pairs in the plainest way; without directions, a pair within a kind comes once."""
    names = {"doc": node_names(map_)[:4], "word": node_names(map_)[4:]}
    found = {}
    for relation in map_.relations.values():
        table = relation.matrix.toarray()
        for i, j in np.argwhere(table):
            if directed or relation.rows != relation.columns or i <= j:
                found[names[relation.rows][i], names[relation.columns][j], relation.name] = table[i, j]
    return found


@pytest.mark.parametrize("within", [True, False])
def test_graphml_opens_in_networkx(tmp_path: Path, within: bool) -> None:
    networkx = pytest.importorskip("networkx")
    map_ = full_map(within=within)
    graph = networkx.read_graphml(map_.export(tmp_path / "map.graphml"))
    assert graph.is_directed() == within
    names = node_names(map_)
    assert list(graph.nodes) == names
    places = np.array([[node_at(graph, name)[key] for key in ("x", "y", "z0", "z1", "z2")] for name in names])
    drawn = np.vstack([map_.group(kind).drawn for kind in map_.groups])
    np.testing.assert_array_equal(places, np.column_stack([drawn, stacked(map_)]))
    first = node_at(graph, "doc:d 1")
    assert first["kind"] == "doc"
    assert first["label"] == "One"
    assert first["year"] == 1999
    assert first["read"] is True
    assert "nothing" not in first
    assert node_at(graph, "doc:d_1")["large"] == "18446744073709551615"
    assert first["topic"] == "a <b> & 'c' \"d\""
    assert node_at(graph, names[2])["topic"] == "tab\tline\nend"
    assert "share" not in node_at(graph, "doc:d_1")
    assert node_at(graph, names[3])["share"] == np.inf
    found = {(a, b, e["relation"]): e["weight"] for a, b, e in graph.edges(data=True)}
    expected = edges_of(map_, within)
    if not within:  # networkx may name the ends of an edge in either order
        found, expected = (
            {(*sorted(key[:2]), key[2]): weight for key, weight in edges.items()}
            for edges in (found, expected)
        )
    assert found == expected


def test_graphml_opens_in_igraph(tmp_path: Path) -> None:
    igraph = pytest.importorskip("igraph")
    map_ = full_map()
    graph = igraph.Graph.Read_GraphML(str(map_.export(tmp_path / "map.graphml")))
    assert graph.is_directed()
    np.testing.assert_array_equal(np.column_stack([graph.vs[f"z{k}"] for k in range(3)]), stacked(map_))
    assert graph.vs["kind"] == ["doc"] * 4 + ["word"] * 3
    assert sorted(graph.es["weight"]) == sorted(edges_of(map_, True).values())


def test_gexf_opens_in_networkx(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    map_ = full_map()
    path = map_.export(tmp_path / "map.gexf")
    graph = networkx.read_gexf(path)
    assert graph.is_directed()
    positions = [graph.nodes[name]["viz"]["position"] for name in graph.nodes]
    drawn = np.vstack([map_.group(kind).drawn for kind in map_.groups])
    np.testing.assert_array_equal([[place["x"], place["y"]] for place in positions], drawn)
    axes = [[node[f"z{k}"] for k in range(3)] for _, node in graph.nodes(data=True)]
    np.testing.assert_array_equal(axes, stacked(map_))
    assert [node["label"] for _, node in graph.nodes(data=True)][:2] == ["One", "Two"]
    found = {(a, b, e["relation"]): e["weight"] for a, b, e in graph.edges(data=True)}
    assert found == edges_of(map_, True)
    assert ElementTree.parse(path).getroot().get("version") == "1.2"


# ---------------------------------------------------------------------- AnnData


def test_anndata_holds_two_kinds_and_their_relation(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    map_ = full_map()
    cells = anndata.read_h5ad(map_.export(tmp_path / "map.h5ad"))
    assert cells.obs_names.tolist() == map_.group("doc").ids.tolist()
    assert cells.var_names.tolist() == map_.group("word").ids.tolist()
    np.testing.assert_array_equal(cells.X.toarray(), COUNTS)
    np.testing.assert_array_equal(cells.obsm["X_relscape"], map_.coordinates("doc"))
    np.testing.assert_array_equal(cells.varm["X_relscape"], map_.coordinates("word"))
    np.testing.assert_array_equal(cells.obsm["X_layout"], map_.group("doc").drawn)
    np.testing.assert_array_equal(cells.obsp["cites_x"].toarray(), CITES)
    np.testing.assert_array_equal(cells.varp["like"].toarray(), LIKE)
    assert cells.obs["year"].tolist() == FIELDS["year"].tolist()
    assert cells.obs["topic"].isna().tolist() == [False, True, False, False]
    assert cells.obs["topic"].iloc[2] == "tab\tline\nend"
    assert cells.obs["a_b"].tolist() == FIELDS["a/b"]
    assert cells.obs["field__index"].tolist() == cells.obs["field_"].tolist() == [1, 2, 3, 4]
    assert cells.obs["nothing"].isna().all()
    assert cells.obs["mixed"].astype(object).tolist()[:2] == ["a", "1"]
    assert cells.obs["large"].tolist() == [1, 2**64 - 1, 3, 4]
    assert cells.obs["label"].tolist()[:2] == ["One", "Two"]
    assert cells.uns["relscape"]["relation"] == "counts"


def test_anndata_turns_a_relation_that_goes_the_other_way_and_keeps_others_as_layers(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    points = np.arange(12.0).reshape(6, 2)
    relations = [
        Relation("first", "b", "a", csr_array(np.arange(8.0).reshape(2, 4))),
        Relation("second", "a", "b", csr_array(np.arange(8.0).reshape(4, 2))),
    ]
    groups = [Group("a", list("wxyz"), points[:4]), Group("b", list("pq"), points[4:])]
    cells = anndata.read_h5ad(Map(groups, relations=relations).export(tmp_path / "map.h5ad"))
    assert cells.obs_names.tolist() == ["p", "q"]
    np.testing.assert_array_equal(cells.X.toarray(), np.arange(8.0).reshape(2, 4))
    np.testing.assert_array_equal(cells.layers["second"].toarray(), np.arange(8.0).reshape(4, 2).T)
    np.testing.assert_array_equal(cells.varm["X_relscape"], points[:4])


def test_anndata_of_one_kind_and_without_relations(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    map_ = plain_map()
    cells = anndata.read_h5ad(map_.export(tmp_path / "one.h5ad"))
    assert cells.shape == (10, 0)
    np.testing.assert_array_equal(cells.obsm["X_relscape"], stacked(map_))
    bare = full_map().with_relations([])
    cells = anndata.read_h5ad(bare.export(tmp_path / "two.h5ad"))
    assert cells.X is None
    assert cells.shape == (4, 3)
    np.testing.assert_array_equal(cells.varm["X_relscape"], bare.coordinates("word"))


def test_anndata_has_no_room_for_three_kinds(tmp_path: Path) -> None:
    points = np.zeros((1, 2))
    map_ = Map([Group(kind, ["x"], points) for kind in "abc"])
    with pytest.raises(ParameterError, match=r"anndata has room for two kinds.* a, b, c.*--kinds"):
        map_.export(tmp_path / "map.h5ad")
    assert not list(tmp_path.iterdir())
    only_kinds(map_, ["a", "c"]).export(tmp_path / "map.h5ad")


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "anndata", None)
    with pytest.raises(MissingExtraError, match=r"as anndata needs anndata.*relscape\[anndata\]"):
        plain_map().export(tmp_path / "map.h5ad")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- what holds for all


FILES = [(name, form.endings[0]) for name, form in FORMATS.items() if name != "html"]


@pytest.mark.parametrize(("name", "ending"), FILES)
def test_an_earlier_export_is_replaced_and_leaves_nothing_beside_it(
    tmp_path: Path, name: str, ending: str
) -> None:
    path = tmp_path / f"map{ending}"
    full_map().export(path, name)
    plain_map().export(path, name)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    if path.is_dir():
        assert len((path / "tensors.tsv").read_text().splitlines()) == 10
    else:
        again = plain_map().export(tmp_path / f"again{ending}", name)
        assert path.stat().st_size == again.stat().st_size


@pytest.mark.parametrize(("name", "ending"), FILES)
def test_other_things_are_never_overwritten(tmp_path: Path, name: str, ending: str) -> None:
    path = tmp_path / f"mine{ending}"
    if name == "tensorboard":
        path.mkdir()
        (path / "thesis.tex").write_text("years of work")
    else:
        path.write_text("years,of,work\n1,2,3\n")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(StorageError, match=r"cannot write .*(no earlier export|holds something else)"):
        plain_map().export(path, name)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_a_page_replaces_only_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What writes the page is tested elsewhere; here it writes as little as tells a page of ours."""

    def write_page(map_: Map, path: Path) -> Path:
        path.write_text(f'<html><script id="relscape-data">{len(map_)}</script></html>')
        return path

    monkeypatch.setattr("relscape.maps.doors.write_page", write_page)
    path = full_map().export(tmp_path / "map.html")
    assert ">7<" in path.read_text()
    assert ">10<" in plain_map().export(path).read_text()
    path.write_text("<html>my own page</html>")
    with pytest.raises(StorageError, match="no earlier export as html"):
        plain_map().export(path)
    assert path.read_text() == "<html>my own page</html>"


def test_a_map_is_not_overwritten_by_its_export(tmp_path: Path) -> None:
    map_ = plain_map()
    map_.save(tmp_path / "map")
    with pytest.raises(StorageError, match="holds something else"):
        map_.export(tmp_path / "map", "tensorboard")
    with pytest.raises(StorageError, match="it is a directory"):
        map_.export(tmp_path / "map", "csv")
    assert len(Map.load(tmp_path / "map")) == 10


def test_an_export_that_fails_halfway_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = plain_map().export(tmp_path / "map.graphml")
    before = path.read_bytes()

    def broken(*_: Any) -> Any:
        raise OSError(28, "No space left on device")
        yield

    monkeypatch.setattr("relscape.maps.export_graphs._edges", broken)
    with pytest.raises(StorageError, match="Free some space"):
        full_map().export(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["map.graphml"]


def test_the_format_is_told_by_the_ending_or_by_name(tmp_path: Path) -> None:
    map_ = plain_map()
    assert map_.export(tmp_path / "UPPER.CSV").read_bytes().startswith(b'"kind"')
    with pytest.raises(FormatError, match=r"does not tell the format.*word2vec \(.vec or .txt\)"):
        map_.export(tmp_path / "map.docx")
    with pytest.raises(FormatError, match="does not tell the format"):
        map_.export(tmp_path / "map")
    with pytest.raises(UnknownNameError, match=r"no format 'graphlm'. Did you mean 'graphml'"):
        map_.export(tmp_path / "map.graphml", "graphlm")
    with pytest.raises(FormatError, match=r"ends as csv does, but .* parquet: .parquet is expected"):
        map_.export(tmp_path / "map.csv", "parquet")
    map_.export(tmp_path / "map.vectors", "word2vec")
    assert {entry.name for entry in tmp_path.iterdir()} == {"UPPER.CSV", "map.vectors"}


def test_some_kinds_and_the_picture(tmp_path: Path) -> None:
    map_ = full_map()
    flat = pictured(map_)
    assert flat.n_components == 2
    for kind in map_.groups:
        np.testing.assert_array_equal(flat.coordinates(kind), map_.group(kind).drawn)
        np.testing.assert_array_equal(flat.group(kind).drawn, map_.group(kind).drawn)
    chosen = only_kinds(map_, ["word"])
    assert chosen.groups == ("word",)
    assert list(chosen.relations) == ["like"]
    with pytest.raises(UnknownNameError, match="no kind 'words'"):
        only_kinds(map_, ["words"])
    with pytest.raises(ParameterError, match="at least one kind"):
        only_kinds(map_, [])


def test_one_dimension_and_single_precision(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    points = np.array([[0.1], [1e-30], [-3.5e20]], dtype=np.float32)
    map_ = Map([Group("word", ["a", "b", "c"], points)])
    vectors = gensim.KeyedVectors.load_word2vec_format(str(map_.export(tmp_path / "map.vec")))
    np.testing.assert_array_equal(vectors.vectors, points)
