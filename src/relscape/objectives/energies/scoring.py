"""Energies of many pairs of rows at once: matrix products where they do, compiled loops for l1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numba import njit, prange

from relscape.objectives.energies.norms import FAST, L1, L2
from relscape.protocols import FloatArray, IntArray

__all__ = ["PairPull", "distances", "distances_and_pull", "per_relation", "products_and_pull"]

PairPull: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def distances(points: FloatArray, queries: FloatArray, norm: tuple[int, ...]) -> FloatArray:
    """Give N(query − point) for all queries (rows of the result) and points (columns)."""
    if len(norm) == L1:
        return np.asarray(_city(np.ascontiguousarray(points), np.ascontiguousarray(queries)))
    found = np.asarray(queries @ points.T)
    _finish(found, _squares(points), _squares(queries), len(norm) == L2)
    return found


def distances_and_pull(
    points: FloatArray, queries: FloatArray, norm: tuple[int, ...]
) -> tuple[FloatArray, PairPull]:
    """Give :func:`distances`, and what gives the gradients of their weighted sum: for queries, for points."""
    found = distances(points, queries, norm)

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        if len(norm) == L1:
            to_queries, to_points = _city_pull(
                np.ascontiguousarray(points), np.ascontiguousarray(queries), weights
            )
            return to_queries, to_points
        factors, to_rows, to_columns = _factors(found, weights, len(norm) == L2)
        to_queries = to_rows[:, None] * queries - factors @ points
        to_points = to_columns[:, None] * points - factors.T @ queries
        return to_queries, to_points

    return found, pull


def products_and_pull(points: FloatArray, queries: FloatArray) -> tuple[FloatArray, PairPull]:
    """Give minus the inner products of queries and points, and what gives their gradients."""

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -(weights @ points), -(weights.T @ queries)

    return -(queries @ points.T), pull


def per_relation(relations: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Walk over the distinct relations of queries, with the places of each one's queries."""
    order = np.argsort(relations, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(relations[order])) + 1):
        if places.size:
            yield int(relations[places[0]]), places


def _squares(rows: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _finish(found, squares, own, root):  # type: ignore[no-untyped-def]
    """Turn products of queries and points into (squared) distances, in place."""
    for i in prange(found.shape[0]):
        for j in range(found.shape[1]):
            square = max(squares[j] - found.dtype.type(2.0) * found[i, j] + own[i], found.dtype.type(0.0))
            found[i, j] = np.sqrt(square) if root else square


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _factors(found, weights, root):  # type: ignore[no-untyped-def]
    """Give what differences weigh in the gradient of weighted distances, with sums over rows and columns."""
    kind = found.dtype.type
    factors = np.empty_like(found)
    to_rows, to_columns = np.zeros(found.shape[0], found.dtype), np.zeros(found.shape[1], found.dtype)
    for i in range(found.shape[0]):
        total = kind(0.0)
        for j in range(found.shape[1]):
            factor = kind(2.0) * weights[i, j]
            if root:
                factor = weights[i, j] / found[i, j] if found[i, j] > 0 else kind(0.0)
            factors[i, j] = factor
            total += factor
            to_columns[j] += factor
        to_rows[i] = total
    return factors, to_rows, to_columns


@njit(cache=True, nogil=True, parallel=True, error_model="numpy", fastmath=FAST)
def _city(points, queries):  # type: ignore[no-untyped-def]
    found = np.empty((queries.shape[0], points.shape[0]), dtype=points.dtype)
    for i in prange(queries.shape[0]):
        for j in range(points.shape[0]):
            total = found.dtype.type(0.0)
            for m in range(points.shape[1]):
                total += abs(queries[i, m] - points[j, m])
            found[i, j] = total
    return found


@njit(cache=True, nogil=True, fastmath=FAST)
def _city_pull(points, queries, weights):  # type: ignore[no-untyped-def]
    to_queries, to_points = np.zeros_like(queries), np.zeros_like(points)
    for i in range(queries.shape[0]):
        for j in range(points.shape[0]):
            weight = weights[i, j]
            if weight != 0.0:
                for m in range(points.shape[1]):
                    step = weight * np.sign(queries[i, m] - points[j, m])
                    to_queries[i, m] += step
                    to_points[j, m] -= step
    return to_queries, to_points
