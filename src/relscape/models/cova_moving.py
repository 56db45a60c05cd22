"""The samples of a fitted COVA for other prototypes: what dragging a cohort on a map does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relscape.data.cohorts import Cohorts
from relscape.errors import ParameterError
from relscape.matrix.features import FittedFeatures
from relscape.models.cova_fitting import Effort, descend, linear_places, project
from relscape.models.cova_problem import Layout
from relscape.models.cova_variants import Problem, about, dragged, spread, turn_between
from relscape.models.eigen_cova import eigen_cova
from relscape.objectives.cohort import Anchors
from relscape.protocols import FloatArray

__all__ = ["moved"]


def moved(model: Any, prototypes: FloatArray, start: FloatArray, effort: Effort) -> FloatArray:
    """Give the places of a fitted COVA's samples for other prototypes."""
    anchors: Anchors | None = model.anchors_
    if hasattr(model, "response_"):
        return dragged(model.response_, model.anchor_response_, prototypes, anchors)
    there = np.isfinite(model.embedding_).all(axis=1)
    layout = Layout(prototypes, automatic=False)
    cohorts = Cohorts(model.cohorts_, model.cohorts_, model.labels_, ~model.predicted_)
    problem = Problem(
        model.variant, model.alpha_, model.eta_, model.affinity_, model.confidence_, layout, anchors, None,
        cohorts, None, None,
    )  # fmt: skip
    if model.variant[0] != "E":
        return _moved_projection(model, problem, prototypes, effort)
    problem = problem if there.all() else problem.among(there)
    if model.variant == "E1":
        places, _ = linear_places(
            problem.weights, problem.confidence, prototypes, problem.alpha, problem.anchors, effort.tolerance,
            start[there],
        )  # fmt: skip
    else:
        places = descend(problem.objective(prototypes, problem.anchors), start[there], effort).point
    return places if there.all() else spread(places, there)


def _moved_projection(model: Any, problem: Problem, prototypes: FloatArray, effort: Effort) -> FloatArray:
    relations: FittedFeatures = model.relations_
    origin: FloatArray = prototypes.mean(axis=0)
    anchors = about(problem.anchors, origin)
    centred = prototypes - origin
    if model.variant != "eigen":
        objective = problem.objective(centred, anchors)
        rng = np.random.default_rng(0)
        found = project(
            objective, relations.table, model.projection_, model.retraction, effort, model.batch_size, rng
        )
        return np.asarray(relations.table @ found.point + origin)
    # The map shows V V_p: what was moved there is taken back to the layout before its axes were stretched.
    if np.linalg.cond(model.prototype_map_) > 1e8:
        raise ParameterError(
            "an axis of this eigen-COVA shows nothing of the cohorts, so prototypes cannot be moved; fit it "
            "with a smaller eta."
        )
    back = np.linalg.inv(model.prototype_map_)
    if anchors is not None:
        anchors = replace(anchors, places=problem.anchors.places - model.origin_)  # type: ignore[union-attr]
    table, layout = relations.table, centred @ back
    again = eigen_cova(table, problem.weights, problem.confidence, layout, problem.alpha, model.eta_, anchors)
    turn = turn_between(again.prototypes, centred)
    return np.asarray(table @ (again.projection @ turn) + origin)
