"""Document networks: one full gradient beside plain numpy, torch and the bare distances; training; growth.

Places of 10,000 documents in 20 dimensions, contents with 60 neighbours each, three links a document, all
made up. The reference is scikit-learn's ``euclidean_distances(H, squared=True)`` in single precision, which
is but a part of the work. Budget: a full gradient, value included, in twice that time, and memory that does
not grow with the pairs. Plain numpy and torch hold all pairs in single precision at once.

Training is that of ``DocumentNetwork`` on WebKB and Cora (0/1 words, a tenth of the links held out, ranks of
citing documents): the default procedure and the thesis' adaptive one, stopped early or left until the cost is
flat, with the rank of the held-out links at that time. Growth trains 100 steps on made-up documents of twenty
topics in 50 dimensions, links within topics; the search for neighbours by contents is included.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks import harness
from benchmarks.budgets import judge
from benchmarks.harness import in_own_process, measured, report, show

DOCUMENTS, DIMENSIONS = 10_000, 20
NEIGHBOURS, LINKS = 60, 3
GROWTH = (1_000, 10_000, 100_000)
TRAINED = 2000  # steps at most by default
STEPS, TOPICS, FEATURES = 100, 20, 50
# Steps of Adam, or rounds of 20 steps; with 2000 training goes on until the cost is flat.
TRAINING = {
    "webkb": {"adam": (25, 100, TRAINED), "adaptive": (5, 20, TRAINED)},
    "cora": {"adam": (25, 100, TRAINED), "adaptive": (5, 20, 80)},
}


def network(n: int) -> tuple[Any, csr_array, Any, Any]:
    """Draw places, contents, links and triples."""
    from relscape.objectives.link_triples import draw_triples

    rng = np.random.default_rng(0)
    H = rng.uniform(-1.0, 1.0, size=(n, DIMENSIONS)) * np.sqrt(6 / DIMENSIONS)
    rows = np.repeat(np.arange(n), NEIGHBOURS)
    columns = (rows + rng.integers(1, n, size=rows.size)) % n
    contents = csr_array((np.full(rows.size, 1 / NEIGHBOURS), (rows, columns)), shape=(n, n))
    pairs = np.unique(rng.integers(n, size=(LINKS * n, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return H, contents, pairs, draw_triples(pairs, n, rng)


def prepare_distances(n: int) -> Callable[[], str]:
    from sklearn.metrics.pairwise import euclidean_distances

    H = network(n)[0].astype(np.float32)
    euclidean_distances(H[:500], squared=True)

    def work() -> str:
        euclidean_distances(H, squared=True)
        return "distances only"

    return work


def prepare_exact(n: int) -> Callable[[], str]:
    from relscape.objectives.linkage import Linkage

    H, contents, _, triples = network(n)
    small = network(500)
    Linkage(small[1], 1.0, 1 / 500).value_and_gradient_of(small[0], small[3])  # compile
    cost = Linkage(contents, 1.0, 1 / n)
    return lambda: f"cost {cost.value_and_gradient_of(H, triples)[0].total:.6f}"


def prepare_sampled(n: int) -> Callable[[], str]:
    from relscape.objectives.sampled_linkage import SampledLinkage

    H, contents, pairs, triples = network(n)
    small = network(500)
    SampledLinkage(*small[1:3], 1.0, 1 / 500).value_and_gradient_of(small[0], small[3])  # compile
    cost = SampledLinkage(contents, pairs, 1.0, 1 / n, random_state=0)
    return lambda: f"cost {cost.value_and_gradient_of(H, triples)[0].total:.6f}"


def prepare_numpy(n: int) -> Callable[[], str]:
    """Take the matrix form with all pairs at once, in single precision."""
    H, contents, _, triples = network(n)
    H = H.astype(np.float32)
    i, j, other = triples.T
    share = np.float32(1 / (n - 1))
    entropy = float(share) * float(contents.data @ np.log(contents.data))

    def work() -> str:
        squares = (H * H).sum(axis=1)
        w = squares[:, None] + squares - 2.0 * H @ H.T
        np.maximum(w, 0.0, out=w)
        w += 1.0
        np.reciprocal(w, out=w)
        np.fill_diagonal(w, 0.0)
        Z = w.sum(axis=1)
        p, rival = w[i, j] / Z[i], w[i, other] / Z[i]
        active = rival - p + 1 / n > 0
        scale = n / len(triples)
        link = scale * float(np.maximum(rival - p + 1 / n, 0).sum())
        weights = np.zeros(n, np.float32)
        np.add.at(weights, i[active], scale * (rival - p)[active])
        S = ((weights - share) / Z)[:, None] * w
        np.subtract.at(S, (i[active], other[active]), scale * rival[active])
        np.add.at(S, (i[active], j[active]), scale * p[active])
        rows = np.repeat(np.arange(n), np.diff(contents.indptr))
        S[rows, contents.indices] += share * contents.data
        logs = np.log(w[rows, contents.indices])
        content = entropy + float(share) * float(np.log(Z).sum() - contents.data @ logs)
        S *= w
        S = S + S.T
        2.0 * (S.sum(axis=1)[:, None] * H - S @ H)
        return f"cost {link + content:.6f}"

    return work


def prepare_torch(n: int) -> Callable[[], str]:
    """Write the cost down plainly, its gradient by automatic differentiation."""
    import torch

    H, contents, _, triples = network(n)
    place = torch.tensor(H, dtype=torch.float32, requires_grad=True)
    i, j, other = (torch.tensor(column) for column in triples.T)
    rows = torch.tensor(np.repeat(np.arange(n), np.diff(contents.indptr)))
    columns, q = torch.tensor(contents.indices), torch.tensor(contents.data, dtype=torch.float32)

    def work() -> str:
        place.grad = None
        squares = (place * place).sum(1)
        d = (squares[:, None] + squares - 2 * place @ place.T).clamp(min=0)
        w = 1 / (1 + d)
        Z = w.sum(1) - w.diagonal()
        bracket = (w[i, other] - w[i, j]) / Z[i] + 1 / n
        divergence = (q * (q.log() - (w[rows, columns] / Z[rows]).log())).sum()
        cost = n * bracket.clamp(min=0).mean() + divergence / (n - 1)
        cost.backward()
        return f"cost {float(cost.detach()):.6f}"

    return work


def prepare_training(n: int) -> Callable[[], str]:
    """Train 100 steps on documents of twenty topics, three links each, nine in ten of them within a topic."""
    from relscape import DocumentNetwork

    rng = np.random.default_rng(0)
    topics = rng.integers(TOPICS, size=n)
    contents = 4.0 * rng.normal(size=(TOPICS, FEATURES))[topics] + 4.0 * rng.normal(size=(n, FEATURES))
    members = [np.flatnonzero(topics == topic) for topic in range(TOPICS)]
    sources = np.repeat(np.arange(n), LINKS)
    within = np.array([members[topic][rng.integers(len(members[topic]))] for topic in topics[sources]])
    targets = np.where(rng.random(sources.size) < 0.9, within, rng.integers(n, size=sources.size))
    pairs = np.unique(np.column_stack([sources, targets])[sources != targets], axis=0)
    held_out = rng.random(len(pairs)) < 0.1
    tested = pairs[held_out][:2_000]

    def work() -> str:
        model = DocumentNetwork(row_normalize=False, max_iterations=STEPS, tolerance=0.0, random_state=0)
        model.fit(contents, pairs[~held_out])
        return f"test mean rank {model.rank(tested).mean_rank:.0f}"

    DocumentNetwork(max_iterations=2, random_state=0).fit(contents[:500], _among(pairs, 500))  # compile
    return work


def _among(pairs: Any, n: int) -> Any:
    return pairs[(pairs < n).all(axis=1)]


def prepare_procedure(name: str, procedure: str, most: int) -> Callable[[], str]:
    """Train on a public set by one procedure, with so many steps or rounds at most."""
    from relscape import DocumentNetwork, datasets
    from relscape.data.link_splits import hold_out_links

    data = getattr(datasets, f"load_{name}")()
    cited, citing = data.relations["links"].matrix.tocoo().coords
    train, test = hold_out_links(np.column_stack([citing, cited]).astype(np.int64), random_state=0)
    contents = data.relations["words"].matrix
    arguments = {"direction": "in", "row_normalize": False, "training": procedure, "random_state": 0}
    arguments["init"] = "random" if procedure == "adaptive" else "auto"

    def work() -> str:
        model = DocumentNetwork(max_iterations=most, **arguments).fit(contents, train)
        ended = model.solve_result_
        return (
            f"cost {model.cost_['total']:.2f}, test mean rank {model.rank(test).mean_rank:.1f}, "
            f"{ended.iterations} iterations"
        )

    DocumentNetwork(max_iterations=1, **arguments).fit(contents, train)  # compile
    return work


GRADIENTS: dict[str, Callable[[int], Callable[[], str]]] = {
    "sklearn euclidean_distances": prepare_distances,
    "relscape exact": prepare_exact,
    "relscape sampled": prepare_sampled,
    "plain numpy": prepare_numpy,
    "torch": prepare_torch,
}
CASES: dict[str, Callable[[int], Callable[[], str]]] = {
    **GRADIENTS,
    "training": prepare_training,
    **{
        f"{name} {procedure}": partial(prepare_procedure, name, procedure)
        for name, procedures in TRAINING.items()
        for procedure in procedures
    },
}


def main() -> None:
    """Compare at 10,000 documents, then the growth of a gradient's cost, then training."""
    rows = {case: _run(case, DOCUMENTS) for case in GRADIENTS}
    show(f"network gradient: {DOCUMENTS:,} × {DIMENSIONS}", rows, "sklearn euclidean_distances")
    ratio = rows["relscape exact"].wall / rows["sklearn euclidean_distances"].wall
    judge("DocumentNetwork, one full gradient, n = 10,000, time", ratio)
    share = rows["relscape exact"].memory_mb / (4e-6 * DOCUMENTS**2)
    judge("DocumentNetwork, one full gradient, n = 10,000, memory", share)
    grown = {}
    for n in GROWTH:
        grown[f"n = {n:,}, exact"] = _run("relscape exact", n)
        grown[f"n = {n:,}, sampled"] = _run("relscape sampled", n)
    show(f"network growth: one gradient, {DIMENSIONS} dimensions", grown, next(iter(grown)))
    for name, procedures in TRAINING.items():
        trained = {
            f"{procedure}, at most {most}": _run(f"{name} {procedure}", most)
            for procedure, budgets in procedures.items()
            for most in budgets
        }
        show(f"network training {name}: cost and rank in time", trained, f"adam, at most {TRAINED}")
    lasting = {f"n = {n:,}": _run("training", n) for n in GROWTH}
    show(f"network training growth: {STEPS} steps", lasting, next(iter(lasting)))


def _run(case: str, n: int) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "n").write_text(str(n))
        return in_own_process("benchmarks.network", case, Path(folder), 1800)


if __name__ == "__main__":
    if sys.argv[1] not in GRADIENTS:
        harness.REPEATS = 1  # a training is long enough to be timed once
    report(measured(lambda: CASES[sys.argv[1]](int((Path(sys.argv[2]) / "n").read_text()))))
