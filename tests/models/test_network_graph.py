"""Document networks from and to networkx."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import relscape as rs

networkx = pytest.importorskip("networkx")


def ring(n: int = 12) -> object:
    graph = networkx.DiGraph()
    graph.add_edges_from((f"d{i:02}", f"d{(i + step) % n:02}") for i in range(n) for step in (1, 2))
    return graph


def fitted(direction: str = "out") -> rs.LinkOnly:
    return rs.LinkOnly(3, direction=direction, max_iterations=20, random_state=0).fit(None, ring())


def test_a_graph_goes_in_and_comes_out() -> None:
    model = fitted()
    graph = model.to_networkx()
    assert set(graph.edges) == set(ring().edges)
    assert {kind for *_, kind in graph.edges(data="suggested")} == {False}
    places = np.array([[node[f"z{axis}"] for axis in range(3)] for _, node in graph.nodes(data=True)])
    assert_allclose(places, model.embedding_, rtol=1e-6)
    joint = model.to_map()
    assert_allclose(
        [[node["x"], node["y"]] for _, node in graph.nodes(data=True)], joint.group("document").drawn
    )
    assert graph.nodes["d03"]["links out"] == 2
    again = rs.LinkOnly(3, max_iterations=20, random_state=0).fit(None, graph)
    assert_allclose(again.embedding_, model.embedding_)


@pytest.mark.parametrize("direction", ["out", "in"])
def test_suggested_links(direction: str) -> None:
    model = fitted(direction)
    graph = model.to_networkx(suggestions=2)
    added = {(i, j) for i, j, new in graph.edges(data="suggested") if new}
    expected = set()
    for name in ring().nodes:
        for link in model.predict_links(name, 2):
            expected.add((name, link.id) if direction == "out" else (link.id, name))
    assert added == expected
    assert not added & set(ring().edges)
    i, j = next(iter(added))
    assert 0 < graph.edges[i, j]["probability"] < 1


def test_graphml_takes_it(tmp_path) -> None:
    networkx.write_graphml(fitted().to_networkx(suggestions=1), tmp_path / "net.graphml")
    back = networkx.read_graphml(tmp_path / "net.graphml")
    assert len(back) == 12
    assert sum(new for *_, new in back.edges(data="suggested")) >= 6
    assert rs.LinkOnly(2, max_iterations=5, random_state=0).fit(None, back).embedding_.shape == (12, 2)


def test_nodes_without_links_are_documents() -> None:
    graph = ring()
    graph.add_node("alone")
    with pytest.warns(rs.errors.RelscapeWarning, match="alone"):
        model = rs.LinkOnly(2, max_iterations=5, random_state=0).fit(None, graph)
    assert set(model.to_networkx().nodes) == set(graph.nodes)


def test_an_undirected_graph_goes_both_ways() -> None:
    model = rs.LinkOnly(2, max_iterations=5, random_state=0).fit(None, ring().to_undirected())
    assert len(model.links_) == 48


def test_contents_are_matched_by_node() -> None:
    pandas = pytest.importorskip("pandas")
    names = sorted(ring().nodes)
    words = pandas.DataFrame(np.eye(12) + np.eye(12)[::-1], index=names, columns=[f"w{i}" for i in range(12)])
    model = rs.ContentOnly(2).fit(words, ring())
    assert set(model.to_networkx().edges) == set(ring().edges)
