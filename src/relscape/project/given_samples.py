"""Samples as models of cohorts and networks take them, and how they are compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text
from relscape.errors import DataError, ParameterError
from relscape.maps import Map
from relscape.protocols import AnyArray, IntArray, TextArray

__all__ = [
    "COHORT",
    "FEATURE",
    "LEARNED",
    "METRICS",
    "Samples",
    "check_cohorts",
    "cohort_labels",
    "compared_by",
    "links_for",
    "refuse_names",
]

COHORT, FEATURE = "cohort", "feature"
LEARNED = (COHORT, "predicted", "placed")  # what a model of cohorts says of samples itself
METRICS = ("euclidean", "cosine")
_MISSING = {"", "na", "nan"}


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples as a cohort model takes them, and how they were read.

    ``X`` is an array, of features called ``features``, or named data, whose names the model finds itself;
    ``labels`` has the cohort of every sample.
    """

    X: Any
    things: EntitySet
    features: TextArray | None
    labels: AnyArray | None
    source: dict[str, Any] = field(default_factory=dict)

    @property
    def sparse(self) -> bool:
        """Whether features are counts of relations or words, of which directions say more than lengths."""
        return self.features is None

    def name(self, model: Any) -> Any:
        """Give a model that was fitted on the array the names of samples and features."""
        if self.features is not None:
            model.row_entities_ = self.things
            model.column_entities_ = EntitySet(FEATURE, self.features)
        return model

    def known_by(self, earlier: Map) -> Map:
        """Name the samples on an earlier map as the model will, which sees an array without names."""
        if self.features is None:
            return earlier
        kind = self.things.kind if self.things.kind in earlier.groups else earlier.groups[0]
        group = earlier.group(kind)
        here = np.flatnonzero(np.isin(self.things.ids, group.ids))
        if here.size == 0:
            raise DataError(
                f"none of the {len(self.things):,} {self.things.kind} things is on the map to start "
                "from; they are matched by id."
            )
        at = [group.places[name] for name in self.things.ids[here]]
        known = replace(group.select(at), kind="sample", ids=as_text(here))
        return Map([known, *(earlier.group(name) for name in earlier.groups if name == COHORT)])


def compared_by(
    model: Any, samples: Samples, metric: str | None, *, linked: bool = False, keep_affinity: bool = False
) -> None:
    """Set how samples, and cohorts, are compared, where a model of cohorts leaves that open.

    Relations and texts are compared by direction unless said otherwise: how long a text is says little.
    Prototypes by name are arranged by the same, unless links say which cohorts are alike. ``keep_affinity``
    leaves the affinity as it is.
    """
    from relscape.matrix.affinity import GaussianAffinity
    from relscape.models.prototypes import MeanPrototypes, prototype_settings

    chosen = metric or ("cosine" if samples.sparse else "euclidean")
    if chosen != "cosine":
        return
    known = model.get_params(deep=False)
    if isinstance(known.get("prototypes"), str) and not linked:
        settings = prototype_settings(known["prototypes"])
        if not isinstance(settings, MeanPrototypes):
            model.set_params(prototypes=replace(settings, dissimilarity="cosine"))
    if known.get("affinity") == "perplexity" and not keep_affinity:
        most = max((len(samples.things) - 1) / 3, 1.0)
        perplexity = min(float(model.n_neighbors), most)
        model.set_params(affinity=GaussianAffinity(perplexity=perplexity, metric="cosine"))


def cohort_labels(values: AnyArray, said: str) -> AnyArray:
    """Read the cohorts of samples: blank texts and NA are none. ``said`` is how a person named the column."""
    if values.dtype == object:
        labels = np.empty(len(values), dtype=object)
        labels[:] = [None if isinstance(v, str) and v.strip().lower() in _MISSING else v for v in values]
        values = labels
    refuse_names(values, said)
    return values


def refuse_names(values: AnyArray, said: str) -> None:
    """Refuse labels that name samples instead of grouping them."""
    given = [value for value in values.tolist() if value is not None and value == value]
    distinct = len(set(given))
    if given and 2 * distinct > len(given) and distinct > 2:
        raise ParameterError(
            f"{said}: {distinct:,} different values among {len(given):,} samples are no cohorts; name a "
            "column of groups."
        )


def check_cohorts(labels: AnyArray, said: str, instead: str) -> None:
    """Refuse labels that say nothing, before anything is computed."""
    found = {str(value) for value in labels.tolist() if value is not None and value == value}
    if not found:
        raise DataError(f"{said}: every value is missing; {instead} to have cohorts found.")
    if len(found) == 1:
        raise DataError(
            f"{said}: all samples are of {next(iter(found))!r}, and a map needs two or more cohorts. Name "
            f"another column, or {instead} to have cohorts found."
        )


def links_for(samples: Samples, pairs: IntArray) -> Any:
    """Give links as a model takes them beside contents: by position, or without contents by name."""
    if samples.X is not None:
        return pairs
    n, kind = len(samples.things), samples.things.kind
    table = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return RelationalData([samples.things], [Relation("links", kind, kind, table)])
