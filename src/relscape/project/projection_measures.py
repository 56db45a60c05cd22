"""What is told of guided projections: tags found, guidance satisfied, and clusters that hold what belongs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import numpy as np

from relscape.project.kept_runs import Kept
from relscape.project.outcome import Record

__all__ = [
    "HALF",
    "NDCG",
    "SATISFIED",
    "SPREAD",
    "averaged",
    "by_axes",
    "mean_curve",
    "measures_of",
    "rand",
    "tables",
]

NDCG = "NDCG"
SATISFIED = {"train": "satisfied, train", "test": "satisfied, test"}
HALF = {"train": "closest half, train", "test": "closest half, test"}
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
    return {
        f"{title}: NDCG of the nearest tags, and by the most axes allowed": (
            *(NDCG, SPREAD + NDCG),
            *(by_axes(most) for most in axes),
            "CPU seconds",
        ),
        f"{title}: guidance satisfied": tuple(name for one in satisfied for name in (one, SPREAD + one)),
        f"{title}: clusters and tags": tuple(name for n in clusters for name in rand(n)),
    }


def measures_of(kept: Kept) -> Record:
    """Read the measures off one fit.

    What is satisfied is the mean share of similar pairs nearer than τ times the mean distance, τ from 0 to 2:
    the area under the curve. Shares of no pairs are left out.
    """
    told: Record = {NDCG: kept["ndcg"][max(kept["ndcg"], key=int)]}
    told |= {by_axes(int(most)): value for most, value in kept["ndcg"].items()}
    for part, name in SATISFIED.items():
        curve = kept[part]
        told[name] = float(np.trapezoid(curve["similar"], curve["thresholds"]) / curve["thresholds"][-1])
        told[HALF[part]] = curve["closest_half"]
    for n, values in kept["clusters"].items():
        told |= {name: v for name, v in zip(rand(int(n)), values, strict=True) if v is not None}
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
