"""What the pictures share: panels without ticks, two kinds told apart by colour and marker, small files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from relscape.plot import save_picture
from relscape.plot.palette import CLASS_COLORS, KIND_COLORS, LIGHT
from relscape.plot.texts import place_labels

PANEL = 3.1  # inches


def panels(
    count: int, height: float = PANEL, widths: tuple[float, ...] | None = None
) -> tuple[Figure, list[Axes]]:
    """Make a row of panels, as wide as high unless said."""
    widths = widths or (1.0,) * count
    figure, axes = plt.subplots(
        1, count, figsize=(PANEL * sum(widths), height), squeeze=False, width_ratios=widths
    )
    return figure, list(axes[0])


def plain(panel: Axes, title: str, equal: bool = True) -> None:
    """Take the ticks off a map, whose axes have no unit, and give it a title."""
    panel.set_title(title, fontsize=9.5, color=LIGHT.ink)
    panel.set_xticks([])
    panel.set_yticks([])
    for side in panel.spines.values():
        side.set_color(LIGHT.faint)
    if equal:
        panel.set_aspect("equal", adjustable="datalim")


def measured(panel: Axes, title: str, x: str, y: str) -> None:
    """Give a diagram its title and the names of its axes."""
    panel.set_title(title, fontsize=9.5, color=LIGHT.ink)
    panel.set_xlabel(x, fontsize=8.5)
    panel.set_ylabel(y, fontsize=8.5)
    panel.tick_params(labelsize=7.5)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def two_kinds(panel: Axes, rows: Any, columns: Any, title: str, size: float = 7.0) -> None:
    """Draw row things as dots and column things as triangles."""
    for points, color, marker in ((rows, KIND_COLORS[0], "o"), (columns, KIND_COLORS[1], "^")):
        panel.scatter(
            *np.asarray(points)[:, :2].T, s=size, color=color, marker=marker, linewidths=0, alpha=0.85
        )
    plain(panel, title)


def by_class(panel: Axes, points: Any, labels: Any, title: str, names: bool = True) -> None:
    """Draw points in the colours of their classes, each class named at its middle."""
    labels = np.asarray(labels)
    for number, label in enumerate(np.unique(labels)):
        own = np.asarray(points)[labels == label]
        color = CLASS_COLORS[number % len(CLASS_COLORS)]
        panel.scatter(*own.T, s=6, color=color, linewidths=0)
        if names:
            named(panel, np.median(own, axis=0), str(label), size=9.0, weight="bold")
    plain(panel, title)


def named(panel: Axes, place: Any, text: str, size: float = 8.0, **look: Any) -> None:
    """Write a name, with a light border that sets it off from what lies below."""
    from matplotlib.patheffects import withStroke

    panel.annotate(
        text,
        (place[0], place[1]),
        textcoords="offset points",
        xytext=look.pop("offset", (0, 0)),
        ha=look.pop("ha", "center"),
        va="center",
        fontsize=size,
        color=look.pop("color", LIGHT.ink),
        path_effects=[withStroke(linewidth=2.2, foreground="white")],
        zorder=6,
        **look,
    )


def labelled(panel: Axes, groups: Mapping[str, tuple[Any, Any]], title: str, legend: str = "best") -> None:
    """Draw some kinds of few things, each thing by name; ``groups`` has names and places by kind."""
    points, names, inks = [], [], []
    for (kind, (ids, places)), color, marker in zip(groups.items(), KIND_COLORS, "o^s", strict=False):
        panel.scatter(*np.asarray(places).T, s=34, color=color, marker=marker, label=kind)
        points += list(np.asarray(places))
        names += [str(name) for name in ids]
        inks += [color] * len(ids)
    panel.margins(0.14)
    plain(panel, title)
    panel.legend(fontsize=8, frameon=False, loc=legend)
    free_names(panel, points, names, inks)


def free_names(panel: Axes, points: Any, names: list[str], colors: list[str], avoid: Any = None) -> None:
    """Write names beside their points, so that none covers another."""
    points = np.asarray(points)
    panel.figure.canvas.draw()  # names are placed on the frame as it will be
    place_labels(panel, points, names, colors, points if avoid is None else np.asarray(avoid), "white")


def outliers_off(panel: Axes, points: Any, share: float = 0.01, wide: bool = False) -> None:
    """End the frame where all but a few points lie; a wide one fills the panel, whatever the scales."""
    low, high = np.quantile(np.asarray(points), [share, 1 - share], axis=0)
    pad = 0.06 * (high - low).max()
    middle, half = (low + high) / 2, (high - low).max() / 2 + pad
    panel.set_aspect("auto" if wide else "equal", adjustable="datalim")
    panel.set_xlim(*((low[0] - pad, high[0] + pad) if wide else (middle[0] - half, middle[0] + half)))
    panel.set_ylim(*((low[1] - pad, high[1] + pad) if wide else (middle[1] - half, middle[1] + half)))


def written(figure: Figure, name: str) -> Path:
    """Save a picture under a method's name, in few colours so that it stays small."""
    figure.tight_layout(w_pad=1.2)
    path = save_picture(figure, Path(f"{name}.png"), dpi=110, colors=128)
    plt.close(figure)
    return path
