"""Names and numbers: turning ids of any type into text and codes, the same way whatever their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relscape.errors import DataError, listing
from relscape.protocols import AnyArray, IntArray, TextArray

__all__ = [
    "arrow_column",
    "as_field",
    "as_text",
    "check_unique",
    "match",
    "number",
    "number_together",
    "positions",
    "shown_labels",
]


def as_text(values: Iterable[Any], what: str = "ids") -> TextArray:
    """Turn ids of any type into text; a missing one is refused by its position.

    >>> as_text([3, "b", 2.5]).tolist()
    ['3', 'b', '2.5']
    """
    if isinstance(values, str | bytes):
        raise DataError(f"{what}: one text was given, a list of them is needed.")
    items = _plain_items(values)
    text = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):
        if _is_missing(item):
            raise DataError(f"{what}: entry {position} is missing; give every one a name or drop it.")
        if isinstance(item, bytes):
            item = item.decode(errors="replace")
        text[position] = item if type(item) is str else str(item)
    return text


def as_field(values: Any, what: str) -> AnyArray:
    """Bring one value a thing into a one-dimensional array; texts become Python strings, None stays."""
    items = values if isinstance(values, np.ndarray) else _plain_items(values)
    try:
        array = np.asarray(items)
    except ValueError as error:
        raise DataError(f"{what}: one plain value a thing is needed, some are lists.") from error
    if array.ndim != 1:
        raise DataError(f"{what}: one plain value a thing is needed, this has {array.ndim} dimensions.")
    if array.dtype.kind in "US":
        return np.array(items, dtype=object) if isinstance(items, list) else array.astype(str).astype(object)
    return array


def _plain_items(values: Iterable[Any]) -> list[Any]:
    """List values of any container as Python objects."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return list(values.to_pylist())
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "M":
            return [None if np.isnat(value) else str(value) for value in values]
        return list(values.tolist())
    return list(values)


def _is_missing(item: Any) -> bool:
    """Say whether an entry is None, NaN, pandas' NA or a missing date."""
    if item is None or type(item).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(item, float | np.generic) and bool(item != item)


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
    column = arrow_column(values)
    missing = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    count = pc.sum(missing).as_py()
    if count:
        first = pc.index(missing, True).as_py()
        raise DataError(f"{what}: {count} entries are missing, the first at row {first}; drop them first.")
    encoded = column.dictionary_encode()
    try:
        order = pc.sort_indices(encoded.dictionary).to_numpy(zero_copy_only=False)
    except pa.ArrowNotImplementedError:
        return number(as_text(column, what), what)
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    names = as_text(encoded.dictionary.take(pa.array(order)), what)
    return names, rank[encoded.indices.to_numpy(zero_copy_only=False)]


def number_together(left: Any, right: Any, what: str = "ids") -> tuple[TextArray, IntArray, IntArray]:
    """Give two columns of the same things one numbering: the names, and the codes of either column."""
    columns = [arrow_column(values) for values in (left, right)]
    if columns[0].type != columns[1].type:
        columns = [pa.array(as_text(column, what), pa.string()) for column in columns]
    names, codes = number(pa.concat_arrays(columns), what)
    return names, codes[: len(left)], codes[len(left) :]


def arrow_column(values: Any) -> Any:
    """Bring a column of any origin into one plain Arrow array; mixed types become text."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        try:
            values = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            values = pa.array([None if _is_missing(v) else str(v) for v in values])
    if pa.types.is_dictionary(values.type):
        values = _plain_strings(values.dictionary).take(values.indices)
    return _plain_strings(values)


def _plain_strings(values: Any) -> Any:
    """Cast Arrow's other layouts of text to the common one."""
    other = pa.types.is_string_view(values.type) or pa.types.is_large_string(values.type)
    return values.cast(pa.string()) if other else values


def shown_labels(labels: Iterable[Any], ids: TextArray, kind: str) -> TextArray:
    """Bring labels into text; an empty one gives way to its id."""
    text = as_text(labels, f"labels of kind {kind!r}")
    if len(text) != len(ids):
        raise DataError(f"kind {kind!r} has {len(ids)} ids but {len(text)} labels; give one for every id.")
    empty = np.fromiter((not label.strip() for label in text), dtype=bool, count=len(text))
    text[empty] = ids[empty]
    return text


def positions(ids: TextArray) -> dict[str, int]:
    """Map every id to its position."""
    return {name: position for position, name in enumerate(ids)}


def match(names: Sequence[str] | TextArray, ids: TextArray) -> IntArray:
    """Give the position in ``ids`` of every name, -1 where there is none."""
    place = positions(ids)
    return np.fromiter((place.get(name, -1) for name in names), dtype=np.int64, count=len(names))
