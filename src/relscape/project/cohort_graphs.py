"""Which cohorts are neighbours: how many links prototypes and maps keep, and pictures of these graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from relscape.matrix.cohorts import CohortRelation
from relscape.models.prototypes import prototype_links_kept
from relscape.plot.palette import LIGHT
from relscape.project.cohort_pictures import cohort_colors, panel_grid
from relscape.project.fitting import Placement
from relscape.project.outcome import Record
from relscape.project.pictures import finished
from relscape.protocols import FloatArray, TextArray
from relscape.scores import cohort_links, cohort_neighbors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KEPT", "SHOWN", "Graph", "cohort_means", "graph_pictures", "graph_scores", "graphs_of"]

KEPT, SHOWN = "links kept by prototypes", "links kept on the map"

# Of links wanted and found, found only, and wanted only: as the publication draws them.
_STYLES = {"kept": ("-", LIGHT.muted), "added": (":", "#0072B2"), "lost": ("--", "#D62728")}


class Graph(NamedTuple):
    """Where cohorts are, and what their neighbours should be: places, or how alike they are."""

    places: FloatArray
    wanted: FloatArray | CohortRelation


def cohort_means(rows: FloatArray, labels: TextArray) -> FloatArray:
    """Give the middle of every cohort's samples, in the order of their names."""
    codes = np.unique(labels, return_inverse=True)[1]
    return np.vstack([rows[codes == at].mean(axis=0) for at in range(codes.max() + 1)])


def graph_scores(labels: TextArray, map_: Placement, relation: CohortRelation) -> Record:
    """Tell in percent how many links of a relation a map's cohorts keep, and how many its prototypes."""
    if map_.rows is None:
        return {}
    shown = cohort_neighbors(map_.rows, labels, relation.matrix, similarity=relation.similarity)
    kept = {} if map_.columns is None else {KEPT: 100 * prototype_links_kept(map_.columns, relation)}
    return {**kept, SHOWN: 100 * shown}


def graphs_of(
    name: str, labels: TextArray, map_: Placement, relation: CohortRelation | None, prototypes: FloatArray
) -> dict[str, Graph]:
    """List what of a map to compare: its cohorts, against the relation or, without one, the prototypes.

    Where there is a relation, and the map has prototypes, they are compared with the relation, and the map's
    cohorts with them as well.
    """
    if map_.rows is None:
        return {}
    means = cohort_means(map_.rows, labels)
    if relation is None:
        return {f"{name} and prototypes": Graph(means, prototypes)}
    graphs = {f"{name} and the data": Graph(means, relation)}
    if map_.columns is None:
        return graphs
    own = {
        f"{name}'s prototypes and the data": Graph(map_.columns, relation),
        f"{name} and its prototypes": Graph(means, map_.columns),
    }
    return {**own, **graphs}


def graph_pictures(drawn: Mapping[str, Graph], labels: TextArray, across: int = 3) -> Figure:
    """Draw cohorts where they are, with the links that are kept, added and lost, and the share kept."""
    from matplotlib.lines import Line2D

    colors = cohort_colors(labels)
    figure, panels = panel_grid(list(drawn), across)
    for panel, (title, graph) in zip(panels, drawn.items(), strict=True):
        share = _draw_graph(panel, graph, list(colors.values()))
        panel.set_title(f"{title}: {share:.1f} %", fontsize=10, color=LIGHT.ink)
    marks = {name: Line2D([], [], ls=style, color=color) for name, (style, color) in _STYLES.items()}
    for number, (name, color) in enumerate(colors.items(), start=1):
        if not name.endswith(str(number)):  # the number in the dot says it already
            marks[f"{number} {name}"] = Line2D([], [], marker="o", ls="", ms=5, color=color)
    panels[min(across, len(panels)) - 1].legend(
        list(marks.values()),
        list(marks),
        fontsize=7,
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        labelspacing=0.3,
    )
    return finished(figure)


def _draw_graph(panel: Any, graph: Graph, colors: list[str]) -> float:
    """Draw one graph of neighbours, and give the share of links kept in percent."""
    places, wanted = graph
    given, similarity = (
        (wanted.matrix, wanted.similarity) if isinstance(wanted, CohortRelation) else (wanted, None)
    )
    found = cohort_links(places, np.arange(len(places)), given, similarity=similarity)
    for name, (style, color) in _STYLES.items():
        for pair in getattr(found, name):
            panel.plot(*places[pair].T, style, color=color, lw=1.1, zorder=2)
    panel.scatter(*places.T, s=95, c=colors, linewidths=0, zorder=3)
    for number, place in enumerate(places, start=1):
        panel.text(*place, str(number), fontsize=6, color="white", ha="center", va="center", zorder=4)
    panel.set_aspect("equal", adjustable="datalim")
    panel.margins(0.08)
    return 100 * found.share
