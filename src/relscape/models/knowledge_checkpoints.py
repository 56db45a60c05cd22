"""Checkpoints written while a model is trained, now and then and where a person stops it with Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relscape import progress
from relscape.models.knowledge_settings import Plan
from relscape.models.knowledge_state import training_in, write_model
from relscape.models.knowledge_training import Run
from relscape.models.state import model_state

__all__ = ["Checkpoints", "TrainingStopped"]


class TrainingStopped(KeyboardInterrupt):
    """A person stopped a training that has a checkpoint: after which epoch, of how many, and where it is."""

    def __init__(self, epoch: int, n_epochs: int, directory: Path) -> None:
        super().__init__(
            f"stopped; the checkpoint after epoch {epoch} of {n_epochs} is in {directory}: "
            f"KGEmbedding.resume({str(directory)!r}) goes on."
        )
        self.epoch, self.n_epochs, self.directory = epoch, n_epochs, directory


class Checkpoints:
    """Writes a model under training, with the state of its training, every so many epochs.

    ``epoch`` is that of the last one, None as long as there is none.
    """

    def __init__(self, model: Any, plan: Plan, directory: Path, every: int, epoch: int | None = None) -> None:
        self.model, self.plan, self.directory, self.every, self.epoch = model, plan, directory, every, epoch
        self.asked = _Asked()

    @contextmanager
    def under_way(self, here: bool) -> Iterator[None]:
        """Keep the directory for this training, and where all of it is ``here``, let Ctrl-C wait.

        The workers of a cluster on the same terminal are told of Ctrl-C too, and finish no epoch.
        """
        with training_in(self.directory), _ctrl_c_waits(self.asked) if here else nullcontext():
            yield

    def look(self, run: Run) -> None:
        """Write a checkpoint where one is due: before the first epoch, every so many, and after the last.

        One is due, too, where a person has asked to stop; then this raises KeyboardInterrupt.
        """
        if run.stage_epoch % self.every and not run.finished(self.plan) and not self.asked.to_stop:
            return
        self.model._take(run)
        self.model.training_ = run.stored(self.every, self.plan.n_epochs)
        write_model(model_state(self.model), self.directory)
        self.epoch = run.epoch
        del self.model.training_
        if self.asked.to_stop:
            raise KeyboardInterrupt


@dataclass
class _Asked:
    """Whether a person has asked a training to stop."""

    to_stop: bool = False


@contextmanager
def _ctrl_c_waits(asked: _Asked) -> Iterator[None]:
    """Let the first Ctrl-C only be noted in ``asked``; a second one stops at once, as usual.

    Signals reach the main thread alone, and whoever handles them otherwise goes on to do so: then nothing
    changes.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.default_int_handler:
        yield
        return

    def note_it(*_: Any) -> None:
        signal.signal(signal.SIGINT, usual)
        asked.to_stop = True
        progress.note("stopping after this epoch, with a checkpoint; Ctrl-C again stops at once")

    signal.signal(signal.SIGINT, note_it)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if asked.to_stop:  # after the last look at it
        raise KeyboardInterrupt
