"""What the experiments on co-embedding share: names of measures, options, sizes, missing data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relscape.project.fitting import Placement
from relscape.scores import gamma_terms

__all__ = [
    "ALL_BUT",
    "LOSS",
    "NEAREST",
    "RANK",
    "SHAPE_ERROR",
    "WORDS",
    "Settings",
    "count_of",
    "lost",
    "options_of",
]

Settings = Mapping[str, Any]
LOSS, RANK, SHAPE_ERROR, NEAREST, WORDS = (
    "Γ lost share",
    "mean rank",
    "Procrustes error",
    "1-NN error",
    "class-word error",
)
ALL_BUT = "all but "


def options_of(settings: Settings, method: str) -> dict[str, Any]:
    """Gather what is the same for all methods, and what the settings say of this one."""
    shared = {name: settings[name] for name in ("random_state", "max_evaluations")}
    return {**shared, **settings.get(method, {})}


def count_of(size: str, things: int) -> int:
    """Read a size of neighbourhood: a number, a share of the things there are, or all but some of them.

    >>> [count_of(size, 160) for size in ("5", "10 %", "all but 10")]
    [5, 16, 150]
    """
    if size.endswith("%"):
        return max(1, int(float(size.removesuffix("%")) / 100 * things))
    if size.startswith(ALL_BUT):
        return max(1, things - int(size.removeprefix(ALL_BUT)))
    return int(size)


def lost(relation: Any, placement: Placement, k: int) -> float:
    """Give the share of a relation's mutual pairs of ``k`` neighbours that a map loses."""
    terms = gamma_terms(relation, placement.rows, placement.columns, k, k, "positive")
    return terms.ratio
