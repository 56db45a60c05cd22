"""Checks of parameters: what is no use is refused by name, before any work is done."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from relscape.errors import ParameterError, UnknownNameError

__all__ = [
    "LARGEST",
    "as_number",
    "check_choice",
    "check_dimensions",
    "check_flags",
    "check_integer",
    "check_number",
    "generator",
    "is_auto",
    "shown",
]

_MOST = 2**31 - 1  # of any count: more can neither be held nor waited for
_MOST_DIMENSIONS = 10_000
LARGEST = 1e100  # of any number: its square can still be computed with
_LONGEST = 80  # letters of a value in a message


def shown(value: Any) -> str:
    """Write a value for a message: in one line, and not longer than one."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no whole number of more than some thousand digits
        return "a number of thousands of digits"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def as_number(value: Any) -> float:
    """Give a parameter as a float: infinite beyond what floats hold, NaN where it is no number at all."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def check_integer(name: str, value: Any, least: int, most: int = _MOST) -> None:
    """Refuse a parameter that is not an integer of at least ``least``, or that asks for too much."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{name}={shown(value)}: give an integer of at least {least}.")
    if value > most:
        raise ParameterError(f"{name}={shown(value)}: give an integer from {least} to {most}.")


def check_dimensions(name: str, value: Any) -> None:
    """Refuse a number of axes, topics or communities that no space has."""
    check_integer(name, value, 1, _MOST_DIMENSIONS)


def check_number(name: str, value: Any, least: float, most: float = LARGEST) -> None:
    """Refuse a parameter that is not a number of at least ``least``, or that is too large to compute with."""
    number = as_number(value)
    if not np.isfinite(number) or number < least:
        raise ParameterError(f"{name}={shown(value)}: give a number of at least {least:g}.")
    if number > most:
        raise ParameterError(f"{name}={shown(value)}: give a number from {least:g} to {most:g}.")


def check_flags(model: Any, *names: str) -> None:
    """Refuse parameters that are neither True nor False: any text, "no" too, would count as True."""
    for name in names:
        value = getattr(model, name)
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{name}={shown(value)}: give True or False.")


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is left to the model."""
    return isinstance(value, str) and value == "auto"


def check_choice(name: str, value: Any, known: Collection[str]) -> None:
    """Refuse a parameter that is none of the names there are."""
    if not isinstance(value, str) or value not in known:
        raise UnknownNameError(name, value if isinstance(value, str) else shown(value), known)


def generator(random_state: Any) -> np.random.Generator:
    """Give the generator that a seed stands for."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"random_state={shown(random_state)}: give an integer of at least 0, a numpy Generator, or None."
        ) from error
