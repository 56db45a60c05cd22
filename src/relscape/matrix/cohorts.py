"""How cohorts, groups of samples, relate to each other: c × c tables of dissimilarities or similarities.

The tables are those of Mu, Goulermas and Ananiadou's cohort-controlled embeddings. A sample of unknown
cohort (code -1) takes no part. A cohort without members is as far from the others as any two are, or
has similarity 0 to them; nothing is ever divided by its size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.measures import as_table, cosines, distances
from relscape.matrix.spread_weights import SpreadWeights
from relscape.protocols import AnyArray, BoolArray, FloatArray, IntArray

__all__ = [
    "CONVERSIONS",
    "RELATIONS",
    "CohortRelation",
    "as_dissimilarity",
    "centroids",
    "cohort_relation",
    "cohort_sizes",
    "given_relation",
    "indicator",
]

CONVERSIONS = ("max", "one", "log")
# Of larger cohorts, this many members stand for all in the mean over pairs.
MOST_MEMBERS = 500
# Where similarities become distances by logarithms, a smaller share of the largest counts as this one.
LEAST_SHARE = 1e-6


@dataclass(frozen=True, eq=False)
class CohortRelation:
    """A symmetric c × c table between cohorts, and whether large entries mean alike or apart."""

    matrix: FloatArray
    similarity: bool


def cohort_relation(
    name: str,
    *,
    codes: IntArray,
    c: int,
    X: Any = None,
    weights: Any = None,
    links: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> CohortRelation:
    """Relate all cohorts to each other in one of the named ways.

    Parameters
    ----------
    name : str
        From features ``X``: "pairs", the mean distance over pairs of members; "centres", the distance of
        the centroids; "cosine", the cosine of the centroids (similarity); "captions", the cosine of all
        members' word counts taken together (similarity). From sample ``weights``: "density", their mean
        over pairs of members (similarity). From ``links``: "citations", the links in both directions by
        the cohorts' added sizes; "citation-density", by the number of pairs (both similarities).
    codes : integer array of shape (n,)
        The cohort of every sample, -1 where unknown.
    c : int
        How many cohorts there are.
    X : array or sparse array of shape (n, d), optional
    weights : sparse array of shape (n, n), optional
        Symmetric, as :mod:`relscape.matrix.affinity` makes them.
    links : sparse array of shape (n, n), optional
        Directed: entry (p, q) is the weight of the link from p to q.
    random_state : int or Generator, optional
        Draws the 500 members that stand for a larger cohort in "pairs".
    """
    if name not in RELATIONS:
        raise UnknownNameError("cohort relation", name, RELATIONS)
    needs, similarity, form = RELATIONS[name]
    inputs = {"X": X, "weights": weights, "links": links}
    if inputs[needs] is None:
        others = [other for other, (need, _, _) in RELATIONS.items() if inputs[need] is not None]
        instead = f" or choose one of {', '.join(others)}" if others else ""
        raise DataError(
            f"cohort relation {name!r} is made from {needs}, which is absent: give {needs}{instead}."
        )
    given = inputs[needs]
    table = given if isinstance(given, SpreadWeights) else as_table(given)
    matrix = form(table, np.asarray(codes), c, np.random.default_rng(random_state))
    if not np.isfinite(matrix).all():
        raise DataError(
            f"cohort relation {name!r} has entries that are not finite; look for missing or infinite values "
            f"in {needs}."
        )
    empty = cohort_sizes(codes, c) == 0
    return CohortRelation(_without_gaps(matrix, empty, similarity), similarity)


def given_relation(matrix: Any, similarity: bool, c: int | None = None) -> CohortRelation:
    """Check a c × c table that someone brings along; a slight asymmetry is averaged out."""
    given = np.asarray(matrix.toarray() if issparse(matrix) else matrix)
    try:
        table = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError("the relation of the cohorts holds something that is no number.") from error
    if table.ndim != 2 or table.shape[0] != table.shape[1] or (c is not None and len(table) != c):
        expected = "as many rows as columns" if c is None else f"a row and a column for each of {c} cohorts"
        raise DataError(f"the relation of the cohorts has shape {table.shape}; expected {expected}.")
    if not np.isfinite(table).all():
        raise DataError("the relation of the cohorts holds values that are not finite; fill them in first.")
    if table.size and np.abs(table - table.T).max() > 1e-6 * np.abs(table).max():
        raise DataError(
            "the relation of the cohorts is not symmetric; average both directions first: (D + D.T) / 2."
        )
    if not similarity and table.size and table.min() < 0:
        raise DataError(
            "a dissimilarity of cohorts is negative; say similarity=True if large values mean alike."
        )
    return CohortRelation((table + table.T) / 2, bool(similarity))


def as_dissimilarity(relation: CohortRelation, conversion: str = "max") -> FloatArray:
    """Turn a relation into distances: symmetric, nothing below 0, zero on the diagonal.

    Parameters
    ----------
    relation : CohortRelation
        A dissimilarity is kept as it is.
    conversion : {"max", "one", "log"}
        How a similarity s becomes a distance: the largest one between two cohorts minus s; 1 − s, meant
        for cosines; or −log(s / largest), where shares below a millionth count as a millionth.
    """
    if conversion not in CONVERSIONS:
        raise UnknownNameError("conversion of similarities", conversion, CONVERSIONS)
    S = relation.matrix
    apart = ~np.eye(len(S), dtype=bool)
    if len(S) < 2:
        return np.zeros_like(S)
    if not relation.similarity:
        found = S
    elif conversion == "max":
        found = S[apart].max() - S
    elif conversion == "one":
        if S[apart].max() > 1 + 1e-9:
            raise ParameterError(
                f"conversion='one' expects similarities of at most 1, such as cosines; the largest is "
                f"{S[apart].max():.3g}. Use 'max' or 'log'."
            )
        found = 1.0 - S
    else:
        largest = S[apart].max()
        shares = S / largest if largest > 0 else np.ones_like(S)
        found = -np.log(np.maximum(shares, LEAST_SHARE))
    return np.where(apart, np.maximum((found + found.T) / 2, 0.0), 0.0)


def cohort_sizes(codes: IntArray, c: int) -> IntArray:
    """Count the members of every cohort."""
    codes = np.asarray(codes)
    return np.bincount(codes[codes >= 0], minlength=c)


def indicator(codes: IntArray, c: int) -> Any:
    """Write codes as an n × c sparse table of ones; a sample of unknown cohort has an empty row."""
    codes = np.asarray(codes)
    known = np.flatnonzero(codes >= 0)
    return csr_array((np.ones(len(known)), (known, codes[known])), shape=(len(codes), c))


def centroids(X: Any, codes: IntArray, c: int) -> Any:
    """Average the members of every cohort: c × d, sparse where ``X`` is; zeros for an empty cohort."""
    sizes = np.maximum(cohort_sizes(codes, c), 1)
    sums = indicator(codes, c).T @ as_table(X)
    if issparse(sums):
        return csr_array(diags_array(1.0 / sizes) @ sums)
    return np.asarray(sums) / sizes[:, None]


def _pairs(X: Any, codes: IntArray, c: int, rng: np.random.Generator) -> FloatArray:
    members = [_some(np.flatnonzero(codes == j), rng) for j in range(c)]
    tables = [X[chosen] for chosen in members]
    found = np.zeros((c, c))
    for i in range(c):
        for j in range(i):
            if len(members[i]) and len(members[j]):
                found[i, j] = found[j, i] = distances(tables[i], tables[j]).mean()
    return found


def _some(members: IntArray, rng: np.random.Generator) -> IntArray:
    if len(members) <= MOST_MEMBERS:
        return members
    return np.sort(rng.choice(members, MOST_MEMBERS, replace=False))


def _centres(X: Any, codes: IntArray, c: int, _: np.random.Generator) -> FloatArray:
    middle = centroids(X, codes, c)
    return _mirrored(distances(middle, middle), 0.0)


def _cosine(X: Any, codes: IntArray, c: int, _: np.random.Generator) -> FloatArray:
    middle = centroids(X, codes, c)
    return _mirrored(cosines(middle, middle), 1.0)


def _captions(X: Any, codes: IntArray, c: int, rng: np.random.Generator) -> FloatArray:
    """Compare what the cohorts' captions say together; the length of a document does not change a cosine."""
    if (X.data if issparse(X) else X).min(initial=0.0) < 0:
        raise DataError("cohort relation 'captions' expects counts of words; some entries of X are negative.")
    return _cosine(X, codes, c, rng)


def _density(W: Any, codes: IntArray, c: int, _: np.random.Generator) -> FloatArray:
    sizes = cohort_sizes(codes, c)
    return np.asarray(_between(W, codes, c) / np.maximum(np.outer(sizes, sizes), 1))


def _citations(links: Any, codes: IntArray, c: int, _: np.random.Generator) -> FloatArray:
    sizes = cohort_sizes(codes, c)
    return np.asarray(0.5 * _both_ways(links, codes, c) / np.maximum(sizes[:, None] + sizes[None, :], 1))


def _citation_density(links: Any, codes: IntArray, c: int, _: np.random.Generator) -> FloatArray:
    sizes = cohort_sizes(codes, c)
    return np.asarray(0.5 * _both_ways(links, codes, c) / np.maximum(np.outer(sizes, sizes), 1))


def _both_ways(links: Any, codes: IntArray, c: int) -> FloatArray:
    sums = _between(links, codes, c)
    return sums + sums.T


def _between(W: Any, codes: IntArray, c: int) -> FloatArray:
    """Sum the entries between every two cohorts: Y'WY."""
    Y = indicator(codes, c)
    if isinstance(W, SpreadWeights):
        return np.asarray(Y.T @ (W @ Y.toarray()))
    return np.asarray((Y.T @ csr_array(W) @ Y).toarray())


def _mirrored(table: FloatArray, diagonal: float) -> FloatArray:
    """Remove the last digits in which the two halves differ, and set the known diagonal."""
    table = (table + table.T) / 2
    np.fill_diagonal(table, diagonal)
    return table


def _without_gaps(table: AnyArray, empty: BoolArray, similarity: bool) -> FloatArray:
    """Say something finite about cohorts without members: far from all, or like none."""
    unknown = empty[:, None] | empty[None, :]
    inside = table[~unknown]
    table = np.where(unknown, 0.0 if similarity or not inside.size else inside.max(), table)
    if not similarity:
        np.fill_diagonal(table, 0.0)
    return table


_Form = Callable[[Any, IntArray, int, np.random.Generator], FloatArray]

# What each relation is made from, whether it is a similarity, and how.
RELATIONS: dict[str, tuple[str, bool, _Form]] = {
    "pairs": ("X", False, _pairs),
    "centres": ("X", False, _centres),
    "density": ("weights", True, _density),
    "citations": ("links", True, _citations),
    "citation-density": ("links", True, _citation_density),
    "cosine": ("X", True, _cosine),
    "captions": ("X", True, _captions),
}
