"""EntitySet: all things of one kind and what is said of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.data.arrays import plain_array
from relscape.data.labels import as_field, as_text, check_kind, check_unique, match, shown_labels
from relscape.errors import DataError
from relscape.protocols import AnyArray, TextArray

__all__ = ["EntitySet"]


@dataclass(frozen=True, eq=False)
class EntitySet:
    """All things of one kind: their ids, and optionally labels to show, fields and features.

    Parameters
    ----------
    kind : str
        What the things are: "doc", "word", "gene".
    ids : sequence
        One id a thing, of any type, kept as text; they must not repeat.
    labels : sequence, optional
        What to show a person instead of the id; an empty or missing one shows the id.
    fields : mapping of str to sequence, optional
        What is known of each thing: its class, year, size. One value a thing.
    features : array or sparse array, optional
        An attribute matrix, one row a thing.
    feature_names : sequence of str, optional
        Names of the columns of ``features``.
    """

    kind: str
    ids: TextArray
    labels: TextArray | None = None
    fields: Mapping[str, AnyArray] = field(default_factory=dict)
    features: Any = None
    feature_names: TextArray | None = None

    def __post_init__(self) -> None:
        check_kind(self.kind)
        ids = as_text(self.ids, f"ids of kind {self.kind!r}")
        check_unique(ids, f"kind {self.kind!r}")
        object.__setattr__(self, "ids", ids)
        if self.labels is not None:
            object.__setattr__(self, "labels", shown_labels(self.labels, ids, self.kind))
        fields = {n: as_field(v, f"field {n!r} of kind {self.kind!r}") for n, v in self.fields.items()}
        object.__setattr__(self, "fields", fields)
        if self.features is not None:
            features = plain_array(self.features)
            features = csr_array(features) if issparse(features) else np.asarray(features)
            object.__setattr__(self, "features", features)
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", as_text(self.feature_names, "feature names"))
        self._check_lengths()

    def _check_lengths(self) -> None:
        lengths = {f"field {name!r}": len(values) for name, values in self.fields.items()}
        if self.labels is not None:
            lengths["labels"] = len(self.labels)
        if self.features is not None:
            lengths["features"] = self.features.shape[0]
        for what, length in lengths.items():
            if length != len(self):
                raise DataError(
                    f"kind {self.kind!r} has {len(self)} ids but {length} rows of {what}; "
                    "give one for every id, in the same order."
                )

        if self.features is not None and self.features.ndim != 2:
            raise DataError(f"features of kind {self.kind!r} have {self.features.ndim} dimensions, not two.")
        if self.features is not None and self.feature_names is not None:
            width = self.features.shape[1]
            if width != len(self.feature_names):
                raise DataError(
                    f"kind {self.kind!r} has {width} columns of features but {len(self.feature_names)} names."
                )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def shown(self) -> TextArray:
        """Labels where there are some, ids otherwise."""
        return self.ids if self.labels is None else self.labels

    def select(self, keep: Any) -> EntitySet:
        """Keep some of the things, by a mask or positions, with all that is said of them."""
        return EntitySet(
            self.kind,
            self.ids[keep],
            None if self.labels is None else self.labels[keep],
            {name: values[keep] for name, values in self.fields.items()},
            None if self.features is None else self.features[keep],
            self.feature_names,
        )

    def with_fields(self, ids: Iterable[Any], fields: Mapping[str, Any]) -> EntitySet:
        """Add fields given for some ids, in any order; things without a row get a missing value."""
        given = as_text(ids, f"ids of kind {self.kind!r}")
        check_unique(given, f"fields of kind {self.kind!r}")
        at = match(self.ids, given)
        added = {}
        for name, values in fields.items():
            column = as_field(values, f"field {name!r} of kind {self.kind!r}")
            if len(column) != len(given):
                raise DataError(f"field {name!r} has {len(column)} values for {len(given)} ids.")
            added[name] = _spread(column, at)
        return EntitySet(
            self.kind, self.ids, self.labels, {**self.fields, **added}, self.features, self.feature_names
        )


def _spread(values: AnyArray, at: AnyArray) -> AnyArray:
    """Lay values out at positions ``at`` (-1 = missing) without changing their type more than needed."""
    if (at >= 0).all():
        return np.asarray(values[at])
    spread: AnyArray
    if values.dtype.kind in "iuf":
        spread = np.full(at.size, np.nan)
    elif values.dtype.kind == "M":
        spread = np.full(at.size, "NaT", dtype=values.dtype)
    else:
        spread = np.full(at.size, None, dtype=object)
    spread[at >= 0] = values[at[at >= 0]]
    return spread
