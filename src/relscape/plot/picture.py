"""A map as one static picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Group, Map
from relscape.maps.captions import layout_caption
from relscape.maps.fields import newly_placed
from relscape.plot import canvas, frame, legend, lines, texts
from relscape.plot.coloring import Coloring, color_by_field, color_by_kind
from relscape.plot.palette import DARK, LIGHT, MARKERS, Theme
from relscape.protocols import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_map"]

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
    links: bool | str = False,
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
        put on the map come first, then those of largest "contribution", "prominence", "degree",
        "mass" or "links in", or those farthest out when no such field is known, as far as they find room.
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
    links : bool or str
        Whether to draw the relations that travel with the map as thin lines, as far as their kinds are in the
        picture; or the name of one. Of more than 20,000 a random sample is drawn.
    """
    texts.check_longest(longest)
    groups = _groups(map_, kinds)
    relations = lines.chosen_relations(map_, groups, links)
    theme = DARK if dark else LIGHT
    width, height = canvas.checked_size(size)
    drawn = np.vstack([group.drawn for group in groups])
    if len(drawn) == 0:
        raise ParameterError("the kinds to draw have no points.")
    styles = _styles(map_, groups, color, theme)
    key = legend.make_legend(styles, color, height - canvas.BOTTOM - canvas.TOP, theme)
    figure, axes = canvas.empty_figure(width, height, key.width, theme)
    corners = canvas.set_frame(figure, axes, frame.limits(drawn, full))
    layers = _layers(styles, texts.label_counts(labels, groups), corners)
    joined = lines.lines_caption(lines.draw_lines(axes, relations, groups, theme), relations)
    _draw_layers(axes, layers, theme)
    canvas.caption_axes(axes, map_, theme)
    shown = _write_labels(axes, layers, longest, theme)
    key.draw(figure, canvas.TOP)
    _head_and_foot(figure, map_, layers, title, [*_label_notes(layers, shown), joined], theme)
    return figure


def _groups(map_: Map, kinds: str | Sequence[str] | None) -> list[Group]:
    names = map_.groups if kinds is None else (kinds,) if isinstance(kinds, str) else dict.fromkeys(kinds)
    groups = [map_.group(name) for name in names]
    if not groups:
        raise ParameterError("kinds is empty: name at least one kind to draw.")
    return groups


def _styles(map_: Map, groups: list[Group], color: str | None, theme: Theme) -> list[legend.Style]:
    """Give every kind its marker and its colours."""
    if color is None:
        colorings = color_by_kind(groups, map_.groups)
    else:
        if not any(color in group.fields for group in groups):
            known = sorted({name for group in groups for name in group.fields})
            raise UnknownNameError("field", color, known, "the kinds of the picture")
        colorings = color_by_field(groups, color, theme)
    place = {kind: at for at, kind in enumerate(map_.groups)}
    markers = [MARKERS[place[group.kind] % len(MARKERS)] for group in groups]
    return list(zip(groups, markers, colorings, strict=True))


def _layers(styles: list[legend.Style], counts: dict[str, int], corners: FloatArray) -> list[_Layer]:
    layers = []
    for group, marker, coloring in styles:
        within = frame.inside(group.drawn, corners)
        weight, _ = texts.importance(group)
        labelled = texts.choose_labels(group.drawn, weight, within, counts[group.kind])
        layers.append(_Layer(group, marker, coloring, within, labelled))
    return layers


def _draw_layers(axes: Axes, layers: list[_Layer], theme: Theme) -> None:
    """Draw all kinds, those of one marker in one go: all points, the named ones once more on top."""
    alike: dict[str, list[_Layer]] = {}
    for layer in sorted(layers, key=lambda layer: (layer.coloring.opacity, -len(layer.group))):
        alike.setdefault(layer.marker, []).append(layer)
    for marker, some in alike.items():
        clouds = [canvas.Cloud(x.group.drawn, x.coloring.colors, x.inside, x.coloring.opacity) for x in some]
        canvas.draw_points(axes, marker, *clouds)
        named = [layer for layer in some if layer.labelled.size]
        if not named:
            continue
        points = np.concatenate([layer.group.drawn[layer.labelled] for layer in named])
        areas = [max(canvas.dot_area(len(layer.group)), 14.0) for layer in named]
        axes.scatter(
            points[:, 0],
            points[:, 1],
            s=np.repeat(areas, [layer.labelled.size for layer in named]),
            c=np.concatenate([layer.coloring.colors[layer.labelled] for layer in named]),
            marker=marker,
            edgecolors=theme.paper,
            linewidths=0.6,
            zorder=4,
        )


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
    elif chosen == sum(int(layer.inside.sum()) for layer in layers):
        return ["every name written"]
    reasons = sorted({texts.importance(layer.group)[1] for layer in layers if layer.labelled.size})
    first = any(newly_placed(layer.group)[layer.labelled].any() for layer in layers)
    return [written, f"chosen by {' or '.join(reasons)}{', new things first' if first else ''}"]


def _head_and_foot(
    figure: Figure, map_: Map, layers: list[_Layer], title: str | None, told: list[str], theme: Theme
) -> None:
    heading = _kinds_named([layer.group.kind for layer in layers]) if title is None else title
    sizes = [f"{layer.group.kind} {len(layer.group):,}" for layer in layers]
    below = " · ".join([*([map_.model] if map_.model else []), *sizes])
    outside = sum(int((~layer.inside).sum()) for layer in layers)
    notes = [
        layout_caption(map_.drawn_by),
        *told,
        frame.outside_caption(outside),
    ]
    canvas.write_around(figure, heading, below, " · ".join(note for note in notes if note), theme)


def _kinds_named(kinds: list[str], most: int = 5) -> str:
    if len(kinds) > most:
        return f"{', '.join(kinds[: most - 2])} and {len(kinds) - most + 2:,} more kinds"
    return " and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
