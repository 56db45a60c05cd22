"""Groups of samples, as labels of any type name them: which sample belongs where, and who said so."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relscape.data.labels import as_field
from relscape.errors import DataError
from relscape.protocols import AnyArray, BoolArray, IntArray, TextArray

__all__ = ["Cohorts", "read_cohorts"]

UNLABELLED = -1


@dataclass(frozen=True, eq=False)
class Cohorts:
    """The cohorts of n samples.

    Parameters
    ----------
    names : array of str, shape (c,)
        How the cohorts are shown.
    values : array of object, shape (c,)
        The labels themselves, as they were given.
    codes : array of int, shape (n,)
        The cohort of every sample as a position in ``names``; -1 where it has none.
    given : array of bool, shape (n,)
        Whether the cohort was given; False where it is absent or was predicted.
    """

    names: TextArray
    values: AnyArray
    codes: IntArray
    given: BoolArray

    def completed(self, codes: IntArray) -> Cohorts:
        """Fill in cohorts where there is none; those already there, and who gave them, stay."""
        codes = np.asarray(codes, dtype=np.int64)
        if codes.shape != self.codes.shape:
            raise DataError(
                f"codes has shape {codes.shape}; one for each of the {self.codes.size} samples is needed."
            )
        if codes.size and not UNLABELLED <= codes.min() <= codes.max() < len(self.names):
            raise DataError(
                f"codes must lie between -1 and {len(self.names) - 1}, the positions of the "
                f"{len(self.names)} cohorts; they reach from {codes.min()} to {codes.max()}."
            )
        return replace(self, codes=np.where(self.codes < 0, codes, self.codes))


def read_cohorts(y: Any, n: int) -> Cohorts:
    """Read the cohorts of n samples from one label a sample, of any type.

    None, NaN, NaT, pandas' NA and blank texts mean that a sample has no label, and so does -1 where all
    labels are integers. Cohorts are ordered by their labels, or by first appearance where labels of
    different types have no order.

    Parameters
    ----------
    y : array-like of shape (n,)
        Texts, numbers, truth values or a mixture; any array, list or column of a data frame.
    n : int
        Number of samples.

    >>> cohorts = read_cohorts(["tea", None, "ale", "tea"], 4)
    >>> cohorts.names.tolist(), cohorts.codes.tolist()
    (['ale', 'tea'], [1, -1, 0, 1])
    """
    labels, missing = _labels(y)
    if labels.size != n:
        raise DataError(f"y has {labels.size} labels for {n} samples; give one for every sample.")
    present = dict.fromkeys(labels[~missing].tolist())
    minus_ones = _minus_ones(labels, list(present))
    if minus_ones.any():
        missing |= minus_ones
        del present[UNLABELLED]
    if not present:
        raise DataError(
            "every label in y is missing; label some samples of every cohort, or leave y out to have "
            "cohorts found by clustering."
        )
    values = _ordered(list(present))
    position = {value: code for code, value in enumerate(values)}
    codes = np.full(n, UNLABELLED, dtype=np.int64)
    codes[~missing] = [position[label] for label in labels[~missing].tolist()]
    shown = np.empty(len(values), dtype=object)
    shown[:] = values
    return Cohorts(_names(values), shown, codes, ~missing)


def _labels(y: Any) -> tuple[AnyArray, BoolArray]:
    """Bring labels into one array of Python objects, and say which are missing."""
    if isinstance(y, str | bytes):
        raise DataError("y is one text; give a list with one label for every sample.")
    shape = getattr(y, "shape", (0,))
    if len(shape) != 1:
        raise DataError(
            f"y has shape {tuple(shape)}; one label for every sample is needed. Choose one column of it."
        )
    field = as_field(y, "y")
    dates = field.dtype.kind in "mM"
    labels = np.empty(field.size, dtype=object)
    plain = [None if np.isnat(date) else str(date) for date in field] if dates else field.tolist()
    labels[:] = [item.item() if isinstance(item, np.generic) else item for item in plain]
    missing = np.fromiter(map(_is_missing, labels), dtype=bool, count=labels.size)
    for row, label in enumerate(labels):
        if label.__hash__ is None:
            raise DataError(
                f"y: entry {row} is a {type(label).__name__}; a label is one text, number or truth value."
            )
    return labels, missing


def _is_missing(label: Any) -> bool:
    """Say whether a label is None, a blank text, NaN, NaT or pandas' NA: what does not equal itself."""
    if label is None or type(label).__name__ == "NAType" or (isinstance(label, str) and not label.strip()):
        return True
    return bool(label != label)


def _minus_ones(labels: AnyArray, values: list[Any]) -> BoolArray:
    """Find the labels -1 if all values are integers; elsewhere -1 is a label like any other."""
    if not all(type(value) is int for value in values):
        return np.zeros(labels.size, dtype=bool)
    return np.fromiter((type(label) is int and label == UNLABELLED for label in labels), bool, labels.size)


def _ordered(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return values


def _names(values: list[Any]) -> TextArray:
    """Show labels as text; whole numbers without a point, and those that look alike by their type."""
    texts = [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in values]
    times = Counter(texts)
    names = np.empty(len(values), dtype=object)
    names[:] = [text if times[text] == 1 else repr(v) for v, text in zip(values, texts, strict=True)]
    return names
