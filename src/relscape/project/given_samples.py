"""Samples as models of cohorts and networks take them, and how they are compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from relscape.data import EntitySet
from relscape.data.labels import as_text
from relscape.errors import DataError
from relscape.maps import Map
from relscape.protocols import AnyArray, TextArray

__all__ = ["COHORT", "FEATURE", "METRICS", "Samples", "compared_by"]

COHORT, FEATURE = "cohort", "feature"
METRICS = ("euclidean", "cosine")


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
                f"none of the {len(self.things):,} {self.things.kind} is on the map to start from; they are "
                "matched by id."
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
