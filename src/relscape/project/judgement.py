"""What the rules of verdicts share: the words for an outcome, and how much counts as much."""

from __future__ import annotations

__all__ = ["ALIKE", "EXCEEDED", "MOST", "NOT_REACHED", "REACHED", "UNTESTED", "Judgement", "outcome_of"]

REACHED, NOT_REACHED, UNTESTED = "reached", "not reached", "not tested"
EXCEEDED = "exceeded"  # of a figure, not of a claim: better than what was published
MOST = 0.75  # "on nearly all sets"
ALIKE = 0.1  # "about as good", "similar"

Judgement = tuple[str, str]


def outcome_of(reached: bool) -> str:
    """Put an outcome into words."""
    return REACHED if reached else NOT_REACHED
