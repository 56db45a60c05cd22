"""``relscape kg``: look a knowledge graph over, train a model of it, go on with it, and rank."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from relscape import progress
from relscape.cli import kg_queries, kg_tune, spreading
from relscape.cli.console import (
    StoppedError,
    aside,
    next_step,
    print_json,
    print_table,
    say,
    telling_warnings,
)
from relscape.cli.kg_source import (
    Database,
    Dataset,
    Encoding,
    HoldOut,
    InverseSafe,
    Json,
    Query,
    Source,
    Strict,
    graph_named,
    load_model,
    model_of,
    read_graph,
)
from relscape.cli.reading import as_arguments
from relscape.models.knowledge_checkpoints import TrainingStopped
from relscape.models.knowledge_state import CHECKPOINT, check_run_directory, checkpoint_in
from relscape.models.knowledge_training import SHARES
from relscape.project.costs import knowledge_seconds, time_told

__all__ = ["app"]

_MOST_SHOWN = 10  # overlapping relations

app = typer.Typer(
    help="Knowledge graphs: facts as (head, relation, tail).", add_completion=False, no_args_is_help=True
)

Directory = Annotated[Path, typer.Argument(metavar="KG", help="Directory given to 'kg train'.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Directory of the model to write.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all that is drawn at random.")]
Jobs = Annotated[
    int | None, typer.Option(help="Threads; more than one is faster but not exact.", show_default="1")
]
ModelName = Annotated[str, typer.Option("--model", "-m", help="TransPES, TransE, TransH, ComplEx, ...")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", help="Any other parameter or option: name=value.", show_default=False),
]
Preset = Annotated[
    str | None, typer.Option(help="'thesis': the settings of the thesis.", show_default="the best we found")
]


@app.command()
def inspect(
    source: Source = None,
    database: Database = None,
    query: Query = None,
    dataset: Dataset = None,
    hold_out: HoldOut = None,
    inverse_safe: InverseSafe = False,
    seed: Seed = 0,
    overlap: Annotated[float, typer.Option(help="Report relations that share more than this part.")] = 0.8,
    encoding: Encoding = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Say what a graph is like, and how far a test on it can be trusted."""
    from relscape.data.triple_report import inspect as look

    with telling_warnings(strict):
        place = graph_named(source, database, query)
        report = look(read_graph(place, dataset, hold_out, inverse_safe, encoding, seed), overlap)
    if as_json:
        print_json(report.to_dict())
        return
    print_table(["", ""], report.summary())
    if report.overlaps:
        rows = [
            (
                o.first,
                "inverse" if o.inverse else "same way",
                o.second,
                f"{max(o.first_share, o.second_share):.0%}",
            )
            for o in report.overlaps[:_MOST_SHOWN]
        ]
        print_table(["relation", "says as much as", "", "of one's pairs"], rows)
    told = [as_arguments([place]) if place else f"--dataset {dataset}"]
    if hold_out is not None:
        told.append(f"--hold-out {hold_out}{' --inverse-safe' if inverse_safe else ''} --seed {seed}")
    if encoding is not None:
        told.append(f"--encoding {encoding}")
    next_step(f"relscape kg train {' '.join(told)} -o kg")


@app.command()
def train(
    source: Source = None,
    database: Database = None,
    query: Query = None,
    dataset: Dataset = None,
    model: ModelName = "TransPES",
    dimensions: Annotated[int, typer.Option("--dimensions", "-k", help="Length of the vectors.")] = 100,
    epochs: Annotated[int, typer.Option(help="Passes over the training triples.")] = 500,
    preset: Preset = None,
    jobs: Jobs = None,
    seed: Seed = 0,
    param: Setting = None,
    hold_out: HoldOut = None,
    inverse_safe: InverseSafe = False,
    every: Annotated[int, typer.Option(help="Epochs between checkpoints.")] = 10,
    encoding: Encoding = None,
    cluster: spreading.Cluster = None,
    workers: spreading.Workers = None,
    worker_memory: spreading.WorkerMemory = None,
    parts: spreading.Parts = None,
    output: Output = Path("kg"),
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Train a model; it can be stopped, even killed, and taken up again with 'kg resume'.

    Ctrl-C waits for the end of the running epoch and writes a checkpoint; a second Ctrl-C stops at once. What
    is killed goes on from its last checkpoint, which --every says how often to write.
    """
    started = time.perf_counter()
    again = _again(output, cluster, workers)
    with (
        telling_warnings(strict),
        _telling_stops(again),
        spreading.cluster_client(cluster, workers, worker_memory) as client,
    ):
        estimator = model_of(model, dimensions, epochs, preset, jobs, seed, param or [])
        estimator.check()
        check_run_directory(output)
        place = graph_named(source, database, query)
        reading = (dataset, hold_out, inverse_safe, encoding, seed)
        if client is None:
            spreading.check_parts(parts)
            graph = read_graph(place, *reading)
            told = time_told(knowledge_seconds(estimator, len(graph.train)))
        else:
            graph = spreading.spread_graph(place, reading, parts, client)
            told = "on a cluster"
        progress.note(f"{model} of {graph!r}: {told}")
        progress.note(f"checkpoints are in {output / CHECKPOINT}; '{again}' goes on")
        estimator.fit(graph, checkpoints=output / CHECKPOINT, every=every)
    estimator.save(output)
    _report(estimator, output, time.perf_counter() - started, as_json)


@app.command()
def resume(
    directory: Directory = Path("kg"),
    epochs: Annotated[
        int | None, typer.Option(help="Go on to so many epochs in all.", show_default="as begun")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Size of steps from now on.", show_default="as begun")
    ] = None,
    jobs: Jobs = None,
    cluster: spreading.Cluster = None,
    workers: spreading.Workers = None,
    worker_memory: spreading.WorkerMemory = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Go on with a training from its last checkpoint, exactly as if it had not been interrupted.

    With --epochs, --learning-rate or --jobs it goes on differently, and the model keeps a record of that. A
    training that was begun on a cluster goes on with one, of any size.
    """
    from relscape.models.knowledge import KGEmbedding

    started = time.perf_counter()
    with (
        telling_warnings(strict),
        _telling_stops(_again(directory, cluster, workers)),
        spreading.cluster_client(cluster, workers, worker_memory) as client,
    ):
        place = checkpoint_in(directory)
        model = KGEmbedding.resume(
            place,
            n_epochs=epochs,
            learning_rate=learning_rate,
            n_jobs=jobs,
            spread=spreading.spreader(client),
        )
    if place.name == CHECKPOINT:
        directory = model.save(place.parent)
    _report(model, directory, time.perf_counter() - started, as_json, resumed=True)


@app.command()
def rank(
    directory: Directory = Path("kg"),
    file: Annotated[
        str | None,
        typer.Argument(help="A file of triples, or a table of a database.", show_default="the test split"),
    ] = None,
    split: Annotated[str, typer.Option(help="train, valid or test, when there is no file.")] = "test",
    ties: Annotated[str, typer.Option(help="realistic, optimistic or pessimistic.")] = "realistic",
    by_relation: Annotated[bool, typer.Option(help="Also every relation on its own.")] = False,
    exclude_self_loops: Annotated[
        bool, typer.Option(help="No entity as its own answer where training has no such fact.")
    ] = False,
    encoding: Encoding = None,
    cluster: spreading.Cluster = None,
    workers: spreading.Workers = None,
    worker_memory: spreading.WorkerMemory = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Rank true heads and tails among all entities: mean rank, MRR, hits."""
    from relscape.sources.triples import read_facts

    with telling_warnings(strict), spreading.cluster_client(cluster, workers, worker_memory) as client:
        model = load_model(directory)
        triples = split if file is None else read_facts(file, encoding)
        settings = {"ties": ties, "exclude_self_loops": exclude_self_loops}
        report = model.rank(triples, **settings, **spreading.counting(client))
    if as_json:
        print_json(report.to_dict())
        return
    header = ["", "triples", "mean rank", "MRR", "hits@1", "hits@3", "hits@10"]
    print_table(header, report.rows())
    if by_relation:
        parts = sorted(report.by_relation.items(), key=lambda entry: -entry[1].n_triples)
        print_table(["relation", *header[1:]], [part.row(name) for name, part in parts])
    next_step(f"relscape kg suspicious --from {directory}")


app.command()(kg_queries.predict)
app.command()(kg_queries.suspicious)
app.command()(kg_tune.tune)
app.command()(kg_queries.export)


# ---------------------------------------------------------------------- telling


def _again(directory: Path, cluster: str | None, workers: int | None) -> str:
    """Give the command that goes on with a training."""
    return f"relscape kg resume {directory}{'' if cluster is None and workers is None else ' --workers N'}"


@contextmanager
def _telling_stops(again: str) -> Iterator[None]:
    """Say of a training that a person stops what is kept of it, and how to go on."""
    try:
        yield
    except TrainingStopped as stop:
        raise StoppedError(
            f"stopped; {stop.epoch} of {stop.n_epochs} epochs are kept. Go on with: {again}"
        ) from None
    except KeyboardInterrupt:
        raise StoppedError("stopped before any training; nothing was written.") from None


def _report(model: Any, output: Path, seconds: float, as_json: bool, resumed: bool = False) -> None:
    last = model.history_[-1] if model.history_ else {}
    shares = {name: last[name] for name in SHARES if name in last}
    if as_json:
        print_json(
            {
                "model": str(output),
                "name": model.model,
                "epochs": model.n_epochs_,
                "best_epoch": model.best_epoch_,
                "loss": last.get("loss"),
                **shares,
                "validation": model.validation_,
                "changes": model.changes_,
                "seconds": round(seconds, 3),
            }
        )
        return
    spent = f"in all, {seconds:.1f} s more" if resumed else f"in {seconds:.1f} s"
    say(f"{model.model}: {model.n_epochs_} epochs {spent}: {output}")
    for change in model.changes_:
        now = ", ".join(f"{name} {value}" for name, value in change.items() if name != "epoch")
        say(f"resumed after epoch {change['epoch']} with {now}")
    if last:
        told = [f"{share:.1%} {SHARES[name]}" for name, share in shares.items()]
        say(", ".join([f"mean loss {last['loss']:.4g}", *told]))
    if model.validation_:
        found = model.validation_
        say(
            f"kept epoch {model.best_epoch_}: validation mean rank {found['mean_rank']:.1f}, MRR "
            f"{found['mrr']:.3f}, hits@10 {found['hits@10']:.1%}"
        )
    else:
        aside("there are no validation triples: the last epoch was kept.")
    if len(model.test_):
        next_step(f"relscape kg rank {output}")
    else:  # nothing that was held out is there to be ranked
        head, relation, _ = model.train_[0]
        asked = (str(model.entities_.ids[head]), str(model.relations_.ids[relation]))
        next_step(f"relscape kg predict {' '.join(map(quote, asked))} --from {output}")
