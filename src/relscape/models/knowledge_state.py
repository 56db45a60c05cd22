"""Checkpoints of a training: a saved model with the state of its training, written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relscape.errors import StorageError
from relscape.maps.files import (
    claimed,
    clear_drafts,
    replace_directory,
    restore_directory,
    storage_errors,
)
from relscape.maps.state import MODEL_FILES, ModelState
from relscape.models.state import is_saved_model

__all__ = [
    "CHECKPOINT",
    "check_run_directory",
    "checkpoint_in",
    "owned_run",
    "training_in",
    "write_model",
]

CHECKPOINT = "checkpoint"


def write_model(state: ModelState, directory: Path) -> None:
    """Write a model or a checkpoint; a directory that holds something else is refused."""
    replace_directory(directory, state.write, owned_run)


def checkpoint_in(directory: Path) -> Path:
    """Give the checkpoint of a training's directory, or the directory itself where it is one.

    A checkpoint that a writer had set aside when it was killed is brought back first.
    """
    for place in (directory / CHECKPOINT, directory):
        restore_directory(place, owned_run)
    inner = directory / CHECKPOINT
    return inner if is_saved_model(inner) else directory


def owned_run(directory: Path) -> set[str] | None:
    """Name the files of a saved model that may be replaced; None where a directory is not one of ours.

    A directory with nothing but the checkpoint of a training that was not finished is ours, too, and one
    with nothing but what a training left that was killed before its first.
    """
    if is_saved_model(directory):
        return set(MODEL_FILES)
    entries = {entry.name for entry in directory.iterdir()}
    drafts = {name for name in entries if name.startswith(f".{CHECKPOINT}")}
    rest = entries - drafts
    return set() if not rest or (rest == {CHECKPOINT} and is_saved_model(directory / CHECKPOINT)) else None


def check_run_directory(directory: Path) -> None:
    """Refuse early a place where a training could not be written."""
    with storage_errors("write", directory):
        if directory.exists() and not directory.is_dir():
            raise StorageError(f"cannot write {directory}: a file has that name; choose another.")
        if directory.is_dir() and any(directory.iterdir()) and owned_run(directory) is None:
            raise StorageError(
                f"cannot write {directory}: that directory holds something else; choose a new name or an "
                "earlier training to replace."
            )


@contextmanager
def training_in(directory: Path) -> Iterator[None]:
    """Keep a directory of checkpoints for one training; what a killed one left half written is removed."""
    with claimed(directory, "training"):
        clear_drafts(directory)
        yield
