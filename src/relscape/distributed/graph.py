"""A knowledge graph that is trained on a cluster, by parts of its entities."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from relscape.distributed.cluster import current_client
from relscape.distributed.rounds import Rounds, Traffic
from relscape.distributed.training import PartedEpochs
from relscape.errors import ParameterError
from relscape.models.checks import check_integer
from relscape.models.knowledge_graphs import as_graph
from relscape.solvers.triples.training import TrainingSet

__all__ = ["DistributedGraph"]

_LEAST_PARTS = 4

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


class DistributedGraph:
    """A knowledge graph whose entities are dealt into parts, two of which a worker trains at a time.

    ``KGEmbedding().fit(graph)`` takes it like any graph. The seed and the number of parts decide the result,
    to the bit where ``n_jobs=1``; the number of workers does not, unless ``n_parts`` is left to it.

    Parameters
    ----------
    graph : KnowledgeGraph, or anything KGEmbedding takes as one
        What is known.
    n_parts : int, optional
        Parts of the entities. Half as many pairs of them are trained at a time, so that more than
        ``n_parts / 2`` workers are of no use. Twice the workers there are, and at least 4, unless given.
    client : dask.distributed.Client, optional
        The cluster; the client made last unless given.

    Attributes
    ----------
    graph : KnowledgeGraph
        The facts.
    n_parts : int
        How many parts there are.
    """

    def __init__(self, graph: Any, n_parts: int | None = None, *, client: Any = None) -> None:
        self._rounds = Rounds(current_client(client))
        self.graph = as_graph(graph)
        if n_parts is None:
            n_parts = max(_LEAST_PARTS, 2 * len(self._rounds.client.nthreads()))
            n_parts = min(n_parts, max(2, self.graph.n_entities // 2))
        check_integer("n_parts", n_parts, 2)
        if n_parts > self.graph.n_entities:
            raise ParameterError(
                f"n_parts={n_parts}: there are {self.graph.n_entities} entities; give at most as many parts."
            )
        self.n_parts = int(n_parts)

    @classmethod
    def from_parquet(
        cls,
        train: Paths,
        valid: Paths | None = None,
        test: Paths | None = None,
        *,
        n_parts: int | None = None,
        client: Any = None,
    ) -> DistributedGraph:
        """Read facts file by file on the workers, which turn names into numbers; only these come here.

        Parameters
        ----------
        train, valid, test : path or sequence of paths
            Files (Parquet, or any table of facts that ``KnowledgeGraph.from_directory`` knows), globs, or
            folders of Parquet files, which all workers must see under the same paths. Names are numbered, and
            facts kept in order, as if all had been read here.
        n_parts, client
            As for the class.
        """
        from relscape.distributed.reading_facts import graph_of_files

        found = current_client(client)
        splits = {"train": train, "valid": valid, "test": test}
        return cls(graph_of_files(splits, found), n_parts, client=found)

    @property
    def traffic(self) -> Traffic:
        """Give what went between this process and the cluster so far."""
        return self._rounds.traffic

    def epochs(self, data: TrainingSet) -> PartedEpochs:
        """Give what trains epochs on some triples of the graph, as ``train_epoch`` does here."""
        return PartedEpochs(self._rounds, data, self.n_parts)

    def __repr__(self) -> str:
        return f"<DistributedGraph in {self.n_parts} parts: {self.graph!r}>"
