"""Which colour each point has, and what the legend says about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relscape.errors import ParameterError, listing
from relscape.maps import Group
from relscape.maps.fields import is_categorical, is_missing, to_numbers
from relscape.plot.palette import CLASS_COLORS, KIND_COLORS, Classes, Theme, sort_into_classes
from relscape.protocols import AnyArray, FloatArray

__all__ = ["Coloring", "Scale", "color_by_field", "color_by_kind", "scale_colors"]


@dataclass(frozen=True)
class Scale:
    """The numbers that the two ends of a colour scale stand for, and whether some lie beyond."""

    low: float
    high: float
    below: bool
    above: bool


@dataclass(frozen=True, eq=False)
class Coloring:
    """The colours of one kind's points, one row of red, green, blue a thing.

    ``base`` stands for the kind in the legend; ``classes`` or ``scale`` say what the colours mean.
    """

    colors: FloatArray
    base: str
    classes: Classes | None = None
    scale: Scale | None = None
    opacity: float = 1.0

    def ink(self, at: int, theme: Theme) -> str:
        """Give the colour of a point for text: the same, moved towards the ink until it reads well."""
        from matplotlib.colors import to_hex, to_rgb

        mixed = 0.5 * self.colors[at] + 0.5 * np.array(to_rgb(theme.ink))
        return str(to_hex(tuple(mixed)))


def color_by_kind(groups: Sequence[Group], order: Sequence[str]) -> list[Coloring]:
    """Give every kind the colour of its place on the map, the same from picture to picture."""
    place = {kind: at for at, kind in enumerate(order)}
    bases = [KIND_COLORS[place[group.kind] % len(KIND_COLORS)] for group in groups]
    return [_plain(group, base) for group, base in zip(groups, bases, strict=True)]


def color_by_field(groups: Sequence[Group], field: str, theme: Theme) -> list[Coloring]:
    """Colour the kinds that have a field by it, all on the same classes or the same scale."""
    having = [group for group in groups if field in group.fields]
    values = [group.fields[field] for group in having]
    ends = np.cumsum([len(group) for group in having])[:-1]
    if any(is_categorical(column) for column in values):
        together = np.concatenate([column.astype(object) for column in values])
        _refuse_names(field, together, groups)
        classes = sort_into_classes(together)
        parts = [
            Classes(classes.names, codes, classes.counts, classes.left_over)
            for codes in np.split(classes.codes, ends)
        ]
        palette = _rgb([*CLASS_COLORS[: len(classes.names)], theme.other])
        colored = [Coloring(palette[part.codes], theme.ink, classes=part) for part in parts]
    else:
        numbers = np.concatenate([to_numbers(column) for column in values])
        scale = _scale(numbers)
        shades = np.split(_shade(numbers, scale, theme), ends)
        colored = [Coloring(shade, theme.ink, scale=scale) for shade in shades]
    found = dict(zip((group.kind for group in having), colored, strict=True))
    return [found.get(group.kind) or _plain(group, theme.muted, 0.75) for group in groups]


def _refuse_names(field: str, values: AnyArray, groups: Sequence[Group]) -> None:
    """Refuse a field that names things instead of sorting them: its colours would mean nothing."""
    if not _tells_apart(values):
        return
    classes = {
        name
        for group in groups
        for name, column in group.fields.items()
        if is_categorical(column) and not _tells_apart(column)
    }
    advice = f", such as {listing(sorted(classes))}" if classes else ", or leave color out"
    raise ParameterError(
        f"color={field!r}: more than half of the things have a value of their own there, too many for "
        f"colours. Choose a field with classes{advice}."
    )


def _tells_apart(values: AnyArray) -> bool:
    """Say whether most things have a value of their own, of more values than there are colours."""
    counts = Counter(value for value in values.tolist() if not is_missing(value))
    alone = sum(count == 1 for count in counts.values())
    return len(counts) > len(CLASS_COLORS) and 2 * alone > counts.total()


def scale_colors() -> FloatArray:
    """Give the colours of the scale for numbers: viridis without its palest end."""
    from matplotlib import colormaps

    return np.asarray(colormaps["viridis"](np.linspace(0.0, 0.94, 256))[:, :3])


def _scale(numbers: FloatArray) -> Scale:
    """Span the middle 98 % of the numbers, so that one extreme does not take all the colours."""
    present = numbers[np.isfinite(numbers)]
    if present.size == 0:
        return Scale(0.0, 1.0, below=False, above=False)
    low, high = (float(q) for q in np.quantile(present, [0.01, 0.99]))
    if not high > low:
        low, high = float(present.min()), float(present.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return Scale(low, high, bool((present < low).any()), bool((present > high).any()))


def _shade(numbers: FloatArray, scale: Scale, theme: Theme) -> FloatArray:
    known = np.isfinite(numbers)
    steps = np.clip((np.where(known, numbers, scale.low) - scale.low) / (scale.high - scale.low), 0.0, 1.0)
    shades = scale_colors()[np.rint(255 * steps).astype(np.int64)]
    return np.where(known[:, None], shades, _rgb([theme.other]))


def _plain(group: Group, base: str, opacity: float = 1.0) -> Coloring:
    return Coloring(np.tile(_rgb([base]), (len(group), 1)), base, opacity=opacity)


def _rgb(colors: Sequence[str]) -> AnyArray:
    from matplotlib.colors import to_rgb

    return np.array([to_rgb(color) for color in colors])
