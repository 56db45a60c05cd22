"""The TransE from whose vectors TransR and CTransR begin: a stage of their training, kept like the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relscape.models.knowledge_graphs import Epochs
from relscape.models.knowledge_settings import Plan
from relscape.objectives.energies import Params, Sizes, energy_named
from relscape.objectives.energies.transr import carry_over
from relscape.protocols import IntArray
from relscape.solvers.triples.options import Options
from relscape.solvers.triples.sampling import new_streams
from relscape.solvers.triples.training import State, new_state

__all__ = ["Warm", "begin_warm", "enough_streams"]

_WARM_STARTED = ("TransR", "CTransR")


@dataclass(eq=False)
class Warm:
    """A training of TransE under way."""

    params: Params
    state: State

    def train_epoch(self, plan: Plan, epochs: Epochs) -> None:
        """Go once over all triples."""
        epochs(energy_named("TransE"), self.params, self.state, _options(plan))

    def finished(self, plan: Plan) -> bool:
        """Tell whether all its epochs are done."""
        return self.state.epoch >= plan.warm_epochs

    def carry(self, params: Params, k: int) -> None:
        """Copy its vectors; the translations of CTransR's clusters begin at their relation's."""
        carry_over(params, self.params)
        clusters = params["fixed"].shape[1]
        if clusters:
            translation = params["relations"][:, :k]
            params["relations"][:, -clusters * k :] = np.tile(translation, (1, clusters))

    def stored(self) -> dict[str, Any]:
        """Give everything as plain values and arrays."""
        return {"params": self.params, "streams": self.state.streams, "epoch": self.state.epoch}

    @classmethod
    def revived(cls, stored: Mapping[str, Any], plan: Plan, seed: int) -> Warm:
        """Build it again from what :meth:`stored` gave."""
        params = {name: np.array(rows) for name, rows in stored["params"].items()}
        streams = enough_streams(stored["streams"], plan, [seed, 8])
        return cls(params, State(streams, int(stored["epoch"])))


def enough_streams(stored: Any, plan: Plan, seeds: list[int]) -> IntArray:
    """Take random streams up again, with new ones where more threads are to work than before."""
    streams = np.array(stored)
    missing = 1 + plan.engine.n_jobs - len(streams)
    if missing <= 0:
        return streams
    return np.concatenate([streams, new_streams(missing, np.random.SeedSequence(seeds))])


def begin_warm(plan: Plan, sizes: Sizes, seed: int) -> Warm | None:
    """Draw the vectors TransE begins from; None for models that do not begin from it."""
    if plan.energy.name not in _WARM_STARTED or not plan.warm_epochs:
        return None
    start = energy_named("TransE").start(sizes, np.random.default_rng([seed, 4]))
    params = {name: rows.astype(plan.dtype) for name, rows in start.items()}
    return Warm(params, new_state(params, _options(plan), np.random.SeedSequence([seed, 5])))


def _options(plan: Plan) -> Options:
    return replace(
        plan.engine, loss="margin", margin=1.0, learning_rate=0.01, optimizer="sgd", schedule="constant",
        n_epochs=plan.warm_epochs, norm=None, number=None, lambda1=None, lambda2=None, entity_rule=None,
    )  # fmt: skip
