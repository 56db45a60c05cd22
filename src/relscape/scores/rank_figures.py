"""What every report of ranks has: the rule for ties, mean rank, reciprocal rank and hits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from relscape.errors import ParameterError
from relscape.protocols import FloatArray
from relscape.scores.rank_counts import Counts

__all__ = ["HITS", "TIES", "RankFigures", "ranks_of", "table_text"]

HITS = (1, 3, 10)
# Which share of the candidates level with an answer lies before it.
TIES = {"realistic": 0.5, "optimistic": 0.0, "pessimistic": 1.0}


def ranks_of(counts: Counts, filtered: bool, ties: str) -> FloatArray:
    """Give the rank of every answer, 1 being best."""
    better, level = (counts.better, counts.level) if filtered else (counts.raw_better, counts.raw_level)
    return 1.0 + better + TIES[ties] * level


def table_text(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Lay out the lines of a report below their header."""
    return "\n".join(f"{row[0]:<12}" + "".join(f"{cell:>11}" for cell in row[1:]) for row in (header, *rows))


@dataclass(frozen=True, eq=False, kw_only=True)
class RankFigures(ABC):
    """Base of the reports; a subclass gives ``ranks``.

    Parameters
    ----------
    ties : str
        "realistic", "optimistic" or "pessimistic".
    """

    ties: str = "realistic"

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise ParameterError(f"ties={self.ties!r}: expected one of {', '.join(TIES)}.")

    @property
    @abstractmethod
    def ranks(self) -> FloatArray:
        """Every rank; 1 is best."""

    @cached_property
    def mean_rank(self) -> float:
        """Mean rank of what is true; 1 is perfect."""
        return float(self.ranks.mean())

    @cached_property
    def mrr(self) -> float:
        """Mean reciprocal rank, between 0 and 1."""
        return float((1.0 / self.ranks).mean())

    @cached_property
    def hits(self) -> dict[int, float]:
        """Share of ranks up to 1, 3 and 10."""
        return {most: float((self.ranks <= most).mean()) for most in HITS}

    @property
    def optimistic(self) -> Self:
        """The same with every tie in favour of what is true."""
        return replace(self, ties="optimistic")

    @property
    def pessimistic(self) -> Self:
        """The same with every tie against what is true."""
        return replace(self, ties="pessimistic")

    def figures(self) -> dict[str, Any]:
        """Give mean rank, MRR and hits as plain values."""
        return {
            "mean_rank": self.mean_rank,
            "mrr": self.mrr,
            "hits": {str(most): share for most, share in self.hits.items()},
        }
