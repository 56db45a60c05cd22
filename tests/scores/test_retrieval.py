from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from relscape.errors import DataError, ParameterError
from relscape.scores import class_word_error, one_nn_error, one_nn_errors, retrieval
from relscape.scores.retrieval import _deal


def blobs(rng, sizes, dimensions=2, distance=2.0):
    y = np.repeat(np.arange(len(sizes)), sizes)
    centres = distance * rng.normal(size=(len(sizes), dimensions))
    return centres[y] + rng.normal(size=(len(y), dimensions)), y


def test_parts_hold_classes_in_equal_shares(rng):
    y = rng.integers(0, 4, 137)
    part = _deal(y, 0)
    assert set(part) == set(range(10))
    assert np.ptp(np.bincount(part)) <= 1
    for label in range(4):
        assert np.ptp(np.bincount(part[y == label], minlength=10)) <= 1


@pytest.mark.parametrize("dimensions", [2, 15])
def test_one_nn_error_is_that_of_scikit_learn(rng, dimensions):
    Z, y = blobs(rng, [60, 45, 33], dimensions, 1.0)
    split = PredefinedSplit(_deal(y, 5))
    guess = cross_val_predict(KNeighborsClassifier(1), Z, y, cv=split)
    error = one_nn_error(Z, y, random_state=5)
    assert error == pytest.approx((guess != y).mean())
    assert 0 < error < 1


def test_shuffled_classes_raise_the_error_to_chance(rng):
    Z, y = blobs(rng, [100, 100, 100, 100], 3, 8.0)
    assert one_nn_error(Z, y, 0) < 0.05
    assert one_nn_error(Z, rng.permutation(y), 0) == pytest.approx(0.75, abs=0.1)


def test_only_distances_matter_and_the_seed_decides(rng):
    Z, y = blobs(rng, [40, 40], 2, 0.5)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    assert one_nn_error(Z @ turn * 3 + 1, y, 1) == one_nn_error(Z, y, 1)
    assert len({one_nn_error(Z, y, seed) for seed in range(8)}) > 1


def test_classes_of_any_type_and_missing_ones(rng):
    Z, y = blobs(rng, [30, 30, 30], 2, 1.0)
    plain = one_nn_error(Z, y, 2)
    names = np.array(["ant", "bee", "cat"])[y]
    assert one_nn_error(Z, names, 2) == plain
    assert one_nn_error(Z, names.tolist(), 2) == plain
    more = np.vstack([Z, [[np.nan, 0.0], [0.0, 0.0], [1.0, 1.0]]])
    assert one_nn_error(more, [*names, "bee", None, float("nan")], 2) == plain
    assert one_nn_error(more, [*y.astype(float), 1.0, np.nan, np.nan], 2) == plain
    mixed = [label if label else "none" for label in y.tolist()]
    assert 0 < one_nn_error(Z, mixed, 2) < 1


def test_small_classes_and_few_objects():
    Z = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    # Every object in a part of its own: leave-one-out, where only the single "c" cannot be recognised.
    assert one_nn_error(Z, list("aaabbc"), 0) == pytest.approx(1 / 6)
    assert one_nn_error(Z, list("aaaaaa"), 0) == 0


def test_errors_pooled_and_apart(rng):
    rows, row_y = blobs(rng, [30, 40], 2, 1.0)
    columns, column_y = blobs(rng, [25, 20], 2, 1.0)
    errors = one_nn_errors(rows, columns, row_y, column_y, 3)
    assert errors.rows == one_nn_error(rows, row_y, 3)
    assert errors.columns == one_nn_error(columns, column_y, 3)
    both = np.concatenate([row_y, column_y])
    assert errors.pooled == one_nn_error(np.vstack([rows, columns]), both, 3)


def corpus(rng, noise=0.3):
    """Three classes of documents, each with its own words, and coordinates that say so."""
    y = np.repeat([0, 1, 2], [30, 25, 20])
    topic = np.repeat([0, 1, 2], 8)
    R = rng.poisson(np.where(y[:, None] == topic, 0.6, noise))
    places = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    rows = places[y] + 0.5 * rng.normal(size=(75, 2))
    columns = places[topic] + 0.5 * rng.normal(size=(24, 2))
    return R, rows, columns, y


def slow_class_word_error(R, rows, columns, y, words, part):
    """The same in dense matrices, with one support vector machine a class by hand."""
    chosen = set()
    for label in np.unique(y):
        distance = cdist(rows[y == label].mean(axis=0)[None], columns)[0]
        chosen |= set(np.argsort(distance)[:words])
    X = R[:, sorted(chosen)].astype(float)
    wrong = 0
    for fold in range(10):
        train, test = part != fold, part == fold
        votes = [
            SVC(kernel="linear", C=1.0).fit(X[train], y[train] == label).decision_function(X[test])
            for label in np.unique(y)
        ]
        wrong += (np.argmax(votes, axis=0) != y[test]).sum()
    return wrong / len(y)


@pytest.mark.parametrize("words", [2, 5])
@pytest.mark.parametrize("form", [np.asarray, csr_array, coo_array])
def test_class_word_error_is_that_of_machines_made_by_hand(rng, words, form):
    R, rows, columns, y = corpus(rng)
    error = class_word_error(form(R), rows, columns, y, words, random_state=4)
    assert error == pytest.approx(slow_class_word_error(R, rows, columns, y, words, _deal(y, 4)))
    assert 0 < error < 2 / 3


@pytest.mark.parametrize("tabled", [True, False])
@pytest.mark.parametrize("classes", [1, 2, 3, 30])
def test_guesses_are_those_of_one_against_all(rng, monkeypatch, classes, tabled):
    """Document by document, with and without a table of inner products; of 30 classes one is too small."""
    monkeypatch.setattr(retrieval, "MOST_TABLED", 1_000 if tabled else 0)
    R = csr_array(rng.poisson(0.5, (90, 12)).astype(float))
    y = np.sort(rng.integers(0, classes, 90))
    y[0] = -1 if classes == 30 else y[0]
    y = np.unique(y, return_inverse=True)[1]
    part = _deal(y, 3)
    guesses = retrieval._svm_guesses(R, y, part)
    if classes == 1:
        assert (guesses == 0).all()
        return
    machine = OneVsRestClassifier(SVC(kernel="linear", C=1.0))
    assert guesses.tolist() == cross_val_predict(machine, R.toarray(), y, cv=PredefinedSplit(part)).tolist()


def test_words_of_clear_topics_classify_and_shuffled_maps_do_not(rng):
    R, rows, columns, y = corpus(rng, noise=0.02)
    R = R + 3 * (y[:, None] == np.repeat([0, 1, 2], 8))
    assert class_word_error(R, rows, columns, y, 2, 0) == 0
    nowhere = np.where(np.arange(24)[:, None] < 8, 0.1 * columns, columns + 100)
    assert class_word_error(R, rows, nowhere, y, 2, 0) > 0.2


def test_documents_and_words_left_out(rng):
    R, rows, columns, y = corpus(rng)
    plain = class_word_error(R, rows, columns, y, 4, 1)
    wider = np.hstack([R, rng.poisson(1.0, (75, 2))])
    taller = np.vstack([wider, rng.poisson(1.0, (2, 26))])
    rows = np.vstack([rows, [[np.nan, np.nan], [1.0, 1.0]]])
    columns = np.vstack([columns, np.full((2, 2), np.nan)])
    assert class_word_error(taller, rows, columns, [*y.tolist(), 2, None], 4, 1) == plain


def test_large_indices_two_classes_and_a_single_document(rng):
    R, rows, columns, y = corpus(rng)
    R = csr_array(R)
    plain = class_word_error(R, rows, columns, y, 3, 0)
    R.indices, R.indptr = R.indices.astype(np.int64), R.indptr.astype(np.int64)
    assert class_word_error(R, rows, columns, y, 3, 0) == plain
    lone = np.where(np.arange(75) == 0, "one", "many")
    assert class_word_error(R, rows, columns, lone, 3, 0) == pytest.approx(1 / 75)


def test_what_cannot_be_used_is_refused(rng):
    R, rows, columns, y = corpus(rng)
    with pytest.raises(DataError, match="y has 3 classes"):
        one_nn_error(rows, y[:3])
    with pytest.raises(DataError, match="1 objects have both"):
        one_nn_error(rows[:2], ["a", None])
    with pytest.raises(DataError, match="y has 74 classes and R has 75 rows"):
        class_word_error(R, rows, columns, y[1:])
    with pytest.raises(ParameterError, match="words=0"):
        class_word_error(R, rows, columns, y, words=0)
    with pytest.raises(DataError, match="in one space"):
        one_nn_errors(rows, columns[:, :1], y, np.zeros(24))
