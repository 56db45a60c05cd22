"""One progress interface: silent in the library, bars in the command line.

Library code announces what it does with :func:`task`; whoever wants to show it installs a
reporter with :func:`reporting`. Nothing here draws anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol

__all__ = ["Reporter", "Task", "note", "reporting", "task"]


class Task(Protocol):
    """One piece of work under way."""

    def advance(self, steps: int = 1) -> None:
        """Say that ``steps`` more of the total are done."""
        ...


class Reporter(Protocol):
    """Shows tasks to a person."""

    def task(self, title: str, total: int | None) -> AbstractContextManager[Task]:
        """Show a task until its context ends."""
        ...

    def note(self, text: str) -> None:
        """Show one line in passing, such as an expected cost."""
        ...


class _SilentTask:
    def advance(self, steps: int = 1) -> None:
        """Do nothing."""


class _Silent:
    def task(self, title: str, total: int | None) -> AbstractContextManager[Task]:  # noqa: ARG002
        return nullcontext(_SilentTask())

    def note(self, text: str) -> None:
        """Do nothing."""


_SILENT: Reporter = _Silent()
_reporter: ContextVar[Reporter | None] = ContextVar("relscape_reporter", default=None)


@contextmanager
def reporting(reporter: Reporter) -> Iterator[None]:
    """Send progress to ``reporter`` while the context lasts."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


def task(title: str, total: int | None = None) -> AbstractContextManager[Task]:
    """Announce a task; use as ``with task("reading", total=n) as t: ... t.advance()``."""
    return (_reporter.get() or _SILENT).task(title, total)


def note(text: str) -> None:
    """Say one line in passing to whoever is watching."""
    (_reporter.get() or _SILENT).note(text)
