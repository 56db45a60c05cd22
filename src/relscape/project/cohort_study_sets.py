"""Sets that a map may be sought in: orthonormal columns (M1), weighted ones (M2), or any of full rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import diags_array
from scipy.sparse.linalg import aslinearoperator

from relscape import progress
from relscape.matrix.affinity import CosineAffinity
from relscape.objectives.neighbour import neighbour_divergence
from relscape.project.cohort_fitting import CHANCE, NEIGHBOURS, SEPARATION, cohort_sets, scored, timed
from relscape.project.cohort_pictures import Drawn, cohort_maps
from relscape.project.cohort_study_tools import Settings
from relscape.project.fitting import Placement
from relscape.project.outcome import Findings
from relscape.protocols import FloatArray, Manifold, SparseArray
from relscape.solvers.manifolds import FullRank, Stiefel
from relscape.solvers.riemann import riemannian_descent
from relscape.solvers.spectral import truncated_svd

__all__ = ["DIVERGENCE", "GAINED", "RADIUS", "ScaledNeighbours", "constrained_map", "sets", "starts_of"]

DIVERGENCE, GAINED, RADIUS = "O_KL_L", "gained", "radius"
FULL = "full rank"


@dataclass(frozen=True, eq=False)
class ScaledNeighbours:
    """The divergence of neighbourhoods on the map Z = B^(-1/2) Q, as a function of Q; ``masses`` holds B."""

    weights: SparseArray
    masses: FloatArray

    def map_of(self, point: FloatArray) -> FloatArray:
        """Give the map of a point."""
        return np.asarray(point / np.sqrt(self.masses)[:, None])

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give the divergence of the map, and its gradient in Q."""
        value, gradient = neighbour_divergence(self.map_of(point), self.weights, "exact")
        return value, self.map_of(gradient)


def sets(settings: Settings) -> Findings:
    """Seek the map of lowest divergence in every set, from random and from spectral starts."""
    findings = Findings(("set", "start"), (DIVERGENCE, GAINED, RADIUS, NEIGHBOURS, CHANCE, SEPARATION))
    loaded, findings.notes = cohort_sets(settings["sets"], settings)
    drawn: dict[str, Drawn] = {}
    for name, data in loaded.items():
        weights = CosineAffinity(settings["n_neighbors"]).fit(data.X).weights
        there = np.flatnonzero(np.asarray(weights.sum(axis=1)).ravel() > 0)
        weights = weights[there][:, there]
        data = replace(data, X=data.X[there], labels=data.labels[there], links=None)
        crowd = neighbour_divergence(np.zeros((len(there), 2)), weights, "exact")[0]
        starts = starts_of(
            weights, settings["random_starts"], np.random.default_rng(settings["random_state"])
        )
        with progress.task("seeking maps", len(starts) * len(_SETS)) as task:
            for start, point in starts.items():
                for method in _SETS:
                    map_ = constrained_map(method, weights, point, settings["max_iterations"])
                    findings.add({"set": name, "start": start}, map_, _told(map_, crowd) | scored(data, map_))
                    drawn[f"{method}, {start}"] = (map_.rows, data.labels, None)
                    task.advance()
        findings.notes.append(f"{name}: all on one spot, O_KL_L would be {crowd:.3f}")
    if drawn:
        findings.pictures["maps"] = cohort_maps(drawn, across=len(_SETS))
    return findings


def starts_of(weights: SparseArray, n_random: int, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Give matrices of two orthonormal columns to start from: drawn ones, and leading eigenvectors.

    These are of the normalised weights, the constant left out; divided by the root of the degrees they are
    normalised spectral embedding.
    """
    n = weights.shape[0]
    starts = {f"random {number + 1}": Stiefel().random(rng, (n, 2)) for number in range(n_random)}
    roots = np.sqrt(np.asarray(weights.sum(axis=1)).ravel())
    scaled = diags_array(1.0 / roots) @ weights @ diags_array(1.0 / roots)
    lifted = scaled + diags_array(np.ones(n))  # so that the largest values are the largest in size
    starts["spectral"] = Stiefel().repair(truncated_svd(aslinearoperator(lifted), 3, rng).U[:, 1:])
    return starts


def constrained_map(method: str, weights: SparseArray, start: FloatArray, max_iterations: int) -> Placement:
    """Descend from an orthonormal start, within the set of a name, to neighbourhoods of low divergence."""
    masses = np.asarray(weights.sum(axis=1)).ravel()
    manifold, weighted = _SETS[method]
    objective = ScaledNeighbours(weights, masses if weighted else np.ones(len(masses)))
    # Any map of full rank may begin where M2 does: at M1's size no sample would feel its neighbours.
    begin = start / np.sqrt(masses)[:, None] if method == FULL else start

    def make() -> Any:
        found = riemannian_descent(objective, manifold, begin, max_iterations=max_iterations, tolerance=1e-7)
        told = {"iterations": found.iterations, "converged": found.converged, "stopped": found.reason}
        return objective.map_of(found.point), None, {**told, DIVERGENCE: found.value}

    return timed(method, make)


def _told(map_: Placement, crowd: float) -> dict[str, float]:
    """Tell the divergence, what it gained over a single spot, and how large the map is."""
    if map_.rows is None:
        return {}
    value = map_.chosen[DIVERGENCE]
    centred = map_.rows - map_.rows.mean(axis=0)
    radius = float(np.sqrt((centred**2).sum(axis=1).mean()))
    return {DIVERGENCE: value, GAINED: crowd - value, RADIUS: radius}


_SETS: Mapping[str, tuple[Manifold, bool]] = {
    "M1": (Stiefel(), False),
    "M2": (Stiefel(), True),
    FULL: (FullRank(), False),
}
