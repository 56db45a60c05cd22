"""Reaching a cluster: one the user has, one at an address, or processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from relscape.errors import ClusterError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from dask.distributed import Client

__all__ = ["connect", "current_client"]

_ANSWER_SECONDS = 5
_START_SECONDS = 120
_GIVEN_UP_AFTER = "1 day"


@contextmanager
def connect(
    cluster: str | None = None, workers: int | None = None, memory: str | int | None = None
) -> Iterator[Client]:
    """Connect to a Dask cluster, or start one on this machine, for as long as the context lasts.

    Parameters
    ----------
    cluster : str, optional
        Address of a scheduler, such as "tcp://host:8786".
    workers : int, optional
        Instead of an address: how many processes to start on this machine, of one thread each.
    memory : str or int, optional
        Most memory of each of these, such as "2GB"; beyond about two thirds of it blocks go to the disk.

    Yields
    ------
    dask.distributed.Client
    """
    if (cluster is None) == (workers is None):
        raise ParameterError("give the address of a cluster or a number of workers, one of the two.")
    if cluster is not None and memory is not None:
        raise ParameterError("memory is for workers started here; a cluster's workers have their own limit.")
    if workers is not None and workers < 1:
        raise ParameterError(f"workers={workers}: give at least 1.")
    Client = _client_class()
    _check_memory(memory)
    if cluster is not None:
        try:
            client = Client(cluster, timeout=_ANSWER_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {cluster}: start one with 'dask scheduler' and workers with "
                f"'dask worker {cluster}', or check the address."
            ) from error
        with client:
            yield client
        return
    from dask import config
    from dask.distributed import LocalCluster

    settings: dict[str, Any] = {
        "dashboard_address": "localhost:0",
        "processes": True,
        "threads_per_worker": 1,
    }
    limit = "auto" if memory is None else memory
    with (
        # A worker that dies is started again; Dask would give up one that is just starting when it looks.
        config.set({"distributed.deploy.lost-worker-timeout": _GIVEN_UP_AFTER}),
        LocalCluster(n_workers=workers, memory_limit=limit, **settings) as local,
        Client(local, set_as_default=False) as client,
    ):
        client.wait_for_workers(workers, timeout=_START_SECONDS)
        yield client


def _check_memory(memory: Any) -> None:
    """Refuse what is no amount of memory before processes are started."""
    if memory is None:
        return
    from dask.utils import parse_bytes

    try:
        enough = parse_bytes(memory) > 0
    except (ValueError, TypeError, AttributeError):
        enough = False
    if not enough:
        raise ParameterError(f"memory={memory!r}: give an amount such as '2GB' or '500MB'.")


def current_client(client: Any) -> Any:
    """Give the client that is meant: the one given, or the one made last."""
    if client is not None:
        return client
    try:
        return _client_class().current()
    except ValueError as error:
        raise ClusterError(
            "there is no cluster: make a dask.distributed.Client first, or use "
            "'with relscape.distributed.connect(workers=4) as client' and give the client."
        ) from error


def _client_class() -> Any:
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise MissingExtraError("dask", "distributed", "a distributed relation") from error
    return Client
