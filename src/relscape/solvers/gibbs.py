"""Collapsed Gibbs sampling of topics, of documents that may be linked to each other.

Every word of a document is a token and has a topic; what topics the words have in general, and documents in
general, is integrated out. Given all other tokens, a token of word w in document d has topic k in proportion
to

    (n_dk + a) · (n_kw + b) / (n_k + W b) · exp(η_k / N_d · Σ_e z_ek)

where the n count the other tokens, N_d is the number of tokens of d, z_e are the shares of the topics among
the tokens of e, and the sum runs over the documents e that d is linked to. The last factor is that of links
which are seen in proportion to exp(Σ_k η_k z_dk z_ek); without links it is 1 and the topics are those of
latent Dirichlet allocation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["Corpus", "TopicSampler", "corpus_of", "mixture"]


class Corpus(NamedTuple):
    """The tokens of documents in their order: ``words`` (one a token) and ``starts`` (where each begins)."""

    words: IntArray
    starts: IntArray
    n_words: int

    @property
    def lengths(self) -> IntArray:
        """Give the number of tokens of every document."""
        return np.diff(self.starts)


def corpus_of(counts: SparseArray) -> Corpus:
    """Write out a table of documents × words, whole numbers from 0, as tokens."""
    times = np.asarray(counts.data, dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum(times)])
    words = np.repeat(counts.indices.astype(np.int64), times)
    return Corpus(words, ends[counts.indptr].astype(np.int64), int(counts.shape[1]))


class TopicSampler:
    """The topics of all tokens, and the chain that draws them anew.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    links : csr_array
        n × n, symmetric; which documents are linked. Its entries do not count.
    n_topics : int
        How many topics.
    document_prior, word_prior : float
        a and b: how evenly topics spread over a document, and words over a topic.
    rng : Generator
        Draws the first topics and all later ones.
    """

    def __init__(
        self,
        corpus: Corpus,
        links: SparseArray,
        n_topics: int,
        document_prior: float,
        word_prior: float,
        rng: np.random.Generator,
    ) -> None:
        self.corpus, self.rng = corpus, rng
        self.document_prior, self.word_prior = document_prior, word_prior
        self._neighbours = (links.indptr.astype(np.int64), links.indices.astype(np.int64))
        self.topics = rng.integers(n_topics, size=corpus.words.size)
        documents = np.repeat(np.arange(corpus.lengths.size), corpus.lengths)
        self.document_counts: IntArray = np.zeros((corpus.lengths.size, n_topics), dtype=np.int64)
        self.word_counts: IntArray = np.zeros((corpus.n_words, n_topics), dtype=np.int64)
        np.add.at(self.document_counts, (documents, self.topics), 1)
        np.add.at(self.word_counts, (corpus.words, self.topics), 1)
        self.totals: IntArray = self.word_counts.sum(axis=0)

    def sweep(self, strengths: FloatArray) -> None:
        """Draw the topic of every token once, in order.

        Parameters
        ----------
        strengths : array of n_topics
            η: how much a topic that two linked documents share explains their link.
        """
        _sweep(
            self.corpus.words,
            self.corpus.starts,
            self.topics,
            self.document_counts,
            self.word_counts,
            self.totals,
            *self._neighbours,
            np.asarray(strengths, dtype=np.float64),
            self.document_prior,
            self.word_prior,
            self.rng.random(self.topics.size),
        )

    def shares(self) -> FloatArray:
        """Give z (n × topics): the shares of the topics among a document's tokens; 0 where it has none."""
        return self.document_counts / np.maximum(self.corpus.lengths, 1)[:, None]

    def word_shares(self) -> FloatArray:
        """Give how likely each topic has each word (words × topics; every column sums to 1)."""
        counts = self.word_counts + self.word_prior
        return np.asarray(counts / counts.sum(axis=0))


def mixture(
    words: IntArray, word_shares: FloatArray, document_prior: float, n_sweeps: int, rng: np.random.Generator
) -> FloatArray:
    """Give the mean shares of topics in a new document, by sampling with the topics' words held fixed.

    The first third of the sweeps is left out of the mean. A document without tokens has shares of 0.

    Parameters
    ----------
    words : array
        Its tokens.
    word_shares : array, words × topics
        How likely each topic has each word.
    document_prior : float
        a.
    n_sweeps : int
        How often to draw every token's topic.
    rng : Generator
        Where the draws come from.
    """
    n_topics = word_shares.shape[1]
    if words.size == 0:
        return np.zeros(n_topics)
    topics = rng.integers(n_topics, size=words.size)
    burn_in = n_sweeps // 3
    draws = rng.random((n_sweeps, words.size))
    total = _mixture(words, topics, word_shares, document_prior, burn_in, draws)
    return np.asarray(total / ((n_sweeps - burn_in) * words.size))


@njit(cache=True)
def _drawn(cumulated, draw):  # type: ignore[no-untyped-def]
    """Give the topic that a draw from [0, 1) falls on, weights being summed up."""
    target = draw * cumulated[-1]
    for k in range(cumulated.size - 1):
        if target < cumulated[k]:
            return k
    return cumulated.size - 1


@njit(cache=True)
def _sweep(  # type: ignore[no-untyped-def]
    words,
    starts,
    topics,
    document_counts,
    word_counts,
    totals,
    indptr,
    indices,
    strengths,
    document_prior,
    word_prior,
    draws,
):
    n_words, n_topics = word_counts.shape
    pull = np.empty(n_topics)
    cumulated = np.empty(n_topics)
    for d in range(starts.size - 1):
        begin, end = starts[d], starts[d + 1]
        pull[:] = 0.0
        for p in range(indptr[d], indptr[d + 1]):
            e = indices[p]
            length = starts[e + 1] - starts[e]
            if length > 0:
                for k in range(n_topics):
                    pull[k] += document_counts[e, k] / length
        # Only differences count; taken from the largest, no exponential overflows.
        for k in range(n_topics):
            pull[k] *= strengths[k] / max(end - begin, 1)
        highest = pull.max()
        for k in range(n_topics):
            pull[k] = np.exp(pull[k] - highest)
        for t in range(begin, end):
            w, old = words[t], topics[t]
            document_counts[d, old] -= 1
            word_counts[w, old] -= 1
            totals[old] -= 1
            total = 0.0
            for k in range(n_topics):
                total += (
                    (document_counts[d, k] + document_prior)
                    * (word_counts[w, k] + word_prior)
                    / (totals[k] + n_words * word_prior)
                    * pull[k]
                )
                cumulated[k] = total
            new = _drawn(cumulated, draws[t])
            topics[t] = new
            document_counts[d, new] += 1
            word_counts[w, new] += 1
            totals[new] += 1


@njit(cache=True)
def _mixture(words, topics, word_shares, document_prior, burn_in, draws):  # type: ignore[no-untyped-def]
    """Sum the counts of topics over the sweeps after the first ones."""
    n_topics = word_shares.shape[1]
    counts = np.zeros(n_topics)
    for k in topics:
        counts[k] += 1
    summed = np.zeros(n_topics)
    cumulated = np.empty(n_topics)
    for sweep in range(draws.shape[0]):
        for t in range(words.size):
            counts[topics[t]] -= 1
            total = 0.0
            for k in range(n_topics):
                total += (counts[k] + document_prior) * word_shares[words[t], k]
                cumulated[k] = total
            topics[t] = _drawn(cumulated, draws[sweep, t])
            counts[topics[t]] += 1
        if sweep >= burn_in:
            summed += counts
    return summed
