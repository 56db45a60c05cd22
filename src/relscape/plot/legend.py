"""What stands beside a picture: its kinds, its classes, or the scale of its colours."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from relscape.maps import Group
from relscape.plot.coloring import Coloring, Scale, scale_colors
from relscape.plot.palette import CLASS_COLORS, Classes, Theme
from relscape.plot.texts import plain_text, quiet_glyphs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Legend", "Style", "make_legend", "with_remark", "wrapped"]

# A kind in the picture: its things, its marker, its colours.
Style: TypeAlias = tuple[Group, str, Coloring]

GAP = 0.18
HANDLE = 0.2
LINE = 0.17
WIDEST = 3.0
SCALE_WIDTH = 0.9
FONTSIZE = 8.5
LONGEST = 26


@dataclass(frozen=True, eq=False)
class _Block:
    """Some entries, each a marker, its colour and a text of one or two lines, under a title."""

    title: str
    entries: list[tuple[str, str, str]]

    @property
    def height(self) -> float:
        lines = sum(1 + text.count("\n") for _, _, text in self.entries)
        return LINE * (lines + bool(self.title))

    @property
    def width(self) -> float:
        lines = [line for _, _, text in self.entries for line in text.split("\n")]
        return max([_inches(self.title, bold=True), *(HANDLE + _inches(line) for line in lines)])


@dataclass(frozen=True, eq=False)
class Legend:
    """What the legend says, and how many inches beside the axes it needs."""

    blocks: list[_Block]
    scale: Scale | None
    scale_title: str
    theme: Theme

    @property
    def width(self) -> float:
        """Say how wide the column is, with a gap on either side."""
        needed = [block.width for block in self.blocks]
        if self.scale:
            needed += [SCALE_WIDTH, _inches(self.scale_title, bold=True)]
        return min(WIDEST, 2 * GAP + max(needed))

    def draw(self, figure: Figure, top: float) -> None:
        """Put the kinds, and below them the classes or the colour scale, to the right of the axes."""
        width, height = figure.get_size_inches()
        left = (width - self.width + GAP) / width
        at = height - top
        for block in self.blocks:
            _draw_block(figure, block, left, at / height, self.theme)
            at -= block.height + 0.2
        if self.scale:
            _scale_bar(figure, self.scale, self.scale_title, left, at, self.theme)


def make_legend(styles: Sequence[Style], color: str | None, tall: float, theme: Theme) -> Legend:
    """Say what the legend holds, so that it fits into ``tall`` inches where it can."""
    kinds = _Block("", _kind_entries(styles, tall, theme))
    told = next((style for style in styles if style[2].classes or style[2].scale), None)
    if told is None or color is None:
        return Legend([kinds], None, "", theme)
    _, marker, coloring = told
    if coloring.classes is None:
        return Legend([kinds], coloring.scale, plain_text(color), theme)
    left = tall - kinds.height - 0.2
    for lines in (2, 1):
        block = _Block(plain_text(color), _class_entries(coloring.classes, styles, marker, lines, theme))
        if block.height <= left:
            break
    return Legend([kinds, block], None, "", theme)


def _kind_entries(styles: Sequence[Style], tall: float, theme: Theme) -> list[tuple[str, str, str]]:
    """List the kinds; of more than the picture is tall for, the largest, and how many others there are."""
    room = max(2, int(tall / LINE))
    if len(styles) <= room:
        shown = list(styles)
    else:
        largest = sorted(range(len(styles)), key=lambda at: -len(styles[at][0]))[: room - 1]
        shown = [styles[at] for at in sorted(largest)]
    entries = [
        (marker, coloring.base, f"{plain_text(group.kind, 16)} ({len(group):,})")
        for group, marker, coloring in shown
    ]
    if len(shown) < len(styles):
        entries.append(("", theme.other, f"and {len(styles) - len(shown):,} more kinds"))
    return entries


def with_remark(legend: Legend, marker: str, color: str, text: str) -> Legend:
    """Add an entry below the kinds that says what a look of points means."""
    kinds, *others = legend.blocks
    return replace(legend, blocks=[_Block(kinds.title, [*kinds.entries, (marker, color, text)]), *others])


def wrapped(name: str, lines: int, longest: int = LONGEST) -> str:
    r"""Break a name between words into at most so many lines, an ellipsis where it has more.

    >>> wrapped("Generic Operating System Services", 2)
    'Generic Operating System\nServices'
    """
    if lines == 1:
        return plain_text(name, longest)
    broken = textwrap.wrap(name, longest)
    return "\n".join([*broken[: lines - 1], plain_text(" ".join(broken[lines - 1 :]), longest)]).rstrip("\n")


def _class_entries(
    classes: Classes, styles: Sequence[Style], marker: str, lines: int, theme: Theme
) -> list[tuple[str, str, str]]:
    entries = [
        (marker, CLASS_COLORS[number], f"{wrapped(name, lines)} ({count:,})")
        for number, (name, count) in enumerate(zip(classes.names, classes.counts, strict=True))
    ]
    without = sum(int((c.classes.codes < 0).sum()) for _, _, c in styles if c.classes)
    if classes.left_over:
        entries.append((marker, theme.other, f"{classes.left_over:,} others ({without:,})"))
    elif without:
        entries.append((marker, theme.other, f"not known ({without:,})"))
    return entries


def _inches(text: str, bold: bool = False) -> float:
    """Measure one line of the legend."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=FONTSIZE, weight="bold" if bold else "normal")
    with quiet_glyphs():
        points, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(points) / 72.0


def _dot(marker: str, color: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker=marker, markersize=6, color=color, markeredgewidth=0)


def _draw_block(figure: Figure, block: _Block, left: float, top: float, theme: Theme) -> None:
    """Draw one block of the legend; texts are set afterwards, so that none is read as a command."""
    drawn = figure.legend(
        [_dot(marker, color) for marker, color, _ in block.entries],
        [str(number) for number in range(len(block.entries))],
        title=" " if block.title else None,
        loc="upper left",
        bbox_to_anchor=(left, top),
        frameon=False,
        fontsize=FONTSIZE,
        borderpad=0.0,
        borderaxespad=0.0,
        handlelength=1.0,
        handletextpad=0.5,
        labelspacing=0.42,
        alignment="left",
        title_fontproperties={"size": FONTSIZE, "weight": "bold"},
    )
    for text, (_, _, name) in zip(drawn.get_texts(), block.entries, strict=True):
        text.set(text=name, parse_math=False, color=theme.ink)
    if block.title:
        drawn.get_title().set(text=block.title, parse_math=False, color=theme.ink)


def _scale_bar(figure: Figure, scale: Scale, title: str, left: float, top: float, theme: Theme) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    width, height = figure.get_size_inches()
    figure.text(
        left,
        (top - 0.06) / height,
        title,
        fontsize=FONTSIZE,
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
