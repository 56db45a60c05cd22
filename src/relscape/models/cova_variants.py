"""Fitting one variant of COVA: which prototypes at which size, which solver, and what is learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relscape.data.cohorts import Cohorts
from relscape.errors import DataError, ParameterError
from relscape.matrix.features import RelationFeatures, feature_scale
from relscape.models.cova_fitting import (
    Effort,
    best_scale,
    descend,
    jittered,
    linear_places,
    linear_response,
    project,
    projection_start,
)
from relscape.models.cova_guides import Start, turned_to
from relscape.models.cova_problem import Layout, held
from relscape.models.eigen_cova import eigen_cova
from relscape.models.feature_inputs import Features
from relscape.objectives.cohort import Anchors, CohortObjective
from relscape.protocols import BoolArray, FloatArray, SparseArray
from relscape.solvers.result import SolveResult

__all__ = ["VARIANTS", "Fitted", "Problem", "about", "dragged", "fit_variant", "spread"]

VARIANTS = ("E1", "E2", "E3", "E4", "P1", "P2", "P3", "P4", "eigen")
_LINEAR = 1e-10  # residual to which E1 is solved where it only begins something
_USUAL_SCALE = {"E4": 2.0}  # E2 and E3 look for theirs, all others take 1


@dataclass(frozen=True, eq=False)
class Problem:
    """What a variant is fitted on."""

    variant: str
    alpha: float
    eta: float | str
    weights: SparseArray
    confidence: Any
    layout: Layout
    anchors: Anchors | None
    start: Start | None
    cohorts: Cohorts
    features: Features | None
    links: SparseArray | None
    local: str = "joint"

    def objective(self, prototypes: FloatArray, anchors: Anchors | None) -> CohortObjective:
        """Give what is minimised, in the places of the samples."""
        number = "1" if self.variant == "eigen" else self.variant[1]
        return CohortObjective(
            self.weights, self.confidence, prototypes, self.alpha, number, anchors, local=self.local
        )

    def among(self, there: BoolArray) -> Problem:
        """Keep some of the samples; no other has weights or confidences with them."""
        index = np.flatnonzero(there)
        anchors, start = self.anchors, self.start
        if anchors is not None:  # anchored samples are held, so all of them are there
            anchors = replace(anchors, index=np.searchsorted(index, anchors.index))
        if start is not None:
            start = replace(start, places=start.places[index])
        return replace(
            self,
            weights=self.weights[index][:, index],
            confidence=self.confidence[index],
            anchors=anchors,
            start=start,
            cohorts=replace(self.cohorts, codes=self.cohorts.codes[index], given=self.cohorts.given[index]),
            features=None if self.features is None else self.features[index],
            links=None if self.links is None else self.links[index][:, index],
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a variant has learned; parts that it does not have are None."""

    embedding: FloatArray
    prototypes: FloatArray
    scale: float
    objective: tuple[float, float]
    solved: SolveResult
    eta: float = np.nan
    response: FloatArray | None = None
    anchor_response: FloatArray | None = None
    projection: FloatArray | None = None
    origin: FloatArray | None = None
    prototype_map: FloatArray | None = None
    relations: Any = None
    feature_settings: Any = None

    def among_more(self, there: BoolArray) -> Fitted:
        """Give the same among more samples; those that were left out have no place."""
        return replace(
            self,
            embedding=spread(self.embedding, there),
            response=None if self.response is None else spread(self.response, there),
            anchor_response=None if self.anchor_response is None else spread(self.anchor_response, there),
        )


def spread(rows: FloatArray, there: BoolArray) -> FloatArray:
    """Give rows to the samples that are there, NaN to the others."""
    whole = np.full((there.size, rows.shape[1]), np.nan)
    whole[there] = rows
    return whole


def fit_variant(
    problem: Problem,
    effort: Effort,
    rng: np.random.Generator,
    scale: float | None,
    features: Any,
    retraction: str,
    batch_size: int | None,
    keep_response: bool,
) -> Fitted:
    """Fit a variant. The options are COVA's parameters of these names, ``scale`` None for "auto"."""
    if problem.variant == "E1":
        return _fit_linear(problem, effort, scale, keep_response)
    if problem.variant[0] == "E":
        return _fit_places(problem, effort, scale, rng)
    if problem.features is None:
        raise DataError(
            f"{problem.variant} projects features, so it needs X; without features choose a variant E."
        )
    return _fit_projection(problem, effort, scale, features, retraction, batch_size, rng)


def _sized(problem: Problem, scale: float | None, rule: float) -> tuple[FloatArray, float]:
    cohorts = problem.cohorts
    return problem.layout.sized(scale, rule, cohorts.names, cohorts.codes, problem.start)


def _fit_linear(problem: Problem, effort: Effort, scale: float | None, keep_response: bool) -> Fitted:
    prototypes, factor = _sized(problem, scale, 1.0)
    given = problem.weights, problem.confidence
    response = anchored = None
    if keep_response:
        response, anchored, solved = linear_response(*given, problem.alpha, problem.anchors, effort.tolerance)
        places = dragged(response, anchored, prototypes, problem.anchors)
    else:
        places, solved = linear_places(*given, prototypes, problem.alpha, problem.anchors, effort.tolerance)
    objective = problem.objective(prototypes, problem.anchors)
    solved = replace(solved, value=objective.value_and_gradient(places)[0])
    return Fitted(
        places, prototypes, factor, objective.terms(places), solved,
        response=response, anchor_response=anchored,
    )  # fmt: skip


def dragged(
    response: FloatArray, anchored: FloatArray, prototypes: FloatArray, anchors: Anchors | None
) -> FloatArray:
    """Give E1's places: what the prototypes and the anchored places contribute to each."""
    places = response @ prototypes
    return places if anchors is None else places + anchored @ anchors.places


def _fit_places(problem: Problem, effort: Effort, scale: float | None, rng: np.random.Generator) -> Fitted:
    given = problem.weights, problem.confidence
    alpha = max(problem.alpha, 1e-3)  # E1 begins and has no answer without cohorts
    rule = _USUAL_SCALE.get(problem.variant, 1.0)
    if problem.layout.automatic and scale is None and problem.variant in ("E2", "E3"):
        rule = _suiting_scale(problem, alpha)
    prototypes, factor = _sized(problem, scale, rule)
    first, _ = linear_places(*given, prototypes, alpha, problem.anchors, _LINEAR)
    size = float(np.sqrt(((prototypes - prototypes.mean(axis=0)) ** 2).sum(axis=1).mean()))
    begin = jittered(first, size or 1.0, rng)
    if problem.start is not None and problem.start.alike:
        known = np.isfinite(problem.start.places).all(axis=1)
        begin[known] = problem.start.places[known]
    objective = problem.objective(prototypes, problem.anchors)
    solved = descend(objective, begin, effort)
    return Fitted(
        solved.point, prototypes, factor, objective.terms(solved.point), replace(solved, point=np.empty(0))
    )


def _suiting_scale(problem: Problem, alpha: float) -> float:
    """Find the scale of prototypes of radius 1 whose E1 picture, without anchors, keeps neighbours best."""
    there = held(problem.weights, problem.confidence, None)
    among = replace(problem, anchors=None)
    if not there.all():
        among = among.among(there)
    unit, _ = linear_places(among.weights, among.confidence, problem.layout.places, alpha, None, _LINEAR)
    return best_scale(among.weights / among.weights.sum(), unit, among.cohorts.codes)


def _fit_projection(
    problem: Problem,
    effort: Effort,
    scale: float | None,
    features: Any,
    retraction: str,
    batch_size: int | None,
    rng: np.random.Generator,
) -> Fitted:
    settings = RelationFeatures(measure=features) if isinstance(features, str) else features
    if not isinstance(settings, RelationFeatures):
        raise ParameterError(f"features={features!r}: give the name of a measure, or RelationFeatures.")
    prototypes, factor = _sized(problem, scale, 1.0)
    origin = prototypes.mean(axis=0)  # a projection cannot shift, so prototypes come to its origin
    centred = prototypes - origin
    anchors = about(problem.anchors, origin)
    cohorts, given = problem.cohorts, (problem.weights, problem.confidence)
    relations = settings.fit(problem.features, cohorts.codes, len(cohorts.names), rng, problem.links)
    size = feature_scale(relations.table, problem.alpha, *given, centred)
    relations = relations.scaled(max(size, np.finfo(float).tiny))
    table = relations.table
    shared = {"origin": origin, "relations": relations, "feature_settings": settings}
    if problem.variant == "eigen":
        return _fit_eigen(problem, table, centred, anchors, factor, shared)
    begin = projection_start(table, *given, centred, problem.alpha)
    objective = problem.objective(centred, anchors)
    solved = project(objective, table, begin, retraction, effort, batch_size, rng)
    places = table @ solved.point
    return Fitted(
        places + origin, prototypes, factor, objective.terms(places), replace(solved, point=np.empty(0)),
        projection=solved.point, **shared,
    )  # fmt: skip


def about(anchors: Anchors | None, origin: FloatArray) -> Anchors | None:
    """Give anchors as seen from another origin."""
    return None if anchors is None else replace(anchors, places=anchors.places - origin)


def _fit_eigen(
    problem: Problem,
    table: FloatArray,
    centred: FloatArray,
    anchors: Anchors | None,
    factor: float,
    shared: dict[str, Any],
) -> Fitted:
    found = eigen_cova(
        table, problem.weights, problem.confidence, centred, problem.alpha, problem.eta, anchors
    )
    turn: FloatArray = np.eye(centred.shape[1])
    if problem.start is not None and problem.layout.automatic:
        names, codes = problem.cohorts.names, problem.cohorts.codes
        turn = _turn_between(
            found.prototypes, turned_to(found.prototypes, names, codes, problem.start, False)[0]
        )
    projection, mapping = found.projection @ turn, found.prototype_map @ turn
    places, shown, origin = table @ projection, centred @ mapping, shared["origin"]
    objective = problem.objective(shown, None)
    value = float(found.eigenvalues.sum())
    reason = "every axis lowers the objective" if found.negative else "an axis shows nothing of the cohorts"
    return Fitted(
        places + origin, shown + origin, factor, objective.terms(places),
        SolveResult(np.empty(0), value, 0, found.negative, reason),
        eta=found.eta, projection=projection, prototype_map=mapping, **shared,
    )  # fmt: skip


def _turn_between(points: FloatArray, target: FloatArray) -> FloatArray:
    """Find the rotation or mirroring that brings points nearest to their targets."""
    left, _, right = np.linalg.svd((points - points.mean(axis=0)).T @ (target - target.mean(axis=0)))
    return np.asarray(left @ right)
