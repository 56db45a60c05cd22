"""Pictures of single experiments on CODE: the path of PSD-CODE, and maps with the words of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from relscape.plot.frame import limits
from relscape.plot.palette import CLASS_COLORS, LIGHT
from relscape.plot.texts import place_labels
from relscape.project.fitting import Placement
from relscape.project.pictures import SIDES, finished
from relscape.project.samples import Documents
from relscape.protocols import FloatArray, IntArray, TextArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["path_picture", "representative_words", "word_maps"]

_VISIBLE = 1e-3  # eigenvalues that stay below are not drawn


def path_picture(path: Sequence[Mapping[str, Any]], best: float) -> Figure:
    """Draw the likelihood of the leading two axes, and all eigenvalues, against the weight of the trace.

    ``best`` is the likelihood that the model reaches without detour; the weight of the likeliest point
    is marked in both panels.
    """
    import matplotlib.pyplot as plt

    weights = np.array([at["λ"] for at in path])
    likelihoods = np.array([at["likelihood"] for at in path])
    eigenvalues = list(zip_longest(*(at["eigenvalues"] for at in path), fillvalue=0.0))
    figure, (above, below) = plt.subplots(2, 1, figsize=(7.0, 6.4), sharex=True)
    above.plot(weights, likelihoods, marker="o", ms=4, color=CLASS_COLORS[0], label="PSD-CODE, two axes")
    above.axhline(best, ls="--", lw=1.2, color=LIGHT.muted, label="CODE by gradients, two axes")
    above.set(ylabel="log-likelihood")
    _enlarge(above, weights, likelihoods)
    for number, values in enumerate(eigenvalues[: len(CLASS_COLORS)]):
        if max(values) > _VISIBLE:
            below.plot(
                weights,
                values,
                marker="o",
                ms=4,
                color=CLASS_COLORS[number],
                label=f"eigenvalue {number + 1}",
            )
    below.set(xlabel="λ, the weight of the trace", ylabel="eigenvalue", xscale="log")
    for panel in (above, below):
        panel.axvline(weights[likelihoods.argmax()], color=LIGHT.other, lw=1.0, zorder=0)
        panel.legend(fontsize=9, frameon=False)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    return finished(figure)


def _enlarge(panel: Any, weights: FloatArray, likelihoods: FloatArray) -> None:
    """Show the top of a curve once more: what it loses at the smallest weight is little."""
    peak, end = likelihoods.max(), likelihoods[weights.argmin()]
    near = likelihoods >= end - (peak - end)
    if end == peak:
        return
    inset = panel.inset_axes((0.16, 0.42, 0.42, 0.42))
    inset.plot(weights[near], likelihoods[near], marker="o", ms=3, color=CLASS_COLORS[0])
    inset.axvline(weights[likelihoods.argmax()], color=LIGHT.other, lw=1.0, zorder=0)
    inset.set(xscale="log")
    inset.set_title("the same, enlarged", fontsize=8, color=LIGHT.muted)
    inset.tick_params(labelsize=7)
    inset.ticklabel_format(axis="y", useOffset=False)


def representative_words(text: Documents, placement: Placement, count: int, arc: bool) -> dict[str, IntArray]:
    """Find the words nearest to the middle of every group's documents, and their places in ``text.words``.

    The middle is the median; where documents lie on a circle (``arc``) it is moved out from the middle of
    the words to the median radius of the group, and so to the middle of its arc.
    """
    if placement.rows is None or placement.columns is None:
        return {}
    found: dict[str, IntArray] = {}
    hub = np.median(placement.columns, axis=0)
    for group in sorted(set(text.classes)):
        own = placement.rows[text.classes == group]
        middle = np.median(own, axis=0)
        if arc:
            out = middle - hub
            middle = hub + out / np.linalg.norm(out) * np.median(np.linalg.norm(own - hub, axis=1))
        distances = np.linalg.norm(placement.columns - middle, axis=1)
        found[group] = np.argsort(distances, kind="stable")[:count]
    return found


def word_maps(text: Documents, maps: Mapping[str, tuple[Placement, Mapping[str, IntArray]]]) -> Figure:
    """Draw maps of documents by group, with all words as small dots and some words of each group named."""
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    figure, axes = plt.subplots(1, len(maps), figsize=(6.4 * len(maps), 6.9), squeeze=False)
    groups = sorted(set(text.classes))
    for panel, (title, (placement, words)) in zip(axes.flat, maps.items(), strict=True):
        if placement.rows is None or placement.columns is None:
            continue
        for color, group in zip(CLASS_COLORS, groups, strict=False):
            own = placement.rows[text.classes == group]
            panel.scatter(*own.T, s=6.0, color=color, alpha=0.55, linewidths=0)
        panel.scatter(*placement.columns.T, s=3.0, color=LIGHT.ink, linewidths=0, alpha=0.6)
        _frame(panel, placement.rows, title)
        _name(panel, text.words, placement.columns, words, dict(zip(groups, CLASS_COLORS, strict=False)))
    handles = [
        Line2D([], [], ls="", marker="o", color=color, label=group)
        for color, group in zip(CLASS_COLORS, groups, strict=False)
    ]
    figure.legend(handles=handles, loc="upper center", ncols=len(groups), frameon=False)
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.9, 0.03)
    return finished(figure, tight=False)


def _frame(panel: Any, documents: FloatArray, title: str) -> None:
    low, high = limits(documents, full=False)
    middle, reach = (low + high) / 2, (high - low).max() / 2
    panel.set(xlim=middle[0] + reach * SIDES, ylim=middle[1] + reach * SIDES, xticks=[], yticks=[])
    panel.set_aspect("equal")
    panel.set_title(title, fontsize=11, color=LIGHT.ink, loc="left")
    for side in panel.spines.values():
        side.set_color(LIGHT.other)


def _name(
    panel: Any, names: TextArray, places: FloatArray, words: Mapping[str, IntArray], colors: Mapping[str, str]
) -> None:
    """Mark and name the words of each group in its colour."""
    points = np.vstack([places[at] for at in words.values()])
    inks = [colors[group] for group, at in words.items() for _ in at]
    texts = [str(names[number]) for at in words.values() for number in at]
    panel.scatter(*points.T, s=26.0, c=inks, edgecolors=LIGHT.ink, linewidths=0.8, zorder=4)
    place_labels(panel, points, texts, [LIGHT.ink] * len(texts), points, LIGHT.paper)
