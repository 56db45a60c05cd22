"""Questions to a trained knowledge graph: what follows, what is alike, why, and which facts look wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from relscape.data.fact_numbers import contained
from relscape.data.triples import KnowledgeGraph
from relscape.errors import ParameterError
from relscape.models.knowledge_calibration import probabilities
from relscape.models.knowledge_scoring import Trained
from relscape.protocols import FloatArray, IntArray, TextArray

__all__ = [
    "Alike",
    "Explanation",
    "Prediction",
    "Query",
    "Questions",
    "SimilarEntity",
    "Suspicion",
    "entity_number",
    "relation_number",
]

Query: TypeAlias = tuple[Any, Any, Any]
_BLOCK = 256


class Prediction(NamedTuple):
    """One answer to a question: its name and label, its energy, and how likely it is to be true.

    ``known`` tells whether the graph has this very fact.
    """

    name: str
    label: str
    energy: float
    probability: float
    known: bool


class SimilarEntity(NamedTuple):
    """An entity near another one, with the cosine of their vectors."""

    name: str
    label: str
    similarity: float


class Alike(NamedTuple):
    """A known fact of the same relation, with the distance of its two entities from those asked about."""

    head: str
    relation: str
    tail: str
    distance: float


class Suspicion(NamedTuple):
    """A known fact, with the ranks of its head and tail among all entities that would make it new."""

    head: str
    relation: str
    tail: str
    head_rank: float
    tail_rank: float
    energy: float
    probability: float


@dataclass(frozen=True)
class Explanation:
    """Why a triple looks true or not.

    ``alike`` are the nearest known facts of the same relation, ``between`` all known facts that join the two
    entities, in either direction; ranks are among all entities, other known answers left out.
    """

    head: str
    relation: str
    tail: str
    energy: float
    probability: float
    known: bool
    head_rank: float
    tail_rank: float
    alike: tuple[Alike, ...]
    between: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, eq=False)
class Questions:
    """A trained model with the graph whose facts it knows, ready to answer."""

    trained: Trained
    graph: KnowledgeGraph
    calibration: FloatArray

    # ------------------------------------------------------------------ what follows

    def predict(self, queries: Iterable[Query], top: int, exclude_known: bool) -> list[list[Prediction]]:
        """Answer questions: triples of which one part is None or "?"; each answer is ordered by energy."""
        check_top(top)
        asked = [self._read(query, row) for row, query in enumerate(queries)]
        answers: list[list[Prediction]] = [[] for _ in asked]
        for part in range(3):
            rows = [row for row, (wanted, _) in enumerate(asked) if wanted == part]
            for start in range(0, len(rows), _BLOCK):
                block = rows[start : start + _BLOCK]
                triples = np.array([asked[row][1] for row in block], dtype=np.int64)
                for row, triple, energies in zip(block, triples, self._energies(part, triples), strict=True):
                    answers[row] = self._best(part, triple, energies, top, exclude_known)
        return answers

    def _read(self, query: Query, row: int) -> tuple[int, tuple[int, int, int]]:
        """Find which part of a question is wanted, and the numbers of the others (0 for the wanted one)."""
        if isinstance(query, str) or len(query) != 3:
            raise ParameterError(f"question {row}: {query!r} is no triple; write (head, relation, '?').")
        wanted = [part for part, value in enumerate(query) if value is None or value == "?"]
        if len(wanted) != 1:
            raise ParameterError(
                f"question {row}: of {tuple(query)!r} exactly one part is to be '?', what you want to know."
            )
        find = (entity_number, relation_number, entity_number)
        numbers = [0 if part in wanted else find[part](self.graph, query[part]) for part in range(3)]
        return wanted[0], (numbers[0], numbers[1], numbers[2])

    def _energies(self, part: int, triples: IntArray) -> FloatArray:
        if part == 2:
            return self.trained.tails_of(triples[:, 0], triples[:, 1])
        if part == 0:
            return self.trained.heads_of(triples[:, 2], triples[:, 1])
        n = self.graph.n_relations
        completed = np.repeat(triples, n, axis=0)
        completed[:, 1] = np.tile(np.arange(n), len(triples))
        return self.trained.energies(completed).reshape(len(triples), n)

    def _best(
        self, part: int, triple: IntArray, energies: FloatArray, top: int, exclude_known: bool
    ) -> list[Prediction]:
        names, labels = self._names(part)
        known = np.zeros(len(names), dtype=bool)
        known[self._known(part, triple)] = True
        order = np.argsort(energies, kind="stable")
        if exclude_known:
            order = order[~known[order]]
        best = order[:top]
        chances = probabilities(energies[best], self.calibration)
        return [
            Prediction(str(names[i]), str(labels[i]), float(energies[i]), float(chance), bool(known[i]))
            for i, chance in zip(best, chances, strict=True)
        ]

    def _names(self, part: int) -> tuple[TextArray, TextArray]:
        if part == 1:
            return self.graph.relations, self.graph.relations
        return self.graph.entities, self.graph.shown

    @cached_property
    def _columns(self) -> tuple[IntArray, IntArray, IntArray]:
        """Heads, relations and tails of all facts, each in one piece."""
        head, relation, tail = np.ascontiguousarray(self.graph.triples().T)
        return head, relation, tail

    def _known(self, part: int, triple: IntArray) -> IntArray:
        one, other = (place for place in range(3) if place != part)
        same = (self._columns[one] == triple[one]) & (self._columns[other] == triple[other])
        return np.asarray(self._columns[part][same])

    # ------------------------------------------------------------------ what is alike, and why

    def similar(self, entity: Any, top: int) -> list[SimilarEntity]:
        """Give the entities whose vectors point most nearly the same way."""
        check_top(top)
        number = entity_number(self.graph, entity)
        rows = self._directions()
        cosines = rows @ rows[number]
        order = np.argsort(-cosines, kind="stable")
        best = order[order != number][:top]
        names, labels = self._names(0)
        return [SimilarEntity(str(names[i]), str(labels[i]), float(cosines[i])) for i in best]

    def _directions(self) -> FloatArray:
        rows = self.trained.params["entities"].astype(np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))

    def explain(self, triple: Query, top: int) -> Explanation:
        """Set a triple beside the known facts that are most like it."""
        check_top(top)
        head, tail = (entity_number(self.graph, triple[part]) for part in (0, 2))
        relation = relation_number(self.graph, triple[1])
        number = np.array([(head, relation, tail)])
        report = self.trained.rank(number, self.graph)
        energy = self.trained.energies(number)
        facts = self.graph.triples()
        facts = facts[np.unique(self.graph.keys(facts), return_index=True)[1]]
        own = (facts == number).all(axis=1)
        alike = facts[(facts[:, 1] == relation) & ~own]
        rows = self._directions()
        squares = ((rows[alike[:, 0]] - rows[head]) ** 2).sum(axis=1)
        squares += ((rows[alike[:, 2]] - rows[tail]) ** 2).sum(axis=1)
        nearest = np.argsort(squares, kind="stable")[:top]
        ends = np.sort(facts[:, [0, 2]], axis=1)
        between = facts[(ends == np.sort([head, tail])).all(axis=1) & ~own]
        names = [str(part) for part in self.graph.named(number)[0]]
        distances = np.sqrt(squares[nearest]).tolist()
        return Explanation(
            head=names[0],
            relation=names[1],
            tail=names[2],
            energy=float(energy[0]),
            probability=float(probabilities(energy, self.calibration)[0]),
            known=bool(own.any()),
            head_rank=report.heads.mean_rank,
            tail_rank=report.tails.mean_rank,
            alike=tuple(
                Alike(str(a), str(by), str(b), distance)
                for (a, by, b), distance in zip(self.graph.named(alike[nearest]), distances, strict=True)
            ),
            between=tuple((str(a), str(by), str(b)) for a, by, b in self.graph.named(between)),
        )

    # ------------------------------------------------------------------ what looks wrong

    def suspicious(
        self, top: int, splits: str | Sequence[str], relations: Sequence[Any] | None
    ) -> list[Suspicion]:
        """Give the known facts that the model finds least likely, worst first.

        A fact is as unlikely as its head and tail stand far down among all entities that would make a new
        fact in their place: by the geometric mean of the two ranks, then by energy. So relations whose
        energies are of another size, and entities with many true answers, are judged fairly.
        """
        check_top(top)
        facts = self.graph.triples(splits)
        if relations is not None:
            wanted = [relation_number(self.graph, relation) for relation in relations]
            facts = facts[contained(facts[:, 1], np.array(wanted, dtype=np.int64))]
        report = self.trained.rank(facts, self.graph)
        head_ranks, tail_ranks = report.heads.ranks, report.tails.ranks
        energies = self.trained.energies(facts)
        worst = np.lexsort((-energies, -head_ranks * tail_ranks))[:top]
        figures = (head_ranks[worst], tail_ranks[worst], energies[worst])
        columns = (column.tolist() for column in (*figures, probabilities(energies[worst], self.calibration)))
        return [
            Suspicion(str(a), str(by), str(b), head_rank, tail_rank, energy, chance)
            for (a, by, b), head_rank, tail_rank, energy, chance in zip(
                self.graph.named(facts[worst]), *columns, strict=True
            )
        ]


def entity_number(graph: KnowledgeGraph, entity: Any) -> int:
    """Find an entity by name, label or number."""
    return _number(entity, graph.n_entities, "entity") if _is_number(entity) else graph.entity(str(entity))


def relation_number(graph: KnowledgeGraph, relation: Any) -> int:
    """Find a relation by name or number."""
    if _is_number(relation):
        return _number(relation, graph.n_relations, "relation")
    return graph.relation(str(relation))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _number(value: Any, size: int, what: str) -> int:
    if not 0 <= value < size:
        raise ParameterError(f"{what} {value}: there are {size}, numbered from 0 to {size - 1}.")
    return int(value)


def check_top(top: Any) -> None:
    """Refuse a number of answers that is none."""
    if not _is_number(top) or top < 1:
        raise ParameterError(f"top={top!r}: give a whole number of at least 1.")
