"""The sheet that every picture is drawn on: figure and frame, clouds of points, heading and foot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relscape.errors import ParameterError
from relscape.maps import Map
from relscape.maps.captions import axis_captions
from relscape.plot import texts
from relscape.plot.palette import Theme
from relscape.protocols import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BOTTOM",
    "TOP",
    "Cloud",
    "caption_axes",
    "checked_size",
    "dot_area",
    "draw_points",
    "empty_figure",
    "set_frame",
    "write_around",
]

# Inches around the axes; to the right is the legend, as wide as it needs to be.
LEFT, BOTTOM, TOP = 0.62, 0.78, 0.86
NARROWEST, LOWEST = 5.87, 3.64
RASTER_FROM = 2000


def checked_size(size: tuple[float, float]) -> tuple[float, float]:
    """Refuse a size in inches that leaves no room for a picture."""
    width, height = (float(side) for side in size)
    if not (NARROWEST <= width <= 100.0 and LOWEST <= height <= 100.0):
        raise ParameterError(
            f"size={size}: give width and height in inches, "
            f"at least {NARROWEST:g} by {LOWEST:g} and at most 100 by 100."
        )
    return width, height


def empty_figure(width: float, height: float, right: float, theme: Theme) -> tuple[Figure, Axes]:
    """Make a figure whose axes leave ``right`` inches for the legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor=theme.paper)
    FigureCanvasAgg(figure)
    across, up = width - LEFT - right, height - BOTTOM - TOP
    axes = figure.add_axes(
        (LEFT / width, BOTTOM / height, across / width, up / height), facecolor=theme.paper
    )
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set(color=theme.faint, linewidth=1.0)
    axes.tick_params(colors=theme.muted, labelsize=7.5, length=2.5, color=theme.faint)
    axes.locator_params(nbins=6)
    return figure, axes


def set_frame(figure: Figure, axes: Axes, corners: FloatArray) -> FloatArray:
    """Fit the frame into the axes at equal scale, widening its shorter side; gives the corners again."""
    box = axes.get_position()
    width, height = figure.get_size_inches()
    shape = np.array([box.width * width, box.height * height])
    scale = ((corners[1] - corners[0]) / shape).max()
    middle = corners.mean(axis=0)
    fitted = np.array([middle - scale * shape / 2, middle + scale * shape / 2])
    axes.set_xlim(fitted[0, 0], fitted[1, 0])
    axes.set_ylim(fitted[0, 1], fitted[1, 1])
    axes.set_aspect("equal")
    return fitted


def dot_area(count: int) -> float:
    """Say how large the dots of a cloud are: the more, the smaller."""
    return float(np.clip(40.0 * (60.0 / max(count, 1)) ** 0.42, 3.2, 40.0))


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points that belong together: where they are, their colours, and which of them are in the frame."""

    points: FloatArray
    colors: FloatArray
    inside: BoolArray
    opacity: float = 1.0


def draw_points(axes: Axes, marker: str, *clouds: Cloud) -> None:
    """Draw the clouds that share a marker as one, its points mixed so that no class covers another."""
    n = sum(len(cloud.points) for cloud in clouds)
    mixed = np.random.default_rng(0).permutation(n)
    order = mixed[np.concatenate([cloud.inside for cloud in clouds])[mixed]]
    if not len(order):
        return
    points = np.concatenate([cloud.points for cloud in clouds])[order]
    opacity = np.concatenate([np.full(len(cloud.points), cloud.opacity) for cloud in clouds])[order]
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=dot_area(n),
        c=np.concatenate([cloud.colors for cloud in clouds])[order],
        marker=marker,
        alpha=float(np.clip((600.0 / max(n, 1)) ** 0.22, 0.32, 0.9)) * opacity,
        linewidths=0,
        rasterized=len(order) > RASTER_FROM,
        zorder=2,
    )


def caption_axes(axes: Axes, map_: Map, theme: Theme) -> None:
    """Say what the axes of a picture are, and mark its origin where they are the map's own."""
    across, up = axis_captions(map_)
    axes.set_xlabel(across, color=theme.muted, fontsize=8.5)
    axes.set_ylabel(up, color=theme.muted, fontsize=8.5)
    if not across:
        axes.set_xticks([])
        axes.set_yticks([])
        return
    axes.axhline(0.0, color=theme.faint, linewidth=1.0, zorder=1)
    axes.axvline(0.0, color=theme.faint, linewidth=1.0, zorder=1)


def write_around(figure: Figure, heading: str, below: str, foot: str, theme: Theme) -> None:
    """Write the title, the line below it, and the small print at the foot, cut where the figure ends."""
    width, height = figure.get_size_inches()
    for text, above, fontsize, color, weight in (
        (texts.plain_text(heading, int(7 * width)), height - 0.26, 13, theme.ink, "bold"),
        (texts.plain_text(below, int(11 * width)), height - 0.56, 9, theme.muted, "normal"),
        (texts.plain_text(foot, int(13 * width)), 0.24, 7.5, theme.muted, "normal"),
    ):
        figure.text(
            LEFT / width,
            above / height,
            text,
            fontsize=fontsize,
            color=color,
            weight=weight,
            va="center",
            parse_math=False,
        )
