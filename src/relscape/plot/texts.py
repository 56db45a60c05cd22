"""Texts in a picture: made short and plain, chosen by importance, placed so that none covers another."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Group
from relscape.maps.fields import IMPORTANCE_FIELDS, is_categorical, newly_placed, to_numbers
from relscape.protocols import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "check_longest",
    "choose_labels",
    "importance",
    "label_counts",
    "name_length",
    "place_labels",
    "plain_text",
    "quiet_glyphs",
]

DEFAULT_LABELS = 40
MOST_LABELS = 500
LONGEST = 26
LONGEST_OF_FEW = 48
FEW = 8
CELLS = 7
# Points of length from the middle of a dot, most of it covered by the dot: such a line only looks like dirt.
SHORT_LEADER = 7.8


def plain_text(value: object, longest: int = LONGEST) -> str:
    """Bring a name into one short line: no line breaks, nothing unprintable, an ellipsis at the end.

    >>> plain_text("a very long title that nobody reads", longest=12)
    'a very long…'
    """
    text = " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def name_length(count: int) -> int:
    """Say how many letters a name may have where ``count`` of its kind are written: few have more room."""
    return LONGEST_OF_FEW if count <= FEW else LONGEST


def check_longest(longest: Any) -> None:
    """Refuse a length that no name can be cut to."""
    whole = isinstance(longest, int | np.integer) and not isinstance(longest, bool)
    if longest is not None and not (whole and longest >= 1):
        raise ParameterError(f"longest={longest!r}: give a number of letters, 1 or more.")


def importance(group: Group) -> tuple[FloatArray, str]:
    """Say how much each thing deserves a label, and by what: a field of the group, or how far out it is.

    Things that were put on the map later come before all others: one draws the map to see them.
    """
    weight, reason = _ranking(group)
    return np.where(newly_placed(group), np.inf, weight), reason


def _ranking(group: Group) -> tuple[FloatArray, str]:
    for name in IMPORTANCE_FIELDS:
        values = group.fields.get(name)
        if values is not None and (values.dtype.kind in "iuf" or not is_categorical(values)):
            return np.nan_to_num(to_numbers(values), nan=-np.inf), name
    centre = np.median(group.drawn, axis=0) if len(group) else np.zeros(2)
    return np.linalg.norm(group.drawn - centre, axis=1), "distance from the centre"


def label_counts(labels: int | Mapping[str, int] | None, groups: Sequence[Group]) -> dict[str, int]:
    """Say how many labels each kind gets.

    A mapping says it itself (kinds not named get none). A number, or 40 when nothing is said, is shared:
    kinds whose names read like words get most of it, kinds named by codes and numbers a tenth as much,
    and what a small kind cannot use goes to the others.
    """
    if isinstance(labels, Mapping):
        for kind in labels:
            if kind not in {group.kind for group in groups}:
                raise UnknownNameError("kind", kind, [group.kind for group in groups], "the picture")
        counts = {group.kind: _checked(labels.get(group.kind, 0)) for group in groups}
    else:
        total = _checked(DEFAULT_LABELS if labels is None else labels)
        counts = _shared(total, groups)
    if sum(counts.values()) > MOST_LABELS:
        raise ParameterError(f"labels={labels}: a picture has room for {MOST_LABELS} labels at most.")
    return counts


def _checked(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise ParameterError(f"labels={count!r}: give a number of labels, 0 or more, or one for each kind.")
    return int(count)


def _shared(total: int, groups: Sequence[Group]) -> dict[str, int]:
    counts = {group.kind: 0 for group in groups}
    weights = {group.kind: _readable(group) for group in groups}
    smallest_first = sorted(groups, key=lambda g: len(g) / weights[g.kind])
    shares = np.array([weights[group.kind] for group in smallest_first])
    left = np.cumsum(shares[::-1])[::-1]  # the weight of a kind and those after it
    for group, part in zip(smallest_first, (shares / left).tolist(), strict=True):
        counts[group.kind] = min(len(group), round(total * part))
        total -= counts[group.kind]
    return counts


def _readable(group: Group) -> float:
    """Weigh a kind by the share of its names without digits, at least a tenth."""
    names = group.shown[:1000]
    words = sum(not any(c.isdigit() for c in name) for name in names)
    return max(0.1, words / max(1, len(names)))


def choose_labels(points: FloatArray, weight: FloatArray, inside: BoolArray, count: int) -> IntArray:
    """Pick the most important points in the frame, a few from each region first, most important first.

    Points of infinite weight do not wait for the turn of their region.
    """
    candidates = np.flatnonzero(inside)
    if candidates.size == 0 or count == 0:
        return candidates[:0]
    ranked = candidates[np.argsort(-weight[candidates], kind="stable")]
    low, high = points[candidates].min(axis=0), points[candidates].max(axis=0)
    cells = np.floor((points[ranked] - low) / np.where(high > low, high - low, 1.0) * (CELLS - 1e-9))
    seen: dict[tuple[float, ...], int] = {}
    turns = np.empty(ranked.size, dtype=np.int64)
    for position, cell in enumerate(map(tuple, cells.tolist())):
        turns[position] = seen.get(cell, 0) // 2
        seen[cell] = seen.get(cell, 0) + 1
    turns[np.isposinf(weight[ranked])] = -1
    return ranked[np.argsort(turns, kind="stable")][:count]


def place_labels(
    axes: Axes, points: FloatArray, texts: list[str], colors: list[str], avoid: FloatArray, halo: str
) -> int:
    """Write texts beside their points so that none covers another; returns how many found room."""
    if not texts:
        return 0
    from matplotlib.patheffects import withStroke
    from textalloc import allocate

    with quiet_glyphs():
        _, _, written, lines = allocate(
            axes,
            points[:, 0],
            points[:, 1],
            texts,
            x_scatter=avoid[:, 0],
            y_scatter=avoid[:, 1],
            textsize=8.5,
            textcolor=colors,
            linecolor=colors,
            linewidth=0.5,
            margin=0.005,
            min_distance=0.008,
            max_distance=0.09,
            nbr_candidates=300,
            draw_all=False,
            avoid_label_lines_overlap=True,
            zorder=6,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.6, foreground=halo, alpha=0.9)],
        )
    for line in lines:
        if line is None:
            continue
        ends = axes.transData.transform(line.get_xydata())
        if np.linalg.norm(ends[1] - ends[0]) < SHORT_LEADER * axes.figure.dpi / 72.0:
            line.remove()
        else:
            line.set(zorder=5, alpha=0.7)
    return sum(text is not None for text in written)


@contextmanager
def quiet_glyphs() -> Iterator[None]:
    """Let a letter that the font lacks be drawn as a box without a warning for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font", category=UserWarning)
        yield
