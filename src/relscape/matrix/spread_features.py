"""Features that lie in row blocks on other machines, centred and multiplied where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from relscape.matrix.guided import CenteredFeatures
from relscape.protocols import BlockedTable, FloatArray

__all__ = ["SpreadFeatures", "spread_mean", "spread_product"]


class SpreadFeatures(CenteredFeatures):
    """X − 1 mean' of a ``BlockedTable`` X, rows scaled by the roots of weights; only thin arrays move."""

    def weighted(self, weights: FloatArray) -> SpreadFeatures:
        """Give the same with rows scaled by the root of their weights."""
        return SpreadFeatures(self.features, self.mean, weights)

    def _matmat(self, right: FloatArray) -> FloatArray:
        product = spread_product(self.features, right) - self.mean @ right
        return np.asarray(self.roots[:, None] * product)

    def _rmatmat(self, left: FloatArray) -> FloatArray:
        scaled = self.roots[:, None] * left
        (product,) = self.features.sum_blocks(_transposed, along=[scaled])
        return np.asarray(product - np.outer(self.mean, scaled.sum(axis=0)))

    def dense(self) -> FloatArray:
        """Bring it here; for small ones."""
        return np.concatenate(self.features.map_blocks(_dense, self.mean, along=[self.roots**2]))

    def gram(self) -> FloatArray:
        """Form its d × d products of columns, a block at a time."""
        return np.asarray(self.features.sum_blocks(_gram, self.mean, along=[self.roots**2])[0])

    def squares(self) -> float:
        """Sum the squares of all entries: the trace of :meth:`gram`."""
        return float(self.features.sum_blocks(_squares, self.mean, along=[self.roots**2])[0][0])


def spread_product(features: BlockedTable, right: FloatArray) -> FloatArray:
    """Multiply features by an array of one row a feature."""
    return np.concatenate(features.map_blocks(_times, right))


def spread_mean(features: BlockedTable, weights: FloatArray) -> FloatArray:
    """Average things, each with its weight; without any weight at all, all alike."""
    used = weights if weights.sum() > 0 else np.ones(features.shape[0])
    (total,) = features.sum_blocks(_transposed, along=[used[:, None]])
    return np.asarray(total[:, 0] / used.sum())


# ---------------------------------------------------------------------- on the workers


def _times(block: Any, right: FloatArray) -> FloatArray:
    return np.asarray(block @ right)


def _transposed(block: Any, left: FloatArray) -> tuple[FloatArray]:
    return (np.asarray(block.T @ left),)


def _dense(block: Any, weights: FloatArray, mean: FloatArray) -> FloatArray:
    return CenteredFeatures(block, mean, weights).dense()


def _gram(block: Any, weights: FloatArray, mean: FloatArray) -> tuple[FloatArray]:
    return (CenteredFeatures(block, mean, weights).gram(),)


def _squares(block: Any, weights: FloatArray, mean: FloatArray) -> tuple[FloatArray]:
    part = CenteredFeatures(block, mean, weights)
    return (np.array([part.squares() if issparse(block) else float((part.dense() ** 2).sum())]),)
