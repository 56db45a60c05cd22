"""Guided projections of a study, chosen on training things, judged on held-out ones, and kept in a file."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from relscape import progress
from relscape.data import EntitySet
from relscape.models.clustering import cluster_map
from relscape.models.projection import HeterogeneousProjection
from relscape.project.kept_runs import Kept, kept_or_run, run_file
from relscape.project.projection_data import Parts, Study
from relscape.protocols import FloatArray, SparseArray
from relscape.scores.guidance import guidance_satisfaction
from relscape.scores.pairs import rand_index
from relscape.scores.partners import ndcg
from relscape.tuning.projection import TaskScore, tune_projection

__all__ = ["Candidate", "Fit", "Prepared", "candidates", "fitted", "kept_or_done", "model_of", "prepared"]

_FORMAT = "relscape-projection-run"


class Fit(NamedTuple):
    """One method on one split: a name such as "topics/reference/1/0", and what may be chosen.

    ``method`` has the ``constraint``, the ``regularizations`` to try and whether kinds without features may
    be ``free`` of them, ``with`` (further guidance) and the ``weights`` of that to try, ``located`` where the
    tags' own features are to be used, and ``apart``, two tags: things of either are then dissimilar to the
    other, by the weights to try. ``score`` is what is chosen by, as in :func:`tune_projection`.
    """

    name: str
    method: Mapping[str, Any]
    axes: list[int]
    folds: int
    clusters: list[int]
    seed: int
    score: str | TaskScore = "ndcg"


class Prepared(NamedTuple):
    """What a model is fitted on, by tables and guidance; and the features of the test things."""

    tables: dict[str, EntitySet]
    guidance: dict[tuple[str, str], SparseArray]
    kernels: dict[str, str]
    test: SparseArray


class Candidate(NamedTuple):
    """One setting and its mean score over folds of the training things."""

    weight: float
    free: bool
    regularization: float
    n_components: int
    score: float


def prepared(study: Study, parts: Parts, method: Mapping[str, Any], weight: float = 1.0) -> Prepared:
    """Make tables and guidance of the training things; words weigh by tf-idf as counted in training."""
    train, test = _weighed(study.counts[parts.train], study.counts[parts.test])
    tables = {
        study.kind: EntitySet(study.kind, study.ids[parts.train], features=train),
        study.tag: EntitySet(study.tag, study.tag_ids),
    }
    guidance = {(study.kind, study.tag): csr_array(study.tags[parts.train])}
    kernels = {}
    if method.get("located", False):
        tables[study.tag] = EntitySet(study.tag, study.tag_ids, features=study.tag_features)
        kernels[study.tag] = "rbf"
    if "apart" in method:
        guidance[study.kind, study.tag] = _set_apart(study, parts, method["apart"], weight)
    for name in method.get("with", ()):
        further = study.further[name]
        block = weight * further.weights[parts.train]
        if further.kind == study.kind:
            block = block[:, parts.train]
        else:
            tables[further.kind] = EntitySet(further.kind, further.ids, features=further.features)
            if further.features is not None:
                kernels[further.kind] = "rbf"
        guidance[study.kind, further.kind] = csr_array(block)
    return Prepared(tables, guidance, kernels, test)


def _set_apart(study: Study, parts: Parts, apart: list[str], weight: float) -> SparseArray:
    """Say of things with one of two tags that they are dissimilar to the other tag."""
    first, second = (int(np.flatnonzero(study.tag_ids == name)[0]) for name in apart)
    guidance = study.tags[parts.train].tolil()
    for own, other in ((first, second), (second, first)):
        guidance[study.tags[parts.train][:, [own]].nonzero()[0], other] = -weight
    return csr_array(guidance)


def _weighed(train: SparseArray, test: SparseArray) -> tuple[SparseArray, SparseArray]:
    from sklearn.feature_extraction.text import TfidfTransformer

    scale = TfidfTransformer(sublinear_tf=True).fit(train)
    return csr_array(scale.transform(train)), csr_array(scale.transform(test))


def model_of(
    given: Prepared, constraint: str, ridge: float | None, axes: int, free: bool = False
) -> HeterogeneousProjection:
    """Make a model for these tables, without a ridge one whose ridge is still to be chosen.

    Of the reference constraint the things are the reference. If "free", kinds without features have no ridge,
    as in the paper: each of them then sits at the mean of its partners.
    """
    ridges = {} if ridge is None else dict.fromkeys(given.tables, ridge)
    if free:
        ridges |= {kind: 0.0 for kind, table in given.tables.items() if table.features is None}
    return HeterogeneousProjection(axes, ridges, constraint, kernels=given.kernels, random_state=0)


def candidates(study: Study, parts: Parts, fit: Fit) -> tuple[list[Candidate], dict[float, Prepared]]:
    """Score all settings by folds of the training things."""
    method = fit.method
    weights = method.get("weights", [1.0])
    given = {weight: prepared(study, parts, method, weight) for weight in weights}
    found = []
    for weight, free in product(weights, method.get("free", [False])):
        choice = tune_projection(
            model_of(given[weight], method["constraint"], None, max(fit.axes), free),
            given[weight].tables,
            given[weight].guidance,
            kind=study.kind,
            other=study.tag,
            regularizations=method["regularizations"],
            n_components=fit.axes,
            score=fit.score,
            folds=fit.folds,
            random_state=fit.seed,
        )
        found += [Candidate(weight, free, t.regularization, t.n_components, t.score) for t in choice.records]
    return found, given


def kept_or_done(fit: Fit, study: Study, parts: Parts, folder: Path | None, wanted: bool) -> Kept | None:
    """Read what a fit gave, or carry it out and keep it; one that is not wanted is only read.

    Returns
    -------
    dict or None
        The settings chosen with up to all axes, the NDCG of test things by the most axes allowed, the
        guidance satisfied in training and test, how clusters agree with the tags, and seconds of one fit.
    """
    settings = [dict(fit.method), fit.axes, fit.folds, fit.clusters, fit.seed]
    blocks = (study.counts, study.tags, *(further.weights for further in study.further.values()))
    data = b"".join(part.tobytes() for part in (*parts, *(block.data for block in blocks)))
    file = run_file(folder, f"{fit.method['constraint']}-{fit.score}", settings, data)
    return kept_or_run(file, _FORMAT, wanted, lambda: _done(fit, study, parts))


def _done(fit: Fit, study: Study, parts: Parts) -> Kept:
    """Choose by cross-validation within training, for every largest number of axes, and judge by the test."""
    progress.note(f"fitting {fit.name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small parts leave some tags without things, fit after fit
        tried, given = candidates(study, parts, fit)
        best = {most: _best(tried, most) for most in fit.axes}
        models, seconds = {}, {}
        for one in {_wanted(one): one for one in best.values()}.values():
            started = time.process_time()
            model = fitted(fit, given, one, max(fit.axes))
            models[_wanted(one)] = model
            seconds[_wanted(one)] = time.process_time() - started
    scores = {}
    for most, one in best.items():
        model = models[_wanted(one)]
        places = _placed(model, study, given[one.weight], one.n_components)
        scores[str(most)] = ndcg(study.tags[parts.test], places["test"], places[study.tag])
    last = best[max(fit.axes)]
    places = _placed(models[_wanted(last)], study, given[last.weight], last.n_components)
    return {
        "chosen": last._asdict(),
        "things": [len(parts.train), len(parts.test)],
        "cpu_seconds": seconds[_wanted(last)],
        "ndcg": scores,
        "train": _satisfied(study.tags[parts.train], places[study.kind], places[study.tag]),
        "test": _satisfied(study.tags[parts.test], places["test"], places[study.tag]),
        "clusters": {str(n): _agreement(study, parts, places, n, fit.seed) for n in fit.clusters},
    }


def _wanted(one: Candidate) -> tuple[float, bool, float]:
    """Give what tells fits apart, one with the most axes serving all smaller numbers."""
    return one.weight, one.free, one.regularization


def fitted(fit: Fit, given: Mapping[float, Prepared], one: Candidate, axes: int) -> HeterogeneousProjection:
    """Fit what was chosen to all training things."""
    own = given[one.weight]
    model = model_of(own, fit.method["constraint"], one.regularization, axes, one.free)
    return model.fit(own.tables, own.guidance)


def _best(tried: list[Candidate], most: int) -> Candidate:
    return max((one for one in tried if one.n_components <= most), key=lambda one: one.score)


def _placed(
    model: HeterogeneousProjection, study: Study, given: Prepared, axes: int
) -> dict[str, FloatArray]:
    """Give the first axes of all kinds, and under "test" those of the held-out things."""
    test = model.transform({study.kind: given.test})[study.kind]
    return {kind: points[:, :axes] for kind, points in {**model.embeddings_, "test": test}.items()}


def _satisfied(tags: SparseArray, things: FloatArray, others: FloatArray) -> dict[str, Any]:
    found = guidance_satisfaction(tags, things, others)
    return {
        "thresholds": found.thresholds.tolist(),
        "similar": found.similar.tolist(),
        "closest_half": found.closest_half,
    }


def _agreement(
    study: Study, parts: Parts, places: Mapping[str, FloatArray], n: int, seed: int
) -> list[float | None]:
    """Cluster the test things together with all other kinds: Rand index, precision and recall of pairs.

    A share of no pairs at all is None.
    """
    others = {kind: points for kind, points in places.items() if kind not in (study.kind, "test")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer clusters where fewer places differ
        found = cluster_map({"test": places["test"], **others}, n, seed).labels
    agreement = rand_index(study.tags[parts.test], found["test"], found[study.tag])
    return [None if np.isnan(value) else float(value) for value in agreement]
