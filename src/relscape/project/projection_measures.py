"""What is told of guided projections: tags found, guidance satisfied, and clusters that hold what belongs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import numpy as np

from relscape.project.kept_runs import Kept
from relscape.project.outcome import Record

__all__ = [
    "CHOSEN",
    "HALF",
    "NDCG",
    "SATISFIED",
    "SPREAD",
    "averaged",
    "by_axes",
    "mean_curve",
    "measures_of",
    "rand",
    "satisfaction_of",
    "tables",
]

NDCG = "NDCG"
SATISFIED = {"train": "satisfied, train", "test": "satisfied, test"}
HALF = {"train": "closest half, train", "test": "closest half, test"}
CHOSEN = "chosen: "  # before what is satisfied where settings were chosen by that, not by NDCG
SPREAD = "± "


def by_axes(most: int) -> str:
    """Name the NDCG with at most so many axes."""
    return f"≤ {most}"


def rand(n: int) -> tuple[str, str, str]:
    """Name the Rand index, precision and recall of so many clusters."""
    return f"Rand, {n}", f"precision, {n}", f"recall, {n}"


def tables(title: str, axes: Iterable[int], clusters: Iterable[int]) -> dict[str, tuple[str, ...]]:
    """Say which measures are shown together, under which title."""
    satisfied = (SATISFIED["train"], SATISFIED["test"], HALF["train"], HALF["test"])
    spread = tuple(name for one in satisfied for name in (one, SPREAD + one))
    chosen = tuple(name for one in satisfied for name in (CHOSEN + one, SPREAD + CHOSEN + one))
    return {
        f"{title}: NDCG of the nearest tags, and by the most axes allowed": (
            *(NDCG, SPREAD + NDCG),
            *(by_axes(most) for most in axes),
            "CPU seconds",
        ),
        f"{title}: guidance satisfied, settings chosen by that": chosen,
        f"{title}: guidance satisfied, settings chosen by NDCG": spread,
        f"{title}: clusters and tags": tuple(name for n in clusters for name in rand(n)),
    }


def measures_of(kept: Kept) -> Record:
    """Read the measures off one fit; shares of no pairs are left out."""
    told: Record = {NDCG: kept["ndcg"][max(kept["ndcg"], key=int)]}
    told |= {by_axes(int(most)): value for most, value in kept["ndcg"].items()}
    told |= satisfaction_of(kept)
    for n, values in kept["clusters"].items():
        told |= {name: v for name, v in zip(rand(int(n)), values, strict=True) if v is not None}
    return told


def satisfaction_of(kept: Kept, before: str = "") -> Record:
    """Read what is satisfied off one fit, with something ``before`` the names.

    It is the mean share of similar pairs nearer than τ times the mean distance, τ from 0 to 2: the area under
    the curve; and the share of similar pairs in the closest half.
    """
    told: Record = {}
    for part, name in SATISFIED.items():
        curve = kept[part]
        area = np.trapezoid(curve["similar"], curve["thresholds"]) / curve["thresholds"][-1]
        told |= {before + name: float(area), before + HALF[part]: curve["closest_half"]}
    return told


def averaged(figures: Sequence[Mapping[str, float]]) -> tuple[Record, dict[str, list[float]]]:
    """Average every measure over the splits that have it, with the deviation; and give the single values."""
    values: dict[str, list[float]] = {}
    for one in figures:
        for name, value in one.items():
            values.setdefault(name, []).append(value)
    told: Record = {name: fmean(own) for name, own in values.items()}
    told |= {SPREAD + name: stdev(own) for name, own in values.items() if len(own) > 1}
    return told, values


def mean_curve(kept: Sequence[Kept], part: str) -> dict[str, Any]:
    """Average the curve of guidance satisfied over splits."""
    similar = np.mean([one[part]["similar"] for one in kept], axis=0)
    return {"thresholds": kept[0][part]["thresholds"], "similar": similar.tolist()}
