"""RTM: documents are linked because of the topics that their words share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from relscape.models.checks import check_dimensions, check_integer, check_number
from relscape.models.feature_inputs import Features
from relscape.models.network_base import NetworkModel
from relscape.models.undirected import adjacency, needed, whole_counts
from relscape.objectives.link_triples import draw_triples
from relscape.progress import task
from relscape.protocols import FloatArray, IntArray
from relscape.solvers.gibbs import TopicSampler, corpus_of, mixture

__all__ = ["RTM"]

_REFIT = 10  # sweeps between two looks at how topics explain links
_LEAD = 4  # the first fourth of the sweeps leaves links aside: topics have to mean something first
_NEW_SWEEPS = 60


class RTM(NetworkModel):
    """Find topics that explain both the words of documents and the links between them.

    The relational topic model: words are mixed from topics as in latent Dirichlet allocation, and two
    documents are linked with log-odds Σ_k η_k z_dk z_ek + ν, where z_d are the shares of the topics among the
    words of d. Topics are drawn by collapsed Gibbs sampling; η and ν are fitted, every few sweeps, by ridge
    logistic regression on the links and as many pairs that are not linked. Directions of links do not count.

    Parameters
    ----------
    n_topics : int
        How many topics.
    document_prior, word_prior : float
        How evenly topics spread over a document, and words over a topic; small values concentrate them.
    ridge : float
        Half of it, times the square of every η, is what the regression pays.
    n_sweeps : int
        How often the topics of all words are drawn. The first quarter leaves links aside, the last half is
        averaged.
    direction : {"out", "in"}
        Whether ``predict_links`` and ``rank`` look for what a document links to, or what links to it.
    random_state : int, Generator or None
        Seed of the draws.

    Attributes
    ----------
    embedding_ : array, n × n_topics
        z: mean shares of the topics in every document.
    topic_words_ : array, n_topics × d
        How likely each topic has each word.
    strengths_, offset_ : array of n_topics, float
        η, and ν with the share of pairs that are linked taken into account.

    References
    ----------
    J. Chang, D. Blei: Hierarchical relational models for document networks. Annals of Applied Statistics 4,
    2010.
    """

    def __init__(
        self,
        n_topics: int = 20,
        document_prior: float = 0.1,
        word_prior: float = 0.01,
        ridge: float = 0.01,
        n_sweeps: int = 200,
        direction: str = "out",
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.document_prior = document_prior
        self.word_prior = word_prior
        self.ridge = ridge
        self.n_sweeps = n_sweeps
        self.direction = direction
        self.random_state = random_state

    def _check(self) -> None:
        check_dimensions("n_topics", self.n_topics)
        check_integer("n_sweeps", self.n_sweeps, _LEAD)
        for name in ("document_prior", "word_prior", "ridge"):
            check_number(name, getattr(self, name), 1e-6, 1e9)

    def _learn(self, V: Features | None, pairs: IntArray, rng: np.random.Generator) -> None:
        contents, linked = needed(V, pairs, "RTM")
        n = contents.shape[0]
        sampler = TopicSampler(
            corpus_of(whole_counts(contents, "RTM")),
            adjacency(linked, n),
            int(self.n_topics),
            float(self.document_prior),
            float(self.word_prior),
            rng,
        )
        strengths: FloatArray = np.zeros(self.n_topics)
        shares, word_shares = np.zeros((n, self.n_topics)), np.zeros((contents.shape[1], self.n_topics))
        lead, half = self.n_sweeps // _LEAD, self.n_sweeps // 2
        with task("sampling topics", total=self.n_sweeps) as progress:
            for sweep in range(self.n_sweeps):
                if sweep >= lead and (sweep - lead) % _REFIT == 0:
                    strengths, _ = self._regressed(sampler.shares(), linked, rng)
                sampler.sweep(strengths)
                if sweep >= half:
                    shares += sampler.shares()
                    word_shares += sampler.word_shares()
                progress.advance()
        self.embedding_ = shares / (self.n_sweeps - half)
        self.topic_words_ = word_shares.T / (self.n_sweeps - half)
        self.strengths_, offset = self._regressed(self.embedding_, linked, rng)
        # Links were half of what the regression saw; among all pairs they are few.
        self.offset_ = offset + float(np.log(len(linked) / (n * (n - 1) - len(linked))))

    def _regressed(
        self, shares: FloatArray, linked: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, float]:
        """Fit η and ν to the links and as many pairs without one."""
        from sklearn.linear_model import LogisticRegression

        i, j, other = draw_triples(linked, len(shares), rng).T
        products = np.concatenate([shares[i] * shares[j], shares[i] * shares[other]])
        labels = np.repeat([1, 0], len(i))
        fitted = LogisticRegression(C=1.0 / self.ridge, solver="newton-cholesky").fit(products, labels)
        return np.asarray(fitted.coef_[0]), float(fitted.intercept_[0])

    def _scores(self, rows: IntArray) -> FloatArray:
        return self._score_as_rows(self.embedding_[rows])

    def _place(self, V: Features) -> FloatArray:
        """Find the shares of topics in new documents by their words; equal documents get equal shares."""
        corpus = corpus_of(whole_counts(V, "RTM"))
        word_shares = np.ascontiguousarray(self.topic_words_.T)
        placed = np.zeros((V.shape[0], self.n_topics))
        for d, (begin, end) in enumerate(zip(corpus.starts[:-1], corpus.starts[1:], strict=True)):
            words = corpus.words[begin:end]
            placed[d] = mixture(
                words, word_shares, self.document_prior, _NEW_SWEEPS, np.random.default_rng(0)
            )
        return placed

    def _score_as_rows(self, known: FloatArray) -> FloatArray:
        """Give the log odds of links."""
        return np.asarray((known * self.strengths_) @ self.embedding_.T + self.offset_)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return np.asarray(expit(scores))
