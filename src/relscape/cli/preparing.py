"""What happens to relations between reading and fitting."""

from __future__ import annotations

import warnings

from relscape.cli.reading import Reading
from relscape.data import RelationalData
from relscape.data.labels import as_text, match
from relscape.errors import ParameterError, RelscapeWarning
from relscape.project.relation_fitting import with_degree
from relscape.sources.references import shown

__all__ = ["attach_fields", "prepared"]


def prepared(
    source: Reading, many: bool, row_info: str | None, column_info: str | None, least: float
) -> RelationalData:
    """Read one relation, or all of them for a map of many kinds, with what is known of their things."""
    if least < 0:
        raise ParameterError(f"--min-degree {least:g}: give 0 or more.")
    data = source.read_all() if many else source.read()
    if len(data.relations) > 1 and (row_info or column_info):
        raise ParameterError("--row-info and --column-info are for one relation; this map has several.")
    relation = next(iter(data.relations.values()))
    for kind, table in ((relation.rows, row_info), (relation.columns, column_info)):
        if table is not None:
            data = attach_fields(data, kind, table, source.encoding)
    return with_degree(data, least, f"--min-degree {least:g}") if least > 0 else data


def attach_fields(data: RelationalData, kind: str, path: str, encoding: str | None) -> RelationalData:
    """Add what a table says of each thing of one kind (its class, title, year), matched by id."""
    from relscape.sources.tables import read_fields

    entities = data.entities[kind]
    ids, fields = read_fields(path, encoding=encoding)
    known = int((match(entities.ids, as_text(ids)) >= 0).sum())
    if known < len(entities):
        warnings.warn(
            f"{shown(path)} says nothing of {len(entities) - known:,} of {len(entities):,} {kind} things"
            + ("; is its first column the id?" if known == 0 else "."),
            RelscapeWarning,
            stacklevel=2,
        )
    return data.with_entities(entities.with_fields(ids, fields)) if known else data
