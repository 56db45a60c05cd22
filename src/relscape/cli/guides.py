"""What else a person may give for a cohort map, each in a file: prototypes, anchors, links."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.cli.reading import load_dataset
from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.cohorts import read_cohorts
from relscape.data.labels import match
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError, listing
from relscape.protocols import AnyArray, FloatArray, SparseArray, TextArray
from relscape.sources.references import is_database

__all__ = ["read_anchors", "read_links", "read_prototypes"]

WEIGHT = "weight"


def read_prototypes(path: str, labels: AnyArray | None, axes: int) -> FloatArray:
    """Read places for the cohorts, one line each: name, then a coordinate for every axis."""
    if labels is None:
        raise ParameterError(
            f"--prototypes {path}: places are for cohorts by name; name their column with --label."
        )
    names = read_cohorts(labels, len(labels)).names
    ids, places, _ = _places(path, axes)
    at = match(names, ids)
    if (at < 0).any():
        raise DataError(
            f"{path} has no place for {listing(names[at < 0])}; it needs a line for each of the {len(names)} "
            f"cohorts, the name in its first column. It has {listing(ids)}."
        )
    unused = ids[~np.isin(ids, names)]
    if unused.size:
        warnings.warn(
            f"{path}: {listing(unused)} are no cohorts of the data and are left out.",
            RelscapeWarning,
            stacklevel=2,
        )
    return places[at]


def read_anchors(path: str, things: EntitySet, axes: int) -> dict[int, tuple[FloatArray, float]]:
    """Read samples to hold to places: id, a coordinate for every axis, and where there is one, ``weight``."""
    ids, places, weights = _places(path, axes)
    at = match(ids, things.ids)
    if (at < 0).any():
        raise UnknownNameError(things.kind, ids[at < 0][0], things.ids, f"the data, but {path} holds it")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        bad = ids[~(np.isfinite(weights) & (weights >= 0))][0]
        raise DataError(f"{path}: the weight of {bad!r} is missing or negative; give a number of 0 or more.")
    return {int(position): (place, float(w)) for position, place, w in zip(at, places, weights, strict=True)}


def _places(path: str, axes: int) -> tuple[TextArray, FloatArray, FloatArray]:
    """Read a table of names and places: the first columns of numbers after the name, and ``weight``."""
    from relscape.sources.tables import read_fields

    ids, fields = read_fields(path)
    numeric = [name for name, values in fields.items() if name != WEIGHT and _is_numeric(values)]
    if len(numeric) < axes:
        _refuse_text(path, ids, fields)
        raise DataError(
            f"{path} has {len(numeric)} columns of numbers besides the names; a place on a map of {axes} "
            f"dimensions has {axes} coordinates."
        )
    places = np.column_stack([fields[name].astype(np.float64) for name in numeric[:axes]])
    bad = ~np.isfinite(places).all(axis=1)
    if bad.any():
        raise DataError(
            f"{path}: the place of {ids[bad][0]!r} is incomplete; give {axes} finite coordinates."
        )
    weights = fields.get(WEIGHT, np.ones(len(ids)))
    if not _is_numeric(weights):
        raise DataError(f"{path}: the column {WEIGHT!r} holds text; give numbers of 0 or more.")
    return ids, places, weights.astype(np.float64)


def _refuse_text(path: str, ids: TextArray, fields: dict[str, AnyArray]) -> None:
    """Refuse a column of coordinates with a text in it, by the first such text."""
    for column, values in fields.items():
        if column == WEIGHT or _is_numeric(values):
            continue
        wrong = [number for number, value in enumerate(values) if value is not None and not _reads(value)]
        if wrong and len(wrong) < len(values):
            raise DataError(
                f"{path}: column {column!r} holds coordinates, but {values[wrong[0]]!r} for "
                f"{ids[wrong[0]]!r}; correct it: a place is all finite numbers."
            )


def _reads(text: Any) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _is_numeric(values: AnyArray) -> bool:
    """Say whether a column holds numbers, or nothing at all."""
    return values.dtype.kind in "iuf" or all(value is None for value in values)


def read_links(given: str, things: EntitySet, dataset: str | None, encoding: str | None) -> SparseArray:
    """Read links between samples (n × n): the first two columns of a file, or a relation of a data set."""
    if dataset is not None and not is_database(given) and not Path(given).exists():
        data, relation = _of_dataset(given, dataset, things.kind)
    else:
        data = _of_file(given, encoding)
        relation = data.relation()
    ids = data.entities[relation.rows].ids
    at = match(ids, things.ids)
    entries = relation.matrix.tocoo()
    i, j = (at[side] for side in entries.coords)
    known = (i >= 0) & (j >= 0)
    if not known.any():
        raise DataError(
            f"{given}: none of its {len(known):,} links joins two of the {things.kind} "
            f"({listing(things.ids, 3)}); it joins {listing(ids, 3)}. Its first two columns hold the ids."
        )
    if not known.all():
        warnings.warn(
            f"{given}: {(~known).sum():,} of {len(known):,} links are of things that are not samples "
            f"({listing(ids[at < 0], 3)}) and are left out.",
            RelscapeWarning,
            stacklevel=2,
        )
    n = len(things)
    return csr_array((entries.data[known], (i[known], j[known])), shape=(n, n))


def _of_file(path: str, encoding: str | None) -> RelationalData:
    from relscape.sources.several import pair_files
    from relscape.sources.tables import read

    heads = pair_files(path, encoding=encoding)
    first = heads[0]
    return read(path, first.rows, first.columns, first.weight, same_kind="sample", encoding=encoding)


def _of_dataset(name: str, dataset: str, kind: str) -> tuple[RelationalData, Relation]:
    data: Any = load_dataset(dataset)
    within = [r.name for r in data.relations.values() if r.rows == r.columns == kind]
    if name not in within:
        raise UnknownNameError(f"file, or relation within {kind!r},", name, within, f"data set {dataset!r}")
    return data, data.relation(name)
