"""Several manifolds side by side, for what is made of parts that live on different sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from relscape.protocols import FloatArray, Manifold

__all__ = ["Product"]


class Product:
    """Flat vectors of several parts, each free or a matrix on a manifold of its own.

    Parameters
    ----------
    parts : sequence of (manifold or None, shape)
        In the order in which they lie in the vector; None where every value is allowed.
    """

    def __init__(self, parts: Sequence[tuple[Manifold | None, tuple[int, ...]]]) -> None:
        self.parts = tuple(parts)

    def project(self, point: FloatArray, vector: FloatArray) -> FloatArray:
        """Project every part of a direction at its part of the point."""
        moved = zip(self._matrices(point), self._matrices(vector), strict=True)
        return _flat([way if set_ is None else set_.project(at, way) for (set_, at), (_, way) in moved])

    def retract(self, point: FloatArray, tangent: FloatArray) -> FloatArray:
        """Walk with every part on its own set."""
        moved = zip(self._matrices(point), self._matrices(tangent), strict=True)
        return _flat([at + way if set_ is None else set_.retract(at, way) for (set_, at), (_, way) in moved])

    def repair(self, point: FloatArray) -> FloatArray:
        """Repair every part; a vector whose parts are all on their sets comes back as it is."""
        parts = list(self._matrices(point))
        repaired = [at if set_ is None else set_.repair(at) for set_, at in parts]
        same = all(new is at for new, (_, at) in zip(repaired, parts, strict=True))
        return point if same else _flat(repaired)

    def _matrices(self, vector: FloatArray) -> Iterator[tuple[Manifold | None, FloatArray]]:
        """Cut a vector into its parts."""
        start = 0
        for set_, shape in self.parts:
            stop = start + int(np.prod(shape))
            yield set_, vector[start:stop].reshape(shape)
            start = stop


def _flat(parts: Sequence[FloatArray]) -> FloatArray:
    return np.concatenate([part.ravel() for part in parts])
