"""What an experiment gives: records, verdicts on claims, notes and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from relscape.errors import StorageError
from relscape.project.fitting import Placement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Findings", "Record", "Verdict", "by_place", "methods_in"]

Record = dict[str, Any]
Data = TypeVar("Data")


@dataclass(frozen=True)
class Verdict:
    """Whether a claim was reached, and why or why not."""

    claim: str
    text: str
    outcome: str
    why: str


@dataclass(eq=False)
class Findings:
    """The records of one experiment as they gather.

    A record names its place by ``keys`` (such as set and axes) and its method; ``measures`` are
    the numbers in it. Notes say what was left out and why. ``tables``, where there are any, are titles with
    the measures that are shown together under them.
    """

    keys: tuple[str, ...]
    measures: tuple[str, ...]
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pictures: dict[str, Figure] = field(default_factory=dict)
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def loaded(self, load: Callable[[], Data]) -> Data | None:
        """Load a data set, or note what is missing and how to get it."""
        try:
            return load()
        except StorageError as error:
            self.notes.append(str(error))
            return None

    def add(self, place: Record, placement: Placement, scores: Record) -> None:
        """Keep one result; a refusal is noted once for every set."""
        said = f"{place[self.keys[0]]}, {placement.method}"
        for text in (placement.refusal, *placement.warnings):
            line = f"{said}: {text}"
            if text and line not in self.notes:
                self.notes.append(line)
        self.records.append(
            {
                **place,
                "method": placement.method,
                **scores,
                "seconds": round(placement.seconds, 3),
                "CPU seconds": round(placement.cpu_seconds, 3),
                "refusal": placement.refusal,
                "chosen": dict(placement.chosen),
            }
        )


def methods_in(records: Iterable[Record]) -> list[str]:
    """List the methods of records in the order in which they first occur."""
    return list(dict.fromkeys(record["method"] for record in records))


def by_place(
    records: Iterable[Record], keys: tuple[str, ...], measure: str, by: str = "method"
) -> dict[tuple[Any, ...], dict[str, float]]:
    """Gather one measure: for every place, its value by method (or another key), where there is one."""
    table: dict[tuple[Any, ...], dict[str, float]] = {}
    for record in records:
        values = table.setdefault(tuple(record[key] for key in keys), {})
        if record.get(measure) is not None:
            values[record[by]] = record[measure]
    return table
