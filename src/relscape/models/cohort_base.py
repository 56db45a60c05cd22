"""What all cohort models share: names, features, labels, maps, saving and loading."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from relscape.data import EntitySet
from relscape.data.cohorts import Cohorts
from relscape.maps import Group, Map
from relscape.models.base import group_of
from relscape.models.cohort_scores import map_scores
from relscape.models.feature_inputs import Features, read_features
from relscape.models.saving import SavedModel
from relscape.models.state import model_state, plain_parameters
from relscape.protocols import AnyArray, BoolArray, FloatArray, IntArray, TextArray

__all__ = ["CohortModel"]

_PACKAGES = ("relscape", "numpy", "scipy", "scikit-learn")


class CohortModel(SavedModel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the models that place samples, given by features, with or without cohorts.

    A subclass gives ``fit``, which calls ``_keep_features`` and, where there are labels,
    ``_keep_cohorts``, and sets ``embedding_`` (NaN where a sample has no place). It may add what it knows
    to the map: ``_fields``, ``_more_groups``, ``_map_arrays``.
    """

    n_components: int
    embedding_: FloatArray
    features_: Features
    row_entities_: EntitySet
    column_entities_: EntitySet
    cohorts_: TextArray
    labels_: IntArray
    predicted_: BoolArray

    def _forget(self) -> None:
        """Drop what an earlier fit has learned."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _keep_features(self, X: Any) -> Features:
        """Read the features, and keep them with the names of samples and features."""
        self._forget()
        given = read_features(self, X)
        self.row_entities_, self.column_entities_ = given.samples, given.features
        self.data_fingerprint_ = given.fingerprint
        self.features_ = given.matrix
        return given.matrix

    def _keep_cohorts(self, cohorts: Cohorts) -> None:
        """Keep the cohorts' names, the cohort of every sample (-1 for none), and which were predicted."""
        self.cohorts_ = cohorts.names
        self.labels_ = cohorts.codes
        self.predicted_ = (cohorts.codes >= 0) & ~cohorts.given

    def _metric(self) -> str:
        """Say by what distance the features of samples are compared."""
        return "euclidean"

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> FloatArray:
        """Fit and return the samples' coordinates."""
        fitted = self.fit(X, y, **fit_params)
        return np.asarray(fitted.embedding_)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------ maps

    def to_map(self) -> Map:
        """Give the map of the samples, with names, fields, scores and the model itself."""
        check_is_fitted(self)
        placed = np.asarray(np.isfinite(self.embedding_).all(axis=1))
        samples = group_of(self.row_entities_, self.embedding_, placed, self._fields())
        return Map(
            [samples, *self._more_groups()],
            model=type(self).__name__,
            parameters=plain_parameters(self),
            scores=map_scores(self),
            provenance={
                "data_fingerprint": self.data_fingerprint_,
                "packages": {name: version(name) for name in _PACKAGES},
                "python": platform.python_version(),
                "random_state": getattr(self, "random_state", None),
            },
            arrays=self._map_arrays(),
            model_state=model_state(self),
        )

    def _fields(self) -> dict[str, AnyArray]:
        """Give what the model knows of every sample, besides its place."""
        if not hasattr(self, "labels_"):
            return {}
        names = np.array([*self.cohorts_, None], dtype=object)  # -1, no cohort, takes the last
        fields: dict[str, AnyArray] = {"cohort": names[self.labels_]}
        if self.predicted_.any():
            fields["predicted"] = self.predicted_
        return fields

    def _more_groups(self) -> list[Group]:
        """Give what else is on the map besides the samples."""
        return []

    def _map_arrays(self) -> dict[str, AnyArray]:
        """Give the arrays that the map carries."""
        return {}
