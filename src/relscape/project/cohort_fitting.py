"""The sets of the experiments on cohorts, the methods that map them, and the scores of a map."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from relscape.errors import InputError, StorageError
from relscape.matrix.affinity import CosineAffinity, DistanceAffinity, GaussianAffinity
from relscape.matrix.confidence import confidence_settings
from relscape.matrix.features import RelationFeatures
from relscape.models.baselines import SNE, TSNE, SupervisedSNE, SupervisedTSNE
from relscape.models.cova import COVA
from relscape.models.cova_variants import VARIANTS
from relscape.models.prototype_layouts import leading_axes
from relscape.models.prototypes import prototype_settings
from relscape.project.cohort_samples import CohortSet, set_maker
from relscape.project.fitting import Placement
from relscape.protocols import FloatArray
from relscape.scores import (
    cohort_neighbors,
    cohort_position,
    cohort_separation,
    neighbor_preservation,
    neighbor_preservation_chance,
)

__all__ = [
    "CHANCE",
    "LINKS",
    "NEIGHBOURS",
    "POSITION",
    "SEPARATION",
    "CohortSet",
    "cohort_sets",
    "cova_of",
    "fitted",
    "scored",
    "timed",
]

Settings = Mapping[str, Any]
Made = tuple[FloatArray, FloatArray | None, dict[str, Any]]

NEIGHBOURS, CHANCE, SEPARATION, POSITION, LINKS = "S_n", "S_n chance", "S_s", "S_c", "S_c^(r)"

_AFFINITIES = {"cosine": CosineAffinity, "distance": DistanceAffinity, "perplexity": GaussianAffinity}
_OWN = {"sne": SNE, "tsne": TSNE, "ssne": SupervisedSNE, "stsne": SupervisedTSNE}


def cohort_sets(names: Iterable[str], settings: Settings) -> tuple[dict[str, CohortSet], list[str]]:
    """Load sets by name; those that are not on this machine are left out, and notes say how to get them.

    ``settings`` has a ``random_state`` and, where a set is to be smaller, ``points`` of a shape, ``digits``,
    ``papers`` of Cora, ``messages`` of each newsgroup with their ``words``, or a number of ``clusters``.
    """
    sets, notes = {}, []
    for name in names:
        try:
            sets[name] = set_maker(name)(settings)
        except StorageError as error:
            notes.append(str(error))
    return sets, notes


# ---------------------------------------------------------------------- maps


def fitted(
    method: str, data: CohortSet, options: Settings, labels: Any = None, name: str | None = None
) -> Placement:
    """Map a set by one method.

    Parameters
    ----------
    method : str
        A variant of COVA; "sne", "tsne", "ssne" or "stsne" (the last two take labels, ``shrink`` is their λ);
        "nse", "lle", "isomap", "lda", "nca", "pca", or "umap", which refuses where it is not installed.
    data : CohortSet
    options : mapping
        Parameters of the method, as TOML can hold them (see :func:`cova_of`); ``random_state``; and ``pca``,
        the number of principal axes that other methods than COVA see instead of the features.
    labels : sequence, optional
        What the method sees in place of the set's own labels; None where one is to be unknown.
    name : str, optional
        What the placement is called, if not by the method.
    """
    told = method if name is None else name
    given = data.labels if labels is None else labels
    if method in VARIANTS:
        return timed(told, lambda: _by_cova(cova_of(method, options, data), data, given))
    chosen = dict(options)
    axes, seed = chosen.pop("pca", None), chosen.pop("random_state", 0)

    def make() -> Made:
        features = data.X if axes is None else leading_axes(data.X, axes, np.random.default_rng(seed))
        if method in _OWN:
            model = _OWN[method](random_state=seed, **chosen).fit(features, given)
            return model.embedding_, None, _solved(model)
        return _BASELINES[method](features, given, seed, **chosen), None, {}

    return timed(told, make)


def cova_of(variant: str, options: Settings, data: CohortSet) -> COVA:
    """Make a COVA of options as TOML can hold them.

    ``affinity``, ``confidence``, ``prototypes`` and ``features`` may be tables: a ``kind`` ("cosine",
    "gaussian", "tsne"; features have none), and the parameters of its settings. ``prototypes = "own"`` takes
    the places that the set brings along, ``dissimilarity = "own"`` in their table its relation of cohorts. A
    ``pca`` is of other methods and passed over.
    """
    chosen = {key: value for key, value in options.items() if key != "pca"}
    if isinstance(chosen.get("affinity"), Mapping):
        kind, rest = _kind(chosen["affinity"])
        chosen["affinity"] = _AFFINITIES[kind](**rest)
    if isinstance(chosen.get("confidence"), Mapping):
        kind, rest = _kind(chosen["confidence"])
        chosen["confidence"] = type(confidence_settings(kind))(**rest)
    if isinstance(chosen.get("prototypes"), Mapping):
        kind, rest = _kind(chosen["prototypes"])
        if rest.get("dissimilarity") == "own" and data.relation is not None:
            rest |= {"dissimilarity": data.relation.matrix, "similarity": data.relation.similarity}
        chosen["prototypes"] = type(prototype_settings(kind))(**rest)
    elif isinstance(chosen.get("prototypes"), str) and chosen["prototypes"] == "own":
        chosen["prototypes"] = data.prototypes
    if isinstance(chosen.get("features"), Mapping):
        chosen["features"] = RelationFeatures(**chosen["features"])
    return COVA(variant, **chosen)


def _kind(table: Settings) -> tuple[str, dict[str, Any]]:
    rest = dict(table)
    return rest.pop("kind"), rest


def timed(method: str, make: Callable[[], Made]) -> Placement:
    """Make a map (places, prototypes or None, what was chosen); keep its time, warnings and refusal."""
    refusal, made = "", None
    started, started_cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = make()
        except InputError as error:
            refusal = str(error)
    took = time.perf_counter() - started, time.process_time() - started_cpu
    if made is None:
        return Placement(method, *took, refusal=refusal)
    told = tuple(dict.fromkeys(str(entry.message) for entry in caught))
    return Placement(method, *took, made[0], made[1], warnings=told, chosen=made[2])


def _by_cova(model: COVA, data: CohortSet, labels: Any) -> Made:
    model.fit(data.X, labels, links=data.links)
    chosen = {"alpha": model.alpha_, "scale": model.scale_, **_solved(model)}
    chosen |= dict(zip(("O_C", "O_L"), map(float, model.objective_), strict=True))
    if model.variant == "eigen":
        chosen["eta"] = model.eta_
    return model.embedding_, model.prototypes_, chosen


def _solved(model: Any) -> dict[str, Any]:
    result = model.solve_result_
    return {"iterations": result.iterations, "converged": result.converged, "stopped": result.reason}


def nse(X: Any, y: Any, seed: int, perplexity: float = 30.0, shrink: float = 1.0) -> FloatArray:
    """Normalised spectral embedding of weights by perplexity; ``shrink`` below 1 lets labels take part."""
    from sklearn.manifold import SpectralEmbedding

    from relscape.data.cohorts import read_cohorts

    codes = read_cohorts(y, X.shape[0]).codes
    weights = GaussianAffinity(perplexity, shrink_distances=shrink).fit(X, codes, np.random.default_rng(seed))
    model = SpectralEmbedding(affinity="precomputed", random_state=seed)
    return np.asarray(model.fit_transform(weights.weights.toarray()))


def lle(X: Any, y: Any, seed: int, n_neighbors: int = 30) -> FloatArray:  # noqa: ARG001
    """Locally linear embedding."""
    from sklearn.manifold import LocallyLinearEmbedding

    model = LocallyLinearEmbedding(n_neighbors=n_neighbors, random_state=seed, eigen_solver="dense")
    return np.asarray(model.fit_transform(_dense(X)))


def isomap(X: Any, y: Any, seed: int, n_neighbors: int = 30) -> FloatArray:  # noqa: ARG001
    """Classical scaling of the lengths of paths along neighbours."""
    from sklearn.manifold import Isomap

    return np.asarray(Isomap(n_neighbors=n_neighbors).fit_transform(_dense(X)))


def lda(X: Any, y: Any, seed: int) -> FloatArray:  # noqa: ARG001
    """Linear discriminant analysis."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return np.asarray(LinearDiscriminantAnalysis(n_components=2).fit_transform(_dense(X), y))


def nca(X: Any, y: Any, seed: int, max_iterations: int = 50) -> FloatArray:
    """Neighbourhood components analysis."""
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    model = NeighborhoodComponentsAnalysis(2, init="pca", max_iter=max_iterations, random_state=seed)
    return np.asarray(model.fit_transform(_dense(X), y))


def pca(X: Any, y: Any, seed: int) -> FloatArray:  # noqa: ARG001
    """Principal component analysis."""
    return leading_axes(X, 2, np.random.default_rng(seed))


def umap(X: Any, y: Any, seed: int, n_neighbors: int = 30) -> FloatArray:  # noqa: ARG001
    """UMAP, where it is installed."""
    try:
        method = import_module("umap").UMAP
    except ImportError as error:
        raise InputError("UMAP is not installed here: pip install umap-learn.") from error
    return np.asarray(method(n_neighbors=n_neighbors, random_state=seed, n_jobs=1).fit_transform(X))


_BASELINES: Mapping[str, Callable[..., FloatArray]] = {
    "nse": nse,
    "lle": lle,
    "isomap": isomap,
    "lda": lda,
    "nca": nca,
    "pca": pca,
    "umap": umap,
}


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


# ---------------------------------------------------------------------- scores


def scored(
    data: CohortSet, placement: Placement, k: int = 2, prototypes: Any = None, random_state: int = 0
) -> dict[str, float]:
    """Score a map in percent, against the set's own labels and features, beside the chance level of S_n.

    ``k`` is the number of neighbouring cohorts in S_c^(r). A map without prototypes has no S_c, and an
    S_c^(r) only against given ``prototypes``. A refusal has no scores.
    """
    if placement.rows is None:
        return {}
    Z, y = placement.rows, data.labels
    scores = {
        NEIGHBOURS: neighbor_preservation(data.X, Z, y, random_state=random_state, metric=data.metric),
        CHANCE: neighbor_preservation_chance(y),
        SEPARATION: cohort_separation(Z, y),
    }
    if placement.columns is not None:
        scores[POSITION] = cohort_position(Z, y, placement.columns)
    wanted = placement.columns if prototypes is None else prototypes
    if wanted is not None:
        scores[LINKS] = cohort_neighbors(Z, y, wanted, k)
    return {name: 100 * value for name, value in scores.items()}
