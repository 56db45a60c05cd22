"""Placing a new entity in a trained knowledge graph by a few of its triples; nothing else moves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relscape.data.facts import as_facts
from relscape.data.labels import as_text
from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError, listing
from relscape.models.knowledge_scoring import Trained
from relscape.models.knowledge_settings import Plan
from relscape.models.knowledge_training import training_data
from relscape.objectives.energies import Params
from relscape.protocols import FloatArray, IntArray
from relscape.solvers.triples.training import new_state, train_epoch, training_set, with_reciprocals

__all__ = ["placed_entity"]

_EPOCHS = 200
_FROZEN = ("relations", "shared")


def placed_entity(
    trained: Trained,
    plan: Plan,
    graph: KnowledgeGraph,
    name: str,
    triples: Any,
    label: str | None,
    seed: int,
) -> tuple[KnowledgeGraph, Params]:
    """Give the graph with one more entity and its triples, and the parameters with one more row.

    The row begins where that known entity lies which would make the triples most likely, and is then trained
    on them alone with the settings of the model.
    """
    grown, own = _grown(graph, name, triples, label)
    row = _start(trained, own, graph.n_entities)
    params = {part: rows.copy() for part, rows in trained.params.items()}
    params["entities"] = np.vstack([params["entities"], row[None, :]])
    learnt = with_reciprocals(own, graph.n_relations) if plan.reciprocal else own
    data = training_set(learnt, training_data(plan, grown, None).sampler)
    options = replace(
        plan.engine, n_epochs=_EPOCHS, n_batches=1, n_jobs=1, mode="minibatch", schedule="constant"
    )
    state = new_state(params, options, np.random.SeedSequence([seed, 7]))
    for _ in range(_EPOCHS):
        train_epoch(plan.energy, params, state, data, options)
        params["entities"][:-1] = trained.params["entities"]
        for part in _FROZEN:
            params[part][:] = trained.params[part]
    return grown, params


def _grown(
    graph: KnowledgeGraph, name: str, triples: Any, label: str | None
) -> tuple[KnowledgeGraph, IntArray]:
    """Add the entity and its triples to the training triples; gives the new triples as numbers, too."""
    if name in set(graph.entities):
        raise DataError(f"there is an entity {name!r} already; a new one needs a name of its own.")
    facts = as_facts(triples, "triples")
    if not len(facts):
        raise DataError(f"there are no triples to place {name!r} by; give some of its facts.")
    names = [as_text(column) for column in facts.columns]
    strangers = [
        facts.place(row)
        for row, (head, _, tail) in enumerate(zip(*names, strict=True))
        if name not in (head, tail)
    ]
    if strangers:
        raise DataError(f"{listing(strangers)}: {name!r} is neither head nor tail; give its own facts only.")
    entities = np.append(graph.entities, np.array([name], dtype=object))
    labels = None
    if graph.entity_labels is not None or label is not None:
        labels = np.append(graph.shown, np.array([label or name], dtype=object))
    own = KnowledgeGraph(np.column_stack(names), entities=entities, relations=graph.relations).train
    weights = None if graph.weights is None else np.append(graph.weights, np.ones(len(own)))
    train = np.concatenate([graph.train, own])
    grown = KnowledgeGraph(train, graph.valid, graph.test, entities, graph.relations, labels, weights)
    return grown, own


def _start(trained: Trained, own: IntArray, new: int) -> FloatArray:
    """Take the row of the entity whose place would give the triples the least energy on average."""
    totals = np.zeros(new)
    for head, relation, tail in own:
        if head != tail:
            asked = np.array([tail if head == new else head])
            score = trained.heads_of if head == new else trained.tails_of
            totals += score(asked, np.array([relation]))[0]
    return np.asarray(trained.params["entities"][int(np.argmin(totals))].copy())
