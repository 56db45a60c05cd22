"""Our measurements beside figures known from elsewhere, each with its verdict; the short record of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from relscape.project.judgement import EXCEEDED, NOT_REACHED, REACHED

__all__ = ["Difference", "differences", "settings_digest", "short_figure", "short_record"]

NEAR = (
    0.05  # a figure is reached when ours is worse by at most this share of it, exceeded when better by more
)
_NOT_A_PLACE = {"measure", "values", "source"}
_LESS_IS_BETTER = ("rank", "error")
_LARGE = 10_000  # from here on a figure is told in whole numbers


class Difference(NamedTuple):
    """One figure known, and ours: where from, of what, by which method and measure."""

    source: str
    place: str
    method: str
    measure: str
    known: float
    ours: float

    @property
    def outcome(self) -> str:
        """Reached, exceeded or not reached, by the measure's own direction."""
        gain = self.ours - self.known
        if any(word in self.measure for word in _LESS_IS_BETTER):
            gain = -gain
        slack = NEAR * abs(self.known)
        return EXCEEDED if gain > slack else REACHED if gain >= -slack else NOT_REACHED


def differences(results: Mapping[str, Any]) -> list[Difference]:
    """Set our measurements beside the figures known.

    A figure that leaves a key open stands beside the last record it belongs to.
    """
    found = []
    for figure in results["figures"]:
        place = {key: value for key, value in figure.items() if key not in _NOT_A_PLACE}
        at = ", ".join(str(value) for value in place.values())
        for method, known in figure["values"].items():
            ours = [
                record[figure["measure"]]
                for record in results["records"]
                if record["method"] == method
                and record.get(figure["measure"]) is not None
                and all(record.get(key) == value for key, value in place.items())
            ]
            if ours:
                source = str(figure.get("source", "check"))
                found.append(Difference(source, at, method, figure["measure"], float(known), float(ours[-1])))
    return found


def short_figure(value: float) -> str:
    """Tell a figure with four digits, large ones in whole numbers.

    >>> short_figure(0.123456), short_figure(483142.0)
    ('0.1235', '483,142')
    """
    return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.4g}"


def settings_digest(settings: Mapping[str, Any]) -> str:
    """Name settings by a few letters, which change when any of them does."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def short_record(results: Mapping[str, Any]) -> dict[str, Any]:
    """Give what of a run is worth keeping for good: verdicts, and our figures beside known ones."""
    kept = {key: results[key] for key in ("experiment", "date", "quick", "seconds", "packages", "verdicts")}
    compared = [
        {**difference._asdict(), "ours": float(f"{difference.ours:.6g}")}
        for difference in differences(results)
    ]
    return {**kept, "settings": settings_digest(results["settings"]), "figures": compared}
