"""The mutual co-embedding: its automatic search on the whole of 20 Newsgroups, and one fit at 10⁷ nonzeros.

The budget of the search is 40 × (one decomposition + one exact Γ), both measured here on the same
relation; one fit is measured beside correspondence analysis of the same corpus.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from scipy.sparse import csr_array, load_npz, save_npz

from benchmarks import harness
from benchmarks.budgets import judge
from benchmarks.harness import Measure, in_own_process, measured, report, show
from benchmarks.spectral import corpus
from relscape.datasets import load_newsgroups20
from relscape.errors import StorageError

FIXED = {"eta_rows": 1.5, "eta_columns": 1.25, "xi": 1.0, "gamma": 0.5}
EVALUATIONS = 40


def prepare_decomposition(matrix: csr_array) -> Callable[[], str]:
    from relscape.matrix.mutual import mutual_weights
    from relscape.matrix.operators import LocalRelation
    from relscape.models.mutual import mutual_axes
    from relscape.threads import one_thread

    relation = LocalRelation(matrix)

    def work() -> str:
        with one_thread():  # as a fit does it
            axes = mutual_axes(relation, mutual_weights(relation, 1.5, 1.25), 2)
        return f"σ = {axes.sigma[0]:.6f}"

    return work


def prepare_gamma(matrix: csr_array) -> Callable[[], str]:
    import relscape as rs

    model = rs.CorrespondenceAnalysis().fit(matrix)

    def work() -> str:
        loss = rs.gamma_loss(matrix, model.row_embedding_, model.column_embedding_, 5, 5, "positive")
        return f"Γ = {loss:.0f}"

    work()  # compile
    return work


def prepare_search(matrix: csr_array) -> Callable[[], str]:
    import relscape as rs

    rs.CoEmbedding(max_evaluations=2, random_state=0).fit(matrix[:500])  # compile

    def work() -> str:
        model = rs.CoEmbedding(max_evaluations=EVALUATIONS, random_state=0).fit(matrix)
        chosen = ", ".join(f"{name} {value:g}" for name, value in model.parameters_.items())
        near = model.search_neighbourhood_[:2]
        return f"{chosen}; Γ {model.gamma_loss_:.0f} of {model.gamma_pairs_} at k = {near}"

    return work


def prepare_fit(matrix: csr_array) -> Callable[[], str]:
    import relscape as rs

    rs.CoEmbedding(**FIXED).fit(matrix[:500])

    def work() -> str:
        model = rs.CoEmbedding(n_components=10, **FIXED).fit(matrix)
        return f"λ = {model.eigenvalues_[0]:.6f}"

    return work


def prepare_ca(matrix: csr_array) -> Callable[[], str]:
    import relscape as rs

    def work() -> str:
        return f"σ = {rs.CorrespondenceAnalysis(n_components=10).fit(matrix).singular_values_[0]:.6f}"

    return work


SEARCH_CASES = {
    "one decomposition, k = 2": prepare_decomposition,
    "one exact Γ": prepare_gamma,
    "CoEmbedding, automatic": prepare_search,
}
FIT_CASES = {
    "relscape CorrespondenceAnalysis": prepare_ca,
    "relscape CoEmbedding, parameters given": prepare_fit,
}
CASES = {**SEARCH_CASES, **FIT_CASES}


def main() -> None:
    """Run the search on 20 Newsgroups where it is, then one fit at 10⁷ nonzeros."""
    try:
        counts = load_newsgroups20().matrix()
        rows = run(SEARCH_CASES, counts)
        show("mutual search: the whole of 20 Newsgroups, k = 2", rows, "one decomposition, k = 2")
        unit = rows["one decomposition, k = 2"].wall + rows["one exact Γ"].wall
        ratio = rows["CoEmbedding, automatic"].wall / unit
        judge("CoEmbedding's automatic search, time", ratio)
        dense = 8e-6 * counts.shape[0] * counts.shape[1]
        judge("CoEmbedding's automatic search, memory", rows["CoEmbedding, automatic"].memory_mb / dense)
    except StorageError as error:
        print(f"mutual search: left out, {error}")
    rows = run(FIT_CASES, corpus(200_000, 100_000, 40, 66))
    show("mutual fit: 1.2e7 nonzeros, k = 10", rows, "relscape CorrespondenceAnalysis")


def run(cases: dict[str, Callable[[csr_array], Callable[[], str]]], matrix: csr_array) -> dict[str, Measure]:
    """Measure cases on one relation, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        save_npz(Path(folder) / "relation.npz", matrix, compressed=False)
        return {case: in_own_process("benchmarks.mutual", case, Path(folder)) for case in cases}


def run_case(case: str, folder: str) -> None:
    """Measure one case; the child process's part."""
    matrix = csr_array(load_npz(Path(folder) / "relation.npz"))
    if case == "CoEmbedding, automatic":
        harness.REPEATS = 1
    report(measured(lambda: CASES[case](matrix)))


if __name__ == "__main__":
    run_case(*sys.argv[1:])
