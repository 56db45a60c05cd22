"""What every registered guided projection promises, whatever its guidance."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from relscape.data import EntitySet, Relation, RelationalData
from relscape.errors import DataError, FormatError, RelscapeWarning, StorageError, UnknownNameError
from relscape.maps import Map
from relscape.models.placing import place
from relscape.models.projection import HeterogeneousProjection
from relscape.models.projection_base import ProjectionModel
from relscape.models.registry import METHODS, load_model

ENTRIES = [entry for entry in METHODS.values() if entry.family == "projection"]
N = 24


@pytest.fixture(params=[entry.name for entry in ENTRIES])
def model(request):
    return METHODS[request.param].model_class()(random_state=0)


@pytest.fixture
def views(rng):
    shared = rng.normal(size=(N, 2))
    return [shared @ rng.normal(size=(2, d)) + 0.3 * rng.normal(size=(N, d)) for d in (4, 3)]


@pytest.fixture
def graph():
    return np.eye(N, k=1) + np.eye(N, k=-1)


def given(model, views, graph):
    """Give the arguments of ``fit``, as each method takes them."""
    name = type(model).__name__
    if name == "LPP":
        return views[0], graph
    if name == "RidgeCCA":
        return tuple(views)
    tables = dict(zip("xy", views, strict=True))
    if name == "MultiViewLPP":
        return tables, {"x": graph}
    return tables, {("x", "y"): np.eye(N), ("x", "x"): graph}


def new(model, table):
    """Give the argument of ``transform`` for new things of the first kind, and take its answer apart."""
    alone = type(model).__name__ in ("LPP", "RidgeCCA")
    answer = model.transform(table if alone else {"x": table})
    return answer if alone else answer["x"]


def first(model):
    return model.embeddings_[model.kinds_[0]]


def test_every_class_is_registered():
    names = {entry.class_name for entry in ENTRIES}
    assert names == {"HeterogeneousProjection", "LPP", "MultiViewLPP", "RidgeCCA"}
    assert all(issubclass(entry.model_class(), ProjectionModel) for entry in ENTRIES)


def test_fit_leaves_input_and_parameters_alone(model, views, graph):
    before, parameters = [view.copy() for view in views], model.get_params()
    model.fit(*given(model, views, graph))
    for view, kept in zip(views, before, strict=True):
        assert_array_equal(view, kept)
    assert model.get_params() == parameters


def test_same_result_again_and_after_another_fit(model, views, graph):
    once = clone(model).fit(*given(model, views, graph))
    model.fit(*given(model, [view[::-1] ** 2 for view in views], graph))
    assert_array_equal(first(model.fit(*given(model, views, graph))), first(once))


def test_dense_equals_sparse(model, views, graph):
    dense = clone(model).fit(*given(model, views, graph))
    sparse = clone(model).fit(*given(model, [csr_array(view) for view in views], csr_array(graph)))
    assert_allclose(first(sparse), first(dense), atol=1e-9)
    assert_allclose(new(sparse, csr_array(views[0][:3])), first(dense)[:3], atol=1e-9)


def test_things_come_to_their_own_place(model, views, graph):
    model.fit(*given(model, views, graph))
    assert_allclose(new(model, views[0][3:7]), first(model)[3:7], atol=1e-10)


def test_clean_input_gives_no_warning(model, views, graph):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new(model.fit(*given(model, views, graph)), views[0])


def test_questions_need_a_fit(model, views):
    for question in (lambda: new(model, views[0]), model.to_map, lambda: model.save("nowhere")):
        with pytest.raises(NotFittedError):
            question()


def test_frames_keep_and_match_names(model, views, graph):
    ids = [f"s{i}" for i in range(N)]
    frames = [
        pd.DataFrame(view, index=ids, columns=[f"{letter}{j}" for j in range(view.shape[1])])
        for view, letter in zip(views, "xy", strict=True)
    ]
    model.fit(*given(model, frames, graph))
    assert model.entities_[model.kinds_[0]].ids.tolist() == ids
    assert_allclose(new(model, frames[0][["x3", "x1", "x0", "x2"]]), first(model), atol=1e-10)
    with pytest.warns(RelscapeWarning, match="1 features were not there.*'more'"):
        new(model, frames[0].assign(more=1.0))
    with pytest.raises(DataError, match="lack 1 of the 4 features of the fit: 'x2'"):
        new(model, frames[0].drop(columns="x2"))


def test_bad_tables_are_refused_by_kind(model, views, graph):
    model.fit(*given(model, views, graph))
    with pytest.raises(DataError, match=r"kind '\w+': the new things have 2 features, but 4"):
        new(model, views[0][:, :2])
    with pytest.raises(DataError, match=r"kind '\w+': Input X contains NaN"):
        new(model, np.full((2, 4), np.nan))
    with pytest.raises(DataError, match=r"kind '\w+': .*NaN"):
        model.fit(*given(model, [np.where(view > 1, np.nan, view) for view in views], graph))


def test_models_save_and_load(model, views, graph, tmp_path):
    model.fit(*given(model, views, graph)).save(tmp_path / "model")
    for loaded in (type(model).load(tmp_path / "model"), load_model(tmp_path / "model")):
        assert loaded.get_params() == model.get_params()
        assert_array_equal(first(loaded), first(model))
        assert_array_equal(new(loaded, views[0] + 0.1), new(model, views[0] + 0.1))
        assert_array_equal(loaded.eigenvalues_, model.eigenvalues_)
        for pair, block in model.guidance_.items():
            assert_array_equal(loaded.guidance_[pair].toarray(), block.toarray())
    other = next(e.model_class() for e in ENTRIES if e.class_name != type(model).__name__)
    with pytest.raises(FormatError, match="not a"):
        other.load(tmp_path / "model")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="something else"):
        model.save(tmp_path)


def test_pickles(model, views, graph):
    """Users' process pools pickle estimators; relscape itself never does."""
    again = pickle.loads(pickle.dumps(model.fit(*given(model, views, graph))))
    assert_array_equal(new(again, views[0]), new(model, views[0]))


def test_maps(model, views, graph, tmp_path):
    map_ = model.fit(*given(model, views, graph)).to_map()
    assert list(map_.groups) == model.kinds_
    for kind in model.kinds_:
        assert_array_equal(map_.coordinates(kind), model.embeddings_[kind])
        assert_array_equal(map_.group(kind).fields["degree"], model.degrees_[kind])
    assert map_.scores["strength 1"] == model.strengths_[0]
    assert sum(r.matrix.nnz for r in map_.relations.values()) == sum(b.nnz for b in model.guidance_.values())
    map_.save(tmp_path / "map")
    again = Map.load(tmp_path / "map")
    pd.testing.assert_frame_equal(again.to_frame().to_pandas(), map_.to_frame().to_pandas())
    assert again.relations.keys() == map_.relations.keys()
    assert not model.to_map(relations=False).relations


def test_new_things_on_the_map(model, views, graph):
    map_ = model.fit(*given(model, views, graph)).to_map()
    kind = model.kinds_[0]
    frame = pd.DataFrame(views[0][:2] + 0.5, index=["new", "newer"], columns=[str(j) for j in range(4)])
    grown = place(map_, frame)
    assert_allclose(grown.coordinates(kind)[-2:], new(model, views[0][:2] + 0.5))
    assert grown.group(kind).ids[-2:].tolist() == ["new", "newer"]
    with pytest.raises(UnknownNameError, match="no kind 'city'"):
        place(map_, frame, "city")


# ---------------------------------------------------------------------- data sets of several kinds


@pytest.fixture
def album(views):
    """Images with features and a label, tags without; the class of tags is called like a stored word."""
    images = EntitySet("image", [f"i{k}" for k in range(N)], features=views[0], feature_names=list("abcd"))
    images = images.with_fields(images.ids, {"year": np.arange(N)})
    tags = EntitySet("class", ["sea", "sky"])
    tagged = np.column_stack([views[0][:, 0] > 0, views[0][:, 0] <= 0])
    near = Relation("near", "image", "image", np.eye(N, k=1))
    return RelationalData([images, tags], [Relation("tagged", "image", "class", tagged), near])


def test_relational_data(album, views, tmp_path):
    model = HeterogeneousProjection().fit(album, {"tagged": 1.0, "near": 0.5})
    assert model.kinds_ == ["image", "class"]
    assert model.guidance_["image", "image"].max() == 0.25
    every = HeterogeneousProjection().fit(album)
    assert every.guidance_["image", "image"].max() == 0.5
    plain = HeterogeneousProjection(1).fit(
        {"image": views[0], "class": None}, {("image", "class"): album.matrix("tagged")}
    )
    only = HeterogeneousProjection(1).fit(album, {"tagged": 1.0})
    assert_array_equal(only.embeddings_["class"], plain.embeddings_["class"])
    model.save(tmp_path / "model")
    loaded = HeterogeneousProjection.load(tmp_path / "model")
    assert_array_equal(loaded.transform(album)["image"], model.transform(album)["image"])
    assert loaded.to_map().group("image").fields["year"].tolist() == list(range(N))
    assert loaded.to_map().group("class").ids.tolist() == ["sea", "sky"]
    grown = place(loaded.to_map(), album, "image")
    assert len(grown) == N + 2
    with pytest.raises(DataError, match="fitted without features"):
        model.transform({"class": [[1.0]]})
    with pytest.raises(DataError, match="fitted without features"):
        place(loaded.to_map(), album, "class")


def test_kinds_that_were_left_out_are_not_placed(album):
    more = RelationalData(
        [*album.entities.values(), EntitySet("city", ["p", "q"], features=np.eye(2))],
        list(album.relations.values()),
    )
    with pytest.warns(RelscapeWarning, match="nothing guides 'city'"):
        model = HeterogeneousProjection().fit(more)
    assert list(model.transform(more)) == ["image"]


def test_kernels_are_saved(album, views, tmp_path):
    model = HeterogeneousProjection(kernels={"image": {"kernel": "rbf", "n_landmarks": 9}}, random_state=1)
    model.set_params(standardize=True).fit(album)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    found = loaded.transform({"image": views[0] + 0.1})["image"]
    assert_array_equal(found, model.transform({"image": views[0] + 0.1})["image"])
    assert model.projections_["image"].shape == (9, 2)


def test_what_is_no_data(views):
    with pytest.raises(DataError, match="this is of type ndarray"):
        HeterogeneousProjection().fit(views[0], {})
    with pytest.raises(DataError, match="an empty dict"):
        HeterogeneousProjection().fit({}, {})
    with pytest.raises(DataError, match="guidance of type NoneType"):
        HeterogeneousProjection().fit({"x": views[0]})
