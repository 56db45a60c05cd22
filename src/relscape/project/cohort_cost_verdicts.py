"""The rules for what was claimed of the time that COVA takes, all at the largest number of samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relscape.models.cova_variants import VARIANTS
from relscape.project.cohort_study_cost import CPU, SIZE
from relscape.project.judgement import Judgement, outcome_of
from relscape.project.outcome import Record

__all__ = ["COST_RULES"]

COMPARABLE = 2.0  # "comparable": at most so many times as long, or as short
MUCH = 2.0  # "much faster": in at most one part of so many of the time


def _fastest(records: list[Record]) -> Judgement:
    """VC1: eigen-COVA takes least."""
    seconds = _seconds(records)
    return outcome_of(min(seconds, key=lambda method: seconds[method]) == "eigen"), _listed(seconds)


def _second(records: list[Record]) -> Judgement:
    """VC2: t-SNE takes less than all variants but eigen; E1, E2 and P1 take a half to twice of SNE's time."""
    seconds = _seconds(records)
    others = [value for method, value in seconds.items() if method in VARIANTS and method != "eigen"]
    ratios = {method: seconds[method] / seconds["sne"] for method in ("E1", "E2", "P1") if method in seconds}
    alike = all(1 / COMPARABLE <= ratio <= COMPARABLE for ratio in ratios.values())
    told = ", ".join(f"{method} {ratio:.2f}" for method, ratio in ratios.items())
    shown = _listed({method: seconds[method] for method in ("tsne", "sne")})
    return outcome_of(seconds["tsne"] < min(others) and alike), f"{shown}; parts of SNE's time: {told}"


def _saturating(records: list[Record]) -> Judgement:
    """VC3: P2 and P4 take longer than E1, E2 and P1."""
    seconds = _seconds(records)
    slow = {method: value for method, value in seconds.items() if method in ("P2", "P4")}
    fast = {method: value for method, value in seconds.items() if method in ("E1", "E2", "P1")}
    return outcome_of(min(slow.values()) > max(fast.values())), _listed(slow | fast)


def _rival(records: list[Record]) -> Judgement:
    """VC4: NCA takes at least twice as long as any variant."""
    seconds = _seconds(records)
    own = {method: value for method, value in seconds.items() if method in VARIANTS}
    slowest = max(own, key=lambda method: own[method])
    told = _listed({"nca": seconds["nca"], slowest: own[slowest]})
    return outcome_of(seconds["nca"] >= MUCH * own[slowest]), f"NCA and the slowest variant: {told}"


COST_RULES: Mapping[str, Callable[[list[Record]], Judgement]] = {
    "VC1": _fastest,
    "VC2": _second,
    "VC3": _saturating,
    "VC4": _rival,
}


def _seconds(records: list[Record]) -> dict[str, float]:
    """Give the time of every method at the largest number of samples that all were tried on."""
    sizes = [{r[SIZE] for r in records if r["method"] == method} for method in {r["method"] for r in records}]
    largest = max(set.intersection(*sizes))
    return {record["method"]: record[CPU] for record in records if record[SIZE] == largest}


def _listed(seconds: Mapping[str, float]) -> str:
    return "CPU time " + ", ".join(f"{method} {value:.2f} s" for method, value in seconds.items())
