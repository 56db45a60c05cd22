"""``relscape init``: a project file, drafted from a look at some tables."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from relscape.cli.coembed import Json
from relscape.cli.console import aside, next_step, print_json, print_table, say, telling_warnings
from relscape.errors import DataError, StorageError
from relscape.maps.files import atomic_file
from relscape.sources.references import public_name

__all__ = ["init"]


def init(
    files: Annotated[list[str], typer.Argument(help="Tables, or globs of them.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Project file to write, or its folder.")
    ] = Path("relscape.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Look at tables and write a project file about them: kinds, features, relations.

    It is a draft with comments, to be looked through; 'relscape run' makes what it says.
    """
    from relscape.project.study import PROJECT_FILE, parse_study
    from relscape.project.study_draft import draft_study
    from relscape.project.study_writing import written

    target = output / PROJECT_FILE if output.is_dir() else output
    if target.exists() and not force:
        raise StorageError(
            f"{target} is there already, and is kept. Name another file with -o, or replace it with --force."
        )
    with telling_warnings():
        draft = draft_study(files)
        if not draft.kinds:
            why = "; ".join(f"{path}: {reason}" for path, reason in draft.left_out.items())
            raise DataError(f"nothing here can be mapped. {why}.")
        text = written(draft, target.parent)
        parse_study(text, target)
        with atomic_file(target) as file:
            file.write_text(text, encoding="utf-8")
    _report(draft, target, as_json)


def _report(draft: Any, target: Path, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "file": str(target),
                "kinds": {name: _described(kind) for name, kind in draft.kinds.items()},
                "relations": {
                    relation.name: {
                        "table": relation.tables[0],
                        "from": relation.source,
                        "to": relation.target,
                        "weight": relation.weight,
                    }
                    for relation in draft.relations.values()
                },
                "left_out": draft.left_out,
            }
        )
        return
    say(f"Wrote {target}:")
    rows = [
        (name, public_name(kind.tables[0]) if kind.tables else "-", _described(kind))
        for name, kind in draft.kinds.items()
    ]
    print_table(["kind", "table", "features"], rows)
    joins = [
        (name, public_name(table.tables[0]), f"{table.source} to {table.target}", table.weight or "-")
        for name, table in draft.relations.items()
    ]
    if joins:
        print_table(["relation", "table", "joins", "weight"], joins)
    for path, reason in draft.left_out.items():
        aside(f"{path} is left out: {reason}.")
    named = "" if target == Path("relscape.toml") else f" -f {quote(str(target))}"
    if not joins:
        aside("no table says which things belong together, so that only one kind is mapped, by its features.")
    next_step(f"look at {target}, then  relscape run{named}")


def _described(kind: Any) -> str:
    """Say what the features of a kind are."""
    if kind.text is not None:
        return f"words of {kind.text.column}"
    if kind.features_from is not None:
        return f"from {kind.features_from}"
    return ", ".join(kind.features) if kind.features else "none: known by its relations"
