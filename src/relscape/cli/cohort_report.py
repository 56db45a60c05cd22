"""What a person reads of a cohort map that was made or changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from relscape.cli.console import aside, next_step, print_json, print_table, say
from relscape.errors import listing
from relscape.maps import Map
from relscape.maps.captions import dimensions_told

__all__ = ["print_scores", "report"]

_MOST_AXES = 4  # of a place that a person may want to type
_MEANINGS = {
    "cohort_separation": "S_s: the nearest other is of the same cohort",
    "cohort_position": "S_c: the nearest prototype is their own",
    "cohort_neighbors": "S_c^(r): cohorts next to the right ones",
    "neighbor_preservation": "S_n: neighbours kept in cohorts",
}


def report(
    joint: Map,
    model: Any,
    target: Path,
    reason: str,
    tried: list[dict[str, Any]],
    seconds: float,
    as_json: bool,
) -> None:
    """Say what was made, with which weights and why, how it scores, and what to do next."""
    kind, sizes = joint.groups[0], joint.group(joint.groups[-1]).fields["size"]
    predicted = int(model.predicted_.sum())
    names = [str(name) for name in model.cohorts_]
    if as_json:
        content = {
            "map": str(target),
            "model": joint.model,
            "parameters": joint.parameters,
            "alpha": model.alpha_,
            "sizes": {name: len(joint.group(name)) for name in joint.groups},
            "cohorts": dict(zip(names, sizes.tolist(), strict=True)),
            "predicted": predicted,
            **_made_from(joint, model),
            "scores": joint.scores,
            "seconds": round(seconds, 3),
        }
        if reason:
            content |= {"chosen": reason, "tried": tried}
        print_json(content)
        return
    placed = f"{len(joint.group(kind)):,} × {kind} in {len(names)} cohorts"
    weights = f"α = {model.alpha_:g}" + (f", η = {model.eta_:.3g}" if model.variant == "eigen" else "")
    space = dimensions_told(joint)
    say(f"COVA-{model.variant}: {placed}, {space}, {weights}: {target}")
    say(_features_told(joint, model))
    if reason:
        say(f"Chosen among {len(tried)}: {reason}.")
    if predicted == len(model.labels_):
        aside("no --label was given: the cohorts were found by clustering.")
    elif predicted:
        say(f"{predicted:,} of {len(model.labels_):,} had no label; their neighbours gave them one.")
    print_scores(joint.scores)
    say(f"Made in {seconds:.1f} s.")
    place = ",".join(f"{x:.3g}" for x in model.prototypes_[0])
    moving = f"  or  relscape move {target} '{names[0]}={place}'" if joint.n_components <= _MOST_AXES else ""
    next_step(f"relscape plot {target}{moving}")


def _made_from(joint: Map, model: Any) -> dict[str, Any]:
    """Say which columns of a table were used, and how; of other sources, how many features there are."""
    source = joint.provenance.get("source", {})
    told = {name: source[name] for name in ("id", "features", "missing") if name in source}
    if "features" not in told:
        return {"n_features": len(model.column_entities_)}
    return {**told, "n_features": len(told["features"]), "standardized": "standardized" in source}


def _features_told(joint: Map, model: Any) -> str:
    """Say in a line which columns were the features, and which named the samples."""
    made = _made_from(joint, model)
    if "features" not in made:
        return f"By {made['n_features']:,} {model.column_entities_.kind}."
    scaled = ", standardised" if made["standardized"] else ""
    number = made["n_features"]
    named = f"; ids from {made['id']!r}" if "id" in made else "; lines are numbered"
    noun = "feature" if number == 1 else "features"
    return f"By {number:,} {noun}{scaled}: {listing(made['features'], 6)}{named}."


def print_scores(scores: dict[str, Any], before: dict[str, Any] | None = None) -> None:
    """Print what a map of cohorts scores, the chance level of S_n beside it, and what it scored before."""
    chance = scores.get("neighbor_preservation_chance")
    rows = []
    for name, meaning in _MEANINGS.items():
        if name in scores:
            told = (
                f"{meaning}; {chance:.3f} by chance" if name.endswith("preservation") and chance else meaning
            )
            earlier = [] if before is None else [f"{before.get(name, float('nan')):.3f}"]
            rows.append((name, f"{scores[name]:.3f}", *earlier, told))
    print_table(["score", "value", *([] if before is None else ["before"]), "meaning"], rows)
