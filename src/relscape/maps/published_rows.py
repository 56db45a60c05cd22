"""The rows of a map as a database takes them, piece by piece."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from relscape.errors import DataError
from relscape.maps.group import Group
from relscape.maps.state import plain

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["SCHEMA", "as_reader", "header_of", "row_batches"]

SCHEMA = pa.schema(
    {
        "kind": pa.string(),
        "id": pa.string(),
        "label": pa.string(),
        "coordinates": pa.list_(pa.float32()),
        "x": pa.float32(),
        "y": pa.float32(),
        "fields": pa.string(),
    }
)
_AT_ONCE = 2**14


def header_of(map_: Map) -> dict[str, Any]:
    """Give what a map says of itself, as JSON takes it; numbers that are not finite become null."""
    header = {
        "model": map_.model,
        "kinds": {kind: len(map_.group(kind)) for kind in map_.groups},
        "parameters": map_.parameters,
        "scores": map_.scores,
        "provenance": map_.provenance,
    }
    found: dict[str, Any] = _finite(json.loads(json.dumps(header, default=plain)))
    return found


def row_batches(map_: Map) -> Iterator[Any]:
    """Give the points of all kinds as Arrow record batches; what PostgreSQL cannot store is refused."""
    for kind in map_.groups:
        group = map_.group(kind)
        for start in range(0, len(group), _AT_ONCE):
            yield _batch(group, slice(start, start + _AT_ONCE))


def as_reader(map_: Map) -> Any:
    """Give the points as one Arrow stream."""
    return pa.RecordBatchReader.from_batches(SCHEMA, row_batches(map_))


def _batch(group: Group, part: slice) -> Any:
    with np.errstate(over="ignore"):  # what single precision has no room for is refused below
        coordinates = group.coordinates[part].astype(np.float32)
    bad = ~np.isfinite(coordinates).all(axis=1)
    if bad.any():
        raise DataError(
            f"{group.kind}:{group.ids[part][bad][0]} has a coordinate that is not a finite number of single "
            "precision, as a database has them; scale the map down."
        )
    count, width = coordinates.shape
    offsets = pa.array(np.arange(0, (count + 1) * width, width, dtype=np.int32))
    drawn = group.drawn[part].astype(np.float32)
    columns = [
        pa.array([group.kind] * count, pa.string()),
        pa.array(group.ids[part], pa.string()),
        pa.array(group.shown[part], pa.string()),
        pa.ListArray.from_arrays(offsets, pa.array(coordinates.ravel())),
        pa.array(drawn[:, 0]),
        pa.array(drawn[:, 1]),
        pa.array(_fields(group, part), pa.string()),
    ]
    for texts, what in ((group.ids[part], "id"), (group.shown[part], "label"), ([group.kind], "kind")):
        for text in texts:
            if "\0" in text:
                raise DataError(f"the {what} {text!r} holds a zero character, which PostgreSQL cannot store.")
    return pa.record_batch(columns, schema=SCHEMA)


def _fields(group: Group, part: slice) -> list[str]:
    """Write the fields of things as JSON, one text a thing; missing numbers become null."""
    names = list(group.fields)
    columns = [_finite(group.fields[name][part].tolist()) for name in names]
    rows = zip(*columns, strict=True) if columns else ((),) * len(group.ids[part])
    texts = [
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=plain) for row in rows
    ]
    for text, name in zip(texts, group.ids[part], strict=True):
        if "\\u0000" in text:
            raise DataError(
                f"a field of {group.kind}:{name} holds a zero character, which PostgreSQL cannot store."
            )
    return texts


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list) else value
