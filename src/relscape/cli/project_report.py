"""What a person reads of a guided projection that was made."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from relscape.cli.console import aside, next_step, print_json, print_table, say
from relscape.cli.guidance_report import print_guidance_scores
from relscape.maps import Map
from relscape.maps.captions import dimensions_told

__all__ = ["report", "size_told"]

_MOST_AXES, _MOST_TRIALS = 10, 5


def size_told(chosen: Any) -> str:
    """Say how many things of every kind there are."""
    return ", ".join(f"{len(things):,} × {kind}" for kind, things in chosen.data.entities.items())


def report(
    joint: Map,
    model: Any,
    scores: dict[str, dict[str, Any]],
    tried: list[dict[str, Any]],
    target: Path,
    seconds: float,
    as_json: bool,
) -> None:
    """Say what was made, what each axis is worth, how far the guidance is satisfied, and what to do next."""
    widths = _widths(model)
    if as_json:
        content = {
            "map": str(target),
            "model": joint.model,
            "parameters": joint.parameters,
            "sizes": {kind: len(joint.group(kind)) for kind in joint.groups},
            "features": widths,
            "strengths": model.strengths_.tolist(),
            "guidance_components": model.n_components_of_guidance_,
            "guidance": scores,
            "seconds": round(seconds, 3),
        }
        print_json(content | ({"tried": tried} if tried else {}))
        return
    space = dimensions_told(joint)
    say(f"{joint.model}: {len(joint):,} things of {len(joint.groups)} kinds in {space}: {target}")
    rows = [(kind, f"{len(joint.group(kind)):,}", _by(widths[kind])) for kind in joint.groups]
    print_table(["kind", "things", "placed by"], rows)
    if tried:
        _tell_of_trials(tried)
    _tell_of_axes(model)
    print_guidance_scores(scores)
    told = "the table of trials above tells" if tried else "only pairs kept aside can tell (--tune)"
    aside(f"these pairs guided the map; how it does on others, {told}.")
    say(f"Made in {seconds:.1f} s.")
    _say_next(joint, model, target)


def _widths(model: Any) -> dict[str, int | None]:
    """Give the number of features of every kind; None where things have nothing but their names."""
    columns = {kind: getattr(model, f"kind{number}_columns_") for number, kind in enumerate(model.kinds_)}
    return {kind: None if names is None else len(names) for kind, names in columns.items()}


def _by(width: int | None) -> str:
    if width is None:
        return "guidance alone"
    return "1 feature" if width == 1 else f"{width:,} features"


def _tell_of_axes(model: Any) -> None:
    strengths = [f"{value:.3f}" for value in model.strengths_[:_MOST_AXES]]
    more = f" and {len(model.strengths_) - _MOST_AXES} more" if len(model.strengths_) > _MOST_AXES else ""
    noun = "the axis" if len(strengths) == 1 else "the axes"
    say(f"Strength of {noun}: {', '.join(strengths)}{more}; 1 is best, and a ridge lowers it.")
    parts = model.n_components_of_guidance_
    if parts > 1:
        say(f"The guidance falls into {parts:,} separate parts, each of which can have an axis of its own.")


def _tell_of_trials(tried: list[dict[str, Any]]) -> None:
    best = tried[0]
    say(
        f"Chosen by where {best['kind']} kept aside find their {best['other']} (five folds): ridge "
        f"{best['regularization']:g}, {best['n_components']} axes."
    )
    rows = [(f"{t['regularization']:g}", t["n_components"], f"{t['ndcg']:.3f}") for t in tried[:_MOST_TRIALS]]
    print_table(["ridge", "axes", "NDCG"], rows)
    if len(tried) > len(rows):
        say(f"and {len(tried) - len(rows)} more; --json tells all.")


def _say_next(joint: Map, model: Any, target: Path) -> None:
    kind = min(joint.groups, key=lambda name: len(joint.group(name)))
    group = joint.group(kind)
    query = quote(f"{kind}:{group.ids[int(np.argmax(model.degrees_[kind]))]}")
    placing = next((name for name, width in _widths(model).items() if width is not None), None)
    labels = joint.provenance["source"]["labels"]
    colored = f" --color {quote(next(iter(labels.values())))}" if labels else ""
    step = f"relscape neighbors {target} {query}  or  relscape plot {target}{colored}"
    next_step(step if placing is None else f"{step}  or  relscape place {target} NEW.csv --kind {placing}")
