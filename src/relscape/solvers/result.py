"""What every solver gives back."""

from __future__ import annotations

from dataclasses import dataclass, field

from relscape.protocols import FloatArray

__all__ = ["SolveResult"]


@dataclass(frozen=True, eq=False)
class SolveResult:
    """Where a solver ended, what it reached there, and why it stopped.

    ``trace`` holds the value at the start and after every iteration, ``reason`` is a sentence for people.
    """

    point: FloatArray
    value: float
    iterations: int
    converged: bool
    reason: str
    trace: list[float] = field(default_factory=list)
