"""Map: named points of several kinds in one space, and the questions one can ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from relscape.data import Relation
from relscape.data.labels import as_text, check_unique, positions
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.maps import align as aligning
from relscape.maps import doors
from relscape.maps import layout as layouts
from relscape.maps.state import ModelState
from relscape.protocols import AnyArray, FloatArray, TextArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Group", "Map", "Neighbor"]

Query: TypeAlias = str | tuple[str, str]


class Neighbor(NamedTuple):
    """One answer to "what is near": a thing and how far it is."""

    kind: str
    id: str
    label: str
    distance: float


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
        ids = as_text(self.ids, f"ids of kind {self.kind!r}")
        check_unique(ids, f"kind {self.kind!r}")
        object.__setattr__(self, "ids", ids)
        if self.labels is not None:
            object.__setattr__(self, "labels", as_text(self.labels, f"labels of kind {self.kind!r}"))
        object.__setattr__(self, "fields", {name: np.asarray(v) for name, v in self.fields.items()})
        coordinates = np.asarray(self.coordinates)
        if coordinates.ndim != 2 or not np.issubdtype(coordinates.dtype, np.floating):
            raise DataError(f"kind {self.kind!r}: coordinates are a two-dimensional array of real numbers.")
        object.__setattr__(self, "coordinates", coordinates)
        for what, values in (
            ("coordinates", coordinates),
            ("labels", self.labels),
            ("layout", self.layout),
            *((f"field {n!r}", v) for n, v in self.fields.items()),
        ):
            if values is not None and len(values) != len(self):
                raise DataError(f"kind {self.kind!r} has {len(self)} ids but {len(values)} rows of {what}.")
        if self.layout is not None and self.layout.shape != (len(self), 2):
            raise DataError(f"kind {self.kind!r}: a layout has two columns, not {self.layout.shape[1:]}.")
        for what, points in (("coordinates", coordinates), ("layout", self.layout)):
            if points is not None and not np.isfinite(points).all():
                bad = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
                raise DataError(f"kind {self.kind!r}: the {what} of {ids[bad]!r} are not finite.")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def shown(self) -> TextArray:
        """Labels where there are some, ids otherwise."""
        return self.ids if self.labels is None else self.labels

    @property
    def drawn(self) -> FloatArray:
        """Positions in a picture; a map gives every group a layout."""
        if self.layout is None:
            raise DataError(f"kind {self.kind!r} has no layout yet; put it on a Map first.")
        return self.layout


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
        How the stored layout was made: ``{"method": "axes", "axes": [0, 1]}``.
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
        self._groups = {group.kind: group for group in groups}
        self.model = model
        self.parameters = dict(parameters or {})
        self.scores = dict(scores or {})
        self.provenance = dict(provenance or {})
        self.relations = {relation.name: relation for relation in relations}
        self.arrays = dict(arrays or {})
        self.model_state = model_state
        dimensions = {group.coordinates.shape[1] for group in self._groups.values()}
        if len(dimensions) != 1:
            raise DataError(f"the kinds of a map share one space, but have {sorted(dimensions)} dimensions.")
        self.n_components = dimensions.pop()
        self.drawn_by = dict(drawn_by or {})
        if any(group.layout is None for group in self._groups.values()):
            self._draw("axes", (0, 1), None)

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
        else:
            kind, name = query
        group = self.group(kind)
        place = positions(group.ids).get(str(name))
        if place is None and group.labels is not None:
            place = positions(group.labels).get(str(name))
        if place is None:
            raise UnknownNameError(kind, name, group.ids, "this map")
        return kind, place

    def neighbors(
        self, query: Query, among: str | Sequence[str] | None = None, k: int = 10
    ) -> list[Neighbor]:
        """Give the ``k`` things nearest to one on the map, among some kinds or all, itself left out."""
        kind, place = self.locate(query)
        own = self._groups[kind]
        found = self.nearest(own.coordinates[place], among, k + 1)
        return [n for n in found if (n.kind, n.id) != (kind, own.ids[place])][:k]

    def nearest(self, vector: Any, among: str | Sequence[str] | None = None, k: int = 10) -> list[Neighbor]:
        """Give the ``k`` things nearest to a free point of the space, among some kinds or all."""
        point = np.asarray(vector, dtype=np.float64).ravel()
        if point.size != self.n_components or not np.isfinite(point).all():
            raise ParameterError(f"the vector must have {self.n_components} finite coordinates.")
        if k < 1:
            raise ParameterError(f"k={k}: ask for at least one neighbour.")
        kinds = self.groups if among is None else (among,) if isinstance(among, str) else tuple(among)
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

    def _copy(self) -> Map:
        return Map(
            self._groups.values(),
            model=self.model,
            parameters=self.parameters,
            scores=self.scores,
            provenance=self.provenance,
            drawn_by=self.drawn_by,
            relations=self.relations.values(),
            arrays=self.arrays,
            model_state=self.model_state,
        )

    def with_groups(self, groups: Iterable[Group]) -> Map:
        """Give the same map with other points, such as new things placed among the old."""
        changed = self._copy()
        changed._groups = {group.kind: group for group in groups}
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
        return pa.concat_tables(
            [group_table(group) for group in self._groups.values()], promote_options="permissive"
        )


def group_table(group: Group) -> Any:
    """Lay one group out as a table with its kind in the first column."""
    columns: dict[str, Any] = {
        "kind": np.full(len(group), group.kind, dtype=object),
        "id": group.ids,
        "label": group.shown,
    }
    columns |= {f"z{axis}": group.coordinates[:, axis] for axis in range(group.coordinates.shape[1])}
    if group.layout is not None:
        columns |= {"x": group.layout[:, 0], "y": group.layout[:, 1]}
    columns |= {(f"field_{n}" if n in columns else n): v for n, v in group.fields.items()}
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
