"""``relscape kg tune``: the best settings of a grid, chosen on validation triples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relscape.cli.console import next_step, print_json, print_table, say, telling_warnings
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
    model_of,
    named_settings,
    read_graph,
)
from relscape.cli.values import plain_value

__all__ = ["tune"]


def tune(
    source: Source = None,
    database: Database = None,
    query: Query = None,
    dataset: Dataset = None,
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", "-g", help="Values to try: margin=0.2,0.4; again for more parameters."),
    ] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="TransPES, TransE, TransH, ...")] = "TransPES",
    dimensions: Annotated[int, typer.Option("--dimensions", "-k", help="Length of the vectors.")] = 100,
    epochs: Annotated[int, typer.Option(help="Passes over the training triples.")] = 500,
    preset: Annotated[str | None, typer.Option(help="'thesis': the settings of the thesis.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads.", show_default="1")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is drawn at random.")] = 0,
    param: Annotated[list[str] | None, typer.Option("--param", "-p", help="name=value.")] = None,
    by: Annotated[str, typer.Option(help="mean_rank, mrr or hits@10.")] = "mean_rank",
    hold_out: HoldOut = None,
    inverse_safe: InverseSafe = False,
    encoding: Encoding = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory of trials.")] = Path("kg-tuning"),
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Try a grid of settings; stopped, even killed, the same command goes on where it was."""
    from relscape.models.knowledge_settings import OPTION_FLAGS
    from relscape.tuning.knowledge import tune_knowledge

    with telling_warnings(strict):
        points = {
            name: [plain_value(part, name in OPTION_FLAGS) for part in text.split(",")]
            for name, text in named_settings(grid or [], "--grid").items()
        }
        estimator = model_of(model, dimensions, epochs, preset, jobs, seed, param or [])
        place = graph_named(source, database, query)
        graph = read_graph(place, dataset, hold_out, inverse_safe, encoding, seed)
        choice = tune_knowledge(estimator, graph, points, by=by, directory=output)
    best = output / "best"
    if as_json:
        print_json(
            {
                "chosen": dict(choice.settings),
                "because": choice.reason,
                "trials": [{**trial.figures, **trial.settings} for trial in choice.records],
                "model": str(best),
            }
        )
        return
    rows = [
        (
            *(str(value) for value in trial.settings.values()),
            f"{trial.mean_rank:.1f}",
            f"{trial.mrr:.3f}",
            f"{trial.hits_at_10:.1%}",
            "chosen" if trial.settings == choice.settings else "",
        )
        for trial in choice.records
    ]
    print_table([*choice.settings, "mean rank", "MRR", "hits@10", ""], rows)
    say(f"{choice.reason}: {best}")
    next_step(f"relscape kg rank {best}")
