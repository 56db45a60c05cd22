"""How well a map shows the relation it was made from."""

from __future__ import annotations

from typing import Any

from relscape import progress
from relscape.data import Relation
from relscape.maps import Map

__all__ = ["relation_scores"]


def relation_scores(
    joint: Map, truth: Relation, k_rows: int = 5, k_columns: int = 5, ties: str = "positive"
) -> dict[str, Any]:
    """Measure Γ, the mutual neighbours that a map loses, and the mean rank of what is most related."""
    from relscape.scores import gamma_terms, mean_rank

    left, right = joint.coordinates(truth.rows), joint.coordinates(truth.columns)
    m, n = truth.matrix.shape
    progress.note(f"scoring {m:,} × {n:,} things: about {max(1, round(8e-9 * m * n))} seconds")
    with progress.task("Γ"):
        gamma = gamma_terms(truth.matrix, left, right, k_rows, k_columns, ties)
    with progress.task("mean rank"):
        rank = mean_rank(truth.matrix, left, right)
    return {
        "gamma_loss": gamma.loss,
        "gamma_pairs": gamma.pairs,
        "gamma_ratio": gamma.ratio,
        "mean_rank": rank,
    }
