"""Links whose direction does not count, and contents as the baselines of document networks need them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.errors import DataError
from relscape.models.feature_inputs import Features
from relscape.protocols import IntArray, SparseArray

__all__ = ["adjacency", "both_ways", "needed", "present_words", "whole_counts"]

_MOST_TOKENS = 2**30  # of which each takes eight bytes, and time


def needed(V: Features | None, pairs: IntArray, model: str) -> tuple[Any, IntArray]:
    """Give contents, and links both ways; refuse where there are none, or everything is linked."""
    if V is None:
        raise DataError(f"{model} explains links by contents, and there are none; give X, or use LinkOnly.")
    n, linked = V.shape[0], both_ways(pairs)
    if len(linked) == 0:
        raise DataError(f"{model} learns from links, and there are none between two documents.")
    if len(linked) == n * (n - 1):
        raise DataError(f"every document is linked to every other; {model} has nothing to tell apart.")
    return V, linked


def both_ways(pairs: IntArray) -> IntArray:
    """Give every link in both directions, each once, sorted."""
    return np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0).reshape(-1, 2)


def adjacency(pairs: IntArray, n: int) -> SparseArray:
    """Give the n × n array with 1 for every pair."""
    return csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))


def whole_counts(V: Any, model: str) -> SparseArray:
    """Give contents as a sparse table of word counts; anything but whole numbers from 0 is refused."""
    table = csr_array(V)
    wrong = (table.data < 0) | (table.data != np.round(table.data))
    if wrong.any():
        raise DataError(
            f"X has {_first(table, wrong)}; {model} reads word counts: whole numbers from 0. Give the counts "
            "rather than tf-idf or scaled values."
        )
    if table.data.sum() > _MOST_TOKENS:
        raise DataError(
            f"X counts {table.data.sum():.3g} words; {model} goes over each of them and takes at most "
            f"{_MOST_TOKENS:,}. Give fewer documents, or scale the counts down."
        )
    return table


def present_words(V: Any, model: str) -> SparseArray:
    """Give contents as a sparse table of 0 and 1: whether a word occurs; negative entries are refused."""
    table = csr_array(V)
    wrong = table.data < 0
    if wrong.any():
        raise DataError(
            f"X has {_first(table, wrong)}; {model} asks of every word whether it occurs: a positive "
            "number where it does, 0 where it does not."
        )
    return csr_array(table > 0, dtype=np.float64)


def _first(table: SparseArray, wrong: Any) -> str:
    """Say how many entries are wrong, and where the first of them is."""
    stored = int(np.flatnonzero(wrong)[0])
    row = int(np.searchsorted(table.indptr, stored, side="right")) - 1
    return (
        f"{int(wrong.sum())} entries that cannot be used, the first, {table.data[stored]:g}, in row {row}, "
        f"column {table.indices[stored]}"
    )
