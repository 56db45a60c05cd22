"""What every knowledge-graph model promises, whatever its energy."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from relscape.data.triples import KnowledgeGraph
from relscape.errors import FormatError, StorageError
from relscape.maps import Map
from relscape.models.knowledge import KGEmbedding
from relscape.models.registry import METHODS, load_model
from relscape.objectives.energies import ENERGIES

ENTRIES = [entry for entry in METHODS.values() if entry.family == "knowledge"]


def test_every_class_is_registered():
    assert [entry.model_class() for entry in ENTRIES] == [KGEmbedding]


@pytest.fixture(scope="module")
def graph():
    """Thirty facts among twelve people of two villages, some held out."""
    rng = np.random.default_rng(3)
    pairs = [(i, j) for i in range(12) for j in range(12) if i != j and i % 2 == j % 2]
    chosen = rng.permutation(len(pairs))[:36]
    facts = [(f"a{pairs[k][0]:02}", "knows" if k % 3 else "helps", f"a{pairs[k][1]:02}") for k in chosen]
    return KnowledgeGraph(facts).split(4, 4, random_state=0)


@pytest.fixture(params=ENERGIES)
def model(request):
    return KGEmbedding(request.param, 4, n_epochs=6, n_batches=2, random_state=0, options={"warm_epochs": 2})


def test_parameters_are_left_alone(model, graph):
    parameters, before = model.get_params(), graph.train.copy()
    model.fit(graph)
    assert model.get_params() == parameters
    assert_array_equal(graph.train, before)


def test_same_seed_same_bits(model, graph):
    one, two = clone(model).fit(graph), clone(model).fit(graph)
    for name, rows in one.params_.items():
        assert_array_equal(rows, two.params_[name])
        assert rows.dtype == np.float32
        assert np.isfinite(rows).all()


def test_a_second_fit_forgets_the_first(model, graph):
    fresh = clone(model).fit(graph)
    model.fit(KnowledgeGraph([("x", "r", "y"), ("y", "r", "z")])).fit(graph)
    assert_array_equal(model.params_["entities"], fresh.params_["entities"])


def test_questions_need_a_fit(model):
    for question in (model.rank, model.to_map, lambda: model.save("nowhere"), lambda: model.similar("a")):
        with pytest.raises(NotFittedError):
            question()


def test_fast_scores_equal_energies(model, graph):
    trained = model.fit(graph)._trained()
    n = graph.n_entities
    for h, r, t in graph.test[:2]:
        tails = model.energy(np.array([(h, r, j) for j in range(n)]))
        heads = model.energy(np.array([(j, r, t) for j in range(n)]))
        assert_allclose(trained.tails_of(np.array([h]), np.array([r]))[0], tails, atol=2e-3)
        assert_allclose(trained.heads_of(np.array([t]), np.array([r]))[0], heads, atol=2e-3)


def test_ranks_and_answers(model, graph):
    model.fit(graph)
    report = model.rank()
    assert 1 <= report.mean_rank <= report.raw.mean_rank <= graph.n_entities
    h, r, t = graph.named(graph.test)[0]
    for answers in (model.predict_tails(h, r, 3), model.predict_heads(r, t, 3)):
        assert len(answers) == 3
        assert [a.energy for a in answers] == sorted(a.energy for a in answers)
        assert not any(a.known for a in answers)
    assert len(model.predict_relations(h, t, exclude_known=False)) == 2
    assert len(model.similar(h, 3)) == 3
    assert model.explain(h, r, t).known
    assert len(model.suspicious(3)) == 3


def test_models_save_and_load(model, graph, tmp_path):
    model.fit(graph).save(tmp_path / "kg")
    for loaded in (KGEmbedding.load(tmp_path / "kg"), load_model(tmp_path / "kg")):
        assert loaded.get_params() == model.get_params()
        assert_array_equal(loaded.energy("train"), model.energy("train"))
        assert loaded.rank().to_dict() == model.rank().to_dict()
        assert loaded.history_ == model.history_
        assert loaded.predict_tails(0, 0) == model.predict_tails(0, 0)


def test_a_checkpoint_goes_on_exactly(model, graph, tmp_path):
    whole = clone(model).fit(graph)
    clone(model).set_params(n_epochs=3).fit(graph, checkpoints=tmp_path / "run")
    resumed = KGEmbedding.resume(tmp_path / "run", n_epochs=6)
    assert_array_equal(resumed.params_["entities"], whole.params_["entities"])
    assert_array_equal(resumed.params_["relations"], whole.params_["relations"])


def test_maps(model, graph, tmp_path):
    map_ = model.fit(graph).to_map()
    assert map_.groups == ("entity", "relation")
    assert_array_equal(map_.coordinates("entity"), model.params_["entities"])
    assert map_.drawn_by["method"] == "pca"
    map_.save(tmp_path / "map")
    pd.testing.assert_frame_equal(
        Map.load(tmp_path / "map").to_frame().to_pandas(), map_.to_frame().to_pandas()
    )


def test_new_entities(model, graph):
    grown = model.fit(graph).with_entity("new", [("new", "knows", "a00"), ("a02", "helps", "new")])
    assert grown.params_["entities"].shape[0] == graph.n_entities + 1
    assert_array_equal(grown.params_["entities"][:-1], model.params_["entities"])


def test_pickles(model, graph):
    """Users' process pools pickle estimators; relscape itself never does."""
    again = pickle.loads(pickle.dumps(model.fit(graph)))
    assert again.rank().mean_rank == model.rank().mean_rank


def test_no_warning_on_clean_input(model, graph):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(graph).rank()


def test_saving_refuses_foreign_directories(graph, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="something else"):
        KGEmbedding("TransE", 4, n_epochs=1).fit(graph).save(tmp_path)


def test_damaged_models_are_refused(graph, tmp_path):
    KGEmbedding("TransE", 4, n_epochs=1).fit(graph).save(tmp_path / "kg")
    header = tmp_path / "kg" / "model.json"
    header.write_text(header.read_text().replace('"kind"', '"knid"'))
    with pytest.raises(FormatError, match="damaged"):
        load_model(tmp_path / "kg")
