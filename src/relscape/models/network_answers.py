"""Links that a model of a document network suggests, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from relscape.data import EntitySet
from relscape.data.labels import positions
from relscape.errors import ParameterError, UnknownNameError
from relscape.models.checks import check_integer
from relscape.protocols import FloatArray, IntArray

__all__ = ["SuggestedLink", "document_position", "suggested"]


class SuggestedLink(NamedTuple):
    """A document that another may be linked with, its score, and its probability where the model has one."""

    id: str
    label: str
    score: float
    probability: float | None
    known: bool


def document_position(doc: Any, documents: EntitySet) -> int:
    """Find a document by its id, its label or its position."""
    if isinstance(doc, int | np.integer) and not isinstance(doc, bool):
        if not 0 <= doc < len(documents):
            raise ParameterError(f"there is no document {doc}; positions go from 0 to {len(documents) - 1}.")
        return int(doc)
    place = positions(documents.ids).get(str(doc))
    if place is not None:
        return place
    labelled = np.flatnonzero(documents.shown == str(doc))
    if labelled.size != 1:
        raise UnknownNameError(documents.kind, doc, documents.ids)
    return int(labelled[0])


def suggested(
    scores: FloatArray,
    probabilities_of: Callable[[FloatArray], FloatArray | None],
    documents: EntitySet,
    top: int,
    known: IntArray,
    barred: IntArray,
) -> list[SuggestedLink]:
    """Give the documents of the highest scores, best first; those of score −∞ or barred are no candidates."""
    check_integer("top", top, 1)
    candidates = np.isfinite(scores)
    candidates[barred] = False
    places = np.flatnonzero(candidates)
    best = places[np.argsort(-scores[places], kind="stable")[:top]]
    linked = set(known.tolist())
    probabilities = probabilities_of(scores[best])
    return [
        SuggestedLink(
            documents.ids[j],
            documents.shown[j],
            float(scores[j]),
            None if probabilities is None else float(probabilities[place]),
            int(j) in linked,
        )
        for place, j in enumerate(best)
    ]
