"""Who trains in the benchmark of knowledge graphs: relscape, PyKEEN, and a plain loop in numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from relscape import KGEmbedding, KnowledgeGraph

LENGTH, NEGATIVES, BATCH, BATCHES = 100, 2, 4_831, 100
MARGIN = 1.0  # of TransE, PyKEEN's own choice
PYKEEN_RATE = 0.01  # after three epochs the best of 0.003, 0.01 and 0.03


class Trainer(NamedTuple):
    """A training under way: so many epochs more, with what to tell of the last, and the vectors so far."""

    train: Callable[[int], str]
    vectors: Callable[[], tuple[Any, Any]]


def relscape_trainer(
    graph: KnowledgeGraph, model: str, threads: int, options: dict[str, Any] | None = None, **settings: Any
) -> Trainer:
    """Train without locks by the engine under ``KGEmbedding``, with the model's usual settings otherwise."""
    from relscape.models.knowledge_training import begin, training_data
    from relscape.solvers.triples.training import train_epoch

    settings = {"n_components": LENGTH, "negatives": NEGATIVES, "n_batches": BATCHES, **settings}
    if model == "TransE":
        settings = {"margin": MARGIN, **settings}
    plan = KGEmbedding(
        model, n_jobs=threads, options={"mode": "lock-free", **(options or {})}, **settings
    ).check()
    run = begin(plan, graph, 0)
    data = training_data(plan, graph, run.hints)

    def train(epochs: int) -> str:
        for _ in range(epochs):
            found = train_epoch(plan.energy, run.params, run.state, data, plan.engine)
        return f"{found.active_share:.0%} of pairs active"

    return Trainer(train, lambda: (run.params["entities"], run.params["relations"]))


def pykeen_trainer(graph: KnowledgeGraph, threads: int) -> Trainer:
    """Train PyKEEN's TransE with Adam, PyKEEN's own choice."""
    import torch
    from pykeen.models import TransE
    from pykeen.training import SLCWATrainingLoop
    from pykeen.triples import CoreTriplesFactory

    torch.set_num_threads(threads)
    facts = CoreTriplesFactory(torch.from_numpy(graph.train), graph.n_entities, graph.n_relations)
    model = TransE(
        triples_factory=facts,
        embedding_dim=LENGTH,
        loss="marginranking",
        loss_kwargs={"margin": MARGIN},
        random_seed=0,
    )
    corrupting = {"num_negs_per_pos": NEGATIVES}
    loop = SLCWATrainingLoop(
        model=model,
        triples_factory=facts,
        optimizer="adam",
        optimizer_kwargs={"lr": PYKEEN_RATE},
        negative_sampler_kwargs=corrupting,
    )
    done = 0

    def train(epochs: int) -> str:
        nonlocal done
        going_on, done = done > 0, done + epochs
        loop.train(facts, done, BATCH, continue_training=going_on, use_tqdm=False, use_tqdm_batch=False)
        return ""

    return Trainer(train, lambda: tuple(rows.detach().numpy() for rows in pykeen_weights(model)))


def pykeen_weights(model: Any) -> tuple[Any, Any]:
    """Give PyKEEN's tables of vectors: entities, relations."""
    entities, relations = model.entity_representations[0], model.relation_representations[0]
    return entities._embeddings.weight, relations._embeddings.weight


def numpy_trainer(graph: KnowledgeGraph) -> Trainer:
    """Train TransE by whole arrays: each batch's gradient, then all its rows at once."""
    rng = np.random.default_rng(0)
    E = _of_length_one(rng.uniform(-1, 1, (graph.n_entities, LENGTH)).astype(np.float32))
    R = _of_length_one(rng.uniform(-1, 1, (graph.n_relations, LENGTH)).astype(np.float32))

    def batch(head: Any, link: Any, tail: Any) -> None:
        other_heads, other_tails = rng.integers(graph.n_entities, size=(2, head.size))
        true = E[head] + R[link] - E[tail]
        energy = np.abs(true).sum(axis=1)
        rows, links, slopes = [], [], []
        for heads, tails in ((other_heads, tail), (head, other_tails)):
            false = E[heads] + R[link] - E[tails]
            active = np.flatnonzero(1.0 + energy - np.abs(false).sum(axis=1) > 0)
            up, down = np.sign(true[active]), -np.sign(false[active])
            rows += [head[active], tail[active], heads[active], tails[active]]
            links += [link[active], link[active]]
            slopes += [(up, -up, down, -down), (up, down)]
        moved = _descend(E, np.concatenate(rows), np.concatenate(slopes[0] + slopes[2]))
        _descend(R, np.concatenate(links), np.concatenate(slopes[1] + slopes[3]))
        E[moved] = _of_length_one(E[moved])

    def train(epochs: int) -> str:
        for _ in range(epochs):
            order = rng.permutation(len(graph.train))
            for part in np.array_split(order, BATCHES):
                batch(*graph.train[part].T)
        return ""

    return Trainer(train, lambda: (E, R))


def _descend(table: Any, rows: Any, slopes: Any, rate: float = 0.01) -> Any:
    """Add up the slopes of each row, by a product with a sparse table, and move it; gives the rows moved."""
    moved, places = np.unique(rows, return_inverse=True)
    ones = np.ones(rows.size, dtype=np.float32)
    table[moved] -= rate * (csr_array((ones, (places, np.arange(rows.size)))) @ slopes)
    return moved


def _of_length_one(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
