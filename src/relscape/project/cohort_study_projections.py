"""Projections learned from some samples and tried on the others, beside discriminant analyses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relscape import progress
from relscape.project.cohort_fitting import (
    CohortSet,
    cohort_sets,
    cova_of,
    scored,
    timed,
)
from relscape.project.cohort_pictures import Drawn, cohort_maps
from relscape.project.cohort_study_tools import SCORES, Settings, curves, mean_of, together
from relscape.project.fitting import Placement
from relscape.project.outcome import Findings
from relscape.protocols import BoolArray

__all__ = ["CLASSES", "TRAINING", "of_classes", "projected", "projections", "trained_on"]

CLASSES, TRAINING = "classes", "training %"


def projections(settings: Settings) -> Findings:
    """Learn projections of few and many classes, and from few and many samples; score those held out."""
    findings = Findings(("set", CLASSES, TRAINING), SCORES)
    sets, findings.notes = cohort_sets(settings["sets"], settings)
    usual = settings["usual"]
    places = {
        name: dict.fromkeys(
            [(count, usual[TRAINING]) for count in settings["sets"][name][CLASSES]]
            + [(usual[CLASSES], share) for share in settings["training"]]
        )
        for name in sets
    }
    drawn: dict[str, Drawn] = {}
    steps = sum(map(len, places.values())) * len(settings["methods"]) * settings["draws"]
    with progress.task("learning projections", steps) as task:
        for name, data in sets.items():
            for count, share in places[name]:
                for method in settings["methods"]:
                    maps, scores, tried = [], [], data
                    for seed in range(settings["random_state"], settings["random_state"] + settings["draws"]):
                        part = of_classes(data, count, seed)
                        train = trained_on(part, share / 100, seed)
                        maps.append(projected(method, part, train, settings))
                        tried = _among(part, ~train)
                        scores.append(scored(tried, maps[-1], random_state=settings["random_state"]))
                        task.advance()
                    place = {"set": name, CLASSES: count, TRAINING: share}
                    findings.add(place, together(maps), mean_of(scores))
                    if (name, count, share) == (settings["drawn"], usual[CLASSES], usual[TRAINING]):
                        drawn[method] = (maps[-1].rows, tried.labels, maps[-1].columns)
    findings.pictures |= curves("by_classes", findings.records, CLASSES, {TRAINING: usual[TRAINING]})
    findings.pictures |= curves("by_training", findings.records, TRAINING, {CLASSES: usual[CLASSES]})
    if drawn:
        findings.pictures["maps"] = cohort_maps(drawn)
    return findings


def of_classes(data: CohortSet, count: int, seed: int) -> CohortSet:
    """Keep the samples of so many classes drawn by seed; more classes hold those of fewer."""
    drawn = np.random.default_rng(seed).permutation(np.unique(data.labels))[:count]
    return _among(data, np.isin(data.labels, drawn))


def trained_on(data: CohortSet, share: float, seed: int) -> BoolArray:
    """Draw a share of the samples of every class to learn from, at least two."""
    rng = np.random.default_rng(seed)
    train = np.zeros(len(data.labels), dtype=bool)
    for name in np.unique(data.labels):
        members = rng.permutation(np.flatnonzero(data.labels == name))
        train[members[: max(2, round(share * len(members)))]] = True
    return train


def _among(data: CohortSet, there: BoolArray) -> CohortSet:
    index = np.flatnonzero(there)
    return replace(data, X=data.X[index], labels=data.labels[index])


def projected(method: str, data: CohortSet, train: BoolArray, settings: Settings) -> Placement:
    """Learn from some samples, and place the others.

    A method says its ``variant`` of COVA, or "lda" or "nca", which see the leading singular directions of the
    features, and whether its features are ``compact``.
    """
    chosen, seed = settings["methods"][method], settings["random_state"]
    own = settings["sets"][data.name]

    def make() -> Any:
        fit, held_out = _among(data, train), data.X[np.flatnonzero(~train)]
        if chosen["variant"] in ("lda", "nca"):
            model = _discriminant(chosen["variant"], settings["directions"], seed)
            return model.fit(fit.X, fit.labels).transform(held_out), None, {}
        options = {**own["cova"], "features": {**own["features"], "compact": chosen.get("compact", False)}}
        model = cova_of(chosen["variant"], {**options, "random_state": seed}, fit).fit(fit.X, fit.labels)
        result = model.solve_result_
        told = {"iterations": result.iterations, "converged": result.converged, "stopped": result.reason}
        return model.transform(held_out), model.prototypes_, told

    return timed(method, make)


def _discriminant(name: str, directions: int, seed: int) -> Any:
    """Make LDA or NCA of scikit-learn on the leading singular directions of the features."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.neighbors import NeighborhoodComponentsAnalysis
    from sklearn.pipeline import make_pipeline

    model = (
        LinearDiscriminantAnalysis(n_components=2)
        if name == "lda"
        else NeighborhoodComponentsAnalysis(2, init="pca", max_iter=50, random_state=seed)
    )
    return make_pipeline(TruncatedSVD(directions, random_state=seed), model)
