from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix import contents
from relscape.matrix.contents import content_probabilities, content_row, row_normalized

KERNELS = ("gaussian", "cauchy")
# Perplexities among all of 40 and among the 15 nearest; the Cauchy kernel reaches them in most rows.
AMONG_ALL = {"gaussian": 12.0, "cauchy": 30.0}
AMONG_NEAREST = {"gaussian": 4.0, "cauchy": 13.5}
some_out_of_reach = pytest.mark.filterwarnings("ignore:.*cannot reach perplexity")


def perplexities(q):
    return np.array([np.exp(-(row[row > 0] @ np.log(row[row > 0]))) for row in q])


def slow_row(squares, perplexity, kernel):
    """One row by scipy's root finding on log β; the limit of narrow kernels where there is no root."""
    limit = (1 / squares) / (1 / squares).sum()
    if kernel == "cauchy" and perplexities([limit])[0] >= perplexity:
        return limit

    def weights(log_beta):
        beta = np.exp(log_beta)
        w = np.exp(-beta * (squares - squares.min())) if kernel == "gaussian" else 1 / (1 + beta * squares)
        return w / w.sum()

    root = brentq(lambda b: np.log(perplexities([weights(b)])[0] / perplexity), -30, 30, xtol=1e-13)
    return weights(root)


@some_out_of_reach
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_are_those_of_another_root_finder(rng, kernel, sparse):
    V = rng.normal(size=(40, 2)) ** 3
    perplexity = AMONG_ALL[kernel]
    q = content_probabilities(csr_array(V) if sparse else V, perplexity, kernel)
    squares = cdist(V, V, "sqeuclidean")
    for i in range(40):
        others = np.arange(40) != i
        assert q[i, i] == 0.0
        assert np.allclose(q[i, others], slow_row(squares[i, others], perplexity, kernel), atol=1e-8)
    assert np.allclose(q.sum(axis=1), 1.0)
    reached = np.isclose(perplexities(q), perplexity, atol=1e-6)
    assert reached.mean() > 0.7 if kernel == "cauchy" else reached.all()


@some_out_of_reach
@pytest.mark.parametrize("kernel", KERNELS)
def test_nearest_documents_only(rng, kernel):
    V = rng.normal(size=(60, 2)) ** 3
    q = content_probabilities(V, AMONG_NEAREST[kernel], kernel, neighbours=15)
    assert issparse(q)
    squares = cdist(V, V, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    for i in range(60):
        nearest = np.sort(np.argsort(squares[i])[:15])
        assert q[[i]].indices.tolist() == nearest.tolist()
        assert np.allclose(
            q[[i]].data, slow_row(squares[i, nearest], AMONG_NEAREST[kernel], kernel), atol=1e-8
        )


def test_all_others_as_neighbours_give_the_full_table(rng):
    V = csr_array((rng.random((50, 30)) < 0.3).astype(float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        full, sparse = content_probabilities(V, 8.0), content_probabilities(V, 8.0, neighbours=200)
    assert np.allclose(sparse.toarray(), full, atol=1e-9)


@some_out_of_reach
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sparse", [False, True])
def test_new_documents(rng, kernel, sparse, monkeypatch):
    monkeypatch.setattr(contents, "BLOCK_ENTRIES", 100)
    V, new = rng.normal(size=(40, 2)) ** 3, rng.normal(size=(7, 2))
    squares = cdist(new, V, "sqeuclidean")
    q = content_row(csr_array(V) if sparse else V, new, AMONG_ALL[kernel], kernel)
    near = content_row(V, csr_array(new) if sparse else new, AMONG_NEAREST[kernel], kernel, neighbours=15)
    assert q.shape == near.shape == (7, 40)
    for row in range(7):
        assert np.allclose(q[row], slow_row(squares[row], AMONG_ALL[kernel], kernel), atol=1e-8)
        nearest = np.sort(np.argsort(squares[row])[:15])
        expected = slow_row(squares[row, nearest], AMONG_NEAREST[kernel], kernel)
        assert np.allclose(near[[row]].toarray()[0, nearest], expected, atol=1e-8)


def test_a_perplexity_beyond_the_others_is_uniform(rng):
    V = rng.normal(size=(6, 3))
    for kernel in KERNELS:
        with pytest.warns(RelscapeWarning, match="perplexity=5 with 5 candidates"):
            q = content_probabilities(V, 5.0, kernel)
        assert np.allclose(q, (1 - np.eye(6)) / 5)
    with pytest.warns(RelscapeWarning, match="perplexity=20 with 4 candidates"):
        assert np.allclose(content_probabilities(V, 20.0, neighbours=4).data, 1 / 4)


def test_documents_equally_near_share_evenly():
    V = np.vstack([np.zeros((5, 2)), [[1.0, 0], [3, 0], [9, 1], [7, 5], [2, 8]]])
    with pytest.warns(RelscapeWarning, match="6 of 10 documents have at least 3 others equally near"):
        q = content_probabilities(V, 3.0)
    assert np.allclose(q[0], [0, *[1 / 4] * 4, *[0] * 5], atol=1e-12)
    assert np.allclose(q[5], [*[1 / 5] * 5, *[0] * 5], atol=1e-12)
    assert np.allclose(perplexities(q[6:]), 3.0, atol=1e-6)


def test_rounding_does_not_break_ties(rng):
    one, other = rng.normal(size=(2, 50))
    V = row_normalized(np.vstack([*[3.0 * one] * 4, *[7.0 * other] * 4, rng.normal(size=(30, 50))]))
    with pytest.warns(RelscapeWarning, match="of 38 documents have at least 2.5 others"):
        q = content_probabilities(V, 2.5)
    assert np.allclose(q[0, :4], [0, 1 / 3, 1 / 3, 1 / 3], atol=1e-9)


def test_a_document_without_words_has_uniform_probabilities(rng):
    V = (rng.random((30, 20)) < 0.4).astype(float)
    V[3] = 0.0
    with pytest.warns(RelscapeWarning, match=r"1 of 30 documents .* \(rows '3'\)"):
        q = content_probabilities(row_normalized(V), 6.0)
    assert np.allclose(q[3], (np.arange(30) != 3) / 29, atol=1e-9)


def test_texts_are_too_much_alike_for_the_cauchy_kernel(rng):
    V = (rng.random((50, 500)) < 0.2).astype(float)
    with pytest.warns(RelscapeWarning, match="50 of 50 documents have distances so alike"):
        q = content_probabilities(V, 10.0, "cauchy")
    squares = cdist(V, V, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    assert np.allclose(q, (1 / squares) / (1 / squares).sum(axis=1, keepdims=True))
    assert perplexities(q).min() > 45


def test_the_cauchy_kernel_with_coinciding_documents(rng):
    V = np.vstack([np.zeros((4, 2)), rng.normal(size=(20, 2))])
    with pytest.warns(RelscapeWarning, match="4 of 24 documents"):
        q = content_probabilities(V, 2.5, "cauchy")
    assert np.allclose(q[0], [0, 1 / 3, 1 / 3, 1 / 3, *[0] * 20])
    assert np.allclose(perplexities(q[4:]), np.maximum(2.5, perplexities(q[4:])), atol=1e-6)


def test_row_normalized():
    V = np.array([[3.0, 4.0], [0.0, 0.0], [1e-200, 0.0]])
    expected = [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]]
    assert np.allclose(row_normalized(V), expected)
    sparse = row_normalized(csr_array(V))
    assert issparse(sparse)
    assert np.allclose(sparse.toarray(), expected)
    assert V[0, 0] == 3.0
    assert row_normalized(np.array([[2, 0]])).tolist() == [[1.0, 0.0]]


def test_what_cannot_be_used_is_refused(rng, monkeypatch):
    V = rng.normal(size=(12, 2))
    with pytest.raises(DataError, match="there are 2 documents; at least 3"):
        content_probabilities(V[:2])
    with pytest.raises(ParameterError, match=r"perplexity=0\.5"):
        content_probabilities(V, 0.5)
    with pytest.raises(UnknownNameError, match="no kernel of the contents 'student'"):
        content_probabilities(V, 5.0, "student")
    with pytest.raises(ParameterError, match="neighbours=0"):
        content_probabilities(V, 5.0, neighbours=0)
    with pytest.raises(DataError, match="the new documents have 3 features, those of the network 2"):
        content_row(V, np.zeros((1, 3)), 5.0)
    monkeypatch.setattr(contents, "EXACT_DOCUMENTS", 10)
    with pytest.raises(ParameterError, match="beyond 10 choose neighbours=15"):
        content_probabilities(V, 5.0)
