"""One map of all kinds of a study, and what its clusters hold."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from relscape.models.clustering import ClusterSummary, cluster_map
from relscape.plot.picture import draw_map
from relscape.project.projection_data import Parts, Study
from relscape.project.projection_runs import Fit, candidates, fitted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["shown"]

_TOP = 4  # members of every kind that are named of a cluster
_LABELS = 36  # names of a kind written into the picture


def shown(study: Study, name: str, chosen: Mapping[str, Any]) -> tuple[list[str], dict[str, Figure]]:
    """Map all things of a study together with all other kinds, and cluster them.

    Parameters
    ----------
    study : Study
    name : str
        Its name, for the notes.
    chosen : mapping
        The ``method`` (as in :class:`Fit`), its ``title``, the ``axes`` and ``folds`` to choose by
        cross-validation on all things, how many ``clusters``, and the kinds that are ``named``.

    Returns
    -------
    list of str
        A note a cluster: how many of each kind it holds, and which are nearest to its centre.
    dict of str to Figure
        The map, by the two directions of largest variance.
    """
    everyone = np.arange(len(study.ids))
    fit = Fit(name, chosen["method"], chosen["axes"], chosen["folds"], [], 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same few things without further guidance, fit after fit
        tried, given = candidates(study, Parts(everyone, everyone), fit)
        best = max(tried, key=lambda one: one.score)
        made = fitted(fit, given, best, best.n_components).to_map(relations=False)
        clustering = cluster_map(made, chosen["clusters"], 0)
    notes = [
        f"{name}, {chosen['title']}, {_told(cluster, chosen['named'])}"
        for cluster in clustering.summary(_TOP)
    ]
    labels = {kind: _LABELS if kind in chosen["named"] else 0 for kind in made.groups}
    return notes, {"map": draw_map(made, labels=labels)}


def _told(cluster: ClusterSummary, named: list[str]) -> str:
    sizes = ", ".join(f"{size} of kind {kind}" for kind, size in cluster.sizes.items() if size)
    nearest = [
        f"{kind}: {', '.join(member.label for member in members)}"
        for kind, members in cluster.nearest.items()
        if members and kind in named
    ]
    return f"{cluster.name} has {sizes}" + "".join(f"; {text}" for text in nearest)
