"""SPML: words that matter are told from those that do not, links are ranked, new documents placed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from relscape.data.link_splits import hold_out_links
from relscape.datasets import load_webkb
from relscape.errors import DataError, ParameterError
from relscape.models.spml import SPML


@pytest.fixture(scope="module")
def fitted(network):
    return SPML(n_components=20, n_steps=200, random_state=0).fit(network.counts, network.train)


def test_it_ranks_links_that_were_held_out(fitted, network):
    report = fitted.rank(network.test)
    assert report.auc > 0.8
    assert report.mean_rank < 0.25 * len(network.groups)


def test_it_learns_which_contents_matter():
    """Two features follow the links; one, twice as loud, follows nothing."""
    rng = np.random.default_rng(0)
    places = rng.normal(size=(120, 2))
    contents = np.column_stack([places, 2.0 * rng.normal(size=120)])
    gaps = np.linalg.norm(places[:, None] - places, axis=2)
    links = np.argwhere(np.triu(gaps < 0.3, 1))
    model = SPML(n_components=3, n_steps=500, row_normalize=False, random_state=0)
    model.fit(contents, links)
    assert model.embedding_.shape == (120, 3)
    metric = model.projection_ @ model.projection_.T
    assert metric[2, 2] < 0.05 * min(metric[0, 0], metric[1, 1])
    plain = np.linalg.norm(contents[:, None] - contents, axis=2)
    nearer = [(plain[i] < plain[i, j]).sum() for i, j in links]
    assert model.rank(links).mean_rank < 0.5 * np.mean(nearer)


def test_places_are_contents_times_the_projection(fitted, network):
    normal = network.counts / np.linalg.norm(network.counts, axis=1, keepdims=True)
    assert_allclose(fitted.embedding_, normal @ fitted.projection_)
    assert_allclose(fitted.transform(network.counts), fitted.embedding_)


def test_scores_are_distances_under_the_metric(fitted, network):
    metric = fitted.projection_ @ fitted.projection_.T
    normal = network.counts / np.linalg.norm(network.counts, axis=1, keepdims=True)
    gap = normal[4] - normal[7]
    assert_allclose(fitted._scores(np.array([4]))[0, 7], -gap @ metric @ gap)
    known = fitted._known_by(network.counts[:3].astype(float))
    assert_array_equal(fitted._score_as_rows(known), fitted._score_as_columns(known))
    assert_allclose(fitted._score_as_rows(known), fitted._scores(np.arange(3)), atol=1e-9)


def test_sparse_and_dense_contents_agree(fitted, network):
    sparse = SPML(n_components=20, n_steps=200, random_state=0).fit(csr_array(network.counts), network.train)
    assert_allclose(sparse._scores(np.arange(9)), fitted._scores(np.arange(9)), rtol=1e-6, atol=1e-9)


def test_no_feature_is_lost_where_there_are_few(network):
    """A column of zeros changes nothing; nor does it matter how many axes there could be."""
    few = network.counts[:, [0, 10, 20, 30]] + 1.0
    wider = np.column_stack([few, np.zeros(len(few))])
    links = network.train
    models = [
        SPML(k, n_steps=60, random_state=0).fit(X, links)
        for k, X in ((4, few), (100, few), (4, wider), (100, csr_array(few)))
    ]
    for model in models:
        assert_allclose(model._scores(np.arange(9)), models[0]._scores(np.arange(9)), rtol=1e-5, atol=1e-8)


def test_it_is_saved_and_loaded(fitted, network, tmp_path):
    loaded = SPML.load(fitted.save(tmp_path / "model"))
    assert_array_equal(loaded._scores(np.arange(5)), fitted._scores(np.arange(5)))
    assert loaded.suggest(network.counts[:2]) == fitted.suggest(network.counts[:2])


def test_what_it_refuses(network):
    with pytest.raises(DataError, match="same contents"):
        SPML().fit(np.ones((90, 3)), network.train)
    with pytest.raises(ParameterError, match="shrinkage=0"):
        SPML(shrinkage=0).fit(network.counts, network.train)
    with pytest.raises(ParameterError, match="row_normalize='no'"):
        SPML(row_normalize="no").fit(network.counts, network.train)
    with pytest.raises(ParameterError, match="n_steps=1"):
        SPML(n_steps=1).fit(network.counts, network.train)


@pytest.mark.usefixtures("data_dir")
def test_on_webkb_it_is_no_worse_than_published():
    """Mean rank of held-out links, given the page that is linked to: 195 in Wu's thesis, Table 5.2."""
    data = load_webkb()
    train, test = hold_out_links(np.argwhere(data.matrix("links").T.toarray()), random_state=0)
    model = SPML(n_steps=100, direction="in", random_state=0).fit(data.matrix("words"), train)
    assert model.rank(test).mean_rank < 195
