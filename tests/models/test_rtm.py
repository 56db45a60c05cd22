"""RTM: planted topics, links that need them, new documents, probabilities, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from relscape.data.link_splits import hold_out_links
from relscape.datasets import load_webkb
from relscape.errors import DataError, ParameterError
from relscape.models.rtm import RTM


@pytest.fixture(scope="module")
def fitted(network):
    return RTM(n_topics=3, n_sweeps=80, random_state=0).fit(network.counts, network.train)


def test_it_finds_the_planted_topics(fitted, network):
    main = fitted.embedding_.argmax(axis=1)
    agreed = [np.bincount(network.groups[main == topic]).max() for topic in np.unique(main)]
    assert sum(agreed) / len(main) > 0.95
    assert_allclose(fitted.embedding_.sum(axis=1), 1.0)
    assert_allclose(fitted.topic_words_.sum(axis=1), 1.0)


def test_shared_topics_speak_for_a_link(fitted, network):
    assert (fitted.strengths_ > 0).all()
    report = fitted.rank(network.test)
    assert report.mean_rank < 0.25 * len(network.groups)
    assert report.auc > 0.8


def test_links_tell_the_topics_of_documents_with_few_words(network):
    """Documents of one ambiguous word join the topics of those they are linked to."""
    counts = network.counts.copy()
    poor = np.arange(0, len(counts), 3)
    counts[poor] = 0
    counts[poor, -1] = 1
    with_links = RTM(n_topics=3, n_sweeps=80, random_state=0).fit(counts, network.train)
    mixed = np.random.default_rng(0).permutation(len(counts))
    without = RTM(n_topics=3, n_sweeps=80, random_state=0).fit(counts, mixed[network.train])
    assert with_links.rank(network.train).mean_rank < 0.8 * without.rank(network.train).mean_rank


def test_scores_are_the_log_odds_of_the_definition(fitted):
    z = fitted.embedding_
    expected = sum(fitted.strengths_[k] * z[4, k] * z[7, k] for k in range(3)) + fitted.offset_
    assert_allclose(fitted._scores(np.array([4]))[0, 7], expected)
    best = fitted.predict_links(4, top=3)
    assert_allclose([link.probability for link in best], [1 / (1 + np.exp(-link.score)) for link in best])


def test_probabilities_promise_about_as_many_links_as_there_are(fitted, network):
    scores = fitted._scores(np.arange(len(network.groups)))
    np.fill_diagonal(scores, -np.inf)
    promised = fitted._probabilities(scores).sum() / 2
    assert 0.5 < promised / len(network.train) < 2.0


def test_new_documents_get_the_topics_of_their_words(fitted, network):
    placed = fitted.transform(network.counts)
    assert np.mean(placed.argmax(axis=1) == fitted.embedding_.argmax(axis=1)) > 0.95
    assert_array_equal(placed[5], fitted.transform(network.counts[5:6])[0])
    ids = [[link.id for link in links] for links in fitted.suggest(network.counts[:4], top=20)]
    for group, suggestions in zip(network.groups[:4], ids, strict=True):
        assert np.mean(network.groups[np.array(suggestions, dtype=int)] == group) > 0.8


def test_a_document_without_words_has_no_topics(network):
    counts = network.counts.copy()
    counts[0] = 0
    model = RTM(n_topics=3, n_sweeps=20, random_state=0).fit(counts, network.train)
    assert_array_equal(model.embedding_[0], 0.0)
    assert_allclose(model._scores(np.array([0])), model.offset_)


def test_sparse_and_dense_counts_agree_and_a_seed_repeats(network):
    first = RTM(n_topics=2, n_sweeps=10, random_state=1).fit(network.counts, network.train)
    second = RTM(n_topics=2, n_sweeps=10, random_state=1).fit(csr_array(network.counts), network.train)
    assert_array_equal(first.embedding_, second.embedding_)


def test_it_is_saved_and_loaded(fitted, network, tmp_path):
    loaded = RTM.load(fitted.save(tmp_path / "model"))
    assert_array_equal(loaded._scores(np.arange(5)), fitted._scores(np.arange(5)))
    assert loaded.suggest(network.counts[:2]) == fitted.suggest(network.counts[:2])


def test_what_it_refuses(network):
    with pytest.raises(DataError, match=r"row 0, column 0.*tf-idf"):
        RTM().fit(network.counts + 0.5, network.train)
    with pytest.raises(DataError, match="there are none between two documents"):
        RTM().fit(network.counts, csr_array((len(network.groups),) * 2))
    with pytest.raises(ParameterError, match="n_topics=0"):
        RTM(n_topics=0).fit(network.counts, network.train)
    with pytest.raises(ParameterError, match="word_prior=0"):
        RTM(word_prior=0).fit(network.counts, network.train)


@pytest.mark.usefixtures("data_dir")
def test_on_webkb_it_is_no_worse_than_published():
    """Mean rank of held-out links, given the page that is linked to: 158 in Wu's thesis, Table 5.2."""
    data = load_webkb()
    train, test = hold_out_links(np.argwhere(data.matrix("links").T.toarray()), random_state=0)
    model = RTM(n_sweeps=100, direction="in", random_state=0).fit(data.matrix("words"), train)
    assert model.rank(test).mean_rank < 158
