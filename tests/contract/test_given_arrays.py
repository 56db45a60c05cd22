"""Arrays of any form: what numpy and scipy would lose in silence is kept or refused, by every model."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import coo_array
from tests.saved import data_for, quick

from relscape.data.arrays import plain_array
from relscape.errors import DataError, RelscapeWarning
from relscape.models.registry import methods
from relscape.scores import gamma_loss, mean_rank

OF_ARRAYS = tuple(methods("coembedding", "multicode", "cohorts", "network", "projection"))


def _with_table(name: str, change: Any) -> tuple[Any, ...]:
    """Give what a method is fitted on, its first table as a changed array."""
    given = data_for(name)
    first = given[0]
    if isinstance(first, dict):
        kind = next(iter(first))
        return {**first, kind: change(first[kind])}, *given[1:]
    if hasattr(first, "relation"):
        table = change(first.relation().matrix.toarray())
        return ({("doc", "word"): table} if name == "multicode" else table), *given[1:]
    return change(np.asarray(first)), *given[1:]


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_masks_are_refused(name: str) -> None:
    def masked(table: Any) -> Any:
        hidden = np.zeros(table.shape, dtype=bool)
        hidden[1, 1] = True
        return np.ma.masked_array(table, hidden)

    with pytest.raises(DataError, match="1 entries of the array are masked"):
        quick(name).fit(*_with_table(name, masked))


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_repeated_entries_of_narrow_types_are_added_up_as_numbers(name: str) -> None:
    """Sixty times 3 is beyond an int8."""

    def repeated(table: Any, kind: type) -> Any:
        i, j = (np.repeat(at, 60) for at in np.indices(table.shape).reshape(2, -1))
        return coo_array(
            (np.repeat(1 + np.rint(abs(table)).ravel() % 3, 60).astype(kind), (i, j)), table.shape
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        narrow, wide = (
            quick(name).fit(*_with_table(name, lambda table, kind=kind: repeated(table, kind))).to_map()
            for kind in (np.int8, np.float64)
        )
    for kind in wide.groups:
        assert_allclose(narrow.coordinates(kind), wide.coordinates(kind))


def test_scores_refuse_masks_too() -> None:
    table = np.ma.masked_equal(np.arange(1, 7).reshape(3, 2), 4)
    for score in (
        lambda R: gamma_loss(R, np.ones((3, 1)), np.ones((2, 1)), 1, 1),
        lambda R: mean_rank(R, np.ones((3, 1)), np.ones((2, 1)), 1),
    ):
        with pytest.raises(DataError, match="masked"):
            score(table)


def test_what_is_plain_is_given_back() -> None:
    table = np.eye(3)
    assert plain_array(table) is table
    unmasked = np.ma.masked_array(table)
    assert type(plain_array(unmasked)) is np.ndarray
    assert plain_array([[1, 2]]) == [[1, 2]]
