"""Fitted models as directories, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from sklearn.utils.validation import check_is_fitted

from relscape.maps.files import replace_directory
from relscape.maps.spelling import expanded
from relscape.models.state import is_saved_model, model_from_state, model_state, read_state

__all__ = ["SavedModel", "owned_files"]


class SavedModel:
    """A model that can be saved and loaded; a base of estimators."""

    def save(self, path: str | Path) -> Path:
        """Write the fitted model as a directory, whole or not at all; returns where."""
        check_is_fitted(self)
        directory = expanded(path)
        replace_directory(directory, model_state(self).write, owned_files)
        return directory

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model of this class that was saved."""
        model: Self = model_from_state(cls, read_state(path))
        return model


def owned_files(directory: Path) -> set[str] | None:
    """Name the files of a saved model, or nothing where a directory is not one of ours."""
    return {"model.json", "model.safetensors"} if is_saved_model(directory) else None
