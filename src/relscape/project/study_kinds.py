"""The things of one kind, read from its table with their features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.data import EntitySet
from relscape.errors import DataError, InputError, RelscapeWarning, UnknownNameError
from relscape.project.sections import about
from relscape.project.study import Contents, Kind, Study
from relscape.protocols import FloatArray, SparseArray
from relscape.sources.scaling import without_gaps

__all__ = ["check_columns", "read_kind", "scaled_counts"]


def read_kind(study: Study, kind: Kind) -> tuple[EntitySet, dict[str, Any]]:
    """Read the table of one kind, and say how its features were read."""
    files = study.located(kind.tables)
    part = f"kinds.{kind.name}"
    columns = check_columns(study, part, files, _columns_of_kind(kind))
    if kind.features:
        _check_features(study, kind, columns)
    with about(study.where(part)):
        try:
            if kind.features:
                return _with_columns(kind, files)
            things = _things(kind, files)
            return (things, {}) if kind.text is None else _with_words(study, kind, kind.text, things)
        except InputError as error:
            raise DataError(_in_keys(str(error))) from error


def _columns_of_kind(kind: Kind) -> dict[str, str]:
    text = None if kind.text is None else kind.text.column
    named = {"id": kind.id, "title": kind.title, "label": kind.label, "text": text}
    return {key: column for key, column in named.items() if column is not None}


def check_columns(
    study: Study, table: str, files: Sequence[str], named: Mapping[str, str]
) -> dict[str, list[str]]:
    """Refuse files that are not there or have no rows, and columns that a file does not have.

    Complaints name the key that asks for them. Gives the columns of each file.
    """
    from relscape.sources.checks import refuse_empty
    from relscape.sources.sessions import opened

    with about(study.where(table, "table")), opened(files) as session:
        columns = {str(scan.path): list(scan.columns) for scan in session.scans}
        refuse_empty(
            session, sum(len(session.rows(f"SELECT 1 FROM {s.source} LIMIT 1")) for s in session.scans)
        )
    for path, known in columns.items():
        for key, column in named.items():
            if column not in known:
                raise UnknownNameError("column", column, known, f"{path} ({study.where(table, key)})")
    return columns


def _check_features(study: Study, kind: Kind, columns: Mapping[str, Sequence[str]]) -> None:
    """Refuse names and patterns of features that mean no column, by their key."""
    from relscape.sources.features import matching_columns

    path, names = next(iter(columns.items()))
    free = [name for name in names if name not in (kind.id, kind.label)]
    with about(study.where(f"kinds.{kind.name}", "features")):
        matching_columns(kind.features, free, path)


def _with_columns(kind: Kind, files: list[str]) -> tuple[EntitySet, dict[str, Any]]:
    """Read things whose features are columns of numbers."""
    from relscape.sources.features import read_feature_table

    table = read_feature_table(
        files, kind.id, kind.label, kind.features, kind=kind.name, gaps=kind.missing is not None
    )
    if kind.title in table.features:
        raise DataError(f"the column {kind.title!r} is a title and a feature; leave it out of either.")
    things, matrix = table.samples, table.matrix
    told: dict[str, Any] = {"form": "table", "id": kind.id}
    if kind.missing is not None:
        matrix, kept = without_gaps(table.matrix, table.features, kind.missing)
        things = things.select(kept)
        told |= _gaps_told(kind, table.matrix)
    titles = None if kind.title is None else things.fields[kind.title]
    return replace(things, labels=titles, features=matrix, feature_names=table.features), told


def _gaps_told(kind: Kind, matrix: FloatArray) -> dict[str, Any]:
    """Tell what became of lines that lack features, and keep what new ones are to be filled with."""
    lines = int(np.isnan(matrix).any(axis=1).sum())
    if lines:
        done = "were left out" if kind.missing == "drop" else "were filled with medians"
        told = f"{lines:,} of {len(matrix):,} {kind.name} things lack features and {done}."
        warnings.warn(told, RelscapeWarning, stacklevel=5)
    if kind.missing == "drop":
        return {"missing": "drop"}
    return {"missing": "median", "medians": np.nanmedian(matrix, axis=0).tolist()}


def _things(kind: Kind, files: list[str]) -> EntitySet:
    """Read things with their titles and fields; a column of texts to be counted is no field."""
    from relscape.sources.tables import read_fields

    parts = [read_fields(file, kind.id) for file in _each(files)]
    ids = np.concatenate([part[0] for part in parts])
    shared = [name for name in parts[0][1] if all(name in fields for _, fields in parts)]
    fields = {name: np.concatenate([part[1][name] for part in parts]) for name in shared}
    titles = None if kind.title is None else fields[kind.title]
    if kind.text is not None:
        fields.pop(kind.text.column)
    return EntitySet(kind.name, ids, titles, fields)


def _each(files: list[str]) -> list[Any]:
    """List the files that paths and patterns mean."""
    from relscape.sources.files import origins

    return list(origins(files))


def _with_words(
    study: Study, kind: Kind, contents: Contents, things: EntitySet
) -> tuple[EntitySet, dict[str, Any]]:
    """Count the words of a column of texts as features."""
    from relscape.sources.text import read_text

    stops = contents.stop_words
    counted = read_text(
        study.located(kind.tables),
        contents.column,
        kind.id,
        min_df=contents.min_df,
        max_df=contents.max_df,
        stop_words=stops if stops in (None, "english") else study.located((stops,))[0],
        ngrams=contents.ngrams,
        rows="text",
        columns="word",
    )
    features = scaled_counts(counted.matrix(), kind.scaling)
    told: dict[str, Any] = {"form": "text", "id": kind.id, "text": contents.column}
    told |= {"scaling": kind.scaling, "ngrams": list(contents.ngrams)}
    told |= {"stop_words": stops} if stops == "english" else {}
    return replace(things, features=features, feature_names=counted.entities["word"].ids), told


def scaled_counts(counts: SparseArray, scaling: str) -> SparseArray:
    """Scale counts for use as features.

    "log" takes log(1 + n), so that the tenth mention counts less than the first, and brings every row to
    length 1, so that long texts count no more than short ones; "length" does the latter only.
    """
    scaled = csr_array(counts, dtype=np.float64, copy=True)
    if scaling == "none":
        return scaled
    if scaling == "log":
        if scaled.data.size and scaled.data.min() < 0:
            raise DataError(
                'some weights are negative, of which there is no logarithm; write scaling = "length" or '
                '"none".'
            )
        scaled.data = np.log1p(scaled.data)
    lengths = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    return csr_array(scaled.multiply(1.0 / np.where(lengths > 0, lengths, 1.0)[:, None]))


def _in_keys(message: str) -> str:
    """Say in the project file's words what readers say in the command line's."""
    for option, key in (("--missing median", 'missing = "median"'), ("--missing drop", 'missing = "drop"')):
        message = message.replace(option, key)
    return message.replace(" (--features)", "").replace(" (--id)", "")
