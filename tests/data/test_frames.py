from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from relscape.data.frames import arrow_table, weight_column, wide_table
from relscape.errors import DataError, RelscapeWarning

COLUMNS = {"doc": ["d1", "d2"], "n": [1, 2]}


@pytest.mark.parametrize(
    "frame",
    [
        COLUMNS,
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        pa.RecordBatch.from_pydict(COLUMNS),
    ],
    ids=["dict", "pandas", "polars", "pyarrow", "batch"],
)
def test_arrow_table_takes_frames_of_every_library(frame: Any) -> None:
    assert arrow_table(frame).to_pydict() == COLUMNS


def test_arrow_table_refuses_what_is_no_frame() -> None:
    with pytest.raises(DataError, match="a list is not a data frame"):
        arrow_table([1, 2])
    with pytest.raises(DataError, match="'a' has 1, 'b' has 2"):
        arrow_table({"a": [1], "b": [1, 2]})
    with pytest.raises(DataError, match="several columns named 'a'"):
        arrow_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(DataError, match="mixed types"):
        arrow_table(pd.DataFrame({"a": [1, "x"]}))


def test_a_dict_may_mix_types_in_a_column() -> None:
    assert arrow_table({"a": [1, "x"]}).to_pydict() == {"a": ["1", "x"]}


@pytest.mark.parametrize(
    "values",
    [
        pa.chunked_array([[1, 2]]),
        pa.chunked_array([[1.0], [2.0]]),
        pa.chunked_array([pa.array([1, 2], pa.uint8())]),
        pa.chunked_array([pa.array([decimal.Decimal("1.0"), decimal.Decimal("2.0")])]),
    ],
)
def test_weights_become_floats(values: Any) -> None:
    weights = weight_column(values, "n")
    assert weights.dtype == np.float64
    assert weights.tolist() == [1.0, 2.0]


def test_truth_values_and_huge_integers_are_weights_too() -> None:
    assert weight_column(pa.chunked_array([[True, False]]), "n").tolist() == [1.0, 0.0]
    assert weight_column(pa.chunked_array([[2**60 + 1]]), "n").tolist() == [float(2**60)]


@pytest.mark.parametrize(
    ("bad", "cause"),
    [
        (None, "missing values"),
        (float("nan"), "missing values"),
        (float("inf"), "values that are not finite"),
    ],
)
def test_a_weight_that_is_no_number_is_named_by_column_and_row(bad: float | None, cause: str) -> None:
    with pytest.raises(DataError, match=rf"weight column 'n' has 1 {cause}, the first at row 2"):
        weight_column(pa.chunked_array([[1.0, 2.0, bad]]), "n")
    with pytest.raises(DataError, match="weight column 'n' holds string, not numbers"):
        weight_column(pa.chunked_array([["1"]]), "n")


WIDE = {"cat": [1, 0], "dog": [2, 3]}
NUMBERS = [[1, 2], [0, 3]]


@pytest.mark.parametrize(
    ("frame", "rows"),
    [
        (pd.DataFrame(WIDE, index=["d1", "d2"]), ["d1", "d2"]),
        (pd.DataFrame(WIDE, index=pd.Index(["d1", "d2"], name="doc")), ["d1", "d2"]),
        (pd.DataFrame(WIDE, index=[7, 9]), ["7", "9"]),
        (pd.DataFrame(WIDE), ["0", "1"]),
        (pd.DataFrame({"doc": ["d0", "d1", "d2"], "cat": [9, 1, 0], "dog": [9, 2, 3]}).iloc[1:],
         ["d1", "d2"]),
        (pd.DataFrame({"doc": ["x", "d1", "d2"], "cat": [9, 1, 0], "dog": [9, 2, 3]})[lambda f: f.cat < 9],
         ["d1", "d2"]),
        (pd.DataFrame({"doc": pd.Categorical(["d1", "d2"]), **WIDE}), ["d1", "d2"]),
        (pd.DataFrame(WIDE, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["p", "q"])),
         ["('a', 1)", "('b', 2)"]),
        (pl.DataFrame({"doc": ["d1", "d2"], **WIDE}), ["d1", "d2"]),
        (pa.table({"doc": ["d1", "d2"], **WIDE}), ["d1", "d2"]),
        (pa.table(WIDE), ["0", "1"]),
    ],
)  # fmt: skip
def test_wide_tables_name_their_rows(frame: Any, rows: list[str]) -> None:
    matrix, row_ids, column_ids, *_ = wide_table(frame)
    assert matrix.tolist() == NUMBERS
    assert row_ids.tolist() == rows
    assert column_ids.tolist() == ["cat", "dog"]


def test_wide_tables_need_numbers() -> None:
    with pytest.raises(DataError, match="has no numbers"):
        wide_table({"doc": ["d1"]})
    with pytest.raises(DataError, match="has no numbers"):
        wide_table(pa.table({"n": pa.array([], pa.int64())}))
    with pytest.raises(DataError, match="weight column 'b' holds string"):
        wide_table({"a": ["d1"], "b": ["x"]})


def test_wide_columns_may_be_numbers() -> None:
    assert wide_table(pd.DataFrame([[1, 2]], columns=[1990, 1991]))[2].tolist() == ["1990", "1991"]


def test_pandas_column_names_that_repeat_or_have_levels() -> None:
    with pytest.raises(DataError, match="several columns named 'a'; rename them"):
        wide_table(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))
    levels = pd.MultiIndex.from_tuples([("n", "cat"), ("n", "dog")])
    with pytest.raises(DataError, match=r"have 2 levels .*cat.*frame\.columns ="):
        arrow_table(pd.DataFrame([[1, 2]], columns=levels))
    with pytest.raises(DataError, match="several columns named '1'"):
        arrow_table(pd.DataFrame([[1, 2]], columns=[1, "1"]))


@pytest.mark.parametrize(
    ("frame", "columns", "positions"),
    [
        (pd.DataFrame(np.eye(2)), ["0", "1"], [0, 1]),
        (pd.crosstab(np.array([5, 6, 6]), np.array([8, 9, 8])), ["8", "9"], [0, 1]),
        (pd.DataFrame({"doc": ["a", "b"], 1: [1, 2], 2: [3, 4]}), ["1", "2"], [1, 2]),
        (pd.DataFrame({"doc": [1, 2], "n": [3, 4]}, index=pd.Index(["a", "b"], name="doc")), ["doc", "n"],
         [0, 1]),
        (pd.DataFrame({"None": [1, 2], "n": [3, 4]}, index=["a", "b"]), ["None", "n"], [0, 1]),
        (pl.DataFrame({"doc": ["a", "b"], "n": [3, 4]}), ["n"], [1]),
        (pa.table({"n": [1], "__index_level_0__": ["a"], "m": [2]}), ["n", "m"], [0, 2]),
    ],
)  # fmt: skip
def test_wide_tables_say_where_their_numbers_stand(
    frame: Any, columns: list[str], positions: list[int]
) -> None:
    wide = wide_table(frame)
    assert wide.column_ids.tolist() == columns
    assert wide.positions == positions
    if isinstance(frame, pd.DataFrame):
        np.testing.assert_array_equal(frame.iloc[:, wide.positions].to_numpy(), wide.matrix)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"cat": [1, np.nan], "dog": [np.nan, 3]}),
        pa.table({"cat": [1, None], "dog": [None, 3]}),
        pl.DataFrame({"cat": [1, None], "dog": [None, 3]}),
    ],
)
def test_blank_cells_of_a_wide_table_are_zeros_and_counted(frame: Any) -> None:
    with pytest.warns(RelscapeWarning, match="^2 blank cells are read as 0") as said:
        assert wide_table(frame).matrix.tolist() == [[1, 0], [0, 3]]
    assert len(said) == 1


def test_a_blank_column_and_an_infinite_cell() -> None:
    with pytest.warns(RelscapeWarning, match="^1 blank cell is read as 0"):
        assert wide_table(pa.table({"n": [1], "m": pa.nulls(1)})).matrix.tolist() == [[1, 0]]
    with pytest.raises(
        DataError, match="column 'm' has 1 values that are not finite, the first at row 1: inf"
    ):
        wide_table({"n": [1, 2], "m": [None, float("inf")]})


@pytest.mark.parametrize(
    ("frame", "kinds"),
    [
        (pd.crosstab(pd.Series(["a", "b"], name="kunde"), pd.Series(["x", "y"], name="ware")),
         ("kunde", "ware")),
        (pd.crosstab(pd.Series(["a"], name="word"), pd.Series(["x"], name="word")), ("row", "column")),
        (pd.DataFrame(WIDE, index=["d1", "d2"]), ("row", "column")),
        (pd.DataFrame(WIDE, index=pd.Index([1, 2], name="year")), ("year", "column")),
        (pd.DataFrame(WIDE, index=pd.Index([1, 2], name=7)), ("row", "column")),
        (pd.DataFrame(WIDE, index=pd.Index(["a", "b"], name=" ")), ("row", "column")),
        (pd.DataFrame(WIDE), ("row", "column")),
        (pl.DataFrame({"doc": ["d1", "d2"], **WIDE}), ("doc", "column")),
        (pa.table(WIDE), ("row", "column")),
    ],
)  # fmt: skip
def test_wide_tables_name_their_kinds(frame: Any, kinds: tuple[str, str]) -> None:
    assert wide_table(frame).kinds == kinds


def test_sparse_columns_of_pandas_are_refused_in_words() -> None:
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0])})
    with pytest.raises(DataError, match=r"Sparse pandas data \(column a\).*frame\.sparse\.to_dense\(\)"):
        arrow_table(frame)
