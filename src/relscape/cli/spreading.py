"""How a command line says that work is to be done by a cluster, and reads a relation there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from relscape import progress
from relscape.cli.reading import Reading
from relscape.errors import ParameterError

__all__ = ["Cluster", "WorkerMemory", "Workers", "cluster_client", "spread", "tables_in"]

Cluster = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler that does the work, such as tcp://host:8786.")
]
Workers = Annotated[int | None, typer.Option(help="Do the work in so many processes on this machine.")]
WorkerMemory = Annotated[
    str | None, typer.Option(help="Most memory of each of these --workers, such as 2GB; more goes to disk.")
]

_OF_PAIRS = {"files", "rows", "columns", "weight"}


@contextmanager
def cluster_client(cluster: str | None, workers: int | None, memory: str | None) -> Iterator[Any]:
    """Give a client of the cluster that is asked for, or None if the work is to be done here."""
    if cluster is None and workers is None:
        if memory is not None:
            raise ParameterError(f"--worker-memory {memory} is for --workers; say how many.")
        yield None
        return
    if cluster is not None and workers is not None:
        raise ParameterError(f"--cluster {cluster} and --workers {workers}: give one of the two.")
    if cluster is not None and memory is not None:
        raise ParameterError("--worker-memory is for --workers; those of a --cluster have their own limit.")
    from relscape.distributed import connect

    with connect(cluster, workers, memory) as client:
        yield client


def tables_in(files: list[str] | None) -> list[str]:
    """Give folders, which would be read as texts, as the Parquet files in them."""
    return [str(Path(file) / "**" / "*.parquet") if Path(file).is_dir() else file for file in files or ()]


def spread(source: Reading, family: str, idle: dict[str, Any], client: Any) -> Any:
    """Read tables of pairs on a cluster, as a relation that stays there.

    ``idle`` are further options and what was given for them; none of them can be followed there.
    """
    nothing = Reading()
    changed = {name for name in asdict(source) if getattr(source, name) != getattr(nothing, name)}
    others = [name.replace("_", "-") for name in sorted(changed - _OF_PAIRS)]
    others += [name for name, given in idle.items() if given]
    if others or source.rows is None or source.columns is None:
        told = f"; --{', --'.join(others)} cannot be followed there" if others else ""
        raise ParameterError(
            f"a cluster reads tables of pairs: name files, --rows, --columns and perhaps --weight{told}."
        )
    if family == "multicode":
        raise ParameterError("a cluster maps two kinds; --method multicode works here, without a cluster.")
    from relscape.distributed import DistributedRelation

    with progress.task("reading on the cluster"):
        return DistributedRelation.from_parquet(
            list(source.files), source.rows, source.columns, source.weight, client=client
        )
