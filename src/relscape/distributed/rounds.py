"""Rounds of work on a cluster: hand out, compute where the blocks are, add up in a fixed order, bring back.

Nothing depends on how many workers there are or who does what: results come in the order of blocks, and sums
are made in a tree whose shape the number of blocks alone decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from types import MethodType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from relscape.distributed import tasks
from relscape.errors import ClusterError

__all__ = ["Rounds", "Traffic", "large_graphs"]

FAN_IN = 8
ATTEMPTS = 4
_SMALL = 16_384  # bytes that travel with every task rather than once to every worker
_WAIT_SECONDS = 60
_LARGEST_GRAPH = "10GB"


@dataclass
class Traffic:
    """What went between this process and the cluster: rounds, and bytes of arrays sent and received.

    What all blocks get alike counts once a worker. Sums travel between workers too: at most one array of n
    rows a block.
    """

    rounds: int = 0
    sent: int = 0
    received: int = 0


class Rounds:
    """Runs functions on blocks that a cluster holds; what lost workers had is made again."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.traffic = Traffic()

    def collect(
        self, function: Callable[..., Any], columns: Sequence[Sequence[Any]], shared: Any
    ) -> list[Any]:
        """Call a function once for every entry of ``columns``, with ``shared`` too; all results in order."""
        found: list[Any] = self.repeated(lambda: self.gathered(self._started(function, columns, shared)))
        return found

    def total(
        self,
        function: Callable[..., Any],
        columns: Sequence[Sequence[Any]],
        shared: Any,
        combine: Callable[..., Any] = tasks.added,
    ) -> tuple[Any, ...]:
        """Call a function that gives a tuple of arrays likewise, and add the tuples up on the workers.

        With ``combine``, a function of any number of tuples in order, they are put together by that instead.
        """

        def attempt() -> tuple[Any, ...]:
            level = self._started(function, columns, shared)
            while True:
                groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
                level = [self.client.submit(combine, *group, pure=False) for group in groups]
                if len(level) == 1:
                    found: tuple[Any, ...] = self.gathered(level)[0]
                    return found

        summed: tuple[Any, ...] = self.repeated(attempt)
        return summed

    def keep(self, parts: Sequence[Any]) -> list[Any]:
        """Leave arrays with the workers, in such a way that they can be sent again; give their futures."""
        self.traffic.sent += _bytes(parts)
        with large_graphs():
            return list(self.client.map(tasks.kept, parts, pure=False))

    def _started(
        self, function: Callable[..., Any], columns: Sequence[Sequence[Any]], shared: Any
    ) -> list[Any]:
        count = len(columns[0])
        handed = [self.handed(item, count) for item in shared]
        self.traffic.rounds += 1
        self.traffic.sent += sum(_bytes(column) for column in columns)
        with large_graphs():
            return list(
                self.client.map(
                    tasks.called,
                    [function] * count,
                    *columns,
                    *([item] * count for item in handed),
                    pure=False,
                )
            )

    def handed(self, item: Any, count: int) -> Any:
        """Send what all blocks need to every worker once; small things travel with the tasks."""
        size = _bytes([item])
        if size <= _SMALL:
            self.traffic.sent += size * count
            return item
        return self.broadcast(item, size)

    def broadcast(self, item: Any, size: int) -> Any:
        """Send something of so many bytes to every worker; give its future."""
        self.traffic.sent += size * max(1, len(self.client.nthreads()))
        return self.client.scatter([item], broadcast=True, hash=False)[0]

    def send(self, item: Any, worker: str) -> Any:
        """Send something to one worker; what is sent so cannot be made again if that is lost."""
        self.traffic.sent += _bytes([item])
        return self.client.scatter([item], workers=[worker], hash=False)[0]

    def gathered(self, futures: list[Any]) -> list[Any]:
        """Bring results here."""
        found = list(self.client.gather(futures))
        self.traffic.received += _bytes(found)
        return found

    def repeated(self, attempt: Callable[[], Any]) -> Any:
        """Try a round again when what was handed out went down with a worker."""
        from asyncio import CancelledError as CancelledTask
        from concurrent.futures import CancelledError

        from distributed.client import FutureCancelledError
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker, NoValidWorkerError

        lost = (CancelledError, CancelledTask, FutureCancelledError, CommClosedError, TimeoutError)
        for _ in range(ATTEMPTS):
            try:
                self.client.wait_for_workers(1, timeout=_WAIT_SECONDS)
                return attempt()
            except (KilledWorker, NoValidWorkerError) as error:
                raise ClusterError(
                    f"workers died again and again at the same piece of work ({error}). Most often a block "
                    "does not fit in a worker's memory: give workers more, or make more and smaller blocks."
                ) from error
            except ModuleNotFoundError as error:
                raise ClusterError(
                    f"a worker cannot do its work: {error}. Install the same relscape on all workers."
                ) from error
            except lost as error:
                last = error
        raise ClusterError(
            f"the cluster lost its workers {ATTEMPTS} times in one round ({type(last).__name__}: {last}). "
            "What was saved before is whole; look at the workers' logs, and run again."
        ) from last


def large_graphs() -> Any:
    """Let parts of long arrays travel with their tasks, which Dask would warn of."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGEST_GRAPH})


def _bytes(items: Any) -> int:
    """Count the bytes of arrays, also in tuples, lists, dicts, data classes, models and bound methods."""
    total = 0
    for item in items:
        if isinstance(item, np.ndarray):
            total += item.nbytes
        elif isinstance(item, tuple | list):
            total += _bytes(item)
        elif isinstance(item, dict):
            total += _bytes(item.values())
        elif isinstance(item, MethodType):
            total += _bytes([item.__self__])
        elif is_dataclass(item) or isinstance(item, BaseEstimator):
            total += _bytes(vars(item).values())
    return total
