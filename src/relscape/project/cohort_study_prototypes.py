"""Where cohorts are put: prototypes arranged in several ways by how alike cohorts are, or at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from relscape import progress
from relscape.matrix.affinity import CosineAffinity
from relscape.matrix.cohorts import CohortRelation, cohort_relation
from relscape.models.prototypes import CohortSource, prototype_settings
from relscape.project.cohort_fitting import (
    CohortSet,
    cohort_sets,
    cova_of,
    fitted,
    scored,
    timed,
)
from relscape.project.cohort_graphs import KEPT, SHOWN, Graph, graph_pictures, graph_scores
from relscape.project.cohort_pictures import Drawn, cohort_maps
from relscape.project.cohort_study_tools import SCORES, Settings, curves, mean_of, together
from relscape.project.fitting import Placement
from relscape.project.outcome import Findings, Record
from relscape.protocols import FloatArray, SparseArray

__all__ = [
    "ARRANGED",
    "RANDOM",
    "SAMPLES",
    "SPACING",
    "mixed_with_random",
    "neighbour_graph",
    "prototypes",
]

SPACING = "least spacing"
RANDOM, SAMPLES = "random %", "t-SNE of samples"
ARRANGED = "–"  # stands for the share of random prototypes where ways to arrange them are compared
GRAPH = "-graph"


def prototypes(settings: Settings) -> Findings:
    """Arrange cohorts in several ways and map samples by each; then put more and more of them at random."""
    findings = Findings(("set", "relation", RANDOM), (KEPT, SPACING, SHOWN, *SCORES))
    sets, findings.notes = cohort_sets(settings["relations"], settings)
    for name, data in sets.items():
        data = replace(data, links=None)
        rng = np.random.default_rng(settings["random_state"])
        weights = CosineAffinity(settings["n_neighbors"]).fit(data.X, random_state=rng).weights
        relations = {key: _relation(key, data, weights) for key in settings["relations"][name]}
        drawn = _arrange(findings, data, weights, relations, settings)
        drawn |= _displace(findings, data, weights, next(iter(relations.items())), settings)
        findings.pictures[f"maps-{name}"] = cohort_maps(drawn)
    displaced = [record for record in findings.records if record[RANDOM] != ARRANGED]
    findings.pictures |= curves("by_random", displaced, RANDOM)
    return findings


def _relation(key: str, data: CohortSet, weights: SparseArray) -> CohortRelation:
    """Compare the cohorts by a name; with "-graph" after it, only neighbours count as alike at all."""
    names, codes = np.unique(data.labels, return_inverse=True)
    how = key.removesuffix(GRAPH)
    relation = cohort_relation(how, X=data.X, codes=codes, c=len(names), weights=weights)
    return relation if how == key else neighbour_graph(relation)


def neighbour_graph(relation: CohortRelation, k: int = 2) -> CohortRelation:
    """Keep the likeness of cohorts where one is among the k most alike of the other, and none elsewhere."""
    alike = relation.matrix.copy()
    np.fill_diagonal(alike, -np.inf)
    near = alike >= np.sort(alike, axis=1)[:, -k, None]
    return CohortRelation(np.where(near | near.T, alike, 0.0), similarity=True)


# ---------------------------------------------------------------------- ways to arrange


def _arrange(
    findings: Findings,
    data: CohortSet,
    weights: SparseArray,
    relations: dict[str, CohortRelation],
    settings: Settings,
) -> dict[str, Drawn]:
    """Map samples by prototypes of every way, and by t-SNE, which knows of no cohorts."""
    seed, drawn, first = settings["random_state"], {}, next(iter(relations))
    graphs: dict[str, Graph] = {}
    with progress.task("arranging cohorts", len(relations) * len(settings["methods"]) + 1) as task:
        free = fitted("tsne", data, {**settings["tsne"], "random_state": seed}, name=SAMPLES)
        task.advance()
        for key, relation in relations.items():
            place = {"set": data.name, "relation": key, RANDOM: ARRANGED}
            for method in settings["methods"]:
                map_ = _mapped(method, data, weights, relation, settings)
                scores = scored(data, map_, random_state=seed)
                findings.add(place, map_, scores | _kept(data, map_, relation))
                if key == first:
                    drawn[f"E1, {method} prototypes"] = (map_.rows, data.labels, map_.columns)
                    if map_.columns is not None:
                        graphs[f"{method}, {first}"] = Graph(map_.columns, relation)
                task.advance()
            scores = scored(data, free, random_state=seed)
            findings.add(place, free, scores | _kept(data, free, relation))
    findings.pictures[f"links-{data.name}"] = graph_pictures(graphs, data.labels, across=2)
    return {**drawn, SAMPLES: (free.rows, data.labels, None)}


def _mapped(
    method: str, data: CohortSet, weights: SparseArray, relation: CohortRelation, settings: Settings
) -> Placement:
    """Arrange the cohorts in one way, and map the samples by E1."""
    names, codes = np.unique(data.labels, return_inverse=True)
    source = CohortSource(data.X, codes, len(names), weights)
    way = _way(method, relation)

    def make() -> Any:
        arranged = way.place(source, 2, np.random.default_rng(settings["random_state"]))
        options = {**settings["E1"], "prototypes": arranged.places, "affinity": weights}
        model = cova_of("E1", options, data).fit(data.X, data.labels)
        return model.embedding_, model.prototypes_, {"loss": arranged.loss}

    return timed(method, make)


def _way(method: str, relation: CohortRelation) -> Any:
    chosen: Any = type(prototype_settings(method))
    return chosen(dissimilarity=relation.matrix, similarity=relation.similarity)


def _kept(data: CohortSet, map_: Placement, relation: CohortRelation) -> Record:
    """Tell how much of the relation prototypes keep, how much their map, and how near two of them come."""
    spacing = {} if map_.columns is None else {SPACING: float(pdist(map_.columns).min())}
    return {**graph_scores(data.labels, map_, relation), **spacing}


# ---------------------------------------------------------------------- prototypes put at random


def _displace(
    findings: Findings,
    data: CohortSet,
    weights: SparseArray,
    relation: tuple[str, CohortRelation],
    settings: Settings,
) -> dict[str, Drawn]:
    """Put a growing share of the prototypes at random, and score the maps against where they then are."""
    key, alike = relation
    arranged = _way(settings["displaced"], alike)
    seed, drawn = settings["random_state"], {}
    total = len(settings["variants"]) * len(settings["random"]) * settings["draws"]
    with progress.task("putting prototypes at random", total) as task:
        for variant in settings["variants"]:
            shared = {**settings[variant], "affinity": weights, "random_state": seed}
            first = fitted(variant, data, {**shared, "prototypes": arranged})
            for share in settings["random"]:
                maps, scores = [], []
                for draw in range(settings["draws"]):
                    wanted = mixed_with_random(
                        first.columns, share / 100, np.random.default_rng([seed, draw])
                    )
                    maps.append(fitted(variant, data, {**shared, "prototypes": wanted, "scale": 1.0}))
                    scores.append(scored(data, maps[-1], random_state=seed))
                    task.advance()
                findings.add(
                    {"set": data.name, "relation": key, RANDOM: share}, together(maps), mean_of(scores)
                )
                drawn[f"{variant}, {share} % at random"] = (maps[0].rows, data.labels, maps[0].columns)
    return {title: map_ for title, map_ in drawn.items() if title in settings["drawn"]}


def mixed_with_random(places: Any, share: float, rng: np.random.Generator) -> FloatArray:
    """Replace a share of prototypes by ones drawn at random about the same middle, as far out on average.

    The larger share of a draw replaces all that the smaller one does, by the same places.
    """
    c, k = places.shape
    middle = places.mean(axis=0)
    size = np.sqrt(((places - middle) ** 2).sum(axis=1).mean() / k)
    order = rng.permutation(c)
    drawn = middle + size * rng.standard_normal((c, k))
    mixed: FloatArray = places.copy()
    chosen = order[: round(share * c)]
    mixed[chosen] = drawn[chosen]
    return mixed
