"""One meeting of two parts: train what is due, and put together what the meetings of a round have learnt.

Entities are in one meeting of a round only. Relations, and what a model shares among all triples, are in all
of them: each meeting moves a copy of its own, and the round's result is the mean of these, every relation
weighted by the triples that each meeting trained it with. So a relation that only one meeting knows moves as
far as it would alone, and one that all know moves to the middle of where they want it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from relscape.protocols import FloatArray, IntArray
from relscape.solvers.triples.batches import Batch, Params, TrainableEnergy
from relscape.solvers.triples.options import Options
from relscape.solvers.triples.parts import Meeting
from relscape.solvers.triples.sampling import new_streams
from relscape.solvers.triples.training import EpochReport, State, train_epoch

__all__ = ["Common", "Learnt", "Moved", "Rows", "put_together", "report_of", "train_meeting"]


class Rows(NamedTuple):
    """Rows of parameters, and Adagrad's squares of them, without columns where there are none."""

    values: FloatArray
    squares: FloatArray

    def copy(self) -> Rows:
        """Give rows that may be moved."""
        return Rows(self.values.copy(), self.squares.copy())


class Common(NamedTuple):
    """What all meetings of a round begin with: relations, what is shared, and what is not learnt."""

    relations: Rows
    shared: Rows
    fixed: FloatArray


class Moved(NamedTuple):
    """What a meeting tells the others: its relations, with their triples counted, and what is shared."""

    used: IntArray
    counts: IntArray
    relations: Rows
    shared: Rows
    report: EpochReport


class Learnt(NamedTuple):
    """What comes of a meeting: the entities of either part, and what is to be put together."""

    first: Rows
    second: Rows
    moved: Moved


def train_meeting(
    energy: TrainableEnergy,
    options: Options,
    first: Rows,
    second: Rows,
    common: Common,
    meeting: Meeting,
    epoch: int,
    n_triples: int,
    seed: Sequence[int],
) -> Learnt:
    """Train the triples that are due in an epoch; nothing that is given is changed.

    Of the epoch's batches the meeting has its share, by the triples that it has of ``n_triples`` in all, so
    that batches are as large as ever. ``seed`` alone decides what is drawn.
    """
    entities = Rows(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))
    relations, shared = common.relations.copy(), common.shared.copy()
    data, report = meeting.due(epoch), EpochReport(0.0, 0.0)
    used, counts = np.empty((2, 0), dtype=np.int64)
    if data is not None:
        learnt = {"entities": entities, "relations": relations, "shared": shared}
        params = {name: rows.values for name, rows in learnt.items()} | {"fixed": common.fixed}
        squares = {name: rows.squares for name, rows in learnt.items()}
        streams = new_streams(1 + options.n_jobs, np.random.SeedSequence(seed))
        n_batches = max(1, round(options.n_batches * len(data.triples) / n_triples))
        shared_out = replace(options, n_batches=n_batches)
        report = train_epoch(energy, params, State(streams, epoch, squares), data, shared_out)
        used, counts = np.unique(data.triples[:, 1], return_counts=True)
    size = meeting.cut.sizes[0]
    own = Rows(relations.values[used], relations.squares[used])
    moved = Moved(used, counts, own, shared, report)
    return Learnt(Rows(*(a[:size] for a in entities)), Rows(*(a[size:] for a in entities)), moved)


def put_together(energy: TrainableEnergy, common: Common, meetings: Sequence[Moved], width: int) -> Common:
    """Join what the meetings of a round have learnt, in their order; ``width`` is that of an entity's row."""
    total = np.zeros(len(common.relations.values), dtype=np.int64)
    for moved in meetings:
        total[moved.used] += moved.counts
    relations, shared = (
        Rows(*(array.astype(np.float64) for array in rows)) for rows in (common.relations, common.shared)
    )
    for moved in meetings:
        used, before = moved.used, common.relations
        weights = (moved.counts / total[used])[:, None]
        relations.values[used] += weights * (moved.relations.values - before.values[used])
        relations.squares[used] += moved.relations.squares - before.squares[used]
        weight = moved.counts.sum() / max(1, total.sum())
        shared.values[:] += weight * (moved.shared.values - common.shared.values)
        shared.squares[:] += moved.shared.squares - common.shared.squares
    dtype = common.relations.values.dtype
    relations, shared = (Rows(*(array.astype(dtype) for array in rows)) for rows in (relations, shared))
    if energy.tidy is not None:
        _tidy(energy, relations.values, shared.values, common.fixed, np.flatnonzero(total), width)
    return Common(relations, shared, common.fixed)


def _tidy(
    energy: TrainableEnergy,
    relations: FloatArray,
    shared: FloatArray,
    fixed: FloatArray,
    used: IntArray,
    width: int,
) -> None:
    """Keep the hard constraints of relations, which a mean need not, beside an entity that is all zeros."""
    nothing = np.zeros((1, width), dtype=relations.dtype)
    params: Params = {"entities": nothing, "relations": relations, "shared": shared, "fixed": fixed}
    triples = np.column_stack([np.zeros_like(used), used, np.zeros_like(used)])
    none = np.zeros((used.size, 0), dtype=np.int64)
    batch = Batch(triples, np.full(used.size, -1), np.ones(used.size), none, none.astype(np.int8))
    energy.tidy(params, batch)


def report_of(meetings: Sequence[Moved]) -> EpochReport:
    """Give the mean report of meetings, each weighted by its triples."""
    weights = [float(moved.counts.sum()) for moved in meetings]
    loss, share = np.average([moved.report for moved in meetings], axis=0, weights=weights)
    return EpochReport(float(loss), float(share))
