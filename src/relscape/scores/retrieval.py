"""How well a map tells classes apart: errors of classifiers that read it, by ten-fold cross-validation.

Every object is tested once, by a classifier trained on the nine tenths it is not in. Within each
class the objects are shuffled and dealt to the ten parts in turn, so that all parts hold the classes
in equal shares; a class of fewer than ten is spread over as many parts as it has members, one with
a single member cannot be recognised, and with fewer than ten objects there is one part for each.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from relscape.data.labels import arrow_column, number
from relscape.errors import DataError
from relscape.matrix.mutual_pairs import check_count
from relscape.matrix.neighbours import nearest
from relscape.protocols import BoolArray, FloatArray, IntArray, SparseArray
from relscape.scores.neighbourhood import defined_part

__all__ = [
    "OneNNErrors",
    "class_word_error",
    "labelled_points",
    "labelled_rows",
    "one_nn_error",
    "one_nn_errors",
]

FOLDS = 10

# Up to this many documents all their inner products are kept: 8 bytes each, twice while a part is tested.
MOST_TABLED = 6_000


class OneNNErrors(NamedTuple):
    """One-nearest-neighbour class errors of a map of two kinds: both together, and each on its own."""

    pooled: float
    rows: float
    columns: float


def one_nn_error(Z: Any, y: Any, random_state: int | np.random.Generator | None = None) -> float:
    """Give the share of objects whose nearest neighbour on the map is of another class.

    Parameters
    ----------
    Z : array of shape (n, k)
        Coordinates; objects with NaN are left out.
    y : sequence of length n
        Classes, of any type; objects with None or NaN are left out.
    random_state : int or Generator, optional
        Deals the objects to the ten parts.

    Returns
    -------
    float
        From 0 to 1. Neighbours are looked for in the nine other parts; of equally near ones the one
        that comes first decides.
    """
    Z, classes = labelled_points(Z, y)
    part = _deal(classes, random_state)
    wrong = 0
    for fold in range(part.max() + 1):
        train, test = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        _, found = nearest(Z[train], Z[test], 1)
        wrong += int((classes[train[found[:, 0]]] != classes[test]).sum())
    return wrong / len(Z)


def one_nn_errors(
    rows: Any,
    columns: Any,
    row_y: Any,
    column_y: Any,
    random_state: int | None = None,
) -> OneNNErrors:
    """Give :func:`one_nn_error` of row and column objects pooled, and of each kind on its own."""
    pooled_y = [*np.asarray(row_y, dtype=object), *np.asarray(column_y, dtype=object)]
    rows, columns = np.asarray(rows, dtype=np.float64), np.asarray(columns, dtype=np.float64)
    if rows.ndim != 2 or columns.ndim != 2 or rows.shape[1] != columns.shape[1]:
        raise DataError(
            f"rows {rows.shape} and columns {columns.shape} must be coordinates in one space: "
            "two tables of equally many columns."
        )
    return OneNNErrors(
        one_nn_error(np.vstack([rows, columns]), pooled_y, random_state),
        one_nn_error(rows, row_y, random_state),
        one_nn_error(columns, column_y, random_state),
    )


def class_word_error(
    R: Any,
    rows: Any,
    columns: Any,
    y: Any,
    words: int = 20,
    random_state: int | np.random.Generator | None = None,
) -> float:
    """Classify documents by the words that the map puts closest to the classes, and give the error.

    Each class has its centre at the mean of its documents; the ``words`` columns nearest to each
    centre are taken, and their raw entries in R are all that a linear support vector machine (C = 1,
    one class against all others, solved by SMO, nothing rescaled) gets to see of a document.

    Parameters
    ----------
    R : array or sparse array of shape (m, n)
        Documents × words, nonnegative counts.
    rows, columns : arrays of shape (m, k) and (n, k)
        Coordinates in one space; objects with NaN are left out.
    y : sequence of length m
        Classes of the documents, of any type; documents with None or NaN are left out.
    words : int
        Words a class; n when there are fewer.
    random_state : int or Generator, optional
        Deals the documents to the ten parts.

    Returns
    -------
    float
        The share of documents classified wrongly, from 0 to 1.
    """
    check_count("words", words)
    relation, places, columns, classes = labelled_rows(R, rows, columns, y)
    features = _short_indices(relation[:, _closest_words(places, columns, classes, words)])
    guesses = _svm_guesses(features, classes, _deal(classes, random_state))
    return int((guesses != classes).sum()) / len(classes)


def _closest_words(rows: FloatArray, columns: FloatArray, classes: IntArray, words: int) -> IntArray:
    """Give the union of the columns nearest to each class centre, sorted."""
    centres = np.vstack([rows[classes == label].mean(axis=0) for label in range(classes.max() + 1)])
    _, found = nearest(columns, centres, min(words, len(columns)))
    return np.unique(found)


def _short_indices(features: SparseArray) -> SparseArray:
    """Keep sorted indices in 32 bits, the only kind that the support vector machine takes as it is."""
    indices, indptr = features.indices.astype(np.int32), features.indptr.astype(np.int32)
    short = csr_array((features.data, indices, indptr), shape=features.shape)
    short.sort_indices()
    return short


def _svm_guesses(features: SparseArray, classes: IntArray, part: IntArray) -> IntArray:
    """Guess the class of every document by machines that were trained without its part.

    All machines need inner products of the same documents, so these are computed once where their
    table fits into memory; the machines of one part are trained side by side in threads.
    """
    products = (features @ features.T).toarray() if len(classes) <= MOST_TABLED else None
    guesses = np.empty_like(classes)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for fold in range(part.max() + 1):
            train, test = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
            if products is not None:
                known, new = products[np.ix_(train, train)], products[np.ix_(test, train)]
            else:
                known, new = features[train], features[test]
            seen = np.unique(classes[train])
            # Of two classes one machine tells both, and of a single one none is needed.
            asked = seen[1:] if len(seen) <= 2 else seen
            votes = [*threads.map(partial(_svm_votes, known, new, classes[train]), asked)]
            guesses[test] = _winners(seen, votes, len(test))
    return guesses


def _svm_votes(known: Any, new: Any, classes: IntArray, label: int) -> FloatArray:
    """Train one class against all others, on inner products or features; give the values of new documents."""
    from sklearn import config_context
    from sklearn.svm import SVC

    kernel = "precomputed" if isinstance(known, np.ndarray) else "linear"
    with config_context(assume_finite=True):
        machine = SVC(kernel=kernel, C=1.0).fit(known, classes == label)
        return np.asarray(machine.decision_function(new))


def _winners(seen: IntArray, votes: list[FloatArray], size: int) -> IntArray:
    """Give the class of the largest value, the last of equal ones, as scikit-learn's one-against-all does."""
    if len(votes) == 0:
        return np.full(size, seen[0])
    if len(votes) == 1:
        return seen[(votes[0] > 0).astype(np.int64)]
    last: IntArray = len(votes) - 1 - np.argmax(votes[::-1], axis=0)
    return seen[last]


def labelled_points(Z: Any, y: Any) -> tuple[FloatArray, IntArray]:
    """Check coordinates with the classes of their objects; keep those with both, classes as numbers."""
    Z = np.asarray(Z, dtype=np.float64)
    if Z.ndim != 2 or len(Z) != len(y):
        raise DataError(f"Z has shape {Z.shape} and y has {len(y)} classes; expected one class a row of Z.")
    column, labelled = _labelled(y)
    known = ~np.isnan(Z).any(axis=1) & labelled
    return Z[known], _classes(column, known)


def labelled_rows(
    R: Any, rows: Any, columns: Any, y: Any
) -> tuple[SparseArray, FloatArray, FloatArray, IntArray]:
    """Check a relation with coordinates and row classes; keep columns with coordinates, rows with both."""
    relation, places, columns = defined_part(R, rows, columns)
    defined: BoolArray = ~np.isnan(np.asarray(rows, dtype=np.float64).sum(axis=1))
    if len(y) != len(defined):
        raise DataError(f"y has {len(y)} classes and R has {len(defined)} rows; expected one class a row.")
    column, labelled = _labelled(y)
    classes = _classes(column, labelled & defined)
    kept = labelled[defined]
    return relation[kept], places[kept], columns, classes


def _labelled(y: Any) -> tuple[Any, BoolArray]:
    """Give the classes as an Arrow column, and a mask of those that are not missing."""
    column = arrow_column(y)
    missing = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    return column, ~missing.to_numpy(zero_copy_only=False)


def _classes(column: Any, known: BoolArray) -> IntArray:
    """Give the known objects' classes numbers in sorted order."""
    if known.sum() < 2:
        raise DataError(
            f"{known.sum()} objects have both coordinates and a class; a score needs at least two."
        )
    return number(column.filter(pa.array(known)), "classes")[1]


def _deal(classes: IntArray, random_state: int | np.random.Generator | None) -> IntArray:
    """Deal objects to ten parts in turn, class after class, each class shuffled."""
    shuffled = np.random.default_rng(random_state).permutation(len(classes))
    order = shuffled[np.argsort(classes[shuffled], kind="stable")]
    part = np.empty(len(classes), dtype=np.int64)
    part[order] = np.arange(len(classes)) % min(FOLDS, len(classes))
    return part
