"""Links in every form they can be given in."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text
from relscape.data.links import link_relation, linked_documents, read_links
from relscape.errors import DataError, RelscapeWarning

IDS = as_text(["10", "b", "c", "d"])
PAIRS = np.array([[0, 2], [1, 0], [3, 1]])
NAMED = [("10", "c"), ("b", "10"), ("d", "b")]


def table():
    matrix = np.zeros((4, 4))
    matrix[tuple(PAIRS.T)] = 2.0
    return matrix


class Graph:
    """As much of a networkx graph as is asked for."""

    def __init__(self, edges, directed=True):
        self._edges, self._directed = edges, directed

    def edges(self):
        return [(*edge, {}) for edge in self._edges]

    def is_directed(self):
        return self._directed


def data(ids=IDS, matrix=None):
    relation = Relation("cites", "doc", "doc", table() if matrix is None else matrix)
    return RelationalData([EntitySet("doc", ids)], [relation])


@pytest.mark.parametrize(
    "links",
    [
        PAIRS,
        PAIRS[::-1].tolist(),
        NAMED,
        np.array(NAMED),
        table(),
        csr_array(table()),
        pd.DataFrame(NAMED, columns=["from", "to"], index=[5, 6, 7]),
        pl.DataFrame({"from": ["10", "b", "d"], "to": ["c", "10", "b"]}),
        Graph(NAMED),
        data(),
    ],
    ids=["array", "list", "names", "names array", "dense", "sparse", "pandas", "polars", "graph", "data"],
)
def test_every_form_says_the_same(links):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pairs = read_links(links, IDS)
    assert_array_equal(pairs, PAIRS)
    assert pairs.dtype == np.int64


def test_named_data_is_matched_by_id():
    """Documents of a relation in another order, and numbers in a frame, which are ids."""
    order = [2, 0, 3, 1]
    moved = table()[np.ix_(order, order)]
    assert_array_equal(read_links(data(IDS[order], moved), IDS), PAIRS)
    frame = pd.DataFrame({"a": [31, 7], "b": [7, 5]})
    assert_array_equal(read_links(frame, as_text(["5", "7", "31"])), [[1, 0], [2, 1]])


def test_ids_may_be_a_list():
    assert_array_equal(read_links(NAMED, IDS.tolist()), PAIRS)


def test_undirected_links_go_both_ways():
    expected = np.unique(np.vstack([PAIRS, PAIRS[:, ::-1]]), axis=0)
    assert_array_equal(read_links(NAMED, IDS, undirected=True), expected)
    assert_array_equal(read_links(Graph(NAMED, directed=False), IDS), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a link given both ways is not given twice
        assert_array_equal(read_links([*NAMED, ("c", "10")], IDS, undirected=True), expected)


def test_what_is_left_out_is_counted_once():
    links = [*NAMED, ("b", "b"), ("b", "10"), ("x", "b"), ("c", "y")]
    with pytest.warns(RelscapeWarning) as told:
        assert_array_equal(read_links(links, IDS), PAIRS)
    assert len(told) == 1
    text = str(told[0].message)
    assert text.startswith("4 of 7 links are left out: 2 with a document that is not there ('x', 'y')")
    assert "1 from a document to itself ('b')" in text
    assert "1 given before" in text


def test_numbers_that_are_no_positions_are_told_about():
    with pytest.warns(RelscapeWarning, match="1 with a document .*'10'.* write ids as text"):
        assert_array_equal(read_links([(10, 1), (0, 2)], IDS), [[0, 2]])


def test_no_links_are_no_pairs():
    for links in ([], np.empty((0, 2), dtype=int), csr_array((4, 4))):
        assert read_links(links, IDS).shape == (0, 2)


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("links.csv", "links are str"),
        ({"a": "b"}, "links are dict"),
        (3, "links are int"),
        (np.where(np.eye(4, k=1) > 0, np.nan, 0.0), "row 0, column 1 is nan; expected a finite"),
        (csr_array(np.where(np.eye(4, k=-1) > 0, np.inf, 0.0)), "row 1, column 0 is inf"),
        (np.ones((5, 5)), r"shape \(5, 5\); expected 4 × 4"),
        (csr_array((3, 4)), r"shape \(3, 4\)"),
        (np.ones(3, dtype=int), r"shape \(3,\)"),
        ([("a", "b", 1)], "link 0 is .*expected"),
        (["ab"], "link 0 is"),
        ([("b", "c"), (0, 1)], "one or the other"),
        (pd.DataFrame({"a": [1], "b": [2], "c": [3]}), "3 columns .*choose them first"),
        (RelationalData.from_edges([("a", "b")], "doc", "word"), "0 relations within one kind"),
    ],
)
def test_what_cannot_be_read(links, message):
    with pytest.raises(DataError, match=message):
        read_links(links, IDS)


def test_two_relations_within_a_kind_are_too_many():
    both = data().with_relation(Relation("likes", "doc", "doc", table()))
    with pytest.raises(DataError, match=r"2 relations within one kind \('cites', 'likes'\)"):
        link_relation(both)
    assert link_relation(both.only("likes")).name == "likes"


def test_documents_are_named_by_their_links():
    assert linked_documents(NAMED).ids.tolist() == ["10", "b", "c", "d"]
    assert linked_documents(PAIRS).ids.tolist() == ["0", "1", "2", "3"]
    assert linked_documents(csr_array((6, 6))).ids.tolist() == list("012345")
    assert linked_documents(table()).ids.tolist() == list("0123")
    assert linked_documents(data()).kind == "doc"
    assert linked_documents(np.empty((0, 2), dtype=int)).ids.size == 0
