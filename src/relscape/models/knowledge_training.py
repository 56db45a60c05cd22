"""Training a knowledge-graph model, epoch by epoch, such that it can stop anywhere and go on exactly."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from relscape import progress
from relscape.data.triples import KnowledgeGraph
from relscape.models.knowledge_scoring import Trained
from relscape.models.knowledge_settings import Plan
from relscape.models.knowledge_validation import Validator, better
from relscape.objectives.energies import Params, Sizes, energy_named
from relscape.objectives.energies.transr import carry_over
from relscape.protocols import FloatArray, IntArray
from relscape.solvers.triples.sampling import new_streams, sampler
from relscape.solvers.triples.training import (
    State,
    TrainingSet,
    new_state,
    train_epoch,
    training_set,
    with_reciprocals,
)

__all__ = ["Best", "Run", "begin", "held_threads", "revived", "train", "training_data"]

_WARM_STARTED = ("TransR", "CTransR")
_NOTES = 20  # lines of progress in a training


@dataclass(frozen=True, eq=False)
class Best:
    """The epoch that ranked validation triples best, with its parameters and figures."""

    params: Params
    epoch: int
    figures: Mapping[str, float]


@dataclass(eq=False)
class Run:
    """A training under way: everything that decides how it goes on."""

    seed: int
    params: Params
    state: State
    hints: IntArray
    history: list[dict[str, float]] = field(default_factory=list)
    best: Best | None = None
    stale: int = 0

    @property
    def epoch(self) -> int:
        """How many epochs are done."""
        return self.state.epoch

    def finished(self, plan: Plan) -> bool:
        """Tell whether all epochs are done, or patience has run out."""
        patience = plan.validation.patience
        return self.epoch >= plan.n_epochs or (patience is not None and self.stale >= patience)

    def judge(self, figures: Mapping[str, float], by: str) -> None:
        """Keep the parameters of this epoch if it is the best so far."""
        if better(figures, None if self.best is None else self.best.figures, by):
            params = {name: rows.copy() for name, rows in self.params.items()}
            self.best, self.stale = Best(params, self.epoch, dict(figures)), 0
        else:
            self.stale += 1

    def stored(self, every: int, n_epochs: int) -> dict[str, Any]:
        """Give everything but the history as plain values and arrays."""
        best = self.best
        return {
            "seed": self.seed,
            "every": every,
            "n_epochs": n_epochs,
            "epoch": self.epoch,
            "stale": self.stale,
            "params": self.params,
            "streams": self.state.streams,
            "squares": self.state.squares,
            "hints": self.hints,
            "best": None if best is None else vars(best),
        }


def held_threads(plan: Plan) -> threadpool_limits:
    """Hold matrix products and clusterings to so many threads that a seed gives the same bits anywhere.

    How many share a sum decides its last digits. One does it all where a result must not depend on their
    number; elsewhere there are as many as the training may have.
    """
    exact = plan.engine.loss == "margin" and plan.engine.mode == "minibatch"
    return threadpool_limits(limits=1 if exact else plan.engine.n_jobs)


def begin(plan: Plan, graph: KnowledgeGraph, random_state: Any) -> Run:
    """Draw the parameters a training begins from."""
    seed = int(np.random.default_rng(random_state).integers(2**62))
    rng = np.random.default_rng([seed, 0])
    triples = _triples(plan, graph)
    sizes = Sizes(graph.n_entities, _n_relations(plan, graph), plan.n_components, **plan.sizes)
    params = plan.energy.start(sizes, rng)
    if plan.energy.name in _WARM_STARTED and plan.warm_epochs:
        _begin_from_translation(params, plan, graph, sizes, seed)
    hints = None if plan.energy.prepare is None else plan.energy.prepare(params, triples, rng)
    params = {name: np.ascontiguousarray(rows, dtype=plan.dtype) for name, rows in params.items()}
    known = np.full(len(triples), -1, dtype=np.int64) if hints is None else hints
    return Run(seed, params, new_state(params, plan.engine, np.random.SeedSequence([seed, 3])), known)


def _begin_from_translation(
    params: Params, plan: Plan, graph: KnowledgeGraph, sizes: Sizes, seed: int
) -> None:
    """Train TransE for some epochs and copy its vectors."""
    energy = energy_named("TransE")
    rng = np.random.default_rng([seed, 4])
    found = {
        name: rows.astype(plan.dtype)
        for name, rows in energy.start(Sizes(sizes.n_entities, sizes.n_relations, sizes.k), rng).items()
    }
    options = replace(
        plan.engine, loss="margin", margin=1.0, learning_rate=0.01, optimizer="sgd", schedule="constant",
        n_epochs=plan.warm_epochs, norm=None, number=None, lambda1=None, lambda2=None, entity_rule=None,
    )  # fmt: skip
    state = new_state(found, options, np.random.SeedSequence([seed, 5]))
    data = training_data(plan, graph, None)
    with progress.task("training TransE to begin from", plan.warm_epochs) as task:
        for _ in range(plan.warm_epochs):
            train_epoch(energy, found, state, data, options)
            task.advance()
    carry_over(params, found)
    clusters = params["fixed"].shape[1]
    if clusters:  # the translations of CTransR's clusters begin at their relation's
        translation = params["relations"][:, : sizes.k]
        params["relations"][:, -clusters * sizes.k :] = np.tile(translation, (1, clusters))


def training_data(plan: Plan, graph: KnowledgeGraph, hints: IntArray | None) -> TrainingSet:
    """Gather what an epoch goes over: triples, weights, hints, and what corruptions are drawn from."""
    triples = _triples(plan, graph)
    weights: FloatArray | None = graph.weights
    if weights is not None and plan.reciprocal:
        weights = np.tile(weights, 2)
    source = sampler(
        triples,
        graph.n_entities,
        _n_relations(plan, graph),
        plan.sides,
        plan.filter_negatives,
        plan.type_aware,
    )
    return training_set(triples, source, weights, hints)


def _triples(plan: Plan, graph: KnowledgeGraph) -> IntArray:
    return with_reciprocals(graph.train, graph.n_relations) if plan.reciprocal else graph.train


def _n_relations(plan: Plan, graph: KnowledgeGraph) -> int:
    return 2 * graph.n_relations if plan.reciprocal else graph.n_relations


def train(run: Run, plan: Plan, graph: KnowledgeGraph, look: Callable[[Run], None] | None) -> None:
    """Train to the last epoch, or until patience runs out; ``look`` sees the run after every epoch."""
    if run.finished(plan):
        return
    data = training_data(plan, graph, run.hints)
    validator = Validator(graph, plan.validation, np.random.default_rng([run.seed, 2]))
    if look is not None and run.epoch == 0:
        look(run)
    if plan.engine.mode == "lock-free" and plan.engine.n_jobs > 1:
        progress.note(f"{plan.engine.n_jobs} threads without locks: another run gives slightly other numbers")
    begun = time.perf_counter()
    with progress.task(f"training {plan.energy.name}", plan.n_epochs - run.epoch) as task:
        while not run.finished(plan):
            report = train_epoch(plan.energy, run.params, run.state, data, plan.engine)
            told = {"loss": report.loss, "active_share": report.active_share}
            if plan.validation.due(run.epoch, plan.n_epochs):
                figures = validator.look(Trained(plan.energy, run.params, plan.settings, plan.reciprocal))
                if figures is not None:
                    run.judge(figures, plan.validation.by)
                    told |= figures
            run.history.append(told)
            if look is not None:
                look(run)
            _tell(run, plan, told, time.perf_counter() - begun)
            task.advance()


def _tell(run: Run, plan: Plan, told: Mapping[str, float], seconds: float) -> None:
    """Say how the training goes: now and then, and whenever validation triples were looked at."""
    if "mean_rank" not in told and run.epoch % max(1, plan.n_epochs // _NOTES):
        return
    done = run.epoch / plan.n_epochs
    line = f"epoch {run.epoch}: loss {told['loss']:.4g}, active {told['active_share']:.1%}"
    if "mean_rank" in told:
        line += (
            f", validation mean rank {told['mean_rank']:.1f}, MRR {told['mrr']:.3f}, "
            f"hits@10 {told['hits@10']:.1%}"
        )
    progress.note(f"{line}; {seconds:.0f} s so far, {done:.0%} done")


def revived(stored: Mapping[str, Any], plan: Plan, history: list[dict[str, float]]) -> Run:
    """Build a run again from what :meth:`Run.stored` gave.

    More epochs than it was begun with shift the last ones, among which the best is sought: an epoch that
    would not have been looked at then is forgotten.
    """
    params = {name: np.array(rows) for name, rows in stored["params"].items()}
    streams = np.array(stored["streams"])
    missing = 1 + plan.engine.n_jobs - len(streams)
    if missing > 0:
        seeds = np.random.SeedSequence([int(stored["seed"]), 6])
        streams = np.concatenate([streams, new_streams(missing, seeds)])
    squares = {name: np.array(rows) for name, rows in stored["squares"].items()}
    best = None if stored["best"] is None else Best(**stored["best"])
    stale = int(stored["stale"])
    if stored["n_epochs"] != plan.n_epochs:
        stale = 0
        if best is not None and not plan.validation.due(best.epoch, plan.n_epochs):
            best = None
    state = State(streams, int(stored["epoch"]), squares)
    return Run(int(stored["seed"]), params, state, np.array(stored["hints"]), list(history), best, stale)
