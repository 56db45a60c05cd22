"""Choosing the ridge and the number of axes of a projection by what it says of things it was not told of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances

from relscape import progress
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.guided import Blocks
from relscape.models.base import check_integer, check_number, generator
from relscape.models.projection import HeterogeneousProjection
from relscape.models.projection_inputs import read_kinds
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["ProjectionChoice", "ProjectionTrial", "retrieval_score", "tune_projection"]

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


def retrieval_score(instances: FloatArray, others: FloatArray, truth: SparseArray) -> float:
    """Give the mean NDCG of the nearest others of every instance, with gain 1 for those it is similar to.

    An instance with q true partners is asked for its q nearest; those without any are skipped.
    """
    similar = csr_array(truth > 0)
    counts = np.diff(similar.indptr)
    asked = np.flatnonzero(counts)
    if not asked.size:
        return float("nan")
    nearest = np.argsort(euclidean_distances(instances[asked], others), axis=1, kind="stable")
    gains = np.take_along_axis(similar[asked].toarray(), nearest, axis=1)
    discounts = 1.0 / np.log2(np.arange(2, others.shape[0] + 2))
    within = np.arange(others.shape[0]) < counts[asked][:, None]
    ideal = np.cumsum(discounts)[counts[asked] - 1]
    return float((((gains * within) @ discounts) / ideal).mean())


def tune_projection(
    model: HeterogeneousProjection,
    X: Any,
    guidance: Any = None,
    *,
    kind: str,
    other: str,
    regularizations: Sequence[float] = REGULARIZATIONS,
    n_components: Sequence[int] = (2, 5, 10),
    score: TaskScore = retrieval_score,
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
        With all other parameters set; it is not changed.
    X, guidance
        What ``model.fit`` takes.
    kind, other : str
        Whose things are hidden, and of which other kind partners are sought.
    regularizations : sequence of float
        Ridges to try, for all kinds alike.
    n_components : sequence of int
        Numbers of axes to try.
    score : callable
        Takes the places of hidden things (q × k), those of the other kind (n × k) and the hidden weights
        (q × n); higher is better. By default :func:`retrieval_score`.
    folds : int
        At least 2.
    random_state : int, Generator or None
        Deals things into folds.
    """
    _check(regularizations, n_components, folds)
    given = read_kinds(X, guidance)
    for name in (kind, other):
        if name not in given.tables:
            raise UnknownNameError("kind", name, given.tables, "the guided data")
    if given.tables[kind].matrix is None:
        raise DataError(
            f"kind {kind!r} has no features, by which hidden things could be placed; choose another kind."
        )
    truth = _between(given.blocks, kind, other)
    parts = _dealt(truth, folds, generator(random_state))
    tables = {name: replace(table.entities, features=table.matrix) for name, table in given.tables.items()}
    most = max(n_components)
    found: dict[tuple[float, int], list[float]] = {}
    with progress.task("trying settings", len(regularizations) * folds) as task:
        for ridge in regularizations:
            for part in parts:
                hidden = _hidden(given.blocks, kind, part)
                fitted = clone(model).set_params(regularization=float(ridge), n_components=most)
                fitted.fit(tables, hidden)
                for k in n_components:
                    places = fitted.embeddings_[kind][part, :k], fitted.embeddings_[other][:, :k]
                    found.setdefault((float(ridge), int(k)), []).append(score(*places, truth[part]))
                task.advance()
    trials = tuple(
        ProjectionTrial(ridge, k, tuple(scores), float(np.nanmean(scores)))
        for (ridge, k), scores in found.items()
    )
    best = max(trials, key=lambda trial: trial.score)
    final = clone(model).set_params(regularization=best.regularization, n_components=best.n_components)
    reason = f"highest mean score of {folds} folds of {kind} things: {best.score:.4g}"
    final.fit(X, guidance)
    return ProjectionChoice(best.regularization, best.n_components, reason, trials, final)


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
