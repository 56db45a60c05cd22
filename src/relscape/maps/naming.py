"""One name for every thing of a map, across its kinds, for programs that know nothing of kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["distinct", "full_names", "words"]


def full_names(map_: Map) -> list[str]:
    """Name every thing, kind after kind: ``kind:id``, or the id alone where there is one kind."""
    if len(map_.groups) == 1:
        return [str(name) for name in map_.group(map_.groups[0]).ids]
    return distinct([f"{kind}:{name}" for kind in map_.groups for name in map_.group(kind).ids])


def words(names: Sequence[str]) -> list[str]:
    """Turn blanks into underscores, for programs in whose files a blank ends a name.

    >>> words(["new york", "paris"])
    ['new_york', 'paris']
    """
    return distinct(["_".join(name.split()) or "_" for name in names])


def distinct(names: Sequence[str]) -> list[str]:
    """Tell names apart that have become the same, by a number at the end of the later ones.

    >>> distinct(["a", "b", "a", "a_2"])
    ['a', 'b', 'a_3', 'a_2']
    """
    reserved, seen, result = set(names), set[str](), []
    for name in names:
        candidate, number = name, 2
        while candidate in seen or (number > 2 and candidate in reserved):
            candidate, number = f"{name}_{number}", number + 1
        seen.add(candidate)
        result.append(candidate)
    return result
