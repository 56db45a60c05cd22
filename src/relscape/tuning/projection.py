"""Choosing the ridge and the number of axes of a projection by what it says of things it was not told of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone

from relscape import progress
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix.guided import Blocks
from relscape.models.checks import check_integer, check_number, generator
from relscape.models.projection import HeterogeneousProjection
from relscape.models.projection_inputs import read_kinds
from relscape.protocols import FloatArray, IntArray, SparseArray
from relscape.scores import guidance_satisfaction, ndcg

__all__ = ["ProjectionChoice", "ProjectionTrial", "tune_projection"]

REGULARIZATIONS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
TaskScore = Callable[[FloatArray, FloatArray, SparseArray], float]


@dataclass(frozen=True)
class ProjectionTrial:
    """One setting, its score in every fold, and their mean."""

    regularization: float
    n_components: int
    scores: tuple[float, ...]
    score: float


@dataclass(frozen=True, eq=False)
class ProjectionChoice:
    """The settings chosen, why, a record of everything that was tried, and the model fitted with them."""

    regularization: float
    n_components: int
    reason: str
    records: tuple[ProjectionTrial, ...]
    model: HeterogeneousProjection


def tune_projection(
    model: HeterogeneousProjection,
    X: Any,
    guidance: Any = None,
    *,
    kind: str,
    other: str,
    regularizations: Sequence[float] = REGULARIZATIONS,
    n_components: Sequence[int] = (2, 5, 10),
    score: str | TaskScore = "ndcg",
    folds: int = 5,
    random_state: Any = None,
) -> ProjectionChoice:
    """Try ridges and numbers of axes, and keep the pair that places untold things best.

    The guided things of one kind are dealt into folds. All that guidance says of the things of one fold is
    hidden, the model is fitted, and they are placed by their features alone; the score compares where they
    are with what was hidden. One fit with the most axes serves all smaller numbers.

    Parameters
    ----------
    model : HeterogeneousProjection
        With all other parameters set; it is not changed. Kinds whose ridge it has in a dict keep it.
    X, guidance
        What ``model.fit`` takes.
    kind, other : str
        Whose things are hidden, and of which kind partners are sought; within a kind, among the others.
    regularizations : sequence of float
        Ridges to try, alike for all kinds that do not keep their own.
    n_components : sequence of int
        Numbers of axes to try.
    score : str or callable
        "ndcg": how many of the nearest others are similar ones (:func:`relscape.ndcg`); "satisfaction": the
        share of hidden similar pairs in the closest half of all (:func:`relscape.guidance_satisfaction`). Or
        a function of the places of hidden things (q × k), those of the other kind (n × k) and the hidden
        weights (q × n); higher is better.
    folds : int
        At least 2.
    random_state : int, Generator or None
        Deals things into folds.
    """
    _check(regularizations, n_components, folds)
    measure = _task_score(score)
    with _without_warnings():
        given = read_kinds(X, guidance)
    for name in (kind, other):
        if name not in given.tables:
            raise UnknownNameError("kind", name, given.tables, "the guided data")
    if given.tables[kind].matrix is None:
        raise DataError(
            f"kind {kind!r} has no features, by which hidden things could be placed; choose another kind."
        )
    truth = _between(given.blocks, kind, other)
    if isinstance(score, str) and not (truth.data > 0).any():
        raise DataError(
            f"no things of {kind!r} and {other!r} are similar, which score={score!r} judges by; give a "
            "function that judges by dissimilar ones."
        )
    parts = _dealt(truth, folds, generator(random_state))
    tables = {name: replace(table.entities, features=table.matrix) for name, table in given.tables.items()}
    own = model.regularization if isinstance(model.regularization, Mapping) else {}
    told = clone(model)
    if isinstance(model.kernels, Mapping):
        told.kernels = {name: asked for name, asked in model.kernels.items() if name not in given.left_out}
    everyone, most = np.arange(truth.shape[1]), max(n_components)
    found: dict[tuple[float, int], list[float]] = {}
    with progress.task("trying settings", len(regularizations) * folds) as task:
        for ridge in regularizations:
            for part in parts:
                hidden = _hidden(given.blocks, kind, part)
                among = np.setdiff1d(everyone, part) if kind == other else everyone
                ridges = {name: own.get(name, float(ridge)) for name in tables}
                fitted = clone(told).set_params(regularization=ridges, n_components=most)
                with _without_warnings():
                    fitted.fit(tables, hidden)
                for k in n_components:
                    places = fitted.embeddings_[kind][part, :k], fitted.embeddings_[other][among, :k]
                    value = measure(*places, truth[part][:, among])
                    found.setdefault((float(ridge), int(k)), []).append(value)
                task.advance()
    trials = tuple(
        ProjectionTrial(ridge, k, tuple(scores), float(np.nanmean(scores)))
        for (ridge, k), scores in found.items()
    )
    best = max(trials, key=lambda trial: trial.score)
    chosen = {**dict.fromkeys(tables, best.regularization), **own} if own else best.regularization
    final = clone(model).set_params(regularization=chosen, n_components=best.n_components)
    reason = f"highest mean score of {folds} folds of {kind} things: {best.score:.4g}"
    final.fit(X, guidance)
    return ProjectionChoice(best.regularization, best.n_components, reason, trials, final)


def _ndcg(places: FloatArray, others: FloatArray, truth: SparseArray) -> float:
    return ndcg(truth, places, others)


def _satisfaction(places: FloatArray, others: FloatArray, truth: SparseArray) -> float:
    return guidance_satisfaction(truth, places, others).closest_half


SCORES: dict[str, TaskScore] = {"ndcg": _ndcg, "satisfaction": _satisfaction}


def _task_score(given: str | TaskScore) -> TaskScore:
    """Find a score by name; one by name has no value for a fold without similar pairs."""
    if not isinstance(given, str):
        return given
    if given not in SCORES:
        raise UnknownNameError("score", given, SCORES)
    named = SCORES[given]
    return lambda places, others, truth: (
        named(places, others, truth) if (truth.data > 0).any() else float("nan")
    )


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Keep quiet about what is left out, which of hidden things means nothing; the last fit tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        yield


def _check(regularizations: Sequence[float], n_components: Sequence[int], folds: int) -> None:
    check_integer("folds", folds, 2)
    for name, values in (("regularizations", regularizations), ("n_components", n_components)):
        if isinstance(values, str) or not len(values):
            raise ParameterError(f"{name}={values!r}: give a list of the values to try.")
    for ridge in regularizations:
        check_number("regularizations", ridge, 0.0)
    for k in n_components:
        check_integer("n_components", k, 1)


def _between(blocks: Blocks, kind: str, other: str) -> SparseArray:
    """Give the weights between two kinds, the first in the rows."""
    if (kind, other) in blocks:
        return blocks[kind, other]
    if (other, kind) in blocks:
        return csr_array(blocks[other, kind].T)
    raise DataError(f"no guidance joins {kind!r} and {other!r}, so there is nothing to judge by.")


def _dealt(truth: SparseArray, folds: int, rng: np.random.Generator) -> list[IntArray]:
    """Deal the things with partners into folds of nearly equal size."""
    guided = np.flatnonzero(np.diff(truth.indptr))
    if guided.size < folds:
        raise DataError(
            f"{guided.size} things have partners to judge by, too few for {folds} folds; give fewer folds."
        )
    return [np.sort(part) for part in np.array_split(rng.permutation(guided), folds)]


def _hidden(blocks: Blocks, kind: str, part: IntArray) -> dict[tuple[str, str], SparseArray]:
    """Leave out all that is said of some things of a kind."""
    left: dict[tuple[str, str], SparseArray] = {}
    for pair, block in blocks.items():
        cells = block.tocoo()
        kept = np.ones(cells.nnz, dtype=bool)
        for side, own in enumerate(pair):
            if own == kind:
                kept &= ~np.isin(cells.coords[side], part)
        rows, columns = cells.coords
        left[pair] = csr_array((cells.data[kept], (rows[kept], columns[kept])), shape=block.shape)
    return left
