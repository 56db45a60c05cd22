from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from relscape.data.cohorts import read_cohorts
from relscape.errors import DataError


@pytest.mark.parametrize(
    ("y", "names", "codes"),
    [
        (["b", "a", "b", None], ["a", "b"], [1, 0, 1, -1]),
        (["b", np.nan, "a"], ["a", "b"], [1, -1, 0]),
        (["b", "", "a", " "], ["a", "b"], [1, -1, 0, -1]),
        (np.array(["b", "a"]), ["a", "b"], [1, 0]),
        ([10, 2, 10, -1], ["2", "10"], [1, 0, 1, -1]),
        ([10, 2, None, -1], ["2", "10"], [1, 0, -1, -1]),
        (np.array([2.0, np.nan, 1.0]), ["1", "2"], [1, -1, 0]),
        ([1.5, -1.0, 1.5], ["-1", "1.5"], [1, 0, 1]),
        ([-1.0, 1.0], ["-1", "1"], [0, 1]),
        ([True, False, True], ["False", "True"], [1, 0, 1]),
        (["b", 1, "b", None, 2], ["b", "1", "2"], [0, 1, 0, -1, 2]),
        (["1", 1, "x"], ["'1'", "1", "x"], [0, 1, 2]),
        (pd.Series(["b", None, "a"], dtype="category"), ["a", "b"], [1, -1, 0]),
        (pd.Series([3, pd.NA, -1, 1], dtype="Int64"), ["1", "3"], [1, -1, -1, 0]),
        (pd.Series(pd.to_datetime(["2021-01-02", None, "2020-01-01"])), None, [1, -1, 0]),
        (np.array(["2021-01-02", "NaT", "2020-01-01"], "M8[D]"), ["2020-01-01", "2021-01-02"], [1, -1, 0]),
        (pd.Categorical(["z", "y"], categories=["z", "y", "never"]), ["y", "z"], [1, 0]),
        (pl.Series(["b", None, "a"]), ["a", "b"], [1, -1, 0]),
        (pa.array(["b", None, "a"]), ["a", "b"], [1, -1, 0]),
        (iter(["b", "a"]), ["a", "b"], [1, 0]),
    ],
)
def test_labels_of_every_type_are_read(y, names, codes):
    cohorts = read_cohorts(y, len(codes))
    if names is not None:
        assert cohorts.names.tolist() == names
    assert cohorts.codes.tolist() == codes
    assert cohorts.given.tolist() == [code >= 0 for code in codes]


def test_labels_are_kept_as_they_were_given():
    assert read_cohorts(np.array([2, 1]), 2).values.tolist() == [1, 2]


def test_the_order_of_the_rows_changes_no_cohort():
    y = np.array(["c", "a", "b", "a"])
    assert read_cohorts(y, 4).names.tolist() == read_cohorts(y[::-1], 4).names.tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ("abc", "one text"),
        ([[1, 2], [3, 4]], "dimensions"),
        (np.zeros((3, 1)), r"shape \(3, 1\)"),
        (pd.DataFrame({"a": [1, 2, 3]}), "one column"),
        ([1, 2], "2 labels for 3 samples"),
        ([None, None, None], "clustering"),
        ([-1, -1, -1], "clustering"),
        ([{"a"}, {"b"}, {"c"}], "entry 0 is a set"),
    ],
)
def test_what_cannot_be_labels_is_refused(y, message):
    with pytest.raises(DataError, match=message):
        read_cohorts(y, 3)


def test_completing_fills_only_the_gaps_and_remembers_who_was_given():
    cohorts = read_cohorts(["x", None, "y", None], 4)
    full = cohorts.completed(np.array([1, 1, 0, -1]))
    assert full.codes.tolist() == [0, 1, 1, -1]
    assert full.given.tolist() == [True, False, True, False]
    assert cohorts.codes.tolist() == [0, -1, 1, -1]


@pytest.mark.parametrize(("codes", "message"), [([0, 1], "shape"), ([0, 2, 0], "between -1 and 1")])
def test_completing_with_the_wrong_codes_is_refused(codes, message):
    with pytest.raises(DataError, match=message):
        read_cohorts(["x", "y", None], 3).completed(np.array(codes))
