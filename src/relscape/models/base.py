"""What all co-embeddings share: names, new objects, maps, saving and loading."""

from __future__ import annotations

import platform
import warnings
from abc import abstractmethod
from importlib.metadata import version
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from relscape.data import EntitySet
from relscape.errors import DataError, RelscapeWarning, listing
from relscape.maps import Group, Map
from relscape.matrix.selecting import selected
from relscape.models.checks import check_dimensions
from relscape.models.inputs import read_new, read_relation
from relscape.models.saving import SavedModel
from relscape.models.state import model_state, plain_parameters
from relscape.protocols import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    RelationOperator,
    SparseArray,
)
from relscape.threads import one_thread

__all__ = [
    "CoEmbeddingModel",
    "Part",
    "TwoKindsModel",
    "group_of",
    "told_of_lost",
]

_SMALLEST_SUM, _LARGEST_SUM = 1e-150, 1e150


class Part(NamedTuple):
    """Some rows and columns of a relation (positions, or all of them), and the relation among them."""

    rows: IntArray | slice
    columns: IntArray | slice
    relation: RelationOperator


class TwoKindsModel(SavedModel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the models that place row and column objects of one relation in one space.

    A subclass gives ``fit``, which reads the relation by ``_read`` and sets ``row_embedding_`` and
    ``column_embedding_``, NaN where an object has no place.
    """

    n_components: int
    row_embedding_: FloatArray
    column_embedding_: FloatArray
    row_entities_: EntitySet
    column_entities_: EntitySet

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the row and column objects of a relation."""

    def _read(self, X: Any) -> RelationOperator:
        """Read the relation to fit, and keep its names, digest and sums."""
        check_dimensions("n_components", self.n_components)
        given = read_relation(self, X)
        self.row_entities_, self.column_entities_ = given.rows, given.columns
        self.data_fingerprint_ = given.fingerprint
        self._note_degrees(given.relation)
        return given.relation

    def _note_degrees(self, relation: RelationOperator) -> None:
        """Keep the row and column sums, and warn of objects without any relation."""
        self.row_degrees_, self.column_degrees_ = relation.row_sums(), relation.column_sums()
        self.row_defined_, self.column_defined_ = self.row_degrees_ > 0, self.column_degrees_ > 0
        if not self.row_defined_.any():
            raise DataError("the relation is empty: no two things are related.")
        for sums in (self.row_degrees_, self.column_degrees_):
            used = sums[sums > 0]
            if not (used.min() >= _SMALLEST_SUM and used.max() <= _LARGEST_SUM):
                raise DataError(
                    f"weights sum to between {used.min():.3g} and {used.max():.3g}, beyond what can be "
                    f"computed with; scale them to lie well between {_SMALLEST_SUM:g} and {_LARGEST_SUM:g}."
                )
        missing = [
            f"{(~defined).sum()} of {defined.size} {entities.kind} objects "
            f"({listing(entities.ids[~defined], 3)})"
            for entities, defined in (
                (self.row_entities_, self.row_defined_),
                (self.column_entities_, self.column_defined_),
            )
            if not defined.all()
        ]
        if missing:
            warnings.warn(
                f"{' and '.join(missing)} have no relation at all and get no place on the map.",
                RelscapeWarning,
                stacklevel=4,
            )

    def _defined_part(self, relation: RelationOperator) -> Part:
        """Give all objects that have a relation."""
        rows, columns = self.row_defined_, self.column_defined_
        if rows.all() and columns.all():
            return Part(slice(None), slice(None), relation)
        i, j = np.flatnonzero(rows), np.flatnonzero(columns)
        return Part(i, j, selected(relation, i, j))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> FloatArray:
        """Fit and return the row objects' coordinates."""
        return self.fit(X, y, **fit_params).row_embedding_

    @property
    def _n_features_out(self) -> int:
        return int(self.row_embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    # ------------------------------------------------------------------ maps

    def to_map(self) -> Map:
        """Give the map of both kinds, with names, fields and the model itself."""
        check_is_fitted(self)
        return self._map_of(self.row_defined_, self.column_defined_)

    def _map_of(self, rows: BoolArray, columns: BoolArray) -> Map:
        sides = (
            (self.row_entities_, self.row_embedding_, rows, self._row_fields()),
            (self.column_entities_, self.column_embedding_, columns, self._column_fields()),
        )
        return Map(
            [group_of(*side) for side in sides],
            model=type(self).__name__,
            parameters=plain_parameters(self),
            provenance={
                "data_fingerprint": self.data_fingerprint_,
                "packages": {name: version(name) for name in ("relscape", "numpy", "scipy", "scikit-learn")},
                "python": platform.python_version(),
                "random_state": getattr(self, "random_state", None),
            },
            model_state=model_state(self),
        )

    def _row_fields(self) -> dict[str, AnyArray]:
        """Give what the model knows of every row object, besides its place."""
        return {"degree": self.row_degrees_}

    def _column_fields(self) -> dict[str, AnyArray]:
        return {"degree": self.column_degrees_}


class CoEmbeddingModel(TwoKindsModel):
    """Base of the models of two kinds that can also place new objects.

    A subclass gives ``_embed`` (fit a checked relation, setting ``row_embedding_`` and
    ``column_embedding_``, NaN where an object has no place), ``_place_rows`` and ``_place_columns``.
    """

    @abstractmethod
    def _embed(self, relation: RelationOperator) -> None:
        """Fit a nonnegative relation."""

    @abstractmethod
    def _place_rows(self, new: SparseArray) -> FloatArray:
        """Place new rows (q × n) on the fitted map; NaN for those without any known relation."""

    @abstractmethod
    def _place_columns(self, new: SparseArray) -> FloatArray:
        """Place new columns, given transposed (q × m)."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Place the row and column objects of a relation.

        Parameters
        ----------
        X : array, sparse array, data frame or RelationalData
            m × n, nonnegative; a larger weight means more strongly related. Frames are wide, one
            column a column object; ids are remembered.
        y : None
            Not used; for scikit-learn's pipelines.
        """
        relation = self._read(X)
        with one_thread():  # sums over several threads would end in other last digits
            self._embed(relation)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Place new row objects by their relations to the fitted columns (q × n)."""
        check_is_fitted(self)
        new, names = read_new(self, X, axis=0)
        return told_of_lost(self._place_rows(new), names, self.row_entities_.kind)

    def transform_columns(self, X: Any) -> FloatArray:
        """Place new column objects by their relations to the fitted rows (m × q)."""
        check_is_fitted(self)
        new, names = read_new(self, X, axis=1)
        return told_of_lost(self._place_columns(new.T.tocsr()), names, self.column_entities_.kind)


def group_of(entities: EntitySet, points: FloatArray, keep: BoolArray, learned: dict[str, AnyArray]) -> Group:
    """Give the things that have a place as a group of a map; their own fields come before learned ones."""
    fields = {**entities.fields, **{n: v for n, v in learned.items() if n not in entities.fields}}
    labels = None if entities.labels is None else entities.labels[keep]
    return Group(
        entities.kind, entities.ids[keep], points[keep], labels, None, {n: v[keep] for n, v in fields.items()}
    )


def told_of_lost(placed: FloatArray, names: Any, kind: str) -> FloatArray:
    """Give places back, with a warning that counts and names the new things without one."""
    lost = ~np.isfinite(placed).all(axis=1)
    if lost.any():
        shown = np.flatnonzero(lost) if names is None else names[lost]
        warnings.warn(
            f"{lost.sum()} of {len(placed)} new {kind} objects ({listing(shown, 3)}) "
            "have no relation to anything on the map and get no place.",
            RelscapeWarning,
            stacklevel=3,
        )
    return placed
