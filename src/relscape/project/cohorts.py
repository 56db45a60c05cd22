"""The experiments on COVA: sets mapped by its variants and by other methods, and how the maps are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from relscape import progress
from relscape.models.cova_variants import VARIANTS
from relscape.project import pictures
from relscape.project.cohort_fitting import (
    CHANCE,
    LINKS,
    NEIGHBOURS,
    POSITION,
    SEPARATION,
    CohortSet,
    cohort_sets,
    fitted,
    scored,
)
from relscape.project.cohort_graphs import KEPT, SHOWN, cohort_means, graph_scores
from relscape.project.cohort_run_pictures import MadeMap, run_pictures
from relscape.project.fitting import Placement
from relscape.project.outcome import Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NO_ALPHA", "PROCEDURES", "SPREAD", "spread"]

Settings = Mapping[str, Any]

SPREAD = "spread of cohorts"
NO_ALPHA = "–"


class _Fit(NamedTuple):
    """One map to be made: what it is called, by what method, with what α and options."""

    name: str
    method: str
    alpha: float | str
    options: dict[str, Any]


def maps(settings: Settings) -> Findings:
    """Make all maps of an experiment, and score them.

    ``runs`` in the settings are tables, each with a ``set``, a ``title`` if it is to be called otherwise, the
    ``options`` of COVA, and ``methods``: by name their own options, among them ``method`` where that is not
    the name. Variants of COVA are tried with each of the ``alphas``, or with their own ``alpha``; links of
    maps without prototypes are compared with those of the first map of their run that has some. Where the
    set says how alike its cohorts are, maps and prototypes are compared with that, too. Pictures are those
    of :func:`run_pictures`, and scores against α where ``curves`` is true.
    """
    findings = Findings(("set", "α"), (NEIGHBOURS, CHANCE, SEPARATION, POSITION, LINKS, SPREAD))
    runs = settings["runs"]
    sets, findings.notes = cohort_sets(dict.fromkeys(run["set"] for run in runs.values()), settings)
    if any(data.relation is not None for data in sets.values()):
        findings.measures = (*findings.measures, KEPT, SHOWN)
    runs = {name: run for name, run in runs.items() if run["set"] in sets}
    fits = {name: list(_fits(run, settings["random_state"])) for name, run in runs.items()}
    with progress.task("mapping cohorts", sum(map(len, fits.values()))) as task:
        for name, run in runs.items():
            data, wanted, made, warned = sets[run["set"]], None, list[MadeMap](), set[str]()
            for fit in fits[name]:
                placement = fitted(fit.method, data, fit.options, name=fit.name)
                wanted = placement.columns if wanted is None else wanted
                scores = _scores(data, placement, wanted)
                findings.add({"set": _title(run), "α": fit.alpha}, _once(placement, warned), scores)
                panel = fit.name if fit.alpha == NO_ALPHA else f"{fit.name}, α = {fit.alpha:g}"
                made.append(MadeMap(fit.name, panel, placement))
                task.advance()
            findings.pictures |= run_pictures(name, run, data, made, settings["random_state"])
    findings.pictures |= _curves(findings, [run for run in runs.values() if run.get("curves")])
    return findings


PROCEDURES: Mapping[str, Callable[[Settings], Findings]] = {"cohort-maps": maps}


def spread(placement: Placement, labels: Any) -> float:
    """Say how wide cohorts are: the RMS distance from their means, as a part of the prototypes' radius."""
    if placement.rows is None or placement.columns is None:
        return float("nan")
    codes = np.unique(labels, return_inverse=True)[1]
    means = cohort_means(placement.rows, labels)
    return _radius(placement.rows - means[codes]) / _radius(
        placement.columns - placement.columns.mean(axis=0)
    )


def _radius(points: Any) -> float:
    return float(np.sqrt((points**2).sum(axis=1).mean()))


def _scores(data: CohortSet, placement: Placement, wanted: Any) -> dict[str, float]:
    """Score a map; one without prototypes has its links compared with those of the wanted ones."""
    graph = {} if data.relation is None else graph_scores(data.labels, placement, data.relation)
    if placement.columns is None:
        return {**scored(data, placement, prototypes=wanted), **graph}
    return {**scored(data, placement), SPREAD: spread(placement, data.labels), **graph}


def _once(placement: Placement, warned: set[str]) -> Placement:
    """Leave out the warnings that another map of the run has already given."""
    fresh = tuple(text for text in placement.warnings if text not in warned)
    warned.update(fresh)
    return replace(placement, warnings=fresh)


def _title(run: Settings) -> str:
    return str(run.get("title", run["set"]))


def _curves(findings: Findings, runs: list[Settings]) -> dict[str, Figure]:
    """Draw the scores of some runs against α, with all maps of the same name and set."""
    followed = {(_title(run), method) for run in runs for method in run["methods"]}
    records = [r for r in findings.records if (r["set"], r["method"]) in followed and r["α"] != NO_ALPHA]
    records.sort(key=lambda record: record["α"])
    along = Findings(findings.keys, findings.measures, records)
    return pictures.curves(along, "α", (NEIGHBOURS, SEPARATION, POSITION))


def _fits(run: Settings, random_state: int) -> Iterator[_Fit]:
    """List the maps of a run: those of COVA, for every α, then those by other methods."""
    methods = {name: dict(own) for name, own in run["methods"].items()}
    named = {name: own.pop("method", name) for name, own in methods.items()}
    for pass_, alpha in enumerate(run.get("alphas", ())):
        for name, own in methods.items():
            if named[name] in VARIANTS and not (pass_ and "alpha" in own):
                options = {"alpha": alpha, "random_state": random_state, **run["options"], **own}
                yield _Fit(name, named[name], options["alpha"], options)
    for name, own in methods.items():
        if named[name] not in VARIANTS:
            yield _Fit(name, named[name], NO_ALPHA, {"random_state": random_state, **own})
