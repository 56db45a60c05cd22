from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix import knn
from relscape.matrix.knn import neighbours, neighbours_of, pairs_nearby
from relscape.matrix.pair_distances import diameter


def table(rng, size, dimensions, kind):
    if kind == "smooth":
        return rng.normal(size=(size, dimensions))
    # Whole numbers: many samples coincide, and equal distances are equal in binary.
    return rng.integers(0, 3, (size, dimensions)).astype(float)


def slow_distances(new, old, metric):
    if metric == "euclidean":
        return np.sqrt(cdist(new, old, "sqeuclidean"))
    lengths = np.linalg.norm(new, axis=1)[:, None] * np.linalg.norm(old, axis=1)
    return 1.0 - np.divide(new @ old.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)


@pytest.mark.parametrize("many", [0, 10**9])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("kind", ["smooth", "whole"])
@pytest.mark.parametrize(
    ("size", "dimensions", "k"), [(2, 3, 1), (60, 2, 59), (60, 12, 58), (300, 4, 7), (300, 25, 12)]
)
def test_euclidean_neighbours_are_the_full_sort(rng, monkeypatch, many, form, kind, size, dimensions, k):
    monkeypatch.setattr(knn, "MANY_DISTANCES", many)
    X = table(rng, size, dimensions, kind)
    full = slow_distances(X, X, "euclidean")
    np.fill_diagonal(full, np.inf)
    order = np.argsort(full, axis=1, kind="stable")[:, :k]

    distances, indices = neighbours(form(X), k)

    np.testing.assert_array_equal(indices, order)
    np.testing.assert_allclose(distances, np.take_along_axis(full, order, 1), rtol=1e-12)
    assert indices.dtype == np.int64


@pytest.mark.parametrize("many", [0, 10**9])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_cosine_neighbours_are_the_full_sort(rng, monkeypatch, many, form):
    monkeypatch.setattr(knn, "MANY_DISTANCES", many)
    X = rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.7)
    X[[3, 50]] = 0.0
    full = slow_distances(X, X, "cosine")
    np.fill_diagonal(full, np.inf)
    distances, indices = neighbours(form(X), 9, "cosine")
    np.testing.assert_allclose(distances, np.sort(full, axis=1)[:, :9], atol=1e-12)
    np.testing.assert_allclose(distances, np.take_along_axis(full, indices, 1), atol=1e-12)
    np.testing.assert_array_equal(distances[3], 1.0)
    np.testing.assert_array_equal(indices[3], [0, 1, 2, 4, 5, 6, 7, 8, 9])


def test_cosine_distances_neither_overflow_nor_underflow():
    X = np.array([[1e200, 0.0], [1e-200, 0.0], [0.0, 1e-200]])
    distances, indices = neighbours(X, 2, "cosine")
    np.testing.assert_array_equal(distances, [[0, 1], [0, 1], [1, 1]])
    np.testing.assert_array_equal(indices, [[1, 2], [0, 2], [0, 1]])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dimensions", [3, 20])
def test_samples_that_coincide_are_neighbours_but_no_sample_is_its_own(rng, metric, dimensions):
    X = np.repeat(rng.normal(size=(5, dimensions)), 8, axis=0)
    distances, indices = neighbours(X, 4, metric)
    np.testing.assert_array_equal(distances, 0.0)
    for i in range(40):
        np.testing.assert_array_equal(indices[i], [j for j in range(40) if j // 8 == i // 8 and j != i][:4])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dimensions", [3, 20])
def test_neighbours_among_others_are_the_full_sort(rng, metric, dimensions):
    X, new = rng.normal(size=(150, dimensions)), rng.normal(size=(40, dimensions))
    full = slow_distances(new, X, metric)
    order = np.argsort(full, axis=1, kind="stable")[:, :11]
    for old, queries in ((X, new), (csr_array(X), csr_array(new)), (X, csr_array(new)), (csr_array(X), new)):
        distances, indices = neighbours_of(old, queries, 11, metric)
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_allclose(distances, np.take_along_axis(full, order, 1), atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_pairs_nearby_are_those_of_a_double_loop(rng, metric, monkeypatch):
    monkeypatch.setattr(knn, "BLOCK_ENTRIES", 700)
    X, new = rng.normal(size=(90, 5)), rng.normal(size=(30, 5))
    full = slow_distances(new, X, metric)
    reach = rng.uniform(0, 2.0 if metric == "euclidean" else 0.4, 90)
    expected = []
    for i in range(30):
        order = np.argsort(full[i], kind="stable")
        for rank, j in enumerate(order):
            if rank < 6 or full[i, j] <= reach[j]:
                expected.append((i, j))
    rows, columns, distances = pairs_nearby(X, new, 6, reach, metric)
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == expected
    np.testing.assert_allclose(distances, full[rows, columns], atol=1e-12)


def test_neither_blocks_nor_threads_change_a_result(rng, monkeypatch):
    X = table(rng, 400, 15, "whole")
    once = neighbours(X, 10)
    monkeypatch.setattr(knn, "BLOCK_ENTRIES", 1)
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        again = neighbours(X, 10)
    finally:
        numba.set_num_threads(threads)
    for first, second in zip(once, again, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("form", "metric"), [(np.asarray, "euclidean"), (csr_array, "cosine")])
def test_a_perfect_search_makes_the_approximate_way_exact(rng, monkeypatch, form, metric):
    X = rng.normal(size=(300, 12))
    X[[7, 200]] = 0.0
    X[20:60] = X[20]

    def search(near, k, seed):
        near = near.toarray() if form is csr_array else near
        found = np.argsort(cdist(near, near), axis=1, kind="stable")[:, :k]
        found[::9, 3:] = -1  # as where the search comes back with too few
        return found

    expected = neighbours(form(X), 10, metric)
    monkeypatch.setattr(knn, "EXACT_SAMPLES", 100)
    monkeypatch.setattr(knn, "EXACT_WORK", 0.0)
    monkeypatch.setattr(knn, "_descent", search)
    found = neighbours(form(X), 10, metric)
    np.testing.assert_array_equal(found[0], expected[0])
    clear = np.r_[0:20, 60:300]  # those that coincide have more equally near ones than a list can hold
    np.testing.assert_array_equal(found[1][clear], expected[1][clear])
    assert (found[1] != np.arange(300)[:, None]).all()


@pytest.mark.long  # compiling the search takes about a minute
@pytest.mark.parametrize(("form", "metric"), [(np.asarray, "euclidean"), (csr_array, "cosine")])
def test_descent_finds_most_neighbours_and_threads_do_not_matter(rng, monkeypatch, form, metric):
    centres = rng.normal(size=(30, 12))
    X = centres[rng.integers(30, size=1500)] + 0.3 * rng.normal(size=(1500, 12))
    X[7] = 0.0
    X[20:60] = X[20]
    exact, whom = neighbours(form(X), 10, metric)
    monkeypatch.setattr(knn, "EXACT_SAMPLES", 100)
    monkeypatch.setattr(knn, "EXACT_WORK", 0.0)
    threads, found = numba.get_num_threads(), []
    for count in (1, threads):
        numba.set_num_threads(count)
        found.append(neighbours(form(X), 10, metric))
    numba.set_num_threads(threads)
    np.testing.assert_array_equal(found[0][1], found[1][1])

    distances, indices = found[0]
    assert (indices != np.arange(1500)[:, None]).all()
    assert (indices >= 0).all()
    assert (np.diff(distances, axis=1) >= 0).all()
    np.testing.assert_allclose(
        distances, np.take_along_axis(slow_distances(X, X, metric), indices, 1), atol=1e-7
    )
    ordinary = np.r_[0:7, 8:20, 60:1500]
    shared = [len(np.intersect1d(whom[i], indices[i])) for i in ordinary]
    assert np.mean(shared) > 9.5
    if metric == "cosine":
        np.testing.assert_array_equal(indices[7], whom[7])
        np.testing.assert_array_equal(distances[7], exact[7])


@pytest.mark.parametrize("k", [0, 5])
def test_a_number_of_neighbours_that_is_not_there_is_refused(rng, k):
    with pytest.raises(ParameterError, match=f"k={k}"):
        neighbours(rng.normal(size=(5, 2)), k)


def test_broken_features_are_refused(rng):
    with pytest.raises(UnknownNameError, match="manhattan"):
        neighbours(np.eye(3), 1, "manhattan")
    with pytest.raises(DataError, match="not finite"):
        neighbours(np.array([[1.0], [np.nan], [2.0]]), 1)
    with pytest.raises(DataError, match="2 features"):
        neighbours_of(np.eye(3), np.ones((1, 2)), 1)
    with pytest.raises(DataError, match="dimensions"):
        neighbours(np.arange(3.0), 1)


def test_the_diameter_is_the_largest_distance(rng, monkeypatch):
    X = rng.normal(size=(200, 3))
    assert diameter(X) == pytest.approx(cdist(X, X).max(), rel=1e-13)
    assert diameter(csr_array(X)) == pytest.approx(cdist(X, X).max(), rel=1e-13)
    monkeypatch.setattr("relscape.matrix.pair_distances.ALL_PAIRS_SAMPLES", 10)
    assert 0.9 * cdist(X, X).max() <= diameter(X) <= cdist(X, X).max() * (1 + 1e-13)
    assert diameter(np.ones((20, 3))) == 0.0
