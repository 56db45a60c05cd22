"""Pictures of link prediction in document networks: methods under each other, ours beside the published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relscape.plot.palette import KIND_COLORS, LIGHT
from relscape.project.network_measures import TEST, TRAIN
from relscape.project.outcome import Record, methods_in
from relscape.project.pictures import finished

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["all_pictures"]

_COLORS = {TEST: KIND_COLORS[0], TRAIN: KIND_COLORS[1]}


def all_pictures(records: Sequence[Record], figures: Iterable[Mapping[str, Any]]) -> dict[str, Figure]:
    """Draw a panel a set and a line a method: mean ranks with their spread, and the published as crosses."""
    import matplotlib.pyplot as plt

    if not records:
        return {}
    sets, methods = list(dict.fromkeys(record["set"] for record in records)), methods_in(records)[::-1]
    size = (3.4 * len(sets) + 1.8, 0.34 * len(methods) + 1.5)
    figure, axes = plt.subplots(1, len(sets), figsize=size, sharey=True, squeeze=False)
    published = list(figures)
    for panel, name in zip(axes[0], sets, strict=True):
        own = [record for record in records if record["set"] == name]
        lines = [methods.index(record["method"]) for record in own]
        for measure, color in _COLORS.items():
            values = [record[measure] for record in own]
            spreads = [record.get(f"± {measure}", 0.0) for record in own]
            panel.errorbar(values, lines, xerr=spreads, fmt="o", ms=5, color=color, label=measure)
            quoted = _published(published, name, measure)
            places = [(quoted[method], methods.index(method)) for method in methods if method in quoted]
            if places:
                panel.scatter(
                    *zip(*places, strict=True), marker="x", color=color, label=f"{measure}, published"
                )
        panel.set(
            xscale="log", xlabel="mean rank", title=name, yticks=range(len(methods)), yticklabels=methods
        )
        panel.grid(axis="y", color=LIGHT.faint, lw=0.6)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    axes[0][-1].legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return {"ranks": finished(figure)}


def _published(figures: list[Mapping[str, Any]], name: str, measure: str) -> Mapping[str, float]:
    found = [f["values"] for f in figures if f["set"] == name and f["measure"] == measure]
    return found[0] if found else {}
