"""How pure the neighbourhoods of a map are: classes around a document, words of its class, its authors.

Globerson, Chechik, Pereira and Tishby (2007), sections 7.2 and 8.3. All measures read only the order of
distances, equal ones going by lowest index; larger is better. Objects without coordinates (NaN) are
left out. The text leaves three things open, and each is said where it is decided: how large
neighbourhoods get, what makes a word one of a class, and how many authors are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from relscape.errors import DataError, ParameterError, UnknownNameError, listing
from relscape.matrix.mutual_pairs import as_relation, check_count
from relscape.matrix.neighbours import count_nearer, nearest
from relscape.protocols import FloatArray, IntArray, SparseArray
from relscape.scores.neighbourhood import defined_part
from relscape.scores.retrieval import labelled_points, labelled_rows

__all__ = ["authorship", "doc_doc", "doc_doc_curve", "doc_word", "normalized_purity"]

MEASURES = ("mass", "lift")

# Neighbours held at once: some 64 MB of distances and indices.
_TILE = 4_000_000


def doc_doc(Z: Any, y: Any, sizes: Any = None) -> float:
    """Give the mean share of an object's nearest others that are of its class, over neighbourhood sizes.

    Parameters
    ----------
    Z : array of shape (n, k)
        Coordinates; objects with NaN are left out.
    y : sequence of length n
        Classes, of any type; objects with None or NaN are left out.
    sizes : int or sequence of int, optional
        Sizes of the neighbourhood, an int meaning 1, 2, … up to it; none larger than the number of
        other objects. By default up to the size of the largest class, as in the paper.

    Returns
    -------
    float
        From 0 to 1. An object of a class of c has only c − 1 others like it, so neighbourhoods of c or
        more cannot be pure: with equal classes and the default sizes the best value is 1 − 1/c².
        Classes scattered at random give (c − 1) / (n − 1), averaged over objects.

    Examples
    --------
    >>> doc_doc([[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"], sizes=1)
    1.0
    >>> doc_doc([[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"])
    0.75
    """
    return float(doc_doc_curve(Z, y, sizes).mean())


def doc_doc_curve(Z: Any, y: Any, sizes: Any = None) -> FloatArray:
    """Give :func:`doc_doc` for every neighbourhood size on its own, in the order of ``sizes``."""
    Z, classes = labelled_points(Z, y)
    wanted = _sizes(sizes, len(Z) - 1, int(np.bincount(classes).max()))
    largest = int(wanted.max())
    alike = np.zeros(largest, dtype=np.int64)
    for own, found in _nearest_others(Z, largest):
        alike += (classes[found] == classes[own, None]).sum(axis=0)
    curve: FloatArray = np.cumsum(alike)[wanted - 1] / (wanted * len(Z))
    return curve


def _sizes(sizes: Any, others: int, class_size: int) -> IntArray:
    """List neighbourhood sizes, refusing those that the number of other objects does not allow."""
    if sizes is None:
        return np.arange(1, min(class_size, others) + 1)
    if isinstance(sizes, Integral):
        largest = check_count("sizes", sizes)
    else:
        wanted = np.asarray(sizes)
        if wanted.ndim != 1 or wanted.size == 0 or wanted.dtype.kind not in "iu" or wanted.min() < 1:
            raise ParameterError(
                f"sizes={sizes!r}: expected a whole number of at least 1, or a list of such."
            )
        largest = int(wanted.max())
    if largest > others:
        raise ParameterError(
            f"sizes up to {largest}: with coordinates and a class there are {others + 1} objects, so "
            f"that each has {others} others; choose sizes from 1 to {others}."
        )
    return np.arange(1, largest + 1) if isinstance(sizes, Integral) else wanted.astype(np.int64)


def _nearest_others(Z: FloatArray, k: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Walk over blocks of objects with the k nearest other objects of each, in order."""
    step = max(1, _TILE // (k + 1))
    for start in range(0, len(Z), step):
        own = np.arange(start, min(start + step, len(Z)))
        _, found = nearest(Z, Z[own], k + 1)
        other = found != own[:, None]
        # Where enough objects share its place, an object is not in its own list, and the last one goes.
        other[other.all(axis=1), -1] = False
        yield own, found[other].reshape(len(own), k)


def doc_word(R: Any, rows: Any, columns: Any, y: Any, sizes: int = 100, measure: str = "mass") -> float:
    """Measure how typical of a document's class the words nearest to it are.

    The s nearest words of a document have together some value for its class; it is divided by the
    largest that any s words have, and averaged over s = 1, …, ``sizes`` and all documents.

    Parameters
    ----------
    R : array or sparse array of shape (m, n)
        Documents × words, nonnegative counts.
    rows, columns : arrays of shape (m, k) and (n, k)
        Coordinates in one space; objects with NaN are left out.
    y : sequence of length m
        Classes of the documents, of any type; documents with None or NaN are left out.
    sizes : int
        Words in the largest neighbourhood; n when there are fewer.
    measure : str
        The value of a word for a class: "mass", its share p(w|c) of the words in the class's
        documents, as the paper has it, or "lift", p(w|c) / p(w), how much more frequent it is there
        than overall. Mass rewards a map for common words near everything, lift for words that only
        the class has, however rare.

    Returns
    -------
    float
        From 0 to 1, where 1 needs the words of a class around each of its documents in the order of
        their values. Documents of a class without any count are left out. Words in random order have on
        average s times the mean value: what that is of the best s depends on how unequal the words are,
        so compare maps of the same relation only.

    Examples
    --------
    >>> R, rows = [[3, 1], [1, 3]], [[0.0], [1.0]]
    >>> doc_word(R, rows, [[0.1], [0.9]], ["a", "b"], sizes=1)
    1.0
    >>> round(doc_word(R, rows, [[0.9], [0.1]], ["a", "b"], sizes=1), 3)
    0.333
    """
    check_count("sizes", sizes)
    if measure not in MEASURES:
        raise UnknownNameError("measure", measure, MEASURES)
    relation, places, columns, classes = labelled_rows(R, rows, columns, y)
    k = min(int(sizes), len(columns))
    total, scored = 0.0, 0
    for members, values in _word_values(relation, classes, measure):
        best = np.cumsum(-np.sort(-values)[:k])
        step = max(1, _TILE // k)
        for start in range(0, len(members), step):
            _, found = nearest(columns, places[members[start : start + step]], k)
            total += float((np.cumsum(values[found], axis=1) / best).sum())
        scored += len(members)
    if scored == 0:
        raise DataError("R has no counts for documents with coordinates and a class; nothing can be scored.")
    return total / (scored * k)


def _word_values(
    relation: SparseArray, classes: IntArray, measure: str
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Walk over the classes that have counts: their documents, and the value of every word for them."""
    overall = np.asarray(relation.sum(axis=0), dtype=np.float64)
    for label in range(classes.max() + 1):
        members = np.flatnonzero(classes == label)
        counts = np.asarray(relation[members].sum(axis=0), dtype=np.float64)
        if counts.sum() == 0:
            continue
        values = counts / counts.sum()
        if measure == "lift":
            values = np.divide(values * overall.sum(), overall, out=np.zeros_like(values), where=overall > 0)
        yield members, values


def authorship(documents: Any, authors: Any, written: Any, k: int | str | None = None) -> float:
    """Give the mean share of a document's authors that are among its nearest authors on the map.

    Parameters
    ----------
    documents, authors : arrays of shape (m, d) and (n, d)
        Coordinates in one space; objects with NaN are left out.
    written : array or sparse array of shape (m, n)
        Documents × authors, positive where the author wrote the document. Documents without an author
        on the map are left out.
    k : int or "all", optional
        How many authors are near: that many, or the mean over 1, 2, … up to all n, or by default as
        many as the document has authors, as in the paper's worked example (its text leaves this open).

    Returns
    -------
    float
        From 0 to 1, which a document reaches only where not fewer authors are looked at than it has;
        under "all" therefore only one with a single author. Chance gives a/n by default, for documents
        of a authors, k/n for a number, and (n + 1) / (2n) for "all".

    Examples
    --------
    >>> authorship([[0.0], [1.0]], [[0.1], [0.9]], [[1, 0], [0, 1]])
    1.0
    >>> authorship([[0.0], [1.0]], [[0.1], [0.9]], [[1, 0], [1, 0]])
    0.5
    """
    wrote = as_relation(written)
    for name, given, size in zip(("documents", "authors"), (documents, authors), wrote.shape, strict=True):
        if np.ndim(given) != 2 or len(given) != size:
            raise DataError(
                f"{name} has shape {np.shape(given)}, but written is {wrote.shape[0]} × {wrote.shape[1]}: "
                f"expected a table of coordinates for {size} {name}."
            )
    wrote, documents, authors = defined_part(wrote, documents, authors)
    counts = np.diff(wrote.indptr)
    if not counts.any():
        raise DataError(
            "written names no author for any document, of those with coordinates; nothing to score."
        )
    n = len(authors)
    if k not in (None, "all") and not (isinstance(k, Integral) and 1 <= k <= n):
        raise ParameterError(
            f"k={k!r}: expected a number from 1 to {n}, the authors with coordinates, or 'all', or None for "
            "as many as a document has."
        )
    document = np.repeat(np.arange(len(documents)), counts)
    ranks = count_nearer(authors, documents[document], wrote.indices[:, None])[:, 0] + 1
    if isinstance(k, str):
        near = (n - ranks + 1) / n
    else:
        near = (ranks <= (counts[document] if k is None else k)).astype(np.float64)
    return float((near / counts[document]).sum() / np.count_nonzero(counts))


@overload
def normalized_purity(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]: ...
@overload
def normalized_purity(scores: ArrayLike) -> FloatArray: ...
def normalized_purity(scores: Any) -> Any:
    """Average the scores of methods over tasks, each task rescaled so that its worst is 0 and its best 1.

    So every task counts the same, however easy it is. The result depends on the company: a method added
    or left out moves the others.

    Parameters
    ----------
    scores : array of shape (tasks, methods), or dict of dicts
        Scores of which larger is better, or ``{task: {method: score}}`` with the same methods for every
        task. A task in which all methods are level tells nothing and is left out.

    Returns
    -------
    array of shape (methods,), or dict
        From 0, worst at every task, to 1, best at every one.

    Examples
    --------
    >>> normalized_purity([[0.5, 0.7, 0.9], [0.4, 0.2, 0.3]]).round(3).tolist()
    [0.5, 0.25, 0.75]
    """
    if isinstance(scores, Mapping):
        table, methods = _table(scores)
        return dict(zip(methods, normalized_purity(table).tolist(), strict=True))
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise DataError(
            f"scores has shape {table.shape}; expected a table of finite numbers, "
            "a row for each task and a column for each method."
        )
    worst, best = table.min(axis=1), table.max(axis=1)
    telling = best > worst
    if not telling.any():
        raise DataError("all methods are level in every task; there is no worst and no best to rescale by.")
    low, span = worst[telling, None], (best - worst)[telling, None]
    return ((table[telling] - low) / span).mean(axis=0)


def _table(scores: Mapping[str, Mapping[str, float]]) -> tuple[FloatArray, list[str]]:
    """Turn a dict of dicts into a table and the names of its columns."""
    if not scores:
        raise DataError("scores is empty; expected {task: {method: score}}.")
    methods = [*next(iter(scores.values()))]
    for task, row in scores.items():
        if set(row) != set(methods):
            odd = sorted(set(row) ^ set(methods), key=str)
            raise DataError(
                f"scores: task {task!r} and the first one differ in methods, by {listing(odd)}; "
                "every task needs a score of every method."
            )
    return np.array(
        [[row[method] for method in methods] for row in scores.values()], dtype=np.float64
    ), methods
