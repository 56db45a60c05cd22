"""``relscape datasets``: what there is, where it is found, and making it from publishers' files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from relscape.cli.console import next_step, print_json, print_table, say, telling_warnings

__all__ = ["app"]

app = typer.Typer(help="Data sets by name.", add_completion=False, no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print the result for machines.")]
Name = Annotated[str, typer.Argument(help="Name of a data set.")]


@app.command("list")
def list_sets(as_json: Json = False) -> None:
    """List the data sets, and which are on this machine."""
    from relscape import datasets

    known = datasets.available()
    if as_json:
        print_json({info.name: {**asdict(info), "present": info.present} for info in known})
        return
    rows = [(info.name, "yes" if info.present else "no", info.title) for info in known]
    print_table(["name", "here", "what it is"], rows)
    next_step("relscape datasets info cora")


@app.command("info")
def describe(name: Name, as_json: Json = False) -> None:
    """Say what a data set holds and where it comes from."""
    from relscape import datasets

    info = datasets.dataset_info(name)
    if as_json:
        print_json({**asdict(info), "present": info.present})
        return
    say(f"{info.name}: {info.title}")
    kinds, files = ", ".join(info.kinds), "the publisher's files"
    told = [("kinds", kinds), ("size", info.size), ("reference", info.reference), (files, info.originals)]
    print_table(["", ""], [(what, text) for what, text in told if text])
    if info.tables:
        tables = [
            (f"{name}.parquet", f"{table.rows:,}", ", ".join(table.columns))
            for name, table in info.tables.items()
        ]
        print_table(["table", "rows", "columns"], tables)
    if info.present:
        next_step(f"relscape {'kg inspect' if info.is_graph else 'coembed'} --dataset {name}")


@app.command()
def convert(
    name: Name,
    source: Annotated[
        Path | None,
        typer.Argument(
            help="Folder with the publisher's own files.",
            show_default="scikit-learn's copy, newsgroups20 only",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of data sets to write into (RELSCAPE_DATA).")
    ] = Path("data"),
    as_json: Json = False,
) -> None:
    """Make a data set's tables from its publisher's own files, checked by row counts."""
    from relscape import datasets

    with telling_warnings():
        counts = datasets.convert(name, source, output)
    if as_json:
        print_json({"output": str(output / name), "rows": counts})
        return
    say(
        f"Wrote {output / name}: "
        + ", ".join(f"{table} {rows:,} rows" for table, rows in counts.items())
        + "."
    )
    command = "kg inspect" if datasets.dataset_info(name).is_graph else "coembed"
    next_step(f"RELSCAPE_DATA={output} relscape {command} --dataset {name}")
