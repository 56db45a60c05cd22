"""Pictures of experiments: maps beside the truth, and measures as curves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from relscape.plot.frame import limits
from relscape.plot.palette import CLASS_COLORS, KIND_COLORS, LIGHT, MARKERS
from relscape.project.outcome import Findings, by_place, methods_in
from relscape.protocols import FloatArray, TextArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "SIDES",
    "TwoKinds",
    "bars",
    "class_maps",
    "curves",
    "finished",
    "shape_grid",
    "shape_pictures",
    "two_kind_maps",
]

Clouds = tuple[FloatArray, FloatArray] | None
Drawn = Mapping[str, Mapping[str, Clouds]]
Classified = tuple[FloatArray | None, TextArray, FloatArray | None]
SIDES = np.array([-1.0, 1.0])
_LINES = ("-", "--", "-.", ":")
_GAP = 0.06  # ticks of curves are at least this share of the axis apart


class TwoKinds(NamedTuple):
    """A map of rows and columns, and the class of each; no places where it was refused."""

    rows: FloatArray | None
    row_classes: TextArray
    columns: FloatArray | None
    column_classes: TextArray


def shape_pictures(drawn: Drawn) -> dict[str, Figure]:
    """Draw all shapes by every method in one grid, and a figure a method of its own."""
    figures = {"overview": shape_grid(drawn)}
    for method in next(iter(drawn.values())):
        figures[method] = _panels({name: clouds[method] for name, clouds in drawn.items()}, method)
    return figures


def shape_grid(drawn: Drawn) -> Figure:
    """Draw one row of panels a shape, with the truth first; rows are dots, columns triangles."""
    import matplotlib.pyplot as plt

    titles = list(next(iter(drawn.values())))
    figure, axes = plt.subplots(
        len(drawn), len(titles), figsize=(1.5 * len(titles), 1.5 * len(drawn)), squeeze=False
    )
    for line, (name, clouds) in zip(axes, drawn.items(), strict=True):
        for panel, title in zip(line, titles, strict=True):
            _panel(panel, clouds[title], 2.0)
        line[0].set_ylabel(name, color=LIGHT.ink)
    for panel, title in zip(axes[0], titles, strict=True):
        panel.set_title(title, fontsize=10, color=LIGHT.ink)
    return finished(figure)


def _panels(clouds: Mapping[str, Clouds], title: str) -> Figure:
    import matplotlib.pyplot as plt

    across = min(4, len(clouds))
    down = -(-len(clouds) // across)
    figure, axes = plt.subplots(down, across, figsize=(2.6 * across, 2.6 * down), squeeze=False)
    for panel in axes.flat[len(clouds) :]:
        panel.set_visible(False)
    for panel, (name, cloud) in zip(axes.flat, clouds.items(), strict=False):
        _panel(panel, cloud, 5.0)
        panel.set_title(name, fontsize=10, color=LIGHT.ink)
    figure.suptitle(title)
    return finished(figure)


def _panel(panel: Any, clouds: Clouds, size: float) -> None:
    _framed(panel)
    if clouds is None:
        panel.text(0.5, 0.5, "refused", ha="center", va="center", transform=panel.transAxes)
        return
    for points, color, marker in zip(clouds, KIND_COLORS, MARKERS, strict=False):
        panel.scatter(*points.T, s=size, color=color, marker=marker, linewidths=0)
    panel.set_aspect("equal", adjustable="datalim")


def _framed(panel: Any) -> None:
    """Leave nothing around a map but a faint frame: its axes have no unit."""
    panel.set(xticks=[], yticks=[])
    for side in panel.spines.values():
        side.set_color(LIGHT.faint)


def curves(
    findings: Findings,
    along: str,
    measures: tuple[str, ...],
    where: Mapping[str, Any] | None = None,
    logarithmic: bool = False,
    lines: str = "method",
) -> dict[str, Figure]:
    """Draw measures against one key, a panel a set and a line a method; nothing where there is nothing.

    ``lines`` names another key to have a line for each of its values.
    """
    import matplotlib.pyplot as plt

    fixed = where or {}
    records = [r for r in findings.records if all(r[key] == value for key, value in fixed.items())]
    sets, named = (list(dict.fromkeys(r[key] for r in records)) for key in ("set", lines))
    if not records:
        return {}
    figure, axes = plt.subplots(
        len(measures), len(sets), figsize=(4.2 * len(sets) + 0.9, 3.2 * len(measures)), squeeze=False
    )
    for line, measure in zip(axes, measures, strict=True):
        for panel, name in zip(line, sets, strict=True):
            table = by_place([r for r in records if r["set"] == name], (along,), measure, lines)
            for number, line_of in enumerate(named):
                points = sorted((at, values[line_of]) for (at,), values in table.items() if line_of in values)
                if points:
                    style = _LINES[number // 4 % len(_LINES)]
                    color = CLASS_COLORS[number % len(CLASS_COLORS)]
                    panel.plot(
                        *zip(*points, strict=True), style, marker="o", ms=3, color=color, label=line_of
                    )
            panel.set(title=name, xlabel=along, ylabel=measure)
            ticks = _apart([at for (at,) in table])
            panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            if logarithmic:
                panel.set_yscale("log")
            for side in ("top", "right"):
                panel.spines[side].set_visible(False)
    axes[0][-1].legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return {f"by_{along}": finished(figure)}


def _apart(places: list[float]) -> list[float]:
    """Leave out places that are too near to the one before for both to be written on an axis."""
    kept: list[float] = []
    for at in sorted(places):
        if not kept or at - kept[-1] >= _GAP * (max(places) - min(places)):
            kept.append(at)
    return kept


def bars(findings: Findings, measures: tuple[str, ...]) -> dict[str, Figure]:
    """Draw measures as bars, a panel each, a group of bars a set, a bar a method that has the measure."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(measures), 1, figsize=(10.0, 3.4 * len(measures)), squeeze=False)
    colors = dict(zip(methods_in(findings.records), CLASS_COLORS, strict=False))
    for panel, measure in zip(axes.flat, measures, strict=True):
        measured = [record for record in findings.records if measure in record]
        table = by_place(measured, ("set",), measure)
        methods = methods_in(measured)
        width = 0.8 / len(methods)
        for number, method in enumerate(methods):
            at = np.arange(len(table)) + (number - (len(methods) - 1) / 2) * width
            heights = [values.get(method, 0.0) for values in table.values()]
            panel.bar(at, heights, width, color=colors[method], label=method)
        names = [place[0].replace("/", "\n") for place in table]
        panel.set_xticks(np.arange(len(table)), names, fontsize=8)
        panel.set_ylabel(measure)
        panel.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    return {"bars": finished(figure)}


def class_maps(drawn: Mapping[str, Classified]) -> Figure:
    """Draw maps of documents, a panel each: documents in the colour of their class, words as grey dots.

    A few documents far out may lie outside the frame.
    """
    import matplotlib.pyplot as plt

    across = min(4, len(drawn))
    down = -(-len(drawn) // across)
    figure, axes = plt.subplots(down, across, figsize=(3.4 * across + 1.6, 3.6 * down), squeeze=False)
    for panel in axes.flat[len(drawn) :]:
        panel.set_visible(False)
    for panel, (title, (documents, classes, words)) in zip(axes.flat, drawn.items(), strict=False):
        panel.set(xticks=[], yticks=[])
        if documents is None:
            continue
        for color, name in zip(CLASS_COLORS, sorted(set(classes)), strict=False):
            panel.scatter(*documents[classes == name].T, s=3.0, color=color, linewidths=0, label=name)
        if words is not None:
            panel.scatter(*words.T, s=2.0, color=LIGHT.muted, linewidths=0, zorder=0)
        low, high = limits(documents, full=False)
        middle, reach = (low + high) / 2, (high - low).max() / 2
        panel.set(xlim=middle[0] + reach * SIDES, ylim=middle[1] + reach * SIDES, aspect="equal")
        panel.set_title(title, fontsize=10, color=LIGHT.ink)
    axes[0][across - 1].legend(
        fontsize=8, frameon=False, markerscale=3, loc="upper left", bbox_to_anchor=(1.0, 1.0)
    )
    return finished(figure)


def two_kind_maps(drawn: Mapping[str, TwoKinds]) -> Figure:
    """Draw maps by class, a panel each: rows as crosses, columns as rings, both in the colour of their class.

    A few things far out may lie outside the frame.
    """
    import matplotlib.pyplot as plt

    across = min(4, -(-(len(drawn) + 1) // 2))
    down = -(-(len(drawn) + 1) // across)
    figure, axes = plt.subplots(down, across, figsize=(3.6 * across, 3.6 * down), squeeze=False)
    names = sorted({name for two in drawn.values() for name in (*two.row_classes, *two.column_classes)})
    colors = dict(zip(names, cycle(CLASS_COLORS), strict=False))
    for panel, (title, two) in zip(axes.flat, drawn.items(), strict=False):
        _framed(panel)
        panel.set_title(title, fontsize=10, color=LIGHT.ink)
        _two_kinds(panel, two, colors)
    for panel in axes.flat[len(drawn) :]:
        panel.set_axis_off()
    _two_kind_legend(axes.flat[len(drawn)], colors)
    return finished(figure)


def _two_kinds(panel: Any, two: TwoKinds, colors: Mapping[str, str]) -> None:
    if two.rows is None or two.columns is None:
        panel.text(0.5, 0.5, "refused", ha="center", va="center", transform=panel.transAxes)
        return
    row_colors, column_colors = (
        [colors[name] for name in classes] for classes in (two.row_classes, two.column_classes)
    )
    panel.scatter(*two.columns.T, s=9.0, facecolors="none", edgecolors=column_colors, linewidths=0.5)
    panel.scatter(*two.rows.T, s=11.0, c=row_colors, marker="+", linewidths=0.6)
    low, high = limits(np.vstack([two.rows, two.columns]), full=False)
    middle, reach = (low + high) / 2, (high - low).max() / 2
    panel.set(xlim=middle[0] + reach * SIDES, ylim=middle[1] + reach * SIDES, aspect="equal")


def _two_kind_legend(panel: Any, colors: Mapping[str, str]) -> None:
    """Name classes and kinds in a panel of their own."""
    for name, color in colors.items():
        panel.scatter([], [], s=30.0, color=color, label=name)
    panel.scatter([], [], s=30.0, color=LIGHT.ink, marker="+", label="row")
    panel.scatter([], [], s=30.0, facecolors="none", edgecolors=LIGHT.ink, label="column")
    panel.legend(fontsize=9, frameon=False, loc="center left")


def finished(figure: Figure, tight: bool = True) -> Figure:
    """Lay a figure out, unless it is already, and take it from matplotlib's own list of open ones."""
    import matplotlib.pyplot as plt

    if tight:
        figure.tight_layout()
    plt.close(figure)
    return figure
