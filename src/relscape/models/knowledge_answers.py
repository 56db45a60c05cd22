"""What a trained knowledge graph can be asked, whatever trained it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from relscape.data import EntitySet
from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError
from relscape.maps import Map
from relscape.models.knowledge_graphs import graph_of, known_facts, triples_of
from relscape.models.knowledge_maps import map_of
from relscape.models.knowledge_queries import (
    Explanation,
    Prediction,
    Query,
    Questions,
    SimilarEntity,
    Suspicion,
)
from relscape.models.knowledge_scoring import Trained
from relscape.models.knowledge_settings import Plan
from relscape.protocols import FloatArray, IntArray
from relscape.scores.rank_counts import Counter, count_ranks
from relscape.scores.ranking import RankingReport

__all__ = ["TrainedGraph"]


class TrainedGraph(BaseEstimator):  # type: ignore[misc]
    """Base of :class:`~relscape.models.knowledge.KGEmbedding`: what was learned, and answers from it."""

    params_: dict[str, FloatArray]
    history_: list[dict[str, float]]
    changes_: list[dict[str, float]]
    validation_: dict[str, float]
    calibration_: FloatArray
    entities_: EntitySet
    relations_: EntitySet
    train_: IntArray
    valid_: IntArray
    test_: IntArray
    weights_: FloatArray
    best_epoch_: int
    n_epochs_: int
    n_parts_: int
    data_fingerprint_: str

    @abstractmethod
    def check(self) -> Plan:
        """Refuse parameters that cannot work; gives the plan of training with all settings filled in."""

    def _forget(self) -> None:
        """Drop what an earlier fit has learned."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _keep_graph(self, graph: KnowledgeGraph) -> None:
        """Keep the facts and names of a graph."""
        self._held = graph
        self.entities_ = EntitySet("entity", graph.entities, graph.entity_labels)
        self.relations_ = EntitySet("relation", graph.relations)
        self.train_, self.valid_, self.test_ = (
            part.astype(np.int32) for part in (graph.train, graph.valid, graph.test)
        )
        self.weights_ = np.empty(0) if graph.weights is None else graph.weights
        self.data_fingerprint_ = graph.fingerprint()

    @property
    def _graph(self) -> KnowledgeGraph:
        """The graph that was fitted, made again from what is kept when the model was loaded."""
        if not hasattr(self, "_held"):
            parts = (self.train_, self.valid_, self.test_)
            self._held = graph_of(parts, self.entities_, self.relations_, self.weights_)
        return self._held

    def _trained(self) -> Trained:
        check_is_fitted(self)
        plan = self.check()
        return Trained(plan.energy, self.params_, plan.settings, plan.reciprocal)

    def _questions(self) -> Questions:
        return Questions(self._trained(), self._graph, self.calibration_)

    # ------------------------------------------------------------------ figures

    def energy(self, triples: Any) -> FloatArray:
        """Give the energies of triples, by names or numbers, n × 3; low means likely."""
        trained = self._trained()
        return trained.energies(triples_of(triples, self._graph))

    def probability(self, triples: Any) -> FloatArray:
        """Give how likely triples are to be true: the mean of their chances as answers about head and tail.

        Either chance is that of a candidate of such an energy and rank among all entities, for questions that
        have an answer which is not known yet.
        """
        return self._questions().probability(triples_of(triples, self._graph))

    def rank(
        self,
        triples: Any = "test",
        known: KnowledgeGraph | Sequence[str] | None = None,
        *,
        ties: str = "realistic",
        exclude_self_loops: bool = False,
        count: Counter = count_ranks,
    ) -> RankingReport:
        """Rank the true heads and tails of triples among all entities.

        Parameters
        ----------
        triples : str or n × 3
            A split of the graph that was fitted, or triples by names or numbers.
        known : KnowledgeGraph or sequence of str, optional
            Facts that are not to count as mistakes: of a graph with the same entities and relations, or of
            some splits of the one that was fitted; all its splits unless given.
        ties : str
            "realistic", "optimistic" or "pessimistic".
        exclude_self_loops : bool
            Whether an entity is no candidate for relations that join none with itself in training.
        count : callable, optional
            What counts the candidates before an answer; on a cluster,
            :class:`relscape.distributed.RankCounter`.
        """
        trained = self._trained()
        graph, facts = known_facts(known, self._graph)
        numbers = triples_of(triples, self._graph)
        if isinstance(triples, str) and not len(numbers):
            raise DataError(
                f"there are no triples to rank: the graph that was fitted has an empty {triples} split. "
                "Train with some held out (graph.split(0.05, 0.1), or kg train --hold-out 0.05,0.1), name "
                "another split, or give triples."
            )
        return trained.rank(numbers, graph, facts, exclude_self_loops, ties, count)

    # ------------------------------------------------------------------ questions

    def predict(
        self,
        queries: Iterable[Query],
        top: int = 10,
        exclude_known: bool = True,
        exclude_self_loops: bool = True,
    ) -> list[list[Prediction]]:
        """Answer many questions at once.

        Parameters
        ----------
        queries : iterable of triples
            By names or numbers, one part None or "?": what is wanted.
        top : int
            How many answers to give, best first.
        exclude_known : bool
            Whether answers that the graph knows already are left out.
        exclude_self_loops : bool
            Whether the entity of a question is no answer to it for relations that join none with itself in
            training.
        """
        return self._questions().predict(queries, top, exclude_known, exclude_self_loops)

    def predict_tails(
        self,
        head: Any,
        relation: Any,
        top: int = 10,
        exclude_known: bool = True,
        exclude_self_loops: bool = True,
    ) -> list[Prediction]:
        """Give the most likely tails of a head and a relation; see :meth:`predict` for what is left out."""
        return self.predict([(head, relation, None)], top, exclude_known, exclude_self_loops)[0]

    def predict_heads(
        self,
        relation: Any,
        tail: Any,
        top: int = 10,
        exclude_known: bool = True,
        exclude_self_loops: bool = True,
    ) -> list[Prediction]:
        """Give the most likely heads of a relation and a tail; see :meth:`predict` for what is left out."""
        return self.predict([(None, relation, tail)], top, exclude_known, exclude_self_loops)[0]

    def predict_relations(
        self, head: Any, tail: Any, top: int = 10, exclude_known: bool = True
    ) -> list[Prediction]:
        """Give the relations that most likely join two entities; facts already known are left out."""
        return self.predict([(head, None, tail)], top, exclude_known)[0]

    def similar(self, entity: Any, top: int = 10) -> list[SimilarEntity]:
        """Give the entities whose vectors point most nearly the same way."""
        return self._questions().similar(entity, top)

    def explain(self, head: Any, relation: Any, tail: Any, top: int = 5) -> Explanation:
        """Set a triple beside the known facts that are most like it."""
        return self._questions().explain((head, relation, tail), top)

    def suspicious(
        self, top: int = 20, splits: str | Sequence[str] = "train", relations: Sequence[Any] | None = None
    ) -> list[Suspicion]:
        """Give the known facts that look wrong: those the model finds least likely, worst first.

        Parameters
        ----------
        top : int
            How many.
        splits : str or sequence of str
            The splits to look at.
        relations : sequence, optional
            Look only at facts of these relations.
        """
        return self._questions().suspicious(top, splits, relations)

    # ------------------------------------------------------------------ maps

    def to_map(self) -> Map:
        """Give entities and relations as a map, drawn by its plane of largest spread."""
        check_is_fitted(self)
        return map_of(self, self._graph)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again from the rest."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_held"}
