"""Spectral co-embedding of a sparse relation with 10⁷ nonzeros, beside the bare truncated SVD and peers.

The relation is a made-up corpus: 200,000 documents of 40 topics over 100,000 words with Zipf's
frequencies. Every case runs in a process of its own on the same file, k = 10, tolerance 1e-8.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, diags_array, load_npz, save_npz

from benchmarks.budgets import judge
from benchmarks.harness import Measure, in_own_process, measured, report, show
from relscape.datasets import load_newsgroups20
from relscape.errors import StorageError

K = 10
TOLERANCE = 1e-8


def corpus(documents: int, words: int, topics: int, length: int, seed: int = 0) -> csr_array:
    """Draw documents whose words come half from their topic and half from everywhere."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(topics, size=documents)
    i = np.repeat(np.arange(documents, dtype=np.int32), length)
    word = np.minimum(np.exp(rng.random(i.size) * np.log(words)).astype(np.int64) - 1, words - 1)
    own = rng.random(i.size) < 0.5
    j = np.where(own, (word * 7919 + topic[i] * 2503) % words, word).astype(np.int32)
    matrix = csr_array((np.ones(i.size), (i, j)), shape=(documents, words))
    matrix.sum_duplicates()
    rows = np.asarray(matrix.sum(axis=1)).ravel() > 0
    columns = np.asarray(matrix.sum(axis=0)).ravel() > 0
    return csr_array(matrix[rows][:, columns])


def balanced(matrix: csr_array) -> csr_array:
    """Scale by the roots of the sums: the matrix whose singular vectors CA takes."""
    rows, columns = np.asarray(matrix.sum(axis=1)).ravel(), np.asarray(matrix.sum(axis=0)).ravel()
    return csr_array(diags_array(rows**-0.5) @ matrix @ diags_array(columns**-0.5))


def prepare_svds(matrix: csr_array, extra: int = 0) -> Callable[[], str]:
    from scipy.sparse.linalg import svds

    scaled = balanced(matrix)

    def work() -> str:
        _, values, _ = svds(scaled, k=extra + K, tol=TOLERANCE, solver="arpack", rng=0)
        return f"σ2 = {np.sort(values)[::-1][1]:.6f}"

    return work


def prepare_randomized(matrix: csr_array) -> Callable[[], str]:
    from sklearn.utils.extmath import randomized_svd

    scaled = balanced(matrix)

    def work() -> str:
        _, values, _ = randomized_svd(scaled, K + 1, random_state=0)
        return f"σ2 = {values[1]:.6f}, σ11 = {values[10]:.6f} (approximate)"

    return work


def prepare_relscape(name: str) -> Callable[[csr_array], Callable[[], str]]:
    def prepare(matrix: csr_array) -> Callable[[], str]:
        import relscape as rs

        model = getattr(rs, name)
        model(n_components=2).fit(corpus(20_000, 10_000, 10, 60))  # load compiled kernels

        def work() -> str:
            fitted = model(n_components=K).fit(matrix)
            return f"first σ = {fitted.singular_values_[0]:.6f}, last {fitted.singular_values_[-1]:.6f}"

        return work

    return prepare


def prepare_sknetwork(matrix: csr_array) -> Callable[[], str]:
    from scipy.sparse import csr_matrix
    from sknetwork.embedding import GSVD

    biadjacency = csr_matrix(matrix)

    def work() -> str:
        model = GSVD(n_components=K + 1, solver="lanczos")
        model.fit(biadjacency)
        return f"σ2 = {np.sort(model.singular_values_)[::-1][1]:.6f}"

    return work


def prepare_prince(matrix: csr_array) -> Callable[[], str]:
    import pandas as pd
    import prince

    needed = matrix.shape[0] * matrix.shape[1] * 8 / 2**30
    if needed > 8:
        raise MemoryError(f"prince takes dense tables only: {needed:.0f} GB for this one")
    frame = pd.DataFrame(matrix.toarray())

    def work() -> str:
        model = prince.CA(n_components=K).fit(frame)
        return f"first σ = {np.sqrt(model.eigenvalues_[0]):.6f}"

    return work


SAME_K = "scipy svds (ARPACK), k = 10"
SAME_AXES = "scipy svds (ARPACK), k = 11"

CASES: dict[str, Callable[[csr_array], Callable[[], str]]] = {
    SAME_K: prepare_svds,
    SAME_AXES: lambda matrix: prepare_svds(matrix, extra=1),  # the trivial triplet and ten more, as CA
    "relscape CorrespondenceAnalysis": prepare_relscape("CorrespondenceAnalysis"),
    "relscape BipartiteSpectral": prepare_relscape("BipartiteSpectral"),
    "relscape LatentSemanticIndexing": prepare_relscape("LatentSemanticIndexing"),
    "scikit-learn randomized_svd": prepare_randomized,
    "scikit-network GSVD (Lanczos)": prepare_sknetwork,
    "prince CA": prepare_prince,
}

SIZES = {
    "spectral 1e7: a made-up corpus, k = 10": lambda: corpus(200_000, 100_000, 40, 66),
    "spectral small: a made-up corpus, k = 10": lambda: corpus(4_000, 3_000, 20, 60),
    "spectral newsgroups20: the whole of 20 Newsgroups, k = 10": lambda: load_newsgroups20().matrix(),
}
BUDGETED = ("relscape CorrespondenceAnalysis", "relscape BipartiteSpectral")


def main() -> None:
    """Run all cases on all sizes, and judge the budgets of the large one."""
    for title, make in SIZES.items():
        try:
            matrix = make()
        except StorageError as error:
            print(f"\n{title}: left out, {error}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            save_npz(Path(folder) / "relation.npz", matrix, compressed=False)
            megabytes = (matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes) / 2**20
            print(f"\n{matrix.shape[0]:,} × {matrix.shape[1]:,}, {matrix.nnz:,} nonzeros, {megabytes:.0f} MB")
            rows = {case: in_own_process("benchmarks.spectral", case, Path(folder)) for case in CASES}
        show(title, rows, SAME_AXES)
        if "1e7" in title:
            judge_large(rows, megabytes)


def judge_large(rows: dict[str, Measure], megabytes: float) -> None:
    """Compare with the budgets: time with the bare decomposition, memory with the matrix."""
    for name in BUDGETED:
        method = name.removeprefix("relscape ")
        judge(f"{method}, 10⁷ nonzeros, time", rows[name].wall / rows[SAME_AXES].wall)
        judge(f"{method}, 10⁷ nonzeros, memory", rows[name].memory_mb / megabytes)


def run_case(case: str, folder: str) -> None:
    """Measure one case; the child process's part."""
    matrix = csr_array(load_npz(Path(folder) / "relation.npz"))
    report(measured(lambda: CASES[case](matrix)))


if __name__ == "__main__":
    run_case(*sys.argv[1:])
