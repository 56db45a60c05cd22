"""What a map says of itself and of its files: everything of the type that those who read it rely on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from relscape.errors import DataError, ParameterError
from relscape.maps.layout import checked_axes

__all__ = ["check_header", "check_picture", "check_told"]

_Types = type | tuple[type, ...]
_MAP: dict[str, _Types] = {
    "model": str,
    "n_components": int,
    "parameters": dict,
    "scores": dict,
    "provenance": dict,
    "layout": dict,
    "groups": list,
    "relations": list,
    "arrays": (str, type(None)),
    "model_directory": (str, type(None)),
}
_GROUP: dict[str, _Types] = {"kind": str, "file": str, "size": int, "labelled": bool, "fields": dict}
_RELATION: dict[str, _Types] = {"name": str, "rows": str, "columns": str, "directed": bool, "file": str}
_NAMES = {str: "text", int: "a whole number", dict: "a table of names", list: "a list", bool: "true or false"}


def check_header(header: Mapping[str, Any]) -> None:
    """Refuse a header of a saved map that lacks an entry or has one of another type than is written."""
    _check_entries(header, _MAP, "")
    for part, types in (("groups", _GROUP), ("relations", _RELATION)):
        for number, entry in enumerate(header[part]):
            where = f"{part}[{number}]"
            if not isinstance(entry, dict):
                raise DataError(f"{where} in map.json is not {_NAMES[dict]}")
            _check_entries(entry, types, f"{where}.")
            for name, column in entry.get("fields", {}).items():
                if not isinstance(column, str):
                    raise DataError(f"{where}.fields.{name} in map.json is not {_NAMES[str]}")


def _check_entries(entries: Mapping[str, Any], types: Mapping[str, _Types], where: str) -> None:
    for name, wanted in types.items():
        if name not in entries:
            raise DataError(f"map.json has no {where}{name}")
        # True and False are whole numbers to Python.
        if not isinstance(entries[name], wanted) or (wanted is int and isinstance(entries[name], bool)):
            kind = wanted[0] if isinstance(wanted, tuple) else wanted
            raise DataError(f"{where}{name} in map.json is not {_NAMES[kind]}")


def check_told(model: Any, **tables: Any) -> None:
    """Refuse a name of a model that is no text, and what is no mapping among the tables about a map."""
    if not isinstance(model, str):
        raise ParameterError(f"model={model!r}: the name of a model is a text.")
    for name, table in tables.items():
        if table is not None and not isinstance(table, Mapping):
            raise ParameterError(f"{name}={table!r}: give a mapping of names to values.")


def check_picture(drawn_by: Mapping[str, Any], dimensions: int) -> None:
    """Refuse what says how a map is drawn where it cannot be shown, or followed when things are added."""
    method, share = drawn_by.get("method", ""), drawn_by.get("variance_shown", 0.0)
    seed = drawn_by.get("random_state")
    if not isinstance(method, str):
        raise ParameterError(f"drawn_by has the method {method!r}: the name of a layout is a text.")
    if "axes" in drawn_by:
        checked_axes(drawn_by["axes"], dimensions)
    if isinstance(share, bool) or not isinstance(share, Real) or not math.isfinite(share):
        raise ParameterError(f"drawn_by has variance_shown={share!r}: a share is a number from 0 to 1.")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, Integral) or int(seed) < 0):
        raise ParameterError(f"drawn_by has random_state={seed!r}: a whole number from 0 on, or None.")
