"""Link prediction: where true heads and tails stand among all entities, ordered by energy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relscape.data.known import Known
from relscape.data.triple_statistics import count_relations, partition, relation_categories
from relscape.data.triples import SPLITS, KnowledgeGraph
from relscape.errors import DataError
from relscape.protocols import BoolArray, IntArray, TextArray
from relscape.scores.rank_counts import Counter, Scorer, count_ranks
from relscape.scores.ranking_report import RankingReport

__all__ = ["Filter", "RankingReport", "loopless_relations", "rank_triples", "triple_classes"]


class Filter(NamedTuple):
    """The known answers to questions about tails and about heads."""

    tails: Known
    heads: Known

    @classmethod
    def of(cls, graph: KnowledgeGraph, splits: tuple[str, ...] = SPLITS) -> Filter:
        """Index what some splits of a graph know."""
        return cls(graph.known_tails(splits), graph.known_heads(splits))


def rank_triples(
    tails_of: Scorer,
    heads_of: Scorer,
    triples: IntArray,
    graph: KnowledgeGraph,
    *,
    known: Filter | None = None,
    exclude_self_loops: bool = False,
    ties: str = "realistic",
    count: Counter = count_ranks,
) -> RankingReport:
    """Rank the head and the tail of every triple among all entities, raw and filtered.

    Parameters
    ----------
    tails_of : callable
        ``tails_of(heads, relations)`` gives the energies of all entities as tails, one row a question.
    heads_of : callable
        ``heads_of(tails, relations)`` gives those of all entities as heads.
    triples : integer array of shape (n, 3)
        What to rank, by numbers of the graph.
    graph : KnowledgeGraph
        Says how many entities and relations there are, and gives the classes of triples: categories of
        relations by all its splits, and what its training triples know reversed.
    known : Filter, optional
        Other true answers, not to be counted as mistakes; all that the graph knows unless given.
    exclude_self_loops : bool
        Whether an entity is no candidate for relations that join none with itself in training.
    ties : str
        "realistic" (the default), "optimistic" or "pessimistic".
    count : callable
        Counts as :func:`~relscape.scores.rank_counts.count_ranks` does, perhaps elsewhere.

    Examples
    --------
    >>> graph = KnowledgeGraph([(0, 0, 1), (1, 0, 2)], entities=["a", "b", "c"], relations=["r"])
    >>> line = np.arange(3.0)
    >>> report = rank_triples(
    ...     lambda heads, _: np.abs(line[heads, None] + 1 - line),
    ...     lambda tails, _: np.abs(line + 1 - line[tails, None]),
    ...     graph.train,
    ...     graph,
    ... )
    >>> report.mean_rank, report.hits[1]
    (1.0, 1.0)
    """
    triples = np.asarray(triples, dtype=np.int64)
    if not len(triples):
        raise DataError("there are no triples to rank; give some, or a graph with a split of that name.")
    filters = Filter.of(graph) if known is None else known
    loopless = loopless_relations(graph) if exclude_self_loops else None
    head, relation, tail = triples.T
    questions = {
        "heads": (heads_of, tail, head, filters.heads),
        "tails": (tails_of, head, tail, filters.tails),
    }
    counts = {
        side: count(
            scorer,
            asked,
            relation,
            answers,
            n_entities=graph.n_entities,
            n_relations=graph.n_relations,
            known=index,
            loopless=loopless,
            title=f"ranking {side}",
        )
        for side, (scorer, asked, answers, index) in questions.items()
    }
    return RankingReport(counts, triple_classes(triples, graph), ties=ties)


def loopless_relations(graph: KnowledgeGraph) -> BoolArray:
    """Tell which relations join no entity with itself in training."""
    loops = graph.train[:, 0] == graph.train[:, 2]
    loopless = np.ones(graph.n_relations, dtype=bool)
    loopless[graph.train[loops, 1]] = False
    return loopless


def triple_classes(triples: IntArray, graph: KnowledgeGraph) -> dict[str, TextArray]:
    """Name the category of every triple's relation, what training knows reversed, and the relation itself."""
    counts = count_relations(graph.triples(), graph.n_entities, graph.n_relations)
    return {
        "category": relation_categories(counts)[triples[:, 1]],
        "partition": partition(triples, graph.train, graph.n_entities, graph.n_relations),
        "relation": graph.relations[triples[:, 1]],
    }
