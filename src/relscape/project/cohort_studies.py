"""Studies of COVA: prototypes, labels, weights, projections and cost, and the sets to seek a map in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relscape.project.cohort_study_cost import cost
from relscape.project.cohort_study_labels import labels
from relscape.project.cohort_study_projections import projections
from relscape.project.cohort_study_prototypes import prototypes
from relscape.project.cohort_study_sets import sets
from relscape.project.cohort_study_tools import Settings
from relscape.project.cohort_study_weights import weights
from relscape.project.outcome import Findings

__all__ = ["PROCEDURES"]

PROCEDURES: Mapping[str, Callable[[Settings], Findings]] = {
    "cohort-prototypes": prototypes,
    "cohort-labels": labels,
    "cohort-weights": weights,
    "cohort-projections": projections,
    "cohort-feasible-sets": sets,
    "cohort-cost": cost,
}
