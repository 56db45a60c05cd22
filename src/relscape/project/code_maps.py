"""Maps of several kinds with details: the whole in one panel, places around chosen words in the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from relscape.plot.frame import inside, limits
from relscape.plot.palette import LIGHT
from relscape.plot.texts import choose_labels, place_labels, plain_text
from relscape.project.pictures import SIDES, finished
from relscape.protocols import FloatArray, TextArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Layer", "detailed_maps", "window"]

Key = Mapping[str, tuple[str, str]]
_ROOM = 1.25  # a detail reaches farther than its words by a quarter
_SIDE = 5.4  # inches of a panel
_HEAD, _LINE = 0.6, 0.2  # inches above the panels: the heading, and a line of the legend
_KEY_ACROSS = 6  # entries of the legend on one line


@dataclass(frozen=True, eq=False)
class Layer:
    """One kind on the maps: places and names, and how it looks.

    ``weight`` says what deserves a name first; a detail names ``named`` things at most, with ``longest``
    letters. A kind that is not ``whole`` is drawn in the details only. ``small`` and ``large`` are the areas
    of its dots in the whole and in a detail.
    """

    points: FloatArray
    names: TextArray
    weight: FloatArray
    colors: TextArray
    marker: str = "o"
    small: float = 5.0
    large: float = 16.0
    named: int = 40
    longest: int = 26
    whole: bool = True


def window(points: FloatArray) -> FloatArray:
    """Give the corners of a square around some points, with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, reach = (low + high) / 2, _ROOM * (high - low).max() / 2
    return np.array([middle - reach, middle + reach])


def detailed_maps(
    heading: str, layers: Sequence[Layer], details: Mapping[str, FloatArray], key: Key
) -> Figure:
    """Draw the whole map with squares where its details are, and the details with names beside it.

    Parameters
    ----------
    heading : str
        What is on the map.
    layers : sequence of Layer
        The kinds, the first undermost; the last gets its names first.
    details : mapping of str to array
        The corners of every detail, by its title; three fill the page.
    key : mapping of str to pair of str
        The legend: colour and marker by name.
    """
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    down, lines = -(-(len(details) + 1) // 2), -(-len(key) // _KEY_ACROSS)
    head = _HEAD + _LINE * lines
    height = head + (_SIDE + 0.3) * down
    figure, axes = plt.subplots(down, 2, figsize=(2 * _SIDE + 0.2, height), squeeze=False)
    figure.subplots_adjust(0.015, 0.012, 0.985, 1.0 - (head + 0.25) / height, 0.03, 0.07)
    for panel in axes.flat[len(details) + 1 :]:
        panel.set_visible(False)
    panels = list(axes.flat)
    _draw_whole(panels[0], layers, details)
    for letter, panel, (title, corners) in zip("bcdefgh", panels[1:], details.items(), strict=False):
        _draw_detail(panel, layers, corners)
        _title(panel, f"{letter}   {title}")
    figure.text(0.015, 1.0 - 0.22 / height, heading, fontsize=13, weight="bold", color=LIGHT.ink, va="center")
    handles = [
        Line2D([], [], ls="", marker=marker, color=color, ms=6, label=name)
        for name, (color, marker) in key.items()
    ]
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.006, 1.0 - 0.36 / height),
        ncols=-(-len(handles) // lines),
        fontsize=9,
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.4,
    )
    return finished(figure, tight=False)


def _draw_whole(panel: Any, layers: Sequence[Layer], details: Mapping[str, FloatArray]) -> None:
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    shown = [layer for layer in layers if layer.whole]
    low, high = limits(np.vstack([layer.points for layer in shown]), full=False)
    middle, reach = (low + high) / 2, (high - low).max() / 2
    for layer in shown:
        panel.scatter(*layer.points.T, s=layer.small, c=layer.colors, marker=layer.marker, linewidths=0)
    for letter, corners in zip("bcdefgh", details.values(), strict=False):
        sides = corners[1] - corners[0]
        panel.add_patch(Rectangle(corners[0], *sides, fill=False, color=LIGHT.ink, linewidth=1.1, zorder=5))
        at = corners[0][0], corners[1][1]
        written = panel.annotate(
            letter, at, (4, -4), textcoords="offset points", weight="bold", fontsize=12, va="top", zorder=6
        )
        written.set_path_effects([withStroke(linewidth=3.0, foreground=LIGHT.paper)])
    _frame(panel, np.array([middle - reach, middle + reach]))
    _title(panel, "a   the whole map, and where the details are")


def _draw_detail(panel: Any, layers: Sequence[Layer], corners: FloatArray) -> None:
    """Draw a part of the map; the names of the last layer find room first, those of the first one last."""
    _frame(panel, corners)
    points, names, inks = np.empty((0, 2)), [], []
    for layer in reversed(layers):
        within = inside(layer.points, corners)
        panel.scatter(
            *layer.points[within].T,
            s=layer.large,
            c=layer.colors[within],
            marker=layer.marker,
            linewidths=0,
            zorder=3 if layer.whole else 2,
        )
        chosen = choose_labels(layer.points, layer.weight, within, layer.named)
        points = np.vstack([points, layer.points[chosen]])
        names += [plain_text(layer.names[at], layer.longest) for at in chosen]
        inks += [str(layer.colors[at]) for at in chosen]
    place_labels(panel, points, names, inks, points, LIGHT.paper)


def _frame(panel: Any, corners: FloatArray) -> None:
    middle, reach = corners.mean(axis=0), (corners[1] - corners[0]) / 2
    panel.set(xlim=middle[0] + reach[0] * SIDES, ylim=middle[1] + reach[1] * SIDES, xticks=[], yticks=[])
    panel.set_aspect("equal")
    for side in panel.spines.values():
        side.set_color(LIGHT.other)


def _title(panel: Any, text: str) -> None:
    panel.set_title(text, fontsize=10.5, color=LIGHT.ink, loc="left")
