"""The samples of a fitted COVA for other prototypes: what dragging a cohort on a map does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relscape.data.cohorts import Cohorts
from relscape.errors import ParameterError
from relscape.matrix.features import FittedFeatures
from relscape.models.cova_fitting import Effort, descend, linear_places, project
from relscape.models.cova_problem import Layout
from relscape.models.cova_settings import tolerance_of
from relscape.models.cova_variants import Problem, about, dragged, spread
from relscape.models.eigen_cova import eigen_cova
from relscape.objectives.cohort import Anchors
from relscape.protocols import FloatArray
from relscape.threads import one_thread

__all__ = ["Moved", "moved"]

_FLAT = 1e8


@dataclass(frozen=True, eq=False)
class Moved:
    """What a COVA would have learned for other prototypes; parts that its variant does not have are None."""

    embedding: FloatArray
    prototypes: FloatArray
    projection: FloatArray | None = None
    origin: FloatArray | None = None
    eta: float = np.nan

    def adopt(self, model: Any) -> None:
        """Make a model the moved one, which places new samples, and can be moved again."""
        if model.variant == "eigen":  # its anchors keep their places among the prototypes
            model.anchors_ = about(model.anchors_, model.origin_ - self.origin)
        model.embedding_, model.prototypes_, model.eta_ = self.embedding, self.prototypes, self.eta
        if self.projection is not None:
            model.projection_, model.origin_ = self.projection, self.origin


def moved(model: Any, prototypes: FloatArray, start: FloatArray) -> Moved:
    """Find what a fitted COVA's samples do for other prototypes; the model stays as it is."""
    effort = Effort(model.solver, tolerance_of(model), model.max_iterations)
    with one_thread():
        if model.variant[0] != "E":
            return _moved_projection(model, prototypes, effort)
        return Moved(_moved_places(model, prototypes, start, effort), prototypes)


def _moved_places(model: Any, prototypes: FloatArray, start: FloatArray, effort: Effort) -> FloatArray:
    anchors: Anchors | None = model.anchors_
    if hasattr(model, "response_"):
        return dragged(model.response_, model.anchor_response_, prototypes, anchors)
    there = np.isfinite(model.embedding_).all(axis=1)
    problem = _problem(model, prototypes)
    problem = problem if there.all() else problem.among(there)
    if model.variant == "E1":
        places, _ = linear_places(
            problem.weights, problem.confidence, prototypes, problem.alpha, problem.anchors, effort.tolerance,
            start[there],
        )  # fmt: skip
    else:
        places = descend(problem.objective(prototypes, problem.anchors), start[there], effort).point
    return places if there.all() else spread(places, there)


def _problem(model: Any, prototypes: FloatArray) -> Problem:
    layout = Layout(prototypes, automatic=False)
    cohorts = Cohorts(model.cohorts_, model.cohorts_, model.labels_, ~model.predicted_)
    return Problem(
        model.variant, model.alpha_, model.eta_, model.affinity_, model.confidence_, layout, model.anchors_,
        None, cohorts, None, None, model.local,
    )  # fmt: skip


def _moved_projection(model: Any, prototypes: FloatArray, effort: Effort) -> Moved:
    problem = _problem(model, prototypes)
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
        return Moved(relations.table @ found.point + origin, prototypes, found.point, origin)
    # The map shows V V_p: what was moved there is taken back to the layout before its axes were turned and
    # stretched, and what comes of it is turned and stretched alike.
    shown: FloatArray = model.prototype_map_
    _refuse_flat(shown)
    if anchors is not None:
        anchors = replace(anchors, places=problem.anchors.places - model.origin_)  # type: ignore[union-attr]
    layout = np.linalg.solve(shown.T, centred.T).T
    table = relations.table
    again = eigen_cova(table, problem.weights, problem.confidence, layout, problem.alpha, model.eta, anchors)
    _refuse_flat(again.prototype_map)
    projection = again.projection @ np.linalg.solve(again.prototype_map, shown)
    return Moved(table @ projection + origin, prototypes, projection, origin, again.eta)


def _refuse_flat(mapping: FloatArray) -> None:
    """Refuse to move prototypes where an axis does not show them."""
    if np.linalg.cond(mapping) > _FLAT:
        raise ParameterError(
            "an axis of this eigen-COVA shows nothing of the cohorts, so prototypes cannot be moved; fit it "
            "with a smaller eta."
        )
