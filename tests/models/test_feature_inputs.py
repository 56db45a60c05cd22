"""Feature tables of any form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from relscape.data import RelationalData
from relscape.errors import DataError
from relscape.models.feature_inputs import read_features, same_rows


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_rows_are_found_again(form):
    known = form([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 0.0]])
    new = form([[0.0, 2.0], [1.0, -0.0], [1.0, 1e-16], [0.0, 0.0]])
    assert_array_equal(same_rows(known, new), [1, 0, -1, 3])


def test_stored_zeros_do_not_matter():
    stored = csr_array((np.array([0.0, 3.0]), (np.array([0, 0]), np.array([0, 1]))), shape=(1, 2))
    assert_array_equal(same_rows(csr_array([[0.0, 3.0]]), stored), [0])


def test_relations_within_a_kind():
    """Of a relation of a kind with itself, its things are samples and features both."""
    data = RelationalData.from_matrix(np.eye(3), "doc", "doc", ["a", "b", "c"])
    given = read_features(BaseEstimator(), data)
    assert (given.samples.kind, given.features.kind) == ("doc", "doc-column")
    assert given.samples.ids.tolist() == ["a", "b", "c"]


def test_single_precision_becomes_double():
    given = read_features(BaseEstimator(), np.eye(3, dtype=np.float32))
    assert given.matrix.dtype == np.float64
    assert (given.samples.kind, given.features.kind) == ("sample", "feature")


COLUMNS = {"a": [1.0, 2.0], "b": [3, 4]}


@pytest.mark.parametrize(
    ("frame", "kind", "ids"),
    [
        (pd.DataFrame(COLUMNS, index=["x", "y"]), "sample", ["x", "y"]),
        (pd.DataFrame(COLUMNS, index=pd.Index(["x", "y"], name="city")), "city", ["x", "y"]),
        (pd.DataFrame(COLUMNS, index=pd.Index([5, 7], name="number")), "number", ["5", "7"]),
        (pl.DataFrame({"city": ["x", "y"], **COLUMNS}), "city", ["x", "y"]),
        (pa.table({"city": ["x", "y"], **COLUMNS}), "city", ["x", "y"]),
        (pa.table(COLUMNS), "sample", ["0", "1"]),
    ],
)
def test_frames_name_samples_and_features(frame, kind, ids):
    estimator = BaseEstimator()
    given = read_features(estimator, frame)
    assert (given.samples.kind, given.samples.ids.tolist()) == (kind, ids)
    assert given.features.ids.tolist() == list(estimator.feature_names_in_) == ["a", "b"]
    assert_array_equal(given.matrix, [[1.0, 3.0], [2.0, 4.0]])


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_that_are_no_features_are_named(form):
    with pytest.raises(DataError, match=r"column 'town' holds .*string.*give it as the labels y"):
        read_features(BaseEstimator(), form({**COLUMNS, "town": ["x", "y"]}))
    with pytest.raises(DataError, match="column 'b' has 1 missing values, the first at row 1"):
        read_features(BaseEstimator(), form({"a": [1.0, 2.0], "b": [3.0, None]}))
    with pytest.raises(DataError, match=r"^column 'b' has 1 values that are not finite"):
        read_features(BaseEstimator(), form({"a": [1.0, 2.0], "b": [3.0, np.inf]}))
