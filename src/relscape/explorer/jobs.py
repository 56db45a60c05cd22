"""Longer work behind the page: one at a time, in the background, results kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from relscape import progress
from relscape.errors import RelscapeError

__all__ = ["BusyError", "Job", "Jobs"]

KEPT = 3  # results; each can be as large as the map


class BusyError(RelscapeError):
    """Other work is under way."""


@dataclass(eq=False)
class Job:
    """One piece of work: how far it is, and what came of it."""

    title: str
    steps: int = 0
    expected: int = 0
    message: str = ""
    failed: str | None = None
    result: Any = None
    done: bool = False

    @property
    def share(self) -> float | None:
        """How much is done, where that can be told; the last step is never promised."""
        if self.done:
            return 1.0
        return min(self.steps / self.expected, 0.99) if self.expected else None

    # A job is itself the reporter of the work: it counts the steps that the library announces.

    @contextmanager
    def task(self, title: str, total: int | None) -> Iterator[Job]:
        """Take note of a part of the work."""
        self.message = title
        self.expected = total or self.expected
        yield self

    def note(self, text: str) -> None:
        """Take note of a remark."""
        self.message = text

    def advance(self, steps: int = 1) -> None:
        """Count steps."""
        self.steps += steps


class Jobs:
    """Works on one job at a time, and keeps what came of the last few.

    ``computing`` is held while anything is computed by a model: compiled loops must not be run from two
    threads at once.
    """

    def __init__(self) -> None:
        self.computing = threading.Lock()
        self._kept: OrderedDict[str, Job] = OrderedDict()
        self._starting = threading.Lock()
        self._count = 0

    def start(self, title: str, expected: int, work: Callable[[], Any]) -> str:
        """Begin work in the background; gives the name of the job."""
        with self._starting:
            if any(not job.done for job in self._kept.values()):
                raise BusyError("another fit is under way; wait for it to end.")
            self._count += 1
            name, job = str(self._count), Job(title, expected=expected, message=title)
            self._kept[name] = job
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        threading.Thread(target=self._run, args=(job, work), daemon=True, name=f"relscape-job-{name}").start()
        return name

    def _run(self, job: Job, work: Callable[[], Any]) -> None:
        try:
            with self.computing, progress.reporting(job):
                job.result = work()
        except RelscapeError as error:
            job.failed = str(error)
        except Exception as error:  # a page is told whatever went wrong
            job.failed = f"this is a bug in relscape ({type(error).__name__}: {error})"
        finally:
            job.done = True

    def get(self, name: str) -> Job | None:
        """Find a job; None where there is none, or none any more."""
        return self._kept.get(name)

    @contextmanager
    def turn(self, seconds: float = 10.0) -> Iterator[None]:
        """Wait for one's turn to ask a model something."""
        if not self.computing.acquire(timeout=seconds):
            raise BusyError("a fit is under way; ask again when it has ended.")
        try:
            yield
        finally:
            self.computing.release()
