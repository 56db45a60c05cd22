"""Fitted models to plain values and back, without a pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from relscape.data import EntitySet
from relscape.errors import FormatError, ParameterError, StorageError
from relscape.maps.files import read_directory, storage_errors
from relscape.maps.spelling import expanded
from relscape.maps.state import FORMAT, VERSION, ModelState, read_json
from relscape.models.prototype_names import in_order_of
from relscape.models.storing import STORED_CLASSES, restore, store
from relscape.protocols import AnyArray, BlockedRelation
from relscape.solvers.result import SolveResult

__all__ = ["is_saved_model", "model_from_state", "model_state", "plain_parameters", "read_state"]

_MOST_LISTED = 1_000  # entries of an array that the header spells out


def plain_parameters(model: Any) -> dict[str, Any]:
    """Give a model's parameters as JSON can say them, settings objects by their fields.

    Small arrays become lists, of large and sparse ones only the shape is said; generators are refused.
    """
    return _parameters(model, {})


def _parameters(model: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """Give the parameters as JSON can say them, and put what it cannot with the arrays."""
    given = model.get_params(deep=False)
    if "prototypes" in given and hasattr(model, "cohorts_"):
        given["prototypes"] = in_order_of(model.cohorts_, given["prototypes"])
    return {name: _finite(_parameter(value, f"parameters.{name}", arrays)) for name, value in given.items()}


def _parameter(value: Any, name: str, arrays: dict[str, Any]) -> Any:
    if type(value).__name__ in STORED_CLASSES or issparse(value) or isinstance(value, BlockedRelation):
        return store(name, value, arrays)
    if hasattr(value, "__dataframe__"):  # a matrix in a data frame
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return store(name, value, arrays) if value.size > _MOST_LISTED else value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return list(value)
    if not isinstance(value, str | int | float | bool | list | dict | None):
        raise ParameterError(
            f"{name.removeprefix('parameters.')}={value!r} cannot be stored with the model; give plain "
            "numbers, texts or arrays (for random_state an integer)."
        )
    return value


def _finite(value: Any) -> Any:
    """Write infinities and NaN, which JSON does not have, as texts."""
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def _number(value: Any) -> Any:
    """Read back what :func:`_finite` wrote."""
    if isinstance(value, Mapping):
        return {key: _number(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_number(part) for part in value]
    return float(value) if value in ("inf", "-inf", "nan") else value


def model_state(model: Any) -> ModelState:
    """Lay down everything a model has learned: all its attributes that end in an underscore."""
    values: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for name, learned in vars(model).items():
        if not name.endswith("_") or name.startswith("_"):
            continue
        if isinstance(learned, EntitySet):
            values[name] = {"kind": learned.kind, "fields": list(learned.fields)}
            _lay_down(f"{name}.ids", learned.ids, arrays, texts)
            if learned.labels is not None:
                _lay_down(f"{name}.labels", learned.labels, arrays, texts)
            for field, column in learned.fields.items():
                _lay_down(f"{name}.fields.{field}", column, arrays, texts)
        elif isinstance(learned, SolveResult):
            values[name] = _finite({n: v for n, v in vars(learned).items() if n != "point"})
            arrays[f"{name}.point"] = learned.point
        elif isinstance(learned, np.ndarray):
            _lay_down(name, learned, arrays, texts)
        else:
            values[name] = _finite(store(name, learned, arrays))
    return ModelState(type(model).__name__, _parameters(model, arrays), values, arrays, texts)


def _lay_down(name: str, array: AnyArray, arrays: dict[str, Any], texts: dict[str, Any]) -> None:
    """Put an array of numbers with the numbers, one of texts with the texts, noting what is missing."""
    if array.dtype.kind in "biuf":
        arrays[name] = array
        return
    missing = np.array([entry is None for entry in array])
    texts[name] = np.where(missing, "", array.astype(object))
    if missing.any():
        arrays[f"{name}.missing"] = missing


def _pick_up(name: str, state: ModelState) -> AnyArray | None:
    if name in state.arrays:
        return state.arrays[name]
    column = state.texts.get(name)
    missing = state.arrays.get(f"{name}.missing")
    if column is None or missing is None:
        return column
    whole = column.copy()
    whole[missing] = None
    return whole


def model_from_state(cls: type[Any], state: ModelState) -> Any:
    """Build a fitted model of class ``cls`` from what :func:`model_state` laid down."""
    if state.model != cls.__name__:
        raise FormatError(f"this is a saved {state.model}, not a {cls.__name__}.")
    try:
        given = _number(state.parameters)
        model = cls(**{name: restore(f"parameters.{name}", v, state.arrays) for name, v in given.items()})
        for name, learned in state.values.items():
            if isinstance(learned, Mapping) and f"{name}.ids" in state.texts:
                setattr(model, name, _entities(name, learned, state))
            elif isinstance(learned, Mapping) and f"{name}.point" in state.arrays:
                point = state.arrays[f"{name}.point"]
                setattr(model, name, SolveResult(point, **_number(learned)))
            else:
                setattr(model, name, restore(name, _number(learned), state.arrays))
        for name in (*state.arrays, *state.texts):
            if "." not in name:
                setattr(model, name, _pick_up(name, state))
    except (TypeError, LookupError, AttributeError, ValueError, ArithmeticError) as error:
        raise FormatError(
            f"this saved {state.model} is damaged or of another version ({error}); fit it again."
        ) from error
    return model


def _entities(name: str, described: Mapping[str, Any], state: ModelState) -> EntitySet:
    fields = {field: _pick_up(f"{name}.fields.{field}", state) for field in described["fields"]}
    return EntitySet(
        described["kind"],
        state.texts[f"{name}.ids"],
        state.texts.get(f"{name}.labels"),
        {field: column for field, column in fields.items() if column is not None},
    )


def read_state(path: str | Path) -> ModelState:
    """Read a saved model's state; anything that is none is refused with its path."""
    directory = expanded(path)
    if not directory.is_dir():
        raise FormatError(f"{directory} is not a directory; a saved model is one with model.json in it.")
    with storage_errors("read", directory):
        return read_directory(directory, ModelState.read)


def is_saved_model(directory: Path) -> bool:
    """Tell whether a directory holds a model of ours."""
    try:
        read_json(directory / "model.json", FORMAT, VERSION)
    except (StorageError, OSError):
        return False
    return True
