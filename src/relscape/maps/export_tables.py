"""Tables for other programs: CSV, Parquet, and the columns that embedding-atlas looks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from relscape.maps.naming import full_names

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["is_our_csv", "is_our_parquet", "write_atlas", "write_csv", "write_parquet"]

_MARK = b"relscape"
_CSV_HEAD = b'"kind","id","label",'


def write_csv(map_: Map, path: Path) -> None:
    """Write one line a thing: kind, id, label, coordinates, layout, fields."""
    pa_csv.write_csv(map_.to_frame(), path)


def write_parquet(map_: Map, path: Path) -> None:
    """Write the same table as Parquet."""
    pq.write_table(_marked(map_.to_frame(), map_), path, compression="zstd")


def write_atlas(map_: Map, path: Path) -> None:
    """Write what embedding-atlas opens: x and y of the picture, text (the label), id (kind:id), fields."""
    table = map_.to_frame()
    axes = {f"z{axis}" for axis in range(map_.n_components)}
    own = {"id", "label", "x", "y", "kind", *axes}
    columns: dict[str, Any] = {
        "id": pa.array(full_names(map_), pa.string()),
        "x": table.column("x"),
        "y": table.column("y"),
        "text": table.column("label"),
        "kind": table.column("kind"),
    }
    for name in table.column_names:
        if name not in own:
            columns["field_text" if name == "text" else name] = table.column(name)
    pq.write_table(_marked(pa.table(columns), map_), path, compression="zstd")


def _marked(table: Any, map_: Map) -> Any:
    """Say in the table what made it, so that a later export knows what it may replace."""
    told = {"model": map_.model, "n_components": map_.n_components, "layout": map_.drawn_by}
    return table.replace_schema_metadata({_MARK: json.dumps(told, default=str)})


def is_our_csv(path: Path) -> bool:
    """Tell whether a file begins as an exported table does."""
    with path.open("rb") as file:
        return file.read(len(_CSV_HEAD)) == _CSV_HEAD


def is_our_parquet(path: Path) -> bool:
    """Tell whether a file is an exported Parquet table."""
    try:
        return _MARK in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return False
