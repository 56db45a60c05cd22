"""Gibbs sampling of topics: the chain against the posterior written out in full, on corpora that allow it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import gammaln, softmax

from relscape.solvers.gibbs import TopicSampler, corpus_of, mixture

A, B = 0.7, 0.4  # the priors
COUNTS = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]])
LINKS = csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=float))
STRENGTHS = np.array([3.0, -1.0])


def log_joint(topics, documents, words, links, strengths, n_words):
    """Words, topics and links: two Dirichlet-multinomials, and exp(Σ η z_d z_e) for every link."""
    k, n = len(strengths), links.shape[0]
    in_documents = np.array([[np.sum(topics[documents == d] == t) for t in range(k)] for d in range(n)])
    in_topics = np.array([[np.sum(words[topics == t] == w) for w in range(n_words)] for t in range(k)])
    value = (gammaln(in_documents + A).sum(axis=1) - gammaln(in_documents.sum(axis=1) + k * A)).sum()
    value += (gammaln(in_topics + B).sum(axis=1) - gammaln(in_topics.sum(axis=1) + n_words * B)).sum()
    shares = in_documents / np.maximum(in_documents.sum(axis=1, keepdims=True), 1)
    linked = np.argwhere(np.triu(links.toarray()))
    return value + sum(strengths @ (shares[d] * shares[e]) for d, e in linked)


def sampler(counts=COUNTS, links=LINKS, n_topics=2, seed=0):
    corpus = corpus_of(csr_array(counts))
    return TopicSampler(corpus, links, n_topics, A, B, np.random.default_rng(seed))


def test_a_corpus_lists_every_word_as_often_as_it_occurs():
    corpus = corpus_of(csr_array(np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]])))
    assert_array_equal(corpus.words, [0, 0, 2, 1, 1, 1])
    assert_array_equal(corpus.starts, [0, 3, 3, 6])
    assert_array_equal(corpus.lengths, [3, 0, 3])
    assert corpus.n_words == 3


@pytest.mark.parametrize("strengths", [np.zeros(2), STRENGTHS], ids=["words", "words and links"])
def test_the_chain_visits_states_as_often_as_the_posterior_says(strengths):
    chain = sampler()
    corpus = chain.corpus
    documents = np.repeat(np.arange(3), corpus.lengths)
    states = np.array(list(product(range(2), repeat=corpus.words.size)))
    exact = softmax([log_joint(s, documents, corpus.words, LINKS, strengths, 3) for s in states])
    visits = np.zeros(len(states))
    powers = 2 ** np.arange(corpus.words.size)[::-1]
    sweeps = 40_000
    for _ in range(sweeps):
        chain.sweep(strengths)
        visits[chain.topics @ powers] += 1
    assert_allclose(visits / sweeps, exact, atol=0.01)


def test_each_draw_follows_its_conditional(rng):
    """With every draw at a known place of [0, 1), each token gets the topic that the joint law gives it."""
    counts = rng.poisson(0.6, size=(6, 8))
    links = np.triu(rng.random((6, 6)) < 0.5, 1)
    links = csr_array((links | links.T).astype(float))
    strengths = np.array([4.0, 0.5, -2.0])
    chain = sampler(counts, links, n_topics=3)
    corpus = chain.corpus
    documents = np.repeat(np.arange(6), corpus.lengths)
    expected = chain.topics.copy()
    draws = rng.random(expected.size)

    class Given:
        def random(self, size):
            return draws

    for t, draw in enumerate(draws):
        weights = []
        for k in range(3):
            expected[t] = k
            weights.append(log_joint(expected, documents, corpus.words, links, strengths, 8))
        expected[t] = np.searchsorted(np.cumsum(softmax(weights)), draw, side="right")
    chain.rng = Given()
    chain.sweep(strengths)
    assert_array_equal(chain.topics, expected)


def test_counts_stay_those_of_the_topics(rng):
    counts = rng.poisson(1.0, size=(20, 30))
    counts[3] = 0
    links = csr_array(np.ones((20, 20)) - np.eye(20))
    chain = sampler(counts, links, n_topics=4)
    for _ in range(5):
        chain.sweep(np.array([50.0, -50.0, 0.0, 1e4]))
    documents = np.repeat(np.arange(20), chain.corpus.lengths)
    expected = np.zeros((20, 4), dtype=int)
    np.add.at(expected, (documents, chain.topics), 1)
    assert_array_equal(chain.document_counts, expected)
    assert_array_equal(chain.word_counts.sum(axis=1), counts.sum(axis=0))
    assert_array_equal(chain.totals, chain.word_counts.sum(axis=0))
    assert_allclose(chain.shares().sum(axis=1), counts.sum(axis=1) > 0)
    assert_allclose(chain.word_shares().sum(axis=0), 1.0)


def test_a_new_document_mixes_topics_as_the_posterior_says():
    words = np.array([0, 1, 1])
    word_shares = np.array([[0.7, 0.1], [0.2, 0.5], [0.1, 0.4]])
    states = np.array(list(product(range(2), repeat=3)))
    counts = np.stack([(states == k).sum(axis=1) for k in range(2)], axis=1)
    logs = gammaln(counts + A).sum(axis=1) + np.log(word_shares[words, states]).sum(axis=1)
    expected = softmax(logs) @ counts / 3
    found = mixture(words, word_shares, A, 60_000, np.random.default_rng(1))
    assert_allclose(found, expected, atol=0.01)


def test_a_new_document_without_words_has_no_topics(rng):
    assert_array_equal(mixture(np.empty(0, dtype=np.int64), np.ones((3, 2)) / 3, A, 10, rng), [0.0, 0.0])


def test_a_seed_gives_the_same_topics_again(rng):
    counts = rng.poisson(1.0, size=(10, 12))
    links = csr_array((10, 10), dtype=float)
    first, second = sampler(counts, links, 3, seed=5), sampler(counts, links, 3, seed=5)
    for chain in (first, second):
        for _ in range(3):
            chain.sweep(np.zeros(3))
    assert_array_equal(first.topics, second.topics)
