"""CODE: one likelihood-and-gradient evaluation beside numpy and autodiff, and the time to a likelihood.

The evaluation is the default model CM at 20,000 × 5,000 objects in the plane. The budget is 10 × plain numpy:
exact sums with an exponential written so that it runs on vector units. The time to a likelihood is taken on
the whole of 20 Newsgroups with the 2,000 most frequent words after the first 100, every message counting the
same; the likelihood is that of 100 iterations of the default solver.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, load_npz, save_npz

from benchmarks import harness
from benchmarks.budgets import judge
from benchmarks.harness import Measure, in_own_process, measured, report, show
from relscape.datasets import load_newsgroups20
from relscape.errors import StorageError

SHAPE, NONZEROS, Q = (20_000, 5_000), 2_000_000, 2
BLOCK = 500
ITERATIONS = 100
SECONDS = 600


def made_up() -> csr_array:
    """Draw counts with columns of very different frequency; every object has some."""
    rng = np.random.default_rng(0)
    m, n = SHAPE
    frequency = 1.0 / np.arange(1, n + 1)
    rows = np.concatenate([rng.integers(m, size=NONZEROS), np.arange(m), rng.integers(m, size=n)])
    columns = rng.choice(n, size=NONZEROS, p=frequency / frequency.sum())
    columns = np.concatenate([columns, rng.integers(n, size=m), np.arange(n)])
    return csr_array((np.ones(rows.size), (rows, columns)), shape=SHAPE)


def places(shape: tuple[int, int]) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).normal(size=(sum(shape), Q))


def marginals(counts: csr_array, equal_rows: bool) -> csr_array:
    """Give the empirical distribution of a table."""
    sums = np.asarray(counts.sum(axis=1)).ravel()
    weights = 1.0 / (len(sums) * sums) if equal_rows else np.full(len(sums), 1.0 / sums.sum())
    return csr_array(counts.multiply(weights[:, None]))


def numpy_evaluation(p: csr_array, block: int) -> Callable[[Any], tuple[float, Any]]:
    """−ℓ of CM and its gradient as one writes them in numpy, in blocks of rows."""
    rows_mass, columns_mass = (np.asarray(p.sum(axis=axis)).ravel() for axis in (1, 0))
    m, logs = p.shape[0], np.log(columns_mass)

    def evaluate(point: Any) -> tuple[float, Any]:
        point = point.reshape(-1, Q)
        left, right = point[:m], point[m:]
        value, gradient = 0.0, np.zeros_like(point)
        masses, moments = np.zeros(len(right)), np.zeros_like(right)
        for start in range(0, m, block):
            x, w = left[start : min(start + block, m)], rows_mass[start : start + block, None]
            squares = (x**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * x @ right.T
            exponents = logs - squares
            top = exponents.max(axis=1, keepdims=True)
            q = np.exp(exponents - top)
            z = q.sum(axis=1, keepdims=True)
            value += float((w * (top + np.log(z))).sum())
            q *= w / z
            gradient[start : start + len(x)] = 2 * (q @ right)
            masses += q.sum(axis=0)
            moments += q.T @ x
        times, turned = p @ right, p.T @ left
        value += rows_mass @ (left**2).sum(axis=1) + columns_mass @ (right**2).sum(axis=1)
        value -= 2 * np.vdot(left, times) + rows_mass @ np.log(rows_mass) + columns_mass @ logs
        gradient[:m] -= 2 * times
        gradient[m:] = 2 * (moments - turned - (masses - columns_mass)[:, None] * right)
        return float(value), gradient

    return evaluate


def prepare_numpy(counts: csr_array, block: int) -> Callable[[], str]:
    evaluate, point = numpy_evaluation(marginals(counts, False), block), places(counts.shape)

    def work() -> str:
        return f"-ℓ = {evaluate(point)[0]:.10f}"

    return work


def prepare_relscape(counts: csr_array) -> Callable[[], str]:
    from relscape.matrix.operators import LocalRelation
    from relscape.objectives.cooccurrence import CooccurrenceObjective, Table

    objective = CooccurrenceObjective(Table(LocalRelation(counts)), "CM")
    point = places(counts.shape)
    objective.value_and_gradient(point)  # compile

    def work() -> str:
        return f"-ℓ = {objective.value_and_gradient(point)[0]:.10f}"

    return work


def prepare_torch(counts: csr_array) -> Callable[[], str]:
    import torch

    p = marginals(counts, False).tocoo()
    index = [torch.from_numpy(np.asarray(side)) for side in p.coords]
    shares = torch.from_numpy(p.data)
    rows_mass, columns_mass = (torch.from_numpy(np.asarray(p.sum(axis=a)).ravel()) for a in (1, 0))
    m = p.shape[0]
    points = torch.from_numpy(places(counts.shape)).requires_grad_()

    def work() -> str:
        points.grad = None
        left, right = points[:m], points[m:]
        exponents = torch.log(columns_mass) - torch.cdist(left, right) ** 2
        normalisers = torch.logsumexp(exponents, dim=1)
        pairs = ((left[index[0]] - right[index[1]]) ** 2).sum(dim=1)
        value = shares @ pairs + rows_mass @ normalisers
        value = value - rows_mass @ torch.log(rows_mass) - columns_mass @ torch.log(columns_mass)
        value.backward()
        return f"-ℓ = {value.item():.10f}"

    return work


EVALUATION_CASES: dict[str, Callable[[csr_array], Callable[[], str]]] = {
    "plain numpy, whole arrays": lambda counts: prepare_numpy(counts, SHAPE[0]),
    "plain numpy, blocks of 500 rows": lambda counts: prepare_numpy(counts, BLOCK),
    "torch, autodiff": prepare_torch,
    "relscape": prepare_relscape,
}


def prepare_descent(counts: csr_array, solver: str, start: str) -> Callable[[], str]:
    """Descend until the likelihood in ``target.txt`` is reached, or for ten minutes."""
    from relscape.matrix.operators import LocalRelation
    from relscape.models.code import step_sizes
    from relscape.models.likelihood import spectral_start
    from relscape.objectives.cooccurrence import CooccurrenceObjective, Table
    from relscape.solvers.descent import minimise

    relation = LocalRelation(counts)
    table = Table(relation, equal_rows=True)
    objective = CooccurrenceObjective(table, "CM", 1e-6)
    objective.value_and_gradient(places(counts.shape))  # compile
    target = float(Path(sys.argv[2], "target.txt").read_text())

    def work() -> str:
        began = time.perf_counter()

        def there(iteration: int, value: float, point: Any) -> bool:  # noqa: ARG001
            return value <= target or time.perf_counter() - began > SECONDS

        random = np.random.default_rng(0).uniform(-1, 1, (sum(counts.shape), Q))
        first = spectral_start(relation, Q) if start == "ca" else random
        found = minimise(objective, first, solver, 0.0, 5000, there, step_sizes(table))
        reached = "" if found.value <= target else f", not reached ({found.value:.5f})"
        return f"{found.iterations} iterations{reached}"

    return work


def prepare_numpy_descent(counts: csr_array) -> Callable[[], str]:
    from relscape.matrix.operators import LocalRelation
    from relscape.models.likelihood import spectral_start

    evaluate = numpy_evaluation(marginals(counts, True), BLOCK)
    target = float(Path(sys.argv[2], "target.txt").read_text())

    def penalised(flat: Any) -> tuple[float, Any]:
        value, gradient = evaluate(flat)
        return value + 1e-6 * float(flat @ flat), gradient.ravel() + 2e-6 * flat

    def work() -> str:
        began = time.perf_counter()

        def there(intermediate_result: Any) -> None:
            if intermediate_result.fun <= target or time.perf_counter() - began > SECONDS:
                raise StopIteration

        start = spectral_start(LocalRelation(counts), Q).ravel()
        options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 0.0, "gtol": 0.0}
        found = minimize(penalised, start, jac=True, method="L-BFGS-B", callback=there, options=options)
        reached = "" if found.fun <= target else f", not reached ({found.fun:.5f})"
        return f"{found.nit} iterations{reached}"

    return work


DESCENT_CASES: dict[str, Callable[[csr_array], Callable[[], str]]] = {
    "scipy L-BFGS on the numpy objective": prepare_numpy_descent,
    "relscape L-BFGS, CA start": lambda counts: prepare_descent(counts, "lbfgs", "ca"),
    "relscape L-BFGS, random start": lambda counts: prepare_descent(counts, "lbfgs", "random"),
    "relscape CG, CA start": lambda counts: prepare_descent(counts, "cg", "ca"),
}
CASES = {**EVALUATION_CASES, **DESCENT_CASES}


def newsgroups() -> csr_array:
    """Give 20 Newsgroups with the 2,000 most frequent words after the first 100."""
    counts = load_newsgroups20().matrix()
    order = np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")
    counts = csr_array(counts[:, np.sort(order[100:2100])])
    return counts[np.asarray(counts.sum(axis=1)).ravel() > 0]


def main() -> None:
    """Measure one evaluation, then the time to a likelihood where the data is."""
    rows = run(EVALUATION_CASES, made_up())
    show("code evaluation: 20,000 × 5,000, q = 2, model CM", rows, "relscape")
    for peer in ("plain numpy, whole arrays", "plain numpy, blocks of 500 rows"):
        ratio = rows[peer].wall / rows["relscape"].wall
        judge(f"CODE value and gradient, beside {peer}", ratio)
    judge("CODE value and gradient, memory", rows["relscape"].memory_mb / (8e-6 * SHAPE[0] * SHAPE[1]))
    try:
        counts = newsgroups()
    except StorageError as error:
        print(f"time to a likelihood: left out, {error}")
        return
    rows = run(DESCENT_CASES, counts, reference_value(counts))
    show("code descent: 20 Newsgroups × 2,000 words to a given likelihood", rows, "relscape L-BFGS, CA start")


def reference_value(counts: csr_array) -> float:
    """Give the penalised value after 100 iterations of the default solver."""
    import relscape as rs

    model = rs.CODE(equal_rows=True, n_restarts=1, max_iterations=ITERATIONS).fit(counts)
    return float(model.solve_result_.value)


def run(
    cases: dict[str, Callable[[csr_array], Callable[[], str]]], counts: csr_array, target: float = np.nan
) -> dict[str, Measure]:
    """Measure cases on one table, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        save_npz(Path(folder) / "relation.npz", counts, compressed=False)
        Path(folder, "target.txt").write_text(repr(target))
        return {case: in_own_process("benchmarks.cooccurrence", case, Path(folder)) for case in cases}


def run_case(case: str, folder: str) -> None:
    """Measure one case; the child process's part."""
    counts = csr_array(load_npz(Path(folder) / "relation.npz"))
    if case in DESCENT_CASES:
        harness.REPEATS = 1
    report(measured(lambda: CASES[case](counts)))


if __name__ == "__main__":
    run_case(*sys.argv[1:])
