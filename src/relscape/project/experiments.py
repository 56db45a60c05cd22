"""Published experiments as data: what is run, on what, and what was claimed of it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from relscape.errors import UnknownNameError

__all__ = ["Claim", "Experiment", "experiment", "experiments"]


@dataclass(frozen=True)
class Claim:
    """One sentence of a publication that an experiment can bear out or not."""

    name: str
    text: str


@dataclass(frozen=True, eq=False)
class Experiment:
    """One experiment: its settings, those of a quick trial, the claims, and figures to set ours beside.

    ``figures`` are tables with the columns that tell their place (set, axes), a ``measure`` and
    ``values`` by method.
    """

    name: str
    title: str
    procedure: str
    reference: str
    about: str
    cost: str
    settings: Mapping[str, Any]
    quick: Mapping[str, Any]
    claims: tuple[Claim, ...]
    figures: tuple[Mapping[str, Any], ...]

    def chosen(self, quick: bool) -> dict[str, Any]:
        """Give the settings to run with; a quick trial replaces some."""
        return {**self.settings, **(self.quick if quick else {})}


def experiments() -> dict[str, Experiment]:
    """Read every experiment that comes with relscape, in the order of their names."""
    folder = files("relscape.project") / "experiments"
    entries = sorted((entry for entry in folder.iterdir()), key=lambda entry: entry.name)
    named = {e.name.removesuffix(".toml"): e for e in entries if e.name.endswith(".toml")}
    return {name: _parsed(name, entry.read_text(encoding="utf-8")) for name, entry in named.items()}


def experiment(name: str) -> Experiment:
    """Find an experiment by its name."""
    known = experiments()
    if name not in known:
        raise UnknownNameError("experiment", name, known)
    return known[name]


def _parsed(name: str, text: str) -> Experiment:
    content = tomllib.loads(text)
    claims = tuple(Claim(**claim) for claim in content.pop("claims"))
    figures = tuple(content.pop("figures", ()))
    about = " ".join(content.pop("about").split())
    return Experiment(name=name, about=about, claims=claims, figures=figures, **content)
