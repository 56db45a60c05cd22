"""CESNA: planted communities, new documents, probabilities, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from relscape.data.link_splits import hold_out_links
from relscape.datasets import load_webkb
from relscape.errors import DataError, ParameterError
from relscape.models.cesna import CESNA
from relscape.objectives.affiliations import word_loss


@pytest.fixture(scope="module")
def fitted(network):
    return CESNA(n_communities=3, random_state=0).fit(network.counts, network.train)


def test_it_finds_the_planted_communities(fitted, network):
    main = fitted.embedding_.argmax(axis=1)
    agreed = [np.bincount(network.groups[main == community]).max() for community in np.unique(main)]
    assert sum(agreed) / len(main) > 0.9
    assert (fitted.embedding_ >= 0).all()


def test_it_ranks_links_that_were_held_out(fitted, network):
    report = fitted.rank(network.test)
    assert report.auc > 0.8
    assert report.mean_rank < 0.25 * len(network.groups)


def test_documents_in_two_communities_are_found(network):
    """A document that uses the words of two groups and links into both belongs to both."""
    counts = network.counts.copy()
    counts[0, :20] = 1
    more = np.array([[0, j] for j in (*range(5, 25), *range(35, 55))])
    links = np.unique(np.concatenate([network.train, more]), axis=0)
    model = CESNA(n_communities=3, random_state=0).fit(counts, links)
    typical = [model.embedding_[network.groups == group].mean(axis=0).argmax() for group in range(3)]
    first, second, third = model.embedding_[0, typical]
    assert min(first, second) > 2 * third


def test_scores_and_probabilities_are_those_of_the_definition(fitted):
    F, n = fitted.embedding_, len(fitted.embedding_)
    assert_allclose(fitted._scores(np.array([4]))[0, 7], F[4] @ F[7])
    for link in fitted.predict_links(4, top=3):
        assert_allclose(link.score, F[4] @ F[int(link.id)])
        assert_allclose(link.probability, 1 - np.exp(-link.score - 1 / n))


def test_of_links_alone_the_sizes_of_the_degrees_are_right(network):
    """Where the loss is least, making all degrees larger by the same share changes nothing."""
    model = CESNA(n_communities=3, content_weight=0.0, tolerance=1e-12, max_iterations=2000, random_state=0)
    F = model.fit(network.counts, network.train).embedding_
    x = np.triu(F @ F.T, 1)
    linked = np.zeros(x.shape, dtype=bool)
    linked[tuple(network.train.T)] = True
    assert_allclose((x[linked] / np.expm1(x[linked] + 1 / len(F))).sum(), x[~linked].sum(), rtol=1e-3)


def test_a_direction_only_turns_the_question_round(fitted, network):
    turned = CESNA(n_communities=3, direction="in", random_state=0).fit(network.counts, network.train)
    assert_array_equal(turned.embedding_, fitted.embedding_)
    turned_report = turned.rank(network.test[:, ::-1])
    assert turned_report.mean_rank == fitted.rank(network.test).mean_rank


def test_new_documents_join_the_communities_of_their_words(fitted, network):
    placed = fitted.transform(network.counts)
    assert np.mean(placed.argmax(axis=1) == fitted.embedding_.argmax(axis=1)) > 0.9
    assert (placed >= 0).all()
    assert np.isfinite(fitted.transform(np.zeros((1, 31)))).all()


def test_no_place_near_that_of_a_new_document_explains_its_words_better(fitted, network, rng):
    words = csr_array(network.counts[:1] > 0, dtype=float)
    prior = 1 / fitted.embedding_.mean(axis=0)
    place = fitted.transform(network.counts[:1])

    def loss(at):
        return word_loss(words, at, fitted.word_weights_, fitted.word_biases_)[0] + (at @ prior).sum()

    for _ in range(50):
        other = np.maximum(place + 0.05 * rng.normal(size=place.shape), 0)
        assert loss(place) <= loss(other) + 1e-6


def test_how_often_a_word_occurs_does_not_count(fitted, network):
    present = CESNA(n_communities=3, random_state=0).fit(csr_array(network.counts > 0), network.train)
    assert_array_equal(present.embedding_, fitted.embedding_)


def test_it_is_saved_and_loaded(fitted, network, tmp_path):
    loaded = CESNA.load(fitted.save(tmp_path / "model"))
    assert_array_equal(loaded._scores(np.arange(5)), fitted._scores(np.arange(5)))
    assert loaded.suggest(network.counts[:2]) == fitted.suggest(network.counts[:2])
    assert loaded.solve_result_.reason == fitted.solve_result_.reason


def test_what_it_refuses(network):
    with pytest.raises(DataError, match=r"row 0, column \d+.*whether it occurs"):
        CESNA().fit(-network.counts, network.train)
    with pytest.raises(DataError, match="nothing to tell apart"):
        CESNA().fit(np.eye(4), np.ones((4, 4)) - np.eye(4))
    with pytest.raises(ParameterError, match="n_communities=0"):
        CESNA(n_communities=0).fit(network.counts, network.train)
    with pytest.raises(ParameterError, match="sparsity=-1"):
        CESNA(sparsity=-1).fit(network.counts, network.train)


@pytest.mark.long
@pytest.mark.usefixtures("data_dir")
def test_on_webkb_it_is_no_worse_than_published():
    """Mean rank of held-out links, given the page that is linked to: 166 in Wu's thesis, Table 5.2."""
    data = load_webkb()
    train, test = hold_out_links(np.argwhere(data.matrix("links").T.toarray()), random_state=0)
    model = CESNA(direction="in", random_state=0).fit(data.matrix("words"), train)
    assert model.rank(test).mean_rank < 166
