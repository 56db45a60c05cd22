"""Colours and markers: kinds told apart twice, classes in colours that most eyes tell apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from relscape.plot.texts import plain_text
from relscape.protocols import AnyArray, FloatArray, IntArray

__all__ = [
    "CLASS_COLORS",
    "DARK",
    "KIND_COLORS",
    "LIGHT",
    "MARKERS",
    "Classes",
    "Theme",
    "is_categorical",
    "sort_into_classes",
    "to_numbers",
]

MARKERS = ("o", "^", "s", "D", "v", "P", "X", "h")

# Okabe and Ito's colours for colour-blind readers, the dark ones first; yellow is too pale for dots.
KIND_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7A5195", "#8C6D31")

# The same, then Paul Tol's muted and dark colours, in an order that keeps neighbours far apart.
CLASS_COLORS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#882255",
    "#999933",
    "#332288",
    "#44AA99",
    "#B2182B",
    "#DDCC77",
    "#6699CC",
    "#117733",
    "#AA4499",
    "#A6761D",
    "#1B1B8F",
    "#EE8866",
    "#66A61E",
    "#4D4D4D",
)

FEW_INTEGERS = 10


@dataclass(frozen=True)
class Theme:
    """The colours of paper, ink, secondary text, faint lines, and things without a class."""

    paper: str
    ink: str
    muted: str
    faint: str
    other: str


LIGHT = Theme(paper="#FFFFFF", ink="#1F2328", muted="#6A737D", faint="#E3E6EA", other="#A9B0B8")
DARK = Theme(paper="#14171C", ink="#E8EAED", muted="#9AA4AF", faint="#2C323A", other="#68727D")


@dataclass(frozen=True, eq=False)
class Classes:
    """Every thing's class: ``codes`` into ``names``, and -1 for a missing value or a class too many."""

    names: list[str]
    codes: IntArray
    counts: list[int]
    left_over: int


def is_categorical(values: AnyArray) -> bool:
    """Say whether a field names classes: texts, booleans, or few different integers."""
    if values.dtype.kind in "iu":
        return np.unique(values).size <= FEW_INTEGERS
    if values.dtype.kind == "O":
        present = [value for value in values if value is not None and value == value]
        return not present or not all(type(value) in (int, float) for value in present)
    return values.dtype.kind not in "f"


def sort_into_classes(values: AnyArray, limit: int = len(CLASS_COLORS)) -> Classes:
    """Give the ``limit`` most frequent classes numbers, in the order of their names; others are left over."""
    named = [None if v is None or v != v else v for v in values.tolist()]
    counts = Counter(value for value in named if value is not None)
    frequent = sorted(counts, key=lambda value: (-counts[value], str(value)))[:limit]
    shown = sorted(frequent, key=lambda v: (0, v, "") if isinstance(v, int | float) else (1, 0, str(v)))
    code = {value: number for number, value in enumerate(shown)}
    codes = np.fromiter((code.get(value, -1) for value in named), dtype=np.int64, count=len(named))
    return Classes(
        [plain_text(value) for value in shown],
        codes,
        [counts[value] for value in shown],
        len(counts) - len(shown),
    )


def to_numbers(values: AnyArray) -> FloatArray:
    """Bring a numeric field into floats, NaN where a value is missing."""
    if values.dtype.kind == "O":
        return np.array([np.nan if v is None else float(v) for v in values])
    return values.astype(np.float64)
