"""What happens to relations between reading and fitting."""

from __future__ import annotations

from relscape.cli.reading import Reading, attach_fields
from relscape.data import RelationalData
from relscape.errors import ParameterError
from relscape.project.relation_fitting import with_degree

__all__ = ["prepared"]


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
