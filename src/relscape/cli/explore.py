"""``relscape explore``: look at a map in a browser, or write it as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relscape import progress
from relscape.cli.console import next_step, print_json, say, telling_warnings
from relscape.errors import ParameterError
from relscape.maps import Map

if TYPE_CHECKING:
    from relscape.explorer.exhibit import Exhibit, Newcomers

__all__ = ["explore", "serve"]

HOST = "127.0.0.1"


def explore(
    map_path: Annotated[
        Path, typer.Argument(metavar="MAP", help="Directory of a map, or of a trained knowledge graph.")
    ],
    second: Annotated[
        Path | None, typer.Argument(metavar="MAP2", help="Another one to compare with.", show_default=False)
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one HTML file that works offline, instead.")
    ] = None,
    new: Annotated[
        list[str] | None,
        typer.Option("--new", metavar="TABLE", help="New things, to see where each would land."),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Kind of the new things.", show_default="the rows")] = None,
    relations: Annotated[
        bool, typer.Option("--with-relations/--without-relations", help="Show what relates to what.")
    ] = True,
    title: Annotated[str | None, typer.Option(help="What to call it.", show_default="the directory")] = None,
    host: Annotated[str, typer.Option(help="Address to serve at; any but this one needs a token.")] = HOST,
    port: Annotated[int | None, typer.Option(help="Port to serve at.", show_default="8765, or any")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only serve; open no browser.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Look at a map in a browser: search, neighbours, selections, and cohorts that can be dragged.

    It serves this machine only, until Ctrl-C is pressed, and changes nothing.
    """
    if html is not None and second is not None:
        raise ParameterError("--html writes one map; leave the second away, or write it by itself.")
    if kind is not None and not new:
        raise ParameterError("--kind says what the things of --new are; give their table, too.")
    with telling_warnings():
        shown = _exhibit(map_path, title, relations, new, kind)
        if html is not None:
            _write(shown, html, as_json)
            return
        others = [] if second is None else [_exhibit(second, None, relations, None, None)]
        serve([shown, *others], host, port, not no_browser, as_json)


def serve(
    exhibits: list[Exhibit],
    host: str = HOST,
    port: int | None = None,
    browser: bool = True,
    as_json: bool = False,
) -> None:
    """Open the explorer, say where it is, and serve until Ctrl-C is pressed."""
    from relscape.explorer.launch import open_explorer

    with progress.task("laying the map out"):
        explorer = open_explorer(exhibits, host, port, browser)
    if as_json:
        print_json({"url": explorer.url, "titles": [exhibit.title for exhibit in exhibits]})
    else:
        say(f"The map is at {explorer.url} (Ctrl-C stops).")
    sys.stdout.flush()  # whoever reads a pipe waits for this line
    explorer.wait()
    if not as_json:
        say("Stopped.")


def _write(shown: Exhibit, target: Path, as_json: bool) -> None:
    from relscape.explorer.html import write_html

    with progress.task("writing"):
        write_html(shown, target)
    size = target.stat().st_size
    if as_json:
        print_json({"html": str(target), "bytes": size})
        return
    say(f"Wrote {target}, {size / 1e6:.1f} MB: one file that works offline.")
    next_step(f"open {target} in a browser")


def _exhibit(
    path: Path, title: str | None, relations: bool, new: list[str] | None, kind: str | None
) -> Exhibit:
    """Load what a directory holds: a map, or a trained knowledge graph, whose model answers questions."""
    from relscape.cli.kg_source import load_model
    from relscape.explorer.exhibit import Exhibit

    name = title or path.resolve().name
    if (path / "model.json").is_file() and not (path / "map.json").is_file():
        if new:
            raise ParameterError(f"--new: {path} is a trained knowledge graph; new things need a map.")
        model = load_model(path)
        with progress.task("laying entities out"):
            return Exhibit(model.to_map(), name, knowledge=model, relations=relations)
    joint = Map.load(path)
    return Exhibit(joint, name, newcomers=_landed(joint, new, kind) if new else None, relations=relations)


def _landed(joint: Map, files: list[str], kind: str | None) -> Newcomers:
    from relscape.cli.placing import read_newcomers
    from relscape.cli.reading import Reading
    from relscape.explorer.exhibit import land

    data, fresh = read_newcomers(Reading(tuple(files)), joint, kind)
    return land(joint, data, fresh)
