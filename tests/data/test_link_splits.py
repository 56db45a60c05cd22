"""Held-out links and documents."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from relscape.data.link_splits import hold_out_documents, hold_out_links
from relscape.errors import DataError, ParameterError


@pytest.fixture
def pairs(rng):
    links = np.argwhere(rng.random((40, 40)) < 0.1)
    return links[links[:, 0] != links[:, 1]]


def whole(*parts):
    return sorted(map(tuple, np.vstack(parts).tolist()))


def test_links(pairs):
    train, test = hold_out_links(pairs, 0.2, random_state=1)
    assert len(test) == round(0.2 * len(pairs))
    assert whole(train, test) == whole(pairs)
    assert_array_equal(train, np.array(sorted(map(tuple, train.tolist()))))
    assert_array_equal(hold_out_links(pairs, 0.2, random_state=1)[1], test)
    assert len(hold_out_links(pairs[:2], 0.01, 0)[1]) == len(hold_out_links(pairs[:2], 0.99, 0)[0]) == 1


def test_both_ways_of_an_undirected_link_go_together(rng):
    ring = np.column_stack([np.arange(60), (np.arange(60) + 1) % 60])
    both = rng.permutation(np.vstack([ring, ring[:, ::-1]]))
    train, test = hold_out_links(both, 0.2, random_state=1, undirected=True)
    assert len(test) == 2 * 12
    assert whole(train, test) == whole(both)
    for part in (train, test):
        assert whole(part) == whole(part[:, ::-1])
    # By hand: every link once, dealt like any other.
    once = np.array(sorted(map(tuple, np.sort(ring, axis=1).tolist())))
    alone = hold_out_links(once, 0.2, random_state=1)[1]
    assert whole(test) == whole(alone, alone[:, ::-1])
    with pytest.raises(DataError, match="1 links"):
        hold_out_links(np.array([[0, 1], [1, 0]]), undirected=True)
    with pytest.raises(DataError, match="0 links"):
        hold_out_links(np.empty((0, 2), dtype=int), undirected=True)


def test_documents(pairs):
    train, test, documents = hold_out_documents(pairs, 40, random_state=1)
    assert len(documents) == 4
    assert_array_equal(documents, np.unique(documents))
    assert not np.isin(train, documents).any()
    assert np.isin(test, documents).any(axis=1).all()
    assert whole(train, test) == whole(pairs)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, float("nan")])
def test_shares(pairs, share):
    with pytest.raises(ParameterError, match="share="):
        hold_out_links(pairs, share)
    with pytest.raises(ParameterError, match="share="):
        hold_out_documents(pairs, 40, share)


def test_too_few():
    with pytest.raises(DataError, match="1 links"):
        hold_out_links(np.array([[0, 1]]))
    with pytest.raises(DataError, match="2 of 2 links"):
        hold_out_documents(np.array([[0, 1], [1, 0]]), 3, 0.7, random_state=0)
