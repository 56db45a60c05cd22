"""New samples for a map of cohorts, read in the form that the map was made from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from relscape.cli.reading import Reading
from relscape.cli.samples import FEATURE, tell_of_gaps
from relscape.data import RelationalData
from relscape.data.labels import as_text
from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Map
from relscape.protocols import FloatArray, TextArray
from relscape.sources.scaling import MISSING, original, without_gaps

__all__ = ["new_samples", "renamed"]


def new_samples(source: Reading, old: Map, missing: str | None = None) -> RelationalData:
    """Read samples to put on a map of cohorts, in the form that the map was made from.

    Lines with missing features are treated as ``missing`` says, or as they were when the map was made;
    medians are those of the samples that the map was made from.
    """
    from relscape.models.registry import revive

    if old.model_state is None:
        raise ParameterError("this map does not carry its model, so nothing new can be placed on it.")
    model = revive(old.model_state)
    kind, features = model.row_entities_.kind, model.column_entities_
    told = old.provenance.get("source", {})
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
    data = source.read(features.ids) if source.is_text else source.read()
    return data if {kind, features.kind} == set(data.kinds) else renamed(data, kind, features.kind)


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
        matrix, kept = without_gaps(matrix, table.features, missing, medians)
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
