"""A study's guided projection: what guides it, the model that its file describes, and the map it gives."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.data import Relation, RelationalData
from relscape.data.guidance import Guidance
from relscape.data.relation import without_zeros
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError, listing
from relscape.maps import Map
from relscape.project.study import Study
from relscape.project.study_data import LoadedStudy
from relscape.protocols import BoolArray

__all__ = ["Guided", "guided", "projection_model", "source_told", "task_of", "to_map"]

METHOD = "projection"


@dataclass(frozen=True, eq=False)
class Guided:
    """What a projection is fitted on: the kinds that guidance speaks of, and signed weights by relation."""

    data: RelationalData
    weights: Mapping[str, float]

    @property
    def relations(self) -> list[Relation]:
        """The weights of all guided pairs in [−1, 1], one relation each, as the model takes them."""
        sizes = {kind: len(things) for kind, things in self.data.entities.items()}
        ids = {kind: things.ids for kind, things in self.data.entities.items()}
        found = []
        for name, weight in self.weights.items():
            blocks = Guidance.from_relations(self.data, {name: weight}).resolved(sizes, ids)
            for (rows, columns), matrix in blocks.items():
                relation = self.data.relation(name)
                if rows != relation.rows:
                    rows, columns, matrix = columns, rows, csr_array(matrix.T)
                found.append(Relation(name, rows, columns, matrix, directed=rows != columns))
        return found


def guided(loaded: LoadedStudy) -> Guided:
    """Keep what guidance speaks of: its relations, their kinds, and of kinds without features its things."""
    study, data = loaded.study, loaded.data
    if not study.guidance:
        raise DataError(
            f"{study.path}: nothing guides a projection. Describe a table of pairs as [relations.NAME], and "
            "give it a weight other than 0 under [guidance]."
        )
    relations = [data.relation(name) for name in study.guidance]
    kinds = [kind for kind in data.kinds if any(kind in (r.rows, r.columns) for r in relations)]
    kept = RelationalData([data.entities[kind] for kind in kinds], relations)
    for kind in kinds:
        if kept.entities[kind].features is None:
            spoken_of = _spoken_of(relations, kind, len(kept.entities[kind]))
            _tell_of_lost(kind, kept.entities[kind].ids[~spoken_of])
            kept = kept.select(kind, spoken_of)
    return Guided(kept, dict(study.guidance))


def _spoken_of(relations: list[Relation], kind: str, size: int) -> BoolArray:
    """Mark the things of a kind that a pair with another thing names."""
    named = np.zeros(size, dtype=bool)
    for relation in relations:
        cells = without_zeros(relation.matrix).tocoo()
        within = relation.rows == relation.columns
        other = cells.coords[0] != cells.coords[1] if within else np.ones(cells.nnz, dtype=bool)
        for side, own in enumerate((relation.rows, relation.columns)):
            if own == kind:
                named[cells.coords[side][other]] = True
    return named


def _tell_of_lost(kind: str, lost: Any) -> None:
    if len(lost):
        warnings.warn(
            f"{len(lost):,} {kind} things have neither features nor guidance ({listing(lost, 3)}), so that "
            "nothing says where they belong; they are left out.",
            RelscapeWarning,
            stacklevel=3,
        )


def projection_model(study: Study, name: str | None = None) -> tuple[str, dict[str, Any]]:
    """Find the projection that a study describes: its name, and its parameters.

    Without a name it is the only one; a study that describes none has one with the usual parameters, called
    projection.
    """
    found = {n: model for n, model in study.models.items() if model.method == METHOD}
    if name is None:
        if len(found) > 1:
            raise ParameterError(
                f"{study.path} describes {len(found)} projections, {listing(found)}; say which, with --model."
            )
        name = next(iter(found), None)
        if name is None:
            return METHOD, {}
    if name not in study.models:
        raise UnknownNameError("model", name, found, str(study.path))
    if name not in found:
        raise ParameterError(
            f"{study.where(f'models.{name}', 'method')}: {study.models[name].method!r} is no guided "
            f"projection; this command fits models of method {METHOD!r}"
            + (f": {listing(found)}." if found else ", of which there are none.")
        )
    return name, dict(found[name].parameters)


def task_of(chosen: Guided) -> tuple[str, str]:
    """Choose what settings are judged by: the kind whose things are hidden, and that of their partners.

    It is the first relation of the study that says what is similar between two kinds of which one has
    features, by which hidden things can be placed.
    """
    for name, weight in chosen.weights.items():
        relation = chosen.data.relation(name)
        if weight > 0 and relation.rows != relation.columns:
            for kind, other in ((relation.rows, relation.columns), (relation.columns, relation.rows)):
                if chosen.data.entities[kind].features is not None:
                    return kind, other
    raise DataError(
        "no relation says what is similar between two kinds of which one has features, so there is nothing "
        "to judge settings by; give a ridge instead."
    )


def to_map(model: Any, chosen: Guided, loaded: LoadedStudy) -> Map:
    """Give the map of a fitted projection, carrying its guidance by the relations' own names."""
    joint: Map = model.to_map(relations=False).with_relations(chosen.relations)
    joint.provenance["source"] = source_told(loaded, joint)
    return joint


def source_told(loaded: LoadedStudy, joint: Map) -> dict[str, Any]:
    """Say how the kinds of a map were read, so that new things can be, and which fields are classes."""
    study = loaded.study
    kinds = [kind for kind in joint.groups if kind in study.kinds]
    return {
        "form": "project",
        "file": study.path.name,
        "kinds": {kind: dict(loaded.reading[kind]) for kind in kinds if loaded.reading.get(kind)},
        "labels": {kind: label for kind in kinds if (label := study.kinds[kind].label) is not None},
    }
