from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.scores import authorship, doc_doc, doc_doc_curve, doc_word, normalized_purity, purity


def slow_curve(Z, y, sizes):
    """The share of every object's nearest others of its class, from the whole distance matrix."""
    distance = cdist(Z, Z)
    shares = []
    for i in range(len(Z)):
        others = [j for j in np.argsort(distance[i], kind="stable") if j != i]
        shares.append([np.mean(y[others[:s]] == y[i]) for s in sizes])
    return np.mean(shares, axis=0)


def blobs(rng, sizes, dimensions=2, distance=1.0):
    y = np.repeat(np.arange(len(sizes)), sizes)
    centres = distance * rng.normal(size=(len(sizes), dimensions))
    return centres[y] + rng.normal(size=(len(y), dimensions)), y


@pytest.mark.parametrize("dimensions", [1, 2, 15])
@pytest.mark.parametrize("sizes", [1, 7, 54, [3, 1, 20], np.array([50, 9], np.int8)])
def test_curve_is_that_of_the_whole_distance_matrix(rng, dimensions, sizes):
    Z, y = blobs(rng, [25, 20, 10], dimensions)
    wanted = range(1, sizes + 1) if isinstance(sizes, int) else sizes
    curve = doc_doc_curve(Z, y, sizes)
    assert curve == pytest.approx(slow_curve(Z, y, wanted), abs=1e-14)
    assert doc_doc(Z, y, sizes) == pytest.approx(curve.mean())


def test_many_objects_in_small_tiles(rng, monkeypatch):
    Z, y = blobs(rng, [300, 200, 100])
    whole = doc_doc_curve(Z, y, [1, 5, 10])
    monkeypatch.setattr(purity, "_TILE", 70)
    assert doc_doc_curve(Z, y, [1, 5, 10]) == pytest.approx(whole, abs=0)
    assert whole == pytest.approx(slow_curve(Z, y, [1, 5, 10]), abs=1e-14)


@pytest.mark.parametrize("copies", [2, 6])
def test_objects_at_one_place_go_by_index_and_never_count_themselves(rng, copies):
    Z = np.repeat(rng.integers(0, 3, (10, 2)).astype(float), copies, axis=0)
    y = rng.integers(0, 3, len(Z))
    assert doc_doc_curve(Z, y, 8) == pytest.approx(slow_curve(Z, y, range(1, 9)), abs=1e-14)
    # All in one place: the nearest other is the first, or for the first the second.
    y = np.array([0, 1, 1, 0])
    assert doc_doc_curve(np.zeros((4, 2)), y, 1) == pytest.approx([1 / 4])


def test_perfect_maps_reach_one_until_the_class_is_used_up(rng):
    y = np.repeat([0, 1, 2], 20)
    Z = 100.0 * y[:, None] + rng.random((60, 2))
    curve = doc_doc_curve(Z, y)
    assert len(curve) == 20
    assert curve[:19] == pytest.approx(np.ones(19), abs=0)
    assert curve[19] == pytest.approx(19 / 20)
    assert doc_doc(Z, y) == pytest.approx(1 - 1 / 20**2)
    assert doc_doc(Z, y, 19) == 1


def test_sizes_go_up_to_the_largest_class(rng):
    Z, y = blobs(rng, [5, 12, 8])
    assert len(doc_doc_curve(Z, y)) == 12
    assert doc_doc_curve(Z, np.zeros(25)) == pytest.approx(np.ones(24))


def test_random_maps_give_the_share_of_the_class(rng):
    y = np.repeat([0, 1], [100, 300])
    chance = (100 * 99 + 300 * 299) / 400 / 399
    values = [doc_doc(rng.normal(size=(400, 2)), y, 50) for _ in range(10)]
    assert np.mean(values) == pytest.approx(chance, abs=0.01)
    # With all others as neighbours it is exactly that, on any map.
    assert doc_doc_curve(rng.normal(size=(400, 2)), y, [399]) == pytest.approx([chance])


def test_objects_left_out_and_classes_of_any_type(rng):
    Z, y = blobs(rng, [20, 20])
    plain = doc_doc(Z, y, 10)
    names = np.array(["ant", "bee"])[y].tolist()
    more = np.vstack([Z, [[np.nan, 0.0], [0.0, 0.0]]])
    assert doc_doc(more, [*names, "bee", None], 10) == plain
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    assert doc_doc(3 * Z @ turn + 1, y, 10) == pytest.approx(plain)


@pytest.mark.parametrize("sizes", [0, -1, 1.5, "ten", [], [0, 1], [1.5], [[1, 2]]])
def test_sizes_that_are_none_are_refused(rng, sizes):
    Z, y = blobs(rng, [5, 5])
    with pytest.raises(ParameterError, match="sizes="):
        doc_doc(Z, y, sizes)


def test_too_large_sizes_and_wrong_lengths_are_refused(rng):
    Z, y = blobs(rng, [5, 5])
    with pytest.raises(ParameterError, match=r"sizes up to 10: .* choose sizes from 1 to 9"):
        doc_doc(Z, y, 10)
    with pytest.raises(ParameterError, match="sizes up to 1000000000000"):
        doc_doc(Z, y, 10**12)
    with pytest.raises(DataError, match="y has 9 classes"):
        doc_doc(Z, y[1:])


def corpus(rng):
    y = np.repeat([0, 1, 2], [12, 9, 7])
    R = rng.poisson(0.2 + 2.0 * rng.random((3, 30))[y] ** 3)
    return R, rng.normal(size=(28, 2)), rng.normal(size=(30, 2)), y


def slow_doc_word(R, rows, columns, y, sizes, measure):
    distance = cdist(rows, columns)
    scores = []
    for i, label in enumerate(y):
        value = R[y == label].sum(axis=0) / R[y == label].sum()
        if measure == "lift":
            value = value / (R.sum(axis=0) / R.sum())
        words = np.argsort(distance[i], kind="stable")
        best = np.sort(value)
        scores += [value[words[:s]].sum() / best[-s:].sum() for s in range(1, sizes + 1)]
    return np.mean(scores)


@pytest.mark.parametrize("measure", ["mass", "lift"])
@pytest.mark.parametrize("sizes", [1, 10, 30])
@pytest.mark.parametrize("form", [np.asarray, csr_array, coo_array])
def test_doc_word_is_that_of_plain_loops(rng, measure, sizes, form, monkeypatch):
    monkeypatch.setattr(purity, "_TILE", 90)
    R, rows, columns, y = corpus(rng)
    found = doc_word(form(R), rows, columns, y, sizes, measure)
    assert found == pytest.approx(slow_doc_word(R, rows, columns, y, sizes, measure))
    assert 0 < found < 1


def test_words_in_the_order_of_their_values_are_perfect(rng):
    """Words on a line away from their class, the most typical first; every word is of one class only."""
    y = np.repeat([0, 1], 6)
    R = np.zeros((12, 10), dtype=int)
    R[:6, :5], R[6:, 5:] = [9, 7, 5, 3, 1], [1, 2, 4, 6, 8]
    rows = np.where(y == 0, 0.0, 100.0)[:, None] + 0.1 * rng.random((12, 1))
    columns = np.array([1, 2, 3, 4, 5, 95, 96, 97, 98, 99.0])[:, None]
    assert doc_word(R, rows, columns, y) == pytest.approx(1)
    assert doc_word(R, rows, 100 - columns, y, 5) == 0


@pytest.mark.parametrize("measure", ["mass", "lift"])
def test_words_in_random_order_have_the_mean_value(rng, measure):
    R, rows, _, y = corpus(rng)
    R = R[:, R.any(axis=0)]
    n = R.shape[1]
    counts = np.array([R[y == label].sum(axis=0) for label in y])
    values = counts / counts.sum(axis=1, keepdims=True)
    if measure == "lift":
        values = values * R.sum() / R.sum(axis=0)
    best = np.cumsum(-np.sort(-values, axis=1), axis=1)[:, :10]
    chance = (np.arange(1, 11) * values.mean(axis=1, keepdims=True) / best).mean()
    found = [
        doc_word(R, rng.normal(size=rows.shape), rng.normal(size=(n, 2)), y, 10, measure) for _ in range(60)
    ]
    assert np.mean(found) == pytest.approx(chance, abs=0.02)


def test_common_words_near_everything_please_mass_and_not_lift():
    """Two words that all documents have, and one of each class: erratum of the paper's section 8.3."""
    y = ["a"] * 4 + ["b"] * 4
    R = np.array([[9, 9, 2, 0]] * 4 + [[9, 9, 0, 2]] * 4)
    rows = np.array([[-1.0]] * 4 + [[1.0]] * 4)
    common = np.array([[0.0], [0.0], [-5.0], [5.0]])
    telling = np.array([[9.0], [9.0], [-1.0], [1.0]])
    assert doc_word(R, rows, common, y, 2) == 1 > doc_word(R, rows, telling, y, 2)
    assert doc_word(R, rows, common, y, 1, "lift") < doc_word(R, rows, telling, y, 1, "lift") == 1


def test_what_is_left_out_of_doc_word(rng):
    R, rows, columns, y = corpus(rng)
    plain = doc_word(R, rows, columns, y, 8)
    wider = np.hstack([R, rng.poisson(1.0, (28, 2))])
    taller = np.vstack([wider, rng.poisson(1.0, (2, 32)), np.zeros((1, 32), dtype=int)])
    rows = np.vstack([rows, [[np.nan, np.nan], [1.0, 1.0], [2.0, 2.0]]])
    columns = np.vstack([columns, np.full((2, 2), np.nan)])
    # The last document is all of its class and has no words.
    assert doc_word(taller, rows, columns, [*y.tolist(), 2, None, 3], 8) == pytest.approx(plain)
    assert doc_word(R, rows[:28], columns[:30], y, 500) == doc_word(R, rows[:28], columns[:30], y, 30)


def test_what_doc_word_refuses(rng):
    R, rows, columns, y = corpus(rng)
    with pytest.raises(UnknownNameError, match=r"no measure 'lft'.*'lift'"):
        doc_word(R, rows, columns, y, measure="lft")
    with pytest.raises(ParameterError, match="sizes=0"):
        doc_word(R, rows, columns, y, 0)
    with pytest.raises(DataError, match="no counts"):
        doc_word(0 * R, rows, columns, y)
    with pytest.raises(DataError, match="y has 27 classes and R has 28 rows"):
        doc_word(R, rows, columns, y[1:])


def library(rng):
    written = rng.random((40, 12)) < 0.12
    written[0] = False
    return rng.normal(size=(40, 2)), rng.normal(size=(12, 2)), written


def slow_authorship(documents, authors, written, k):
    distance = cdist(documents, authors)
    scores = []
    for i in range(len(documents)):
        own = set(np.flatnonzero(written[i]))
        if own:
            order = np.argsort(distance[i], kind="stable")
            looked = {None: [len(own)], "all": range(1, len(authors) + 1)}.get(k, [k])
            scores.append(np.mean([len(own & set(order[:s])) / len(own) for s in looked]))
    return np.mean(scores)


@pytest.mark.parametrize("k", [None, "all", 1, 3, 12])
@pytest.mark.parametrize("form", [np.asarray, csr_array, lambda wrote: 2.5 * wrote])
def test_authorship_is_that_of_plain_loops(rng, k, form):
    documents, authors, written = library(rng)
    found = authorship(documents, authors, form(written), k)
    assert found == pytest.approx(slow_authorship(documents, authors, written, k))


def test_authorship_of_perfect_and_random_maps(rng):
    written = np.eye(5, dtype=int)[np.repeat(np.arange(5), 8)]
    authors = np.arange(5.0)[:, None]
    documents = written @ authors + 0.1 * rng.random((40, 1))
    assert authorship(documents, authors, written) == 1
    assert authorship(documents, authors, written, k="all") == 1
    for k, chance in ((None, 1 / 5), (2, 2 / 5), ("all", 6 / 10)):
        found = [authorship(rng.normal(size=(40, 2)), rng.normal(size=(5, 2)), written, k) for _ in range(60)]
        assert np.mean(found) == pytest.approx(chance, abs=0.03)


def test_two_authors_and_few_looked_at():
    """Of two authors of a document, at most one is among the nearest one."""
    authors, written = [[0.0], [1.0], [5.0]], [[1, 1, 0]]
    assert authorship([[0.4]], authors, written) == 1
    assert authorship([[0.4]], authors, written, k=1) == 0.5
    assert authorship([[0.4]], authors, written, k="all") == pytest.approx((0.5 + 1 + 1) / 3)


def test_documents_and_authors_left_out(rng):
    documents, authors, written = library(rng)
    plain = authorship(documents, authors, written)
    wider = np.hstack([written, rng.random((40, 1)) < 0.5])
    taller = np.vstack([wider, np.ones((1, 13), dtype=bool)])
    documents = np.vstack([documents, [[np.nan, 0.0]]])
    assert authorship(documents, np.vstack([authors, [[np.nan] * 2]]), taller) == pytest.approx(plain)


@pytest.mark.parametrize("k", [0, 13, "some", 1.5])
def test_authors_that_cannot_be_looked_at_are_refused(rng, k):
    with pytest.raises(ParameterError, match="expected a number from 1 to 12"):
        authorship(*library(rng), k)


def test_what_authorship_refuses(rng):
    documents, authors, written = library(rng)
    with pytest.raises(DataError, match=r"authors has shape \(11, 2\), but written is 40 × 12"):
        authorship(documents, authors[1:], written)
    with pytest.raises(DataError, match="names no author"):
        authorship(documents, authors, 0 * written)


METHODS = ("CODE", "Isomap", "CA", "MDS-e", "MDS-c", "SVD", "SVD-l")
# Doc-doc of the paper's table 1, in percent, a row for each set of newsgroups.
TABLE = (
    (68, 65, 56, 54, 53, 51, 51),
    (85, 83, 66, 45, 73, 52, 52),
    (66, 58, 52, 53, 62, 51, 51),
    (76, 77, 55, 55, 53, 56, 56),
    (84, 83, 83, 65, 58, 56, 56),
    (82, 77, 76, 51, 53, 40, 50),
    (73, 65, 58, 29, 50, 31, 44),
)
PURITY = {
    "CODE": 0.994,
    "Isomap": 0.843,
    "CA": 0.493,
    "MDS-c": 0.344,
    "MDS-e": 0.139,
    "SVD-l": 0.126,
    "SVD": 0.049,
}


def test_normalized_purity_of_the_published_table():
    found = dict(zip(METHODS, normalized_purity(TABLE), strict=True))
    assert found == pytest.approx(PURITY, abs=0.0005)
    named = {f"set {i}": dict(zip(METHODS, row, strict=True)) for i, row in enumerate(TABLE)}
    assert normalized_purity(named) == pytest.approx(found)


def test_level_tasks_tell_nothing():
    assert normalized_purity([[1, 2], [3, 3]]).tolist() == [0, 1]
    with pytest.raises(DataError, match="level in every task"):
        normalized_purity([[2, 2], [3, 3]])


def test_tables_that_cannot_be_used_are_refused():
    with pytest.raises(DataError, match=r"shape \(2,\)"):
        normalized_purity([1, 2])
    with pytest.raises(DataError, match="finite numbers"):
        normalized_purity([[1, np.nan]])
    with pytest.raises(DataError, match="task 'b' and the first one differ in methods, by 'CA'"):
        normalized_purity({"a": {"CODE": 1, "CA": 2}, "b": {"CODE": 1}})
    with pytest.raises(DataError, match="empty"):
        normalized_purity({})
