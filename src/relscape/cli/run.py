"""``relscape run``: all models and outputs that a project file describes, only what changed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relscape.cli.coembed import Json, Strict
from relscape.cli.console import complain, next_step, print_json, print_table, say, telling_warnings

if TYPE_CHECKING:
    from relscape.project.study_run import StudyRun

__all__ = ["run"]

_MOST_SCORES = 5
_STATUSES = ("built", "to build", "up to date", "skipped", "failed")


def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Models and outputs to make.", show_default="all"),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="A project file, or its folder.", show_default="relscape.toml"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Make also what is up to date.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Say only what would be made, and why.")
    ] = False,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Make all models and outputs that a project file describes: only what changed since the last run.

    A run that was stopped, even killed, goes on where it was: what is done is not done again.
    """
    from relscape.project.study import PROJECT_FILE, read_study
    from relscape.project.study_run import run_study

    started = time.perf_counter()
    with telling_warnings(strict):
        study = read_study(PROJECT_FILE if file is None else file)
        done = run_study(study, names or (), force=force, dry=dry_run)
    seconds = time.perf_counter() - started
    if as_json:
        print_json(_content(study.path, done, seconds))
    else:
        _report(study.path, done, seconds)
    if done.count("failed"):
        raise typer.Exit(1)


def _content(path: Path, done: StudyRun, seconds: float) -> dict[str, Any]:
    steps = [
        {
            "part": step.part,
            "name": step.name,
            "path": str(step.path),
            "status": step.status,
            "why": step.why,
            "seconds": round(step.seconds, 3),
            **({"scores": dict(step.scores)} if step.part == "model" else {}),
        }
        for step in done.steps
    ]
    return {"file": str(path), "steps": steps, "seconds": round(seconds, 3)}


def _report(path: Path, done: StudyRun, seconds: float) -> None:
    counts = [f"{count} {status}" for status in _STATUSES if (count := done.count(status))]
    say(f"{path}: {', '.join(counts)}, in {seconds:.1f} s.")
    rows = [
        (step.part, step.name, step.status, "see below" if step.status == "failed" else step.why or "-",
         _from_here(step.path))
        for step in done.steps
    ]  # fmt: skip
    print_table(["", "name", "", "why", "where"], rows)
    told = [(step.name, _scores(step.scores)) for step in done.steps if step.scores]
    if told:
        print_table(["model", "scores"], told)
    for step in done.steps:
        if step.status == "failed":
            complain(f"{step.part} {step.name}: {step.why}")
    made = [step for step in done.steps if step.part == "model" and step.status in ("built", "up to date")]
    if done.count("to build"):
        next_step("relscape run" + ("" if path == Path(path.name) else f" -f {quote(str(path))}"))
    elif made:
        place = quote(str(_from_here(made[0].path)))
        next_step(f"relscape explore {place}  or  relscape info {place}")


def _from_here(path: Path) -> str:
    """Give a path as it is from where the command runs, where that is shorter."""
    try:
        near = os.path.relpath(path)
    except ValueError:  # on another drive
        return str(path)
    return near if len(near) < len(str(path)) else str(path)


def _scores(scores: Mapping[str, Any]) -> str:
    """Tell the first scores in a line; those of a relation or a test by its name."""
    flat: list[str] = []
    for name, value in scores.items():
        inner = value.items() if isinstance(value, Mapping) else [("", value)]
        for part, number in inner:
            if isinstance(number, float | int) and not isinstance(number, bool):
                flat.append(f"{f'{name} {part}'.strip()} {number:.4g}")
    more = f" and {len(flat) - _MOST_SCORES} more" if len(flat) > _MOST_SCORES else ""
    return ", ".join(flat[:_MOST_SCORES]) + more
