"""Choosing parameters by fitting whole models and reading their scores."""

from relscape.tuning.cohorts import (
    choose_weights,
    e1_local_budget,
    keep_local_objective,
    keep_neighbourhoods,
)
from relscape.tuning.trials import Choice, Trial

__all__ = [
    "Choice",
    "Trial",
    "choose_weights",
    "e1_local_budget",
    "keep_local_objective",
    "keep_neighbourhoods",
]
