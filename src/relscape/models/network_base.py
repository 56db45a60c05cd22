"""What all models of document networks share: documents and links, suggestions, ranks, maps, saving."""

from __future__ import annotations

import platform
from abc import abstractmethod
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from relscape.data import EntitySet, Relation
from relscape.data.links import read_links
from relscape.errors import ParameterError
from relscape.maps import Map
from relscape.models.base import group_of
from relscape.models.checks import check_choice, generator
from relscape.models.feature_inputs import Features, read_new_features
from relscape.models.network_answers import SuggestedLink, document_position, suggested
from relscape.models.network_inputs import in_direction, read_network
from relscape.models.saving import SavedModel
from relscape.models.state import model_state, plain_parameters
from relscape.protocols import FloatArray, IntArray
from relscape.scores.links import LinkReport, rank_links
from relscape.threads import one_thread

__all__ = ["DIRECTIONS", "NetworkModel"]

DIRECTIONS = ("out", "in")
BLOCK_ENTRIES = 1_000_000  # scores of new documents that are kept at a time
_PACKAGES = ("relscape", "numpy", "scipy", "numba")


class NetworkModel(SavedModel, BaseEstimator):  # type: ignore[misc]
    """Base of the models that learn which documents link to which, from contents and links.

    A model ranks for every document, its row, all others, its columns. In the direction "out" a row is a
    linking document and its columns are what it may link to; in the direction "in" a row is a document that
    is linked to, and its columns are those that may link to it. Below ``fit`` all are rows and columns.

    A subclass has the parameters ``direction`` and ``random_state``, and gives ``_check``, ``_learn`` (which
    sets ``embedding_``, n × k, and whatever else it needs), ``_scores``, ``_score_as_rows`` and ``_place``;
    ``_scores_of_columns`` and ``_score_as_columns`` where directions count, ``_known_by`` where new documents
    are not scored by their places, and ``_probabilities`` where scores stand for some.
    """

    direction: str
    random_state: Any
    embedding_: FloatArray
    features_: Features | None
    row_entities_: EntitySet
    column_entities_: EntitySet | None
    links_: IntArray
    data_fingerprint_: str

    @abstractmethod
    def _check(self) -> None:
        """Refuse parameters that cannot work."""

    @abstractmethod
    def _learn(self, V: Features | None, pairs: IntArray, rng: np.random.Generator) -> None:
        """Fit contents (n × d, or None) and links (L × 2: row, column; unique, sorted)."""

    @abstractmethod
    def _scores(self, rows: IntArray) -> FloatArray:
        """Score all documents as columns of some rows (len(rows) × n); higher is likelier."""

    def _scores_of_columns(self, columns: IntArray) -> FloatArray:
        """Score some documents as columns of all (len(columns) × n): here, as well as rows."""
        return self._scores(columns)

    @abstractmethod
    def _place(self, V: Features) -> FloatArray:
        """Place new documents (q × d) by their contents (q × k)."""

    def _known_by(self, V: Features) -> Any:
        """Give what new documents (q × d) are scored by, a row each: their places."""
        return self._place(V)

    @abstractmethod
    def _score_as_rows(self, known: Any) -> FloatArray:
        """Score all documents of the fit as columns of some new ones (q × n)."""

    def _score_as_columns(self, known: Any) -> FloatArray:
        """Score some new documents as a column of every one of the fit (q × n): here, as well as a row."""
        return self._score_as_rows(known)

    def _probabilities(self, scores: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Give the probabilities that scores stand for, where they do."""
        return None

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, links: Any = None) -> Self:
        """Learn from the contents of documents and the links between them.

        Parameters
        ----------
        X : array, sparse array, data frame or RelationalData
            Contents, n × d: word counts, 0/1 words, pixels. RelationalData may hold the links, too.
        links : sparse or square array, pairs, data frame, RelationalData or networkx graph
            Who links to whom: n × n, or pairs (from, to) by position or id. Links from a document to itself,
            repeated ones and those with unknown documents are left out, with a warning.
        """
        check_choice("direction", self.direction, DIRECTIONS)
        self._check()
        rng = generator(self.random_state)
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        given = read_network(self, X, links)
        self.features_ = given.contents
        self.row_entities_, self.column_entities_ = given.documents, given.words
        self.links_, self.data_fingerprint_ = given.pairs, given.fingerprint
        with one_thread():  # sums over several threads would end in other last digits
            self._learn(given.contents, in_direction(given.pairs, self.direction), rng)
        return self

    # ------------------------------------------------------------------ questions

    def predict_links(
        self, doc: Any, top: int = 10, exclude_known: bool = True, incoming: bool | None = None
    ) -> list[SuggestedLink]:
        """Give the most likely links of a document, best first.

        Parameters
        ----------
        doc : str or int
            The document, by its id or its position.
        top : int
            How many.
        exclude_known : bool
            Whether links of the fit are left out.
        incoming : bool, optional
            Whether to give what may link to the document, instead of what it may link to; unless given, the
            first in the direction "in", the second in the direction "out". Asked the other way round, every
            candidate's own ranking says how likely it links.
        """
        check_is_fitted(self)
        row = document_position(doc, self.row_entities_)
        inward = self.direction == "in"
        incoming = inward if incoming is None else incoming
        pairs = in_direction(self.links_, "in" if incoming else "out")
        known = pairs[pairs[:, 0] == row, 1]
        score = self._scores if incoming == inward else self._scores_of_columns
        with one_thread():
            scores = np.array(score(np.array([row]))[0], dtype=np.float64)
        scores[row] = -np.inf
        return self._told(scores, top, known, known if exclude_known else known[:0])

    def suggest(self, X: Any, top: int = 10, incoming: bool = False) -> list[list[SuggestedLink]]:
        """Give for every new document, of which only the contents are known, its most likely links.

        Parameters
        ----------
        X : array, sparse array, data frame or RelationalData
            Contents of q new documents, q × d; named words are matched by name.
        top : int
            How many links for each.
        incoming : bool
            Whether to give the documents that may link to the new one, instead of those it may link to.
        """
        check_is_fitted(self)
        new = self._new_contents(X)
        are_rows = incoming == (self.direction == "in")
        score = self._score_as_rows if are_rows else self._score_as_columns
        none = np.empty(0, dtype=np.int64)
        size = max(1, BLOCK_ENTRIES // len(self.row_entities_))
        answers: list[list[SuggestedLink]] = []
        with one_thread():
            known = self._known_by(new)
            for begin in range(0, known.shape[0], size):
                scores = np.asarray(score(known[begin : begin + size]), dtype=np.float64)
                answers += [self._told(row, top, none, none) for row in scores]
        return answers

    def rank(self, links: Any, known: Any = "fit", ties: str = "realistic") -> LinkReport:
        """Rank links among all that could be, in the model's direction.

        Parameters
        ----------
        links : as in ``fit``
            The links to rank.
        known : "fit", None, or as ``links``
            Other links that the report's ``filtered`` figures do not count as mistakes: those of the fit,
            none but the ranked ones, or others.
        ties : {"realistic", "optimistic", "pessimistic"}
            Where a link stands among documents of equal score: in the middle, first or last.
        """
        check_is_fitted(self)
        ids = self.row_entities_.ids
        asked = in_direction(read_links(links, ids), self.direction)
        others = self.links_[:0]
        if known is not None:
            fitted = isinstance(known, str) and known == "fit"
            others = self.links_ if fitted else read_links(known, ids)
        with one_thread():
            report = rank_links(
                self._scores, asked, len(ids), in_direction(others, self.direction), ties=ties
            )
        return report if self.direction == "out" else replace(report, pairs=report.pairs[:, ::-1])

    def transform(self, X: Any) -> FloatArray:
        """Place new documents among those of the fit, by their contents (q × k)."""
        check_is_fitted(self)
        new = self._new_contents(X)
        with one_thread():
            return self._place(new)

    def _new_contents(self, X: Any) -> Features:
        if self.features_ is None:
            raise ParameterError(
                f"this {type(self).__name__} was fitted without contents, by which new documents are known."
            )
        return read_new_features(self, X)[0]

    def _told(self, scores: FloatArray, top: int, known: IntArray, barred: IntArray) -> list[SuggestedLink]:
        return suggested(scores, self._probabilities, self.row_entities_, top, known, barred)

    # ------------------------------------------------------------------ maps

    def to_map(self, relations: bool = True) -> Map:
        """Give the map of the documents, with the model itself and, if asked, the links of the fit."""
        check_is_fitted(self)
        n, documents = len(self.row_entities_), self.row_entities_
        counts = [np.bincount(self.links_[:, side], minlength=n) for side in (0, 1)]
        fields = {"links out": counts[0], "links in": counts[1]}
        table = csr_array((np.ones(len(self.links_)), tuple(self.links_.T)), shape=(n, n))
        links = Relation("links", documents.kind, documents.kind, table)
        return Map(
            [group_of(documents, self.embedding_, np.ones(n, dtype=bool), fields)],
            model=type(self).__name__,
            parameters=plain_parameters(self),
            provenance={
                "data_fingerprint": self.data_fingerprint_,
                "packages": {name: version(name) for name in _PACKAGES},
                "python": platform.python_version(),
                "random_state": self.random_state,
            },
            drawn_by={"method": "pca" if self.embedding_.shape[1] > 2 else "axes"},
            relations=[links] if relations else (),
            model_state=model_state(self),
        )

    def to_networkx(self, suggestions: int = 0) -> Any:
        """Give the network as a ``networkx.DiGraph`` with places and, if asked, so many suggested links each.

        See :func:`relscape.models.network_graph.network_graph` for what nodes and edges hold.
        """
        from relscape.models.network_graph import network_graph

        check_is_fitted(self)
        return network_graph(self, suggestions)
