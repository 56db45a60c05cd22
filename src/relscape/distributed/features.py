"""Features in row blocks on the workers of a Dask cluster: a ``BlockedTable``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.data import EntitySet
from relscape.data.labels import as_text
from relscape.distributed.blocks import RowBlocks
from relscape.distributed.relation import checked_count
from relscape.errors import DataError, ParameterError
from relscape.matrix.neighbours import nearest
from relscape.models.inputs import matrix_digest
from relscape.protocols import FloatArray, IntArray

__all__ = ["DistributedFeatures"]

_QUERIES = 65_536  # at a time


class DistributedFeatures(RowBlocks):
    """A table of features, one row a thing, of which every worker of a cluster holds some blocks of rows.

    ``HeterogeneousProjection`` takes it for any of its kinds. Only thin arrays move: products with some
    columns, sums over rows, and the d × d products of features.

    Parameters
    ----------
    blocks : sequence
        Blocks of rows in order, all of d columns: arrays, sparse arrays, functions without arguments that
        make one on a worker, or ``dask.delayed`` values or futures of either. Entries may have any sign.
    client : dask.distributed.Client, optional
        The cluster; the client made last unless given.
    entities : EntitySet, optional
        The things that rows stand for; numbered unless given.
    feature_names : sequence of str, optional
        By which new things are matched; numbered unless given.
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        *,
        client: Any = None,
        entities: EntitySet | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(blocks, _tidy, _described, client)
        rows, columns = self.shape
        names = range(columns) if feature_names is None else feature_names
        self.entities = EntitySet("thing", as_text(range(rows))) if entities is None else entities
        self.feature_names = as_text(names)
        for what, found, size in (("things", self.entities, rows), ("features", self.feature_names, columns)):
            if len(found) != size:
                raise DataError(f"{len(found)} {what} are named, but the blocks have {size}.")

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        n_blocks: int = 8,
        *,
        client: Any = None,
        entities: EntitySet | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> DistributedFeatures:
        """Spread a table that is in memory here, to try things out."""
        rows = csr_array(matrix) if issparse(matrix) else np.asarray(matrix)
        count = min(checked_count(n_blocks), max(1, rows.shape[0]))
        bounds = np.linspace(0, rows.shape[0], count + 1).astype(int)
        names: dict[str, Any] = {"entities": entities, "feature_names": feature_names}
        return cls([rows[a:b] for a, b in pairwise(bounds)], client=client, **names)

    def nearest(self, queries: Any = None, k: int = 10) -> tuple[FloatArray, IntArray]:
        """Find the ``k`` things whose features are nearest to every query, exactly, by Euclidean distance.

        Every block looks among its own things, and what the blocks find is put together on the workers.

        Parameters
        ----------
        queries : array of shape (q, d), optional
            Features to look for; those of all things here unless given, of which each is its own nearest.
        k : int
            How many, at most the number of things.

        Returns
        -------
        distances, indices : arrays of shape (q, k)
            Sorted by distance, equal distances by index.
        """
        rows, width = self.shape
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= rows:
            raise ParameterError(f"k={k!r}: among {rows} things there are 1 to {rows} neighbours.")
        if any(part.sparse for part in self._found):
            raise DataError("neighbours are looked for among dense features; these blocks are sparse.")
        asked: list[Any] = self._blocks
        if queries is not None:
            wanted = np.asarray(queries, dtype=np.float64)
            if wanted.ndim != 2 or wanted.shape[1] != width or not np.isfinite(wanted).all():
                raise DataError(f"queries of shape {wanted.shape}: give finite numbers in {width} columns.")
            asked = [wanted[a : a + _QUERIES] for a in range(0, len(wanted), _QUERIES)]
        starts = self._bounds[:-1].tolist()
        found = [
            self._rounds.total(_nearest_in, [self._blocks, starts], [some, int(k)], _nearest_of)
            for some in asked
        ]
        distances, indices, _ = zip(*found, strict=True)
        return np.concatenate(distances), np.concatenate(indices)


class _Description(NamedTuple):
    """The shape and the digest of a block, and whether it is sparse."""

    shape: tuple[int, int]
    digest: str
    sparse: bool


def _tidy(number: int, block: Any) -> Any:
    """Bring a block into floats; what is no number is refused by block and row."""
    made = block() if callable(block) else block
    table: Any = csr_array(made, dtype=np.float64) if issparse(made) else np.asarray(made, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"block {number} has {table.ndim} dimensions; features are rows and columns.")
    values = table.data if issparse(table) else table
    if not np.isfinite(values).all():
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)) if issparse(table) else None
        first = np.argwhere(~np.isfinite(values))[0]
        row = int(first[0] if rows is None else rows[first[0]])
        raise DataError(f"block {number} has features that are no numbers, the first in its row {row}.")
    return table


def _described(block: Any) -> _Description:
    return _Description((int(block.shape[0]), int(block.shape[1])), matrix_digest(block), issparse(block))


def _nearest_in(block: Any, start: int, queries: Any, k: int) -> tuple[FloatArray, IntArray, int]:
    """Find the nearest things of one block, by their numbers among all."""
    own = min(k, block.shape[0])
    if not own:
        return np.empty((len(queries), 0)), np.empty((len(queries), 0), dtype=np.int64), k
    distances, indices = nearest(block, queries, own)
    return distances, indices + start, k


def _nearest_of(*parts: tuple[FloatArray, IntArray, int]) -> tuple[FloatArray, IntArray, int]:
    """Keep the nearest of what several blocks have found; blocks come in order, so do equal distances."""
    distances, indices = (np.concatenate([part[side] for part in parts], axis=1) for side in (0, 1))
    k = parts[0][2]
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, 1), np.take_along_axis(indices, order, 1), k
