"""Climbing a likelihood from several starts, as the models of the CODE family all do."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from relscape import progress
from relscape.errors import RelscapeWarning
from relscape.models.checks import check_choice, check_flags, check_integer, check_number
from relscape.protocols import FloatArray, Objective
from relscape.solvers.descent import METHODS, lowest, minimise
from relscape.solvers.result import SolveResult

__all__ = ["check_descent", "climb", "solver_report"]


def check_descent(model: Any) -> None:
    """Check the parameters of a model that say how its likelihood is climbed."""
    check_number("ridge", model.ridge, 0.0)
    check_number("tolerance", model.tolerance, 0.0)
    check_integer("n_restarts", model.n_restarts, 1)
    check_integer("max_iterations", model.max_iterations, 1)
    check_choice("solver", model.solver, METHODS)
    check_flags(model, *({"equal_rows", "exclude_self"} & vars(model).keys()))


def climb(
    model: Any, objective: Objective, starts: Iterable[FloatArray], scale: FloatArray | None = None
) -> tuple[SolveResult, list[dict[str, Any]]]:
    """Climb from every start as the model's parameters say; give the best end, and a report of each."""
    with progress.task(f"maximising the likelihood, {model.n_restarts} starts") as task:

        def watch(iteration: int, value: float, point: FloatArray) -> bool:  # noqa: ARG001
            task.advance()
            return False

        settings = (model.solver, model.tolerance, model.max_iterations, watch, scale)
        ends = [minimise(objective, start, *settings) for start in starts]
    best = lowest(ends)
    if not best.converged:
        warnings.warn(
            f"the likelihood may not be at its highest: {best.reason}. More max_iterations, a larger "
            "tolerance or a larger ridge would end the climb "
            "(on the command line such as -p max_iterations=5000).",
            RelscapeWarning,
            stacklevel=4,
        )
    return best, [{"value": end.value, **solver_report(end)} for end in ends]


def solver_report(found: SolveResult) -> dict[str, Any]:
    """Say how a solver came to its end."""
    return {"iterations": found.iterations, "converged": found.converged, "reason": found.reason}
