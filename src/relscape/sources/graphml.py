"""GraphML files, read piece by piece: nodes, what is known of them, and edges."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from relscape.errors import FormatError

__all__ = ["read_graphml"]

_TYPES: dict[str, Callable[[str], Any]] = {
    "boolean": lambda text: text.strip().lower() in {"true", "1"},
    "int": int,
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
}


class _Key:
    """A declared attribute: its name, whose it is, how to read its text, and what holds without one."""

    def __init__(self, element: Any, path: Path) -> None:
        self.of = element.get("for", "all")
        self.name = element.get("attr.name") or element.get("id")
        self.read: Callable[[str], Any] = _TYPES.get(element.get("attr.type", "string"), str)
        default = next((child.text for child in element if _tag(child) == "default"), None)
        try:
            self.default = None if default is None else self.read(default)
        except ValueError as error:
            raise FormatError(
                f"{path}: the default of the attribute {self.name!r} is {default!r}, not the number that its "
                "declaration promises. Correct it."
            ) from error


def read_graphml(
    path: Path, weight: str | None = "weight"
) -> tuple[list[str], dict[str, list[Any]], list[str], list[str], list[Any], bool]:
    """Read ids and attributes of nodes, ends and weights of edges, and whether these have directions.

    An edge without the attribute ``weight`` weighs 1. A graph that mixes edges with and without a direction
    has directions, and those without go both ways. Nodes of nested graphs are nodes like others.
    """
    reader = _Reader(path, weight)
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as stream:
            reader.read(stream)
    except (ElementTree.ParseError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(
            f"{path} is not a GraphML file that can be read ({error}). If it is cut off or damaged, make it "
            "again."
        ) from error
    return reader.result()


class _Reader:
    def __init__(self, path: Path, weight: str | None) -> None:
        self.path, self.weight = path, weight
        self.keys: dict[str, _Key] = {}
        self.nodes: list[str] = []
        self.told: list[dict[str, Any]] = []
        self.edges: list[tuple[str, str, Any, bool]] = []
        self.directed_by_default = True
        self.seen_graph = False

    def read(self, stream: Any) -> None:
        open_elements: list[Any] = []
        for event, element in ElementTree.iterparse(stream, events=("start", "end")):
            tag = _tag(element)
            if event == "start":
                open_elements.append(element)
                self._start(tag, element, len(open_elements))
                continue
            open_elements.pop()
            if tag == "key":
                self.keys[element.get("id", "")] = _Key(element, self.path)
            elif tag == "node":
                self._node(element)
            elif tag == "edge":
                self._edge(element)
            elif tag == "hyperedge":
                raise FormatError(f"{self.path} has hyperedges; only edges of two ends can be read.")
            if tag in {"node", "edge"}:
                element.clear()
                if open_elements:
                    open_elements[-1].remove(element)

    def _start(self, tag: str, element: Any, depth: int) -> None:
        if depth == 1 and tag != "graphml":
            raise FormatError(f"{self.path} is XML, but begins with {tag!r}: it is not a GraphML file.")
        if tag == "graph" and depth == 2:
            if self.seen_graph:
                raise FormatError(f"{self.path} has several graphs; expected one.")
            self.seen_graph = True
            self.directed_by_default = element.get("edgedefault", "undirected") == "directed"

    def _node(self, element: Any) -> None:
        name = element.get("id")
        if name is None:
            raise FormatError(f"{self.path}: node {len(self.nodes) + 1} has no id.")
        self.nodes.append(name)
        self.told.append(self._data(element, "node"))

    def _edge(self, element: Any) -> None:
        source, target = element.get("source"), element.get("target")
        if source is None or target is None:
            raise FormatError(f"{self.path}: edge {len(self.edges) + 1} has no source or no target.")
        directed = {"true": True, "false": False}.get(element.get("directed"), self.directed_by_default)
        weight = 1.0 if self.weight is None else self._data(element, "edge").get(self.weight, 1.0)
        self.edges.append((source, target, weight, directed))

    def _data(self, element: Any, of: str) -> dict[str, Any]:
        keys = [key for key in self.keys.values() if key.of in {of, "all"}]
        told = {key.name: key.default for key in keys if key.default is not None}
        for child in element:
            key = self.keys.get(child.get("key", "")) if _tag(child) == "data" else None
            if key is not None and child.text is not None:
                try:
                    told[key.name] = key.read(child.text)
                except ValueError as error:
                    raise FormatError(
                        f"{self.path}: the attribute {key.name!r} of a {of} is {child.text!r}, not the "
                        "number that its declaration promises. Correct it."
                    ) from error
        return told

    def result(self) -> tuple[list[str], dict[str, list[Any]], list[str], list[str], list[Any], bool]:
        if not self.seen_graph:
            raise FormatError(f"{self.path} has no graph.")
        names = dict.fromkeys(name for told in self.told for name in told)
        fields = {name: [told.get(name) for told in self.told] for name in names}
        directed = any(edge[3] for edge in self.edges) or (self.directed_by_default and not self.edges)
        edges = [edge[:3] for edge in self.edges]
        if directed:
            edges += [(b, a, w) for a, b, w, one_way in self.edges if not one_way and a != b]
        sources, targets, weights = ([edge[k] for edge in edges] for k in range(3))
        return self.nodes, fields, sources, targets, weights, directed


def _tag(element: Any) -> str:
    """Give the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]
