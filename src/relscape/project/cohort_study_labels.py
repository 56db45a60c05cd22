"""How few labels are enough: some labels of every class are given, the rest predicted by neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from relscape import progress
from relscape.matrix.completion import completed_codes
from relscape.project.cohort_fitting import (
    CohortSet,
    cohort_sets,
    fitted,
    scored,
)
from relscape.project.cohort_pictures import Drawn, cohort_maps
from relscape.project.cohort_study_tools import SCORES, Settings, curves, mean_of, together
from relscape.project.fitting import Placement
from relscape.project.outcome import Findings, Record
from relscape.protocols import TextArray

__all__ = ["GIVEN", "RIGHT", "given_labels", "labels", "predicted_labels"]

GIVEN, RIGHT = "labels %", "labels right"


def labels(settings: Settings) -> Findings:
    """Map sets of which few samples have labels, and score the maps by the labels of all.

    Maps without prototypes are held against those that COVA arranges when it knows all labels.
    """
    findings = Findings(("set", GIVEN), (*SCORES, RIGHT))
    sets, findings.notes = cohort_sets(settings["sets"], settings)
    steps = len(sets) * len(settings["given"]) * settings["draws"] * len(settings["methods"])
    with progress.task("forgetting labels", steps) as task:
        for name, data in sets.items():
            wanted = fitted("E1", data, _options(settings, name, "E1")).columns
            drawn: dict[str, Drawn] = {}
            for share in settings["given"]:
                for method, tried in _tried(data, share / 100, wanted, settings, task).items():
                    maps = [map_ for map_, _ in tried]
                    scores = mean_of([scores for _, scores in tried])
                    findings.add({"set": name, GIVEN: share}, together(maps), scores)
                    if share in settings["drawn"]:
                        drawn[f"{method}: {share} % labels"] = (maps[0].rows, data.labels, maps[0].columns)
            findings.pictures[f"maps-{name}"] = cohort_maps(drawn)
    findings.pictures |= curves("by_labels", findings.records, GIVEN)
    return findings


def _tried(
    data: CohortSet, share: float, wanted: Any, settings: Settings, task: Any
) -> dict[str, list[tuple[Placement, Record]]]:
    """Map a set by every method from a share of its labels, drawn several times."""
    seed, methods = settings["random_state"], settings["methods"]
    tried: dict[str, list[tuple[Placement, Record]]] = {method: [] for method in methods}
    for draw in range(settings["draws"]):
        given = given_labels(data.labels, share, np.random.default_rng([seed, draw]))
        predicted = predicted_labels(data, given)
        right = 100 * float((predicted == data.labels).mean())
        for method, chosen in methods.items():
            known = predicted if chosen.get("predicted") else given
            map_ = fitted(chosen["method"], data, _options(settings, data.name, method), known, method)
            aim = wanted if map_.columns is None else None
            scores = scored(data, map_, prototypes=aim, random_state=seed)
            tried[method].append((map_, {**scores, RIGHT: right}))
            task.advance()
    return tried


def given_labels(truth: TextArray, share: float, rng: np.random.Generator) -> TextArray:
    """Keep a share of the labels of every class, at least one, and put None for the others."""
    given = np.full(len(truth), None, dtype=object)
    for name in np.unique(truth):
        members = rng.permutation(np.flatnonzero(truth == name))
        kept = members[: max(1, round(share * len(members)))]
        given[kept] = truth[kept]
    return given


def predicted_labels(data: CohortSet, given: TextArray) -> TextArray:
    """Let the nearest samples with a label say the others', as COVA does itself."""
    names = np.unique(data.labels)
    codes = np.array([-1 if label is None else np.searchsorted(names, label) for label in given])
    return np.asarray(names[completed_codes(data.X, codes, metric=data.metric)])


def _options(settings: Settings, name: str, method: str) -> Settings:
    """Give the parameters of a method: its own, and for COVA those that fit the set."""
    chosen = settings["methods"][method]
    shared = settings["sets"][name] if chosen["method"] in settings["variants"] else settings["others"][name]
    return {**shared, **chosen.get("options", {}), "random_state": settings["random_state"]}
