from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from relscape import progress


class Recorder:
    def __init__(self) -> None:
        self.seen: list[object] = []

    @contextmanager
    def task(self, title: str, total: int | None) -> Iterator[progress.Task]:
        self.seen.append((title, total))
        yield self
        self.seen.append("end")

    def advance(self, steps: int = 1) -> None:
        self.seen.append(steps)

    def note(self, text: str) -> None:
        self.seen.append(text)


def _work() -> None:
    progress.note("hello")
    with progress.task("reading", total=3) as task:
        task.advance()
        task.advance(2)


def test_silent_unless_someone_watches(capsys: pytest.CaptureFixture[str]) -> None:
    _work()
    assert capsys.readouterr() == ("", "")


def test_a_reporter_sees_everything_and_only_while_it_watches() -> None:
    recorder = Recorder()
    with progress.reporting(recorder):
        _work()
    _work()
    assert recorder.seen == ["hello", ("reading", 3), 1, 2, "end"]


def test_reporters_nest_and_end_with_an_error() -> None:
    outer, inner = Recorder(), Recorder()
    with progress.reporting(outer):
        with pytest.raises(ZeroDivisionError), progress.reporting(inner):
            raise ZeroDivisionError
        progress.note("after")
    assert outer.seen == ["after"]
    assert inner.seen == []


def test_another_thread_is_not_reported_here() -> None:
    recorder = Recorder()
    with progress.reporting(recorder):
        thread = Thread(target=progress.note, args=("elsewhere",))
        thread.start()
        thread.join()
    assert recorder.seen == []
