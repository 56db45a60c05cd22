"""Epochs of a knowledge graph on a cluster: parts of the entities meet on workers, two at a time.

This process has the state after the last whole epoch. It sends the parts out, calls the meetings of every
round, puts together what they say of relations, and fetches the parts when all have met. In between parts go
from worker to worker without coming here. When a worker is lost, the epoch begins anew from the state here,
and comes to the same end, since what a meeting draws depends on the epoch and its parts alone.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from relscape.distributed.rounds import Rounds
from relscape.objectives.energies import energy_named
from relscape.solvers.triples.batches import Params, TrainableEnergy
from relscape.solvers.triples.meeting import (
    Common,
    Learnt,
    Moved,
    Rows,
    put_together,
    report_of,
    train_meeting,
)
from relscape.solvers.triples.options import Options
from relscape.solvers.triples.parts import Cutter, Meeting, deal, meeting_of, tournament
from relscape.solvers.triples.training import EpochReport, State, TrainingSet

__all__ = ["PartedEpochs"]

Pair = tuple[int, int]


class PartedEpochs:
    """Trains epochs like ``train_epoch``: parameters and state move in place, once the epoch is whole."""

    def __init__(self, rounds: Rounds, data: TrainingSet, n_parts: int) -> None:
        self._rounds = rounds
        self._parts = deal(data.sampler.n_entities, n_parts)
        self._cutter = Cutter(data, self._parts)
        self._tournament = tournament(n_parts)
        self._meetings: dict[Pair, Any] = {}
        self._homes: dict[Pair, str] = {}

    def __call__(
        self, energy: TrainableEnergy, params: Params, state: State, options: Options
    ) -> EpochReport:
        """Go once over all triples."""
        rows, common, told = self._rounds.repeated(lambda: self._epoch(energy, params, state, options))
        for members, part in zip(self._parts.members, rows, strict=True):
            params["entities"][members] = part.values
            if state.squares:
                state.squares["entities"][members] = part.squares
        for name, learnt in (("relations", common.relations), ("shared", common.shared)):
            params[name][:] = learnt.values
            if state.squares:
                state.squares[name][:] = learnt.squares
        state.epoch += 1
        return report_of(told)

    def _epoch(
        self, energy: TrainableEnergy, params: Params, state: State, options: Options
    ) -> tuple[list[Rows], Common, list[Moved]]:
        """Try an epoch; parameters and state are only read."""
        begun = {name: _rows(params, state, name) for name in ("entities", "relations", "shared")}
        common = Common(begun["relations"], begun["shared"], params["fixed"])
        seed = [int(state.streams[0]), state.epoch]
        order = np.random.default_rng(seed).permutation(len(self._tournament))
        told: list[Moved] = []
        try:
            self._settle()
            rows = self._sent(begun["entities"], self._tournament[order[0]])
            for number in order:
                work = (energy.name, options, state.epoch, len(self._cutter.data.triples), seed)
                moved = self._round(self._tournament[number], rows, common, work)
                common = put_together(energy, common, moved, begun["entities"].values.shape[1])
                told += moved
            return self._rounds.gathered([rows[part] for part in range(self._parts.count)]), common, told
        except BaseException:
            self._meetings = {}  # some may be lost; all are sent again before another try
            raise

    def _settle(self) -> None:
        """Have the triples of every meeting on some worker, those of one round on different ones."""
        if all(meeting.status == "finished" for meeting in self._meetings.values()) and self._meetings:
            return
        workers = sorted(self._rounds.client.scheduler_info(n_workers=-1)["workers"])
        for pairs in self._tournament:
            for place, pair in enumerate(pairs):
                home = workers[place % len(workers)]
                cut = self._rounds.send(self._cutter.cut(*pair), home)
                self._homes[pair] = home
                self._meetings[pair] = self._submitted(home, meeting_of, cut)

    def _sent(self, entities: Rows, first: list[Pair]) -> dict[int, Any]:
        """Send every part to where it has its first meeting; one that has none in that round, anywhere."""
        homes = {part: self._homes[pair] for pair in first for part in pair}
        found = {}
        for part, members in enumerate(self._parts.members):
            own = Rows(*(array[members] for array in entities))
            found[part] = self._rounds.send(own, homes.get(part, next(iter(homes.values()))))
        return found

    def _round(self, pairs: list[Pair], rows: dict[int, Any], common: Common, work: Any) -> list[Moved]:
        """Have all pairs of a round meet; ``rows`` then are those after it, still on the workers."""
        self._rounds.traffic.rounds += 1
        told = []
        handed = self._rounds.handed(common, len(pairs))
        for i, j in pairs:
            home, meeting = self._homes[i, j], self._meetings[i, j]
            learnt = self._submitted(home, _meet, work, (i, j), rows[i], rows[j], handed, meeting)
            rows[i], rows[j], moved = (self._submitted(home, itemgetter(k), learnt) for k in range(3))
            told.append(moved)
        return self._rounds.gathered(told)

    def _submitted(self, home: str, function: Any, *given: Any) -> Any:
        return self._rounds.client.submit(
            function, *given, workers=[home], allow_other_workers=True, pure=False
        )


def _rows(params: Params, state: State, name: str) -> Rows:
    values = params[name]
    squares = state.squares[name] if state.squares else np.empty((len(values), 0), dtype=values.dtype)
    return Rows(values, squares)


# ---------------------------------------------------------------------- on the workers


def _meet(work: Any, pair: Pair, first: Rows, second: Rows, common: Common, meeting: Meeting) -> Learnt:
    """Train what is due where two parts meet, with as many threads as were asked for."""
    name, options, epoch, n_triples, seed = work
    with threadpool_limits(limits=options.n_jobs):
        return train_meeting(
            energy_named(name), options, first, second, common, meeting, epoch, n_triples, [*seed, *pair]
        )
