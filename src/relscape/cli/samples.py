"""Where the samples of a cohort map come from: features, relations, texts, or an earlier map."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from relscape.cli.console import aside
from relscape.cli.preparing import attach_fields
from relscape.cli.reading import Reading
from relscape.data import EntitySet, RelationalData
from relscape.data.labels import as_text
from relscape.errors import ParameterError, RelscapeWarning, UnknownNameError
from relscape.maps import Map
from relscape.project.given_samples import (
    COHORT,
    LEARNED,
    Samples,
    check_cohorts,
    cohort_labels,
    refuse_names,
)
from relscape.protocols import AnyArray, FloatArray
from relscape.sources.references import is_database
from relscape.sources.scaling import MISSING, measure, standardized, uneven, without_gaps

__all__ = ["read_samples", "tell_of_gaps"]


def read_samples(
    source: Reading,
    label: str | None,
    features: Sequence[str],
    kind: str | None,
    row_info: str | None,
    missing: str | None = None,
    standardize: bool = False,
) -> Samples:
    """Read samples: of a saved map, of a relation, texts or a data set, or of a table of features.

    Of a table, lines with missing features are dropped or filled as ``missing`` says, and the features are
    brought to mean 0 and spread 1 if ``standardize`` is true; the source says how, for things placed later.
    """
    if missing is not None and missing not in MISSING:
        raise UnknownNameError("way to treat missing features", missing, MISSING, "--missing")
    samples = _read(source, label, features, kind, row_info, missing)
    of_table = samples.source.get("form") == "table"
    if (missing is not None or standardize) and not of_table:
        option = "--standardize" if standardize else "--missing"
        raise ParameterError(f"{option} is for tables of features, which these samples do not come from.")
    if of_table:
        samples = _standardized(samples) if standardize else samples
        _tell_if_uneven(samples)
    if label is not None and samples.labels is not None:
        check_cohorts(samples.labels, f"--label {label}", "leave --label out")
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
    missing: str | None,
) -> Samples:
    if len(source.files) == 1 and not is_database(source.files[0]) and _is_map(Path(source.files[0])):
        _refuse(source, features, row_info)
        return _of_map(Path(source.files[0]), label, kind)
    relational = source.dataset is not None or source.rows is not None or source.columns is not None
    relational = relational or source.form is not None
    if relational or source.text is not None or (source.files and source.is_text):
        if features:
            raise ParameterError("--features chooses columns of a table of features, not of relations.")
        if kind is not None:
            raise ParameterError("--kind is for tables of features and saved maps; here --rows names it.")
        return _of_relation(source, label, row_info)
    replace(source, id=None).check()
    return _of_table(source, label, features, kind, row_info, missing)


def _is_map(path: Path) -> bool:
    return (path / "map.json").is_file()


def _standardized(samples: Samples) -> Samples:
    measures = measure(samples.X)
    return replace(
        samples, X=standardized(samples.X, measures), source={**samples.source, "standardized": measures}
    )


def _tell_if_uneven(samples: Samples) -> None:
    told = None if samples.features is None else uneven(samples.X, samples.features)
    if told is not None:
        warnings.warn(
            f"{told}. --standardize lets all count alike; or choose columns of like units (--features).",
            RelscapeWarning,
            stacklevel=3,
        )


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
    source: Reading,
    label: str | None,
    features: Sequence[str],
    kind: str | None,
    row_info: str | None,
    missing: str | None,
) -> Samples:
    from relscape.sources.features import read_feature_table

    own = None if row_info is not None else label
    table = read_feature_table(
        source.files,
        source.id,
        own,
        features,
        kind=kind,
        encoding=source.encoding,
        sheet=source.sheet,
        gaps=missing is not None,
    )
    matrix, things, labels = table.matrix, table.samples, table.labels
    if missing is not None:
        matrix, kept = without_gaps(matrix, table.features, missing)
        tell_of_gaps(table.matrix, missing)
        things, labels = things.select(kept), None if labels is None else labels[kept]
    if row_info is not None:
        things = _informed(things, row_info, source)
        if label is not None:
            labels = _field(things, label, f"kind {things.kind!r}")
    if label is not None and labels is not None:
        refuse_names(labels, f"--label {label}")
    fields = {name: values for name, values in things.fields.items() if name not in LEARNED}
    described = {"form": "table", **source.describe()}
    described |= {"id": table.id} if table.id is not None else {}
    described["features"] = table.features.tolist()
    described |= {"missing": missing} if missing is not None else {}
    return Samples(matrix, replace(things, fields=fields), table.features, labels, described)


def tell_of_gaps(matrix: FloatArray, how: str) -> None:
    """Say what became of lines with missing features."""
    lines = int(np.isnan(matrix).any(axis=1).sum())
    if lines:
        done = "dropped" if how == "drop" else "filled with medians"
        aside(f"{lines:,} of {len(matrix):,} lines lack features and were {done}.")


def _informed(things: EntitySet, row_info: str, source: Reading) -> EntitySet:
    """Add what a table says of each sample, matched by id."""
    return attach_fields(RelationalData([things], []), things.kind, row_info, source.encoding).entities[
        things.kind
    ]


def _field(things: EntitySet, label: str, where: str) -> AnyArray:
    """Find the field with the cohorts."""
    if label not in things.fields:
        raise UnknownNameError("field", label, things.fields, where)
    return cohort_labels(things.fields[label], f"--label {label}")
