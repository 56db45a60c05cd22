"""What a knowledge graph is like, and how far a test on it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from relscape.data.fact_numbers import contained
from relscape.data.redundancy import Overlap, relation_overlaps
from relscape.data.triple_statistics import (
    CATEGORIES,
    PARTITIONS,
    RelationCounts,
    count_relations,
    partition,
    relation_categories,
)
from relscape.data.triples import SPLITS, KnowledgeGraph
from relscape.protocols import IntArray, TextArray

__all__ = ["Degrees", "GraphReport", "RelationReport", "inspect"]


@dataclass(frozen=True)
class Degrees:
    """In how many triples the entities take part, over all splits; a triple to itself counts twice."""

    mean: float
    median: float
    largest: int
    largest_entity: str
    once: int
    never: int


@dataclass(frozen=True)
class RelationReport:
    """One relation that has triples, over all splits.

    ``reversed_share`` is the share of its triples that it also has from tail to head (its own loops left
    out): 1 for a symmetric relation.
    """

    name: str
    triples: int
    heads: int
    tails: int
    tails_per_head: float
    heads_per_tail: float
    category: str
    reversed_share: float


@dataclass(frozen=True)
class GraphReport:
    """What :func:`inspect` finds. Printing it gives a summary; ``to_dict`` gives everything.

    ``category_triples`` counts test triples by their relation's category, ``partition`` by what training
    knows reversed, ``shared`` the triples that two splits share, ``unseen`` the entities and relations of
    valid and test that training lacks. ``overlaps`` are pairs of relations with nearly the same pairs of
    entities, the same way round or inverse, largest first.
    """

    n_entities: int
    n_relations: int
    n_triples: Mapping[str, int]
    degrees: Degrees
    relations: tuple[RelationReport, ...]
    category_relations: Mapping[str, int]
    category_triples: Mapping[str, int]
    partition: Mapping[str, int]
    shared: Mapping[str, int]
    unseen: Mapping[str, int]
    self_loops: Mapping[str, int]
    single_triple_relations: tuple[str, ...]
    overlaps: tuple[Overlap, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers, texts, lists and dicts."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(f"{what:<24} {said}" for what, said in self.summary())

    def summary(self) -> list[tuple[str, str]]:
        """Give the figures a person asks for first, as pairs of texts."""
        d = self.degrees
        inverse = sum(overlap.inverse for overlap in self.overlaps)
        lines = [
            ("entities", f"{self.n_entities:,}"),
            ("relations", f"{self.n_relations:,}"),
            ("triples", _listed(self.n_triples)),
            (
                "triples an entity",
                f"mean {d.mean:.4g}, median {d.median:.4g}, most {d.largest:,} ({d.largest_entity}), "
                f"once {d.once:,}, never {d.never:,}",
            ),
            ("relations by category", _shares(self.category_relations)),
            ("relations of one triple", f"{len(self.single_triple_relations):,}"),
            (
                "overlapping relations",
                f"{inverse:,} inverse pairs, {len(self.overlaps) - inverse:,} duplicates",
            ),
            ("self loops", _listed(self.self_loops)),
            ("shared by splits", _listed(self.shared)),
            ("unseen in training", _listed(self.unseen)),
        ]
        if self.n_triples["test"]:
            lines += [
                ("test by category", _shares(self.category_triples)),
                ("test, known reversed", _shares(self.partition)),
            ]
        return lines


def inspect(graph: KnowledgeGraph, overlap: float = 0.8) -> GraphReport:
    """Look a knowledge graph over: sizes, kinds of relations, and what makes its test easier than it looks.

    Parameters
    ----------
    graph : KnowledgeGraph
        The graph.
    overlap : float
        Report two relations as overlapping when they share more than this part of the entity pairs of
        either, in the same direction or the opposite one.

    Examples
    --------
    >>> graph = KnowledgeGraph([("a", "likes", "b"), ("b", "likes", "c")], test=[("b", "likes", "a")])
    >>> inspect(graph).partition
    {'reciprocal': 1, 'reverse': 0, 'other': 0}
    """
    triples = graph.triples()
    counts = count_relations(triples, graph.n_entities, graph.n_relations)
    categories = relation_categories(counts)
    kinds = partition(graph.test, graph.train, graph.n_entities, graph.n_relations)
    return GraphReport(
        graph.n_entities,
        graph.n_relations,
        {split: len(getattr(graph, split)) for split in SPLITS},
        _degrees(graph, triples),
        _relations(graph, triples, counts, categories),
        _tally(categories[counts.triples > 0], CATEGORIES),
        _tally(categories[graph.test[:, 1]], CATEGORIES),
        _tally(kinds, PARTITIONS),
        _shared(graph),
        _unseen(graph),
        {s: int((getattr(graph, s)[:, 0] == getattr(graph, s)[:, 2]).sum()) for s in SPLITS},
        tuple(graph.relations[counts.triples == 1].tolist()),
        tuple(relation_overlaps(triples, graph.n_entities, graph.relations, overlap)),
    )


def _degrees(graph: KnowledgeGraph, triples: IntArray) -> Degrees:
    degrees = np.bincount(triples[:, [0, 2]].ravel(), minlength=graph.n_entities)
    top = int(degrees.argmax())
    return Degrees(
        float(degrees.mean()),
        float(np.median(degrees)),
        int(degrees[top]),
        str(graph.shown[top]),
        int((degrees == 1).sum()),
        int((degrees == 0).sum()),
    )


def _relations(
    graph: KnowledgeGraph, triples: IntArray, counts: RelationCounts, categories: TextArray
) -> tuple[RelationReport, ...]:
    apart = np.unique(graph.keys(triples[triples[:, 0] != triples[:, 2]]))
    relation = apart // graph.n_entities % graph.n_relations
    tail, head = apart % graph.n_entities, apart // (graph.n_entities * graph.n_relations)
    reversed_ = contained(graph.keys(np.column_stack([tail, relation, head])), apart)
    found = np.bincount(relation, weights=reversed_, minlength=graph.n_relations)
    sizes = np.maximum(np.bincount(relation, minlength=graph.n_relations), 1)
    columns = (
        graph.relations,
        counts.triples,
        counts.heads,
        counts.tails,
        counts.tails_per_head,
        counts.heads_per_tail,
        categories,
        found / sizes,
    )
    used = counts.triples > 0
    rows = zip(*(column[used].tolist() for column in columns), strict=True)
    return tuple(RelationReport(*row) for row in rows)


def _shared(graph: KnowledgeGraph) -> dict[str, int]:
    keys = {split: graph.keys(getattr(graph, split)) for split in SPLITS}
    return {f"{a} and {b}": int(contained(keys[b], keys[a]).sum()) for a, b in combinations(SPLITS, 2)}


def _unseen(graph: KnowledgeGraph) -> dict[str, int]:
    held_out = graph.triples(("valid", "test"))
    return {
        kind: int(np.setdiff1d(held_out[:, columns], graph.train[:, columns]).size)
        for kind, columns in (("entities", [0, 2]), ("relations", [1]))
    }


def _tally(values: TextArray, names: tuple[str, ...]) -> dict[str, int]:
    return {name: int((values == name).sum()) for name in names}


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _shares(counts: Mapping[str, int]) -> str:
    whole = max(sum(counts.values()), 1)
    return ", ".join(f"{name} {count:,} ({count / whole:.1%})" for name, count in counts.items())
