"""Pictures of guided projections: guidance satisfied, and measures by axes and by training things."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from relscape.plot.palette import CLASS_COLORS, LIGHT
from relscape.project.outcome import Record, methods_in
from relscape.project.pictures import finished
from relscape.project.projection_measures import NDCG, SPREAD, rand

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["all_pictures", "axes_pictures"]

_PLAIN = "Guess"  # has no map, and is drawn in grey
_BESIDE = 0.02  # how far the marks of methods stand beside each other, so that no spread hides another


def all_pictures(records: Sequence[Record], clusters: Iterable[int]) -> dict[str, Figure]:
    """Draw for every set what is satisfied by threshold, NDCG by axes and by training, and the Rand index."""
    if not records:
        return {}
    return {"curves": _curves(records), "clusters": _clusters(records, list(clusters))}


def axes_pictures(records: Sequence[Record], measures: Sequence[str]) -> dict[str, Figure]:
    """Draw measures by the number of axes, a panel each and a line a method, with their spread."""
    import matplotlib.pyplot as plt

    if not records:
        return {}
    figure, panels = plt.subplots(1, len(measures), figsize=(3.6 * len(measures) + 1.8, 3.0), squeeze=False)
    for panel, measure in zip(panels[0], measures, strict=True):
        for method in methods_in(records):
            color = _colors(records)[method]
            own = [record for record in records if record["method"] == method]
            spreads = [record.get(SPREAD + measure, 0.0) for record in own]
            _line(panel, [r["axes"] for r in own], [r[measure] for r in own], color, method, spreads)
        panel.set(xlabel="axes", ylabel=measure, xticks=sorted({record["axes"] for record in records}))
    return {"axes": _with_legend(figure, panels)}


def _curves(records: Sequence[Record]) -> Figure:
    import matplotlib.pyplot as plt

    sets, colors = list(dict.fromkeys(record["set"] for record in records)), _colors(records)
    figure, panels = plt.subplots(len(sets), 4, figsize=(14.6, 2.9 * len(sets) + 0.2), squeeze=False)
    for line, name in zip(panels, sets, strict=True):
        own = [record for record in records if record["set"] == name]
        most = max(record["training"] for record in own)
        for record in own:
            if record["training"] == most and "curves" in record["chosen"]:
                for panel, part in zip(line, ("train", "test"), strict=False):
                    curve = record["chosen"]["curves"][part]
                    color = colors[record["method"]]
                    panel.plot(
                        curve["thresholds"], curve["similar"], color=color, label=record["method"], lw=1.3
                    )
                    panel.set(xlabel="τ · mean distance", title=f"{name}: similar pairs nearer, {part}")
        _by_axes(line[2], [record for record in own if record["training"] == most], colors)
        _by_training(line[3], own, colors, NDCG)
        line[2].set(title=f"{name}: NDCG by axes", xlabel="most axes allowed")
        line[3].set(title=f"{name}: NDCG by training", xlabel=f"training {_things(own)}")
        ends = [panel.get_ylim() for panel in line[2:]]
        for panel in line[2:]:
            panel.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    return _with_legend(figure, panels)


def _clusters(records: Sequence[Record], clusters: list[int]) -> Figure:
    import matplotlib.pyplot as plt

    mapped = [record for record in records if record["method"] != _PLAIN]
    sets, colors = list(dict.fromkeys(record["set"] for record in mapped)), _colors(records)
    size = (3.4 * len(clusters) + 1.8, 2.7 * len(sets) + 0.2)
    figure, panels = plt.subplots(len(sets), len(clusters), figsize=size, squeeze=False)
    for line, name in zip(panels, sets, strict=True):
        own = [record for record in mapped if record["set"] == name]
        for panel, n in zip(line, clusters, strict=True):
            _by_training(panel, own, colors, rand(n)[0])
            panel.set(title=f"{name}: Rand index, {n} clusters", xlabel=f"training {_things(own)}")
    return _with_legend(figure, panels)


def _by_axes(panel: Any, records: Sequence[Record], colors: dict[str, str]) -> None:
    for record in records:
        curve = sorted((int(name[2:]), value) for name, value in record.items() if name.startswith("≤ "))
        if curve:
            axes, values = [most for most, _ in curve], [value for _, value in curve]
            _line(panel, axes, values, colors[record["method"]], record["method"])
            panel.set_xscale("log")
            panel.set_xticks(axes, [str(most) for most in axes])
            panel.minorticks_off()
        else:
            panel.axhline(record[NDCG], color=colors[record["method"]], ls="--", label=record["method"])


def _by_training(panel: Any, records: Sequence[Record], colors: dict[str, str], measure: str) -> None:
    sizes = sorted({record["training"] for record in records})
    for number, method in enumerate(methods_in(records)):
        own = sorted(
            (r for r in records if r["method"] == method and measure in r), key=lambda r: r["training"]
        )
        spreads = [record.get(SPREAD + measure, 0.0) for record in own]
        at = [r["training"] * (1.0 + _BESIDE * number) for r in own]
        _line(panel, at, [r[measure] for r in own], colors[method], method, spreads)
    panel.set_xscale("log")
    panel.set_xticks(sizes, [str(size) for size in sizes])
    panel.minorticks_off()


def _line(
    panel: Any,
    at: Sequence[float],
    values: Sequence[float],
    color: str,
    label: str,
    spreads: Sequence[float] | None = None,
) -> None:
    style = "--" if label == _PLAIN else "-"
    panel.errorbar(
        at,
        values,
        yerr=spreads,
        fmt=f"o{style}",
        ms=3,
        lw=1.3,
        elinewidth=0.6,
        alpha=0.9,
        color=color,
        label=label,
    )


def _colors(records: Sequence[Record]) -> dict[str, str]:
    mapped = [method for method in methods_in(records) if method != _PLAIN]
    return {_PLAIN: LIGHT.muted, **dict(zip(mapped, CLASS_COLORS, strict=False))}


def _things(records: Sequence[Record]) -> str:
    return str(records[0]["chosen"].get("kind", "thing")) + "s"


def _with_legend(figure: Figure, panels: Any) -> Figure:
    """Name all lines once, right of the first row, and lay the figure out."""
    named: dict[str, Any] = {}
    for panel in panels.flat:
        for line, label in zip(*panel.get_legend_handles_labels(), strict=True):
            named.setdefault(label, line)
        panel.title.set_fontsize(9)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    panels[0][-1].legend(
        named.values(), named.keys(), fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0)
    )
    return finished(figure)
