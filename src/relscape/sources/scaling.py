"""Features of one spread, and what stands in for missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from relscape.errors import DataError, ParameterError, listing
from relscape.protocols import BoolArray, FloatArray, TextArray

__all__ = ["MISSING", "measure", "original", "standardized", "uneven", "without_gaps"]

MISSING = ("drop", "median")
_MUCH = 100.0  # times as much spread as another
_MANY = 0.25  # share of features that hardly count


def measure(matrix: FloatArray) -> dict[str, list[float]]:
    """Give mean and spread (standard deviation) of every feature; a constant one keeps its unit.

    >>> measure(np.array([[1.0, 5.0], [3.0, 5.0]]))
    {'mean': [2.0, 5.0], 'spread': [1.0, 1.0]}
    """
    spread = matrix.std(axis=0)
    spread[matrix.max(axis=0) == matrix.min(axis=0)] = 1.0
    return {"mean": matrix.mean(axis=0).tolist(), "spread": spread.tolist()}


def standardized(matrix: FloatArray, measures: Mapping[str, Sequence[float]]) -> FloatArray:
    """Subtract the means and divide by the spreads that :func:`measure` found."""
    return np.asarray((matrix - np.asarray(measures["mean"])) / np.asarray(measures["spread"]))


def original(matrix: FloatArray, measures: Mapping[str, Sequence[float]]) -> FloatArray:
    """Bring standardised features back into their units."""
    return np.asarray(matrix * np.asarray(measures["spread"]) + np.asarray(measures["mean"]))


def uneven(matrix: FloatArray, names: TextArray) -> str | None:
    """Say which features drown the others: a quarter of them has a hundredth of the largest spread or less.

    Single features that hardly vary are usual (a pixel at the rim of a picture) and no reason to speak.
    """
    spread = matrix.std(axis=0)
    varying = np.flatnonzero(matrix.max(axis=0) > matrix.min(axis=0))
    if varying.size < 2:
        return None
    largest = float(spread[varying].max())
    drowned = varying[spread[varying] * _MUCH <= largest]
    if drowned.size < _MANY * varying.size:
        return None
    loud = varying[spread[varying] * _MUCH > largest]
    loud = loud[np.argsort(-spread[loud], kind="stable")]
    times = largest / float(spread[drowned].min())
    quiet = drowned[np.argsort(spread[drowned], kind="stable")]
    return (
        f"the features differ up to {times:,.0f} times in spread: {listing(names[loud], 3)} "
        f"decide who is near whom, and {listing(names[quiet], 3)} hardly count"
    )


def without_gaps(
    matrix: FloatArray, names: TextArray, how: str, medians: FloatArray | None = None
) -> tuple[FloatArray, BoolArray]:
    """Fill gaps in features (NaN) with medians, or drop the lines that have some.

    Parameters
    ----------
    matrix : array of shape (n, d)
    names : array of shape (d,)
        The features, for messages.
    how : {"drop", "median"}
    medians : array of shape (d,), optional
        What to fill in; by default the medians of the values that are there.

    Returns
    -------
    matrix, kept : arrays
        The features of the lines that are kept, and which of the n lines those are.
    """
    if how not in MISSING:
        raise ParameterError(f"missing={how!r}: write 'drop' (leave such lines out) or 'median' (fill them).")
    gaps = np.isnan(matrix)
    if how == "drop":
        kept = np.asarray(~gaps.any(axis=1))
        if not kept.any():
            raise DataError(
                "every line lacks a feature, so that dropping leaves none; fill them (--missing median) or "
                "choose other columns (--features)."
            )
        return matrix[kept], kept
    empty = names[gaps.all(axis=0)]
    if empty.size and medians is None:
        raise DataError(
            f"there is no value at all in {listing(empty)}, so no median; choose other columns (--features)."
        )
    stand_in = np.nanmedian(matrix, axis=0) if medians is None else medians
    return np.where(gaps, stand_in, matrix), np.ones(len(matrix), dtype=bool)
