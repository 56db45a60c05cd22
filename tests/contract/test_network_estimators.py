"""What every registered model of document networks promises, whatever its mathematics."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from relscape.data import Relation, RelationalData
from relscape.errors import DataError, ParameterError, RelscapeWarning, StorageError, UnknownNameError
from relscape.maps import Map
from relscape.models.network_base import NetworkModel
from relscape.models.placing import place
from relscape.models.registry import METHODS, load_model

ENTRIES = [entry for entry in METHODS.values() if entry.family == "network"]
SMALL = {
    "random_state": 0,
    "n_components": 3,
    "perplexity": 9.0,
    "n_topics": 3,
    "n_sweeps": 12,
    "n_communities": 3,
    "max_iterations": 40,
}
N, PER_GROUP, WORDS = 36, 12, 15


@pytest.fixture(params=[entry.name for entry in ENTRIES])
def model(request):
    made = METHODS[request.param].model_class()()
    return made.set_params(**{name: SMALL[name] for name in SMALL.keys() & made.get_params().keys()})


@pytest.fixture(scope="module")
def contents():
    """Three groups of documents, each mostly with words of its own."""
    means = np.full((N, WORDS), 0.4)
    for i in range(N):
        own = 5 * (i // PER_GROUP)
        means[i, own : own + 5] = 3.0
    return np.random.default_rng(7).poisson(means).astype(float)


@pytest.fixture(scope="module")
def links():
    """Every document links to the next four of its group."""
    steps = [(i, i - i % PER_GROUP + (i + step) % PER_GROUP) for i in range(N) for step in (1, 2, 3, 4)]
    return np.array(sorted(steps))


@pytest.fixture
def named(contents, links):
    names = [f"page {i}" for i in range(N)]
    data = RelationalData.from_matrix(contents, "page", "word", names, [f"w{j}" for j in range(WORDS)])
    matrix = csr_array((np.ones(len(links)), tuple(links.T)), shape=(N, N))
    data = data.with_relation(Relation("links", "page", "page", matrix))
    return data.with_entities(data.entities["page"].with_fields(names, {"year": np.arange(N)}))


def fitted(model, *given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        return model.fit(*given)


def test_every_class_is_registered():
    names = {entry.class_name for entry in ENTRIES}
    assert {"DocumentNetwork", "LinkOnly", "ContentOnly", "RTM", "CESNA", "SPML"} == names
    for entry in ENTRIES:
        made = entry.model_class()
        assert issubclass(made, NetworkModel)
        assert {"direction", "random_state"} <= inspect.signature(made).parameters.keys()


def test_fit_leaves_input_and_parameters_alone(model, contents, links):
    words, pairs, parameters = contents.copy(), links.copy(), model.get_params()
    model.fit(words, pairs)
    assert_array_equal(words, contents)
    assert_array_equal(pairs, links)
    assert model.get_params() == parameters


def test_same_seed_same_result(model, contents, links):
    first, second = clone(model).fit(contents, links), clone(model).fit(contents, links)
    assert_array_equal(first.embedding_, second.embedding_)
    assert np.isfinite(first.embedding_).all()


def test_a_second_fit_forgets_the_first(model, contents, links):
    model.fit(contents[:24], links[(links < 24).all(axis=1)])
    again = model.fit(contents, links)
    assert_array_equal(again.embedding_, clone(model).fit(contents, links).embedding_)


def test_clean_input_gives_no_warning(model, contents, links):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(contents, links).rank(links)


def test_questions_need_a_fit(model, contents):
    questions = (
        lambda: model.predict_links(0),
        lambda: model.suggest(contents),
        lambda: model.transform(contents),
        lambda: model.rank([(0, 1)]),
        model.to_map,
        lambda: model.save("nowhere"),
    )
    for question in questions:
        with pytest.raises(NotFittedError):
            question()


def test_every_form_of_data_says_the_same(model, contents, links, named):
    plain = clone(model).fit(contents, links)
    names = [f"page {i}" for i in range(N)]
    frame = pd.DataFrame(contents, index=names, columns=[f"w{j}" for j in range(WORDS)])
    by_name = pl.DataFrame({"from": [names[i] for i in links[:, 0]], "to": [names[j] for j in links[:, 1]]})
    for given in ((frame, by_name), (named,), (named.only("page-word"), named)):
        found = clone(model).fit(*given)
        assert_array_equal(found.links_, links)
        assert found.row_entities_.ids.tolist() == names
        assert_allclose(found.rank(by_name).mean_rank, plain.rank(links).mean_rank, rtol=0.1)


def test_links_within_a_group_are_found(model, contents, links):
    """A document's best suggestions are mostly of its own group."""
    model.set_params(**dict.fromkeys({"max_iterations", "n_sweeps"} & model.get_params().keys(), 300))
    model.fit(contents, links)
    own = [
        int(link.id) // PER_GROUP == i // PER_GROUP
        for i in range(N)
        for link in model.predict_links(i, top=4)
    ]
    assert np.mean(own) > 0.6
    assert model.rank(links).auc > 0.7


def test_suggested_links(model, contents, links):
    model.fit(contents, links)
    every = model.predict_links(5, top=100, exclude_known=False)
    assert len(every) == N - 1
    assert "5" not in {link.id for link in every}
    assert [link.score for link in every] == sorted((link.score for link in every), reverse=True)
    known = {str(j) for i, j in links if i == 5}
    assert {link.id for link in every if link.known} == known
    assert not known & {link.id for link in model.predict_links(5, top=100)}
    if every[0].probability is not None:
        assert all(0.0 <= link.probability <= 1.0 for link in every)


def test_directions(model, contents, links):
    """Turned-round links and the other direction are the same thing."""
    one = clone(model).fit(contents, links)
    other = clone(model).set_params(direction="in").fit(contents, links[:, ::-1])
    assert_array_equal(one.embedding_, other.embedding_)
    assert one.rank(links).mean_rank == other.rank(links[:, ::-1]).mean_rank
    assert one.predict_links(3) == other.predict_links(3)
    assert one.suggest(contents[:2]) == other.suggest(contents[:2], incoming=True)
    assert one.suggest(contents[:2], incoming=True) == other.suggest(contents[:2])


def test_ranks(model, contents, links):
    model.fit(contents, links[::2])
    report = model.rank(links[1::2])
    assert report.n_links == len(links[1::2])
    assert report.filtered.mean_rank <= report.mean_rank
    assert report.filtered.mean_rank <= model.rank(links[1::2], known=None).filtered.mean_rank
    assert model.rank(links[1::2], known=links).filtered.mean_rank == report.filtered.mean_rank
    assert model.rank(links[1::2], ties="optimistic").mean_rank <= report.mean_rank


def test_new_documents(model, contents, links):
    model.fit(contents, links)
    new = contents[[0, 13, 30]]
    assert model.transform(new).shape == (3, model.embedding_.shape[1])
    answers = model.suggest(new, top=5)
    assert [len(links_) for links_ in answers] == [5, 5, 5]
    assert not any(link.known for links_ in answers for link in links_)
    assert len(model.suggest(csr_array(new), incoming=True)[0]) == 10
    with pytest.raises(ValueError, match="features"):
        model.transform(contents[:, :4])


def test_new_words_are_matched_by_name(model, named, contents):
    model.fit(named)
    words = [f"w{j}" for j in range(WORDS)][::-1]
    new = RelationalData.from_matrix(contents[:2, ::-1], "page", "word", ["a", "b"], words)
    expected = model.suggest(contents[:2], top=3)
    found = model.suggest(new, top=3)
    assert [[link.id for link in row] for row in found] == [[link.id for link in row] for row in expected]


def test_models_save_and_load(model, named, contents, tmp_path):
    model.fit(named).save(tmp_path / "net")
    for loaded in (type(model).load(tmp_path / "net"), load_model(tmp_path / "net")):
        assert loaded.get_params() == model.get_params()
        assert loaded.rank(named).to_dict() == model.rank(named).to_dict()
        assert loaded.predict_links("page 4") == model.predict_links("page 4")
        assert loaded.suggest(contents[:2]) == model.suggest(contents[:2])
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="something else"):
        model.save(tmp_path)


def test_pickles(model, contents, links):
    """Users' process pools pickle estimators; relscape itself never does."""
    again = pickle.loads(pickle.dumps(model.fit(contents, links)))
    assert again.rank(links).mean_rank == model.rank(links).mean_rank


def test_maps(model, named, links, tmp_path):
    map_ = model.fit(named).to_map()
    assert map_.groups == ("page",)
    assert_array_equal(map_.coordinates("page"), model.embedding_)
    assert_array_equal(map_.group("page").fields["year"], np.arange(N))
    assert_array_equal(map_.group("page").fields["links out"], 4)
    assert map_.relations["links"].matrix.nnz == len(links)
    map_.save(tmp_path / "map")
    again = Map.load(tmp_path / "map")
    assert again.relations["links"].matrix.nnz == len(links)
    pd.testing.assert_frame_equal(again.to_frame().to_pandas(), map_.to_frame().to_pandas())
    assert not model.to_map(relations=False).relations


def test_new_documents_on_the_map(model, named, contents):
    map_ = model.fit(named).to_map()
    new = pd.DataFrame(contents[:2], index=["a", "b"], columns=[f"w{j}" for j in range(WORDS)])
    grown = place(map_, new)
    assert len(grown) == N + 2
    assert_allclose(grown.coordinates("page")[-2:], model.transform(contents[:2]))
    assert grown.relations["links"].matrix.nnz == map_.relations["links"].matrix.nnz
    with pytest.raises(ParameterError, match="kind 'page', not 'word'"):
        place(map_, new, "word")
    with pytest.raises(DataError, match="the new data has no 'page'"):
        place(map_, RelationalData.from_edges([("a", "w1")], "doc", "word"))


def test_documents_are_found_by_name(model, named):
    model.fit(named)
    assert model.predict_links("page 3") == model.predict_links(3)
    with pytest.raises(UnknownNameError, match="no page 'page 99'"):
        model.predict_links("page 99")
    with pytest.raises(ParameterError, match="positions go from 0 to 35"):
        model.predict_links(36)
    with pytest.raises(ParameterError, match="top=0"):
        model.predict_links(3, top=0)


def test_what_cannot_be_fitted(model, contents, links, named):
    with pytest.raises(UnknownNameError, match="no direction 'both'"):
        clone(model).set_params(direction="both").fit(contents, links)
    with pytest.raises(DataError, match="there are no links"):
        model.fit(contents)
    with pytest.raises(DataError, match="2 documents"):
        model.fit(contents[:2], [(0, 1)])
    with pytest.raises(ParameterError, match="random_state"):
        clone(model).set_params(random_state="today").fit(contents, links)
    likes = named.with_relation(Relation("likes", "page", "word", contents))
    with pytest.raises(DataError, match="2 relations that could be the contents"):
        model.fit(likes)


def test_links_are_counted_and_dropped(model, contents, links):
    more = np.vstack([links, links[:2], [[3, 3], [0, 99]]])
    with pytest.warns(RelscapeWarning, match="4 of 148 links are left out"):
        model.fit(contents, more)
    assert_array_equal(model.links_, links)
    assert_array_equal(fitted(clone(model), contents, more).embedding_, model.embedding_)
