"""KnowledgeGraph: facts as (head, relation, tail) in training, validation and test triples."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from relscape.data import doors, fact_numbers, known
from relscape.data.dataset import RelationalData
from relscape.data.entities import EntitySet
from relscape.data.fact_relations import facts_of, relations_of
from relscape.data.fact_splits import dealt
from relscape.data.facts import as_facts
from relscape.data.labels import match, shown_labels
from relscape.data.redundancy import RedundantRelation, linked_in_training, redundant_relations
from relscape.errors import DataError, ParameterError, UnknownNameError, listing
from relscape.progress import note
from relscape.protocols import FloatArray, IntArray, TextArray

__all__ = ["SPLITS", "KnowledgeGraph"]

SPLITS = ("train", "valid", "test")


class KnowledgeGraph:
    """Facts as triples (head, relation, tail), in three splits: train, valid and test.

    Names are sorted before they are numbered, so the order of the facts cannot change a result; the facts
    themselves stay in the order given. A fact that repeats is dropped with a warning; warnings also tell of
    facts that two splits share, and of entities and relations that only valid or test name. A
    fact from an entity to itself is legal.

    Parameters
    ----------
    train, valid, test : n × 3 array, sequence of threes, or data frame
        Head, relation and tail, by names of any type. A frame is read by its column names (head, relation,
        tail or subject, predicate, object) or, where it has just three, by their order; a column "weight"
        of ``train`` gives the weights. Whole numbers are positions in ``entities`` and
        ``relations`` where these are given, and names otherwise.
    entities, relations : sequence of str, optional
        All names, in the order of their numbers; also such that no fact has.
    entity_labels : sequence or mapping, optional
        What to show a person: one label an entity, in their order, or by name. An empty or missing one
        shows the name.
    weights : sequence of float, optional
        How much each training triple counts, positive.

    Attributes
    ----------
    train, valid, test : int64 arrays of shape (n, 3)
        The numbers of head, relation and tail.
    entities, relations : arrays of str
        Names by number.
    entity_labels : array of str or None
        Labels by number.
    weights : array of float or None
        One a training triple.

    Examples
    --------
    >>> graph = KnowledgeGraph([("uk", "trades", "us"), ("us", "trades", "fr"), ("fr", "borders", "us")])
    >>> graph
    <KnowledgeGraph: 3 entities, 2 relations, 3 training, 0 validation and 0 test triples>
    >>> graph.train.tolist()
    [[1, 1, 2], [2, 1, 0], [0, 0, 2]]
    """

    def __init__(
        self,
        train: Any,
        valid: Any = None,
        test: Any = None,
        entities: Iterable[Any] | None = None,
        relations: Iterable[Any] | None = None,
        entity_labels: Iterable[Any] | Mapping[str, Any] | None = None,
        weights: Iterable[float] | None = None,
    ) -> None:
        parts = {
            split: as_facts(given, split) for split, given in zip(SPLITS, (train, valid, test), strict=True)
        }
        if not len(parts["train"]):
            raise DataError(f"{parts['train'].name} holds no triples; there is nothing to learn from.")
        triples, self.entities, self.relations = fact_numbers.number_facts(parts, entities, relations)
        weighted = fact_numbers.checked_weights(weights, parts["train"])
        keys = {split: self.keys(array) for split, array in triples.items()}
        kept = {split: fact_numbers.distinct_rows(keys[split], facts) for split, facts in parts.items()}
        triples = {split: array[kept[split]] for split, array in triples.items()}
        fact_numbers.warn_of_shared_triples({split: keys[split][kept[split]] for split in SPLITS}, parts)
        fact_numbers.warn_of_unseen_names(triples, parts, self.entities, self.relations)
        self.train: IntArray = triples["train"]
        self.valid: IntArray = triples["valid"]
        self.test: IntArray = triples["test"]
        self.weights: FloatArray | None = None if weighted is None else weighted[kept["train"]]
        self.entity_labels: TextArray | None = self._labels(entity_labels)

    def _labels(self, given: Iterable[Any] | Mapping[str, Any] | None) -> TextArray | None:
        if given is None:
            return None
        if isinstance(given, Mapping):
            given = [given.get(name) for name in self.entities]
        return shown_labels(given, self.entities, "entity")

    @classmethod
    def from_directory(
        cls, path: str | PathLike[str], labels: bool = True, encoding: str | None = None
    ) -> KnowledgeGraph:
        """Read a folder of files named train, valid and test.

        They may be text (``.txt``, ``.tsv``: tabs; ``.csv``; also compressed), Parquet or Arrow,
        with or without a line of column names, one triple a line. Only train is needed.

        Parameters
        ----------
        path : path
            The folder.
        labels : bool
            Whether to read labels from a file named entities or labels, where there is one: first the name
            of an entity, then its label.
        encoding : str, optional
            How the letters of text files are written; found by reading them unless given.
        """
        return doors.read_directory(path, labels, encoding)

    @classmethod
    def from_rdf(
        cls,
        path: str | PathLike[str] | Iterable[str | PathLike[str]],
        language: str = "en",
        prefixes: Mapping[str, str] | None = None,
    ) -> KnowledgeGraph:
        """Read RDF (N-Triples, Turtle, also compressed); all facts become training triples.

        Addresses are shortened to ``prefix:name``, by the prefixes that the files declare, common ones and
        those given. Facts about literals (texts, numbers, dates) are left out and counted in a warning;
        of them, ``rdfs:label`` gives the labels. Needs the extra ``rdf``.

        Parameters
        ----------
        path : path or sequence of paths
            Files or globs; several are read as one graph.
        language : str
            The language of labels; one without a language comes second, others are not used.
        prefixes : mapping of str to str, optional
            More prefixes: what each stands for.
        """
        return doors.read_rdf(path, language, prefixes)

    @classmethod
    def from_data(cls, data: RelationalData) -> KnowledgeGraph:
        """Take every relation of a data set as a predicate; :meth:`split` then holds out a part.

        Things are named ``kind:id`` where there are several kinds. Weights other than 1 weigh the facts.
        """
        facts = facts_of(data)
        return cls(
            facts.triples,
            entities=facts.entities,
            relations=facts.relations,
            entity_labels=facts.labels,
            weights=facts.weights,
        )

    def to_data(self, splits: str | Sequence[str] = SPLITS, kind: str = "entity") -> RelationalData:
        """Give the facts of some splits as relational data: one kind, one relation a predicate."""
        triples = self.triples(splits)
        weights = np.ones(len(triples))
        if self.weights is not None:
            known_weights = dict(zip(self.keys(self.train).tolist(), self.weights.tolist(), strict=True))
            weights = np.array([known_weights.get(key, 1.0) for key in self.keys(triples).tolist()])
        entities = EntitySet(kind, self.entities, self.entity_labels)
        return RelationalData([entities], relations_of(triples, weights, self.relations, entities))

    @property
    def n_entities(self) -> int:
        """How many entities there are."""
        return len(self.entities)

    @property
    def n_relations(self) -> int:
        """How many relations there are."""
        return len(self.relations)

    @property
    def shown(self) -> TextArray:
        """Labels of the entities where there are some, names otherwise."""
        return self.entities if self.entity_labels is None else self.entity_labels

    def triples(self, splits: str | Sequence[str] = SPLITS) -> IntArray:
        """Give the triples of some splits, one after another; of all, unless named."""
        chosen = (splits,) if isinstance(splits, str) else tuple(splits)
        for split in chosen:
            if split not in SPLITS:
                raise UnknownNameError("split", split, SPLITS)
        return np.concatenate([np.empty((0, 3), dtype=np.int64), *(getattr(self, split) for split in chosen)])

    def known_tails(self, splits: str | Sequence[str] = SPLITS) -> known.Known:
        """Index the tails that some splits give for every head and relation, for filtering."""
        return known.known_tails(self.triples(splits), self.n_relations)

    def known_heads(self, splits: str | Sequence[str] = SPLITS) -> known.Known:
        """Index the heads that some splits give for every tail and relation, for filtering."""
        return known.known_heads(self.triples(splits), self.n_relations)

    def keys(self, triples: IntArray) -> IntArray:
        """Give every triple one integer; equal triples, and only these, have equal ones."""
        return fact_numbers.triple_keys(triples, self.n_entities, self.n_relations)

    def entity(self, name: str, where: str = "") -> int:
        """Find the number of an entity by its name, or by its label where only one has it.

        ``where`` tells in a message about an unknown name where that was met.
        """
        found = np.flatnonzero(self.entities == name)
        if found.size == 0:
            found = np.flatnonzero(self.shown == name)
        if found.size == 0:
            raise UnknownNameError("entity", name, dict.fromkeys((*self.shown, *self.entities)), where)
        if found.size > 1:
            raise ParameterError(
                f"{found.size} entities are labelled {name!r}: {listing(self.entities[found])}; say which."
            )
        return int(found[0])

    def relation(self, name: str, where: str = "") -> int:
        """Find the number of a relation by its name; ``where`` as for :meth:`entity`."""
        found = np.flatnonzero(self.relations == name)
        if found.size == 0:
            raise UnknownNameError("relation", name, self.relations, where)
        return int(found[0])

    def numbered(self, triples: Any) -> IntArray:
        """Turn triples of names into numbers of this graph; unknown names are refused by their place."""
        part = {"triples": as_facts(triples, "triples")}
        return fact_numbers.number_facts(part, self.entities, self.relations)[0]["triples"]

    def named(self, triples: IntArray) -> TextArray:
        """Turn triples of numbers into names, n × 3."""
        columns = (self.entities[triples[:, 0]], self.relations[triples[:, 1]], self.entities[triples[:, 2]])
        return np.column_stack(columns)

    def split(
        self,
        valid: float = 0.05,
        test: float = 0.1,
        random_state: int | np.random.Generator | None = None,
        inverse_safe: bool = False,
    ) -> KnowledgeGraph:
        """Deal all triples anew into train, valid and test, so that nothing is tested that was never seen.

        Every entity and relation of the held-out triples also occurs in train. Where the graph is too
        sparse to hold out as many as wanted, fewer are, with a warning.

        Parameters
        ----------
        valid, test : float or int
            Shares of all triples (below 1), or numbers of triples.
        random_state : int, Generator or None
            Seed of the draw.
        inverse_safe : bool
            Whether all triples between two entities, in both directions, stay in one split, so that no
            answer can be read off an inverse or duplicate relation.
        """
        triples = self.triples()
        weights = self.weights
        if weights is not None:
            weights = np.append(weights, np.ones(len(triples) - len(weights)))
        parts = dealt(triples, self.n_entities, self.n_relations, valid, test, random_state, inverse_safe)
        train, held_out, asked = (triples[part] for part in parts)
        kept = None if weights is None else weights[parts[0]]
        return KnowledgeGraph(train, held_out, asked, self.entities, self.relations, self.entity_labels, kept)

    def redundant_relations(self, overlap: float = 0.97) -> list[RedundantRelation]:
        """List the relations that say nearly the same as another one, forwards or backwards."""
        return redundant_relations(self.triples(), self.n_entities, self.relations, overlap)

    def without_inverses(self, overlap: float = 0.97, most_frequent: int | None = None) -> KnowledgeGraph:
        """Leave out what can be looked up instead of predicted, in the way FB15k-237 was made of FB15k.

        Of relations whose pairs of entities coincide (in the same direction or the opposite one) by more
        than ``overlap`` of either, only the one with most triples stays; :meth:`redundant_relations` lists
        them. All splits are looked at, for a fact and its inverse often stand in different ones. Then
        validation and test triples go whose two entities training triples link, in whatever direction and
        by whatever relation. Entities and relations that are left without a triple go too.

        Parameters
        ----------
        overlap : float
            The share of common pairs above which two relations count as one.
        most_frequent : int, optional
            Keep only so many relations, those with most triples, before all else; FB15k-237 was
            made with 401.
        """
        kept = np.ones(self.n_relations, dtype=bool)
        triples = self.triples()
        if most_frequent is not None:
            counts = np.bincount(triples[:, 1], minlength=self.n_relations)
            kept[np.argsort(-counts, kind="stable")[most_frequent:]] = False
        frequent = triples[kept[triples[:, 1]]]
        dropped = redundant_relations(frequent, self.n_entities, self.relations, overlap)
        kept[match([pair.dropped for pair in dropped], self.relations)] = False
        for pair in dropped:
            note(str(pair))
        staying = kept[self.train[:, 1]]
        train = self.train[staying]
        held_out = []
        for triples in (self.valid, self.test):
            triples = triples[kept[triples[:, 1]]]
            held_out.append(triples[~linked_in_training(triples, train, self.n_entities)])
        weights = None if self.weights is None else self.weights[staying]
        return self._renumbered((train, *held_out), weights)

    def _renumbered(self, parts: Sequence[IntArray], weights: FloatArray | None) -> KnowledgeGraph:
        """Make a graph of some of the triples, with only those entities and relations that they name."""
        triples = np.concatenate(parts)
        used, ends = np.unique(triples[:, [0, 2]], return_inverse=True)
        predicates, middle = np.unique(triples[:, 1], return_inverse=True)
        ends = ends.reshape(-1, 2)
        renumbered = np.column_stack([ends[:, 0], middle, ends[:, 1]])
        labels = None if self.entity_labels is None else self.entity_labels[used]
        train, valid, test = np.split(renumbered, np.cumsum([len(part) for part in parts])[:-1])
        return KnowledgeGraph(
            train, valid, test, self.entities[used], self.relations[predicates], labels, weights
        )

    def fingerprint(self) -> str:
        """Digest names, triples and weights, so that a model can say what it was fitted on."""
        digest = hashlib.sha256()
        for names in (self.entities, self.relations):
            digest.update("\0".join([str(len(names)), *names, ""]).encode())
        for split in SPLITS:
            triples = getattr(self, split)
            digest.update(f"{split}{len(triples)}".encode())
            digest.update(np.ascontiguousarray(triples, dtype="<i8").data)
        if self.weights is not None:
            digest.update(np.ascontiguousarray(self.weights, dtype="<f8").data)
        return digest.hexdigest()

    def __repr__(self) -> str:
        entities = "1 entity" if self.n_entities == 1 else f"{self.n_entities:,} entities"
        relations = "1 relation" if self.n_relations == 1 else f"{self.n_relations:,} relations"
        return (
            f"<KnowledgeGraph: {entities}, {relations}, {len(self.train):,} training, {len(self.valid):,} "
            f"validation and {len(self.test):,} test triples>"
        )
