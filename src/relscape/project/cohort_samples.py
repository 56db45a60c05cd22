"""The sets that the experiments on cohorts map: their features, labels, links and prototypes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape import datasets
from relscape.errors import UnknownNameError
from relscape.matrix.affinity import CosineAffinity
from relscape.matrix.cohorts import CohortRelation, cohort_relation
from relscape.matrix.compaction import compaction_of
from relscape.models.clustering import cluster_names, clusters
from relscape.models.prototype_layouts import leading_axes
from relscape.protocols import FloatArray, SparseArray, TextArray

__all__ = ["CohortSet", "set_maker"]

Settings = Mapping[str, Any]

SHAPES = ("sinusoid", "swiss_roll", "cylinder1")


@dataclass(frozen=True, eq=False)
class CohortSet:
    """Samples with features, a label each, and where there are any links and wanted prototypes.

    ``metric`` is the one by which their neighbours are found: "euclidean" or "cosine". ``relation`` says how
    alike the cohorts are where the set has a way of its own to tell.
    """

    name: str
    X: Any
    labels: TextArray
    links: SparseArray | None = None
    prototypes: FloatArray | None = None
    metric: str = "euclidean"
    relation: CohortRelation | None = None


def set_maker(name: str) -> Callable[[Settings], CohortSet]:
    """Find how a set is made from the settings of an experiment."""
    if name not in _MAKERS:
        raise UnknownNameError("set with cohorts", name, _MAKERS)
    return _MAKERS[name]


def _shape(name: str) -> Callable[[Settings], CohortSet]:
    def make(settings: Settings) -> CohortSet:
        shape = datasets.make_cohorts(name, settings.get("points"), settings["random_state"])
        return CohortSet(name, shape.points, shape.labels, prototypes=shape.prototypes)

    return make


def _compound(settings: Settings) -> CohortSet:
    """Take the look-alike of Compound, its six cohorts wanted at the corners of a hexagon of radius 2."""
    return replace(_shape("compound")(settings), prototypes=_hexagon())


def _zahn(settings: Settings) -> CohortSet:
    """Take the 399 points of Zahn that the publication cites for Compound, wanted at the same corners."""
    data = datasets.load_shapes2d("compound")
    chosen = _drawn(len(data.labels), settings.get("points"), settings["random_state"])
    return CohortSet("compound-zahn", data.points[chosen], data.labels[chosen], prototypes=_hexagon())


def _hexagon() -> FloatArray:
    corners = np.pi / 3 * np.arange(6)
    return 2 * np.column_stack([np.cos(corners), np.sin(corners)])


def _cylinder2(settings: Settings) -> CohortSet:
    """Take the second cylinder, its cohorts alike by a Gaussian of the distance between their centres.

    The Gaussian is as wide as the median distance of a cohort to its nearest.
    """
    data = _shape("cylinder2")(settings)
    centres = cohort_relation("centres", X=data.X, **_coded(data.labels)).matrix
    apart = centres + np.diag(np.full(len(centres), np.inf))
    alike = np.exp(-0.5 * (apart / np.median(apart.min(axis=1))) ** 2)
    return replace(data, relation=CohortRelation(alike, similarity=True))


def _cora(settings: Settings) -> CohortSet:
    """Take papers with the words they contain, their class, and who cites whom."""
    data = datasets.load_cora()
    X, links, labels = data.matrix("words"), data.matrix("links"), data.entities["doc"].fields["class"]
    papers = _drawn(len(labels), settings.get("papers"), settings["random_state"])
    return CohortSet("cora", X[papers], labels[papers], links[papers][:, papers], metric="cosine")


def _cora_axes(settings: Settings) -> CohortSet:
    """Take the papers of Cora by the first 30 principal axes of their words."""
    data = _cora(settings)
    rng = np.random.default_rng(settings["random_state"])
    return replace(data, name="cora-axes", X=leading_axes(data.X, 30, rng), metric="euclidean")


def _cora_compact(settings: Settings) -> CohortSet:
    """Take the papers of Cora by 14 features: how much of either they share with the papers of each class.

    Seven are means of the cosines of words to papers of a class, of which the 30 most similar papers count,
    seven the shares of its papers that are cited. The paper itself is left out of all of them, so that its
    own label is in none of its own features.
    """
    data = _cora(settings)
    coded = _coded(data.labels)
    every = np.arange(len(data.labels))
    compaction = compaction_of(data.X, every, coded["codes"], coded["c"], 0.0, 30, with_links=True)
    return replace(data, name="cora-compact", X=compaction.rows(data.X, data.links, every))


def _cora_clusters(settings: Settings) -> CohortSet:
    """Take clusters of Cora's papers as cohorts: spectral clusters of the graph of 50 neighbours by cosine.

    Clusters are alike by the cosine of their centres, where one is among the two most similar of the other.
    """
    data, seed = _cora(settings), settings["random_state"]
    weights = CosineAffinity(50).fit(data.X, random_state=np.random.default_rng(seed)).weights
    count = settings.get("clusters", 20)
    found = clusters(data.X, weights, count, "spectral", random_state=seed)
    coded: dict[str, Any] = {"codes": found, "c": int(found.max()) + 1}
    alike = cohort_relation("cosine", X=data.X, **coded).matrix.copy()
    np.fill_diagonal(alike, -np.inf)
    near = alike >= np.sort(alike, axis=1)[:, -2:-1]
    return replace(
        data,
        name="cora-clusters",
        labels=cluster_names(coded["c"])[found],
        links=None,
        relation=CohortRelation(np.where(near | near.T, alike, 0.0), similarity=True),
    )


def _digits(settings: Settings) -> CohortSet:
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    chosen = _drawn(len(labels), settings.get("digits"), settings["random_state"])
    return CohortSet("digits", images[chosen].astype(np.float64), labels[chosen].astype(str).astype(object))


def _newsgroups20(settings: Settings) -> CohortSet:
    """Draw messages of all twenty groups, or those named, and weigh their most frequent words by tf-idf.

    Of the words, the 100 most frequent are left out and the next ones kept; messages without any of these
    are dropped.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    from relscape.project.samples import newsgroup_documents

    data = datasets.load_newsgroups20(settings.get("groups"))
    groups = sorted(set(data.entities["doc"].fields["newsgroup"]))
    chosen = {
        "documents_a_class": settings.get("messages", 150),
        "left_out": 100,
        "words": settings.get("words", 2000),
    }
    text = newsgroup_documents(data, groups, chosen, settings["random_state"])
    weighed = csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(text.counts))
    return CohortSet("newsgroups20", weighed, text.classes, metric="cosine")


_MAKERS: Mapping[str, Callable[[Settings], CohortSet]] = {
    **{name: _shape(name) for name in SHAPES},
    "compound": _compound,
    "compound-zahn": _zahn,
    "cylinder2": _cylinder2,
    "cora": _cora,
    "cora-axes": _cora_axes,
    "cora-compact": _cora_compact,
    "cora-clusters": _cora_clusters,
    "digits": _digits,
    "newsgroups20": _newsgroups20,
}


def _coded(labels: TextArray) -> dict[str, Any]:
    """Give the labels as codes, in their sorted order, with the number of cohorts."""
    names, codes = np.unique(labels, return_inverse=True)
    return {"codes": codes, "c": len(names)}


def _drawn(n: int, wanted: int | None, random_state: int) -> Any:
    """Draw so many of n samples, all unless told, in their order."""
    if wanted is None or wanted >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).permutation(n)[:wanted])
