"""Colours and markers: kinds told apart twice, classes in colours far from each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from relscape.maps.fields import is_missing
from relscape.plot.texts import plain_text
from relscape.protocols import AnyArray, IntArray

__all__ = [
    "CLASS_COLORS",
    "DARK",
    "KIND_COLORS",
    "LIGHT",
    "MARKERS",
    "Classes",
    "Theme",
    "sort_into_classes",
]

MARKERS = ("o", "^", "s", "D", "v", "P", "X", "h")

# Okabe and Ito's colours for colour-blind readers, the dark ones first; yellow is too pale for dots.
KIND_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7A5195", "#8C6D31")

# Ten strong colours for the most frequent classes, then a light one of each hue (of navy, a bright blue).
CLASS_COLORS = (
    "#0072B2",
    "#E07000",
    "#008A5A",
    "#C81D25",
    "#7A3DB8",
    "#7A4A1E",
    "#D6409F",
    "#00A3B4",
    "#7D8200",
    "#1E2A78",
    "#7DB9F0",
    "#FFB765",
    "#6FD39B",
    "#FF8F85",
    "#C3A0F0",
    "#C49A6C",
    "#F7A8D8",
    "#7FE0E0",
    "#CDD04A",
    "#5566FF",
)

# Letters of a class's name that the legend can use, on two lines.
LONGEST = 52


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


def sort_into_classes(values: AnyArray, limit: int = len(CLASS_COLORS)) -> Classes:
    """Give the ``limit`` most frequent classes numbers; others are left over.

    The most frequent class comes first, so that it has the strongest colour; numbers keep their own order.
    """
    named = [None if is_missing(value) else value for value in values.tolist()]
    counts = Counter(value for value in named if value is not None)
    shown = sorted(counts, key=lambda value: (-counts[value], str(value)))[:limit]
    if all(isinstance(value, int | float) for value in shown):
        shown.sort()
    code = {value: number for number, value in enumerate(shown)}
    codes = np.fromiter((code.get(value, -1) for value in named), dtype=np.int64, count=len(named))
    return Classes(
        [plain_text(value, LONGEST) for value in shown],
        codes,
        [counts[value] for value in shown],
        len(counts) - len(shown),
    )
