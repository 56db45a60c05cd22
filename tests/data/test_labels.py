from __future__ import annotations

import datetime
import decimal
import uuid
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relscape.data.labels import as_field, as_text, check_unique, match, number, number_together, shown_labels
from relscape.errors import DataError


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, "a", 2.5, True], ["1", "a", "2.5", "True"]),
        (np.array([3, 4]), ["3", "4"]),
        (np.array(["x", "ü"]), ["x", "ü"]),
        (np.array(["2024-01-02"], dtype="datetime64[D]"), ["2024-01-02"]),
        (pa.array(["a", "b"]), ["a", "b"]),
        (pa.chunked_array([["a"], ["b"]]), ["a", "b"]),
        (pd.Series(["a", "b"]), ["a", "b"]),
        (pd.Series([1, 2], dtype="Int64"), ["1", "2"]),
        (pl.Series(["a", "b"]), ["a", "b"]),
        ([b"raw"], ["raw"]),
        (["NaT", "nan", "None"], ["NaT", "nan", "None"]),
        (iter("ab"), ["a", "b"]),
        (range(8, 11), ["8", "9", "10"]),
        (range(0), []),
        (np.array(["a", "b"], dtype=object), ["a", "b"]),
        (np.array([2**64 - 1], dtype=np.uint64), [str(2**64 - 1)]),
        ([np.str_("a"), "b"], ["a", "b"]),
        ([], []),
    ],
)
def test_as_text_takes_ids_of_any_origin(values: Any, expected: list[str]) -> None:
    text = as_text(values)
    assert text.dtype == object
    assert text.tolist() == expected
    assert all(type(t) is str for t in text)


@pytest.mark.parametrize(
    "values",
    [
        ["a", None],
        ["a", float("nan")],
        np.array([1.0, np.nan]),
        np.array(["2024-01-02", "NaT"], dtype="datetime64[ns]"),
        pa.array(["a", None]),
        pd.Series([1, pd.NA], dtype="Int64"),
        pd.Series(["a", pd.NaT], dtype=object),
        pl.Series(["a", None]),
    ],
)
def test_as_text_refuses_a_missing_id_by_its_position(values: Any) -> None:
    with pytest.raises(DataError, match="ids of 'doc': entry 1 is missing"):
        as_text(values, "ids of 'doc'")


def test_as_text_refuses_one_text_in_place_of_many() -> None:
    with pytest.raises(DataError, match="a list of them is needed"):
        as_text("abc")


def test_check_unique_says_where_an_id_repeats() -> None:
    with pytest.raises(DataError, match=r"kind 'doc': 1 ids repeat: 'b \(positions 1 and 3\)'"):
        check_unique(as_text(["a", "b", "c", "b"]), "kind 'doc'")


@pytest.mark.parametrize(
    ("values", "names", "codes"),
    [
        ([10, 2, 10], ["2", "10"], [1, 0, 1]),
        (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
        ([1, "a", 1], ["1", "a"], [0, 1, 0]),
        ([True, False], ["False", "True"], [1, 0]),
        ([2.5, -1.0], ["-1.0", "2.5"], [1, 0]),
        ([decimal.Decimal("2.5"), decimal.Decimal("1.0")], ["1.0", "2.5"], [1, 0]),
        ([datetime.date(2024, 2, 1), datetime.date(2023, 1, 1)], ["2023-01-01", "2024-02-01"], [1, 0]),
        (pd.Categorical(["y", "x", "y"], categories=["y", "x", "unused"]), ["x", "y"], [1, 0, 1]),
        (pd.Series(["y", "x"], dtype="string"), ["x", "y"], [1, 0]),
        (pl.Series(["y", "x"]).cast(pl.Categorical), ["x", "y"], [1, 0]),
        (pl.Series(["y", "x"]).to_arrow(), ["x", "y"], [1, 0]),
        (pa.array(["y", "x"], pa.string_view()), ["x", "y"], [1, 0]),
        (pa.chunked_array([["y"], ["x", "y"]]).dictionary_encode(), ["x", "y"], [1, 0, 1]),
        (np.array(["é", "z", "e"]), ["e", "z", "é"], [2, 1, 0]),
        ([2**70, 3, 2**70], ["3", str(2**70)], [1, 0, 1]),
        ([2**63 + 1, -5], ["-5", str(2**63 + 1)], [1, 0]),
        ([10**90, 9], [str(10**90), "9"], [0, 1]),
        ([2**70, "a"], [str(2**70), "a"], [0, 1]),
        ([(2, "b"), (1, "a")], ["(1, 'a')", "(2, 'b')"], [1, 0]),
        ([(10, 1), (9, 1)], ["(10, 1)", "(9, 1)"], [0, 1]),
        ([uuid.UUID(int=2), uuid.UUID(int=1)], [str(uuid.UUID(int=1)), str(uuid.UUID(int=2))], [1, 0]),
        (pa.array([[2], [1]]), ["[1]", "[2]"], [1, 0]),
        ([np.datetime64("2024-02-01"), datetime.date(2023, 1, 1)], ["2023-01-01", "2024-02-01"], [1, 0]),
    ],
)
def test_number_sorts_before_it_numbers(values: Any, names: list[str], codes: list[int]) -> None:
    found, coded = number(values)
    assert found.tolist() == names
    assert coded.tolist() == codes


@pytest.mark.parametrize(
    "values",
    [
        ["a", None],
        np.array([1.0, np.nan]),
        pa.array([1.0, float("nan")]),
        pd.Series(["a", pd.NA]),
        [1, None, "a"][:2],
        [2**70, None],
        [(1, 2), None],
        ["a", None, 1][:2],
    ],
)
def test_number_refuses_missing_entries_by_row(values: Any) -> None:
    with pytest.raises(DataError, match="column 'doc': 1 entries are missing, the first at row 1"):
        number(values, "column 'doc'")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1), st.randoms())
def test_number_does_not_depend_on_the_order(values: list[str], random: Any) -> None:
    names, codes = number(values)
    assert names.tolist() == sorted(set(values))
    assert [names[code] for code in codes] == values
    shuffled = random.sample(values, len(values))
    assert number(shuffled)[0].tolist() == names.tolist()


@pytest.mark.parametrize(
    ("left", "right", "names"),
    [
        (["b", "a"], ["c", "a"], ["a", "b", "c"]),
        ([1, 10], [2, 1], ["1", "2", "10"]),
        ([1, 10], ["x", "1"], ["1", "10", "x"]),
        ([10, 9], [2**70, 1], ["1", "9", "10", str(2**70)]),
        (pd.Categorical(["b", "a"]), pa.array(["c", "a"]), ["a", "b", "c"]),
        (pa.array(["b", "a"], pa.large_string()), np.array(["c", "a"], dtype=object), ["a", "b", "c"]),
    ],
)
def test_number_together_shares_one_numbering(left: Any, right: Any, names: list[str]) -> None:
    found, i, j = number_together(left, right)
    assert found.tolist() == names
    assert found[i].tolist() == [str(v) for v in left]
    assert found[j].tolist() == [str(v) for v in right]


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2], "i", [1, 2]),
        ([1.5, None], "O", [1.5, None]),
        (["a", None], "O", ["a", None]),
        (["a", 1], "O", ["a", 1]),
        (np.array(["a", "b"]), "O", ["a", "b"]),
        (pa.array([1, 2]), "i", [1, 2]),
        (pa.array(["x", None]), "O", ["x", None]),
        ([True, False], "b", [True, False]),
    ],
)
def test_as_field_keeps_values_as_they_are(values: Any, kind: str, expected: list[Any]) -> None:
    field = as_field(values, "field")
    assert field.dtype.kind == kind
    assert field.tolist() == expected


@pytest.mark.parametrize("values", [[[1], [2, 3]], np.zeros((2, 2)), [[1, 2], [3, 4]]])
def test_as_field_refuses_more_than_one_value_a_thing(values: Any) -> None:
    with pytest.raises(DataError, match="field 'f': one plain value a thing"):
        as_field(values, "field 'f'")


def test_match_gives_minus_one_for_strangers() -> None:
    assert match(["c", "x", "a"], as_text(["a", "b", "c"])).tolist() == [2, -1, 0]


def test_an_empty_label_gives_way_to_the_id() -> None:
    assert shown_labels(["A", "", "  "], as_text([1, 2, 3]), "doc").tolist() == ["A", "2", "3"]
    with pytest.raises(DataError, match="has 3 ids but 1 labels"):
        shown_labels(["A"], as_text([1, 2, 3]), "doc")


@pytest.mark.parametrize("labels", [["A", None], ["A", float("nan")], np.array(["A", None], dtype=object)])
def test_a_missing_label_gives_way_to_the_id(labels: Any) -> None:
    assert shown_labels(labels, as_text([1, 2]), "doc").tolist() == ["A", "2"]
    assert shown_labels([None, None], as_text([1, 2]), "doc").tolist() == ["1", "2"]
    with pytest.raises(DataError, match="a list of them is needed"):
        shown_labels("ab", as_text([1, 2]), "doc")


@pytest.mark.parametrize("values", [["a", "caf\udce9"], [1, "caf\udce9"], np.array(["a", "caf\udce9"])])
def test_half_a_character_is_refused_by_its_entry(values: Any) -> None:
    with pytest.raises(DataError, match=r"ids of 'doc': entry 1, 'caf\\udce9', holds half of a character"):
        as_text(values, "ids of 'doc'")
    with pytest.raises(DataError, match="entry 1"):
        number(values)


def test_as_text_leaves_what_it_is_given_alone() -> None:
    given = np.array(["a", "b"], dtype=object)
    as_text(given)[0] = "x"
    assert given.tolist() == ["a", "b"]
