"""How much the cohorts and how much the samples should decide a COVA map: α, and η for eigen-COVA.

Every weight is a Pareto optimal compromise between cohorts and samples, for the convex COVA-E1 at
least; which one a person wants is a preference. The functions here fit a model at several weights and
choose by scores, by a share of the neighbourhoods to keep, or by a budget for the samples' term.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from relscape.errors import ParameterError, UnknownNameError
from relscape.tuning.trials import Choice, Series, Trial

__all__ = [
    "choose_weights",
    "e1_local_budget",
    "keep_local_objective",
    "keep_neighbourhoods",
]

ALPHAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ETAS = (0.3, 0.5, 0.7, 0.8, 0.9)
EQUAL = {"neighbours": 1.0, "position": 1.0, "separation": 1.0}
LARGEST = 0.999
_HALVINGS = 40


def choose_weights(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    alphas: Iterable[float] = ALPHAS,
    etas: Iterable[float] = ETAS,
    preference: Mapping[str, float] | None = None,
    relative: bool = False,
    links: Any = None,
    anchors: Any = None,
    init: Any = None,
) -> Choice:
    """Fit a COVA model on a grid of weights and keep the one with the highest weighted mean of scores.

    Parameters
    ----------
    model : COVA
        With all other parameters set; it is not changed.
    X, y, links, anchors, init
        What ``model.fit`` takes.
    alphas : iterable of float
        Weights of the cohorts' term to try, between 0 and 1.
    etas : iterable of float
        For eigen-COVA, the weights η to try with each of them.
    preference : mapping of str to float, optional
        How much "neighbours" (S_n), "position" (S_c) and "separation" (S_s) count; 1 each unless given, and
        one left out counts nothing.
    relative : bool
        Whether position means which cohorts are neighbours (S_c^(r)) instead of the exact place (S_c).
    """
    wanted = _checked_preference(EQUAL if preference is None else preference)
    series = Series(model, X, y, {"links": links, "anchors": anchors, "init": init})
    trials = series.grid(_weights("alphas", alphas), _weights("etas", etas))
    names = {name: "links" if relative and name == "position" else name for name in wanted}
    for name in names.values():
        _refuse_unscored(trials, name)

    def liking(trial: Trial) -> float:
        scores = [weight * getattr(trial, names[name]) for name, weight in wanted.items()]
        return float(sum(scores) / sum(wanted.values()))

    best = max(trials, key=liking)
    told = ", ".join(f"{names[name]} {weight:g}" for name, weight in wanted.items())
    return series.chosen(best, f"highest weighted mean of scores ({told}): {liking(best):.3f}", trials)


def keep_neighbourhoods(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    share: float = 0.95,
    alphas: Iterable[float] = ALPHAS,
    links: Any = None,
    anchors: Any = None,
    init: Any = None,
) -> Choice:
    """Take the largest α whose S_n is at least ``share`` of the best S_n on the grid.

    So cohorts are shown as clearly as the neighbourhoods of the samples allow. For eigen-COVA η stays as
    the model has it. The other parameters are those of :func:`choose_weights`.
    """
    _check_share(share)
    series = Series(model, X, y, {"links": links, "anchors": anchors, "init": init})
    trials = series.grid(_weights("alphas", alphas), None)
    _refuse_unscored(trials, "neighbours")
    best = max(trial.neighbours for trial in trials)
    kept = max((t for t in trials if t.neighbours >= share * best), key=lambda trial: trial.alpha)
    reason = f"largest α that keeps {share:.0%} of the best S_n, {best:.3f}: {kept.neighbours:.3f}"
    return series.chosen(kept, reason, trials)


def keep_local_objective(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    slack: float = 0.1,
    alphas: Iterable[float] = ALPHAS,
    links: Any = None,
    anchors: Any = None,
    init: Any = None,
) -> Choice:
    """Take the largest α whose samples' term stays within (1 + slack) of its smallest value.

    For the models whose samples' term is a divergence (E2, E3, P2, P3), with its constant: the smallest
    value is sought with α = 0 and on the grid. Where the term is a distance its smallest value is 0, and
    the rule would say nothing: use :func:`e1_local_budget` or :func:`keep_neighbourhoods` there.
    """
    if model.variant not in ("E2", "E3", "P2", "P3"):
        raise ParameterError(
            f"variant={model.variant!r}: the samples' term is a distance, whose smallest value is 0, so no "
            "slack can be given relative to it; use keep_neighbourhoods, or e1_local_budget for E1."
        )
    if not (_is_number(slack) and slack > 0):
        raise ParameterError(f"slack={slack!r}: give a number above 0, such as 0.1 for one tenth more.")
    series = Series(model, X, y, {"links": links, "anchors": anchors, "init": init})
    trials = series.grid((0.0, *_weights("alphas", alphas)), None, scored=False)
    least = min(trial.sample_term for trial in trials)
    kept = max((t for t in trials if t.sample_term <= (1 + slack) * least), key=lambda trial: trial.alpha)
    reason = f"largest α with a samples' term of at most {1 + slack:g} × {least:.4g}: {kept.sample_term:.4g}"
    return series.chosen(kept, reason, trials)


def e1_local_budget(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    budget: float,
    tolerance: float = 1e-4,
    links: Any = None,
    anchors: Any = None,
    init: Any = None,
) -> Choice:
    """Take the largest α of COVA-E1 whose samples' term tr(Z'LZ) is at most ``budget``.

    The term grows with α, from 0 to its value with α near 1, so that halving finds the place where it
    meets the budget: the exact minimum of the cohorts' term under that constraint.
    """
    if model.variant != "E1":
        raise ParameterError(
            f"variant={model.variant!r}: only for E1 does the samples' term surely grow with α; use "
            "keep_neighbourhoods."
        )
    if not (_is_number(budget) and budget > 0):
        raise ParameterError(f"budget={budget!r}: give a number above 0, what the samples' term may cost.")
    if not (_is_number(tolerance) and 0 < tolerance < 1):
        raise ParameterError(f"tolerance={tolerance!r}: give a number between 0 and 1.")
    series = Series(model, X, y, {"links": links, "anchors": anchors, "init": init})
    trials = [series.tried(LARGEST, None, scored=False)]
    if trials[0].sample_term <= budget:
        return series.chosen(trials[0], f"no α up to {LARGEST} spends the budget of {budget:g}", trials)
    low, high, kept = 0.0, LARGEST, None
    for _ in range(_HALVINGS):
        trial = series.tried((low + high) / 2, None, scored=False)
        trials.append(trial)
        if trial.sample_term <= budget:
            low, kept = trial.alpha, trial
        else:
            high = trial.alpha
        if kept is not None and high - low <= tolerance * low:
            break
    if kept is None:
        raise ParameterError(
            f"budget={budget!r} is too small: even α = {high:.3g} spends more. With α near 1 the samples' "
            f"term is {trials[0].sample_term:.4g}."
        )
    reason = f"largest α with a samples' term of at most {budget:g}: {kept.sample_term:.4g}"
    return series.chosen(kept, reason, trials)


def _refuse_unscored(trials: Iterable[Trial], name: str) -> None:
    """Refuse to choose by a score that the data does not allow."""
    if any(math.isnan(getattr(trial, name)) for trial in trials):
        needs = {
            "neighbours": "features X, and cohorts of more than one member",
            "links": "at least three cohorts",
            "position": "at least two cohorts with members",
            "separation": "at least two cohorts with members",
        }
        raise ParameterError(f"the score {name!r} cannot be computed here: it needs {needs[name]}.")


def _checked_preference(preference: Mapping[str, float]) -> dict[str, float]:
    """Keep the scores that count; unknown ones, negative weights and no weight at all are refused."""
    for name, weight in preference.items():
        if name not in EQUAL:
            raise UnknownNameError("score to prefer", name, EQUAL)
        if not (_is_number(weight) and weight >= 0):
            raise ParameterError(f"preference: {name}={weight!r}; give a number of 0 or more.")
    counted = {name: float(weight) for name, weight in preference.items() if weight > 0}
    if not counted:
        raise ParameterError("preference: nothing counts; give at least one score a weight above 0.")
    return counted


def _weights(name: str, values: Iterable[float]) -> tuple[float, ...]:
    """Check a grid of weights: at least one, each between 0 and 1, the ends left out."""
    grid = tuple(values)
    for value in grid:
        if not (_is_number(value) and 0 < value < 1):
            raise ParameterError(f"{name}: {value!r} is no weight; give numbers between 0 and 1.")
    if not grid:
        raise ParameterError(f"{name} is empty: give at least one weight to try.")
    return tuple(sorted({float(value) for value in grid}))


def _check_share(share: float) -> None:
    if not (_is_number(share) and 0 < share <= 1):
        raise ParameterError(f"share={share!r}: give a number above 0 and at most 1, such as 0.95.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
