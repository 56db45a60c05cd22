"""``relscape publish``: a map in a PostgreSQL database."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from relscape.cli.console import aside, next_step, print_json, say
from relscape.cli.inspect import Json, MapPath
from relscape.maps import Map

__all__ = ["publish"]


def publish(
    map_path: MapPath,
    address: Annotated[str, typer.Argument(metavar="DATABASE", help="Where to: postgresql://host/database.")],
    schema: Annotated[str, typer.Option(help="Schema of the tables.")] = "public",
    name: Annotated[
        str | None, typer.Option(help="What the tables are called.", show_default="as the map is")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the statements instead of running them.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Put a map into PostgreSQL, its points and its versions as tables, all in one transaction.

    What the address leaves out comes from PGUSER, PGPASSWORD, ~/.pgpass and the like.
    """
    joint = Map.load(map_path)
    named = name or re.sub(r"\W+", "_", Path(map_path).resolve().name)
    done = joint.publish(address, name=named, schema=schema, dry_run=dry_run)
    if as_json:
        print_json({**asdict(done), "dry_run": dry_run})
        return
    if not done.changed:
        say(f"{done.points} is this map already, as version {done.version}; nothing was changed.")
    elif dry_run:
        for statement in done.statements:
            say(f"{statement};")
        aside("nothing was changed, because this is a dry run.")
        return
    else:
        sizes = " and ".join(f"{len(joint.group(kind)):,} × {kind}" for kind in joint.groups)
        say(f"{sizes} as version {done.version} of {done.points} in {done.address}.")
        say(f"What it was made from is in {done.versions}.")
    if done.coordinates == "real[]":
        aside("the database does not have pgvector; with it (CREATE EXTENSION vector) there is an index too.")
    say("Neighbours of one thing among another kind:")
    say(done.query)
    next_step(f"relscape info {map_path}")
