"""A map as one static picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Group, Map
from relscape.plot import frame, legend, texts
from relscape.plot.coloring import Coloring, color_by_field, color_by_kind
from relscape.plot.fields import newly_placed
from relscape.plot.palette import DARK, LIGHT, MARKERS, Theme
from relscape.protocols import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_map"]

# Inches around the axes; to the right is the legend, as wide as it needs to be.
LEFT, BOTTOM, TOP = 0.62, 0.78, 0.86
NARROWEST, LOWEST = 5.87, 3.64
RASTER_FROM = 2000
AVOID_ALL_UP_TO = 400


@dataclass(frozen=True, eq=False)
class _Layer:
    """One kind in the picture."""

    group: Group
    marker: str
    coloring: Coloring
    inside: BoolArray
    labelled: IntArray


def draw_map(
    map_: Map,
    *,
    kinds: str | Sequence[str] | None = None,
    color: str | None = None,
    labels: int | Mapping[str, int] | None = None,
    title: str | None = None,
    size: tuple[float, float] = (10.0, 7.0),
    dark: bool = False,
    full: bool = False,
    longest: int | None = None,
) -> Figure:
    """Draw a map, its kinds told apart by marker and colour, the most important things by name.

    Parameters
    ----------
    map_ : Map
        What to draw, by its stored layout.
    kinds : str or sequence of str, optional
        Only these kinds.
    color : str, optional
        A field to colour by: texts as classes with a legend, numbers by a scale. Kinds that lack the
        field are grey. A field where most things have a value of their own is refused.
    labels : int or mapping of kind to int, optional
        At most how many names to write, in all or for each kind; 40 in all when not said. New things
        put on the map come first, then those of largest "contribution", "prominence", "degree" or
        "mass", or those farthest out when no such field is known, as far as they find room.
    title : str, optional
        Instead of the names of the kinds.
    size : pair of float
        Width and height in inches.
    dark : bool
        Light on dark.
    full : bool
        Show even the farthest points. Otherwise the frame ends where all but about one in a hundred
        points lie, and the caption counts those outside.
    longest : int, optional
        At most how many letters of a name to write; 26 when not said, or 48 for a kind of which few
        names are written.
    """
    texts.check_longest(longest)
    groups = _groups(map_, kinds)
    theme = DARK if dark else LIGHT
    width, height = _checked_size(size)
    drawn = np.vstack([group.drawn for group in groups])
    if len(drawn) == 0:
        raise ParameterError("the kinds to draw have no points.")
    styles = _styles(map_, groups, color, theme)
    key = legend.make_legend(styles, color, height - BOTTOM - TOP, theme)
    figure, axes = _empty_figure(width, height, key.width, theme)
    corners = _set_frame(figure, axes, frame.limits(drawn, full))
    layers = _layers(styles, texts.label_counts(labels, groups), corners)
    for layer in sorted(layers, key=lambda layer: (layer.coloring.opacity, -len(layer.group))):
        _draw_layer(axes, layer, theme)
    _caption_axes(axes, map_, theme)
    shown = _write_labels(axes, layers, longest, theme)
    key.draw(figure, TOP)
    _head_and_foot(figure, map_, layers, title, shown, theme)
    return figure


def _groups(map_: Map, kinds: str | Sequence[str] | None) -> list[Group]:
    names = map_.groups if kinds is None else (kinds,) if isinstance(kinds, str) else dict.fromkeys(kinds)
    groups = [map_.group(name) for name in names]
    if not groups:
        raise ParameterError("kinds is empty: name at least one kind to draw.")
    return groups


def _checked_size(size: tuple[float, float]) -> tuple[float, float]:
    width, height = (float(side) for side in size)
    if not (NARROWEST <= width <= 100.0 and LOWEST <= height <= 100.0):
        raise ParameterError(
            f"size={size}: give width and height in inches, "
            f"at least {NARROWEST:g} by {LOWEST:g} and at most 100 by 100."
        )
    return width, height


def _empty_figure(width: float, height: float, right: float, theme: Theme) -> tuple[Figure, Axes]:
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


def _set_frame(figure: Figure, axes: Axes, corners: FloatArray) -> FloatArray:
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


def _styles(map_: Map, groups: list[Group], color: str | None, theme: Theme) -> list[legend.Style]:
    """Give every kind its marker and its colours."""
    if color is None:
        colorings = color_by_kind(groups, map_.groups)
    else:
        if not any(color in group.fields for group in groups):
            known = sorted({name for group in groups for name in group.fields})
            raise UnknownNameError("field", color, known, "the kinds of the picture")
        colorings = color_by_field(groups, color, theme)
    markers = [MARKERS[map_.groups.index(group.kind) % len(MARKERS)] for group in groups]
    return list(zip(groups, markers, colorings, strict=True))


def _layers(styles: list[legend.Style], counts: dict[str, int], corners: FloatArray) -> list[_Layer]:
    layers = []
    for group, marker, coloring in styles:
        within = frame.inside(group.drawn, corners)
        weight, _ = texts.importance(group)
        labelled = texts.choose_labels(group.drawn, weight, within, counts[group.kind])
        layers.append(_Layer(group, marker, coloring, within, labelled))
    return layers


def _draw_layer(axes: Axes, layer: _Layer, theme: Theme) -> None:
    """Draw one kind: all points, mixed so that no class covers another, the named ones once more on top."""
    n = len(layer.group)
    mixed = np.random.default_rng(0).permutation(n)
    order = mixed[layer.inside[mixed]]
    area = float(np.clip(40.0 * (60.0 / max(n, 1)) ** 0.42, 3.2, 40.0))
    opacity = float(np.clip((600.0 / max(n, 1)) ** 0.22, 0.32, 0.9)) * layer.coloring.opacity
    axes.scatter(
        layer.group.drawn[order, 0],
        layer.group.drawn[order, 1],
        s=area,
        c=layer.coloring.colors[order],
        marker=layer.marker,
        alpha=opacity,
        linewidths=0,
        rasterized=len(order) > RASTER_FROM,
        zorder=2,
    )
    named = layer.labelled
    axes.scatter(
        layer.group.drawn[named, 0],
        layer.group.drawn[named, 1],
        s=max(area, 14.0),
        c=layer.coloring.colors[named],
        marker=layer.marker,
        edgecolors=theme.paper,
        linewidths=0.6,
        zorder=4,
    )


def _caption_axes(axes: Axes, map_: Map, theme: Theme) -> None:
    # Shares belong to the axes of the model; a map aligned to another has axes of the other.
    inertia = () if "aligned" in map_.provenance else map_.provenance.get("axis_inertia", ())
    across, up = frame.axis_captions(map_.drawn_by, map_.n_components, inertia)
    axes.set_xlabel(across, color=theme.muted, fontsize=8.5)
    axes.set_ylabel(up, color=theme.muted, fontsize=8.5)
    if not across:
        axes.set_xticks([])
        axes.set_yticks([])
        return
    axes.axhline(0.0, color=theme.faint, linewidth=1.0, zorder=1)
    axes.axvline(0.0, color=theme.faint, linewidth=1.0, zorder=1)


def _write_labels(axes: Axes, layers: list[_Layer], longest: int | None, theme: Theme) -> int:
    """Write the chosen names, new things first, then the most important of every kind.

    In a small crowd names keep clear of all dots, except where new things must find room. Returns how
    many names did.
    """
    chosen = []
    for layer in layers:
        old = ~newly_placed(layer.group)
        chosen += [((old[at], rank), layer, at) for rank, at in enumerate(layer.labelled.tolist())]
    chosen.sort(key=lambda item: item[0])
    points = np.array([layer.group.drawn[at] for _, layer, at in chosen]).reshape(-1, 2)
    names = [
        texts.plain_text(layer.group.shown[at], longest or texts.name_length(len(layer.labelled)))
        for _, layer, at in chosen
    ]
    colors = [layer.coloring.ink(at, theme) for _, layer, at in chosen]
    crowd = np.vstack([layer.group.drawn[layer.inside] for layer in layers])
    nothing_new = all(old for (old, _), _, _ in chosen)
    avoid = crowd if len(crowd) <= AVOID_ALL_UP_TO and nothing_new else points
    return texts.place_labels(axes, points, names, colors, avoid, theme.paper)


def _label_notes(layers: list[_Layer], shown: int) -> list[str]:
    """Say how many names are written, how many found no room, and how they were chosen."""
    chosen = sum(layer.labelled.size for layer in layers)
    if chosen == 0:
        return []
    written = f"{shown} name{'s' if shown != 1 else ''} written"
    if shown < chosen:
        written += f", no room for {chosen - shown} more"
    reasons = sorted({texts.importance(layer.group)[1] for layer in layers if layer.labelled.size})
    first = any(newly_placed(layer.group)[layer.labelled].any() for layer in layers)
    return [written, f"chosen by {' or '.join(reasons)}{', new things first' if first else ''}"]


def _head_and_foot(
    figure: Figure, map_: Map, layers: list[_Layer], title: str | None, shown: int, theme: Theme
) -> None:
    width, height = figure.get_size_inches()
    left = LEFT / width
    heading = " and ".join(layer.group.kind for layer in layers) if title is None else title
    sizes = [f"{layer.group.kind} {len(layer.group):,}" for layer in layers]
    below = " · ".join([*([map_.model] if map_.model else []), *sizes])
    outside = sum(int((~layer.inside).sum()) for layer in layers)
    notes = [
        frame.layout_caption(map_.drawn_by),
        *_label_notes(layers, shown),
        f"{outside:,} point{'s' if outside != 1 else ''} outside the frame" if outside else "",
    ]
    foot = " · ".join(note for note in notes if note)
    for text, above, fontsize, color, weight in (
        (texts.plain_text(heading, 90), height - 0.26, 13, theme.ink, "bold"),
        (texts.plain_text(below, 120), height - 0.56, 9, theme.muted, "normal"),
        (texts.plain_text(foot, 150), 0.24, 7.5, theme.muted, "normal"),
    ):
        figure.text(
            left,
            above / height,
            text,
            fontsize=fontsize,
            color=color,
            weight=weight,
            va="center",
            parse_math=False,
        )
