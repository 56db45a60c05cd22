"""Bringing one map over another by the things they share (orthogonal Procrustes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relscape.data.labels import match
from relscape.errors import DataError
from relscape.protocols import AnyArray, FloatArray
from relscape.solvers.spectral import thin_svd

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["Motion", "procrustes", "shared_points", "stored_motion"]


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


@dataclass(frozen=True, eq=False)
class SharedPoints:
    """Positions on two maps of the things that are on both."""

    count: int
    coordinates: tuple[FloatArray, FloatArray]
    layouts: tuple[FloatArray, FloatArray]


def shared_points(first: Map, second: Map) -> SharedPoints:
    """Collect the things of the same kind and id on both maps."""
    if first.n_components != second.n_components:
        raise DataError(
            f"maps of {first.n_components} and {second.n_components} dimensions cannot be aligned; "
            "make both with the same number."
        )
    parts = []
    for kind in first.groups:
        if kind not in second.groups:
            continue
        one, other = first.group(kind), second.group(kind)
        at = match(one.ids, other.ids)
        here = at >= 0
        parts.append(
            (one.coordinates[here], other.coordinates[at[here]], one.drawn[here], other.drawn[at[here]])
        )
    count = sum(len(part[0]) for part in parts)
    if count < 2:
        raise DataError(f"the two maps share {count} things; at least two are needed to align them.")
    a, b, c, d = (np.vstack(column) for column in zip(*parts, strict=True))
    return SharedPoints(count, (a, b), (c, d))
