"""Where the samples of a cohort map come from: features, relations, texts, or an earlier map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from relscape.cli.reading import Reading, attach_fields
from relscape.data import EntitySet, RelationalData
from relscape.data.labels import as_text
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.maps import Map
from relscape.protocols import AnyArray, TextArray

__all__ = ["Samples", "new_samples", "read_samples", "renamed"]

# What a cohort model says of samples itself.
COHORT = "cohort"
LEARNED = (COHORT, "predicted", "placed")
FEATURE = "feature"
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
                f"none of the {len(self.things):,} {self.things.kind} is on the map to start from; they are "
                "matched by id."
            )
        at = [group.places[name] for name in self.things.ids[here]]
        known = replace(group.select(at), kind="sample", ids=as_text(here))
        return Map([known, *(earlier.group(name) for name in earlier.groups if name == COHORT)])


def read_samples(
    source: Reading,
    label: str | None,
    features: Sequence[str],
    kind: str | None,
    row_info: str | None,
) -> Samples:
    """Read samples: of a saved map, of a relation, texts or a data set, or of a table of features."""
    samples = _read(source, label, features, kind, row_info)
    if samples.things.kind == COHORT:
        raise ParameterError(
            f"the samples are called {COHORT!r}, as what they belong to will be; call them otherwise"
            + (" (--kind)." if samples.features is not None else " (rename their column).")
        )
    return samples


def _read(
    source: Reading,
    label: str | None,
    features: Sequence[str],
    kind: str | None,
    row_info: str | None,
) -> Samples:
    if len(source.files) == 1 and (Path(source.files[0]) / "map.json").is_file():
        _refuse(source, features, row_info)
        return _of_map(Path(source.files[0]), label, kind)
    relational = source.dataset is not None or source.rows is not None or source.columns is not None
    if relational or source.text is not None or (source.files and source.is_text):
        if features:
            raise ParameterError("--features chooses columns of a table of features, not of relations.")
        if kind is not None:
            raise ParameterError("--kind is for tables of features and saved maps; here --rows names it.")
        return _of_relation(source, label, row_info)
    replace(source, id=None).check()
    return _of_table(source, label, features, kind, row_info)


def _refuse(source: Reading, features: Sequence[str], row_info: str | None) -> None:
    """Refuse options that have no effect on a map."""
    others = source.describe().keys() - {"files"}
    options = [f"--{name.replace('_', '-')}" for name in sorted(others)]
    options += ["--features"] * bool(features) + ["--row-info"] * (row_info is not None)
    if options:
        raise ParameterError(
            f"{', '.join(options)}: {source.files[0]} is a map, whose points are the samples; --kind chooses "
            "among them and --label names a field."
        )


def _of_map(path: Path, label: str | None, kind: str | None) -> Samples:
    earlier = Map.load(path)
    chosen = kind or next(name for name in earlier.groups)
    group = earlier.group(chosen)
    things = EntitySet(group.kind, group.ids, group.labels, group.fields)
    labels = None if label is None else _field(things, label, f"kind {chosen!r} of {path}")
    kept = {name: values for name, values in group.fields.items() if name not in LEARNED}
    axes = as_text([f"z{axis}" for axis in range(earlier.n_components)])
    coordinates = np.asarray(group.coordinates, dtype=np.float64)
    described = {"form": "map", "map": path.name, "kind": chosen}
    return Samples(coordinates, replace(things, fields=kept), axes, labels, described)


def _of_relation(source: Reading, label: str | None, row_info: str | None) -> Samples:
    data = source.read()
    relation = data.relation()
    if row_info is not None:
        data = attach_fields(data, relation.rows, row_info, source.encoding)
    elif label is not None and source.text is not None:
        data = data.with_entities(_with_column(source, data.entities[relation.rows], label))
    things = data.entities[relation.rows]
    labels = None
    if label is not None:
        labels = _field(things, label, f"kind {things.kind!r}; give a table of them with --row-info")
    return Samples(data, things, None, labels, {"form": "relation", **source.describe()})


def _with_column(source: Reading, things: EntitySet, label: str) -> EntitySet:
    """Take the labels of texts from the table that has the texts."""
    from relscape.sources.tables import read_table

    column = read_table(list(source.files), [label], encoding=source.encoding).column(label)
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return replace(things, fields={**things.fields, label: values})


def _of_table(
    source: Reading, label: str | None, features: Sequence[str], kind: str | None, row_info: str | None
) -> Samples:
    from relscape.sources.features import read_feature_table

    own = None if row_info is not None else label
    table = read_feature_table(
        source.files, source.id, own, features, kind=kind, encoding=source.encoding, sheet=source.sheet
    )
    things, labels = table.samples, table.labels
    if row_info is not None:
        things = _informed(things, row_info, source)
        if label is not None:
            labels = _field(things, label, f"kind {things.kind!r}")
    if label is not None and labels is not None:
        _refuse_names(label, labels)
    fields = {name: values for name, values in things.fields.items() if name not in LEARNED}
    described = {"form": "table", **source.describe()}
    described |= {"id": table.id} if table.id is not None else {}
    return Samples(table.matrix, replace(things, fields=fields), table.features, labels, described)


def _informed(things: EntitySet, row_info: str, source: Reading) -> EntitySet:
    """Add what a table says of each sample, matched by id."""
    return attach_fields(RelationalData([things], []), things.kind, row_info, source.encoding).entities[
        things.kind
    ]


def _field(things: EntitySet, label: str, where: str) -> AnyArray:
    """Find the field with the cohorts; blank texts and NA are none."""
    if label not in things.fields:
        raise UnknownNameError("field", label, things.fields, where)
    values = things.fields[label]
    if values.dtype == object:
        labels = np.empty(len(values), dtype=object)
        labels[:] = [None if isinstance(v, str) and v.strip().lower() in _MISSING else v for v in values]
        values = labels
    _refuse_names(label, values)
    return values


def _refuse_names(label: str, values: AnyArray) -> None:
    """Refuse labels that name samples instead of grouping them."""
    given = [value for value in values.tolist() if value is not None and value == value]
    distinct = len(set(given))
    if given and 2 * distinct > len(given) and distinct > 2:
        raise ParameterError(
            f"--label {label}: {distinct:,} different values among {len(given):,} samples are no cohorts; "
            "name a column of groups."
        )


def new_samples(source: Reading, old: Map) -> RelationalData:
    """Read samples to put on a map of cohorts, in the form that the map was made from."""
    from relscape.models.registry import revive

    if old.model_state is None:
        raise ParameterError("this map does not carry its model, so nothing new can be placed on it.")
    model = revive(old.model_state)
    kind, features = model.row_entities_.kind, model.column_entities_
    form = old.provenance.get("source", {}).get("form", "relation" if issparse(model.features_) else "table")
    if form == "map":
        raise ParameterError(
            "this map was made from the points of another map, so new things have no features for it; place "
            "them on that map, and make this one again from it."
        )
    if form == "table":
        return _new_lines(source, kind, features.ids)
    data = source.read(features.ids) if source.is_text else source.read()
    return data if {kind, features.kind} == set(data.kinds) else renamed(data, kind, features.kind)


def _new_lines(source: Reading, kind: str, features: TextArray) -> RelationalData:
    from relscape.sources.features import read_feature_table

    if source.rows is not None or source.columns is not None or source.weight is not None:
        raise ParameterError("--rows, --columns and --weight: this map was made from a table of features.")
    table = read_feature_table(
        source.files,
        source.id,
        features=list(features),
        kind=kind,
        encoding=source.encoding,
        sheet=source.sheet,
    )
    ids = table.samples.ids
    data = RelationalData.from_matrix(table.matrix, kind, FEATURE, ids, table.features)
    return data.with_entities(table.samples)


def renamed(data: RelationalData, rows: str, columns: str) -> RelationalData:
    """Give the two kinds of a relation other names."""
    relation = data.relation()
    left = replace(data.entities[relation.rows], kind=rows)
    right = replace(data.entities[relation.columns], kind=columns)
    return RelationalData([left, right], [replace(relation, rows=rows, columns=columns)])
