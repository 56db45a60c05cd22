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
_PART = 64  # columns of a product that are formed at once
_ROUNDING = 1e-13  # what taking a mean off leaves of a constant, relative to it


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
        centred = np.asarray(full - self.mean)
        centred *= self.roots[:, None]
        return centred

    @property
    def rounding(self) -> float:
        """The size up to which singular values are what centring leaves of constants."""
        return float(_ROUNDING * np.linalg.norm(self.roots) * np.linalg.norm(self.mean))

    def gram(self) -> FloatArray:
        """Form its d × d products of columns; of a sparse X from those of X."""
        if not issparse(self.features):  # centred first: far from 0 the difference would lose digits
            centred = self.dense()
            return np.asarray(centred.T @ centred)
        scaled = csr_array(self.features * self.roots[:, None])
        product = (scaled.T @ scaled).toarray()
        cross = np.outer(scaled.T @ self.roots, self.mean)
        product -= cross
        product -= cross.T
        product += (self.roots @ self.roots) * np.outer(self.mean, self.mean)
        return np.asarray(product)

    def squares(self) -> float:
        """Sum the squares of all entries: the trace of :meth:`gram`."""
        if issparse(self.features):
            weights = self.roots**2
            whole = float((self.features.multiply(self.features).T @ weights).sum())
            cross = self.mean @ (self.features.T @ weights)
            total = whole - 2.0 * cross + weights.sum() * (self.mean @ self.mean)
            return float(total) if total > _ROUNDING * whole else 0.0
        centred = self.dense()
        total = np.vdot(centred, centred)
        return float(total) if total > self.rounding**2 else 0.0


def quadratic_form(
    blocks: Blocks, diagonal: Mapping[str, FloatArray], features: Mapping[str, Any]
) -> FloatArray:
    """Form Z' (diag(diagonal) + W) Z, the kinds in the order of ``features``.

    ``features`` maps every kind to what can be multiplied with from either side: centred features, or
    features in whitened coordinates.
    """
    kinds, ends = list(features), np.cumsum([table.shape[1] for table in features.values()])
    form = np.zeros((ends[-1], ends[-1]))
    spans = {kind: slice(end - features[kind].shape[1], end) for kind, end in zip(kinds, ends, strict=True)}
    for number, kind in enumerate(kinds):
        width = features[kind].shape[1]
        for begin in range(0, width, _PART):
            part = np.eye(width, min(_PART, width - begin), k=-begin)
            image = features[kind].matmat(part)
            place = slice(spans[kind].start + begin, spans[kind].start + begin + part.shape[1])
            for other in kinds[: number + 1]:
                product = _met(blocks, diagonal, other, kind, image)
                if product is not None:
                    form[spans[other], place] = features[other].rmatmat(product)
        for other in kinds[:number]:
            form[spans[kind], spans[other]] = form[spans[other], spans[kind]].T
    return (form + form.T) / 2


def _met(
    blocks: Blocks, diagonal: Mapping[str, FloatArray], other: str, kind: str, image: FloatArray
) -> FloatArray | None:
    """Multiply the part of diag(diagonal) + W between two kinds with places of the second, if it has any."""
    product = np.asarray(diagonal[kind][:, None] * image) if other == kind else None
    for pair, block in blocks.items():
        if set(pair) == {other, kind}:
            met = (block if pair == (other, kind) else block.T) @ image
            product = met if product is None else product + met
    return product


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
