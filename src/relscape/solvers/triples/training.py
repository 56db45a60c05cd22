"""One epoch of training: shuffle, corrupt, walk over the batches, keep the rules.

The state of a run is plain arrays (parameters, Adagrad's squares, random streams) and the number of epochs
done: whoever stores them can continue exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from relscape.errors import DataError, ParameterError
from relscape.progress import note
from relscape.protocols import FloatArray, IntArray
from relscape.solvers.triples.batches import MOVED, Batch, Params, Step, Sums, TrainableEnergy
from relscape.solvers.triples.options import Options
from relscape.solvers.triples.sampling import Sampler, corrupt, new_streams, shuffled
from relscape.solvers.triples.shared import shared_gradient

__all__ = [
    "EpochReport",
    "State",
    "TrainingSet",
    "check_fit",
    "new_state",
    "train_epoch",
    "training_set",
    "with_reciprocals",
]

_LEARNT = ("entities", "relations", "shared")


class EpochReport(NamedTuple):
    """What an epoch found: the mean loss of a pair, and the share of pairs that still had something to learn.

    With shared corruptions: the mean loss of a question, and the share of corruptions below the true triple.
    """

    loss: float
    active_share: float


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Triples to learn from, each with its hint and weight, and where corruptions come from.

    Numbers of 32 bits take half the time to gather in random order. ``plain`` says that no triple has a hint
    and all weigh 1.
    """

    triples: IntArray
    hints: IntArray
    weights: FloatArray
    sampler: Sampler
    plain: bool

    def rows(self, part: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Give some triples with their hints and weights."""
        return _rows(self.triples, self.hints, self.weights, self.plain, part)  # type: ignore[no-any-return]


@dataclass(eq=False)
class State:
    """How far a run is: epochs done, random streams, Adagrad's squares by name of parameter."""

    streams: IntArray
    epoch: int = 0
    squares: Params = field(default_factory=dict)


def training_set(
    triples: IntArray, source: Sampler, weights: FloatArray | None = None, hints: IntArray | None = None
) -> TrainingSet:
    """Gather triples (n × 3: head, relation, tail), the source of corruptions, weights and hints."""
    n = len(triples)
    if n == 0:
        raise DataError("there are no triples to learn from.")
    counts = np.ones(n) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    if counts.shape != (n,) or not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise DataError(f"weights: expected {n} finite numbers of at least 0, one a triple.")
    known = np.full(n, -1, dtype=np.int64) if hints is None else np.ascontiguousarray(hints, dtype=np.int64)
    plain = bool((known == -1).all() and (counts == 1).all())
    return TrainingSet(np.ascontiguousarray(triples, dtype=np.int32), known, counts, source, plain)


def with_reciprocals(triples: IntArray, n_relations: int) -> IntArray:
    """Add to every triple its reverse by a relation of its own: (t, l + n_relations, h).

    Train on them with corrupted tails only; the heads of (?, l, t) are then the tails of (t, l +
    n_relations, ?).

    >>> with_reciprocals(np.array([[0, 1, 2]]), n_relations=3).tolist()
    [[0, 1, 2], [2, 4, 0]]
    """
    return np.vstack([triples, np.column_stack([triples[:, 2], triples[:, 1] + n_relations, triples[:, 0]])])


def new_state(params: Params, options: Options, seed: int | np.random.SeedSequence) -> State:
    """Begin a run: one stream for the order of triples and one for each thread's corruptions."""
    squares = {}
    if options.optimizer == "adagrad":
        squares = {name: np.zeros_like(params[name]) for name in _LEARNT}
    return State(new_streams(1 + options.n_jobs, seed), 0, squares)


def check_fit(energy: TrainableEnergy, options: Options) -> None:
    """Refuse an energy that cannot be trained as the options say."""
    energy.rules(options.entity_rule)
    if options.mode == "lock-free" and energy.expand is not None:
        raise ParameterError(f"mode='lock-free': {energy.name} trains in batches only; use mode='minibatch'.")
    if options.loss == "margin":
        return
    if energy.many_tails is None:
        raise ParameterError(
            f"loss={options.loss!r}: {energy.name} has no matrix products for corruptions that a batch "
            "shares; use loss='margin'."
        )
    norm = options.norm or next(iter(energy.norms), None)
    if energy.many_norms is not None and norm not in energy.many_norms:
        raise ParameterError(
            f"norm={norm!r}: {energy.name} compares with shared corruptions (loss={options.loss!r}) by "
            f"{' or '.join(energy.many_norms)} only; use one of these, or loss='margin'."
        )


def train_epoch(
    energy: TrainableEnergy, params: Params, state: State, data: TrainingSet, options: Options
) -> EpochReport:
    """Go once over all triples; parameters and state move in place.

    Raises
    ------
    DataError
        If a parameter is no longer finite; the message names the epoch.
    """
    check_fit(energy, options)
    if not energy.sweep.signatures:
        note(f"getting {energy.name} ready (compiled once per machine, then kept)")
    run = _Run(energy, params, state, data, options)
    order = shuffled(len(data.triples), state.streams, 0)
    batches = [part for part in np.array_split(order, min(options.n_batches, len(order))) if part.size]
    # numbers that run away are looked for once, at the end
    with ThreadPoolExecutor(options.n_jobs) as pool, np.errstate(over="ignore", invalid="ignore"):
        if options.mode == "lock-free":
            found = np.sum(list(pool.map(run.lock_free, _dealt(batches, options.n_jobs))), axis=0)
        else:
            found = np.sum([run.minibatch(part, pool) for part in batches], axis=0)
        broken = [name for name in _LEARNT if not np.isfinite(np.sum(params[name]))]
    state.epoch += 1
    loss, active, pairs = (float(total) for total in found)
    if broken or not np.isfinite(loss):
        raise DataError(
            f"epoch {state.epoch}: the {' and '.join(broken) or 'loss'} became infinite or NaN; lower "
            f"learning_rate={options.learning_rate} or set grad_clip, and train again."
        )
    return EpochReport(loss / max(pairs, 1.0), active / max(pairs, 1.0))


def _dealt(batches: list[IntArray], n_jobs: int) -> Iterator[tuple[int, list[IntArray]]]:
    """Deal batches out to threads, each with its number."""
    return ((job, batches[job::n_jobs]) for job in range(n_jobs))


class _Run:
    """An epoch at work: the arrays gradients are summed in, and the rules that rows keep."""

    def __init__(
        self, energy: TrainableEnergy, params: Params, state: State, data: TrainingSet, options: Options
    ) -> None:
        self.energy, self.params, self.state, self.data, self.options = energy, params, state, data, options
        self.settings = energy.settings(options.norm, options.number)
        self.rate = options.rate(state.epoch)
        self.adagrad = options.optimizer == "adagrad"
        self.rules = energy.rules(options.entity_rule)
        defaults = energy.defaults
        self.lambda1 = defaults.get("lambda1", 0.0) if options.lambda1 is None else options.lambda1
        self.lambda2 = defaults.get("lambda2", 0.0) if options.lambda2 is None else options.lambda2
        self.wide = params["relations"].shape[1] > 4 * params["entities"].shape[1]
        lock_free = options.mode == "lock-free"
        parts = options.n_jobs if lock_free else (options.parts if options.loss == "margin" else 1)
        self.sums = [self._sums(parts, name, lock_free and name == "entities") for name in _LEARNT]
        self.marks = [np.zeros((parts, len(params[name])), dtype=np.uint8) for name in _LEARNT[:2]]

    def minibatch(self, part: IntArray, pool: ThreadPoolExecutor) -> tuple[float, float, int]:
        """Move the rows of one batch along the gradient at its start."""
        energy, params, options = self.energy, self.params, self.options
        triples, hints, weights = self._rows(part)
        relations = (
            np.unique(triples[:, 1]) if energy.penalty is not None or energy.expand is not None else None
        )
        if energy.penalty is not None:
            self.sums[1][0, relations] += self.lambda1 * energy.penalty(params, relations)
            self.marks[1][0, relations] = MOVED
        if options.loss == "margin":
            others, sides = corrupt(self.data.sampler, triples, options.negatives, self.state.streams, 1)
            batch = Batch(triples, hints, weights, others, sides)
            found = self._sweep(batch, pool, relations)
        else:
            batch = Batch(triples, hints, weights, *_none(len(triples)))
            sums = self._bundle(0)
            found = shared_gradient(
                energy, params, batch, self.data.sampler, sums, options, self.state.streams
            )
        self._apply(pool)
        if energy.tidy is not None:
            energy.tidy(params, batch)
        return found

    def lock_free(self, dealt: tuple[int, list[IntArray]]) -> tuple[float, float, float]:
        """Walk over a thread's batches, moving rows along the way."""
        job, batches = dealt
        energy, params, options = self.energy, self.params, self.options
        sums = self._bundle(job)
        model, step = energy.model(params, self.settings), self._step(options.window)
        totals = np.zeros(3)
        for part in batches:
            triples, hints, weights = self._rows(part)
            others, sides = corrupt(
                self.data.sampler, triples, options.negatives, self.state.streams, 1 + job
            )
            batch = Batch(triples, hints, weights, others, sides)
            if energy.penalty is not None:
                used = np.unique(triples[:, 1])
                sums.relations[used] += self.lambda1 * energy.penalty(params, used)
                sums.relation_marks[used] = MOVED
            totals += energy.sweep(model, batch, options.margin, sums, step)
            sums.entity_marks[:] = 0
            sums.relation_marks[:] = 0
            if energy.tidy is not None:
                energy.tidy(params, batch)
        return float(totals[0]), float(totals[1]), float(totals[2])

    def _rows(self, part: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Give the triples of a batch, in the order of relations where these are matrices.

        A matrix then stays at hand while its triples last.
        """
        if self.wide or self.energy.expand is not None:
            part = part[np.argsort(self.data.triples[part, 1], kind="stable")]
        return self.data.rows(part)

    def _bundle(self, part: int) -> Sums:
        """Gather what one part of a batch, or one thread, adds up in."""
        rows = self.params["entities"]
        own = np.zeros((3, rows.shape[1]), dtype=rows.dtype)
        found = np.zeros(self.options.negatives + 1)
        entities, relations, shared = (total[part] for total in self.sums)
        return Sums(entities, relations, shared, self.marks[0][part], self.marks[1][part], own, found)

    def _sums(self, parts: int, name: str, unused: bool) -> FloatArray:
        rows = self.params[name]
        return np.zeros((parts, *(rows[:1].shape if unused else rows.shape)), dtype=rows.dtype)

    def _sweep(
        self, batch: Batch, pool: ThreadPoolExecutor, relations: IntArray | None
    ) -> tuple[float, float, int]:
        """Add up the gradient of a batch, in a fixed number of parts whatever the number of threads."""
        energy, params = self.energy, self.params
        model, to_relations = energy.model(params, self.settings), self.sums[1]
        triples = batch.triples
        if energy.expand is not None and relations is not None:
            model = energy.model(params, self.settings, relations)
            to_relations = np.zeros((len(self.sums[0]), *model.relations.shape), dtype=model.relations.dtype)
            local = np.searchsorted(relations, triples[:, 1])
            triples = np.column_stack([triples[:, 0], local, triples[:, 2]])
        step = self._step(0)
        cuts = np.linspace(0, len(triples), len(self.sums[0]) + 1).astype(int)

        def walk(k: int) -> Any:
            span = slice(cuts[k], cuts[k + 1])
            piece = Batch(
                triples[span], batch.hints[span], batch.weights[span], batch.others[span], batch.sides[span]
            )
            sums = self._bundle(k)._replace(relations=to_relations[k])
            return energy.sweep(model, piece, self.options.margin, sums, step)

        jobs = range(len(self.sums[0]))
        found = [*map(walk, jobs)] if self.options.n_jobs == 1 else [*pool.map(walk, jobs)]
        if energy.expand is not None:
            own, shared = energy.pull_back(params, relations, to_relations.sum(axis=0))
            self.sums[1][0, relations] += own
            self.sums[2][0, 0] += shared
            self.marks[1][:] = 0
            self.marks[1][0, relations] = MOVED
        losses, active, pairs = zip(*found, strict=True)
        return sum(losses), sum(active), sum(pairs)

    def _apply(self, pool: ThreadPoolExecutor) -> None:
        """Move all rows that were met, and clear the sums."""
        weights = (self.lambda1, self.lambda2, self.lambda2)
        marks = [*self.marks, np.full((1, 1), MOVED, dtype=np.uint8)]

        def move(i: int) -> None:
            rows, clip = self.params[_LEARNT[i]], self.options.grad_clip if i < 2 else 0.0
            how = (self.rate, clip, self.adagrad, self.rules[i], weights[i])
            self.energy.apply(rows, self.sums[i], marks[i], self._squares(i), how)

        list(pool.map(move, range(3)) if self.options.n_jobs > 1 else map(move, range(3)))

    def _squares(self, i: int) -> FloatArray:
        return self.state.squares[_LEARNT[i]] if self.adagrad else self.params[_LEARNT[i]]

    def _step(self, window: int) -> Step:
        relations, shared = (self.lambda2 if self.energy.decays(rule) else 0.0 for rule in self.rules[1:])
        how = (window, self.rate, self.options.grad_clip, self.adagrad, self.rules[0], self.lambda1)
        return Step(*how, relations, shared, self._squares(0), self._squares(1), self._squares(2))


@njit(cache=True, nogil=True)
def _rows(triples, hints, weights, plain, part):  # type: ignore[no-untyped-def]
    """Give some rows of each, in a fraction of the time that ``take`` needs for rows of three."""
    n = part.shape[0]
    found = np.empty((n, 3), dtype=np.int64)
    for i in range(n):
        x = part[i]
        found[i, 0], found[i, 1], found[i, 2] = triples[x, 0], triples[x, 1], triples[x, 2]
    if plain:
        return found, np.full(n, -1, dtype=hints.dtype), np.ones(n)
    return found, hints[part], weights[part]


def _none(n: int) -> tuple[IntArray, IntArray]:
    return np.zeros((n, 0), dtype=np.int64), np.zeros((n, 0), dtype=np.int8)
