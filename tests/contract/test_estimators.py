"""What every registered co-embedding promises, whatever its mathematics."""

from __future__ import annotations

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
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from relscape.data import RelationalData
from relscape.errors import DataError, FormatError, RelscapeWarning, StorageError
from relscape.models.likelihood import LikelihoodModel
from relscape.models.mkpe import MKPE
from relscape.models.psd_code import PSDCODE
from relscape.models.registry import METHODS, load_model

COEMBEDDINGS = [entry for entry in METHODS.values() if entry.family == "coembedding"]
PLACING = [entry for entry in COEMBEDDINGS if hasattr(entry.model_class(), "transform")]


def quick(entry):
    """A model set up to be fitted in a moment."""
    model = entry.model_class()()
    settings = {"random_state": 0, "max_evaluations": 8, "n_restarts": 1, "ridge": 1e-2}
    if isinstance(model, PSDCODE):  # of a map that is projected only, rows do not come back to their place
        settings = {"n_lambdas": 3, "lambda_ratio": 0.1, "solver": "factored", "polish": True}
    return model.set_params(**{name: settings[name] for name in settings.keys() & model.get_params().keys()})


@pytest.fixture(params=COEMBEDDINGS, ids=lambda entry: entry.name)
def model(request):
    return quick(request.param)


@pytest.fixture(params=PLACING, ids=lambda entry: entry.name)
def placing(request):
    """A model that can place new objects: all but MKPE."""
    return quick(request.param)


def places_new(model):
    return hasattr(model, "transform")


def digits(model):
    """How closely two computations of one result agree: to rounding, or to where an iteration stops."""
    if isinstance(model, PSDCODE):
        return 5e-2
    return 1e-5 if isinstance(model, LikelihoodModel | MKPE) else 1e-8


def places_columns_exactly(model):
    """CM's columns are placed with the normalisers frozen, near but not at their fitted place."""
    return not isinstance(model, LikelihoodModel)


@pytest.fixture
def relation(rng):
    return rng.poisson(2.0, size=(12, 9)) + np.eye(12, 9)


@pytest.fixture
def named(relation):
    rows, columns = [f"d{i}" for i in range(12)], [f"w{j}" for j in range(9)]
    data = RelationalData.from_matrix(relation, "doc", "word", rows, columns)
    fields = {"class": np.array(["a", "b", None] * 4, dtype=object), "year": np.arange(12)}
    return data.with_entities(data.entities["doc"].with_fields(rows, fields))


@pytest.mark.filterwarnings("ignore::relscape.errors.RelscapeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(model):
    check_estimator(model)


def test_every_class_is_registered():
    from relscape.models import spectral

    registered = {entry.class_name for entry in METHODS.values()}
    assert set(spectral.__all__) <= registered


def test_dense_equals_sparse(model, relation):
    dense, sparse = clone(model).fit(relation), clone(model).fit(csr_array(relation))
    assert_allclose(dense.row_embedding_, sparse.row_embedding_, atol=digits(model))
    assert_allclose(dense.column_embedding_, sparse.column_embedding_, atol=digits(model))


def test_single_precision_is_enough(model, relation):
    single = clone(model).fit(csr_array(relation, dtype=np.float32))
    assert_allclose(
        single.row_embedding_, clone(model).fit(relation).row_embedding_, atol=max(digits(model), 1e-4)
    )


def test_same_seed_same_result(model, relation):
    assert_array_equal(clone(model).fit(relation).row_embedding_, clone(model).fit(relation).row_embedding_)


def test_order_of_rows_does_not_matter(model, rng):
    relation = rng.gamma(2.0, size=(12, 9))
    order = rng.permutation(12)
    first, second = clone(model).fit(relation), clone(model).fit(relation[order])
    assert_allclose(np.abs(second.row_embedding_), np.abs(first.row_embedding_[order]), atol=digits(model))


def test_fit_leaves_input_and_parameters_alone(model, relation):
    before, parameters = relation.copy(), model.get_params()
    model.fit(relation)
    assert_array_equal(relation, before)
    assert model.get_params() == parameters


def test_transform_needs_fit(placing, relation):
    with pytest.raises(NotFittedError):
        placing.transform(relation)
    with pytest.raises(NotFittedError):
        placing.transform_columns(relation)


def test_maps_need_fit(model):
    with pytest.raises(NotFittedError):
        model.to_map()


def test_new_objects(placing, relation):
    placing.fit(relation)
    assert_allclose(placing.transform(relation[3:5]), placing.row_embedding_[3:5], atol=digits(placing))
    if places_columns_exactly(placing):
        assert_allclose(
            placing.transform_columns(relation[:, [4]]), placing.column_embedding_[[4]], atol=digits(placing)
        )
    with pytest.warns(RelscapeWarning, match="get no place"):
        assert np.isnan(placing.transform(np.zeros((1, 9)))).all()
    with pytest.raises(ValueError, match="features"):
        placing.transform(relation[:, :5])
    with pytest.raises(DataError, match="12 rows"):
        placing.transform_columns(relation[:5])
    with pytest.raises(DataError, match="Negative"):
        placing.transform(-relation)
    with pytest.raises(DataError, match="NaN"):
        placing.transform_columns(np.full((12, 1), np.nan))


def test_new_objects_by_name(placing, named, relation):
    """Columns are matched by id, in any order; unknown ones are left out and counted."""
    placing.fit(named)
    order = [5, 3, 1, 8, 0, 2, 4, 6, 7]
    new = RelationalData.from_matrix(
        np.column_stack([relation[:2][:, order], [7, 7]]),
        "doc",
        "word",
        ["n1", "n2"],
        [*(f"w{j}" for j in order), "never seen"],
    )
    with pytest.warns(RelscapeWarning, match="1 of 10 ids of kind 'word'.*'never seen'"):
        placed = placing.transform(new)
    assert_allclose(placed, placing.row_embedding_[:2], atol=digits(placing))
    strangers = RelationalData.from_edges([("n1", "q1"), ("n2", "q2")], "doc", "word")
    with pytest.raises(DataError, match="none of the 2 ids of kind 'word'"):
        placing.transform(strangers)


def test_new_columns_by_name(placing, named, relation):
    placing.fit(named)
    order = list(reversed(range(12)))
    new = RelationalData.from_matrix(
        relation[order][:, :2], "doc", "word", [f"d{i}" for i in order], ["a", "b"]
    )
    assert_allclose(
        placing.transform_columns(new), placing.transform_columns(relation[:, :2]), atol=digits(placing)
    )


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_keep_their_names(model, relation, library):
    columns = [f"w{j}" for j in range(9)]
    if library == "pandas":
        frame = pd.DataFrame(relation, columns=columns, index=[f"d{i}" for i in range(12)])
    else:
        frame = pl.DataFrame(
            {"name": [f"d{i}" for i in range(12)], **dict(zip(columns, relation.T, strict=True))}
        )
    if library == "pyarrow":
        frame = frame.to_arrow()
    model.fit(frame)
    assert model.column_entities_.ids.tolist() == columns
    joint = model.to_map()
    assert joint.groups == (("row" if library == "pandas" else "name"), "column")
    assert joint.group(joint.groups[0]).ids.tolist() == [f"d{i}" for i in range(12)]
    if places_new(model):
        assert_allclose(model.transform(frame), model.row_embedding_, atol=digits(model))


def test_frames_of_any_column_names(model, relation):
    """Numbers as names (a crosstab) work; names that repeat are refused."""
    frame = pd.DataFrame(relation)
    assert_allclose(
        model.fit(frame).row_embedding_, clone(model).fit(relation).row_embedding_, atol=digits(model)
    )
    assert model.column_entities_.ids.tolist() == [str(j) for j in range(9)]
    if places_new(model):
        assert_allclose(model.transform(frame[3:5]), model.row_embedding_[3:5], atol=digits(model))
    with pytest.raises(DataError, match="x"):
        model.fit(pd.DataFrame(relation, columns=["x"] * 9))


def test_relation_within_one_kind(model, rng):
    """One kind in two roles: both are on the map under names of their own."""
    links = rng.gamma(1.0, size=(10, 10))
    data = RelationalData.from_matrix(links, "doc", "doc", [f"d{i}" for i in range(10)])
    joint = model.fit(data).to_map()
    assert joint.groups == ("doc-row", "doc-column")
    assert joint.group("doc-column").ids.tolist() == [f"d{i}" for i in range(10)]


def test_new_objects_the_other_way_round(placing, named, relation):
    """Whether new relations are given as (new, known) or (known, new) does not matter; kinds do."""
    placing.fit(named)
    words = [f"w{j}" for j in range(9)]
    turned = RelationalData.from_matrix(relation[:2].T, "word", "doc", words, ["a", "b"])
    assert_allclose(placing.transform(turned), placing.row_embedding_[:2], atol=digits(placing))
    with pytest.raises(DataError, match="relations to 'word', but the data joins 'doc' and 'tag'"):
        placing.transform(RelationalData.from_edges([("a", "w1")], "doc", "tag"))


@pytest.mark.parametrize("weight", [1e300, 1e-300])
def test_weights_beyond_computing_are_refused(model, relation, weight):
    with pytest.raises(DataError, match="scale them"):
        model.fit(relation * weight)


def test_pandas_output_and_feature_names(model, relation):
    frame = model.set_output(transform="pandas").fit_transform(relation)
    assert list(frame.columns) == list(model.get_feature_names_out())
    assert len(model.get_feature_names_out()) == model.n_components


def test_pipelines(model, relation):
    pipeline = make_pipeline(FunctionTransformer(np.log1p), model)
    assert pipeline.fit_transform(relation).shape == (12, 2)


def test_maps_carry_names_fields_and_the_model(model, named):
    model.fit(named)
    joint = model.to_map()
    assert joint.groups == ("doc", "word")
    assert_array_equal(joint.coordinates("word"), model.column_embedding_)
    assert "degree" in joint.group("doc").fields
    assert joint.model == type(model).__name__
    assert joint.parameters == model.get_params()
    assert joint.provenance["data_fingerprint"]
    assert joint.model_state is not None


def test_models_save_and_load(model, named, relation, tmp_path):
    model.fit(named)
    model.save(tmp_path / "model")
    for loaded in (type(model).load(tmp_path / "model"), load_model(tmp_path / "model")):
        assert loaded.get_params() == model.get_params()
        assert_array_equal(loaded.row_embedding_, model.row_embedding_)
        if places_new(model):
            assert_array_equal(loaded.transform(relation), model.transform(relation))
            assert_array_equal(loaded.transform_columns(relation), model.transform_columns(relation))
        pd.testing.assert_frame_equal(
            loaded.to_map().to_frame().to_pandas(), model.to_map().to_frame().to_pandas(), rtol=1e-12
        )
    with pytest.raises(FormatError, match="missing"):
        type(model).load(tmp_path)
    other = next(entry.model_class() for entry in COEMBEDDINGS if entry.class_name != type(model).__name__)
    with pytest.raises(FormatError, match="not a"):
        other.load(tmp_path / "model")


def test_damaged_models_are_refused(model, relation, tmp_path):
    model.fit(relation).save(tmp_path / "model")
    header = tmp_path / "model" / "model.json"
    header.write_text(header.read_text().replace('"kind"', '"knid"'))
    with pytest.raises(FormatError, match="damaged"):
        load_model(tmp_path / "model")
    header.write_text("{")
    with pytest.raises(FormatError, match="JSON"):
        load_model(tmp_path / "model")
    with pytest.raises(FormatError, match="not a directory"):
        load_model(header)


def test_saving_refuses_foreign_models(model, relation, tmp_path):
    (tmp_path / "model.json").write_text('{"weights": "precious"}')
    with pytest.raises(StorageError, match="something else"):
        model.fit(relation).save(tmp_path)
    assert "precious" in (tmp_path / "model.json").read_text()


def test_saving_refuses_foreign_directories(model, relation, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="something else"):
        model.fit(relation).save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_pickles(model, relation):
    """Users' process pools pickle estimators; relscape itself never does."""
    again = pickle.loads(pickle.dumps(model.fit(relation)))
    assert_array_equal(again.row_embedding_, model.row_embedding_)
    if places_new(model):
        assert_array_equal(again.transform(relation), model.transform(relation))


def test_no_warning_on_clean_input(model, relation):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(relation)
