"""Questions to a trained knowledge graph: what follows, what is alike, why, and which facts look wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from relscape.data.fact_numbers import contained
from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError, ParameterError
from relscape.models.knowledge_calibration import fact_probabilities, probabilities
from relscape.models.knowledge_lists import Lists, list_ranks, lowest
from relscape.models.knowledge_scoring import Trained
from relscape.protocols import BoolArray, FloatArray, IntArray, TextArray

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

    The chance is that of an answer with such an energy at such a place of the list, for questions that have
    an answer which is not known yet. ``known`` tells whether the graph has this very fact.
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
    """A known fact, with the ranks of its head and tail among all entities that would make it new.

    An entity is not ranked as its own answer where training has no such fact.
    """

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
    entities, in either direction; ranks are among all entities, other known answers left out, and an entity
    as its own answer, too, where training has no such fact.
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

    @cached_property
    def _lists(self) -> Lists:
        return Lists(self.trained, self.graph)

    def predict(
        self, queries: Iterable[Query], top: int, exclude_known: bool, exclude_self_loops: bool
    ) -> list[list[Prediction]]:
        """Answer questions: triples of which one part is None or "?"; each answer is ordered by energy."""
        check_top(top)
        asked = [self._read(query, f"question {row}") for row, query in enumerate(queries, 1)]
        answers: list[list[Prediction]] = [[] for _ in asked]
        for part in range(3):
            rows = [row for row, (wanted, _) in enumerate(asked) if wanted == part]
            rows.sort(key=lambda row: asked[row][1][1])  # all questions about one relation together
            for start in range(0, len(rows), _BLOCK):
                block = rows[start : start + _BLOCK]
                found = self._lists.of(part, np.array([asked[row][1] for row in block], dtype=np.int64))
                for row, energies, known, loops in zip(block, *found, strict=True):
                    barred = loops if exclude_self_loops else np.zeros_like(loops)
                    answers[row] = self._best(part, energies, known, barred, top, exclude_known)
        return answers

    def _read(self, query: Query, where: str) -> tuple[int, tuple[int, int, int]]:
        """Find which part of a question is wanted, and the numbers of the others (0 for the wanted one)."""
        if isinstance(query, str) or len(query) != 3:
            raise ParameterError(f"{where}: {query!r} is no triple; write (head, relation, '?').")
        wanted = [part for part, value in enumerate(query) if value is None or value == "?"]
        if len(wanted) != 1:
            raise ParameterError(
                f"{where}: of {tuple(query)!r} exactly one part is to be '?', what you want to know."
            )
        find = (entity_number, relation_number, entity_number)
        numbers = [0 if part in wanted else find[part](self.graph, query[part], where) for part in range(3)]
        return wanted[0], (numbers[0], numbers[1], numbers[2])

    def _best(
        self,
        part: int,
        energies: FloatArray,
        known: BoolArray,
        barred: BoolArray,
        top: int,
        exclude_known: bool,
    ) -> list[Prediction]:
        names, labels = self._names(part)
        new = ~barred & ~known
        best = lowest(energies, new if exclude_known else ~barred, top)
        ranks = list_ranks(energies, new, best)
        chances = probabilities(energies[best], ranks, self.calibration[part])
        return [
            Prediction(str(names[i]), str(labels[i]), float(energies[i]), float(chance), bool(known[i]))
            for i, chance in zip(best, chances, strict=True)
        ]

    def _names(self, part: int) -> tuple[TextArray, TextArray]:
        if part == 1:
            return self.graph.relations, self.graph.relations
        return self.graph.entities, self.graph.shown

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
        head_rank, tail_rank = (self._rank(part, number) for part in (0, 2))
        energy = self.trained.energies(number)
        facts = self._lists.facts
        own = (facts == number).all(axis=1)
        alike = np.unique(facts[(facts[:, 1] == relation) & ~own], axis=0)
        rows = self._directions()
        squares = ((rows[alike[:, 0]] - rows[head]) ** 2).sum(axis=1)
        squares += ((rows[alike[:, 2]] - rows[tail]) ** 2).sum(axis=1)
        nearest = np.argsort(squares, kind="stable")[:top]
        ends = np.sort(facts[:, [0, 2]], axis=1)
        between = np.unique(facts[(ends == np.sort([head, tail])).all(axis=1) & ~own], axis=0)
        names = [str(part) for part in self.graph.named(number)[0]]
        distances = np.sqrt(squares[nearest]).tolist()
        return Explanation(
            head=names[0],
            relation=names[1],
            tail=names[2],
            energy=float(energy[0]),
            probability=float(fact_probabilities(energy, head_rank, tail_rank, self.calibration)[0]),
            known=bool(own.any()),
            head_rank=head_rank,
            tail_rank=tail_rank,
            alike=tuple(
                Alike(str(a), str(by), str(b), distance)
                for (a, by, b), distance in zip(self.graph.named(alike[nearest]), distances, strict=True)
            ),
            between=tuple((str(a), str(by), str(b)) for a, by, b in self.graph.named(between)),
        )

    def _rank(self, part: int, triple: IntArray) -> float:
        """Rank one end of a triple among all entities that would make a new fact in its place."""
        energies, known, loops = (rows[0] for rows in self._lists.of(part, triple))
        return float(list_ranks(energies, ~known & ~loops, triple[:, part])[0])

    # ------------------------------------------------------------------ what looks wrong

    def probability(self, triples: IntArray) -> FloatArray:
        """Give how likely triples are, by their energies and the ranks of their heads and tails."""
        if not len(triples):
            return np.empty(0)
        report = self.trained.rank(triples, self.graph, exclude_self_loops=True)
        energies = self.trained.energies(triples)
        return fact_probabilities(energies, report.heads.ranks, report.tails.ranks, self.calibration)

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
        if not len(facts):
            told = splits if isinstance(splits, str) else " and ".join(splits)
            of = "" if relations is None else " by these relations"
            raise DataError(f"there are no facts to look at in {told}{of}; name another split or relation.")
        report = self.trained.rank(facts, self.graph, exclude_self_loops=True)
        head_ranks, tail_ranks = report.heads.ranks, report.tails.ranks
        energies = self.trained.energies(facts)
        worst = np.lexsort((-energies, -head_ranks * tail_ranks))[:top]
        figures = (head_ranks[worst], tail_ranks[worst], energies[worst])
        chances = fact_probabilities(figures[2], figures[0], figures[1], self.calibration)
        columns = (column.tolist() for column in (*figures, chances))
        return [
            Suspicion(str(a), str(by), str(b), head_rank, tail_rank, energy, chance)
            for (a, by, b), head_rank, tail_rank, energy, chance in zip(
                self.graph.named(facts[worst]), *columns, strict=True
            )
        ]


def entity_number(graph: KnowledgeGraph, entity: Any, where: str = "") -> int:
    """Find an entity by name, label or number; ``where`` tells in a message where it was met."""
    if _is_number(entity):
        return _number(entity, graph.n_entities, "entity")
    return graph.entity(str(entity), where)


def relation_number(graph: KnowledgeGraph, relation: Any, where: str = "") -> int:
    """Find a relation by name or number."""
    if _is_number(relation):
        return _number(relation, graph.n_relations, "relation")
    return graph.relation(str(relation), where)


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
