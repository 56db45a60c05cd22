"""CESNA: communities that documents belong to, seen in their links and in their words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relscape.models.checks import check_dimensions, check_integer, check_number
from relscape.models.feature_inputs import Features
from relscape.models.network_base import NetworkModel
from relscape.models.undirected import needed, present_words
from relscape.objectives.affiliations import AffiliationLoss, Affiliations, NewcomerLoss
from relscape.progress import task
from relscape.protocols import FloatArray, IntArray
from relscape.solvers.bounded import bounded_minimise

__all__ = ["CESNA"]

_LEAST_PRIOR = 1e-6


class CESNA(NetworkModel):
    """Find overlapping communities that explain both the links and the words of documents.

    Document u belongs to community c to a degree F_uc ≥ 0. Two documents are linked with probability
    1 − exp(−F_u'F_v − 1/n), and a document has a word with a logistic probability of its degrees. The degrees
    and the words' weights make links and words as likely as possible, the weights being kept sparse.
    Directions of links do not count, nor how often a word occurs.

    Parameters
    ----------
    n_communities : int
        How many communities.
    content_weight : float
        How much words count beside links.
    sparsity : float
        What the sum of the words' absolute weights costs.
    tolerance : float
        The fit has arrived when a step lowers the loss by less than this share of it.
    max_iterations : int
        Steps at most.
    direction : {"out", "in"}
        Whether ``predict_links`` and ``rank`` look for what a document links to, or what links to it.
    random_state : int, Generator or None
        Seed of the start.

    Attributes
    ----------
    embedding_ : array, n × n_communities
        F.
    word_weights_, word_biases_ : arrays, d × n_communities and d
        What belonging to a community does to the log-odds of a word, and a word's own log-odds.
    solve_result_ : SolveResult
        How the fit went; its point is ``embedding_``.

    References
    ----------
    J. Yang, J. McAuley, J. Leskovec: Community detection in networks with node attributes. ICDM 2013.
    """

    def __init__(
        self,
        n_communities: int = 20,
        content_weight: float = 1.0,
        sparsity: float = 1.0,
        tolerance: float = 1e-6,
        max_iterations: int = 300,
        direction: str = "out",
        random_state: Any = None,
    ) -> None:
        self.n_communities = n_communities
        self.content_weight = content_weight
        self.sparsity = sparsity
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.direction = direction
        self.random_state = random_state

    def _check(self) -> None:
        check_dimensions("n_communities", self.n_communities)
        check_integer("max_iterations", self.max_iterations, 1)
        for name in ("content_weight", "sparsity", "tolerance"):
            check_number(name, getattr(self, name), 0.0)

    def _learn(self, V: Features | None, pairs: IntArray, rng: np.random.Generator) -> None:
        contents, linked = needed(V, pairs, "CESNA")
        words = present_words(contents, "CESNA")
        (n, d), k = words.shape, int(self.n_communities)
        once = linked[linked[:, 0] < linked[:, 1]]
        loss = AffiliationLoss(
            words, once, k, float(self.content_weight), float(self.sparsity), 1.0 / n, np.float32
        )
        # At the start the degrees promise as many links as there are, and the biases as many words.
        highest = np.sqrt(8.0 * len(once) / (n * (n - 1) * k))
        degrees = rng.uniform(0.0, highest, (n, k))
        seen = (np.asarray(words.sum(axis=0)) + 0.5) / (n + 1.0)
        start = loss.packed(degrees, np.zeros((d, k)), np.log(seen / (1.0 - seen)))
        with task("finding communities", total=self.max_iterations) as progress:

            def watch(iteration: int, value: float, point: FloatArray) -> bool:  # noqa: ARG001
                progress.advance()
                return False

            result = bounded_minimise(
                loss, start, loss.lower_bounds(), self.tolerance, self.max_iterations, watch
            )
        self.embedding_, self.word_weights_, self.word_biases_ = loss.unpacked(result.point)
        self.solve_result_ = replace(result, point=self.embedding_)

    def _scores(self, rows: IntArray) -> FloatArray:
        return self._score_as_rows(self.embedding_[rows])

    def _score_as_rows(self, known: FloatArray) -> FloatArray:
        return np.asarray(known @ self.embedding_.T)

    def _place(self, V: Features) -> FloatArray:
        """Find the degrees of new documents by their words; communities are as common as in the fit."""
        learned = Affiliations(self.embedding_, self.word_weights_, self.word_biases_)
        means = self.embedding_.mean(axis=0)
        loss = NewcomerLoss(present_words(V, "CESNA"), learned, 1.0 / np.maximum(means, _LEAST_PRIOR))
        start = np.tile(means, (V.shape[0], 1))
        return bounded_minimise(loss, start, 0.0, 1e-9, self.max_iterations).point

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return np.asarray(-np.expm1(-scores - 1.0 / len(self.row_entities_)))
