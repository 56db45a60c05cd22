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

__all__ = ["all_pictures", "curve_pictures"]

_COLORS = {TEST: KIND_COLORS[0], TRAIN: KIND_COLORS[1]}
_TITLES = {"n_components": "axes", "margin": "γ* = margin · n", "content_weight": "λ"}


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
        panel.xaxis.set_minor_formatter("")
        panel.set_xticks([at for at in (10, 30, 100, 300, 1000) if _within(at, panel.get_xlim())])
        panel.xaxis.set_major_formatter("{x:g}")
        panel.grid(axis="y", color=LIGHT.faint, lw=0.6)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    axes[0][-1].legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return {"ranks": finished(figure)}


def curve_pictures(records: Sequence[Record]) -> dict[str, Figure]:
    """Draw a row of panels a set, a panel a setting that was varied: test and train ranks by its values.

    The values that were tried stand at even distances.
    """
    import matplotlib.pyplot as plt

    if not records:
        return {}
    sets, settings = (list(dict.fromkeys(record[key] for record in records)) for key in ("set", "varied"))
    size = (3.2 * len(settings) + 1.2, 2.6 * len(sets) + 0.4)
    figure, axes = plt.subplots(len(sets), len(settings), figsize=size, squeeze=False)
    for line, name in zip(axes, sets, strict=True):
        for panel, varied in zip(line, settings, strict=True):
            own = [record for record in records if (record["set"], record["varied"]) == (name, varied)]
            own.sort(key=lambda record: record["value"])
            for measure, color in _COLORS.items():
                panel.plot([record[measure] for record in own], marker="o", ms=4, color=color, label=measure)
            panel.set_xticks(range(len(own)), [f"{record['value']:g}" for record in own])
            panel.set(title=name, xlabel=_TITLES.get(varied, varied), ylim=(0, None))
            for side in ("top", "right"):
                panel.spines[side].set_visible(False)
        line[0].set_ylabel("mean rank")
    axes[0][-1].legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return {"curves": finished(figure)}


def _within(value: float, ends: tuple[float, float]) -> bool:
    return ends[0] <= value <= ends[1]


def _published(figures: list[Mapping[str, Any]], name: str, measure: str) -> Mapping[str, float]:
    found = [f["values"] for f in figures if f["set"] == name and f["measure"] == measure]
    return found[0] if found else {}
