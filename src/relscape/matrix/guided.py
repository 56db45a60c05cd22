"""Guidance as numbers: degrees, centred features, and the two quadratic forms of a guided projection.

With y = Zp the places of all things on one axis, Z the block diagonal of all centred feature tables,

    J(p) = ½ Σ_uv w_uv (y_u − y_v)² = p' Z' (D − W) Z p,    D = diag(W 1),

is small where similar things are near and dissimilar ones far. The size of an axis is measured with
absolute degrees, p' (Z' D⁺ Z) p with D⁺ = diag(|W| 1), which is never negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from relscape.protocols import FloatArray, SparseArray

__all__ = [
    "Blocks",
    "CenteredFeatures",
    "GuidedOperator",
    "guidance_components",
    "guidance_costs",
    "guidance_degrees",
    "guided_product",
    "quadratic_form",
    "weighted_mean",
]

Blocks: TypeAlias = Mapping[tuple[str, str], SparseArray]
_PART = 256  # columns of a product that are formed at once


def guidance_degrees(
    blocks: Blocks, sizes: Mapping[str, int]
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Sum the weights of every thing over all kinds, as they are and without their signs."""
    signed: dict[str, FloatArray] = {kind: np.zeros(size) for kind, size in sizes.items()}
    absolute: dict[str, FloatArray] = {kind: np.zeros(size) for kind, size in sizes.items()}
    for (first, second), block in blocks.items():
        for totals, values in ((signed, block), (absolute, abs(block))):
            totals[first] += np.asarray(values.sum(axis=1)).ravel()
            if first != second:
                totals[second] += np.asarray(values.sum(axis=0)).ravel()
    return signed, absolute


def guided_product(
    blocks: Blocks, diagonal: Mapping[str, FloatArray], points: Mapping[str, FloatArray]
) -> dict[str, FloatArray]:
    """Multiply diag(diagonal) + W with places of all kinds (n × k each)."""
    product: dict[str, FloatArray] = {
        kind: np.asarray(diagonal[kind][:, None] * places) for kind, places in points.items()
    }
    for (first, second), block in blocks.items():
        product[first] = product[first] + block @ points[second]
        if first != second:
            product[second] = product[second] + block.T @ points[first]
    return product


def guidance_costs(blocks: Blocks, points: Mapping[str, FloatArray]) -> FloatArray:
    """Sum w (y_u − y_v)² over all guided pairs, once each: J of every axis."""
    total: Any = 0.0
    for (first, second), block in blocks.items():
        cells = block.tocoo()
        i, j = cells.coords
        share = cells.data if first != second else cells.data / 2
        total = total + share @ (points[first][i] - points[second][j]) ** 2
    return np.asarray(total)


def guidance_components(blocks: Blocks, sizes: Mapping[str, int]) -> int:
    """Count the separate parts that guidance falls into; things without any do not count."""
    starts = dict(zip(sizes, np.cumsum([0, *sizes.values()]), strict=False))
    n = sum(sizes.values())
    rows, columns = [], []
    for (first, second), block in blocks.items():
        i, j = block.tocoo().coords
        rows.append(i + starts[first])
        columns.append(j + starts[second])
    i, j = np.concatenate(rows), np.concatenate(columns)
    graph = csr_array((np.ones(i.size), (i, j)), shape=(n, n))
    _, parts = connected_components(graph, directed=True, connection="weak")
    return int(np.unique(parts[np.concatenate([i, j])]).size)


def weighted_mean(features: Any, weights: FloatArray) -> FloatArray:
    """Average rows by weight, or plainly where all weights are 0."""
    total = weights.sum()
    shares = weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
    return np.asarray(features.T @ shares).ravel()


class CenteredFeatures(LinearOperator):  # type: ignore[misc]
    """X − 1 mean' for a dense or sparse X (n × d), never formed; ``weights`` w scale rows by √w."""

    def __init__(self, features: Any, mean: FloatArray, weights: FloatArray | None = None) -> None:
        super().__init__(np.dtype(np.float64), features.shape)
        self.features, self.mean = features, mean
        self.roots = np.ones(features.shape[0]) if weights is None else np.sqrt(weights)

    def weighted(self, weights: FloatArray) -> CenteredFeatures:
        """Give the same with rows scaled by the root of their weights."""
        return CenteredFeatures(self.features, self.mean, weights)

    def _matmat(self, right: FloatArray) -> FloatArray:
        return np.asarray(self.roots[:, None] * (self.features @ right - self.mean @ right))

    def _rmatmat(self, left: FloatArray) -> FloatArray:
        scaled = self.roots[:, None] * left
        return np.asarray(self.features.T @ scaled - np.outer(self.mean, scaled.sum(axis=0)))

    def _matvec(self, right: FloatArray) -> FloatArray:
        return self._matmat(right.reshape(-1, 1)).ravel()

    def _rmatvec(self, left: FloatArray) -> FloatArray:
        return self._rmatmat(left.reshape(-1, 1)).ravel()

    def dense(self) -> FloatArray:
        """Form it; for small ones."""
        full = self.features.toarray() if issparse(self.features) else self.features
        return np.asarray(self.roots[:, None] * (full - self.mean))

    def gram(self) -> FloatArray:
        """Form its d × d products of columns, from those of X."""
        scaled = self.features * self.roots[:, None]
        scaled = csr_array(scaled) if issparse(scaled) else scaled
        product = scaled.T @ scaled
        product = product.toarray() if issparse(product) else np.asarray(product)
        cross = np.outer(scaled.T @ self.roots, self.mean)
        product -= cross
        product -= cross.T
        product += (self.roots @ self.roots) * np.outer(self.mean, self.mean)
        return np.asarray(product)

    def squares(self) -> float:
        """Sum the squares of all entries: the trace of :meth:`gram`."""
        squared = self.features.multiply(self.features) if issparse(self.features) else self.features**2
        weights = self.roots**2
        cross = self.mean @ (self.features.T @ weights)
        return float((squared.T @ weights).sum() - 2.0 * cross + weights.sum() * (self.mean @ self.mean))


def quadratic_form(
    blocks: Blocks, diagonal: Mapping[str, FloatArray], features: Mapping[str, Any]
) -> FloatArray:
    """Form Z' (diag(diagonal) + W) Z, the kinds in the order of ``features``.

    ``features`` maps every kind to what can be multiplied with from either side: centred features, or
    features in whitened coordinates.
    """
    kinds = list(features)
    widths = [features[kind].shape[1] for kind in kinds]
    starts = np.cumsum([0, *widths])
    form = np.zeros((starts[-1], starts[-1]))
    for column, kind in enumerate(kinds):
        for begin in range(0, widths[column], _PART):
            part = np.eye(widths[column])[:, begin : begin + _PART]
            images = {
                other: (
                    features[other].matmat(part)
                    if other == kind
                    else np.zeros((features[other].shape[0], part.shape[1]))
                )
                for other in kinds
            }
            product = guided_product(blocks, diagonal, images)
            place = slice(starts[column] + begin, starts[column] + begin + part.shape[1])
            for row, other in enumerate(kinds):
                form[starts[row] : starts[row + 1], place] = features[other].rmatmat(product[other])
    return (form + form.T) / 2


class GuidedOperator(LinearOperator):  # type: ignore[misc]
    """Z' (diag(diagonal) + W) Z as :func:`quadratic_form` gives it, never formed."""

    def __init__(
        self, blocks: Blocks, diagonal: Mapping[str, FloatArray], features: Mapping[str, Any]
    ) -> None:
        self._blocks, self._diagonal, self._features = blocks, diagonal, features
        self._ends = np.cumsum([table.shape[1] for table in features.values()])
        super().__init__(np.dtype(np.float64), (int(self._ends[-1]), int(self._ends[-1])))

    def _matmat(self, right: FloatArray) -> FloatArray:
        parts = zip(self._features, np.split(right, self._ends[:-1]), strict=True)
        images = {kind: self._features[kind].matmat(part) for kind, part in parts}
        product = guided_product(self._blocks, self._diagonal, images)
        return np.vstack([table.rmatmat(product[kind]) for kind, table in self._features.items()])

    def _matvec(self, right: FloatArray) -> FloatArray:
        return self._matmat(right.reshape(-1, 1)).ravel()

    def _adjoint(self) -> GuidedOperator:
        return self
