"""What a co-embedding can be fitted on or asked to place, brought into one form."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from relscape.data import EntitySet, RelationalData
from relscape.data.arrays import plain_array
from relscape.data.frames import WideTable, wide_table
from relscape.data.labels import as_text, match
from relscape.errors import DataError, RelscapeWarning, listing
from relscape.matrix.operators import LocalRelation
from relscape.protocols import AnyArray, BlockedRelation, IntArray, RelationOperator, SparseArray, TextArray

__all__ = [
    "GivenRelation",
    "check_here",
    "known_places",
    "matched",
    "matrix_digest",
    "read_new",
    "read_relation",
    "rearranged",
    "refuse_negative",
]


@dataclass(frozen=True, eq=False)
class GivenRelation:
    """A relation with the things it joins and a digest of its content."""

    relation: RelationOperator
    rows: EntitySet
    columns: EntitySet
    fingerprint: str


def read_relation(estimator: BaseEstimator, X: Any) -> GivenRelation:
    """Read the relation to fit, of any form, and remember its width and names on the estimator."""
    X = _named_data(X)
    if isinstance(X, str | Path):
        raise DataError(f"{X}: read the file first, with relscape.read or relscape.read_text.")
    if isinstance(X, RelationalData):
        relation = X.relation()
        rows, columns = X.entities[relation.rows], X.entities[relation.columns]
        if relation.rows == relation.columns:  # one kind in two roles
            rows = replace(rows, kind=f"{relation.rows}-row")
            columns = replace(columns, kind=f"{relation.rows}-column")
        matrix = relation.matrix
        estimator.n_features_in_ = len(columns)
    elif isinstance(X, RelationOperator) and not issparse(X):
        rows = getattr(X, "row_entities", None) or _named("row", None, X.shape[0])
        columns = getattr(X, "column_entities", None) or _named("column", None, X.shape[1])
        estimator.n_features_in_ = X.shape[1]
        return GivenRelation(X, rows, columns, getattr(X, "fingerprint", ""))
    else:
        matrix, wide = _read_array(estimator, X, reset=True)
        row_kind, column_kind = wide.kinds if wide else ("row", "column")
        rows = _named(row_kind, wide.row_ids if wide else None, matrix.shape[0])
        columns = _named(column_kind, wide.column_ids if wide else None, matrix.shape[1])
    refuse_negative(matrix, rows, columns)
    relation_ = LocalRelation(matrix)
    fingerprint = X.fingerprint() if isinstance(X, RelationalData) else matrix_digest(relation_.matrix)
    return GivenRelation(relation_, rows, columns, fingerprint)


def read_new(estimator: Any, X: Any, axis: int) -> tuple[SparseArray, TextArray | None]:
    """Read the relations of new objects: rows (``axis`` 0, q × n) or columns (``axis`` 1, m × q).

    Arrays must be as wide (high) as at fit; named data is matched by id, and what the model has
    never seen is left out with a warning. Returns CSR with the known side in fitted order, and the
    names of the new objects where they have some.
    """
    known = estimator.column_entities_ if axis == 0 else estimator.row_entities_
    X = _named_data(X)
    if isinstance(X, RelationalData):
        relation = X.relation()
        refuse_negative(relation.matrix, X.entities[relation.rows], X.entities[relation.columns])
        if known.kind not in (relation.rows, relation.columns):
            raise DataError(
                f"new things are placed by their relations to {known.kind!r}, but the data joins "
                f"{relation.rows!r} and {relation.columns!r}."
            )
        fresh = relation.rows if known.kind == relation.columns else relation.columns
        by_fresh = relation.matrix if fresh == relation.rows else csr_array(relation.matrix.T)
        known_order = matched(by_fresh, X.entities[known.kind].ids, known)
        return (known_order if axis == 0 else csr_array(known_order.T)), X.entities[fresh].ids
    if axis == 0:
        matrix, wide = _read_array(estimator, X, reset=False)
        names = wide.row_ids if wide else None
    else:
        matrix, names = _read_columns(X, len(known))
    refuse_negative(matrix, None, None)
    return csr_array(matrix), names


def _read_array(estimator: BaseEstimator, X: Any, reset: bool) -> tuple[AnyArray, WideTable | None]:
    """Check an array, sparse array or wide frame the way scikit-learn does; keep a frame's names."""
    wide = None
    if hasattr(X, "__arrow_c_stream__"):
        wide = wide_table(X)
        X = X.iloc[:, wide.positions] if hasattr(X, "iloc") else X[:, wide.positions]
    matrix = validate_data(
        estimator,
        plain_array(X),
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_min_samples=1,
        ensure_min_features=1,
    )
    return matrix, wide


def _read_columns(X: Any, height: int) -> tuple[AnyArray, TextArray | None]:
    names = None
    if hasattr(X, "__arrow_c_stream__"):
        wide = wide_table(X)
        X, names = wide.matrix, wide.column_ids
    X = plain_array(X)
    matrix = csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != height:
        raise DataError(
            f"new columns come as an array of {height} rows (one a fitted row object), not of shape "
            f"{matrix.shape}."
        )
    values = matrix.data if issparse(matrix) else matrix
    if not np.isfinite(values).all():
        raise DataError("the relations of the new columns contain NaN or infinity.")
    return matrix, names


def matched(matrix: SparseArray, ids: TextArray, known: EntitySet) -> SparseArray:
    """Rearrange the known things (columns) of new relations into the order the model was fitted in."""
    return rearranged(matrix, known_places(ids, known), len(known))


def known_places(ids: TextArray, known: EntitySet) -> IntArray:
    """Find the known things among those that were fitted; -1, with a warning, for what was not there."""
    at = match(ids, known.ids)
    seen = at >= 0
    if not seen.any():
        raise DataError(
            f"none of the {len(ids)} ids of kind {known.kind!r} ({listing(ids, 3)}) was there when the model "
            f"was fitted ({listing(known.ids, 3)}); new things are placed by what they share with the old. "
            "If the new things are of that kind themselves, say so with kind (--kind)."
        )
    if not seen.all():
        warnings.warn(
            f"{(~seen).sum()} of {len(ids)} ids of kind {known.kind!r} were not there when the model "
            f"was fitted and are left out: {listing(ids[~seen])}.",
            RelscapeWarning,
            stacklevel=5,
        )
    return np.asarray(at)


def rearranged(matrix: SparseArray, at: IntArray, width: int) -> SparseArray:
    """Put every column where ``at`` says, among so many; those at -1 are left out."""
    entries = matrix.tocoo()
    keep = at[entries.coords[1]] >= 0
    return csr_array(
        (entries.data[keep], (entries.coords[0][keep], at[entries.coords[1][keep]])),
        shape=(matrix.shape[0], width),
    )


def _named_data(X: Any) -> Any:
    """Take an Arrow table, which scikit-learn does not know, as named data; leave all else alone."""
    return RelationalData.from_frame(X) if isinstance(X, pa.Table) else X


def _named(kind: str, ids: TextArray | None, size: int) -> EntitySet:
    return EntitySet(kind, as_text(range(size)) if ids is None else ids)


def refuse_negative(matrix: Any, rows: EntitySet | None, columns: EntitySet | None) -> None:
    """Refuse negative weights, naming the first by the things it joins, or by its position."""
    values = matrix.data if issparse(matrix) else matrix
    if values.size == 0 or values.min() >= 0:
        return
    entries = csr_array(matrix).tocoo()
    first = int(np.flatnonzero(entries.data < 0)[0])
    i, j = (int(c[first]) for c in entries.coords)
    row = f"{rows.kind} {rows.ids[i]!r}" if rows else f"row {i}"
    column = f"{columns.kind} {columns.ids[j]!r}" if columns else f"column {j}"
    raise DataError(
        f"Negative values in data: {(entries.data < 0).sum()} weights, the first {entries.data[first]:g} "
        f"between {row} and {column}. A weight says how strongly two things are related: 0 or more."
    )


def check_here(relation: RelationOperator, model: str) -> None:
    """Refuse a relation that lies on other machines, for models that need it in one place."""
    if isinstance(relation, BlockedRelation):
        raise DataError(
            f"{model} needs the whole relation in one place, but this one lies in blocks on a cluster; "
            "fit it without workers, or take CODE or a spectral model."
        )


def matrix_digest(matrix: Any) -> str:
    """Digest the content of a matrix, whatever precision or index width it is stored in."""
    digest = hashlib.sha256(str(matrix.shape).encode())
    if issparse(matrix):
        digest.update(np.ascontiguousarray(matrix.indptr, dtype=np.int64).data)
        digest.update(np.ascontiguousarray(matrix.indices, dtype=np.int64).data)
    values = matrix.data if issparse(matrix) else matrix
    digest.update(np.ascontiguousarray(values, dtype=np.float64).data)
    return digest.hexdigest()
