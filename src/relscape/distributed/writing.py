"""Maps that no process holds whole: workers place the rows of a relation and write them, part by part."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import numpy as np

from relscape.data.labels import as_text
from relscape.distributed.relation import DistributedRelation
from relscape.errors import DataError, ParameterError, RelscapeWarning, listing
from relscape.maps import Group, Map
from relscape.maps.align import stored_motion
from relscape.maps.files import storage_errors
from relscape.maps.layout import continued, picture_of
from relscape.maps.store import Parts, write_group, write_map
from relscape.maps.stored import StoredMap
from relscape.models.base import CoEmbeddingModel
from relscape.models.inputs import known_places, rearranged
from relscape.models.registry import revive
from relscape.protocols import FloatArray, IntArray, SparseArray, TextArray

__all__ = ["write_placed"]


def write_placed(map_: Map, relation: DistributedRelation, path: str | Path) -> StoredMap:
    """Write a map of all rows of a relation, placed block by block on the workers of a cluster.

    Every worker writes the rows that it places as a Parquet file of their own; no process ever has all of
    their coordinates. The map is put at ``path`` when all are written: until then an earlier one stays.

    Parameters
    ----------
    map_ : Map
        A map of two kinds that carries its model, made of as many rows as are needed to fit it. Its columns,
        its picture and its model are kept; its rows are not, unless they are in the relation too.
    relation : DistributedRelation
        Between the rows to place and the columns of the map, matched by id where the relation names its
        columns.
    path : path
        Where the map is written, in a folder that all workers see under the same path.

    Returns
    -------
    StoredMap
        The map, on the disk. ``Map.load`` reads it as well where there is memory.
    """
    placer, target = _placer(map_, relation), Path(path).resolve()
    names, numbers = relation.row_entities, np.arange(relation.shape[0])
    ids = numbers if names is None else names.ids
    labels = numbers if names is None or names.labels is None else names.labels

    def write(folder: Path) -> int:
        told = relation.map_blocks(_write_part, placer, str(folder), along=[numbers, ids, labels])
        for left in folder.glob(".*"):  # of workers that were lost while writing
            left.unlink()
        placed = int(sum(count for count, _ in told))
        lost = [name for _, names in told for name in names]
        _tell(placed, relation.shape[0], lost, placer.kind)
        return placed

    kept = {"placed": {"data_fingerprint": relation.fingerprint, "rows": relation.shape[0]}}
    grown = Map(
        [placer.example(), map_.group(placer.model.column_entities_.kind)],
        model=map_.model,
        parameters=map_.parameters,
        provenance={**map_.provenance, **kept},
        drawn_by=map_.drawn_by,
        arrays=map_.arrays,
        model_state=map_.model_state,
    )
    with storage_errors("write", target):
        return StoredMap(write_map(grown, target, Parts(placer.kind, write)))


@dataclass(frozen=True, eq=False)
class _Placer:
    """What workers need to place rows: the model, where columns stand in it, and the map's picture."""

    kind: str
    labelled: bool
    model: CoEmbeddingModel
    at: IntArray
    arrays: dict[str, Any]
    coordinates: FloatArray
    layout: FloatArray

    def group(self, block: SparseArray, ids: TextArray, labels: TextArray) -> tuple[Group | None, TextArray]:
        """Place the rows of a block; gives those that have a place, and the ids of all others."""
        new = rearranged(block, self.at, len(self.model.column_entities_))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is lost is told of all blocks together
            found = np.asarray(self.model.transform(new))
        points = stored_motion(self.arrays, found.shape[1])(found)
        keep = np.isfinite(points).all(axis=1)
        if not keep.any():
            return None, ids
        shown = labels[keep] if self.labelled else None
        drawn = continued(self.coordinates, self.layout, points[keep])
        degrees = np.asarray(block.sum(axis=1)).ravel()[keep]
        return Group(self.kind, ids[keep], points[keep], shown, drawn, {"degree": degrees}), ids[~keep]

    def example(self) -> Group:
        """Give one thing that is like those that are written, by which the map's header describes them."""
        label = np.array([""], dtype=object) if self.labelled else None
        place, drawn = self.coordinates[:1], self.layout[:1]
        return Group(self.kind, np.array(["0"], dtype=object), place, label, drawn, {"degree": np.zeros(1)})


def _placer(map_: Map, relation: DistributedRelation) -> _Placer:
    if map_.model_state is None:
        raise ParameterError("this map does not carry its model, so nothing new can be placed on it.")
    model = revive(map_.model_state)
    if not isinstance(model, CoEmbeddingModel):
        raise ParameterError(
            f"rows of a relation are placed on maps of two kinds, such as CorrespondenceAnalysis makes; this "
            f"is one of {type(model).__name__}."
        )
    known = model.column_entities_
    if relation.column_entities is not None:
        at = known_places(relation.column_entities.ids, known)
    elif relation.shape[1] == len(known):
        at = np.arange(len(known))
    else:
        raise DataError(
            f"the relation has {relation.shape[1]} columns without names, but the map was made from "
            f"{len(known)}; name them (column_entities) or give the same ones."
        )
    labelled = relation.row_entities is not None and relation.row_entities.labels is not None
    picture = picture_of(map_.group(kind) for kind in map_.groups)
    return _Placer(model.row_entities_.kind, labelled, model, at, map_.arrays, *picture)


def _tell(placed: int, given: int, lost: list[str], kind: str) -> None:
    if not placed:
        raise DataError(
            f"none of the {given} {kind} things is related to anything on the map; none is written."
        )
    if placed < given:
        warnings.warn(
            f"{given - placed} of {given} {kind} things ({listing(np.array(lost, dtype=object), 3)}) have no "
            "relation to anything on the map and get no place.",
            RelscapeWarning,
            stacklevel=6,
        )


# ---------------------------------------------------------------------- on the workers


def _write_part(
    block: SparseArray, numbers: IntArray, ids: Any, labels: Any, placer: _Placer, folder: str
) -> tuple[int, list[str]]:
    """Place the rows of a block and write them; gives how many, and some that have no place.

    A part appears under its name when it is whole, so that it may also be written twice.
    """
    if not numbers.size:
        return 0, []
    group, lost = placer.group(block, as_text(ids), labels)
    if group is not None:
        handle, draft = mkstemp(prefix=".", dir=folder)
        os.close(handle)
        write_group(group, Path(draft))
        Path(draft).replace(Path(folder) / f"part-{numbers[0]:015d}.parquet")
    return (0 if group is None else len(group)), lost[:3].tolist()
