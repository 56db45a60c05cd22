"""What a knowledge-graph model is given: graphs, triples and filters, by names or by numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from relscape.data import EntitySet, RelationalData
from relscape.data.facts import Facts
from relscape.data.triples import SPLITS, KnowledgeGraph
from relscape.errors import DataError, ParameterError, RelscapeWarning
from relscape.protocols import FloatArray, IntArray
from relscape.scores.ranking import Filter
from relscape.solvers.triples.batches import Params, TrainableEnergy
from relscape.solvers.triples.options import Options
from relscape.solvers.triples.training import EpochReport, State, TrainingSet

__all__ = ["Epochs", "SpreadGraph", "as_graph", "graph_of", "known_facts", "triples_of"]

Epochs: TypeAlias = Callable[[TrainableEnergy, Params, State, Options], EpochReport]
"""Goes once over all triples; parameters and state move in place."""


@runtime_checkable
class SpreadGraph(Protocol):
    """A graph that is trained in parts elsewhere: :class:`relscape.distributed.DistributedGraph`."""

    graph: KnowledgeGraph
    n_parts: int

    def epochs(self, data: TrainingSet) -> Epochs:
        """Give what trains epochs on some triples."""
        ...


def as_graph(given: Any) -> KnowledgeGraph:
    """Take a graph as it is, every relation of relational data as a predicate, or plain training triples."""
    if isinstance(given, KnowledgeGraph):
        return given
    if isinstance(given, RelationalData):
        return KnowledgeGraph.from_data(given)
    return KnowledgeGraph(given)


def graph_of(
    parts: Sequence[IntArray], entities: EntitySet, relations: EntitySet, weights: FloatArray
) -> KnowledgeGraph:
    """Make a graph again from what a model keeps; what was warned of when it was made is not said again."""
    train, valid, test = parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        return KnowledgeGraph(
            train,
            valid,
            test,
            entities.ids,
            relations.ids,
            entities.labels,
            weights if weights.size else None,
        )


def triples_of(given: Any, graph: KnowledgeGraph) -> IntArray:
    """Give triples as numbers of the graph: of a split by its name, or given by names or numbers."""
    if isinstance(given, str):
        return graph.triples(given)
    if isinstance(given, Facts) or not isinstance(given, np.ndarray) or given.dtype.kind not in "iu":
        return graph.numbered(given)
    return graph.numbered(np.atleast_2d(given))


def known_facts(
    known: KnowledgeGraph | Sequence[str] | None, graph: KnowledgeGraph
) -> tuple[KnowledgeGraph, Filter]:
    """Give the graph that says what is known, and the index of it by which ranks are filtered."""
    if known is None:
        return graph, Filter.of(graph)
    if isinstance(known, KnowledgeGraph):
        for kind in ("entities", "relations"):
            if not np.array_equal(getattr(known, kind), getattr(graph, kind)):
                raise DataError(
                    f"known: this graph has other {kind} than the one the model was fitted on, or "
                    "in another order. Make it with the entities and relations of the fitted graph."
                )
        return known, Filter.of(known)
    splits = (known,) if isinstance(known, str) else tuple(known)
    if not splits:
        raise ParameterError(f"known: name at least one split of {', '.join(SPLITS)}, or give a graph.")
    return graph, Filter.of(graph, splits)
