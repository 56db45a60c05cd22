"""Map: named points of several kinds in one space, and the questions one can ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from relscape.data import Relation
from relscape.errors import DataError, ParameterError, UnknownNameError, listing
from relscape.maps import align as aligning
from relscape.maps import doors
from relscape.maps import layout as layouts
from relscape.maps.group import Group, group_table, stack_tables
from relscape.maps.nearby import Neighbor, check_count, nearest_to_all, nearest_to_one, split_query
from relscape.maps.relations import check_relation, follow_groups
from relscape.maps.spelling import expanded
from relscape.maps.state import ModelState
from relscape.maps.told import check_picture, check_told
from relscape.protocols import AnyArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from relscape.maps.publishing import Publication

__all__ = ["Group", "Map", "Neighbor"]

Query: TypeAlias = str | tuple[str, str]
_Named = TypeVar("_Named", Group, Relation)


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
        check_told(model, parameters=parameters, scores=scores, provenance=provenance, drawn_by=drawn_by)
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
        check_picture(self.drawn_by, self.n_components)
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
        sizes = ", ".join(f"{len(group)} × {kind}" for kind, group in self._groups.items())
        space = "1 dimension" if self.n_components == 1 else f"{self.n_components} dimensions"
        return f"<Map: {sizes} in {space}, by {self.model or 'hand'}>"

    # ------------------------------------------------------------------ what is near

    def locate(self, query: Query) -> tuple[str, int]:
        """Find a thing, given as ``"kind:id"`` or ``(kind, id)``; labels are understood too.

        A text is split at its first colon, or, where no kind is called as what is before it, behind the
        longest name of a kind that it begins with.
        """
        if isinstance(query, str):
            kind, name = split_query(query, self.groups)
        elif isinstance(query, tuple | list) and len(query) == 2:
            kind, name = query
        else:
            raise ParameterError(f"the query {query!r} is not a pair (kind, id), nor a text kind:id.")
        group = self.group(kind)
        place = group.places.get(str(name))
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
        kind, place = self.locate(query)
        found = self.nearest(self._groups[kind].coordinates[place], among, check_count(k) + 1)
        return self._without((kind, place), found, k)

    def neighbors_of(
        self, queries: Iterable[Query], among: str | Sequence[str] | None = None, k: int = 10
    ) -> list[list[Neighbor]]:
        """Give for each of many things what :meth:`neighbors` gives for one; fast on large maps too."""
        count = check_count(k)
        asked = [self.locate(query) for query in queries]
        points = [self._groups[kind].coordinates[place] for kind, place in asked]
        groups = self._among(among)
        if not asked:
            return []
        answers = nearest_to_all(groups, np.asarray(points, dtype=np.float64), count + 1)
        return [self._without(own, found, count) for own, found in zip(asked, answers, strict=True)]

    def nearest(self, vector: Any, among: str | Sequence[str] | None = None, k: int = 10) -> list[Neighbor]:
        """Give the ``k`` things nearest to a free point of the space, among some kinds or all."""
        try:
            point = np.asarray(vector, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            point = np.empty(0)
        if point.size != self.n_components or not np.isfinite(point).all():
            raise ParameterError(f"the vector must have {self.n_components} finite coordinates.")
        return nearest_to_one(self._among(among), point, check_count(k))

    def _among(self, kinds: str | Sequence[str] | None) -> list[Group]:
        if kinds is not None and not isinstance(kinds, Iterable):
            raise ParameterError(f"among={kinds!r}: give the name of a kind, or a list of names.")
        names = self.groups if kinds is None else (kinds,) if isinstance(kinds, str) else dict.fromkeys(kinds)
        return [self.group(name) for name in names]

    def _without(self, own: tuple[str, int], found: list[Neighbor], k: int) -> list[Neighbor]:
        """Leave the thing that was asked about out of the answer."""
        kind, place = own
        return [n for n in found if (n.kind, n.id) != (kind, self._groups[kind].ids[place])][:k]

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

        Distances keep their order, and the picture becomes one of the same making as that of ``to``. The
        motion is stored, so that new things can still be placed.
        """
        shared = aligning.shared_things(self, to)
        points = np.vstack([self.coordinates(kind)[here] for kind, (here, _) in shared.items()])
        target = np.vstack([to.coordinates(kind)[there] for kind, (_, there) in shared.items()])
        motion = aligning.procrustes(points, target)
        moved = {
            kind: replace(group, coordinates=motion(group.coordinates))
            for kind, group in self._groups.items()
        }
        flat, drawn_by = aligning.aligned_picture(moved, to, shared)
        aligned = self._copy()
        aligned._groups = {
            kind: replace(moved[kind], layout=layout) for kind, layout in zip(moved, flat, strict=True)
        }
        aligned.drawn_by = drawn_by
        aligned.arrays |= motion.after(aligning.stored_motion(self.arrays, self.n_components)).arrays()
        aligned.provenance["aligned"] = {"shared_things": len(points), "residual": motion.residual}
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
        return self._copy(self._groups.values(), relations)

    def select(self, kind: str, keep: Any) -> Map:
        """Keep some things of one kind, by a mask or positions; relations and the picture follow."""
        chosen = self.group(kind).select(keep)
        return self.with_groups(chosen if name == kind else self._groups[name] for name in self.groups)

    # ------------------------------------------------------------------ in and out

    def save(self, path: str | Path) -> Path:
        """Write the map as a directory, whole or not at all; returns where."""
        return doors.save_map(self, expanded(path))

    @classmethod
    def load(cls, path: str | Path) -> Map:
        """Read a map that was saved."""
        return doors.load_map(expanded(path))

    def plot(self, **options: Any) -> Figure:
        """Draw the map as a static picture; see :func:`relscape.plot.draw_map` for the options."""
        return doors.draw_map(self, **options)

    def export(self, path: str | Path, format: str | None = None) -> Path:
        """Write the map for another program, whole or not at all; returns where.

        The ending of the path tells the format, unless ``format`` names it: "csv" (.csv), "parquet",
        "word2vec" (.vec, .txt), "word2vec-binary" (.bin), "tensorboard" (a directory, always named),
        "anndata" (.h5ad), "graphml", "gexf", "embedding-atlas" (.parquet, always named), "html". An earlier
        export is replaced; anything else at the path is refused.
        """
        return doors.export_map(self, expanded(path), format)

    def publish(
        self, address: str, name: str, *, schema: str = "public", dry_run: bool = False
    ) -> Publication:
        """Put the map into a PostgreSQL database, ``postgresql://host/database``, in one transaction.

        Its points become the table ``NAME_points``, with pgvector's type and an index where that is, and what
        it was made from a row of ``NAME_versions``. Publishing the same again changes nothing; ``dry_run``
        only says what would be done. See :class:`relscape.maps.publishing.Publication` for what comes back.
        """
        return doors.publish_map(self, address, name, schema, dry_run)

    def explore(self, compare: Map | None = None, **options: Any) -> Any:
        """Open the map in a browser, beside another one if asked; see :func:`relscape.explorer.explore`."""
        return doors.explore_map(self, compare, **options)

    def to_html(self, path: str | Path, **options: Any) -> Path:
        """Write the map as one HTML file that works offline; see :func:`relscape.explorer.to_html`."""
        return doors.write_page(self, expanded(path), **options)

    def _repr_html_(self) -> str:
        """Show the map in a notebook."""
        return doors.show_in_notebook(self)

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
