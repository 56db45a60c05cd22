"""A fingerprint of contents, whatever the precision and index width they are stored with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relscape.data.entities import EntitySet
from relscape.data.relation import Relation, without_zeros

__all__ = ["content_digest"]


def content_digest(entities: Iterable[EntitySet], relations: Iterable[Relation]) -> str:
    """Digest ids and relations in their order; fields, labels and features do not count."""
    digest = hashlib.sha256()
    for entity_set in entities:
        names = pa.array(entity_set.ids, pa.large_string())
        digest.update(f"{entity_set.kind}\0{len(entity_set)}\0".encode())
        digest.update(np.ascontiguousarray(pc.binary_length(names), dtype="<i8").data)
        digest.update(names.buffers()[2] or b"")
    for relation in relations:
        matrix = without_zeros(relation.matrix)
        digest.update(f"{relation.name}\0{relation.rows}\0{relation.columns}\0".encode())
        digest.update(np.ascontiguousarray(matrix.indptr, dtype="<i8").data)
        digest.update(np.ascontiguousarray(matrix.indices, dtype="<i8").data)
        digest.update(np.ascontiguousarray(matrix.data, dtype="<f8").data)
    return digest.hexdigest()
