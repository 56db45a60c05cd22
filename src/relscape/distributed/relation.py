"""A relation in row blocks on the workers of a Dask cluster: a ``RelationOperator`` like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.data import EntitySet
from relscape.distributed import tasks
from relscape.distributed.blocks import RowBlocks
from relscape.distributed.cluster import current_client
from relscape.errors import DataError, ParameterError
from relscape.protocols import FloatArray, SparseArray

__all__ = ["DistributedRelation", "checked_count"]


class DistributedRelation(RowBlocks):
    """A nonnegative relation of which every worker of a cluster holds some blocks of rows.

    Models take it like any relation: ``CorrespondenceAnalysis().fit(relation)``. Products send a thin array
    to the workers and bring a thin array back; the relation itself never leaves them, and lies partly on
    their disks if it does not fit in their memory. Results do not depend on the number of workers.

    Parameters
    ----------
    blocks : sequence
        Blocks of rows in order, all of n columns: sparse arrays, functions without arguments that make one
        (then they are made on the workers), or ``dask.delayed`` values or futures of either. What a lost
        worker held is made anew from the same functions.
    client : dask.distributed.Client, optional
        The cluster; the client made last unless given.
    row_entities, column_entities : EntitySet, optional
        The things that rows and columns stand for; numbered unless given.

    Attributes
    ----------
    n_stored : int
        Number of entries that are stored.
    fingerprint : str
        Digest of the content, the same on any cluster.
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        *,
        client: Any = None,
        row_entities: EntitySet | None = None,
        column_entities: EntitySet | None = None,
    ) -> None:
        super().__init__(blocks, tasks.tidy, tasks.described, client)
        self._row_sums = np.concatenate([part.row_sums for part in self._found])
        self._column_sums = self.sum_blocks(tasks.column_sums)[0]
        self.n_stored = sum(part.stored for part in self._found)
        self.row_entities, self.column_entities = row_entities, column_entities
        for side, things in zip(("row", "column"), (row_entities, column_entities), strict=True):
            size = self.shape[side == "column"]
            if things is not None and len(things) != size:
                raise DataError(f"{len(things)} {side} things are named, but the blocks have {size} {side}s.")
        self._weights: tuple[FloatArray, list[Any]] | None = None

    # ------------------------------------------------------------------ where it comes from

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        n_blocks: int = 8,
        *,
        client: Any = None,
        row_entities: EntitySet | None = None,
        column_entities: EntitySet | None = None,
    ) -> DistributedRelation:
        """Spread a matrix that is in memory here, to try things out or to use many machines' processors."""
        rows = csr_array(matrix)
        count = min(checked_count(n_blocks), max(1, rows.shape[0]))
        bounds = np.linspace(0, rows.shape[0], count + 1).astype(int)
        blocks = [tasks.rows_of(rows, *part) for part in pairwise(bounds)]
        names = {"row_entities": row_entities, "column_entities": column_entities}
        return cls(blocks, client=client, **names)

    @classmethod
    def from_parquet(
        cls,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        rows: str,
        columns: str,
        weight: str | None = None,
        *,
        n_blocks: int | None = None,
        client: Any = None,
    ) -> DistributedRelation:
        """Read tables of pairs, file by file on the workers; no process ever holds the whole.

        Parameters
        ----------
        paths : path or sequence of paths
            Files (Parquet, or any table that ``relscape.read`` knows), globs, or folders of Parquet files,
            which all workers must see under the same paths. One worker reads a file, which must fit in it.
        rows, columns, weight : str
            As for ``relscape.read``; things are numbered as they would be there.
        n_blocks : int, optional
            Number of row blocks; about 128 MB each unless given, at least 8.
        client : dask.distributed.Client, optional
        """
        from relscape.distributed.reading import relation_of_files

        count = None if n_blocks is None else checked_count(n_blocks)
        found: DistributedRelation = relation_of_files(
            cls, paths, (rows, columns, weight), count, current_client(client)
        )
        return found

    @classmethod
    def from_tables(
        cls,
        readers: Sequence[Callable[[], Any]],
        rows: str,
        columns: str,
        weight: str | None = None,
        *,
        n_blocks: int | None = None,
        client: Any = None,
    ) -> DistributedRelation:
        """Read tables of pairs through functions that workers call, such as queries to a database.

        ``readers`` take no arguments and give a data frame or Arrow table each, with the columns named;
        together they give every line once. Other parameters are those of ``from_parquet``.
        """
        from relscape.distributed.reading import relation_of_tables

        count = None if n_blocks is None else checked_count(n_blocks)
        found: DistributedRelation = relation_of_tables(
            cls, readers, (rows, columns, weight), count, current_client(client)
        )
        return found

    # ------------------------------------------------------------------ a relation operator

    def row_sums(self) -> FloatArray:
        """Sum over columns, one value a row object."""
        return np.array(self._row_sums)

    def column_sums(self) -> FloatArray:
        """Sum over rows, one value a column object."""
        return np.array(self._column_sums)

    def matmat(self, right: FloatArray) -> FloatArray:
        """Multiply by an array of n rows from the right."""
        return np.asarray(np.concatenate(self._rounds.collect(tasks.product, [self._blocks], [right])))

    def rmatmat(self, left: FloatArray) -> FloatArray:
        """Multiply the transpose by an array of m rows."""
        return np.asarray(self.sum_blocks(tasks.transposed, along=[left])[0])

    def normal(self, right: FloatArray, row_weights: FloatArray) -> FloatArray:
        """Multiply ``Rᵀ D(row_weights) R`` by an array of n rows, in one round.

        Weights stay with the workers until others are given.
        """
        if self._weights is None or not np.array_equal(self._weights[0], row_weights):
            self._weights = row_weights.copy(), self._rounds.keep(self._parts(row_weights))
        return np.asarray(self._rounds.total(tasks.normal, [self._blocks, self._weights[1]], [right])[0])

    def row_blocks(self, rows: int) -> Iterator[tuple[slice, SparseArray]]:
        """Walk over the relation in blocks of at most ``rows`` rows; one of its own comes here at a time."""
        for number, start in enumerate(self._bounds[:-1].tolist()):
            [block] = self._rounds.collect(tasks.kept, [[self._blocks[number]]], ())
            for begin in range(0, block.shape[0], rows):
                part = slice(begin, min(begin + rows, block.shape[0]))
                yield slice(start + part.start, start + part.stop), csr_array(block[part])


def checked_count(n_blocks: int) -> int:
    """Give a number of blocks back if it is one."""
    if isinstance(n_blocks, bool) or not isinstance(n_blocks, int | np.integer) or n_blocks < 1:
        raise ParameterError(f"n_blocks={n_blocks!r}: give a whole number of at least 1.")
    return int(n_blocks)
