"""Pictures of maps of cohorts, side by side: samples in their cohorts' colours, prototypes as stars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from relscape.plot.frame import limits
from relscape.plot.palette import CLASS_COLORS, LIGHT
from relscape.project.pictures import SIDES, finished
from relscape.protocols import FloatArray, TextArray
from relscape.scores import cohort_links

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Drawn", "cohort_colors", "cohort_maps", "draw_samples", "panel_grid", "set_frame"]

Drawn = tuple[FloatArray | None, TextArray, FloatArray | None]

_NAMES_A_COLUMN = 20


def cohort_maps(drawn: Mapping[str, Drawn], links: int = 2, across: int = 4) -> Figure:
    """Draw maps, a panel each: samples, and where a map has them prototypes with links between them.

    Panels are ``across`` side by side. Two prototypes are joined where one is among the ``links`` nearest of
    the other: by a grey line if the means of their cohorts are neighbours likewise, by a dashed red one if
    not.
    """
    figure, panels = panel_grid(list(drawn), across)
    colors: dict[str, str] = {}
    for panel, (samples, labels, prototypes) in zip(panels, drawn.values(), strict=True):
        own = cohort_colors(labels)
        colors |= own
        if samples is None:
            panel.text(0.5, 0.5, "refused", ha="center", va="center", transform=panel.transAxes)
            continue
        draw_samples(panel, samples, labels)
        if prototypes is not None:
            _draw_prototypes(panel, samples, labels, prototypes, list(own.values()), links)
        set_frame(panel, samples, prototypes)
    _write_legend(panels[min(across, len(panels)) - 1], colors)
    return finished(figure)


def panel_grid(titles: Sequence[str], across: int = 4, beside: float = 1.8) -> tuple[Figure, list[Any]]:
    """Make a figure of square panels with titles, ``across`` side by side, and room for a legend beside."""
    import matplotlib.pyplot as plt

    across = min(across, len(titles))
    down = -(-len(titles) // across)
    figure, axes = plt.subplots(down, across, figsize=(3.1 * across + beside, 3.3 * down), squeeze=False)
    panels = list(axes.flat)
    for panel in panels[len(titles) :]:
        panel.set_visible(False)
    for panel, title in zip(panels, titles, strict=False):
        panel.set(xticks=[], yticks=[])
        panel.set_title(title, fontsize=10, color=LIGHT.ink)
        for side in panel.spines.values():
            side.set_color(LIGHT.faint)
    return figure, panels[: len(titles)]


def cohort_colors(labels: TextArray) -> dict[str, str]:
    """Give every cohort its colour, by their names in order."""
    return {name: CLASS_COLORS[at % len(CLASS_COLORS)] for at, name in enumerate(sorted(set(labels)))}


def draw_samples(panel: Any, samples: FloatArray, labels: TextArray, alpha: float = 0.8) -> None:
    """Draw samples as dots in the colours of their cohorts."""
    colors = cohort_colors(labels)
    order = np.random.default_rng(0).permutation(len(samples))  # no cohort lies on top of all others
    shown = [colors[name] for name in labels[order]]
    panel.scatter(*samples[order].T, s=4.0, c=shown, linewidths=0, alpha=alpha, rasterized=True)


def _draw_prototypes(
    panel: Any,
    samples: FloatArray,
    labels: TextArray,
    prototypes: FloatArray,
    colors: list[str],
    links: int,
) -> None:
    found = cohort_links(samples, labels, prototypes, links)
    for pairs, color, style in ((found.kept, LIGHT.muted, "-"), (found.lost, "#D62728", "--")):
        for pair in pairs:
            panel.plot(*prototypes[pair].T, style, color=color, lw=0.9, alpha=0.8, zorder=3)
    panel.scatter(*prototypes.T, s=70, c=colors, marker="*", edgecolors=LIGHT.ink, linewidths=0.6, zorder=4)


def set_frame(panel: Any, samples: FloatArray, prototypes: FloatArray | None) -> None:
    """Make the frame a square that holds nearly all samples and all prototypes."""
    low, high = limits(samples, full=False)
    if prototypes is not None:
        layout = limits(prototypes, full=True)
        low, high = np.minimum(low, layout[0]), np.maximum(high, layout[1])
    middle, reach = (low + high) / 2, (high - low).max() / 2
    panel.set(xlim=middle[0] + reach * SIDES, ylim=middle[1] + reach * SIDES, aspect="equal")


def _write_legend(panel: Any, colors: Mapping[str, str]) -> None:
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], marker="o", ls="", ms=5, color=color) for color in colors.values()]
    panel.legend(
        marks,
        list(colors),
        fontsize=8 if len(colors) <= _NAMES_A_COLUMN // 2 else 7,
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        labelspacing=0.3,
    )
