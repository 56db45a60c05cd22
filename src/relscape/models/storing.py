"""Settings, fitted parts and sparse arrays as plain values with arrays beside them, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.errors import FormatError
from relscape.matrix.spread_weights import SpreadWeights
from relscape.protocols import AnyArray, BlockedRelation

__all__ = ["STORED_CLASSES", "restore", "store"]

_AFFINITY = "relscape.matrix.affinity"
_CONFIDENCE = "relscape.matrix.confidence"
_FEATURES = "relscape.matrix.features"
_PROTOTYPES = "relscape.models.prototypes"

# Small frozen classes that a model can have as a parameter or learn, and where they live.
STORED_CLASSES = {
    "Anchors": "relscape.objectives.cohort",
    "Affinity": _AFFINITY,
    "CosineAffinity": _AFFINITY,
    "DistanceAffinity": _AFFINITY,
    "GaussianAffinity": _AFFINITY,
    "Confidence": _CONFIDENCE,
    "GaussianConfidence": _CONFIDENCE,
    "KernelConfidence": _CONFIDENCE,
    "RangeConfidence": _CONFIDENCE,
    "StudentConfidence": _CONFIDENCE,
    "Compaction": "relscape.matrix.compaction",
    "FittedFeatures": _FEATURES,
    "RelationFeatures": _FEATURES,
    "KernelMap": "relscape.matrix.kernels",
    "LaplacianPrototypes": _PROTOTYPES,
    "MDSPrototypes": _PROTOTYPES,
    "MeanPrototypes": _PROTOTYPES,
    "SNEPrototypes": _PROTOTYPES,
    "TSNEPrototypes": _PROTOTYPES,
}
_CLASS, _SPARSE, _ARRAY = "class", "sparse", "array"


def store(name: str, value: Any, arrays: dict[str, AnyArray]) -> Any:
    """Give a value as JSON can say it; its arrays go under ``name`` among the arrays."""
    if is_dataclass(value) and type(value).__name__ in STORED_CLASSES:
        parts = {f.name: store(f"{name}.{f.name}", getattr(value, f.name), arrays) for f in fields(value)}
        return {_CLASS: type(value).__name__, **parts}
    if issparse(value):
        table = csr_array(value)
        arrays[f"{name}.data"] = table.data
        arrays[f"{name}.indices"], arrays[f"{name}.indptr"] = table.indices, table.indptr
        return {_SPARSE: [int(size) for size in table.shape]}
    if isinstance(value, SpreadWeights | BlockedRelation):
        return None  # what lies on a cluster stays there
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {_ARRAY: list(value.shape)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {key: store(f"{name}.{key}", part, arrays) for key, part in value.items()}
    return value


def restore(name: str, stored: Any, arrays: Mapping[str, AnyArray]) -> Any:
    """Build what :func:`store` laid down."""
    if not isinstance(stored, Mapping):
        return stored
    if _SPARSE in stored and f"{name}.indptr" in arrays:
        return _sparse(stored[_SPARSE], *(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr")))
    if _ARRAY in stored and name in arrays:
        return arrays[name]
    parts = {key: restore(f"{name}.{key}", part, arrays) for key, part in stored.items()}
    if _CLASS not in stored:
        return parts
    kind = parts.pop(_CLASS)
    if kind not in STORED_CLASSES:
        raise FormatError(
            f"this saved model has a part of class {kind!r}, which this relscape does not know."
        )
    return getattr(import_module(STORED_CLASSES[kind]), kind)(**parts)


def _sparse(shape: Sequence[int], data: AnyArray, indices: AnyArray, indptr: AnyArray) -> csr_array:
    """Build a sparse array; products would follow wrong positions beyond the arrays."""
    if len(indptr) == 0 or indptr[-1] != len(data):  # SciPy's own check passes over a last one below zero
        raise FormatError("this saved model has a sparse array whose rows do not end where its values do.")
    table = csr_array((data, indices, indptr), shape=tuple(shape))
    table.check_format(full_check=True)
    return table
