"""Every table and figure of the publications: which experiment shows it, or what data that would take."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["STATES", "Item", "MissingData", "Publication", "publications"]

# What can be said of a table or figure, and how it is told.
STATES = {
    "covered": "shown",
    "partly": "in part",
    "no data": "no data",
    "illustration": "nothing to measure",
}


@dataclass(frozen=True)
class MissingData:
    """A data set that was published on and is not here: what it is, and who has it."""

    what: str
    publisher: str


@dataclass(frozen=True)
class Item:
    """A table or figure: its number, what it shows, the experiments that do, and what is missing.

    ``stand_ins`` do the same on other data; ``note`` says what differs, or is not shown, and why.
    """

    number: str
    what: str
    state: str
    experiments: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    missing: tuple[MissingData, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Publication:
    """A publication and its tables and figures, in its own order."""

    name: str
    authors: str
    title: str
    year: int | None
    items: tuple[Item, ...]

    @property
    def reference(self) -> str:
        """Name authors, year and title in one line."""
        year = f" ({self.year})" if self.year else ""
        return f"{self.authors}{year}: {self.title}"


@cache
def publications() -> tuple[Publication, ...]:
    """Read what comes with relscape."""
    content = tomllib.loads((files("relscape.project") / "publications.toml").read_text(encoding="utf-8"))
    data = {name: MissingData(**entry) for name, entry in content["data"].items()}
    items: dict[str, list[Item]] = {name: [] for name in content["papers"]}
    for entry in content["items"]:
        experiments, stand_ins = (tuple(entry.pop(name, ())) for name in ("experiments", "stand_ins"))
        missing = tuple(data[name] for name in entry.pop("missing", ()))
        items[entry.pop("paper")].append(
            Item(**entry, experiments=experiments, stand_ins=stand_ins, missing=missing)
        )
    return tuple(
        Publication(name, paper["authors"], paper["title"], paper.get("year"), tuple(items[name]))
        for name, paper in content["papers"].items()
    )
