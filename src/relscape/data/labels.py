"""Names and numbers: turning ids of any type into text and codes, the same way whatever their order."""

from __future__ import annotations

import contextlib
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
    "check_kind",
    "check_unique",
    "match",
    "number",
    "number_together",
    "positions",
    "shown_labels",
]

_WIDE_INTEGERS = pa.decimal256(76, 0)


def as_text(values: Iterable[Any], what: str = "ids") -> TextArray:
    """Turn ids of any type into text; a missing one is refused by its position.

    >>> as_text([3, "b", 2.5]).tolist()
    ['3', 'b', '2.5']
    """
    items = _listed(values, what)
    if set(map(type, items)) <= {str}:
        text = np.array(items, dtype=object)
    else:
        text = np.empty(len(items), dtype=object)
        for position, item in enumerate(items):
            if _is_missing(item):
                raise DataError(f"{what}: entry {position} is missing; give every one a name or drop it.")
            text[position] = item.decode(errors="replace") if isinstance(item, bytes) else str(item)
    _refuse_half_characters(text, what)
    return text


def _refuse_half_characters(text: TextArray, what: str) -> None:
    """Refuse text that no file can hold: half of a surrogate pair, as broken decoding leaves it."""
    try:
        pa.array(text, pa.string())
    except UnicodeEncodeError:
        position = next(k for k, name in enumerate(text) if any("\ud800" <= c <= "\udfff" for c in name))
        raise DataError(
            f"{what}: entry {position}, {text[position]!a}, holds half of a character (a lone "
            "surrogate) and cannot be stored; decode it anew from its bytes, or rename it."
        ) from None


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


def _listed(values: Iterable[Any], what: str) -> list[Any]:
    """List values as Python objects, whole numbers already as text; one text alone is refused."""
    if isinstance(values, str | bytes):
        raise DataError(f"{what}: one text was given, a list of them is needed.")
    if isinstance(values, range):
        return [*map(str, values)]
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        return [*map(str, values.tolist())]
    return _plain_items(values)


def _plain_items(values: Iterable[Any]) -> list[Any]:
    """List values of any container as Python objects."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        if pa.types.is_string(values.type):
            return list(values.to_numpy(zero_copy_only=False).tolist())
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


def check_kind(kind: Any) -> None:
    """Refuse a kind that is not named by a text: files, pictures and questions call it by its name."""
    if not isinstance(kind, str):
        raise DataError(f"the kind {kind!r} is not a text; name it, as in {str(kind)!r}.")


def check_unique(ids: TextArray, what: str) -> None:
    """Refuse ids that repeat, naming some of them and where they stand."""
    if len(set(ids)) == len(ids):
        return
    seen: dict[str, int] = {}
    repeated = []
    for position, name in enumerate(ids):
        if name in seen:
            repeated.append(f"{name} (positions {seen[name]} and {position})")
        else:
            seen[name] = position
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
    try:
        encoded = column.dictionary_encode()
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
    if {column.type for column in columns} == {pa.int64(), _WIDE_INTEGERS}:
        columns = [column.cast(_WIDE_INTEGERS) for column in columns]
    if columns[0].type != columns[1].type:
        columns = [pa.array(as_text(column, what), pa.string()) for column in columns]
    names, codes = number(pa.concat_arrays(columns), what)
    return names, codes[: len(left)], codes[len(left) :]


def arrow_column(values: Any) -> Any:
    """Bring a column of any origin into one plain Arrow array.

    Mixed types and those that Arrow cannot sort, such as tuples, become text.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        values = _column_of_objects(values)
    if pa.types.is_dictionary(values.type):
        values = _plain_strings(values.dictionary).take(values.indices)
    return _plain_strings(values)


def _column_of_objects(values: Any) -> Any:
    """Let Arrow find the type of Python objects; what it has no plain type for becomes text."""
    try:
        column = pa.array(values, from_pandas=True)
        if not (pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType)):
            return column
    except OverflowError:
        items = [None if _is_missing(value) else value for value in values]
        if {type(item) for item in items} <= {int, type(None)}:
            with contextlib.suppress(pa.ArrowInvalid):
                return pa.array(items, _WIDE_INTEGERS)
    except (pa.ArrowException, UnicodeError, TypeError):
        pass
    missing = np.array([_is_missing(value) for value in values], dtype=bool)
    text = as_text(["" if gone else value for value, gone in zip(values, missing, strict=True)])
    return pa.array(text, pa.string(), mask=missing)


def _plain_strings(values: Any) -> Any:
    """Cast Arrow's other layouts of text to the common one."""
    other = pa.types.is_string_view(values.type) or pa.types.is_large_string(values.type)
    return values.cast(pa.string()) if other else values


def shown_labels(labels: Iterable[Any], ids: TextArray, kind: str) -> TextArray:
    """Bring labels into text; an empty or missing one gives way to its id."""
    what = f"labels of kind {kind!r}"
    items = _listed(labels, what)
    if not set(map(type, items)) <= {str}:
        items = ["" if _is_missing(item) else item for item in items]
    text = as_text(items, what)
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
