"""The feature table a cohort model is fitted on or asked to place, brought into one form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import validate_data

from relscape.data import EntitySet, RelationalData
from relscape.data.arrays import plain_array
from relscape.data.frames import WideTable, arrow_table, wide_table
from relscape.data.labels import as_text
from relscape.errors import DataError, RelscapeWarning
from relscape.models.inputs import matched, matrix_digest
from relscape.protocols import IntArray, TextArray

__all__ = [
    "Features",
    "GivenFeatures",
    "read_features",
    "read_new_features",
    "same_rows",
    "warn_of_order",
]

Features: TypeAlias = Any  # n × d, float64: an array or a CSR array
SAMPLE, FEATURE = "sample", "feature"
_SMALLEST, _LARGEST = 1e-100, 1e100  # whose squares, and sums of many, still are numbers


@dataclass(frozen=True, eq=False)
class GivenFeatures:
    """A feature table (n × d), its samples and features by name, and a digest of its content."""

    matrix: Features
    samples: EntitySet
    features: EntitySet
    fingerprint: str


def read_features(estimator: Any, X: Any) -> GivenFeatures:
    """Read the features to fit, of any form, and remember their number and names on the estimator."""
    if isinstance(X, str | Path):
        raise DataError(f"{X}: read the file first, with relscape.read or your data frame library.")
    if isinstance(X, RelationalData):
        relation = X.relation()
        samples, features = X.entities[relation.rows], X.entities[relation.columns]
        if relation.rows == relation.columns:
            features = replace(features, kind=f"{relation.rows}-column")
        estimator.n_features_in_ = len(features)
        matrix = _in_double(relation.matrix)
        _check_scale(matrix, at_least=_SMALLEST)
        return GivenFeatures(matrix, _plain(samples), _plain(features), X.fingerprint())
    matrix, wide = _read_table(estimator, X, reset=True)
    _check_scale(matrix, at_least=_SMALLEST)
    sample, feature = _kinds(wide)
    samples = _numbered(sample, wide.row_ids if wide else None, matrix.shape[0])
    features = _numbered(feature, wide.column_ids if wide else None, matrix.shape[1])
    return GivenFeatures(matrix, samples, features, matrix_digest(matrix))


def read_new_features(estimator: Any, X: Any) -> tuple[Features, TextArray | None]:
    """Read the features of new samples, and their names where they have some.

    Arrays must be as wide as at fit; named data is matched by feature id, and features that the model has
    never seen are left out with a warning.
    """
    known: EntitySet = estimator.column_entities_
    if not isinstance(X, RelationalData):
        matrix, wide = _read_table(estimator, X, reset=False)
        return _as_known(estimator, matrix), wide.row_ids if wide else None
    relation = X.relation()
    if known.kind not in (relation.rows, relation.columns):
        raise DataError(
            f"new samples are placed by their {known.kind!r}, but the data joins {relation.rows!r} and "
            f"{relation.columns!r}."
        )
    fresh = relation.rows if known.kind == relation.columns else relation.columns
    by_fresh = relation.matrix if fresh == relation.rows else csr_array(relation.matrix.T)
    matrix = _in_double(matched(by_fresh, X.entities[known.kind].ids, known))
    return _as_known(estimator, matrix), X.entities[fresh].ids


def _as_known(estimator: Any, new: Features) -> Features:
    """Store new features as the fitted ones are: dense or sparse."""
    _check_scale(new)
    if issparse(estimator.features_):
        return _in_double(csr_array(new))
    return new.toarray() if issparse(new) else new


def same_rows(known: Features, new: Features) -> IntArray:
    """Find for every new row the first known row with exactly the same values; -1 where there is none."""
    places: dict[bytes, int] = {}
    for position, key in enumerate(_row_keys(known)):
        places.setdefault(key, position)
    return np.array([places.get(key, -1) for key in _row_keys(new)], dtype=np.int64)


def warn_of_order(X: Any, y: Any) -> None:
    """Warn where labels have the index of the features in another order: they are taken by position."""
    samples: Any = getattr(X, "index", None)
    labelled: Any = getattr(y, "index", None)
    if not hasattr(samples, "equals") or not hasattr(labelled, "equals") or len(samples) != len(labelled):
        return
    if not samples.equals(labelled) and bool(samples.isin(labelled).all()):
        warnings.warn(
            "the index of y is that of X in another order; labels are taken by position. If they belong to "
            "the names, give y.loc[X.index], otherwise y.to_numpy().",
            RelscapeWarning,
            stacklevel=4,
        )


def _row_keys(matrix: Features) -> list[bytes]:
    if not issparse(matrix):
        rows = np.ascontiguousarray(matrix, dtype=np.float64) + 0.0  # −0 is 0
        return [row.tobytes() for row in rows]
    table = _in_double(matrix)
    ends = table.indptr.tolist()
    indices, values = table.indices.astype(np.int64), table.data + 0.0
    return [indices[a:b].tobytes() + values[a:b].tobytes() for a, b in pairwise(ends)]


def _in_double(matrix: Any) -> Features:
    """Give features in double precision; a sparse array in canonical form, without stored zeros."""
    if not issparse(matrix):
        return np.asarray(matrix, dtype=np.float64)
    table = csr_array(matrix, dtype=np.float64)
    if table.has_canonical_format and (table.data != 0).all():
        return table
    table = table.copy()
    table.sum_duplicates()
    table.eliminate_zeros()
    return table


def _check_scale(matrix: Features, at_least: float = 0.0) -> None:
    """Refuse features whose squares are beyond what can be computed with, or all vanish."""
    values = matrix.data if issparse(matrix) else matrix
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if largest > _LARGEST or 0 < largest < at_least:
        raise DataError(
            f"the largest feature is {largest:.3g}, beyond what distances can be computed with; scale "
            f"them to lie well between {_SMALLEST:g} and {_LARGEST:g}."
        )


def _read_table(estimator: Any, X: Any, reset: bool) -> tuple[Features, WideTable | None]:
    """Check an array, sparse array or wide frame the way scikit-learn does; keep a frame's names."""
    wide = None
    if hasattr(X, "__arrow_c_stream__"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # blank cells are refused below, not read as 0
            _refuse_texts(X)
            wide = wide_table(X, "column")
        if hasattr(X, "iloc"):
            X = X.iloc[:, wide.positions]
        elif isinstance(X, pa.Table):
            X = X.select(wide.positions)
        else:
            X = X[:, wide.positions]
        _refuse_blanks(X)
    matrix = validate_data(estimator, plain_array(X), reset=reset, accept_sparse="csr", dtype=np.float64)
    return _in_double(matrix), wide


def _without_index(frame: Any) -> Any:
    """Give the columns of a frame as an Arrow table, in which a pandas index would be one more column."""
    return arrow_table(frame.reset_index(drop=True) if hasattr(frame, "iloc") else frame)


def _refuse_texts(frame: Any) -> None:
    """Refuse columns that hold no numbers, other than an index or a first one that names the samples."""
    for field in list(_without_index(frame).schema)[1:]:
        kind = field.type
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        numeric = numeric or pa.types.is_decimal(kind) or pa.types.is_null(kind)
        if not numeric:
            raise DataError(
                f"column {field.name!r} holds {kind}, but features are numbers: leave it out, give it as the "
                "labels y, or turn it into numbers."
            )


def _refuse_blanks(frame: Any) -> None:
    """Refuse missing values by the column they stand in."""
    table = _without_index(frame)
    for name in table.column_names:
        values = table.column(name).cast(pa.float64(), safe=False).to_numpy()
        blank = np.flatnonzero(np.isnan(values))
        if blank.size:
            raise DataError(
                f"Input X contains NaN: column {name!r} has {blank.size} missing values, the first at row "
                f"{blank[0]}; fill them (scikit-learn's SimpleImputer does) or drop those rows."
            )


def _kinds(wide: WideTable | None) -> tuple[str, str]:
    """Choose what to call samples and features: as a frame calls its index and columns, where it does."""
    if wide is None:
        return SAMPLE, FEATURE
    return (
        SAMPLE if wide.kinds[0] == "row" else wide.kinds[0],
        FEATURE if wide.kinds[1] == "column" else wide.kinds[1],
    )


def _numbered(kind: str, ids: TextArray | None, size: int) -> EntitySet:
    return EntitySet(kind, as_text(range(size)) if ids is None else ids)


def _plain(entities: EntitySet) -> EntitySet:
    """Leave out the attribute matrix, which is not what the model is fitted on."""
    return replace(entities, features=None, feature_names=None)
