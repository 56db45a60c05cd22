"""How well a map of guided kinds satisfies the guidance that it carries."""

from __future__ import annotations

from typing import Any

from relscape import progress
from relscape.data import Relation
from relscape.maps import Map

__all__ = ["GUIDANCE_COUNTS", "guidance_scores"]

GUIDANCE_COUNTS = ("similar_pairs", "dissimilar_pairs")


def guidance_scores(joint: Map) -> dict[str, dict[str, Any]]:
    """Measure a map by every relation it carries as guidance; figures without any pairs are left out."""
    guidance = [relation for relation in joint.relations.values() if relation.matrix.nnz]
    pairs = sum(relation.matrix.shape[0] * relation.matrix.shape[1] for relation in guidance)
    progress.note(
        f"scoring {pairs:,} pairs: about {max(1, round(7e-9 * joint.n_components * pairs))} seconds"
    )
    with progress.task("guidance", len(guidance)) as task:
        scores = {}
        for relation in guidance:
            scores[relation.name] = _measured(joint, relation)
            task.advance()
    return scores


def _measured(joint: Map, relation: Relation) -> dict[str, Any]:
    from relscape.scores import guess_ndcg, guidance_satisfaction, ndcg

    within = relation.rows == relation.columns
    weights, rows = relation.matrix, joint.coordinates(relation.rows)
    columns = None if within else joint.coordinates(relation.columns)
    counts = [int(chosen.sum()) // (2 if within else 1) for chosen in (weights.data > 0, weights.data < 0)]
    found = guidance_satisfaction(weights, rows, columns, thresholds=[1.0])
    scores: dict[str, Any] = dict(zip(GUIDANCE_COUNTS, counts, strict=True))
    if counts[0]:
        scores |= {
            "closest_half": found.closest_half,
            "nearer_than_mean": float(found.similar[0]),
            "ndcg": ndcg(weights, rows, columns),
            "guess_ndcg": guess_ndcg(weights, weights),
        }
    if counts[1]:
        scores["farther_than_mean"] = float(found.dissimilar[0])
    return scores
