"""Map: named points of several kinds in one space, and the questions one can ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from relscape.data import Relation
from relscape.data.labels import positions
from relscape.errors import DataError, ParameterError, UnknownNameError, listing
from relscape.maps import align as aligning
from relscape.maps import doors
from relscape.maps import layout as layouts
from relscape.maps.group import Group, group_table, stack_tables
from relscape.maps.relations import check_relation, follow_groups
from relscape.maps.state import ModelState
from relscape.protocols import AnyArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Group", "Map", "Neighbor"]

Query: TypeAlias = str | tuple[str, str]
_Named = TypeVar("_Named", Group, Relation)


class Neighbor(NamedTuple):
    """One answer to "what is near": a thing and how far it is."""

    kind: str
    id: str
    label: str
    distance: float


class Map:
    """Named points of several kinds in one common space, where near means related.

    Parameters
    ----------
    groups : iterable of Group
        One for every kind; all have coordinates of the same dimension.
    model : str
        Name of the model that made it.
    parameters, scores, provenance : mapping, optional
        What it was made with, how good it is, and what it was made from.
    drawn_by : mapping, optional
        How the layout was made, ``{"method": "axes", "axes": [0, 1]}``, or is to be made where a group
        has none.
    relations : iterable of Relation, optional
        Relations that travel with the map.
    arrays : mapping of str to array, optional
        Anything else the model needs: prototypes, a response matrix, an alignment.
    model_state : ModelState, optional
        The model itself, so that new things can be placed later.
    """

    def __init__(
        self,
        groups: Iterable[Group],
        *,
        model: str = "",
        parameters: Mapping[str, Any] | None = None,
        scores: Mapping[str, Any] | None = None,
        provenance: Mapping[str, Any] | None = None,
        drawn_by: Mapping[str, Any] | None = None,
        relations: Iterable[Relation] = (),
        arrays: Mapping[str, AnyArray] | None = None,
        model_state: ModelState | None = None,
    ) -> None:
        self._groups = _by_name(groups, "kind")
        self.model = model
        self.parameters = dict(parameters or {})
        self.scores = dict(scores or {})
        self.provenance = dict(provenance or {})
        self.relations = _by_name(relations, "name")
        self.arrays = dict(arrays or {})
        self.model_state = model_state
        if not self._groups:
            raise DataError("a map needs the points of at least one kind.")
        dimensions = {group.coordinates.shape[1] for group in self._groups.values()}
        if len(dimensions) != 1:
            raise DataError(f"the kinds of a map share one space, but have {sorted(dimensions)} dimensions.")
        for relation in self.relations.values():
            check_relation(relation, self._groups)
        self.n_components = dimensions.pop()
        self.drawn_by = dict(drawn_by or {})
        if any(group.layout is None for group in self._groups.values()):
            axes = tuple(self.drawn_by.get("axes", (0, 1)))
            self._draw(self.drawn_by.get("method", "axes"), axes, self.drawn_by.get("random_state"))

    # ------------------------------------------------------------------ what is on it

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the kinds on the map."""
        return tuple(self._groups)

    def group(self, name: str) -> Group:
        """Give everything about one kind."""
        if name not in self._groups:
            raise UnknownNameError("kind", name, self._groups, "this map")
        return self._groups[name]

    def coordinates(self, name: str) -> FloatArray:
        """Give the coordinates of one kind, one row a thing."""
        return self.group(name).coordinates

    def __len__(self) -> int:
        return sum(len(group) for group in self._groups.values())

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(group)} {kind}" for kind, group in self._groups.items())
        return f"<Map: {sizes} in {self.n_components} dimensions, by {self.model or 'hand'}>"

    # ------------------------------------------------------------------ what is near

    def locate(self, query: Query) -> tuple[str, int]:
        """Find a thing, given as ``"kind:id"`` or ``(kind, id)``; labels are understood too."""
        if isinstance(query, str):
            kind, colon, name = query.partition(":")
            if not colon:
                raise ParameterError(
                    f"the query {query!r} has no kind: write kind:id, for example {self.groups[0]}:{query}."
                )
        elif len(query) == 2:
            kind, name = query
        else:
            raise ParameterError(f"the query {query!r} is not a pair (kind, id).")
        group = self.group(kind)
        place = positions(group.ids).get(str(name))
        if place is not None:
            return kind, place
        labelled = np.flatnonzero(group.shown == str(name))
        if len(labelled) > 1:
            ids = listing(group.ids[labelled])
            raise ParameterError(
                f"{len(labelled)} things of kind {kind!r} are labelled {name!r}; say which: {ids}."
            )
        if len(labelled) == 0:
            names = [*group.ids, *(() if group.labels is None else group.labels)]
            raise UnknownNameError(kind, name, names, "this map")
        return kind, int(labelled[0])

    def neighbors(
        self, query: Query, among: str | Sequence[str] | None = None, k: int = 10
    ) -> list[Neighbor]:
        """Give the ``k`` things nearest to one on the map, among some kinds or all, itself left out."""
        _check_count(k)
        kind, place = self.locate(query)
        own = self._groups[kind]
        found = self.nearest(own.coordinates[place], among, k + 1)
        return [n for n in found if (n.kind, n.id) != (kind, own.ids[place])][:k]

    def nearest(self, vector: Any, among: str | Sequence[str] | None = None, k: int = 10) -> list[Neighbor]:
        """Give the ``k`` things nearest to a free point of the space, among some kinds or all."""
        point = np.asarray(vector, dtype=np.float64).ravel()
        if point.size != self.n_components or not np.isfinite(point).all():
            raise ParameterError(f"the vector must have {self.n_components} finite coordinates.")
        _check_count(k)
        kinds = self.groups if among is None else (among,) if isinstance(among, str) else dict.fromkeys(among)
        found: list[Neighbor] = []
        for kind in kinds:
            group = self.group(kind)
            distances = np.linalg.norm(group.coordinates - point, axis=1)
            closest = np.argsort(distances, kind="stable")[:k]
            shown = group.shown
            found += [Neighbor(kind, group.ids[i], shown[i], float(distances[i])) for i in closest]
        return sorted(found, key=lambda neighbor: neighbor.distance)[:k]

    # ------------------------------------------------------------------ how it is drawn

    def layout(
        self, method: str = "pca", axes: tuple[int, int] = (0, 1), random_state: int | None = 0
    ) -> Map:
        """Give the same map with another picture of it.

        "axes" draws two of its axes, "pca" the plane of largest spread, "tsne" a t-SNE of all points
        of all kinds together. Neighbours and scores are not touched.
        """
        drawn = self._copy()
        drawn._draw(method, axes, random_state)
        return drawn

    def _draw(self, method: str, axes: tuple[int, int], random_state: int | None) -> None:
        points = [group.coordinates for group in self._groups.values()]
        flat, self.drawn_by = layouts.flatten(points, method, axes, random_state)
        self._groups = {
            group.kind: replace(group, layout=positions_)
            for group, positions_ in zip(self._groups.values(), flat, strict=True)
        }

    def align(self, to: Map) -> Map:
        """Turn, mirror, scale and shift this map so that things on both lie where ``to`` has them.

        Distances keep their order. The motion is stored, so that new things can still be placed.
        """
        shared = aligning.shared_points(self, to)
        motion = aligning.procrustes(*shared.coordinates)
        drawn = aligning.procrustes(*shared.layouts)
        aligned = self._copy()
        aligned._groups = {
            kind: replace(group, coordinates=motion(group.coordinates), layout=drawn(group.drawn))
            for kind, group in self._groups.items()
        }
        aligned.arrays |= motion.after(aligning.stored_motion(self.arrays, self.n_components)).arrays()
        aligned.provenance["aligned"] = {"shared_things": shared.count, "residual": motion.residual}
        return aligned

    def _copy(self, groups: Iterable[Group] | None = None, relations: Iterable[Relation] = ()) -> Map:
        return Map(
            self._groups.values() if groups is None else groups,
            model=self.model,
            parameters=self.parameters,
            scores=self.scores,
            provenance=self.provenance,
            drawn_by=self.drawn_by,
            relations=self.relations.values() if groups is None else relations,
            arrays=self.arrays,
            model_state=self.model_state,
        )

    def with_groups(self, groups: Iterable[Group]) -> Map:
        """Give the same map with other points, such as new things placed among the old.

        Relations follow the ids: new things relate to nothing yet, and a relation goes when its kind
        does. A group without a layout has all drawn anew, the way the map was drawn.
        """
        changed = _by_name(groups, "kind")
        relations = follow_groups(self.relations.values(), self._groups, changed)
        return self._copy(changed.values(), relations)

    def with_relations(self, relations: Iterable[Relation]) -> Map:
        """Give the same map carrying relations among its points."""
        changed = self._copy()
        changed.relations = {relation.name: relation for relation in relations}
        return changed

    # ------------------------------------------------------------------ in and out

    def save(self, path: str | Path) -> Path:
        """Write the map as a directory, whole or not at all; returns where."""
        return doors.save_map(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Map:
        """Read a map that was saved."""
        return doors.load_map(Path(path))

    def plot(self, **options: Any) -> Figure:
        """Draw the map as a static picture; see :func:`relscape.plot.draw_map` for the options."""
        return doors.draw_map(self, **options)

    def to_frame(self) -> Any:
        """Give all points as one ``pyarrow.Table``: kind, id, label, coordinates, layout, fields.

        Every frame library takes it: ``pandas.DataFrame`` by ``.to_pandas()``, ``polars.from_arrow``.
        """
        return stack_tables([group_table(group) for group in self._groups.values()])


def _by_name(items: Iterable[_Named], attribute: str) -> dict[str, _Named]:
    """Key groups or relations by their name; a name given twice is refused."""
    named: dict[str, _Named] = {}
    for item in items:
        name = getattr(item, attribute)
        if name in named:
            raise DataError(f"the {type(item).__name__.lower()} {name!r} is given twice.")
        named[name] = item
    return named


def _check_count(k: int) -> None:
    if k < 1:
        raise ParameterError(f"k={k}: ask for at least one neighbour.")
