"""DocumentNetwork: a map of linked documents, from which missing and future links can be told."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.metrics.pairwise import euclidean_distances

from relscape.errors import DataError
from relscape.matrix.contents import content_probabilities, content_row, row_normalized
from relscape.models.checks import (
    check_choice,
    check_dimensions,
    check_flags,
    check_integer,
    check_number,
    is_auto,
)
from relscape.models.feature_inputs import Features
from relscape.models.network_base import NetworkModel
from relscape.models.network_start import INITS
from relscape.models.network_training import (
    NORMALISERS,
    TRAININGS,
    margin_of,
    neighbours_of,
    train,
    warn_of_unlinked,
)
from relscape.objectives.linkage_newcomers import log_incoming, place_newcomers
from relscape.objectives.linkage_tiles import KERNELS
from relscape.protocols import FloatArray, IntArray
from relscape.solvers.result import SolveResult

__all__ = ["DocumentNetwork"]


class DocumentNetwork(NetworkModel):
    """Place documents such that linked ones, and ones of like contents, are near (Wu 2018, chapter 5).

    On the map, document i links to j with probability p_ij = w_ij / Σ_l w_il, where w falls with their
    squared distance. Links should be more probable than pairs that are not linked, by a margin; and the
    probabilities should diverge little from those of the contents, in which every document has about
    ``perplexity`` neighbours. The second is what places documents without links, and new ones.

    Parameters
    ----------
    n_components : int
        Number of axes.
    content_weight : float
        Weight of the contents against the links; 0 leaves them out.
    margin : float or str
        By how much the probability of a link should exceed that of another pair; "1/n", or a multiple such as
        "5/n", follows the number of documents.
    perplexity : float
        About how many neighbours every document has by its contents.
    kernel : {"cauchy", "gaussian"}
        How w falls with the squared distance d: 1 / (1 + d), or exp(−d).
    direction : {"out", "in"}
        Whether to rank for every document those it may link to, or those that may link to it.
    row_normalize : bool
        Whether to divide the contents of every document by their Euclidean length first.
    random_state : int, Generator or None
        Draws the start and what is compared.
    init : {"auto", "spectral", "random"}
        Where documents start: on the leading eigenvectors of the graph of contents and links, which keeps far
        apart what is unlike; or uniformly at random, as in the original. "auto" is spectral where contents
        count.
    training : {"adam", "adaptive"}
        Adam's moments on five comparisons a link, anew at every step; or the original rounds of 20 steps with
        an adaptive rate on one comparison a link, which need several times as long.
    max_iterations : int
        At most so many steps, or rounds.
    tolerance : float
        Training rests when 25 steps (ten rounds) lower the mean cost by less than this share of it; 0 spends
        all.
    neighbours : int, None or "auto"
        With how many nearest documents each is compared by contents; None takes all. "auto" takes all of up
        to 4,000 documents, and three times the perplexity of more.
    normaliser : {"auto", "exact", "sampled"}
        Whether training sums over all documents, or over a sample of 200; "auto" takes all of up to 20,000.
        At the end they are summed up exactly in either case.

    Attributes
    ----------
    embedding_ : array, n × k
        Places of the documents.
    normalisers_ : array of n
        Σ_l w_il of every document; its logarithm for the Gaussian kernel.
    cost_ : dict
        At the end: "total", "link" and "content", the share of comparisons within the margin ("active_share")
        and the mean probability of links ("mean_link_probability").
    solve_result_ : SolveResult
        How training fared.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> words = np.repeat(np.eye(3, 6), 10, axis=0) + rng.random((30, 6))
    >>> links = [(i, i - i % 10 + (i + step) % 10) for i in range(30) for step in (1, 2, 3)]
    >>> model = DocumentNetwork(2, perplexity=5, random_state=0).fit(words, links)
    >>> all(int(link.id) < 10 for link in model.predict_links(0, top=3))
    True
    """

    content_weight: float
    perplexity: float
    row_normalize: bool
    neighbours: int | str | None
    normalisers_: FloatArray
    cost_: dict[str, float]
    solve_result_: SolveResult

    def __init__(
        self,
        n_components: int = 20,
        content_weight: float = 1.0,
        margin: float | str = "1/n",
        perplexity: float = 20,
        kernel: str = "cauchy",
        direction: str = "out",
        row_normalize: bool = False,
        random_state: Any = None,
        *,
        init: str = "auto",
        training: str = "adam",
        max_iterations: int = 2000,
        tolerance: float = 2e-3,
        neighbours: int | str | None = "auto",
        normaliser: str = "auto",
    ) -> None:
        self.n_components = n_components
        self.content_weight = content_weight
        self.margin = margin
        self.perplexity = perplexity
        self.kernel = kernel
        self.direction = direction
        self.row_normalize = row_normalize
        self.random_state = random_state
        self.init = init
        self.training = training
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.neighbours = neighbours
        self.normaliser = normaliser

    def _check(self) -> None:
        check_dimensions("n_components", self.n_components)
        check_integer("max_iterations", self.max_iterations, 1)
        check_number("content_weight", self.content_weight, 0.0)
        check_number("perplexity", self.perplexity, 1.0)
        check_number("tolerance", self.tolerance, 0.0)
        margin_of(self.margin, 1)
        choices = {"kernel": KERNELS, "init": INITS, "training": TRAININGS, "normaliser": NORMALISERS}
        for name, known in choices.items():
            check_choice(name, getattr(self, name), known)
        check_flags(self, "row_normalize")
        if self.neighbours is not None and not is_auto(self.neighbours):
            check_integer("neighbours", self.neighbours, 1)

    def _learn(self, V: Features | None, pairs: IntArray, rng: np.random.Generator) -> None:
        n = len(self.row_entities_)
        if not len(pairs):
            raise DataError("there are no links between these documents; a network needs at least one.")
        contents = None
        if self.content_weight > 0:
            if V is None:
                raise DataError(
                    "there are no contents; give them as X, or leave them out: content_weight=0, LinkOnly."
                )
            near = neighbours_of(self.neighbours, n, self.perplexity)
            contents = content_probabilities(self._prepared(V), float(self.perplexity), neighbours=near)
        else:
            warn_of_unlinked(self.row_entities_, pairs)
        trained = train(contents, pairs, n, self, rng)
        self.embedding_ = trained.result.point
        self.normalisers_ = trained.normalisers
        self.cost_ = trained.value._asdict()
        self.solve_result_ = trained.result

    def _prepared(self, V: Features) -> Features:
        return row_normalized(V) if self.row_normalize else V

    def _log_kernels(self, places: FloatArray) -> FloatArray:
        """Give log w of some places with all documents."""
        squares = euclidean_distances(places, self.embedding_, squared=True)
        return np.asarray(-np.log1p(squares) if self.kernel == "cauchy" else -squares)

    @property
    def _log_normalisers(self) -> FloatArray:
        return np.asarray(np.log(self.normalisers_) if self.kernel == "cauchy" else self.normalisers_)

    def _scores(self, rows: IntArray) -> FloatArray:
        """Give log p; that of a document itself has no meaning and is not looked at."""
        return np.asarray(self._log_kernels(self.embedding_[rows]) - self._log_normalisers[rows, None])

    def _scores_of_columns(self, columns: IntArray) -> FloatArray:
        """Give log p of some documents in the rows of all."""
        return np.asarray(self._log_kernels(self.embedding_[columns]) - self._log_normalisers)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return np.asarray(np.exp(scores))

    def _place(self, V: Features) -> FloatArray:
        near = neighbours_of(self.neighbours, len(self.row_entities_), self.perplexity)
        contents = content_row(
            self._prepared(self.features_), self._prepared(V), float(self.perplexity), neighbours=near
        )
        return place_newcomers(self.embedding_, contents, self.kernel)[0]

    def _score_as_rows(self, known: FloatArray) -> FloatArray:
        logs = self._log_kernels(known)
        return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))

    def _score_as_columns(self, known: FloatArray) -> FloatArray:
        return log_incoming(self.embedding_, self.normalisers_, known, self.kernel)
