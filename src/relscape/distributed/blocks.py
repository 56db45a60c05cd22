"""Row blocks on the workers of a cluster, and functions that go to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from relscape.distributed.cluster import current_client
from relscape.distributed.rounds import Rounds, Traffic, large_graphs
from relscape.errors import DataError
from relscape.protocols import AnyArray, FloatArray

__all__ = ["RowBlocks"]


class RowBlocks:
    """A matrix of which every worker of a cluster holds some blocks of rows.

    Parameters
    ----------
    blocks : sequence
        Blocks of rows in order, all of n columns: arrays, functions without arguments that make one (then
        they are made on the workers), or ``dask.delayed`` values or futures of either.
    tidy : callable
        Called on the workers with the number of a block and the block; checks it and gives what is kept.
    describe : callable
        Called on what is kept; gives a description that has at least ``shape`` and ``digest``.
    client : dask.distributed.Client, optional
        The cluster; the client made last unless given.
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        tidy: Callable[[int, Any], Any],
        describe: Callable[[Any], Any],
        client: Any = None,
    ) -> None:
        import dask

        if not len(blocks):
            raise DataError("there is nothing to spread: give at least one block of rows.")
        self._rounds = Rounds(current_client(client))
        made = [dask.delayed(tidy)(number, block) for number, block in enumerate(blocks)]
        with large_graphs():
            self._blocks = list(self._rounds.client.compute(made))
        self._found = self._rounds.collect(describe, [self._blocks], ())
        widths = [part.shape[1] for part in self._found]
        if len(set(widths)) > 1:
            odd = next(k for k, width in enumerate(widths) if width != widths[0])
            raise DataError(
                f"block {odd} has {widths[odd]} columns, block 0 has {widths[0]}; all need the same."
            )
        self._bounds = np.cumsum([0, *(part.shape[0] for part in self._found)])
        self._width = int(widths[0])
        digests = "".join(part.digest for part in self._found)
        self.fingerprint = hashlib.sha256(digests.encode()).hexdigest()

    @property
    def shape(self) -> tuple[int, int]:
        """Give the number of rows and of columns."""
        return int(self._bounds[-1]), self._width

    @property
    def n_blocks(self) -> int:
        """Give the number of row blocks."""
        return len(self._blocks)

    @property
    def traffic(self) -> Traffic:
        """Give what went between this process and the cluster so far."""
        return self._rounds.traffic

    def map_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> list[Any]:
        """Call a function on every block, where it is, and give the results in the order of rows."""
        columns = [self._blocks, *(self._parts(array) for array in along)]
        return self._rounds.collect(function, columns, shared)

    def sum_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> tuple[FloatArray, ...]:
        """Call a function that gives a tuple of arrays, and add these up over the blocks in a fixed order."""
        columns = [self._blocks, *(self._parts(array) for array in along)]
        return self._rounds.total(function, columns, shared)

    def map_pieces(
        self, function: Callable[..., Any], pieces: Sequence[tuple[Any, ...]], *shared: Any
    ) -> list[Any]:
        """Call a function on pieces of work that belong to no block, on any workers, in order."""
        return self._rounds.collect(function, list(zip(*pieces, strict=True)), shared)

    def _parts(self, array: AnyArray) -> list[AnyArray]:
        return [array[a:b] for a, b in pairwise(self._bounds)]
