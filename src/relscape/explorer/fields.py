"""The fields of a map as columns: numbers, classes by number, or texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relscape.explorer.columns import NONE, Column, numbers, texts
from relscape.maps import Group
from relscape.maps.fields import IMPORTANCE_FIELDS, is_categorical, is_missing, to_numbers
from relscape.protocols import AnyArray, FloatArray

__all__ = ["FieldColumn", "field_columns", "importance"]

MOST_CLASSES = 1_000
COUNTS = (*IMPORTANCE_FIELDS, "links out", "size")
FEW = 20  # classes that may be as many as half of the things
_WHOLE_IN_32_BITS = 2.0**24
_LARGEST_IN_32_BITS = 1e38


@dataclass(frozen=True, eq=False)
class FieldColumn:
    """A field over a run of things, from the first kind that has it to the last; kinds between have none."""

    name: str
    kinds: tuple[str, ...]
    type: str
    start: int
    column: Column
    categories: tuple[str, ...] | None = None

    def describe(self, column: str) -> dict[str, Any]:
        """Say what the field is, and which column holds it."""
        described: dict[str, Any] = {
            "name": self.name,
            "kinds": list(self.kinds),
            "type": self.type,
            "column": column,
            "start": self.start,
            "count": self.column.shape[0],
        }
        return described | ({} if self.categories is None else {"categories": list(self.categories)})


def field_columns(groups: Sequence[Group], starts: Mapping[str, int]) -> list[FieldColumn]:
    """Lay out every field of every kind; kinds that have a field of one name share its column."""
    names = dict.fromkeys(name for group in groups for name in group.fields)
    return [_field(name, groups, starts) for name in names]


def importance(fields: Sequence[FieldColumn]) -> list[str]:
    """Name the fields that can say how much a thing deserves a label, the best first."""
    countable = [field.name for field in fields if field.type == "number"]
    usual = [name for name in (*IMPORTANCE_FIELDS, "cos2") if name in countable]
    return [*usual, *(name for name in countable if name not in usual)]


def _field(name: str, groups: Sequence[Group], starts: Mapping[str, int]) -> FieldColumn:
    having = [group for group in groups if name in group.fields]
    first, last = groups.index(having[0]), groups.index(having[-1])
    run = groups[first : last + 1]
    kinds, start = tuple(group.kind for group in having), starts[having[0].kind]
    if not any(_names_classes(name, group.fields[name]) for group in having):
        parts = [to_numbers(g.fields[name]) if name in g.fields else np.full(len(g), np.nan) for g in run]
        return FieldColumn(name, kinds, "number", start, _numeric(np.concatenate(parts)))
    values: list[Any] = []
    for group in run:
        values += _plain(group.fields[name]) if name in group.fields else [None] * len(group)
    counts = Counter(_text(value) for value in values if value is not None)
    things = sum(counts.values())
    if len(counts) > MOST_CLASSES or (len(counts) > FEW and 2 * len(counts) > things):
        told = (None if value is None else _text(value) for value in values)
        return FieldColumn(name, kinds, "text", start, texts(told))
    categories = _ordered(counts, values)
    code = {text: number for number, text in enumerate(categories)}
    codes = [NONE if value is None else code[_text(value)] for value in values]
    column = numbers(np.array(codes, dtype=np.uint32), "u32")
    return FieldColumn(name, kinds, "category", start, column, tuple(categories))


def _names_classes(name: str, values: AnyArray) -> bool:
    """Tell whether a field names classes; counts do not, however few different ones there are."""
    return is_categorical(values) and not (name in COUNTS and values.dtype.kind in "iu")


def _numeric(values: FloatArray) -> Column:
    """Lay numbers out in 32 bits, or in 64 where that would spoil them: large whole numbers, such as ids."""
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max(initial=0.0))
    whole = largest > _WHOLE_IN_32_BITS and bool((finite % 1.0 == 0.0).all())
    return numbers(values, "f64" if whole or largest > _LARGEST_IN_32_BITS else "f32")


def _plain(values: AnyArray) -> list[Any]:
    """Give the values as Python objects, None where one is missing; dates as texts."""
    if values.dtype.kind in "mM":
        return [None if np.isnat(value) else str(value) for value in values]
    return [None if is_missing(value) else value for value in values.tolist()]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def _ordered(counts: Counter[str], values: Sequence[Any]) -> list[str]:
    """Order classes as pictures do: the most frequent first, but numbers and truth values in their order."""
    numeric = {_text(value): value for value in values if isinstance(value, int | float | np.bool_)}
    if len(numeric) == len(counts):
        return sorted(counts, key=lambda text: numeric[text])
    return sorted(counts, key=lambda text: (-counts[text], text))
