"""The commands by name: a line of help each, and where they are. Only the one that is asked for is loaded."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["COMMANDS", "Commands", "load_command"]

# name: (module of relscape.cli, function or app, line of help); in the order in which they are listed
COMMANDS: dict[str, tuple[str, str, str]] = {
    "demo": (
        "demo",
        "demo",
        "Map the Python standard library: its modules and the words of their documentation.",
    ),
    "coembed": (
        "coembed",
        "coembed",
        "Map things of two kinds, or more, from how they relate: tables, texts, or files of other programs.",
    ),
    "cohorts": (
        "cohorts",
        "cohorts",
        "Map samples in cohorts: each cohort near its prototype, and neighbours near each other.",
    ),
    "init": (
        "init",
        "init",
        "Look at tables and write a project file about them: kinds, features, relations.",
    ),
    "project": (
        "project",
        "project",
        "Map things of any number of kinds, by their features and by which pairs are alike or unlike.",
    ),
    "run": (
        "run",
        "run",
        "Make all models and outputs that a project file describes: only what changed since the last run.",
    ),
    "move": (
        "move",
        "move",
        "Move cohorts to other places on a map; their samples follow, and neighbours stay neighbours.",
    ),
    "place": (
        "placing",
        "place",
        "Put new things on an existing map, by their relations to the things on it, or by their features.",
    ),
    "neighbors": ("inspect", "neighbors", "Show what is near a thing on the map, of every kind."),
    "clusters": (
        "clusters",
        "clusters",
        "Divide all things of a map, of all kinds together, into clusters, and tell what each holds.",
    ),
    "explore": (
        "explore",
        "explore",
        "Look at a map in a browser: search, neighbours, selections, and cohorts that can be dragged.",
    ),
    "plot": (
        "picture",
        "plot",
        "Draw a map with readable labels; one of cohorts with their prototypes, unless --color says else.",
    ),
    "score": (
        "inspect",
        "score",
        "Measure a map against the relation it was made from, and against classes if there are some.",
    ),
    "info": ("inspect", "info", "Say what a map holds, what made it, and how good it is."),
    "export": (
        "export",
        "export",
        "Write a map for other programs: tables, vectors, graphs, cells, or a page for the browser.",
    ),
    "publish": (
        "publish",
        "publish",
        "Put a map into PostgreSQL, its points and its versions as tables, all in one transaction.",
    ),
    "reproduce": ("reproduce", "reproduce", "Run a published experiment again and say what was reached."),
    "kg": ("kg", "app", "Knowledge graphs: facts as (head, relation, tail)."),
    "network": (
        "network",
        "app",
        "Linked documents: a map of them (fit, the default), and which links are missing.",
    ),
    "datasets": ("sets", "app", "Data sets by name."),
    "doctor": ("doctor", "doctor", "Tell what is installed, and try the parts that tend to be broken."),
}


def load_command(name: str) -> Any:
    """Load a command, with its options."""
    module, attribute, _ = COMMANDS[name]
    found = getattr(import_module(f"relscape.cli.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        holder = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        holder.command(name)(found)
        found = holder
    command = typer.main.get_command(found)
    command.name = name
    return command


class Commands(TyperGroup):
    """A group that knows its commands by their lines of help, and loads the one that is called."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.commands = {name: TyperCommand(name, help=line) for name, (_, _, line) in COMMANDS.items()}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Name all commands, in their order."""
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load the command that is called."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load_command(name), rest
