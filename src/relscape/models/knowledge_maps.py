"""Entities and relations of a trained knowledge graph on one map."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.data.triples import KnowledgeGraph
from relscape.maps import Group, Map
from relscape.models.state import plain_parameters
from relscape.protocols import FloatArray

__all__ = ["map_of", "relation_points"]

_PACKAGES = ("relscape", "numpy", "scipy", "numba")


def map_of(model: Any, graph: KnowledgeGraph) -> Map:
    """Lay entities and relations out in the space of the entities' vectors, with degrees as fields."""
    points = model.params_["entities"]
    degrees = np.bincount(graph.train[:, [0, 2]].ravel(), minlength=graph.n_entities)
    counts = np.bincount(graph.train[:, 1], minlength=graph.n_relations)
    return Map(
        [
            Group("entity", graph.entities, points, graph.entity_labels, None, {"degree": degrees}),
            Group(
                "relation",
                graph.relations,
                relation_points(model.params_, graph),
                None,
                None,
                {"degree": counts},
            ),
        ],
        model=type(model).__name__,
        parameters=plain_parameters(model),
        scores={f"validation {name}": value for name, value in model.validation_.items()},
        provenance={
            "data_fingerprint": model.data_fingerprint_,
            "packages": {name: version(name) for name in _PACKAGES},
            "python": platform.python_version(),
            "random_state": model.random_state,
        },
        drawn_by={"method": "pca" if points.shape[1] > 2 else "axes"},
    )


def relation_points(params: dict[str, FloatArray], graph: KnowledgeGraph) -> FloatArray:
    """Give every relation a place among the entities' vectors.

    Its own vector where that is as long as theirs; otherwise (matrices, angles) the mean way from head to
    tail over its training triples, 0 for a relation without any.
    """
    entities, relations = params["entities"], params["relations"][: graph.n_relations]
    if relations.shape[1] == entities.shape[1]:
        return relations
    head, relation, tail = graph.train.T
    shares = 1.0 / np.bincount(relation, minlength=graph.n_relations)[relation]
    places = (np.tile(relation, 2), np.concatenate([tail, head]))
    means = csr_array(
        (np.concatenate([shares, -shares]), places), shape=(graph.n_relations, graph.n_entities)
    )
    return np.asarray(means @ entities.astype(np.float64), dtype=entities.dtype)
