"""Who ranks in the benchmark of knowledge graphs: relscape, PyKEEN, and bare matrix products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Measure
from benchmarks.knowledge_trainers import LENGTH, pykeen_weights
from relscape import KGEmbedding, KnowledgeGraph

SAMPLES = (64, 2048)  # test triples that PyKEEN ranks
SAMPLE_BATCH = 8


def trained(model: str, entities: Any, relations: Any, norm: str = "auto") -> Any:
    """Give an energy with these vectors, ready to rank."""
    from relscape.models.knowledge_scoring import Trained
    from relscape.objectives.energies.base import assemble

    plan = KGEmbedding(model, LENGTH, norm=norm).check()
    return Trained(plan.energy, assemble(entities, relations), plan.settings)


def _stored(folder: Path, model: str) -> Any:
    vectors = np.load(folder / f"{model}.npz")
    return trained(model, vectors["E"], vectors["R"], "l2" if model == "TransE" else "auto")


def prepare_ranking(folder: Path, graph: KnowledgeGraph, model: str) -> Callable[[], str]:
    ready = _stored(folder, model)
    ready.rank(graph.test[:100], graph)  # compile

    def work() -> str:
        return f"filtered MRR {ready.rank(graph.test, graph).mrr:.4f}"

    return work


def prepare_products(folder: Path, graph: KnowledgeGraph, repeated: bool) -> Callable[[], str]:
    """Multiply all entities with one vector a question, in blocks as the ranking does; nothing else."""
    from relscape.scores.rank_counts import BLOCK_BYTES

    E = np.load(folder / "TransE.npz")["E"]
    asked = [graph.test[:, columns] for columns in ([0, 1], [2, 1])]
    entities = np.concatenate([(a if repeated else np.unique(a, axis=0))[:, 0] for a in asked])
    found = np.empty((BLOCK_BYTES // (8 * len(E)), len(E)), dtype=E.dtype)

    def work() -> str:
        for start in range(0, entities.size, len(found)):
            rows = E[entities[start : start + len(found)]]
            np.matmul(rows, E.T, out=found[: len(rows)])
        return f"{entities.size:,} questions"

    return work


def prepare_pykeen_ranking(
    folder: Path, graph: KnowledgeGraph, model: str, threads: int, size: int
) -> Callable[[], str]:
    """Rank a sample of the test triples by PyKEEN's evaluator, with the vectors that relscape ranks."""
    import torch
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models import DistMult, TransE
    from pykeen.triples import CoreTriplesFactory

    torch.set_num_threads(threads)
    facts = CoreTriplesFactory(torch.from_numpy(graph.train), graph.n_entities, graph.n_relations)
    if model == "TransE":
        peer = TransE(triples_factory=facts, embedding_dim=LENGTH, scoring_fct_norm=2)
    else:
        peer = DistMult(triples_factory=facts, embedding_dim=LENGTH)
    ready = _stored(folder, model)
    with torch.no_grad():
        for table, name in zip(pykeen_weights(peer), ("entities", "relations"), strict=True):
            table.copy_(torch.from_numpy(ready.params[name]))
    sample = np.random.default_rng(0).choice(graph.test, size, replace=False)
    ours = ready.rank(sample, graph).mrr
    parts = [torch.from_numpy(part) for part in (graph.train, graph.valid, graph.test)]
    evaluator = RankBasedEvaluator(filtered=True)

    def work() -> str:
        found = evaluator.evaluate(
            peer,
            torch.from_numpy(sample),
            batch_size=SAMPLE_BATCH,
            use_tqdm=False,
            additional_filter_triples=parts,
        )
        mrr = found.get_metric("both.realistic.inverse_harmonic_mean_rank")
        return f"MRR of {size} triples {mrr:.4f}, by relscape {ours:.4f}"

    return work


def of_all_triples(rows: dict[str, Measure], n: int) -> dict[str, Measure]:
    """Put one row in place of two of PyKEEN's: what it does once, and n times what it does for a triple."""
    found = {name: row for name, row in rows.items() if not name.startswith("PyKEEN")}
    few, many = SAMPLES
    for name, more in rows.items():
        begin = name.removesuffix(f", {many} triples")
        if begin == name:
            continue
        fewer = rows[f"{begin}, {few} triples"]
        wall, cpu = (
            more_time + (more_time - less_time) / (many - few) * (n - many)
            for less_time, more_time in ((fewer.wall, more.wall), (fewer.cpu, more.cpu))
        )
        note = f"from {few} in {fewer.wall:.2f} s, {many} in {more.wall:.2f} s; {more.note}"
        found[begin] = replace(more, wall=wall, cpu=cpu, note=note)
    return found
