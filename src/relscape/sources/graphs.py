"""Graphs as relations: networkx and igraph objects, and GraphML files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text, check_unique, match
from relscape.data.relation import gather_pairs, without_zeros
from relscape.errors import DataError
from relscape.protocols import AnyArray, FloatArray
from relscape.sources.graphml import read_graphml
from relscape.sources.matrices import one_file

__all__ = ["GivenGraph", "read_graph"]

_LABELS = ("label", "name")


class GivenGraph(NamedTuple):
    """A graph taken apart: ids of nodes, what is known of each, both ends of every edge, and weights."""

    nodes: Sequence[Any]
    fields: Mapping[str, Sequence[Any]]
    sources: Sequence[Any]
    targets: Sequence[Any]
    weights: Sequence[Any]
    directed: bool


def read_graph(
    source: Any, kind: str = "node", weight: str | None = "weight", name: str = "links"
) -> RelationalData:
    """Read a graph as a relation within one kind.

    Parameters
    ----------
    source : path, networkx graph or igraph graph
        A .graphml file (also .graphml.gz), or a graph of either library. Nodes of an igraph graph are named
        by their attribute ``name``, or numbered.
    kind : str
        What the nodes are.
    weight : str or None
        The attribute of edges with the weights; an edge without it weighs 1, as do all where it is None.
    name : str
        What to call the relation.

    Returns
    -------
    RelationalData
        Nodes are sorted by id, parallel edges summed. Attributes of nodes are fields, ``label`` (else
        ``name``) the label. The relation of a graph without directions is symmetric.
    """
    if isinstance(source, str | PathLike):
        path = one_file(source)
        where, graph = str(path), GivenGraph(*read_graphml(path, weight))
    elif hasattr(source, "get_edgelist") and hasattr(source, "vs"):
        where, graph = "the igraph graph", _of_igraph(source, weight)
    elif hasattr(source, "nodes") and hasattr(source, "is_directed"):
        where, graph = "the networkx graph", _of_networkx(source, weight)
    else:
        raise DataError(
            f"a {type(source).__name__} is no graph that relscape knows; give a networkx or igraph graph, or "
            "the path of a GraphML file."
        )
    return _related(graph, where, kind, name)


def _of_networkx(graph: Any, weight: str | None) -> GivenGraph:
    nodes = list(graph.nodes)
    names = dict.fromkeys(key for _, told in graph.nodes(data=True) for key in told)
    fields = {str(key): [told.get(key) for _, told in graph.nodes(data=True)] for key in names}
    edges = list(graph.edges(data=True))
    weights = [1.0 if weight is None else told.get(weight, 1.0) for _, _, told in edges]
    return GivenGraph(
        nodes, fields, [e[0] for e in edges], [e[1] for e in edges], weights, bool(graph.is_directed())
    )


def _of_igraph(graph: Any, weight: str | None) -> GivenGraph:
    fields = {str(key): list(graph.vs[key]) for key in graph.vs.attributes()}
    nodes = fields.pop("name", list(range(graph.vcount())))
    edges = graph.get_edgelist()
    weighted = weight is not None and weight in graph.es.attributes()
    weights = [1.0 if w is None else w for w in graph.es[weight]] if weighted else [1.0] * len(edges)
    sources, targets = ([nodes[edge[k]] for edge in edges] for k in range(2))
    return GivenGraph(nodes, fields, sources, targets, weights, bool(graph.is_directed()))


def _related(graph: GivenGraph, where: str, kind: str, name: str) -> RelationalData:
    given = as_text(graph.nodes, f"{where}: nodes")
    check_unique(given, f"{where}: nodes")
    if not len(given):
        raise DataError(f"{where} has no nodes.")
    order = np.argsort(given, kind="stable")
    ids = given[order]
    i, j = (match(as_text(ends, f"{where}: ends of edges"), ids) for ends in (graph.sources, graph.targets))
    for ends, at in ((graph.sources, i), (graph.targets, j)):
        if (at < 0).any():
            unknown = ends[int(np.flatnonzero(at < 0)[0])]
            raise DataError(f"{where}: an edge ends at {unknown!r}, which is none of its {len(ids)} nodes.")
    weights = _numbers(graph, where)
    if not graph.directed:
        once = i != j
        i, j = np.concatenate([i, j[once]]), np.concatenate([j, i[once]])
        weights = np.concatenate([weights, weights[once]])
    matrix = without_zeros(gather_pairs(weights, i, j, (len(ids), len(ids))))
    fields = {key: _field(values, order) for key, values in graph.fields.items()}
    label = next((key for key in _LABELS if key in fields), None)
    labels = None if label is None else fields.pop(label)
    relation = Relation(name, kind, kind, matrix, graph.directed)
    return RelationalData([EntitySet(kind, ids, labels, fields)], [relation])


def _numbers(graph: GivenGraph, where: str) -> FloatArray:
    """Read the weights of edges; one that cannot be a weight is refused by its edge."""
    weights = np.ones(len(graph.weights))
    for position, given in enumerate(graph.weights):
        try:
            weights[position] = float(given)
        except (TypeError, ValueError):
            weights[position] = np.nan
        if not (np.isfinite(weights[position]) and weights[position] >= 0):
            ends = f"{graph.sources[position]!r} to {graph.targets[position]!r}"
            raise DataError(
                f"{where}: the edge from {ends} has the weight {given!r}; expected a finite number, 0 or "
                "more."
            )
    return weights


def _field(values: Sequence[Any], order: Any) -> AnyArray:
    """Bring an attribute of nodes into an array: numbers where all are, otherwise text, None if missing."""
    given = (values[at] for at in order.tolist())
    listed = [value.item() if isinstance(value, np.generic) else value for value in given]
    kinds = {type(value) for value in listed}
    if kinds <= {bool}:
        return np.array(listed, dtype=bool)
    if kinds <= {int, float, type(None)} and kinds != {type(None)}:
        if kinds == {int} and all(abs(value) < 2**63 for value in listed):
            return np.array(listed, dtype=np.int64)
        return np.array([np.nan if value is None else float(value) for value in listed])
    texts = np.empty(len(listed), dtype=object)
    texts[:] = [None if value is None else str(value) for value in listed]
    return texts
