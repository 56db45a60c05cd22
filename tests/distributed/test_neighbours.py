"""Neighbours and Γ found on a cluster against those found here."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, random_array

import relscape as rs
from relscape.distributed import DistributedFeatures, DistributedRelation, features
from relscape.errors import DataError, ParameterError
from relscape.matrix.neighbours import nearest
from relscape.scores import gamma_terms


@pytest.mark.parametrize(("d", "k"), [(2, 3), (12, 40)])
def test_nearest_things(client, rng, d, k, monkeypatch):
    X = rng.integers(4, size=(130, d)) / 4.0  # many at equal distances
    spread = DistributedFeatures([X[:50], X[50:50], X[50:70], X[70:]], client=client)
    queries = rng.normal(size=(25, d))
    monkeypatch.setattr(features, "_QUERIES", 10)
    for given, asked in ((None, X), (queries, queries)):
        for found, expected in zip(spread.nearest(given, k), nearest(X, asked, k), strict=True):
            assert_array_equal(found, expected)


def test_what_cannot_be_looked_for(client):
    spread = DistributedFeatures([np.ones((4, 3))], client=client)
    with pytest.raises(ParameterError, match="k=5: among 4 things"):
        spread.nearest(k=5)
    with pytest.raises(DataError, match="in 3 columns"):
        spread.nearest(np.ones((2, 4)), 1)
    with pytest.raises(DataError, match="these blocks are sparse"):
        DistributedFeatures([csr_array(np.eye(3))], client=client).nearest(k=1)


@pytest.mark.parametrize("lost", [False, True])
def test_gamma(client, rng, lost):
    R = csr_array(random_array((80, 30), density=0.3, random_state=rng, format="csr"))
    rows, columns = rng.integers(5, size=(80, 2)) / 2.0, rng.normal(size=(30, 2))  # rows that coincide
    columns[:10] = np.round(columns[:10])
    if lost:
        rows[[3, 40]], columns[7] = np.nan, np.nan
    spread = DistributedRelation.from_matrix(R, 6, client=client)
    before = spread.traffic.rounds
    for how in ({"k_rows": 3, "k_columns": 2}, {"sample": 20, "random_state": 1}, {"k_rows": 99}):
        found, expected = (
            gamma_terms(relation, rows, columns, ties="positive", **how) for relation in (spread, R)
        )
        assert found == expected
    assert spread.traffic.rounds == before + 9  # pairs, and neighbours of either side
    assert 0 < rs.gamma_loss(spread, rows, columns, 3, 2, "positive") < expected.pairs
    with pytest.raises(ParameterError, match="elsewhere use ties='positive'"):
        rs.gamma_loss(spread, rows, columns)
    with pytest.raises(DataError, match=r"rows has shape \(30, 2\), but R is 80 × 30"):
        rs.gamma_loss(spread, columns, columns, ties="positive")
