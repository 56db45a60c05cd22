"""New things for a map of cohorts or of guided kinds, read in the form that the map was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from relscape.cli.reading import Reading
from relscape.cli.samples import tell_of_gaps
from relscape.data import EntitySet, RelationalData
from relscape.data.labels import as_text, match
from relscape.errors import ParameterError, UnknownNameError, listing
from relscape.maps import Map
from relscape.project.given_samples import FEATURE
from relscape.protocols import FloatArray, TextArray
from relscape.sources.scaling import MISSING, original, without_gaps

__all__ = ["new_samples", "new_things_of_a_kind", "renamed"]


def new_samples(source: Reading, old: Map, missing: str | None = None) -> RelationalData:
    """Read samples to put on a map of cohorts, in the form that the map was made from.

    Lines with missing features are treated as ``missing`` says, or as they were when the map was made;
    medians are those of the samples that the map was made from.
    """
    model = _model_of(old)
    kind, features = model.row_entities_.kind, model.column_entities_
    told = old.provenance.get("source", {})
    if told.get("form") == "project":
        told = told["kinds"].get(kind, {})
        source = replace(source, id=source.id or told.get("id"))
    form = told.get("form", "relation" if issparse(model.features_) else "table")
    if missing is not None and form != "table":
        raise ParameterError("--missing is for maps that were made from a table of features.")
    if form == "map":
        raise ParameterError(
            "this map was made from the points of another map, so new things have no features for it; place "
            "them on that map, and make this one again from it."
        )
    if form == "table":
        how = missing or told.get("missing")
        if how is not None and how not in MISSING:
            raise UnknownNameError("way to treat missing features", how, MISSING, "--missing")
        medians = np.median(model.features_, axis=0)
        measures = told.get("standardized")
        medians = medians if measures is None else original(medians, measures)
        return _new_lines(source, kind, features.ids, how, medians, old.group(kind).ids)
    if form in ("text", "pairs"):  # of a project file, whose counts are scaled
        things = _new_counts(source, kind, features.ids, told)
        counts = RelationalData.from_matrix(things.features, kind, features.kind, things.ids, features.ids)
        return counts.with_entities(replace(things, features=None, feature_names=None))
    data = source.read(features.ids) if source.is_text else source.read()
    return data if {kind, features.kind} == set(data.kinds) else renamed(data, kind, features.kind)


def _model_of(old: Map) -> Any:
    from relscape.models.registry import revive

    if old.model_state is None:
        raise ParameterError("this map does not carry its model, so nothing new can be placed on it.")
    return revive(old.model_state)


def new_things_of_a_kind(
    source: Reading, old: Map, kind: str | None = None, missing: str | None = None
) -> RelationalData:
    """Read things of one kind with their features, to put them on a map of guided kinds.

    They come in the form that the project file described: columns of numbers, a column of texts, or pairs of
    things and features. The kind need not be named where a single one has features.
    """
    model = _model_of(old)
    described = {
        name: columns
        for number, name in enumerate(model.kinds_)
        if (columns := getattr(model, f"kind{number}_columns_")) is not None
    }
    if kind is None and len(described) != 1:
        raise ParameterError(f"say of which kind the new things are, with --kind: {listing(described)}.")
    kind = next(iter(described)) if kind is None else kind
    if kind not in old.groups:
        raise UnknownNameError("kind", kind, old.groups, "this map")
    if kind not in described:
        raise ParameterError(
            f"--kind {kind}: the map knows these by guidance alone, not by features, so that new ones have "
            f"no place; new things can be of kind {listing(described) or 'none'}."
        )
    told = old.provenance.get("source", {}).get("kinds", {}).get(kind, {})
    form = told.get("form", "table")
    if missing is not None and form != "table":
        raise ParameterError(f"--missing is for features in columns, which those of {kind!r} are not.")
    features = described[kind].ids
    if form == "table":
        how = missing or told.get("missing")
        medians = told.get("medians")
        if how == "median" and medians is None:
            raise ParameterError("--missing median: the map was made without medians to fill in; drop them.")
        filled = replace(source, id=source.id or told.get("id"))
        values = np.full(len(features), np.nan) if medians is None else np.asarray(medians)
        data = _new_lines(filled, kind, features, how, values, old.group(kind).ids)
        names = data.entities[FEATURE].ids  # as the file has them, perhaps in another order
        things = replace(data.entities[kind], features=data.matrix().toarray(), feature_names=names)
        return RelationalData([things], [])
    return RelationalData([_new_counts(source, kind, features, told)], [])


def _new_counts(source: Reading, kind: str, features: TextArray, told: Mapping[str, Any]) -> EntitySet:
    """Read counts of new things, of texts or from pairs, and scale them as those of the map were."""
    from relscape.models.inputs import matched
    from relscape.project.study_kinds import scaled_counts

    if told["form"] == "text":
        low, high = told["ngrams"]
        filled = replace(
            source,
            text=source.text or told["text"],
            id=source.id or told["id"],
            ngrams=f"{low}-{high}",
            stop_words=told.get("stop_words"),
        )
    else:
        filled = replace(
            source,
            rows=source.rows or told["rows"],
            columns=source.columns or told["columns"],
            weight=source.weight or told.get("weight"),
        )
    data = filled.read(features if told["form"] == "text" else None)
    relation = data.relation()
    named = data.entities[relation.columns].ids
    counts = matched(relation.matrix, named, EntitySet("feature", features))
    ids = data.entities[relation.rows].ids
    return EntitySet(kind, ids, features=scaled_counts(counts, told["scaling"]), feature_names=features)


def _new_lines(
    source: Reading,
    kind: str,
    features: TextArray,
    missing: str | None,
    medians: FloatArray,
    there: TextArray,
) -> RelationalData:
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
        gaps=missing is not None,
    )
    matrix, things = table.matrix, table.samples
    if table.id is None:
        things = replace(things, ids=_next_numbers(there, len(things)))
    if missing is not None:
        matrix, kept = without_gaps(matrix, table.features, missing, medians[match(table.features, features)])
        tell_of_gaps(table.matrix, missing)
        things = things.select(kept)
    data = RelationalData.from_matrix(matrix, kind, FEATURE, things.ids, table.features)
    return data.with_entities(things)


def _next_numbers(there: TextArray, count: int) -> TextArray:
    """Give lines without ids numbers that nothing on the map has."""
    start = 1 + max((int(name) for name in there if name.isdecimal()), default=-1)
    return as_text(range(start, start + count))


def renamed(data: RelationalData, rows: str, columns: str) -> RelationalData:
    """Give the two kinds of a relation other names."""
    relation = data.relation()
    left = replace(data.entities[relation.rows], kind=rows)
    right = replace(data.entities[relation.columns], kind=columns)
    return RelationalData([left, right], [replace(relation, rows=rows, columns=columns)])
