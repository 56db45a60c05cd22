"""Fits of one COVA model at several weights, and what came of each."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from relscape import progress
from relscape.models.cohort_scores import map_scores

__all__ = ["Choice", "Series", "Trial"]

_SCORES = {
    "neighbours": "neighbor_preservation",
    "position": "cohort_position",
    "links": "cohort_neighbors",
    "separation": "cohort_separation",
}


@dataclass(frozen=True)
class Trial:
    """One fit on the way: its weights, what the two terms of its objective came to, and its scores.

    ``neighbours`` is S_n, ``position`` S_c, ``links`` S_c^(r), ``separation`` S_s; NaN where a score was not
    asked for.
    """

    alpha: float
    eta: float | None
    cohort_term: float
    sample_term: float
    neighbours: float = float("nan")
    position: float = float("nan")
    links: float = float("nan")
    separation: float = float("nan")


@dataclass(frozen=True, eq=False)
class Choice:
    """The weights chosen, why, a record of everything that was tried, and the model fitted with them."""

    alpha: float
    eta: float | None
    reason: str
    records: tuple[Trial, ...]
    model: Any


class Series:
    """Fits of one model to the same data at different weights; what does not depend on them is kept."""

    def __init__(self, model: Any, X: Any, y: Any, given: dict[str, Any]) -> None:
        self.model, self.X, self.y = model, X, y
        self.given = {name: value for name, value in given.items() if value is not None}
        self.first: Any = None
        self.told: set[str] = set()

    def fitted(self, alpha: float, eta: float | None, whole: bool = False) -> Any:
        """Fit at given weights; unless ``whole``, with the affinities and confidences of the first fit."""
        fresh = clone(self.model).set_params(alpha=alpha)
        if eta is not None:
            fresh.set_params(eta=eta)
        if self.first is not None and not whole:
            fresh.set_params(confidence=self.first.confidence_)
            fresh._weighed = self.first.affinity_settings_, self.first.affinity_fit_
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            fresh.fit(self.X, self.y, **self.given)
        if self.first is None or whole:
            self._tell(told)
        if self.first is None:
            self.first = fresh
        return fresh

    def _tell(self, told: list[warnings.WarningMessage]) -> None:
        """Pass warnings on, each once, however many fits have given it."""
        for warning in told:
            if str(warning.message) not in self.told:
                self.told.add(str(warning.message))
                warnings.warn(warning.message, stacklevel=5)

    def tried(self, alpha: float, eta: float | None, scored: bool = True) -> Trial:
        """Fit at given weights and read the terms of the objective, and the scores where asked for."""
        fresh = self.fitted(alpha, eta)
        cohort_term, sample_term = (float(term) for term in fresh.objective_)
        if not scored:
            return Trial(alpha, eta, cohort_term, sample_term)
        scores = map_scores(fresh)
        return Trial(
            alpha,
            eta,
            cohort_term,
            sample_term,
            **{name: scores.get(score, float("nan")) for name, score in _SCORES.items()},
        )

    def grid(
        self, alphas: tuple[float, ...], etas: tuple[float, ...] | None, scored: bool = True
    ) -> list[Trial]:
        """Try all weights, smallest first; η only where the model has one and values are given."""
        both = [None] if etas is None or self.model.variant != "eigen" else list(etas)
        pairs = [(alpha, eta) for alpha in sorted(alphas) for eta in both]
        trials = []
        with progress.task("trying weights", len(pairs)) as task:
            for alpha, eta in pairs:
                trials.append(self.tried(alpha, eta, scored))
                task.advance()
        return trials

    def chosen(self, trial: Trial, reason: str, trials: Iterable[Trial]) -> Choice:
        """Fit the model with the weights found, all its parameters otherwise its own."""
        model = self.fitted(trial.alpha, trial.eta, whole=True)
        eta = trial.eta if self.model.variant != "eigen" else float(model.eta_)
        return Choice(trial.alpha, eta, reason, tuple(trials), model)
