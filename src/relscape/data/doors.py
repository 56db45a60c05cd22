"""The one door from data to the sources above it, opened only when used.

The import law (CONTRIBUTING.md) allows these imports as an exception.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relscape.data.triples import KnowledgeGraph

__all__ = ["read_directory", "read_rdf"]


def read_directory(path: str | PathLike[str], labels: bool, encoding: str | None) -> KnowledgeGraph:
    """Read a folder of train, valid and test files."""
    from relscape.sources.triples import read_graph

    return read_graph(path, labels, encoding)


def read_rdf(
    path: str | PathLike[str] | Iterable[str | PathLike[str]],
    language: str,
    prefixes: Mapping[str, str] | None,
) -> KnowledgeGraph:
    """Read RDF files."""
    from relscape.sources.rdf import read_rdf as read

    return read(path, language, prefixes)
