"""Fitted models to plain values and back, without a pickle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from relscape.data import EntitySet
from relscape.errors import FormatError, ParameterError
from relscape.maps.state import ModelState

__all__ = ["model_from_state", "model_state", "plain_parameters"]


def plain_parameters(model: Any) -> dict[str, Any]:
    """Give a model's parameters as JSON can say them; arrays become lists, generators are refused."""
    plain = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, np.ndarray):
            value = value.tolist()
        elif isinstance(value, np.generic):
            value = value.item()
        elif isinstance(value, tuple):
            value = list(value)
        elif not isinstance(value, str | int | float | bool | list | dict | None):
            raise ParameterError(
                f"{name}={value!r} cannot be stored with the model; give plain numbers, texts or arrays "
                "(for random_state an integer)."
            )
        plain[name] = value
    return plain


def model_state(model: Any) -> ModelState:
    """Lay down everything a model has learned: all its attributes that end in an underscore."""
    values: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for name, learned in vars(model).items():
        if not name.endswith("_") or name.startswith("_"):
            continue
        if isinstance(learned, EntitySet):
            values[name] = {"kind": learned.kind, "labelled": learned.labels is not None}
            texts[f"{name}.ids"] = learned.ids
            if learned.labels is not None:
                texts[f"{name}.labels"] = learned.labels
        elif isinstance(learned, np.ndarray):
            (texts if learned.dtype == object else arrays)[name] = learned
        else:
            values[name] = learned
    return ModelState(type(model).__name__, plain_parameters(model), values, arrays, texts)


def model_from_state(cls: type[Any], state: ModelState) -> Any:
    """Build a fitted model of class ``cls`` from what :func:`model_state` laid down."""
    if state.model != cls.__name__:
        raise FormatError(f"this is a saved {state.model}, not a {cls.__name__}.")
    try:
        model = cls(**state.parameters)
    except TypeError as error:
        raise FormatError(f"this saved {state.model} has parameters of another version ({error}).") from error
    for name, learned in {**state.values, **state.arrays}.items():
        if isinstance(learned, Mapping) and f"{name}.ids" in state.texts:
            learned = EntitySet(
                learned["kind"], state.texts[f"{name}.ids"], state.texts.get(f"{name}.labels")
            )
        setattr(model, name, learned)
    for name, names in state.texts.items():
        if "." not in name:
            setattr(model, name, names)
    return model
