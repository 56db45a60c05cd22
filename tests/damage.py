"""Ways to damage files and values, drawn by hypothesis: what disks, transfers and ill will do."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

__all__ = ["any_text", "damaged_bytes", "damaged_json", "odd_values"]

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)

# Values that a header of ours never has where they are put: wrong types, sizes and paths.
odd_values = st.sampled_from(
    [
        None, True, False, -1, 0, 1, 2, 3, 10**400, -(2**63), 2**63, 1e308, -0.5, 1e-320, "", "x", "../..",
        "/etc/passwd", "..\\..", "a\0b", "\ud7ff", "x" * 5000, "nan", "inf", [], [[]], [1, "a", None],
        [10**400] * 3, {}, {"a": {}},
        {"class": "Path"}, {"class": "Affinity"}, {"sparse": [2, 2]}, {"array": [3]},
        {"sparse": [10**12, 10**12]}, {"sparse": [-1, 2]}, "COVA", "CODE", "KGEmbedding",
    ]
)  # fmt: skip


@st.composite
def damaged_bytes(draw: Any, original: bytes) -> bytes:
    """Cut, flip, insert, repeat or blank out parts of a file."""
    content = bytearray(original)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        length = draw(st.integers(1, 40))
        kind = draw(st.sampled_from(["cut", "flip", "insert", "repeat", "blank", "drop", "append"]))
        if kind == "cut":
            del content[at:]
        elif kind == "flip" and content:
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "insert":
            content[at:at] = draw(st.binary(min_size=1, max_size=12))
        elif kind == "repeat":
            content[at:at] = content[at : at + length] * draw(st.integers(1, 3))
        elif kind == "blank":
            content[at : at + length] = bytes(len(content[at : at + length]))
        elif kind == "drop":
            del content[at : at + length]
        else:
            content += draw(st.binary(min_size=1, max_size=12))
    return bytes(content)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the paths of all parts of a JSON value, the whole left out."""
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value[:6]))
    else:
        parts = []
    return [found for key, part in parts for found in [(*path, key), *_places(part, (*path, key))]]


@st.composite
def damaged_json(draw: Any, text: str) -> str:
    """Replace, remove, rename or nest parts of a JSON text."""
    content = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        places = _places(content)
        if not places:
            break
        *path, last = draw(st.sampled_from(places))
        holder = content
        for key in path:
            holder = holder[key]
        _change(draw, holder, last)
    return json.dumps(content)


def _change(draw: Callable[..., Any], holder: Any, key: Any) -> None:
    kind = draw(st.sampled_from(["replace", "replace", "replace", "remove", "rename", "nest", "swap"]))
    if kind == "replace":
        holder[key] = copy.deepcopy(draw(odd_values))  # it may be changed later
    elif kind == "remove":
        del holder[key]
    elif kind == "rename" and isinstance(holder, dict):
        holder[draw(any_text)] = holder.pop(key)
    elif kind == "nest":
        for _ in range(draw(st.sampled_from([1, 2, 200]))):
            holder[key] = [holder[key]]
    else:
        other = draw(st.sampled_from(list(holder) if isinstance(holder, dict) else list(range(len(holder)))))
        holder[key], holder[other] = holder[other], holder[key]
