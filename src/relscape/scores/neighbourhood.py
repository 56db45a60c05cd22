"""How well a map of two kinds keeps who is whose strongest partner: Γ and the mean rank.

Wu, Mu, Liatsis and Goulermas (2016), equation 43 and section 4. Both measures read only the order of
distances, so neither the scale of the map nor that of the relation matters. Objects without
coordinates (NaN) are left out, as if the relation had never named them.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from relscape.errors import DataError
from relscape.matrix.mutual_blocks import relation_pairs
from relscape.matrix.mutual_pairs import (
    Pairs,
    as_relation,
    check_count,
    check_ties,
    mutual_pairs,
    strongest,
)
from relscape.matrix.neighbours import are_near, count_nearer, kth_nearest, pair_squares
from relscape.matrix.selecting import selected
from relscape.protocols import BlockedRelation, BoolArray, FloatArray, IntArray, SparseArray

__all__ = [
    "GammaTerms",
    "defined_part",
    "gamma_loss",
    "gamma_of_pairs",
    "gamma_terms",
    "mean_rank",
    "placed_part",
]

# Coinciding objects may have coordinates that differ in the last digits; they still count as equally near.
SLACK = 1e-12


class GammaTerms(NamedTuple):
    """Γ and what it is out of: ``loss`` of ``pairs`` mutual pairs of the relation are lost on the map."""

    loss: float
    pairs: int

    @property
    def ratio(self) -> float:
        """The share of pairs that is lost, comparable across settings; 0 when there are no pairs."""
        return self.loss / self.pairs if self.pairs else 0.0


def gamma_loss(
    R: Any,
    rows: Any,
    columns: Any,
    k_rows: int = 5,
    k_columns: int = 5,
    ties: str = "inclusive",
    sample: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> float:
    """Count the strongest mutual pairs of a relation that are no nearest mutual pairs on the map: Γ.

    Parameters
    ----------
    R : array or sparse array of shape (m, n)
        The relation, nonnegative. One in blocks on a cluster (``DistributedRelation``) has its pairs and
        their neighbours found there; it takes ``ties="positive"`` only.
    rows, columns : arrays of shape (m, k) and (n, k)
        Coordinates of row and column objects in one space; NaN for objects left out.
    k_rows : int
        Row objects that count as a column's nearest (k_r of the paper).
    k_columns : int
        Column objects that count as a row's nearest (k_c of the paper).
    ties : str
        How equal entries of R are counted, "index", "inclusive" or "positive": see
        :func:`relscape.matrix.mutual_pairs.mutual_pairs`. Equal distances on the map go by lowest
        index under "index" and all count under the others.
    sample : int, optional
        Look at this many pairs only, drawn without repetition, and scale up: an unbiased estimate
        for very large data. All pairs are taken when there are not more.
    random_state : int or Generator, optional
        Draws the sample.

    Returns
    -------
    float
        Between 0 (all kept) and the number of pairs. With k_rows = m and k_columns = n everything is
        everything's neighbour and Γ is 0 for any map: choose them much smaller.

    Examples
    --------
    >>> R = [[3, 0], [0, 2]]
    >>> gamma_loss(R, [[0.0], [1.0]], [[0.1], [0.9]], k_rows=1, k_columns=1)
    0.0
    >>> gamma_loss(R, [[0.0], [1.0]], [[0.9], [0.1]], k_rows=1, k_columns=1)
    2.0
    """
    return gamma_terms(R, rows, columns, k_rows, k_columns, ties, sample, random_state).loss


def gamma_terms(
    R: Any,
    rows: Any,
    columns: Any,
    k_rows: int = 5,
    k_columns: int = 5,
    ties: str = "inclusive",
    sample: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> GammaTerms:
    """Give Γ together with the number of pairs it counts; the parameters are those of :func:`gamma_loss`."""
    if isinstance(R, BlockedRelation):
        return _gamma_elsewhere(R, rows, columns, k_rows, k_columns, ties, sample, random_state)
    relation, rows, columns = defined_part(R, rows, columns)
    pairs = mutual_pairs(relation, k_rows, k_columns, ties)
    return gamma_of_pairs(pairs, rows, columns, k_rows, k_columns, ties, sample, random_state)


def _gamma_elsewhere(
    R: BlockedRelation,
    rows: Any,
    columns: Any,
    k_rows: int,
    k_columns: int,
    ties: str,
    sample: int | None,
    random_state: Any,
) -> GammaTerms:
    rows, columns = coordinates_of(R.shape, rows, columns, "R")
    keep = [np.isfinite(places).all(axis=1) for places in (rows, columns)]
    relation: Any = R
    if not (keep[0].all() and keep[1].all()):
        relation = selected(R, *(np.flatnonzero(defined) for defined in keep))
    pairs = relation_pairs(relation, k_rows, k_columns, ties)
    placed = rows[keep[0]], columns[keep[1]]
    return gamma_of_pairs(pairs, *placed, k_rows, k_columns, ties, sample, random_state, R)


def gamma_of_pairs(
    pairs: Pairs,
    rows: FloatArray,
    columns: FloatArray,
    k_rows: int = 5,
    k_columns: int = 5,
    ties: str = "inclusive",
    sample: int | None = None,
    random_state: int | np.random.Generator | None = None,
    elsewhere: BlockedRelation | None = None,
) -> GammaTerms:
    """Give Γ for mutual pairs that are known already, as a search over many maps of one relation needs it.

    All coordinates must be defined; ``k_rows``, ``k_columns`` and ``ties`` are those that made the pairs.
    With ``elsewhere``, a relation in blocks, neighbours are looked for where that is.
    """
    check_ties(ties)
    k_rows = min(check_count("k_rows", k_rows), len(rows))
    k_columns = min(check_count("k_columns", k_columns), len(columns))
    i, j = pairs
    total = len(i)
    if sample is not None and check_count("sample", sample) < total:
        drawn = np.sort(np.random.default_rng(random_state).choice(total, sample, replace=False))
        i, j = i[drawn], j[drawn]
    if total == 0:
        return GammaTerms(0.0, 0)
    squares = pair_squares(rows, columns, i, j)
    near = _is_near if elsewhere is None else partial(_is_near_elsewhere, elsewhere)
    kept = near(rows, columns, i, j, squares, k_columns, ties)
    kept &= near(columns, rows, j, i, squares, k_rows, ties)
    lost = len(i) - int(kept.sum())
    return GammaTerms(lost * total / len(i), total)


def _is_near(
    queries: FloatArray,
    points: FloatArray,
    i: IntArray,
    j: IntArray,
    squares: FloatArray,
    k: int,
    ties: str,
) -> BoolArray:
    """Tell which points j are among the k nearest of their query i, asking only the queries that occur."""
    if ties != "index":
        return are_near(points, queries, i, squares, k, SLACK)
    asked, whose = np.unique(i, return_inverse=True)
    border, last = kth_nearest(points, queries[asked], k)
    return np.asarray((squares < border[whose]) | ((squares == border[whose]) & (j <= last[whose])))


def _is_near_elsewhere(
    relation: BlockedRelation,
    queries: FloatArray,
    points: FloatArray,
    i: IntArray,
    j: IntArray,
    squares: FloatArray,
    k: int,
    ties: str,
) -> BoolArray:
    """Tell the same where a relation is: every piece of work has some queries and all points."""
    groups = np.array_split(np.argsort(i, kind="stable"), min(relation.n_blocks, len(i)))
    pieces = []
    for group in groups:
        asked, whose = np.unique(i[group], return_inverse=True)
        pieces.append((queries[asked], whose, j[group], squares[group]))
    found: BoolArray = np.empty(len(i), dtype=bool)
    found[np.concatenate(groups)] = np.concatenate(relation.map_pieces(_near_piece, pieces, points, k, ties))
    return found


def _near_piece(
    queries: FloatArray,
    whose: IntArray,
    j: IntArray,
    squares: FloatArray,
    points: FloatArray,
    k: int,
    ties: str,
) -> BoolArray:
    return _is_near(queries, points, whose, j, squares, k, ties)


def mean_rank(R: Any, rows: Any, columns: Any, top: int = 10) -> float:
    """Average the ranks, by distance on the map, of every row's strongest columns.

    For each row object its ``top`` columns with the largest entries are looked up in the order of
    all columns by distance, where the nearest has rank 1. Equal entries and equal distances go by
    lowest index, and a row with fewer than ``top`` positive entries fills up with its first zeros.

    Parameters
    ----------
    R : array or sparse array of shape (m, n)
        The relation, nonnegative.
    rows, columns : arrays of shape (m, k) and (n, k)
        Coordinates in one space; NaN for objects left out.
    top : int
        Columns looked up for each row; n when there are fewer.

    Returns
    -------
    float
        At least (top + 1) / 2, reached when the strongest columns are the nearest ones for every row.

    Examples
    --------
    >>> mean_rank([[3, 0], [0, 2]], [[0.0], [1.0]], [[0.1], [0.9]], top=1)
    1.0
    """
    check_count("top", top)
    relation, rows, columns = defined_part(R, rows, columns)
    targets = strongest(relation, min(top, len(columns)))
    return float(count_nearer(columns, rows, targets).mean()) + 1.0


def defined_part(R: Any, rows: Any, columns: Any) -> tuple[SparseArray, FloatArray, FloatArray]:
    """Check a relation with the coordinates of its objects and keep the objects that have some."""
    return placed_part(as_relation(R), rows, columns, "R")


def placed_part(
    relation: SparseArray, rows: Any, columns: Any, name: str
) -> tuple[SparseArray, FloatArray, FloatArray]:
    """Keep the objects of a checked matrix, called ``name`` in messages, that have coordinates."""
    rows, columns = coordinates_of(relation.shape, rows, columns, name)
    keep_rows, keep_columns = (np.isfinite(places).all(axis=1) for places in (rows, columns))
    if not keep_rows.all():
        relation = relation[keep_rows]
    if not keep_columns.all():
        relation = relation[:, keep_columns]
    return relation, rows[keep_rows], columns[keep_columns]


def coordinates_of(
    shape: tuple[int, ...], rows: Any, columns: Any, name: str
) -> tuple[FloatArray, FloatArray]:
    """Check the coordinates of a relation's objects, NaN for those left out."""
    places = []
    for side, given, size in zip(("rows", "columns"), (rows, columns), shape, strict=True):
        coordinates = np.asarray(given, dtype=np.float64)
        if coordinates.ndim != 2 or len(coordinates) != size:
            raise DataError(
                f"{side} has shape {coordinates.shape}, but {name} is {shape[0]} × {shape[1]}: "
                f"expected a table of coordinates for {size} objects."
            )
        if np.isinf(coordinates).any():
            raise DataError(
                f"{side} has infinite coordinates; expected numbers, or NaN for objects left out."
            )
        if np.isnan(coordinates).any(axis=1).all():
            raise DataError(
                f"none of the {size} objects of {side} has coordinates; there is nothing to score."
            )
        places.append(coordinates)
    if places[0].shape[1] != places[1].shape[1]:
        raise DataError(
            f"rows have {places[0].shape[1]} coordinates and columns {places[1].shape[1]}; "
            "both kinds must lie in one space."
        )
    return places[0], places[1]
