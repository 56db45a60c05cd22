"""A map of cohorts: samples in their cohorts' colours, prototypes as stars, neighbouring cohorts joined."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from relscape.data.cohorts import read_cohorts
from relscape.data.labels import as_text, match
from relscape.errors import DataError, ParameterError
from relscape.maps import Group, Map
from relscape.maps.captions import layout_caption
from relscape.maps.fields import newly_placed
from relscape.plot import canvas, frame, legend, texts
from relscape.plot.coloring import Coloring, color_by_field
from relscape.plot.palette import DARK, LIGHT, Theme
from relscape.protocols import BoolArray, FloatArray, IntArray
from relscape.scores.cohorts import CohortLinks, cohort_links

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_cohorts", "shows_cohorts"]

COHORT = "cohort"
STAR_AREA, STAR_OPACITY = 200.0, 0.5
KEPT_WIDTH, LOST_WIDTH = 1.3, 1.6
LOST = "#D62728"
AVOID_ALL_UP_TO = 400
MOST_NEW = 40
PALE = 0.55  # share of paper in the colour of a sample whose cohort was predicted


def shows_cohorts(map_: Map) -> bool:
    """Tell whether a map has prototypes, and samples that say to which of them they belong."""
    return COHORT in map_.groups and any(
        COHORT in map_.group(kind).fields for kind in map_.groups if kind != COHORT
    )


def draw_cohorts(
    points: Any,
    y: Any = None,
    prototypes: Any = None,
    *,
    k: int = 2,
    labels: int | None = None,
    title: str | None = None,
    size: tuple[float, float] = (10.0, 7.0),
    dark: bool = False,
    full: bool = False,
    longest: int | None = None,
) -> Figure:
    """Draw samples by cohort, every cohort's prototype by name, and links between neighbouring cohorts.

    Two cohorts should be neighbours when one's prototype is among the ``k`` nearest of the other's. A solid
    line joins those whose samples are neighbours on the map as well, on average; a dashed red one those
    whose samples are not. Samples whose cohort was predicted, not given, are paler.

    Parameters
    ----------
    points : Map, or array of shape (n, k)
        A map of cohorts as COVA makes them, or the places of the samples.
    y : sequence of length n, optional
        With an array, the cohort of every sample; None or NaN where there is none.
    prototypes : array of shape (c, k), optional
        With an array, the places of the cohorts, in the sorted order of their labels.
    k : int
        How many nearest cohorts are looked at; 0 draws no links.
    labels : int, optional
        At most how many names of samples to write, new things first; only those unless said.
    title, size, dark, full, longest
        As in :func:`draw_map`; prototypes are always inside the frame.
    """
    from matplotlib.colors import to_hex, to_rgb

    map_ = _checked_map(points, y, prototypes)
    texts.check_longest(longest)
    width, height = canvas.checked_size(size)
    theme = DARK if dark else LIGHT
    samples, cohorts = _sides(map_)
    codes = match([str(name) for name in samples.fields[COHORT]], cohorts.ids)
    coloring = color_by_field([samples], COHORT, theme)[0]
    stars = _star_colors(coloring, codes, len(cohorts), theme)
    key = legend.make_legend(
        [(samples, "o", coloring), (cohorts, "*", Coloring(stars, theme.ink))],
        COHORT,
        height - canvas.BOTTOM - canvas.TOP,
        theme,
    )
    pale = _predicted(samples)
    if pale.any():
        told = f"paler: predicted ({pale.sum():,})"
        key = legend.with_remark(key, "o", to_hex(_faded(np.array(to_rgb(theme.ink)), theme).tolist()), told)
    figure, axes = canvas.empty_figure(width, height, key.width, theme)
    corners = canvas.set_frame(figure, axes, _corners(samples.drawn, cohorts.drawn, full))
    inside = frame.inside(samples.drawn, corners)
    colors = np.where(pale[:, None], _faded(coloring.colors, theme), coloring.colors)
    canvas.draw_points(axes, "o", canvas.Cloud(samples.drawn, colors, inside))
    links = _links(samples, codes, cohorts, k)
    if links is not None:
        _draw_links(axes, links, cohorts.drawn, theme)
    _draw_stars(axes, cohorts.drawn, stars, theme)
    canvas.caption_axes(axes, map_, theme)
    _write_names(axes, samples, coloring, inside, labels, cohorts, stars, longest, theme)
    key.draw(figure, canvas.TOP)
    _head_and_foot(figure, map_, samples, links, int((~inside).sum()), title, theme)
    return figure


def _checked_map(points: Any, y: Any, prototypes: Any) -> Map:
    """Take a map of cohorts, or make one of places, cohorts and prototypes."""
    if isinstance(points, Map):
        if y is not None or prototypes is not None:
            raise ParameterError("a map brings its own cohorts and prototypes: leave y and prototypes out.")
        if not shows_cohorts(points):
            raise ParameterError(
                f"this map, of {' and '.join(map(repr, points.groups))}, has no cohorts: it needs a kind "
                f"{COHORT!r} with the prototypes and a field {COHORT!r} of the samples, as COVA's maps have."
            )
        return points
    if y is None or prototypes is None:
        raise ParameterError("with places give y, the cohorts, and their prototypes; or give a map.")
    places, targets = np.asarray(points, dtype=np.float64), np.asarray(prototypes, dtype=np.float64)
    cohorts = read_cohorts(y, len(places))
    if len(targets) != len(cohorts.names):
        raise DataError(
            f"there are {len(targets)} prototypes for the {len(cohorts.names)} cohorts of y; give one for "
            "each, in the sorted order of their labels."
        )
    known = np.isfinite(places).all(axis=1)
    names = np.array([*cohorts.names, None], dtype=object)[cohorts.codes]
    ids = as_text(range(len(places)))
    return Map(
        [
            Group("sample", ids[known], places[known], fields={COHORT: names[known]}),
            Group(COHORT, cohorts.names, targets),
        ]
    )


def _sides(map_: Map) -> tuple[Group, Group]:
    """Find the samples and the cohorts; a cohort's field of its own name gives way to its id."""
    kind = next(kind for kind in map_.groups if kind != COHORT and COHORT in map_.group(kind).fields)
    return map_.group(kind), replace(map_.group(COHORT), fields={})


def _corners(points: FloatArray, stars: FloatArray, full: bool) -> FloatArray:
    """Frame the samples, and widen the frame to hold every prototype."""
    if len(points) == 0:
        return frame.limits(stars, True)
    cloud, layout = frame.limits(points, full), frame.limits(stars, True)
    return np.array([np.minimum(cloud[0], layout[0]), np.maximum(cloud[1], layout[1])])


def _predicted(samples: Group) -> BoolArray:
    """Say whose cohort was predicted; where all were, nothing sets any apart."""
    marks = samples.fields.get("predicted")
    if marks is None:
        return np.zeros(len(samples), dtype=bool)
    found = np.array([isinstance(mark, bool | np.bool_) and bool(mark) for mark in marks], dtype=bool)
    return found & ~found.all()


def _faded(colors: FloatArray, theme: Theme) -> FloatArray:
    """Mix colours with that of the paper."""
    from matplotlib.colors import to_rgb

    return np.asarray((1 - PALE) * colors + PALE * np.array(to_rgb(theme.paper)))


def _star_colors(coloring: Coloring, codes: IntArray, c: int, theme: Theme) -> FloatArray:
    """Give every prototype the colour of its samples; one without samples is grey."""
    from matplotlib.colors import to_rgb

    stars = np.tile(np.array(to_rgb(theme.other)), (c, 1))
    present, first = np.unique(codes, return_index=True)
    stars[present[present >= 0]] = coloring.colors[first[present >= 0]]
    return stars


def _links(samples: Group, codes: IntArray, cohorts: Group, k: int) -> CohortLinks | None:
    """Compare neighbouring cohorts where there are enough of them to speak of neighbours."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
        raise ParameterError(f"k={k!r}: give a number of neighbouring cohorts, or 0 to draw no links.")
    if k == 0 or np.unique(codes[codes >= 0]).size < 3:
        return None
    return cohort_links(samples.coordinates, codes, cohorts.coordinates, k)


def _draw_links(axes: Axes, links: CohortLinks, places: FloatArray, theme: Theme) -> None:
    """Join neighbouring cohorts, below the samples: those of E1 often lie along these lines."""
    from matplotlib.collections import LineCollection

    kept = {"colors": theme.muted, "linestyles": "solid", "linewidths": KEPT_WIDTH}
    lost = {"colors": LOST, "linestyles": "dashed", "linewidths": LOST_WIDTH}
    for pairs, look in ((links.kept, kept), (links.lost, lost)):
        lines: Any = LineCollection([places[pair] for pair in pairs], alpha=0.7, zorder=1.5)
        lines.set(**look)
        axes.add_collection(lines, autolim=False)


def _draw_stars(axes: Axes, places: FloatArray, colors: FloatArray, theme: Theme) -> None:
    """Mark the prototypes, pale inside, so that samples that lie on them are seen."""
    axes.scatter(
        places[:, 0],
        places[:, 1],
        s=STAR_AREA,
        c=np.column_stack([colors, np.full(len(colors), STAR_OPACITY)]),
        marker="*",
        edgecolors=theme.ink,
        linewidths=0.9,
        zorder=5,
    )


def _write_names(
    axes: Axes,
    samples: Group,
    coloring: Coloring,
    inside: BoolArray,
    labels: int | None,
    cohorts: Group,
    stars: FloatArray,
    longest: int | None,
    theme: Theme,
) -> None:
    """Write the cohorts' names first, then those of samples."""
    count = min(int(newly_placed(samples).sum()), MOST_NEW) if labels is None else labels
    counts = texts.label_counts({samples.kind: count}, [samples])
    weight, _ = texts.importance(samples)
    chosen = texts.choose_labels(samples.drawn, weight, inside, counts[samples.kind])
    letters = longest or texts.name_length(len(cohorts) + len(chosen))
    shown = [*cohorts.shown, *samples.shown[chosen]]
    ink = Coloring(stars, theme.ink)
    colors = [ink.ink(at, theme) for at in range(len(cohorts))]
    colors += [coloring.ink(at, theme) for at in chosen.tolist()]
    points = np.vstack([cohorts.drawn, samples.drawn[chosen]])
    crowd = np.vstack([points, samples.drawn[inside]])
    avoid = crowd if len(crowd) <= AVOID_ALL_UP_TO else points
    names = [texts.plain_text(name, letters) for name in shown]
    texts.place_labels(axes, points, names, colors, avoid, theme.paper)


def _head_and_foot(
    figure: Figure,
    map_: Map,
    samples: Group,
    links: CohortLinks | None,
    outside: int,
    title: str | None,
    theme: Theme,
) -> None:
    cohorts = map_.group(COHORT)
    told = [*([map_.model] if map_.model else []), f"{samples.kind} {len(samples):,}"]
    below = " · ".join([*told, f"cohort {len(cohorts):,}", "stars are prototypes"])
    notes = [layout_caption(map_.drawn_by)]
    if links is not None:
        wanted = len(links.kept) + len(links.lost)
        lost = ", lost ones dashed red" if len(links.lost) else ""
        notes.append(f"lines join neighbouring cohorts: {len(links.kept)} of {wanted} kept{lost}")
    notes.append(frame.outside_caption(outside))
    heading = f"{samples.kind} by cohort" if title is None else title
    canvas.write_around(figure, heading, below, " · ".join(note for note in notes if note), theme)
