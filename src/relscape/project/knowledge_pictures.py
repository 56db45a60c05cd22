"""Pictures of link prediction: models under each other, ours beside the published figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relscape.plot.palette import KIND_COLORS, LIGHT
from relscape.project.knowledge_measures import HITS, MEAN_RANK, PARTS, of_validation, part_hits
from relscape.project.outcome import Record, methods_in
from relscape.project.pictures import finished

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["all_pictures", "setting_curves"]

_PUBLISHED = "published"
_COLORS = {"now": KIND_COLORS[0], "then": KIND_COLORS[1], _PUBLISHED: LIGHT.muted}
_MARKS = {"now": "o", "then": "s", _PUBLISHED: "x"}
_LINES = {
    "test triples": {"marker": "o", "color": KIND_COLORS[0]},
    "validation triples": {"marker": "s", "color": KIND_COLORS[1], "ls": "--"},
}
_TITLES = {"n_components": "k (n_components)", "lambda2": "λ₂ (lambda2)", "margin": "γ (margin)"}


def all_pictures(records: Sequence[Record], figures: Iterable[Mapping[str, Any]]) -> dict[str, Figure]:
    """Draw what all models reach, and what they reach by what training knows reversed."""
    found = [record for record in records if not record["refusal"]]
    if not found:
        return {}
    published = {figure["measure"]: figure["values"] for figure in reversed(list(figures))}
    drawn = {"models": _dots(found, (HITS, MEAN_RANK), published)}
    parts = tuple(part_hits(part) for part in PARTS if any(part_hits(part) in r for r in found))
    if len(parts) > 1:
        drawn["parts"] = _dots(found, parts, published)
    return drawn


def setting_curves(records: Sequence[Record], measures: tuple[str, ...]) -> dict[str, Figure]:
    """Draw measures against settings varied one at a time: a column a setting, all on the same scale.

    Test triples have a line each, validation triples one beside it where they were ranked.
    """
    import matplotlib.pyplot as plt

    found = [record for record in records if not record["refusal"]]
    names = list(dict.fromkeys(record["varied"] for record in found))
    if not names:
        return {}
    size = (3.2 * len(names) + 1.4, 2.3 * len(measures))
    figure, axes = plt.subplots(len(measures), len(names), figsize=size, sharey="row", squeeze=False)
    for line, measure in zip(axes, measures, strict=True):
        for panel, name in zip(line, names, strict=True):
            own = sorted((r for r in found if r["varied"] == name), key=lambda record: record["value"])
            for told, (kind, style) in zip((measure, of_validation(measure)), _LINES.items(), strict=True):
                if all(told in record for record in own):
                    panel.plot([record[told] for record in own], ms=4, label=kind, **style)
            panel.set_xticks(range(len(own)), [f"{record['value']:g}" for record in own])
            panel.set_xlabel(_TITLES.get(name, name))
            for side in ("top", "right"):
                panel.spines[side].set_visible(False)
        line[0].set_ylabel(measure)
    axes[0][-1].legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return {"settings": finished(figure)}


def _dots(
    records: Sequence[Record], measures: tuple[str, ...], published: Mapping[str, Mapping[str, float]]
) -> Figure:
    """Draw a panel a measure and a line a model, with a mark for every kind of settings."""
    import matplotlib.pyplot as plt

    models = methods_in(records)[::-1]
    width, height = 4.0 * len(measures) + 1.2, 0.32 * len(models) + 1.4
    figure, axes = plt.subplots(1, len(measures), figsize=(width, height), sharey=True, squeeze=False)
    for panel, measure in zip(axes[0], measures, strict=True):
        for era, color in _COLORS.items():
            places = _places(records, models, measure, era, published)
            if places:
                values, lines = zip(*places, strict=True)
                panel.scatter(values, lines, s=28, color=color, marker=_MARKS[era], label=era, zorder=3)
        panel.set(xlabel=measure, yticks=range(len(models)), yticklabels=models)
        panel.set_xscale("log" if MEAN_RANK in measure else "linear")
        panel.grid(axis="y", color=LIGHT.faint, lw=0.6)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    axes[0][-1].legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return finished(figure)


def _places(
    records: Sequence[Record],
    models: list[str],
    measure: str,
    era: str,
    published: Mapping[str, Mapping[str, float]],
) -> list[tuple[float, int]]:
    """List the values of one kind of settings, each with the line of its model."""
    if era == _PUBLISHED:
        values = published.get(measure, {})
    else:
        values = {r["method"]: r[measure] for r in records if r["settings"] == era and measure in r}
    return [(values[model], models.index(model)) for model in models if model in values]
