"""What the studies of COVA share: the scores they tell, their curves, and means over repeated draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from relscape.project import pictures
from relscape.project.cohort_fitting import CHANCE, LINKS, NEIGHBOURS, POSITION, SEPARATION
from relscape.project.fitting import Placement
from relscape.project.outcome import Findings, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SCORES", "Settings", "curves", "mean_of", "together"]

Settings = Mapping[str, Any]
SCORES = (NEIGHBOURS, CHANCE, SEPARATION, POSITION, LINKS)


def mean_of(scores: Sequence[Record]) -> Record:
    """Average every score that all of some maps have; nothing where one of them was refused."""
    return {name: fmean(one[name] for one in scores) for name in scores[0] if all(name in s for s in scores)}


def together(placements: Sequence[Placement]) -> Placement:
    """Tell of several maps by one method as if they were one: all their time, all that they said."""
    first = placements[0]
    return Placement(
        first.method,
        sum(one.seconds for one in placements),
        sum(one.cpu_seconds for one in placements),
        refusal=next((one.refusal for one in placements if one.refusal), ""),
        warnings=tuple(dict.fromkeys(text for one in placements for text in one.warnings)),
        chosen=first.chosen,
    )


def curves(name: str, records: list[Record], along: str, where: Settings | None = None) -> dict[str, Figure]:
    """Draw the four scores against a key, as a picture of a name; nothing where there is nothing."""
    shown = (NEIGHBOURS, SEPARATION, POSITION, LINKS)
    drawn = pictures.curves(Findings((along,), shown, records), along, shown, where)
    return dict(zip((name,), drawn.values(), strict=False))
