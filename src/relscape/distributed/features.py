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
from relscape.errors import DataError
from relscape.models.inputs import matrix_digest

__all__ = ["DistributedFeatures"]


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


class _Description(NamedTuple):
    """The shape and the digest of a block."""

    shape: tuple[int, int]
    digest: str


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
    return _Description((int(block.shape[0]), int(block.shape[1])), matrix_digest(block))
