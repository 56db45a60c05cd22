"""Graphs as relations: networkx, igraph and GraphML say the same, and bad graphs are refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relscape as rs
from relscape.errors import DataError, FormatError, ParameterError

networkx = pytest.importorskip("networkx")

EDGES = [("b", "a", 2.0), ("a", "c", 0.5), ("c", "c", 3.0), ("d", "a", 1.0)]
NODES = ["a", "b", "c", "d", "e"]


def graph(directed: bool, several: bool = False) -> Any:
    kinds = {
        (False, False): networkx.Graph,
        (True, False): networkx.DiGraph,
        (False, True): networkx.MultiGraph,
        (True, True): networkx.MultiDiGraph,
    }
    made = kinds[directed, several]()
    for number, name in enumerate(reversed(NODES)):
        made.add_node(name, label=name.upper(), number=number, share=number / 2, even=number % 2 == 0)
    made.nodes["e"]["note"] = "a <b> & c"
    made.add_weighted_edges_from(EDGES)
    return made


def table(directed: bool, edges: list[tuple[str, str, float]] = EDGES) -> np.ndarray:
    """Lay the edges out in the plainest way."""
    matrix = np.zeros((5, 5))
    for source, target, weight in edges:
        i, j = NODES.index(source), NODES.index(target)
        matrix[i, j] += weight
        if not directed and i != j:
            matrix[j, i] += weight
    return matrix


def given(form: str, made: Any, folder: Path) -> Any:
    """Give a networkx graph in another form."""
    if form == "graphml":
        networkx.write_graphml(made, folder / "g.graphml")
        return folder / "g.graphml"
    if form == "graphml.gz":
        networkx.write_graphml(made, folder / "g.graphml.gz")
        return folder / "g.graphml.gz"
    if form == "igraph":
        igraph = pytest.importorskip("igraph")
        other = igraph.Graph.from_networkx(made)
        other.vs["name"] = other.vs["_nx_name"]
        del other.vs["_nx_name"]
        return other
    return made


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("form", ["networkx", "igraph", "graphml", "graphml.gz"])
def test_every_form_gives_the_same_relation(tmp_path: Path, form: str, directed: bool) -> None:
    data = rs.read_graph(given(form, graph(directed), tmp_path), kind="page")
    assert data.kinds == ("page",)
    relation = data.relation()
    assert (relation.rows, relation.columns, relation.name) == ("page", "page", "links")
    assert relation.directed == directed
    np.testing.assert_array_equal(relation.matrix.toarray(), table(directed))
    things = data.entities["page"]
    assert things.ids.tolist() == NODES
    assert things.labels.tolist() == ["A", "B", "C", "D", "E"]
    assert things.fields["number"].tolist() == [4, 3, 2, 1, 0]
    assert things.fields["share"].tolist() == [2.0, 1.5, 1.0, 0.5, 0.0]
    assert things.fields["even"].tolist() == [True, False, True, False, True]
    assert things.fields["note"].tolist() == [None, None, None, None, "a <b> & c"]


@pytest.mark.parametrize("form", ["networkx", "igraph", "graphml"])
def test_parallel_edges_are_summed_and_weights_may_be_left_out(tmp_path: Path, form: str) -> None:
    made = graph(True, several=True)
    made.add_edge("b", "a", weight=5.0)
    source = given(form, made, tmp_path)
    expected = table(True, [*EDGES, ("b", "a", 5.0)])
    np.testing.assert_array_equal(rs.read_graph(source).matrix().toarray(), expected)
    counted = rs.read_graph(source, weight=None).matrix().toarray()
    ones = [(a, b, 1.0) for a, b, _ in EDGES]
    np.testing.assert_array_equal(counted, table(True, [*ones, ("b", "a", 1.0)]))


def test_igraph_without_names_and_weights() -> None:
    igraph = pytest.importorskip("igraph")
    data = rs.read_graph(igraph.Graph(n=3, edges=[(0, 1), (1, 2)]))
    assert data.entities["node"].ids.tolist() == ["0", "1", "2"]
    assert data.matrix().toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_graphs_feed_document_networks() -> None:
    data = rs.read_graph(graph(True))
    cites = rs.read_graph(networkx.DiGraph([("b", "a"), ("a", "c")]))
    links = rs.read_links(cites, data.entities["node"].ids)
    assert links.tolist() == [[0, 2], [1, 0]]


GRAPHML = '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'


def written(folder: Path, contents: str) -> Path:
    path = folder / "g.graphml"
    path.write_text(GRAPHML.format(contents))
    return path


def test_edges_of_both_sorts_and_defaults(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>4</default></key>'
        '<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>'
        '<edge source="a" target="b" directed="true"/>'
        '<edge source="b" target="c"><data key="w">0.5</data></edge></graph>',
    )
    data = rs.read(path, rows="page")
    assert data.kinds == ("page",)
    assert data.relation().directed
    assert data.matrix().toarray().tolist() == [[0, 4, 0], [0, 0, 0.5], [0, 0.5, 0]]


def test_an_exported_map_comes_back(tmp_path: Path) -> None:
    joint = rs.CorrespondenceAnalysis().fit(rs.datasets.load_smoking())
    relation = rs.datasets.load_smoking().relation()
    path = joint.to_map().with_relations([relation]).export(tmp_path / "m.graphml")
    data = rs.read_graph(path)
    ids = data.entities["node"].ids.tolist()
    left, right = (rs.datasets.load_smoking().entities[k].ids for k in (relation.rows, relation.columns))
    at = [[ids.index(f"{kind}:{name}") for name in names] for kind, names in
          ((relation.rows, left), (relation.columns, right))]  # fmt: skip
    np.testing.assert_array_equal(data.matrix().toarray()[np.ix_(*at)], relation.matrix.toarray())
    np.testing.assert_array_equal(data.entities["node"].fields["z0"][at[0]], joint.row_embedding_[:, 0])


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ('<graph edgedefault="directed"><node id="a"/><edge source="a" target="x"/></graph>', "ends at 'x'"),
        ('<graph edgedefault="directed"><node id="a"/><node id="a"/></graph>', "ids repeat"),
        ('<graph edgedefault="directed"><node/></graph>', "node 1 has no id"),
        ('<graph edgedefault="directed"><node id="a"/><edge source="a"/></graph>', "edge 1 has no source"),
        ('<graph edgedefault="directed"><node id="a"/><hyperedge/></graph>', "hyperedges"),
        ('<graph edgedefault="directed"/>', "has no nodes"),
        ("", "has no graph"),
        ('<graph edgedefault="directed"><node id="a"/></graph><graph/>', "several graphs"),
        (
            '<key id="n" for="node" attr.name="n" attr.type="int"/><graph><node id="a"><data key="n">x</data>'
            "</node></graph>",
            "attribute 'n' of a node is 'x'",
        ),
        (
            '<key id="n" for="node" attr.name="n" attr.type="int"><default>x</default></key><graph/>',
            "the default of the attribute 'n' is 'x'",
        ),
        (
            '<key id="w" for="edge" attr.name="weight" attr.type="double"/><graph><node id="a"/>'
            '<node id="b"/><edge source="a" target="b"><data key="w">-2</data></edge></graph>',
            "the edge from 'a' to 'b' has the weight -2.0",
        ),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path: Path, contents: str, message: str) -> None:
    path = written(tmp_path, contents)
    with pytest.raises((FormatError, DataError), match=message) as found:
        rs.read_graph(path)
    assert "g.graphml" in str(found.value)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    whole = given("graphml", graph(True), tmp_path).read_bytes()
    packed = gzip.compress(whole)
    for name, contents in {
        "cut.graphml": whole[:-60],
        "empty.graphml": b"",
        "text.graphml": b"a,b\n",
        "cut.graphml.gz": packed[:-9],
        "text.graphml.gz": whole,
    }.items():
        (tmp_path / name).write_bytes(contents)
        with pytest.raises(FormatError, match=f"{name} is not a GraphML file that can be read"):
            rs.read_graph(tmp_path / name)
    (tmp_path / "page.graphml").write_text("<html><body/></html>")
    with pytest.raises(FormatError, match="begins with 'html': it is not a GraphML file"):
        rs.read_graph(tmp_path / "page.graphml")


def test_entities_that_would_fill_memory_are_refused(tmp_path: Path) -> None:
    rounds = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 12))
    (tmp_path / "g.graphml").write_text(
        f'<!DOCTYPE g [<!ENTITY e0 "ha">{rounds}]><graphml><graph><node id="a">&e11;</node></graph></graphml>'
    )
    with pytest.raises(FormatError, match="not a GraphML file that can be read"):
        rs.read_graph(tmp_path / "g.graphml")


@pytest.mark.parametrize("weight", [-1, float("nan"), "heavy", 1j])
def test_weights_that_cannot_be(weight: Any) -> None:
    made = networkx.Graph()
    made.add_edge("a", "b", weight=weight)
    with pytest.raises(DataError, match="the edge from 'a' to 'b' has the weight"):
        rs.read_graph(made)


def test_what_is_no_graph(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a list is no graph"):
        rs.read_graph([("a", "b")])
    path = given("graphml", graph(True), tmp_path)
    with pytest.raises(ParameterError, match="one kind of nodes"):
        rs.read(path, rows="page", columns="word")
