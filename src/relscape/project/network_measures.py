"""What is told of a fit to a document network: ranks of training and test links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["AUC", "HITS", "MEASURES", "TEST", "TRAIN", "measures_of"]

TRAIN, TEST = "train rank", "test rank"
RECIPROCAL_RANK, HITS, AUC = "MRR", "hits@10", "AUC"
MEASURES = (TRAIN, f"± {TRAIN}", TEST, f"± {TEST}", RECIPROCAL_RANK, HITS, AUC, "CPU seconds")


def measures_of(train: Mapping[str, Any], test: Mapping[str, Any]) -> dict[str, float]:
    """Read the measures off two reports: mean ranks of both are raw, ties counting half.

    MRR, hits@10 (in percent) and AUC are of the test links, filtered.
    """
    filtered = test["filtered"]
    return {
        TRAIN: train["mean_rank"],
        TEST: test["mean_rank"],
        RECIPROCAL_RANK: filtered["mrr"],
        HITS: 100.0 * filtered["hits"]["10"],
        AUC: filtered["auc"],
    }
