"""Training a knowledge-graph model, epoch by epoch, such that it can stop anywhere and go on exactly."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from relscape import progress
from relscape.data.triples import KnowledgeGraph
from relscape.errors import ParameterError
from relscape.models.checks import generator
from relscape.models.knowledge_graphs import Epochs, SpreadGraph
from relscape.models.knowledge_scoring import Trained
from relscape.models.knowledge_settings import Plan
from relscape.models.knowledge_validation import Validator, better
from relscape.models.knowledge_warm import Warm, begin_warm, enough_streams
from relscape.objectives.energies import Params, Sizes
from relscape.protocols import FloatArray, IntArray
from relscape.solvers.triples.sampling import sampler
from relscape.solvers.triples.training import (
    State,
    TrainingSet,
    new_state,
    train_epoch,
    training_set,
    with_reciprocals,
)

__all__ = ["SHARES", "Best", "Run", "begin", "held_threads", "revived", "train", "training_data"]

_NOTES = 20  # lines of progress in a training
# What the share that an epoch reports is called in the history, and what it is a share of.
SHARES = {
    "active_share": "of pairs still active",
    "below_share": "of corruptions below the true triple",
}


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
    warm: Warm | None = None

    @property
    def epoch(self) -> int:
        """How many epochs are done."""
        return self.state.epoch

    @property
    def stage_epoch(self) -> int:
        """How many epochs of the present stage are done: of TransE while it begins from that."""
        return self.epoch if self.warm is None else self.warm.state.epoch

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
        best, warm = self.best, self.warm
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
            "warm": None if warm is None else warm.stored(),
        }


def held_threads(plan: Plan) -> threadpool_limits:
    """Hold matrix products and clusterings to so many threads that a seed gives the same bits anywhere.

    How many share a sum decides its last digits. One does it all where a result must not depend on their
    number; elsewhere there are as many as the training may have.
    """
    exact = plan.engine.loss == "margin" and plan.engine.mode == "minibatch"
    return threadpool_limits(limits=1 if exact else plan.engine.n_jobs)


def begin(plan: Plan, graph: KnowledgeGraph, random_state: Any) -> Run:
    """Draw the parameters a training begins from; TransR and CTransR have yet to be warmed up."""
    seed = int(generator(random_state).integers(2**62))
    sizes = Sizes(graph.n_entities, _n_relations(plan, graph), plan.n_components)
    return _begun(plan, graph, seed, begin_warm(plan, sizes, seed))


def _begun(plan: Plan, graph: KnowledgeGraph, seed: int, warm: Warm | None) -> Run:
    """Begin a run, still to be warmed up or with the vectors that this has given."""
    rng = np.random.default_rng([seed, 0])
    triples = _triples(plan, graph)
    sizes = Sizes(graph.n_entities, _n_relations(plan, graph), plan.n_components, **plan.sizes)
    params = plan.energy.start(sizes, rng)
    hints = None
    if warm is None or warm.finished(plan):
        if warm is not None:
            warm.carry(params, plan.n_components)
            warm = None
        hints = None if plan.energy.prepare is None else plan.energy.prepare(params, triples, rng)
    params = {name: np.ascontiguousarray(rows, dtype=plan.dtype) for name, rows in params.items()}
    known = np.full(len(triples), -1, dtype=np.int64) if hints is None else hints
    state = new_state(params, plan.engine, np.random.SeedSequence([seed, 3]))
    return Run(seed, params, state, known, warm=warm)


def _warm_up(
    run: Run,
    plan: Plan,
    graph: KnowledgeGraph,
    look: Callable[[Run], None] | None,
    spread: SpreadGraph | None,
) -> None:
    """Train TransE to its last epoch and begin from its vectors; ``look`` sees the run as in training."""
    warm = run.warm
    if warm is None:
        return
    epochs = _epochs(training_data(plan, graph, None), spread)
    with progress.task("training TransE to begin from", plan.warm_epochs - warm.state.epoch) as task:
        while not warm.finished(plan):
            if look is not None:
                look(run)
            warm.train_epoch(plan, epochs)
            task.advance()
    begun = _begun(plan, graph, run.seed, warm)
    run.params, run.state, run.hints, run.warm = begun.params, begun.state, begun.hints, None


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


def _epochs(data: TrainingSet, spread: SpreadGraph | None) -> Epochs:
    """Give what trains epochs: the engine here, or that of a graph in parts."""
    if spread is not None:
        return spread.epochs(data)
    return lambda energy, params, state, options: train_epoch(energy, params, state, data, options)


def train(
    run: Run,
    plan: Plan,
    graph: KnowledgeGraph,
    look: Callable[[Run], None] | None,
    spread: SpreadGraph | None = None,
) -> None:
    """Train to the last epoch, or until patience runs out; ``look`` sees the run after every epoch.

    With ``spread``, the same graph in parts, epochs are trained where that is.
    """
    if run.finished(plan):
        return
    _warm_up(run, plan, graph, look, spread)
    epochs = _epochs(training_data(plan, graph, run.hints), spread)
    validator = Validator(graph, plan.validation, np.random.default_rng([run.seed, 2]))
    if look is not None and run.epoch == 0:
        look(run)
    if plan.engine.mode == "lock-free" and plan.engine.n_jobs > 1:
        progress.note(f"{plan.engine.n_jobs} threads without locks: another run gives slightly other numbers")
    begun = time.perf_counter()
    with progress.task(f"training {plan.energy.name}", plan.n_epochs - run.epoch) as task:
        while not run.finished(plan):
            report = epochs(plan.energy, run.params, run.state, plan.engine)
            share = "active_share" if plan.engine.loss == "margin" else "below_share"
            told = {"loss": report.loss, share: report.active_share}
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
    shares = [f"{told[name]:.1%} {what}" for name, what in SHARES.items() if name in told]
    line = ", ".join([f"epoch {run.epoch}: loss {told['loss']:.4g}", *shares])
    if "mean_rank" in told:
        line += (
            f", validation mean rank {told['mean_rank']:.1f}, MRR {told['mrr']:.3f}, "
            f"hits@10 {told['hits@10']:.1%}"
        )
    progress.note(f"{line}; {seconds:.0f} s so far, {done:.0%} done")


def revived(
    stored: Mapping[str, Any], plan: Plan, history: list[dict[str, float]], changes: Mapping[str, Any]
) -> Run:
    """Build a run again from what :meth:`Run.stored` gave.

    Where settings change, patience begins anew. More epochs than it was begun with shift the last ones,
    among which the best is sought: an epoch that would not have been looked at then is forgotten.
    """
    seed, epoch = int(stored["seed"]), int(stored["epoch"])
    _check_goes_on(epoch, plan, changes)
    streams = enough_streams(stored["streams"], plan, [seed, 6])
    params, squares = (
        {name: np.array(rows) for name, rows in stored[part].items()} for part in ("params", "squares")
    )
    best = None if stored["best"] is None else Best(**stored["best"])
    if stored["n_epochs"] != plan.n_epochs and best is not None:
        best = best if plan.validation.due(best.epoch, plan.n_epochs) else None
    return Run(
        seed,
        params,
        State(streams, epoch, squares),
        np.array(stored["hints"]),
        list(history),
        best,
        0 if changes else int(stored["stale"]),
        None if stored["warm"] is None else Warm.revived(stored["warm"], plan, seed),
    )


def _check_goes_on(epoch: int, plan: Plan, changes: Mapping[str, Any]) -> None:
    """Refuse changes that a training has no epoch left to make use of."""
    if epoch > plan.n_epochs:
        raise ParameterError(
            f"n_epochs={plan.n_epochs}: {epoch} epochs are trained; give more, or load the model."
        )
    if epoch == plan.n_epochs and "learning_rate" in changes:
        raise ParameterError(
            f"learning_rate={changes['learning_rate']}: all {epoch} epochs are trained; go on to more of "
            "them with n_epochs."
        )
