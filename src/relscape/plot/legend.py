"""What stands beside a picture: its kinds, its classes, or the scale of its colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from relscape.maps import Group
from relscape.plot.coloring import Coloring, Scale, scale_colors
from relscape.plot.palette import CLASS_COLORS, Classes, Theme
from relscape.plot.texts import plain_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_legend"]

GAP = 0.18
LINE = 0.215
LONGEST = 26


def draw_legend(
    figure: Figure,
    layers: Sequence[tuple[Group, str, Coloring]],
    color: str | None,
    surround: tuple[float, float, float, float],
    theme: Theme,
) -> None:
    """Put the kinds, and below them the classes or the colour scale, to the right of the axes."""
    width, height = figure.get_size_inches()
    left = (width - surround[2] + GAP) / width
    top = height - surround[3]
    entries = [
        (_dot(marker, coloring.base), f"{plain_text(group.kind, 16)} ({len(group):,})")
        for group, marker, coloring in layers
    ]
    _column(figure, entries, "", left, top / height, theme)
    top -= LINE * len(entries) + 0.2
    told = next((coloring for _, _, coloring in layers if coloring.classes or coloring.scale), None)
    if told is None or color is None:
        return
    if told.classes:
        marker = next(marker for _, marker, coloring in layers if coloring is told)
        _column(figure, _class_entries(told.classes, layers, marker, theme), color, left, top / height, theme)
    elif told.scale:
        _scale_bar(figure, told.scale, color, left, top, theme)


def _class_entries(
    classes: Classes, layers: Sequence[tuple[Group, str, Coloring]], marker: str, theme: Theme
) -> list[tuple[Any, str]]:
    sized = [f"{name} ({count:,})" for name, count in zip(classes.names, classes.counts, strict=True)]
    names = sized if max(map(len, sized), default=0) <= LONGEST else classes.names
    entries = [(_dot(marker, CLASS_COLORS[number]), name) for number, name in enumerate(names)]
    without = sum(int((c.classes.codes < 0).sum()) for _, _, c in layers if c.classes)
    if classes.left_over:
        entries.append((_dot(marker, theme.other), f"{classes.left_over:,} others ({without:,})"))
    elif without:
        entries.append((_dot(marker, theme.other), f"not known ({without:,})"))
    return entries


def _dot(marker: str, color: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker=marker, markersize=6, color=color, markeredgewidth=0)


def _column(
    figure: Figure, entries: list[tuple[Any, str]], title: str, left: float, top: float, theme: Theme
) -> None:
    """Draw one block of the legend; texts are set afterwards, so that none is read as a command."""
    block = figure.legend(
        [handle for handle, _ in entries],
        [str(number) for number in range(len(entries))],
        title=" " if title else None,
        loc="upper left",
        bbox_to_anchor=(left, top),
        frameon=False,
        fontsize=8.5,
        borderpad=0.0,
        borderaxespad=0.0,
        handlelength=1.0,
        handletextpad=0.5,
        labelspacing=0.42,
        alignment="left",
        title_fontproperties={"size": 8.5, "weight": "bold"},
    )
    for text, (_, name) in zip(block.get_texts(), entries, strict=True):
        text.set(text=plain_text(name, LONGEST), parse_math=False, color=theme.ink)
    if title:
        block.get_title().set(text=plain_text(title), parse_math=False, color=theme.ink)


def _scale_bar(figure: Figure, scale: Scale, title: str, left: float, top: float, theme: Theme) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    width, height = figure.get_size_inches()
    figure.text(
        left,
        (top - 0.06) / height,
        plain_text(title),
        fontsize=8.5,
        weight="bold",
        color=theme.ink,
        va="center",
        parse_math=False,
    )
    tall = min(2.4, top - 0.9)
    box = figure.add_axes((left, (top - 0.25 - tall) / height, 0.16 / width, tall / height))
    mappable = ScalarMappable(Normalize(scale.low, scale.high), ListedColormap(scale_colors()))
    ends = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    bar = figure.colorbar(mappable, cax=box, extend=ends[scale.below, scale.above])
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=theme.muted, labelcolor=theme.ink, labelsize=8, length=2.5)
