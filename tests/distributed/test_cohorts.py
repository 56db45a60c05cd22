"""COVA-E1 with weights on a cluster against the same weights here."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, eye_array

import relscape as rs
from relscape.distributed import DistributedRelation
from relscape.errors import DataError, ParameterError
from relscape.matrix.spread_weights import SpreadWeights
from relscape.solvers.spd import solve_spd


@pytest.fixture(scope="module")
def graph():
    """Neighbours on a ring, and labels of four cohorts; large enough that systems are not factorised."""
    rng, n = np.random.default_rng(0), 2400
    i = np.repeat(np.arange(n), 5)
    j = (i + np.tile([1, 2, 5, 11, 400], n)) % n
    ring = csr_array((rng.random(i.size), (i, j)), shape=(n, n))
    return csr_array(ring + ring.T), np.repeat(["a", "b", "c", "d"], [900, 300, 700, 500])


def spread(weights, client):
    return DistributedRelation.from_matrix(weights, 5, client=client)


def test_e1(client, graph, tmp_path):
    weights, labels = graph
    relation = spread(weights, client)
    here, there = (
        rs.COVA("E1", affinity=given, random_state=0).fit(None, labels) for given in (weights, relation)
    )
    assert there.solve_result_.iterations == here.solve_result_.iterations > 5
    assert_allclose(there.prototypes_, here.prototypes_, rtol=0, atol=1e-8)
    assert_allclose(there.embedding_, here.embedding_, rtol=0, atol=1e-8)
    assert_allclose(there.response_, here.response_, rtol=0, atol=1e-8)
    assert_allclose(there.objective_, here.objective_, rtol=1e-8)
    other = np.random.default_rng(1).normal(size=(4, 2))
    assert_allclose(there.move(other), here.move(other), rtol=0, atol=1e-8)
    path = there.to_map().save(tmp_path / "map")
    assert_array_equal(rs.Map.load(path).coordinates("sample"), there.embedding_)


def test_parts_of_the_graph(client):
    weights = np.zeros((9, 9))
    for i, j in ((0, 5), (5, 3), (1, 2), (7, 8), (2, 7)):  # a path has two sides: rows and columns must join
        weights[i, j] = weights[j, i] = 1.0
    found = SpreadWeights(spread(weights, client), 1.0).components()
    parts = {frozenset(np.flatnonzero(found == number).tolist()) for number in set(found.tolist())}
    assert parts == {frozenset({0, 5, 3}), frozenset({1, 2, 7, 8}), frozenset({4}), frozenset({6})}


def test_what_cannot_be_done_is_told(client, graph):
    weights, labels = graph
    relation = spread(weights, client)
    with pytest.raises(ParameterError, match="weights on a cluster are for E1"):
        rs.COVA("E2", affinity=relation).fit(None, labels)
    with pytest.raises(DataError, match="give the cohort of every sample"):
        rs.COVA("E1", affinity=relation).fit(None)
    with pytest.raises(DataError, match="not symmetric"):
        rs.COVA("E1", affinity=spread(np.triu(np.ones((4, 4)), 1), client)).fit(None, list("aabb"))
    with pytest.raises(DataError, match="4 samples against themselves"):
        rs.COVA("E1", affinity=spread(np.ones((4, 4)), client)).fit(None, list("aabb"))


class Times:
    """A matrix seen through products."""

    def __init__(self, matrix):
        self.matrix, self.shape = matrix, matrix.shape

    def diagonal(self):
        return self.matrix.diagonal()

    def __matmul__(self, right):
        return self.matrix @ right


def test_conjugate_gradients_through_products(graph, rng):
    weights, _ = graph
    system = csr_array(eye_array(2400) * 9.0 - weights)
    right = rng.normal(size=(2400, 3))
    one, other = solve_spd(system, right, tolerance=1e-12), solve_spd(Times(system), right, tolerance=1e-12)
    assert other.converged
    assert other.iterations == one.iterations
    assert_allclose(other.solution, one.solution, atol=1e-11)
    assert_allclose(system @ other.solution, right, atol=1e-9)
