"""Prototypes that are given by the names of their cohorts, brought into the cohorts' order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from relscape.data.frames import arrow_table
from relscape.errors import DataError, listing
from relscape.protocols import TextArray

__all__ = ["in_order_of"]


def in_order_of(names: TextArray, prototypes: Any) -> Any:
    """Give the places of cohorts in the order of their names; anything without names as it is.

    Names are the keys of a mapping, the index of a pandas frame other than 0, 1, 2, …, or a first column of
    texts.
    """
    named = _named(prototypes)
    if named is None:
        return prototypes
    said, places = named
    lacking = [name for name in names if name not in said]
    foreign = [name for name in said if name not in set(names)]
    if lacking or foreign or len(set(said)) < len(said):
        told = [f"no place for {listing(lacking)}"] * bool(lacking)
        told += [f"{listing(foreign)}, which are no cohorts"] * bool(foreign)
        told = told or ["a cohort twice"]
        raise DataError(
            f"the prototypes have {' and '.join(told)}; give one place for each of {listing(names)}, by "
            "name, or an array in this order."
        )
    at = {name: position for position, name in enumerate(said)}
    return [places[at[name]] for name in names]


def _named(prototypes: Any) -> tuple[list[str], list[Any]] | None:
    """Give names and places, where there are names."""
    if isinstance(prototypes, Mapping):
        return [_text(name) for name in prototypes], list(prototypes.values())
    if hasattr(prototypes, "iloc") and hasattr(prototypes, "columns"):
        counted = list(prototypes.index) == list(range(len(prototypes)))
        if not counted:
            return [_text(name) for name in prototypes.index], prototypes.to_numpy().tolist()
    if hasattr(prototypes, "__arrow_c_stream__"):
        table = arrow_table(prototypes.reset_index(drop=True) if hasattr(prototypes, "iloc") else prototypes)
        kind = table.schema.field(0).type if table.num_columns else pa.null()
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            columns = [column.to_pylist() for column in table.columns]
            return [_text(name) for name in columns[0]], [list(p) for p in zip(*columns[1:], strict=True)]
    return None


def _text(name: Any) -> str:
    """Write a name as cohorts are named: whole numbers without a point."""
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)
