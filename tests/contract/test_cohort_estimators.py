"""What every registered cohort model promises, whatever its mathematics."""

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
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from relscape.data import RelationalData
from relscape.errors import DataError, FormatError, RelscapeWarning, StorageError
from relscape.maps import Map
from relscape.models.cova import COVA
from relscape.models.registry import METHODS, load_model

ENTRIES = [entry for entry in METHODS.values() if entry.family == "cohorts"]
CASES = [
    *[
        ("cova", {"variant": variant})
        for variant in ("E1", "E2", "E3", "E4", "P1", "P2", "P3", "P4", "eigen")
    ],
    *[(entry.name, {}) for entry in ENTRIES if entry.name != "cova"],
]


@pytest.fixture(params=CASES, ids=lambda case: case[1].get("variant", case[0]))
def model(request):
    name, parameters = request.param
    model = METHODS[name].model_class()(**parameters)
    settings = {"random_state": 0, "perplexity": 5.0}
    return model.set_params(**{name: settings[name] for name in settings.keys() & model.get_params().keys()})


@pytest.fixture
def samples(rng):
    """Three cohorts of twelve samples each, in five dimensions."""
    centres = np.repeat(4.0 * np.eye(3, 5), 12, axis=0)
    return centres + rng.normal(size=centres.shape)


@pytest.fixture
def labels():
    return np.repeat(["ale", "tea", "milk"], 12)


@pytest.fixture
def named(samples):
    names = [f"s{i}" for i in range(36)]
    data = RelationalData.from_matrix(samples, "drink", "taste", names, [f"t{j}" for j in range(5)])
    fields = {"year": np.arange(36), "place": np.array(["x", None, "y"] * 12, dtype=object)}
    return data.with_entities(data.entities["drink"].with_fields(names, fields))


# The other variants share all code that scikit-learn looks at with one of these.
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case[1].get("variant", "E1") in ("E1", "E2", "P1", "eigen")],
    ids=lambda case: case[1].get("variant", case[0]),
)
@pytest.mark.filterwarnings("ignore::relscape.errors.RelscapeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(case):
    name, parameters = case
    model = METHODS[name].model_class()(**parameters)
    # Fewer steps keep the hundred fits short; what is checked does not depend on where they end.
    check_estimator(model.set_params(max_iterations=60))


def test_every_class_is_registered():
    from relscape.models import baselines

    registered = {entry.class_name for entry in ENTRIES}
    assert {"COVA", "SNE", "TSNE", "SupervisedSNE", "SupervisedTSNE"} <= registered
    assert {name for name in baselines.__all__ if name[0].isupper()} <= registered


def test_dense_equals_sparse(model, samples, labels):
    dense, sparse = clone(model).fit(samples, labels), clone(model).fit(csr_array(samples), labels)
    if model.get_params().get("variant") in ("E1", "eigen"):
        assert_allclose(dense.embedding_, sparse.embedding_, atol=1e-5)
    else:  # sums over a sparse row round differently, and a descent among valleys carries that on
        assert_allclose(dense.solve_result_.value, sparse.solve_result_.value, rtol=0.1)


def test_same_seed_same_result(model, samples, labels):
    first, second = clone(model).fit(samples, labels), clone(model).fit(samples, labels)
    assert_array_equal(first.embedding_, second.embedding_)


def test_fit_leaves_input_and_parameters_alone(model, samples, labels):
    before, parameters = samples.copy(), model.get_params()
    model.fit(samples, labels)
    assert_array_equal(samples, before)
    assert model.get_params() == parameters


def test_a_second_fit_forgets_the_first(model, samples, labels):
    model.fit(np.vstack([samples, samples + 9.0]), np.concatenate([labels, labels]))
    assert_array_equal(model.fit(samples, labels).embedding_, clone(model).fit(samples, labels).embedding_)


def test_transform_needs_fit(model, samples):
    with pytest.raises(NotFittedError):
        model.transform(samples)
    with pytest.raises(NotFittedError):
        model.to_map()
    with pytest.raises(NotFittedError):
        model.save("nowhere")


def test_samples_come_to_their_own_place(model, samples, labels):
    model.fit(samples, labels)
    assert_allclose(model.transform(samples[3:7]), model.embedding_[3:7], atol=1e-9)
    assert_allclose(model.transform(csr_array(samples[3:7])), model.embedding_[3:7], atol=1e-9)


def test_new_samples_are_near_those_they_resemble(model, samples, labels):
    model.fit(samples, labels)
    size = np.ptp(model.embedding_, axis=0).max()
    nearby = model.transform(samples[::6] + 1e-6)
    assert np.abs(nearby - model.embedding_[::6]).max() < 0.35 * size


def test_new_samples_do_not_see_one_another(model, samples, labels):
    model.fit(samples, labels)
    new = samples + 0.1
    together = model.transform(new)
    assert_allclose(np.vstack([model.transform(new[:5]), model.transform(new[5:])]), together, atol=1e-9)


def test_bad_new_samples_are_refused(model, samples, labels):
    model.fit(samples, labels)
    with pytest.raises(ValueError, match="features"):
        model.transform(samples[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        model.transform(np.full((2, 5), np.nan))


def test_names(model, named, labels, samples):
    """Features are matched by id, in any order; unknown ones are left out and counted."""
    model.fit(named, labels)
    order = [4, 2, 0, 1, 3]
    new = RelationalData.from_matrix(
        np.column_stack([samples[:2][:, order], [7, 7]]),
        "drink",
        "taste",
        ["n1", "n2"],
        [*(f"t{j}" for j in order), "never tasted"],
    )
    with pytest.warns(RelscapeWarning, match="1 of 6 ids of kind 'taste'.*'never tasted'"):
        placed = model.transform(new)
    assert_allclose(placed, model.embedding_[:2], atol=1e-9)
    with pytest.raises(DataError, match="by their 'taste', but the data joins 'drink' and 'colour'"):
        model.transform(RelationalData.from_edges([("n1", "red")], "drink", "colour"))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_keep_their_names(model, samples, labels, library):
    columns, names = [f"t{j}" for j in range(5)], [f"s{i}" for i in range(36)]
    if library == "pandas":
        frame = pd.DataFrame(samples, columns=columns, index=names)
    else:
        frame = pl.DataFrame({"drink": names, **dict(zip(columns, samples.T, strict=True))})
    if library == "pyarrow":
        frame = frame.to_arrow()
    model.fit(frame, labels)
    kind = "sample" if library == "pandas" else "drink"
    assert model.row_entities_.kind == kind
    assert model.to_map().group(kind).ids.tolist() == names
    assert_allclose(model.transform(frame), model.embedding_, atol=1e-9)


def test_frames_of_other_things_are_refused(model, samples, labels):
    frame = pd.DataFrame(samples, columns=list("abcde"))
    with pytest.raises(DataError, match=r"column 'f' holds .*features are numbers"):
        model.fit(frame.assign(f="red"), labels)
    with pytest.raises(DataError, match=r"column 'b' has 1 missing value.*row 3"):
        model.fit(frame.assign(b=frame["b"].where(frame.index != 3)), labels)
    with pytest.raises(DataError, match="read the file first"):
        model.fit("drinks.csv", labels)


@pytest.mark.parametrize("kind", ["texts", "numbers", "integers", "categories", "series"])
def test_labels_of_any_type(model, samples, kind):
    codes = np.repeat([1, 2, 0], 12)
    labels = {
        "texts": np.array(["c", "a", "b"])[codes],
        "numbers": codes - 0.5,
        "integers": codes + 7,
        "categories": pd.Categorical.from_codes(codes, ["y", "x", "z"]),
        "series": pd.Series(np.array(["c", "a", "b"], dtype=object)[codes]),
    }[kind]
    model.fit(samples, labels)
    assert len(model.cohorts_) == 3
    assert len(set(zip(codes.tolist(), model.labels_.tolist(), strict=True))) == 3


def test_bad_labels_are_refused(model, samples, labels):
    with pytest.raises(DataError, match="y has 3 labels for 36 samples"):
        model.fit(samples, labels[:3])
    with pytest.raises(DataError, match="y has shape"):
        model.fit(samples, np.column_stack([labels, labels]))


def test_pandas_output_and_feature_names(model, samples, labels):
    model.set_output(transform="pandas").fit(samples, labels)
    frame = model.transform(samples)
    assert list(frame.columns) == list(model.get_feature_names_out())
    assert len(model.get_feature_names_out()) == 2


def test_pipelines(model, samples, labels):
    pipeline = make_pipeline(StandardScaler(), model)
    assert pipeline.fit_transform(samples, labels).shape == (36, 2)


def test_other_numbers_of_axes(model, samples, labels):
    # three prototypes span two dimensions only, which is worth a warning
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        assert model.set_params(n_components=1).fit(samples, labels).embedding_.shape == (36, 1)
        assert model.set_params(n_components=3).fit(samples, labels).embedding_.shape == (36, 3)


def test_maps_carry_names_fields_scores_and_the_model(model, named, labels):
    map_ = model.fit(named, labels).to_map()
    drinks = map_.group("drink")
    assert_array_equal(drinks.coordinates, model.embedding_)
    assert_array_equal(drinks.fields["cohort"], labels)
    assert drinks.fields["year"].tolist() == list(range(36))
    assert map_.model == type(model).__name__
    assert map_.parameters == model.get_params()
    assert map_.provenance["data_fingerprint"]
    assert 0 <= map_.scores["cohort_separation"] <= 1
    assert map_.scores["neighbor_preservation_chance"] < 1
    assert map_.model_state is not None


def test_maps_are_stored(model, named, labels, tmp_path):
    map_ = model.fit(named, labels).to_map()
    map_.save(tmp_path / "map")
    loaded = Map.load(tmp_path / "map")
    pd.testing.assert_frame_equal(loaded.to_frame().to_pandas(), map_.to_frame().to_pandas())
    assert loaded.scores == map_.scores
    assert loaded.arrays.keys() == map_.arrays.keys()


def test_models_save_and_load(model, named, labels, samples, tmp_path):
    model.fit(named, labels)
    model.save(tmp_path / "model")
    for loaded in (type(model).load(tmp_path / "model"), load_model(tmp_path / "model")):
        assert loaded.get_params() == model.get_params()
        assert_array_equal(loaded.embedding_, model.embedding_)
        assert_array_equal(loaded.transform(samples + 0.1), model.transform(samples + 0.1))
        pd.testing.assert_frame_equal(
            loaded.to_map().to_frame().to_pandas(), model.to_map().to_frame().to_pandas()
        )
        assert loaded.to_map().scores == model.to_map().scores
    other = next(e.model_class() for e in ENTRIES if e.class_name != type(model).__name__)
    with pytest.raises(FormatError, match="not a"):
        other.load(tmp_path / "model")


def test_damaged_models_are_refused(model, samples, labels, tmp_path):
    model.fit(samples, labels).save(tmp_path / "model")
    header = tmp_path / "model" / "model.json"
    header.write_text(header.read_text().replace('"kind"', '"knid"'))
    with pytest.raises(FormatError, match="damaged"):
        load_model(tmp_path / "model")


def test_saving_refuses_foreign_directories(model, samples, labels, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="something else"):
        model.fit(samples, labels).save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_pickles(model, samples, labels):
    """Users' process pools pickle estimators; relscape itself never does."""
    again = pickle.loads(pickle.dumps(model.fit(samples, labels)))
    assert_array_equal(again.transform(samples + 0.1), model.transform(samples + 0.1))


def test_no_warning_on_clean_input(model, samples, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if isinstance(model, COVA) and model.variant == "eigen":
            model.set_params(eta=0.5)  # of "auto" it is told when less than the usual 0.8 had to be taken
        model.fit(samples, labels).transform(samples + 0.1)
