"""What a document network is measured against: its links alone, and its contents alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from relscape.errors import DataError
from relscape.matrix.contents import row_normalized
from relscape.models.checks import check_dimensions
from relscape.models.feature_inputs import Features
from relscape.models.network import DocumentNetwork
from relscape.models.network_axes import leading_directions
from relscape.models.network_base import NetworkModel
from relscape.models.network_inputs import in_direction
from relscape.protocols import FloatArray, IntArray
from relscape.scores.links import LinkReport, rank_links
from relscape.threads import one_thread

__all__ = ["ContentOnly", "LinkOnly", "popularity", "rank_simply"]


class LinkOnly(DocumentNetwork):
    """Place documents by their links alone: a document network whose contents count nothing.

    Documents without links stay about where chance has put them. Contents are optional; where they are given,
    new documents can be placed by them.

    Parameters
    ----------
    n_components, margin, perplexity, kernel, direction, row_normalize, random_state
        As of :class:`~relscape.models.network.DocumentNetwork`; perplexity and row_normalize are for new
        documents.
    training, max_iterations, tolerance, normaliser
        Likewise.

    Examples
    --------
    >>> ring = [(f"d{i}", f"d{(i + 1) % 9}") for i in range(9)]
    >>> model = LinkOnly(2, random_state=0).fit(None, ring)
    >>> model.embedding_.shape
    (9, 2)
    """

    content_weight = 0.0
    neighbours = "auto"
    init = "random"

    def __init__(
        self,
        n_components: int = 20,
        margin: float | str = "1/n",
        perplexity: float = 20,
        kernel: str = "cauchy",
        direction: str = "out",
        row_normalize: bool = False,
        random_state: Any = None,
        *,
        training: str = "adam",
        max_iterations: int = 2000,
        tolerance: float = 2e-3,
        normaliser: str = "auto",
    ) -> None:
        self.n_components = n_components
        self.margin = margin
        self.perplexity = perplexity
        self.kernel = kernel
        self.direction = direction
        self.row_normalize = row_normalize
        self.random_state = random_state
        self.training = training
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.normaliser = normaliser


class ContentOnly(NetworkModel):
    """Rank documents by the cosine of their contents; links are only kept, to tell what is known.

    Parameters
    ----------
    n_components : int
        Number of axes of the map, on which the leading directions of the contents are drawn; scores are
        cosines of the whole contents.
    direction : {"out", "in"}
        Whether to rank for every document those it may link to, or those that may link to it.
    random_state : int, Generator or None
        Starts the search for the leading directions.

    Attributes
    ----------
    embedding_ : array, n × k
        Contents of length 1 on their leading directions.
    components_ : array, d × k
        These directions.

    Examples
    --------
    >>> model = ContentOnly(2).fit([[1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 1]], [(0, 1)])
    >>> [link.id for link in model.predict_links(2, top=1)]
    ['3']
    """

    components_: FloatArray

    def __init__(self, n_components: int = 20, direction: str = "out", random_state: Any = None) -> None:
        self.n_components = n_components
        self.direction = direction
        self.random_state = random_state

    def _check(self) -> None:
        check_dimensions("n_components", self.n_components)

    def _learn(self, V: Features | None, pairs: IntArray, rng: np.random.Generator) -> None:  # noqa: ARG002
        if V is None:
            raise DataError("there are no contents; give them as X.")
        units = row_normalized(V)
        self.components_ = leading_directions(units, self.n_components, rng).V
        self.embedding_ = np.asarray(units @ self.components_)

    def _scores(self, rows: IntArray) -> FloatArray:
        units = row_normalized(self.features_)
        return _dense(units[rows] @ units.T)

    def _known_by(self, V: Features) -> Any:
        return row_normalized(V)

    def _score_as_rows(self, known: Any) -> FloatArray:
        return _dense(known @ row_normalized(self.features_).T)

    def _place(self, V: Features) -> FloatArray:
        return np.asarray(row_normalized(V) @ self.components_)


def popularity(pairs: IntArray, n: int) -> Callable[[IntArray], FloatArray]:
    """Give scores of rows that are all the same: how many pairs (row, column) a column is in."""
    counts = np.bincount(pairs[:, 1], minlength=n).astype(np.float64)
    return lambda rows: np.tile(counts, (len(rows), 1))


def rank_simply(model: NetworkModel, links: IntArray) -> dict[str, LinkReport]:
    """Rank links as simply as can be, beside a fitted model: by popularity, and by contents if there are any.

    Popular is what many documents of the fit link to; in the direction "in", what links to many.

    Parameters
    ----------
    model : NetworkModel
        A fitted model, whose documents, links and direction count, not its scores.
    links : integer array of shape (L, 2)
        The links to rank, from and to, by position.
    """
    n = len(model.row_entities_)
    known, asked = (in_direction(pairs, model.direction) for pairs in (model.links_, links))
    scores = {"popularity": popularity(known, n)}
    if model.features_ is not None and not isinstance(model, ContentOnly):
        units = row_normalized(model.features_)
        scores = {"contents alone": lambda rows: _dense(units[rows] @ units.T)} | scores
    with one_thread():
        return {name: rank_links(score, asked, n, known) for name, score in scores.items()}


def _dense(products: Any) -> FloatArray:
    return np.asarray(products.toarray() if issparse(products) else products)
