"""Graphs for other programs: GraphML and GEXF, things as nodes with places, relations as edges."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array

from relscape.data import Relation
from relscape.maps.naming import distinct, full_names

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["is_our_graph", "write_gexf", "write_graphml"]

_START = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- written by relscape -->\n'
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Edge(NamedTuple):
    source: str
    target: str
    relation: str
    weight: float


@dataclass(frozen=True, eq=False)
class _Attribute:
    """Something known of every node: its name, its type as both formats call it, and a value a node."""

    name: str
    type: str
    values: list[Any]


def write_graphml(map_: Map, path: Path) -> None:
    """Write nodes with kind, label, x and y of the picture, coordinates and fields; edges with their weight.

    Edges are directed where a relation within a kind is; then an undirected one has both directions.
    """
    names, attributes = _node_names(map_), _attributes(map_)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'{_START}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for number, attribute in enumerate(attributes):
            file.write(_key(f"n{number}", "node", attribute.name, attribute.type))
        file.write(_key("relation", "edge", "relation", "string"))
        file.write(_key("weight", "edge", "weight", "double"))
        file.write(f'<graph id="map" edgedefault="{_edge_type(map_)}">\n')
        for node, name in enumerate(names):
            file.write(f"<node id={_quoted(name)}>")
            for number, attribute in enumerate(attributes):
                value = attribute.values[node]
                if value is not None:
                    file.write(f'<data key="n{number}">{_escaped(_text(value))}</data>')
            file.write("</node>\n")
        for edge in _edges(map_, names):
            file.write(
                f"<edge source={_quoted(edge.source)} target={_quoted(edge.target)}>"
                f'<data key="relation">{_escaped(edge.relation)}</data>'
                f'<data key="weight">{_text(edge.weight)}</data></edge>\n'
            )
        file.write("</graph>\n</graphml>\n")


def _key(number: str, of: str, name: str, kind: str) -> str:
    return f'<key id="{number}" for="{of}" attr.name={_quoted(name)} attr.type="{kind}"/>\n'


def write_gexf(map_: Map, path: Path) -> None:
    """Write the same for Gephi: places as positions, weights as those of its edges."""
    names, attributes = _node_names(map_), _attributes(map_)
    own = {attribute.name: attribute.values for attribute in attributes}
    shown = [attribute for attribute in attributes if attribute.name not in {"label", "x", "y"}]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(
            f'{_START}<gexf xmlns="http://www.gexf.net/1.2draft" '
            'xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">\n'
            "<meta><creator>relscape</creator></meta>\n"
            f'<graph defaultedgetype="{_edge_type(map_)}" mode="static">\n'
        )
        _declare(file, "node", [(attribute.name, attribute.type) for attribute in shown])
        _declare(file, "edge", [("relation", "string")])
        file.write("<nodes>\n")
        for node, name in enumerate(names):
            label, x, y = (own[key][node] for key in ("label", "x", "y"))
            file.write(f"<node id={_quoted(name)} label={_quoted(label)}><attvalues>")
            for number, attribute in enumerate(shown):
                value = attribute.values[node]
                if value is not None:
                    file.write(f'<attvalue for="{number}" value={_quoted(_text(value))}/>')
            file.write(f'</attvalues><viz:position x="{_text(x)}" y="{_text(y)}" z="0.0"/></node>\n')
        file.write("</nodes>\n<edges>\n")
        for number, edge in enumerate(_edges(map_, names)):
            file.write(
                f'<edge id="{number}" source={_quoted(edge.source)} target={_quoted(edge.target)} '
                f'weight="{_text(edge.weight)}"><attvalues><attvalue for="0" '
                f"value={_quoted(edge.relation)}/></attvalues></edge>\n"
            )
        file.write("</edges>\n</graph>\n</gexf>\n")


def _declare(file: IO[str], of: str, attributes: list[tuple[str, str]]) -> None:
    file.write(f'<attributes class="{of}" mode="static">')
    for number, (name, kind) in enumerate(attributes):
        file.write(f'<attribute id="{number}" title={_quoted(name)} type="{kind}"/>')
    file.write("</attributes>\n")


def is_our_graph(path: Path) -> bool:
    """Tell whether a file is an exported graph."""
    with path.open("rb") as file:
        return file.read(len(_START)) == _START.encode()


def _node_names(map_: Map) -> list[str]:
    """Name the nodes; characters that XML has no room for are replaced, and names still differ."""
    return distinct([_UNWRITABLE.sub("\ufffd", name) for name in full_names(map_)])


def _attributes(map_: Map) -> list[_Attribute]:
    """List what is known of the nodes; their ids are in their names."""
    table = map_.to_frame().drop_columns("id")
    found = []
    for name in table.column_names:
        column, kind = table.column(name), _type(table.column(name).type)
        values = column.to_pylist() if kind != "string" else column.cast(pa.string()).to_pylist()
        found.append(_Attribute(name, kind, values))
    return found


def _type(kind: Any) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return "long"
    return "double" if pa.types.is_floating(kind) else "string"


def _edge_type(map_: Map) -> str:
    """Edges have a direction as soon as one relation within a kind has: programs want all or none."""
    return "directed" if any(_has_direction(r) for r in map_.relations.values()) else "undirected"


def _has_direction(relation: Relation) -> bool:
    return relation.directed and relation.rows == relation.columns


def _edges(map_: Map, names: list[str]) -> Iterator[_Edge]:
    """Walk over all related pairs; in a graph without directions, a pair within a kind comes once."""
    sizes = [len(map_.group(kind)) for kind in map_.groups]
    starts = dict(zip(map_.groups, np.cumsum([0, *sizes]).tolist(), strict=False))
    once = _edge_type(map_) == "undirected"
    for relation in map_.relations.values():
        entries = coo_array(relation.matrix)
        i, j = (np.asarray(side, dtype=np.int64) for side in entries.coords)
        kept = entries.data != 0
        if once and relation.rows == relation.columns:
            kept &= i <= j
        sources, targets = i[kept] + starts[relation.rows], j[kept] + starts[relation.columns]
        weights = entries.data[kept].tolist()
        for source, target, weight in zip(sources.tolist(), targets.tolist(), weights, strict=True):
            yield _Edge(names[source], names[target], relation.name, weight)


def _text(value: Any) -> str:
    """Write a value as XML's own types are written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value) if isinstance(value, float) else str(value)


def _escaped(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text), {"\r": "&#13;"})


def _quoted(text: str) -> str:
    return quoteattr(_UNWRITABLE.sub("\ufffd", text))
