"""Tables of confidences: of own and foreign cohorts, divided by their total, or brought along."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.errors import DataError
from relscape.matrix.confidence_laws import SAME
from relscape.matrix.confidence_reach import lifted
from relscape.matrix.measures import as_table
from relscape.protocols import AnyArray, FloatArray, IntArray

__all__ = [
    "Confidence",
    "given_confidence",
    "normalised",
    "own_and_foreign",
    "own_only",
    "range_of",
    "stretched",
]


@dataclass(frozen=True, eq=False)
class Confidence:
    """Confidences of all samples in all cohorts, and what new samples need to get theirs.

    Attributes
    ----------
    matrix : csr_array or array of shape (n, c)
        R, of total 1; sparse when only own cohorts count, dense when foreign ones have a floor.
    total : float
        What the confidences were divided by.
    laws : dict of arrays
        What was learned about the cohorts; empty when the table was given.
    """

    matrix: Any
    total: float
    laws: dict[str, AnyArray] = field(default_factory=dict)

    def reaching(self, weights: Any, codes: IntArray) -> tuple[Confidence, int]:
        """Reach every part of the graph (see ``confidence_reach.lifted``), and keep account of the total."""
        raised, count = lifted(self.matrix, weights, codes)
        if not count:
            return self, 0
        growth = float(raised.sum())
        return replace(self, matrix=raised / growth, total=self.total * growth), count


def given_confidence(R: Any, n: int, c: int) -> Confidence:
    """Check a table of confidences that someone brings along, and divide it by its total."""
    try:
        matrix = as_table(R)
    except (TypeError, ValueError) as error:
        raise DataError("the table of confidences holds something that is no number.") from error
    if matrix.shape != (n, c):
        raise DataError(
            f"the table of confidences has shape {matrix.shape}; expected a row for each of {n} samples and "
            f"a column for each of {c} cohorts."
        )
    entries = matrix.data if issparse(matrix) else matrix
    if not np.isfinite(entries).all():
        raise DataError("some confidences are not finite; give 0 where nothing is known.")
    if entries.min(initial=0.0) < 0:
        raise DataError("some confidences are negative; give numbers of at least 0.")
    return normalised(matrix, {})


def own_only(own: FloatArray, codes: IntArray, c: int) -> Any:
    """Keep positive confidences in own cohorts only."""
    used = np.flatnonzero((codes >= 0) & (own > 0))
    return csr_array((own[used], (used, codes[used])), shape=(len(codes), c))


def own_and_foreign(own: FloatArray, table: FloatArray, codes: IntArray, sizes: IntArray) -> FloatArray:
    """Put own confidences into a table of foreign ones; nothing for empty cohorts and unknown samples."""
    known = np.flatnonzero(codes >= 0)
    table[known, codes[known]] = own[known]
    return np.where((codes >= 0)[:, None] & (sizes > 0), table, 0.0)


def range_of(values: FloatArray) -> FloatArray:
    """Give the smallest and the largest value, zeros where there are none."""
    return np.array([values.min(), values.max()]) if values.size else np.zeros(2)


def stretched(values: FloatArray, span: FloatArray, low: float, high: float) -> FloatArray:
    """Stretch a span to [low, high]; values beyond it stay at its ends.

    Values that are all the same go to one end: to ``low`` if they are 0, to ``high`` otherwise.
    """
    begin, end = span
    if end - begin <= SAME * abs(end):
        return np.full_like(values, high if end != 0 else low)
    return np.asarray(low + (np.clip(values, begin, end) - begin) / (end - begin) * (high - low))


def normalised(raw: Any, laws: dict[str, AnyArray]) -> Confidence:
    """Divide confidences by their total."""
    total = float(raw.sum())
    if not total > 0:
        raise DataError(
            "no sample has any confidence in a cohort: none has a neighbour of its own cohort. Use more "
            "neighbours, a positive floor, or confidence='gaussian'."
            if laws
            else "all confidences are 0; give at least one sample some."
        )
    return Confidence(raw / total, total, laws)
