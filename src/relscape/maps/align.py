"""Bringing one map over another by the things they share (orthogonal Procrustes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from relscape.data.labels import match
from relscape.errors import DataError
from relscape.maps import layout as layouts
from relscape.maps.group import Group
from relscape.objectives.neighbour import MIN_POINTS, tsne
from relscape.protocols import AnyArray, FloatArray, IntArray
from relscape.solvers.spectral import thin_svd

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["Motion", "aligned_picture", "procrustes", "shared_things", "stored_motion"]


@dataclass(frozen=True, eq=False)
class Motion:
    """A rotation or reflection, one scale and a shift: ``points @ matrix + offset``.

    ``residual`` is the share of the target's spread that stays unexplained (0 = same shape).
    """

    matrix: FloatArray
    offset: FloatArray
    residual: float = 0.0

    def __call__(self, points: FloatArray) -> FloatArray:
        """Move points."""
        return points @ self.matrix + self.offset

    def after(self, earlier: Motion) -> Motion:
        """Give the motion that does ``earlier`` first and then this one."""
        return Motion(earlier.matrix @ self.matrix, earlier.offset @ self.matrix + self.offset, self.residual)

    def arrays(self) -> dict[str, AnyArray]:
        """Give the arrays that a map stores to place new things later."""
        return {"alignment_matrix": self.matrix, "alignment_offset": self.offset}


def stored_motion(arrays: Mapping[str, AnyArray], dimensions: int) -> Motion:
    """Give the motion that a map was already moved by; none is the identity."""
    if "alignment_matrix" not in arrays:
        return Motion(np.eye(dimensions), np.zeros(dimensions))
    return Motion(arrays["alignment_matrix"], arrays["alignment_offset"])


def procrustes(points: FloatArray, target: FloatArray) -> Motion:
    """Find the similarity motion of ``points`` with the smallest squared distance to ``target``."""
    middle, goal = points.mean(axis=0), target.mean(axis=0)
    centred, aim = points - middle, target - goal
    left, values, right = thin_svd(centred.T @ aim)
    spread, wanted = float((centred**2).sum()), float((aim**2).sum())
    if spread == 0.0 or wanted == 0.0:
        raise DataError(
            "the things that both maps share all lie on one spot; they cannot guide an alignment."
        )
    matrix = (left @ right.T) * (values.sum() / spread)
    residual = max(0.0, 1.0 - float(values.sum()) ** 2 / (spread * wanted))
    return Motion(matrix, goal - middle @ matrix, residual)


def shared_things(first: Map, second: Map) -> dict[str, tuple[IntArray, IntArray]]:
    """Find the things of the same kind and id on both maps: for every kind, their places here and there."""
    if first.n_components != second.n_components:
        raise DataError(
            f"maps of {first.n_components} and {second.n_components} dimensions cannot be aligned; "
            "make both with the same number."
        )
    shared: dict[str, tuple[IntArray, IntArray]] = {}
    for kind in first.groups:
        if kind in second.groups:
            at = match(first.group(kind).ids, second.group(kind).ids)
            shared[kind] = (np.flatnonzero(at >= 0), at[at >= 0])
    count = sum(len(here) for here, _ in shared.values())
    if count < 2:
        raise DataError(f"the two maps share {count} things; at least two are needed to align them.")
    return shared


def aligned_picture(
    groups: Mapping[str, Group], to: Map, shared: Mapping[str, tuple[IntArray, IntArray]]
) -> tuple[list[FloatArray], dict[str, Any]]:
    """Draw points, aligned already, the way ``to`` is drawn, so that the pictures can be compared.

    A plane (axes, PCA) is the same plane for both. A t-SNE is continued: shared things start where they
    were and new ones among their neighbours; any other picture stays at that start.

    Returns one array of positions a kind, and a description of how they were made.
    """
    coordinates = np.vstack([group.coordinates for group in groups.values()])
    known, old_layout = layouts.picture_of(to.group(kind) for kind in to.groups)
    drawn_by = {**to.drawn_by, "aligned": True}
    ends = np.cumsum([len(group) for group in groups.values()])[:-1]
    plane = layouts.linear_picture(known, old_layout)
    if plane is not None:
        flat: FloatArray = layouts.with_one(coordinates) @ plane
        if drawn_by.get("method") == "pca":
            drawn_by["variance_shown"] = layouts.shown_share(coordinates, flat)
        return list(np.split(flat, ends)), drawn_by
    starts = dict(zip(groups, [0, *ends.tolist()], strict=True))
    here = np.concatenate([starts[kind] + at for kind, (at, _) in shared.items()])
    goal = np.vstack([to.group(kind).drawn[there] for kind, (_, there) in shared.items()])
    flat, new = np.empty((len(coordinates), 2)), np.ones(len(coordinates), dtype=bool)
    flat[here], new[here] = goal, False
    flat[new] = layouts.continued(known, old_layout, coordinates[new])
    if drawn_by.get("method") == "tsne" and len(flat) >= MIN_POINTS:
        flat = tsne(coordinates, random_state=drawn_by.get("random_state"), start=flat)
        flat = procrustes(flat[here], goal)(flat)
    return list(np.split(flat, ends)), drawn_by
