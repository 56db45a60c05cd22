"""Settings that every relation may have of its own: models and weights, by its kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from relscape.errors import ParameterError, UnknownNameError, listing
from relscape.models.checks import shown
from relscape.models.relations import Key, named
from relscape.objectives.cooccurrence import MODELS, check_model
from relscape.objectives.multiway import check_tuple_model

__all__ = ["letters_of", "texts_of", "weights_of"]

WEIGHTS = ("balanced", "equal")


def letters_of(given: Any, keys: Sequence[Key]) -> dict[Key, str]:
    """Find the model of every relation: its own, or the one for all of its size, or CM and all M."""
    for_all = isinstance(given, str) and "=" not in given
    own = {} if for_all else by_relation("models", given, keys)
    sizes = sorted({len(key) for key in keys})
    if for_all and len(given) not in {2, *sizes}:
        raise UnknownNameError("model", given, MODELS)
    letters = {}
    for key in keys:
        usual = "CM" if len(key) == 2 else "M" * len(key)
        model = given if for_all and len(given) == len(key) else own.get(key, usual)
        letters[key] = check_model(model) if len(key) == 2 else check_tuple_model(model, len(key))
    return letters


def weights_of(given: Any, keys: Sequence[Key], n_cells: Sequence[float]) -> list[float]:
    """Find the weight of every relation: by a rule from the sizes of the tables, or as given for each."""
    if isinstance(given, str) and "=" not in given:
        if given not in WEIGHTS:
            raise UnknownNameError("rule for weights", given, WEIGHTS)
        sizes = np.ones(len(keys)) if given == "equal" else 1.0 / np.asarray(n_cells)
        return [float(weight) for weight in sizes / sizes.sum()]
    own = by_relation("weights", given, keys)
    absent = [named(key) for key in keys if key not in own]
    if absent:
        raise ParameterError(f"weights: {listing(absent)} has none; give every relation one.")
    weights = [_nonnegative(named(key), own[key]) for key in keys]
    if not any(weights):
        raise ParameterError("weights: all are 0; give at least one relation a positive one.")
    return weights


def _nonnegative(name: str, value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError, OverflowError):
        weight = np.nan
    if not (np.isfinite(weight) and weight >= 0):
        raise ParameterError(f"weights: {name} has {shown(value)}; give a number of at least 0.")
    return weight


def by_relation(what: str, given: Any, keys: Sequence[Key]) -> dict[Key, Any]:
    """Read a setting that each relation may have of its own.

    ``given`` is a dict by tuples of kinds or by names such as "doc-word", or a text
    "doc-word=CM,author-word=MC". Relations it does not name are left out of the answer.
    """
    if isinstance(given, str):
        given = dict(part.partition("=")[::2] for part in given.split(","))
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"{what}={shown(given)}: give one text for all relations, or a dict by relation, such as "
            f"{{{next(iter(map(named, keys)))!r}: ...}}."
        )
    known = {named(key): key for key in keys}
    found = {}
    for name, value in given.items():
        text = (
            name.strip() if isinstance(name, str) else named(name) if isinstance(name, tuple) else shown(name)
        )
        if text not in known:
            raise UnknownNameError("relation", text, known, what)
        found[known[text]] = value
    return found


def texts_of(given: Any) -> Any:
    """Write a setting by kind or relation with text keys and lists, as files keep it; leave others alone."""
    if not isinstance(given, Mapping):
        return given
    names = [name if isinstance(name, str) else named(name) for name in given]
    values = [value.tolist() if isinstance(value, np.ndarray) else value for value in given.values()]
    return dict(zip(names, values, strict=True))
