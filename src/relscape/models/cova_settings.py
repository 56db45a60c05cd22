"""COVA's parameters: what they may be, and what "auto" stands for (its specification, section 15)."""

from __future__ import annotations

from typing import Any

from relscape.errors import DataError, ParameterError
from relscape.matrix.spread_weights import SpreadWeights
from relscape.models.checks import (
    check_choice,
    check_dimensions,
    check_flags,
    check_integer,
    check_number,
    is_auto,
    shown,
)
from relscape.models.cova_fitting import SOLVERS
from relscape.models.cova_variants import VARIANTS
from relscape.models.eigen_cova import checked_eta
from relscape.objectives.cohort import LOCAL_FORMS
from relscape.solvers.manifolds import RETRACTIONS

__all__ = [
    "MOST_ENTRIES",
    "alpha_of",
    "check_local",
    "check_parameters",
    "check_spread",
    "keeps_response",
    "tolerance_of",
]

_ALPHA_OF_PLACES, _ALPHA_OF_PROJECTIONS = 0.6, 0.9
MOST_ENTRIES = 20_000_000  # of an n × c table that is kept or written in full
_MOST_CONDITIONAL = 10_000  # samples of which all pairs are summed at every step


def alpha_of(model: Any) -> float:
    """Give the weight of the cohorts."""
    if not is_auto(model.alpha):
        return float(model.alpha)
    return _ALPHA_OF_PLACES if model.variant[0] == "E" else _ALPHA_OF_PROJECTIONS


def tolerance_of(model: Any) -> float:
    """Give when to stop."""
    if not is_auto(model.tolerance):
        return float(model.tolerance)
    return 1e-10 if model.variant == "E1" else 1e-5


def keeps_response(model: Any, n: int, c: int) -> bool:
    """Tell whether E1 is solved for every prototype, n × c numbers."""
    return bool(n * c <= MOST_ENTRIES if is_auto(model.keep_response) else model.keep_response)


def check_parameters(model: Any) -> None:
    """Refuse parameters that cannot be used, before any work is done."""
    for what, given, known in (
        ("variant", model.variant, VARIANTS),
        ("solver", model.solver, SOLVERS),
        ("retraction", model.retraction, RETRACTIONS),
        ("local", model.local, LOCAL_FORMS),
    ):
        check_choice(what, given, known)
    check_dimensions("n_components", model.n_components)
    check_integer("n_neighbors", model.n_neighbors, 1)
    check_integer("n_cohorts", model.n_cohorts, 2)
    check_integer("max_iterations", model.max_iterations, 1)
    if model.batch_size is not None:
        check_integer("batch_size", model.batch_size, 2)
    if not is_auto(model.tolerance):
        check_number("tolerance", model.tolerance, 0.0)
    if not is_auto(model.scale):
        check_number("scale", model.scale, 0.0)
        if model.scale == 0:
            raise ParameterError("scale=0 would put all prototypes on one spot; give a positive number.")
    if not is_auto(model.keep_response):
        check_flags(model, "keep_response")
    checked_eta(model.eta)
    if model.local == "conditional" and model.variant not in ("E2", "E3", "P2", "P3"):
        raise ParameterError(
            f"local='conditional' is a divergence of neighbours, which {model.variant} does not have; choose "
            "E2, E3, P2 or P3, or leave local out."
        )
    _check_alpha(model)


def check_spread(model: Any, weights: Any, y: Any) -> None:
    """Refuse what cannot be done with weights that lie on a cluster."""
    if not isinstance(weights, SpreadWeights):
        return
    if model.variant != "E1":
        raise ParameterError(
            f"variant={model.variant!r}: weights on a cluster are for E1, which products solve; give "
            "the matrix itself."
        )
    if y is None:
        raise DataError("with weights on a cluster, give the cohort of every sample as y.")


def check_local(model: Any, n: int) -> None:
    """Refuse a conditional divergence of more samples than all pairs can be summed of at every step."""
    if model.local == "conditional" and n > _MOST_CONDITIONAL:
        raise ParameterError(
            f"local='conditional' sums over all pairs of samples at every step, for up to "
            f"{_MOST_CONDITIONAL:,}; there are {n:,}. Leave it out (local='joint'), or fit a part and place "
            "the rest with transform."
        )


def _check_alpha(model: Any) -> None:
    if is_auto(model.alpha):
        return
    check_number("alpha", model.alpha, 0.0)
    if model.alpha > 1:
        raise ParameterError(f"alpha={shown(model.alpha)}: give a number from 0 to 1.")
    if model.alpha == 0 and (model.variant == "eigen" or model.variant[1] in "14"):
        raise ParameterError(
            f"alpha=0 leaves {model.variant} with neighbours only, which draws all samples to one spot; "
            "give a small positive number, or choose a variant 2 or 3."
        )
