"""Group: the points of one kind on a map, and the same laid out as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from relscape.data.labels import as_field, as_text, check_kind, check_unique, positions, shown_labels
from relscape.errors import DataError, ParameterError
from relscape.protocols import AnyArray, FloatArray, TextArray

__all__ = ["Group", "field_columns", "group_table", "stack_tables"]

_FARTHEST = 1e150  # squares of what is farther away are no numbers any more


@dataclass(frozen=True, eq=False)
class Group:
    """The points of one kind: ids, coordinates, and what else is known of each.

    ``layout`` holds two-dimensional positions for drawing; neighbours and scores use ``coordinates``.
    """

    kind: str
    ids: TextArray
    coordinates: FloatArray
    labels: TextArray | None = None
    layout: FloatArray | None = None
    fields: Mapping[str, AnyArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_kind(self.kind)
        ids = as_text(self.ids, f"ids of kind {self.kind!r}")
        check_unique(ids, f"kind {self.kind!r}")
        object.__setattr__(self, "ids", ids)
        if self.labels is not None:
            object.__setattr__(self, "labels", shown_labels(self.labels, ids, self.kind))
        fields = {n: as_field(v, f"field {n!r} of kind {self.kind!r}") for n, v in self.fields.items()}
        object.__setattr__(self, "fields", fields)
        coordinates = np.asarray(self.coordinates)
        if coordinates.ndim != 2 or coordinates.shape[1] == 0 or coordinates.dtype.kind not in "fiu":
            raise DataError(f"kind {self.kind!r}: coordinates are a two-dimensional array of real numbers.")
        if coordinates.dtype not in (np.float32, np.float64):
            coordinates = coordinates.astype(np.float64)
        object.__setattr__(self, "coordinates", coordinates)
        if self.layout is not None:
            object.__setattr__(self, "layout", np.asarray(self.layout, dtype=np.float64))
        self._check_shapes()

    def _check_shapes(self) -> None:
        for what, values in (
            ("coordinates", self.coordinates),
            ("layout", self.layout),
            *((f"field {n!r}", v) for n, v in self.fields.items()),
        ):
            if values is not None and len(values) != len(self):
                raise DataError(f"kind {self.kind!r} has {len(self)} ids but {len(values)} rows of {what}.")
        if self.layout is not None and self.layout.shape != (len(self), 2):
            raise DataError(f"kind {self.kind!r}: a layout has two columns, not {self.layout.shape[1:]}.")
        for what, points in (("coordinates", self.coordinates), ("layout", self.layout)):
            if points is None:
                continue
            farthest = min(_FARTHEST, float(np.finfo(points.dtype).max))
            far = ~(np.abs(points) <= farthest).all(axis=1)  # NaN, too
            if far.any():
                raise DataError(
                    f"kind {self.kind!r}: the {what} of {self.ids[int(far.argmax())]!r} are not finite, or "
                    "so large that distances are no numbers."
                )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def shown(self) -> TextArray:
        """Labels where there are some, ids otherwise."""
        return self.ids if self.labels is None else self.labels

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Position of every id, laid out when first asked for."""
        return positions(self.ids)

    @cached_property
    def reach(self) -> float:
        """The largest coordinate, whatever its sign: how far from the origin the points lie."""
        return float(np.abs(self.coordinates).max(initial=0.0))

    @property
    def drawn(self) -> FloatArray:
        """Positions in a picture; a map gives every group a layout."""
        if self.layout is None:
            raise DataError(f"kind {self.kind!r} has no layout yet; put it on a Map first.")
        return self.layout

    def select(self, keep: Any) -> Group:
        """Keep some of the things, by a mask or positions, with all that is said of them."""
        chosen = np.asarray(keep)
        chosen = chosen.astype(np.int64) if chosen.size == 0 else chosen
        fits = chosen.ndim == 1 and chosen.dtype.kind in "biu"
        if fits and chosen.dtype.kind == "b":
            fits = len(chosen) == len(self)
        elif fits and chosen.size:
            fits = bool(-len(self) <= chosen.min() and chosen.max() < len(self))
        if not fits:
            raise ParameterError(
                f"keep is a mask of {len(self)} True or False, or positions among the {len(self)} "
                f"things of kind {self.kind!r}."
            )
        return replace(
            self,
            ids=self.ids[chosen],
            coordinates=self.coordinates[chosen],
            labels=None if self.labels is None else self.labels[chosen],
            layout=None if self.layout is None else self.layout[chosen],
            fields={name: values[chosen] for name, values in self.fields.items()},
        )


def field_columns(group: Group) -> dict[str, str]:
    """Name the column of every field, so that none meets a column of the map's own or another field."""
    taken = {"kind", "id", "label", "x", "y", *(f"z{axis}" for axis in range(group.coordinates.shape[1]))}
    free = [name for name in group.fields if name not in taken]
    columns = dict(zip(free, free, strict=True))
    for name in group.fields:
        column = name
        while column in taken or (column in columns and name not in columns):
            column = f"field_{column}"
        columns[name] = column
    return {name: columns[name] for name in group.fields}


def group_table(group: Group) -> Any:
    """Lay one group out as a table: kind, id, label, coordinates, layout, fields."""
    columns: dict[str, Any] = {
        "kind": pa.array([group.kind] * len(group), pa.string()),
        "id": pa.array(group.ids, pa.string()),
        "label": pa.array(group.shown, pa.string()),
    }
    columns |= {f"z{axis}": pa.array(values) for axis, values in enumerate(group.coordinates.T)}
    if group.layout is not None:
        columns |= {"x": pa.array(group.layout[:, 0]), "y": pa.array(group.layout[:, 1])}
    columns |= {column: _field_array(group.fields[name]) for name, column in field_columns(group).items()}
    return pa.table(columns)


def _field_array(values: AnyArray) -> Any:
    """Bring a field into Arrow; values of mixed types become text."""
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.array([None if v is None or v != v else str(v) for v in values], pa.string())


def stack_tables(tables: list[Any]) -> Any:
    """Put tables below each other; a column that is text in one and numbers in another becomes text."""
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        types: dict[str, set[Any]] = {}
        for column in (column for table in tables for column in table.schema):
            types.setdefault(column.name, set()).add(column.type)
        mixed = {name for name, found in types.items() if len(found - {pa.null()}) > 1}
        return pa.concat_tables([_with_text(table, mixed) for table in tables], promote_options="default")


def _with_text(table: Any, columns: set[str]) -> Any:
    for position, name in enumerate(table.column_names):
        if name in columns:
            values = table.column(name).to_pylist()
            texts = pa.array([None if v is None else str(v) for v in values], pa.string())
            table = table.set_column(position, name, texts)
    return table
