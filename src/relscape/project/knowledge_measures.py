"""What is told of a training: the columns of the thesis' tables 4.4, 4.5 and 4.6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "CATEGORIES",
    "HITS",
    "LINKS",
    "MEAN_RANK",
    "PARTITIONS",
    "PARTS",
    "RAW_RANK",
    "RECIPROCAL_RANK",
    "VALIDATION",
    "measures_of",
    "of_validation",
    "part_hits",
    "part_rank",
]

MEAN_RANK, HITS, RECIPROCAL_RANK = "mean rank", "hits@10", "MRR"
RAW_RANK, RAW_HITS = "mean rank raw", "hits@10 raw"
EPOCHS, MINUTES = "epochs", "minutes"
_RANKED = (RAW_RANK, MEAN_RANK, RAW_HITS, HITS, RECIPROCAL_RANK)
LINKS = (*_RANKED, EPOCHS, MINUTES)
_SIDES, _KINDS = ("heads", "tails"), ("1-1", "1-N", "N-1", "N-N")
CATEGORIES = tuple(f"{side} {kind}" for side in _SIDES for kind in _KINDS)
PARTS = ("reciprocal", "reverse", "other")


def part_rank(part: str) -> str:
    """Name the mean rank of a part: reciprocal, reverse or other."""
    return f"{part} {MEAN_RANK}"


def part_hits(part: str) -> str:
    """Name the hits@10 of a part."""
    return f"{part} {HITS}"


PARTITIONS = tuple(named(part) for part in PARTS for named in (part_rank, part_hits))


def of_validation(measure: str) -> str:
    """Name a measure of the validation triples; those of the test triples have the plain names."""
    return f"validation {measure}"


VALIDATION = tuple(of_validation(measure) for measure in _RANKED)


def measures_of(kept: Mapping[str, Any]) -> dict[str, float]:
    """Read the measures off what a training left; hits are in percent, minutes of processor time.

    A category or part that has no test triple has no measures.
    """
    report = kept["report"]
    told = _ranked(report) | {EPOCHS: kept["epochs"], MINUTES: kept["cpu_seconds"] / 60.0}
    if "validation report" in kept:
        known = _ranked(kept["validation report"])
        told |= {of_validation(measure): value for measure, value in known.items()}
    for kind, part in report["category"].items():
        told |= {f"{side} {kind}": _percent(part["filtered"][side]) for side in _SIDES}
    for name, part in report["partition"].items():
        found = part["filtered"]["both"]
        told |= {part_rank(name): found["mean_rank"], part_hits(name): _percent(found)}
    return told


def _ranked(report: Mapping[str, Any]) -> dict[str, float]:
    """Read the measures of all triples of a report, heads and tails together."""
    filtered, raw = report["all"]["filtered"]["both"], report["all"]["raw"]["both"]
    return {
        RAW_RANK: raw["mean_rank"],
        MEAN_RANK: filtered["mean_rank"],
        RAW_HITS: _percent(raw),
        HITS: _percent(filtered),
        RECIPROCAL_RANK: filtered["mrr"],
    }


def _percent(figures: Mapping[str, Any]) -> float:
    return 100.0 * float(figures["hits"]["10"])
