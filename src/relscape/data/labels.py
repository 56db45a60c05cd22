"""Names and numbers: turning ids of any type into text and codes, the same way whatever their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relscape.errors import DataError, listing
from relscape.protocols import IntArray, TextArray

__all__ = ["as_text", "check_unique", "match", "number", "positions"]


def as_text(values: Iterable[Any], what: str = "ids") -> TextArray:
    """Turn ids of any type into text; a missing one is refused by its position.

    >>> as_text([3, "b", 2.5]).tolist()
    ['3', 'b', '2.5']
    """
    items = values.tolist() if isinstance(values, np.ndarray) else list(values)
    text = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):
        if item is None or item != item:
            raise DataError(f"{what}: entry {position} is missing; give every one a name or drop it.")
        text[position] = item if isinstance(item, str) else str(item)
    return text


def check_unique(ids: TextArray, what: str) -> None:
    """Refuse ids that repeat, naming some of them and where they stand."""
    seen: dict[str, int] = {}
    repeated = []
    for position, name in enumerate(ids):
        if name in seen:
            repeated.append(f"{name} (positions {seen[name]} and {position})")
        else:
            seen[name] = position
    if repeated:
        raise DataError(f"{what}: {len(repeated)} ids repeat: {listing(repeated)}. Ids must be unique.")


def number(values: Any, what: str = "ids") -> tuple[TextArray, IntArray]:
    """Give the distinct values the numbers 0, 1, … in sorted order, so that input order cannot matter.

    Numbers sort as numbers, everything else as text. Returns the distinct values as text and the
    code of every entry.

    >>> names, codes = number([10, 2, 10])
    >>> names.tolist(), codes.tolist()
    (['2', '10'], [1, 0, 1])
    """
    column = _arrow_column(values)
    if column.null_count:
        first = pc.index(column.is_null(), True).as_py()
        raise DataError(
            f"{what}: {column.null_count} entries are missing, the first at row {first}; drop them first."
        )
    encoded = column.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy(zero_copy_only=False)
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    names = as_text(encoded.dictionary.take(pa.array(order)).to_pylist(), what)
    return names, rank[encoded.indices.to_numpy(zero_copy_only=False)]


def _arrow_column(values: Any) -> Any:
    """Bring a column of any origin into one plain Arrow array; mixed types become text."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        try:
            values = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            values = pa.array([None if v is None or v != v else str(v) for v in values])
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.string())
    return values


def positions(ids: TextArray) -> dict[str, int]:
    """Map every id to its position."""
    return {name: position for position, name in enumerate(ids)}


def match(names: Sequence[str] | TextArray, ids: TextArray) -> IntArray:
    """Give the position in ``ids`` of every name, -1 where there is none."""
    place = positions(ids)
    return np.fromiter((place.get(name, -1) for name in names), dtype=np.int64, count=len(names))
