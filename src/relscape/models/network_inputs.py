"""The documents and links a network model is fitted on, brought into one form."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from relscape.data import EntitySet, RelationalData
from relscape.data.links import FEWEST_DOCUMENTS, link_relation, linked_documents, read_links
from relscape.errors import DataError
from relscape.models.feature_inputs import Features, read_features
from relscape.protocols import IntArray

__all__ = ["GivenNetwork", "in_direction", "read_network"]


@dataclass(frozen=True, eq=False)
class GivenNetwork:
    """Documents with their contents (n × d; None where there are none), and links as pairs (from, to)."""

    contents: Features | None
    documents: EntitySet
    words: EntitySet | None
    pairs: IntArray
    fingerprint: str


def read_network(estimator: Any, X: Any, links: Any) -> GivenNetwork:
    """Read contents and links; RelationalData may hold both."""
    if isinstance(X, RelationalData):
        X, links = _parted(X, links)
    if links is None:
        raise DataError(
            "there are no links: give them as fit(X, links), or RelationalData with a relation within the "
            "documents."
        )
    if X is None:
        contents, words, digest = None, None, ""
        documents = linked_documents(links)
    else:
        given = read_features(estimator, X)
        contents, words, digest = given.matrix, given.features, given.fingerprint
        documents = given.samples
    if len(documents) < FEWEST_DOCUMENTS:
        raise DataError(f"there are {len(documents)} documents; a network needs at least {FEWEST_DOCUMENTS}.")
    pairs = read_links(links, documents.ids)
    fingerprint = hashlib.sha256(digest.encode() + np.ascontiguousarray(pairs).tobytes()).hexdigest()
    return GivenNetwork(contents, documents, words, pairs, fingerprint)


def _parted(data: RelationalData, links: Any) -> tuple[RelationalData | None, Any]:
    """Part the relation that gives contents from the one within the documents that links them."""
    between = [relation.name for relation in data.relations.values() if relation.rows != relation.columns]
    if links is None:
        within = link_relation(data)
        links = data.only(within.name)
        turned = [name for name in between if data.relations[name].columns == within.rows]
        between = [name for name in between if data.relations[name].rows == within.rows]
        if turned and not between:
            raise DataError(
                f"relation {turned[0]!r} has {within.rows} as columns; expected documents as rows. Turn it "
                f"round to have it as contents, or give the links alone: data.only({within.name!r})."
            )
    if len(between) > 1:
        raise DataError(
            f"the data has {len(between)} relations that could be the contents ({', '.join(between)}); keep "
            "one, with data.only(name), and give the links apart."
        )
    return (data.only(between[0]) if between else None), links


def in_direction(pairs: IntArray, direction: str) -> IntArray:
    """Turn links (from, to) into the rows and columns of a model; sorted by row."""
    return pairs if direction == "out" else np.unique(pairs[:, ::-1], axis=0).reshape(-1, 2)
