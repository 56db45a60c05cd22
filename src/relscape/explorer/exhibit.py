"""What is shown: a map, and what else can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relscape.data.labels import match
from relscape.errors import ParameterError
from relscape.maps import Map
from relscape.models.placing import place
from relscape.protocols import BoolArray, FloatArray, TextArray

__all__ = ["Exhibit", "Newcomers", "land", "title_of"]


@dataclass(frozen=True, eq=False)
class Newcomers:
    """New things of one kind and where they land on a map; ``known`` are those that are on it already."""

    kind: str
    names: TextArray
    coordinates: FloatArray
    drawn: FloatArray
    known: BoolArray


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A map as it is shown.

    ``knowledge`` is the trained knowledge graph that answers questions about its entities, ``newcomers`` are
    new things whose places can be looked at, and ``relations`` says whether those that the map carries are
    shown.
    """

    map: Map
    title: str
    knowledge: Any = None
    newcomers: Newcomers | None = None
    relations: bool = True

    def __post_init__(self) -> None:
        if self.knowledge is not None and not hasattr(self.knowledge, "predict_tails"):
            raise ParameterError(
                f"knowledge={type(self.knowledge).__name__}: give the trained KGEmbedding whose map this is."
            )


def title_of(map_: Map) -> str:
    """Name a map by its kinds, where nobody has given it a title."""
    kinds = " and ".join(map_.groups) if len(map_.groups) < 3 else ", ".join(map_.groups)
    return f"{kinds}, by {map_.model}" if map_.model else kinds


def land(map_: Map, data: Any, kind: str | None = None) -> Newcomers:
    """Find where new things would land; the map stays as it is.

    ``data`` and ``kind`` are those of :func:`relscape.place`.
    """
    grown = place(_unmarked(map_), data, kind)
    chosen = next(name for name in grown.groups if "placed" in grown.group(name).fields)
    group = grown.group(chosen)
    at = np.flatnonzero(np.asarray(group.fields["placed"], dtype=bool))
    known = match(group.ids[at], map_.group(chosen).ids) >= 0
    return Newcomers(chosen, group.ids[at], group.coordinates[at], group.drawn[at], known)


def _unmarked(map_: Map) -> Map:
    """Forget which things were placed earlier, so that the marks tell of the new ones only."""
    groups = [map_.group(kind) for kind in map_.groups]
    return map_.with_groups(
        replace(group, fields={name: values for name, values in group.fields.items() if name != "placed"})
        for group in groups
    )
