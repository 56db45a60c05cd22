"""How a command line says that work is to be done by a cluster, and reads relations and graphs there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from relscape import progress
from relscape.cli.kg_source import read_graph
from relscape.cli.reading import Reading
from relscape.data.triples import SPLITS
from relscape.errors import ParameterError

__all__ = [
    "Cluster",
    "Parts",
    "WorkerMemory",
    "Workers",
    "check_parts",
    "cluster_client",
    "counting",
    "spread",
    "spread_graph",
    "spreader",
    "tables_in",
]

Cluster = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler that does the work, such as tcp://host:8786.")
]
Workers = Annotated[int | None, typer.Option(help="Do the work in so many processes on this machine.")]
WorkerMemory = Annotated[
    str | None, typer.Option(help="Most memory of each of these --workers, such as 2GB; more goes to disk.")
]
Parts = Annotated[
    int | None,
    typer.Option(
        help="With a cluster: parts that entities are dealt into. Decides the result.",
        show_default="two for each worker, at least 4",
    ),
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


def check_parts(parts: int | None) -> None:
    """Refuse parts where there is no cluster to have them."""
    if parts is not None:
        raise ParameterError(f"--parts {parts} is for a cluster; give --workers or --cluster.")


def spread_graph(source: str | None, reading: tuple[Any, ...], parts: int | None, client: Any) -> Any:
    """Read a knowledge graph and spread it over a cluster.

    Workers read it where the folder has a folder ``train`` of Parquet files (and perhaps ``valid`` and
    ``test``, folders or files); whatever else ``read_graph`` takes is read here. ``reading`` is what that
    takes besides the source.
    """
    from relscape.distributed import DistributedGraph

    if source is None or not (Path(source) / "train").is_dir():
        return DistributedGraph(read_graph(source, *reading), parts, client=client)
    if any(reading[:-1]):
        raise ParameterError(
            f"{source} holds a folder train, which workers read as it is; --dataset, --hold-out and "
            "--encoding cannot be followed there."
        )
    folder = Path(source)
    valid, test = (_split_of(folder, split) for split in SPLITS[1:])
    with progress.task("reading on the cluster"):
        return DistributedGraph.from_parquet(folder / "train", valid, test, n_parts=parts, client=client)


def _split_of(folder: Path, split: str) -> list[Path] | None:
    """Give the folder or the Parquet file of a split, if there is one."""
    return [path for path in (folder / split, folder / f"{split}.parquet") if path.exists()][:1] or None


def spreader(client: Any) -> Any:
    """Give what spreads a graph over a cluster again, or None if there is none."""
    if client is None:
        return None
    from relscape.distributed import DistributedGraph

    return partial(DistributedGraph, client=client)


def counting(client: Any) -> dict[str, Any]:
    """Give what ``rank`` takes to count on a cluster: nothing if there is none."""
    if client is None:
        return {}
    from relscape.distributed import RankCounter

    return {"count": RankCounter(client)}
