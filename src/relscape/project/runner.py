"""Running an experiment again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from relscape import progress
from relscape.errors import ParameterError, StorageError
from relscape.project import (
    coembedding,
    cohort_studies,
    cohorts,
    cooccurrence,
    knowledge,
    network,
    projection,
    sizes,
)
from relscape.project.experiments import Experiment, experiment
from relscape.project.outcome import Findings, Verdict
from relscape.project.verdicts import judged

__all__ = ["LASTING", "PROCEDURES", "Run", "run_experiment"]

PROCEDURES = {
    **coembedding.PROCEDURES,
    **cooccurrence.PROCEDURES,
    **cohorts.PROCEDURES,
    **cohort_studies.PROCEDURES,
    **sizes.PROCEDURES,
}
# These take long: what is done is kept in the folder of the results, and not done again.
LASTING = {**knowledge.PROCEDURES, **network.PROCEDURES, **projection.PROCEDURES}


@dataclass(frozen=True, eq=False)
class Run:
    """One run of an experiment: its settings, findings, verdicts, how long it took and the day it ended."""

    experiment: Experiment
    quick: bool
    settings: Mapping[str, Any]
    findings: Findings
    verdicts: list[Verdict]
    seconds: float
    packages: Mapping[str, str]
    date: str = ""


def run_experiment(
    name: str, quick: bool = False, folder: Path | None = None, only: Iterable[str] = ()
) -> Run:
    """Run an experiment by its name; ``quick`` takes a small part of it, to see that it works.

    An experiment that lasts keeps what is done in ``folder`` and goes on from there; ``only`` chooses by
    patterns what to do of the rest.

    Data sets that are not on this machine are left out with a note; where none is left, their absence is
    the error.
    """
    chosen = experiment(name)
    settings = chosen.chosen(quick)
    if not quick:
        progress.note(f"{name} takes {chosen.cost}.")
    started = time.perf_counter()
    if chosen.procedure in LASTING:
        findings = LASTING[chosen.procedure](chosen, settings, folder, only)
    elif list(only):
        raise ParameterError(f"only: {name} is run as a whole; leave it out.")
    else:
        findings = PROCEDURES[chosen.procedure](settings)
    if not findings.records:
        raise StorageError(f"{name} has no data to run on: " + " ".join(dict.fromkeys(findings.notes)))
    return Run(
        chosen,
        quick,
        settings,
        findings,
        judged(chosen, findings),
        time.perf_counter() - started,
        {package: version(package) for package in ("relscape", "numpy", "scipy", "scikit-learn")},
        datetime.now(UTC).date().isoformat(),
    )
