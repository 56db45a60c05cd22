"""Links without direction, and contents as counts or as words that occur."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from relscape.errors import DataError
from relscape.models.undirected import adjacency, both_ways, needed, present_words, whole_counts


def test_links_go_both_ways_each_once():
    pairs = np.array([[0, 1], [1, 0], [2, 0]])
    assert_array_equal(both_ways(pairs), [[0, 1], [0, 2], [1, 0], [2, 0]])
    assert both_ways(pairs[:0]).shape == (0, 2)


def test_adjacency_is_symmetric_for_links_both_ways():
    expected = [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert_array_equal(adjacency(both_ways(np.array([[0, 1], [2, 0]])), 3).toarray(), expected)


def test_contents_and_links_are_needed():
    with pytest.raises(DataError, match=r"RTM explains links by contents.*LinkOnly"):
        needed(None, np.array([[0, 1]]), "RTM")
    with pytest.raises(DataError, match="SPML learns from links"):
        needed(np.eye(3), np.empty((0, 2), dtype=np.int64), "SPML")
    with pytest.raises(DataError, match="every document is linked to every other"):
        needed(np.eye(3), np.array([[0, 1], [0, 2], [1, 2]]), "SPML")


def test_counts_are_whole_numbers():
    given = csr_array(np.array([[2.0, 0.0], [0.0, 1.0]]))
    assert_array_equal(whole_counts(given, "RTM").toarray(), given.toarray())
    with pytest.raises(DataError, match=r"2 entries that cannot be used, the first, 0.5, in row 1, column 0"):
        whole_counts(np.array([[2.0, 0.0], [0.5, -1.0]]), "RTM")


def test_a_word_occurs_where_its_entry_is_positive():
    assert_array_equal(present_words(np.array([[0.3, 0.0], [0.0, 7.0]]), "CESNA").toarray(), np.eye(2))
    with pytest.raises(DataError, match="the first, -1, in row 0, column 1"):
        present_words(np.array([[2.0, -1.0]]), "CESNA")
