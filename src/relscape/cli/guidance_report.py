"""How well a map of guided kinds satisfies its guidance, as ``relscape score`` and ``project`` tell it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from relscape.cli.console import aside, next_step, print_json, print_table, say
from relscape.errors import ParameterError
from relscape.maps import Map
from relscape.models.registry import methods
from relscape.project.guidance_scores import GUIDANCE_COUNTS, guidance_scores

__all__ = ["has_guidance", "print_guidance_scores", "tell_guidance_scores"]

# Scores by their names, as the heads of a table.
_HEADS = {
    "similar_pairs": "similar",
    "dissimilar_pairs": "dissimilar",
    "closest_half": "closest half",
    "nearer_than_mean": "near",
    "farther_than_mean": "far",
    "ndcg": "NDCG",
    "guess_ndcg": "guess",
}
_MEANING = (
    "closest half: of the similar pairs, those in the closest half of all pairs; 50% by chance.\n"
    "near, far: similar pairs nearer, dissimilar ones farther than the mean distance of all pairs.\n"
    "NDCG: partners among the nearest, 1 is best; guess: naming the most frequent ones instead."
)


def has_guidance(joint: Map) -> bool:
    """Tell whether a map is one of kinds that were projected under guidance."""
    return joint.model in {entry.class_name for entry in methods("projection").values()}


def print_guidance_scores(scores: dict[str, dict[str, Any]]) -> None:
    """Print a line for each relation; columns that no relation has a figure for are left out."""
    told = [name for name in _HEADS if any(figures.get(name) for figures in scores.values())]
    rows = [(relation, *(_cell(name, figures) for name in told)) for relation, figures in scores.items()]
    print_table(["guidance", *(_HEADS[name] for name in told)], rows)
    say(_MEANING)


def _cell(name: str, figures: dict[str, Any]) -> str:
    if name not in figures:
        return "-"
    if name in GUIDANCE_COUNTS:
        return f"{figures[name]:,}"
    return f"{figures[name]:.3f}" if name.endswith("ndcg") else f"{figures[name]:.1%}"


def tell_guidance_scores(joint: Map, map_path: Path, store: bool, as_json: bool) -> None:
    """Measure a map by the guidance that it carries, and print what was found."""
    if not joint.relations:
        raise ParameterError(
            f"{map_path} does not carry its guidance, so that there is nothing to measure it by: name files "
            "with pairs of its things, or make it anew with its relations."
        )
    scores = guidance_scores(joint)
    if store:
        joint.scores |= scores
        joint.save(map_path)
    if as_json:
        print_json(scores)
        return
    print_guidance_scores(scores)
    aside("these pairs guided the map; how it does on others, only pairs kept aside can tell.")
    next_step(f"relscape clusters {map_path}  or  relscape plot {map_path}")
