"""Talking to a person or a machine: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from relscape.errors import RelscapeWarning
from relscape.postgres import without_secrets

__all__ = [
    "Bars",
    "StoppedError",
    "aside",
    "complain",
    "next_step",
    "print_json",
    "print_table",
    "say",
    "telling_warnings",
]

_NUMBER = re.compile(r"[-+\d.,e%]+")
_results = Console(highlight=False, soft_wrap=True)
_asides = Console(stderr=True, highlight=False, soft_wrap=True)


class StoppedError(Exception):
    """A person stopped a command that has more to tell about it than the usual words."""


def say(text: str) -> None:
    """Print one line of a result."""
    _results.print(escape(without_secrets(text)))


def complain(text: str) -> None:
    """Print one error message."""
    _asides.print(f"[bold red]error:[/] {escape(without_secrets(text))}")


def aside(text: str) -> None:
    """Print a note that is not part of the result."""
    _asides.print(f"[yellow]note:[/] {escape(without_secrets(text))}")


def next_step(command: str) -> None:
    """End with the next useful command."""
    _results.print(f"[dim]next:[/] {escape(without_secrets(command))}")


def print_json(content: Mapping[str, Any]) -> None:
    """Print a result for machines."""
    from relscape.maps.state import plain  # with the maps come numpy and others; a person's output needs none

    sys.stdout.write(without_secrets(json.dumps(content, ensure_ascii=False, default=plain)) + "\n")


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a small table."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for number, header in enumerate(headers):
        numeric = bool(rows) and all(_NUMBER.fullmatch(str(row[number])) for row in rows)
        table.add_column(header, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    _results.print(table)


@contextmanager
def telling_warnings(strict: bool = False) -> Iterator[None]:
    """Show relscape's warnings as notes, or with ``strict`` let the first one stop the command."""
    with warnings.catch_warnings():
        warnings.simplefilter("error" if strict else "always", RelscapeWarning)

        def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
            if issubclass(category, RelscapeWarning):
                aside(str(message))

        warnings.showwarning = show
        yield


class Bars:
    """Progress bars on a terminal, nothing in a pipe."""

    @contextmanager
    def task(self, title: str, total: int | None) -> Iterator[_Bar]:
        """Show one bar while the context lasts."""
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        counted = (*columns, MofNCompleteColumn()) if total else columns
        with Progress(*counted, console=_asides, transient=True, disable=not _asides.is_terminal) as progress:
            yield _Bar(progress, title, total)

    def note(self, text: str) -> None:
        """Show one line in passing, on a terminal."""
        if _asides.is_terminal:
            _asides.print(f"[dim]{escape(without_secrets(text))}[/]")


class _Bar:
    def __init__(self, progress: Progress, title: str, total: int | None) -> None:
        self._progress = progress
        self._id = progress.add_task(title, total=total)

    def advance(self, steps: int = 1) -> None:
        self._progress.advance(self._id, steps)
