"""``relscape export``: a map for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relscape.cli.console import next_step, print_json, say
from relscape.maps import Map
from relscape.maps.export import FORMATS, format_for, only_kinds, pictured

__all__ = ["export"]


def export(
    map_path: Annotated[Path, typer.Argument(metavar="MAP", help="Directory of a map.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; the ending tells its format.")
    ],
    format_name: Annotated[
        str | None,
        typer.Option("--format", "-f", help=f"One of {', '.join(FORMATS)}.", show_default="by the ending"),
    ] = None,
    kinds: Annotated[str | None, typer.Option(help="Kinds to write: doc,word.", show_default="all")] = None,
    layout: Annotated[
        bool, typer.Option("--layout", help="Write the two coordinates of the picture instead of all.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Write a map for other programs: tables, vectors, graphs, cells, or a page for the browser."""
    form = format_for(output, format_name)
    joint = Map.load(map_path)
    if kinds is not None:
        joint = only_kinds(joint, [kind.strip() for kind in kinds.split(",") if kind.strip()])
    if layout:
        joint = pictured(joint)
    joint.export(output, form.name)
    sizes = {kind: len(joint.group(kind)) for kind in joint.groups}
    if as_json:
        print_json(
            {
                "written": str(output),
                "format": form.name,
                "sizes": sizes,
                "dimensions": joint.n_components,
            }
        )
        return
    told = " and ".join(f"{size:,} × {kind}" for kind, size in sizes.items())
    say(f"{told} as {form.name}, for {form.opened_by}: {output}")
    next_step(f"relscape info {map_path}")
