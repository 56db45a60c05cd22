"""Which pictures the settings of a run of maps ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from relscape.project.cohort_graphs import graph_pictures, graphs_of
from relscape.project.cohort_marks import followed_maps, misplaced_maps
from relscape.project.cohort_pictures import Drawn, cohort_maps
from relscape.project.cohort_samples import CohortSet
from relscape.project.fitting import Placement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MadeMap", "run_pictures"]

Settings = Mapping[str, Any]


class MadeMap(NamedTuple):
    """A map with the name of its method, and the title of its panel."""

    name: str
    title: str
    placement: Placement


def run_pictures(
    name: str, run: Settings, data: CohortSet, made: Sequence[MadeMap], random_state: int
) -> dict[str, Figure]:
    """Draw the maps of a run, and what else its settings ask for.

    Maps are drawn unless ``drawn`` is false. Lists of methods ask for more: ``linked`` for their cohorts with
    the links that they keep, add and lose (of maps without prototypes against the first that there are, where
    the set does not say how alike its cohorts are), ``misplaced`` for marks on samples that lie nearer to
    another cohort's prototype, ``followed`` for a sample of every cohort with its nearest ones.
    """
    figures = {}
    if run.get("drawn", True):
        figures[name] = cohort_maps(_drawn(data, made))
    if linked := _chosen(run, "linked", made):
        prototypes = next(one.placement.columns for one in made if one.placement.columns is not None)
        graphs = [graphs_of(m.name, data.labels, m.placement, data.relation, prototypes) for m in linked]
        merged = {title: graph for own in graphs for title, graph in own.items()}
        figures[f"{name}-links"] = graph_pictures(merged, data.labels)
    if marked := _chosen(run, "misplaced", made):
        figures[f"{name}-misplaced"] = misplaced_maps(_drawn(data, marked))
    if followed := _chosen(run, "followed", made):
        drawn = _drawn(data, followed)
        figures[f"{name}-followed"] = followed_maps(data.X, data.labels, drawn, random_state)
    return figures


def _chosen(run: Settings, key: str, made: Sequence[MadeMap]) -> list[MadeMap]:
    return [one for one in made if one.name in run.get(key, ())]


def _drawn(data: CohortSet, made: Sequence[MadeMap]) -> dict[str, Drawn]:
    return {one.title: (one.placement.rows, data.labels, one.placement.columns) for one in made}
