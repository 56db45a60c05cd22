"""Single samples on maps of cohorts: those that lie with another cohort, and where neighbours come to lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from relscape.plot.palette import LIGHT, MARKERS
from relscape.project.cohort_pictures import (
    Drawn,
    cohort_colors,
    draw_samples,
    panel_grid,
    set_frame,
)
from relscape.project.pictures import finished
from relscape.protocols import BoolArray, FloatArray, IntArray, TextArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["followed_maps", "followed_samples", "misplaced", "misplaced_maps"]

_NEIGHBOURS = 4
_PALE = 0.25


def misplaced(samples: FloatArray, labels: TextArray, prototypes: FloatArray) -> BoolArray:
    """Say which samples lie nearer to another cohort's prototype than to their own."""
    codes = np.unique(labels, return_inverse=True)[1]
    nearest: BoolArray = cdist(samples, prototypes).argmin(axis=1) != codes
    return nearest


def misplaced_maps(drawn: Mapping[str, Drawn]) -> Figure:
    """Draw maps that have prototypes, with a square around every misplaced sample, and their number."""
    figure, panels = panel_grid(list(drawn), beside=0.0)
    for panel, (title, (samples, labels, prototypes)) in zip(panels, drawn.items(), strict=True):
        if samples is None or prototypes is None:
            continue
        wrong = misplaced(samples, labels, prototypes)
        draw_samples(panel, samples, labels, alpha=_PALE)
        panel.scatter(*samples[wrong].T, s=22, marker="s", facecolors="none", edgecolors=LIGHT.ink, lw=0.7)
        own = [cohort_colors(labels)[name] for name in labels[wrong]]
        panel.scatter(*samples[wrong].T, s=4.0, c=own, linewidths=0)
        panel.scatter(*prototypes.T, s=60, marker="*", color=LIGHT.ink, linewidths=0)
        panel.set_title(f"{title}: {wrong.sum()} of {len(wrong)}", fontsize=10, color=LIGHT.ink)
        set_frame(panel, samples, prototypes)
    return finished(figure)


def followed_samples(X: FloatArray, labels: TextArray, rng: np.random.Generator) -> list[IntArray]:
    """Draw a sample of every cohort, and give each with its four nearest others, itself first."""
    drawn = [rng.choice(np.flatnonzero(labels == name)) for name in sorted(set(labels))]
    return [np.argsort(cdist(X[[at]], X)[0], kind="stable")[: _NEIGHBOURS + 1] for at in drawn]


def followed_maps(X: FloatArray, labels: TextArray, drawn: Mapping[str, Drawn], random_state: int) -> Figure:
    """Mark a sample of every cohort and its four nearest ones on every map, and first in data of a plane.

    They have the colour of the sample's cohort and a mark of their own; the sample itself is larger, and lies
    below its neighbours.
    """
    groups = followed_samples(X, labels, np.random.default_rng(random_state))
    data: dict[str, Drawn] = {"data": (X, labels, None)} if X.shape[1] == 2 else {}
    shown = {**data, **drawn}
    figure, panels = panel_grid(list(shown), beside=0.0)
    for panel, (samples, _, prototypes) in zip(panels, shown.values(), strict=True):
        if samples is not None:
            draw_samples(panel, samples, labels, alpha=_PALE)
            _draw_groups(panel, samples, labels, groups)
            set_frame(panel, samples, prototypes)
    return finished(figure)


def _draw_groups(panel: Any, samples: FloatArray, labels: TextArray, groups: list[IntArray]) -> None:
    colors = cohort_colors(labels)
    for number, group in enumerate(groups):
        panel.scatter(
            *samples[group].T,
            s=[90.0] + [18.0] * (len(group) - 1),
            color=colors[labels[group[0]]],
            marker=MARKERS[number % len(MARKERS)],
            edgecolors=LIGHT.ink,
            linewidths=0.6,
            zorder=3,
        )
