"""How the weights matter: cohorts against neighbours (α), and in eigen-COVA nearness against room (η)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relscape import progress
from relscape.project.cohort_fitting import (
    CohortSet,
    cohort_sets,
    fitted,
    scored,
)
from relscape.project.cohort_pictures import Drawn, cohort_maps
from relscape.project.cohort_study_tools import SCORES, Settings, curves
from relscape.project.outcome import Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EIGEN", "NONE", "weights"]

EIGEN, NONE = "eigen", "–"
SIZED = ("E2", "E3")  # whose prototypes would be of another size at every α


def weights(settings: Settings) -> Findings:
    """Map every set by every variant over its range of α, and by eigen-COVA over a grid of α and η."""
    findings = Findings(("set", "α", "η"), SCORES)
    sets, findings.notes = cohort_sets(settings["sets"], settings)
    grid, seed = list(_grid(settings)), settings["random_state"]
    with progress.task("trying weights", len(sets) * len(grid)) as task:
        for name, data in sets.items():
            shared = {**settings["sets"][name], "random_state": seed}
            sizes = {variant: _size(variant, data, shared, settings["sized"]) for variant in SIZED}
            made: dict[tuple[str, float, Any], Drawn] = {}
            idle: dict[str, list[str]] = {f"{alpha:g}": [] for alpha in settings["alphas"][EIGEN]}
            for variant, alpha, eta in grid:
                own = {"eta": eta} if variant == EIGEN else {"scale": sizes.get(variant, "auto")}
                map_ = fitted(variant, data, {**shared, **own, "alpha": alpha})
                if variant == EIGEN:  # every other one would warn of η
                    idle[f"{alpha:g}"] += [f"{eta:g}"] if not map_.chosen["converged"] else []
                    map_ = replace(map_, warnings=())
                findings.add({"set": name, "α": alpha, "η": eta}, map_, scored(data, map_, random_state=seed))
                made[variant, alpha, eta] = (map_.rows, data.labels, map_.columns)
                task.advance()
            findings.notes.append(_told_of_idle(name, idle))
            findings.pictures |= _maps(name, made, settings)
    findings.pictures |= curves("by_alpha", findings.records, "α", {"η": NONE})
    eigen = [{**r, "method": f"α = {r['α']:g}"} for r in findings.records if r["method"] == EIGEN]
    findings.pictures |= curves("by_eta", eigen, "η")
    return findings


def _maps(name: str, made: dict[tuple[str, float, Any], Drawn], settings: Settings) -> dict[str, Figure]:
    """Draw the variants with some α side by side, and eigen-COVA with one α and every η."""
    plain = {
        f"{variant}, α = {alpha:g}": made[variant, alpha, NONE]
        for alpha in settings["drawn"]
        for variant, at, eta in made
        if at == alpha and eta == NONE
    }
    eigen = {
        f"{variant}, α = {alpha:g}, η = {eta:g}": map_
        for (variant, alpha, eta), map_ in made.items()
        if variant == EIGEN and alpha == settings["drawn_eigen"]
    }
    return {f"maps-{name}": cohort_maps(plain), f"eigen-{name}": cohort_maps(eigen)}


def _told_of_idle(name: str, idle: dict[str, list[str]]) -> str:
    """Tell with which weights an axis of eigen-COVA shows nothing of the cohorts."""
    told = [f"{', '.join(etas)} (α = {alpha})" for alpha, etas in idle.items() if etas]
    return f"{name}, {EIGEN}: η too large for every axis to show the cohorts: {'; '.join(told) or 'none'}"


def _grid(settings: Settings) -> Iterator[tuple[str, float, Any]]:
    for variant, alphas in settings["alphas"].items():
        for alpha in alphas:
            for eta in settings["etas"] if variant == EIGEN else (NONE,):
                yield variant, alpha, eta


def _size(variant: str, data: CohortSet, shared: Settings, alpha: float) -> float:
    """Find the size of prototypes that a variant takes at one α, to keep it at all others."""
    return float(fitted(variant, data, {**shared, "alpha": alpha}).chosen["scale"])
