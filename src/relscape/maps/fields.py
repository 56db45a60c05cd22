"""What the fields of a kind hold: classes, numbers, or the mark of things that were put on later."""

from __future__ import annotations

import numpy as np

from relscape.maps.group import Group
from relscape.protocols import AnyArray, BoolArray, FloatArray

__all__ = ["IMPORTANCE_FIELDS", "is_categorical", "is_missing", "newly_placed", "to_numbers"]

FEW_INTEGERS = 10

# What says how much a thing deserves a label, the best first.
IMPORTANCE_FIELDS = ("contribution", "prominence", "degree", "mass", "links in")


def is_missing(value: object) -> bool:
    """Say whether a value is none: ``None``, or NaN, which differs from itself."""
    return value is None or value != value


def is_categorical(values: AnyArray) -> bool:
    """Say whether a field names classes: texts, booleans, or few different integers."""
    if values.dtype.kind in "iu":
        return np.unique(values).size <= FEW_INTEGERS
    if values.dtype.kind == "O":
        present = [value for value in values if not is_missing(value)]
        return not present or not all(type(value) in (int, float) for value in present)
    return values.dtype.kind not in "f"


def to_numbers(values: AnyArray) -> FloatArray:
    """Bring a numeric field into floats, NaN where a value is missing."""
    if values.dtype.kind == "O":
        return np.array([np.nan if v is None else float(v) for v in values])
    return values.astype(np.float64)


def newly_placed(group: Group) -> BoolArray:
    """Say which things were put on the map after it was made: their field ``placed`` is True."""
    marks = group.fields.get("placed")
    if marks is None:
        return np.zeros(len(group), dtype=bool)
    return np.array([isinstance(mark, bool | np.bool_) and bool(mark) for mark in marks], dtype=bool)
