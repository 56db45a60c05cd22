"""COVA: E1 and E2 beside openTSNE and UMAP on the same points, one move, and growth with their number.

The points are made up: cohorts of very different spread in 50 dimensions, in families that overlap.
openTSNE and relscape get the same graph (perplexity 30, 90 neighbours), made beforehand and not counted;
UMAP makes its own, which is counted. S_s, S_n and S_c^(r) are percentages; cohort neighbours are those of
the cohorts' centres in the 50 dimensions. Budgets: E1 at 100,000 points a quarter of openTSNE's time, E2 at
50,000 points 1.3 × openTSNE's for the same number of iterations, a move at 50,000 points 20 ms.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz

from benchmarks import harness
from benchmarks.budgets import judge
from benchmarks.harness import Measure, in_own_process, measured, report, show

LARGE, MIDDLE = 100_000, 50_000
COHORTS, DIMENSIONS, FAMILIES = 20, 50, 5
GROWTH = (1_000, 10_000, 100_000)
PAPER_SIZES = (500, 1_000, 2_000, 4_000, 7_000)
PAPER_VARIANTS = ("eigen", "E1", "E2", "P1", "P2", "P4")
MOVES = 50


def points(n: int) -> tuple[Any, Any]:
    """Draw cohorts around centres that lie near one another within families."""
    rng = np.random.default_rng(0)
    families = rng.normal(scale=4.0, size=(FAMILIES, DIMENSIONS))
    centres = families[np.arange(COHORTS) % FAMILIES] + rng.normal(scale=1.5, size=(COHORTS, DIMENSIONS))
    spread = rng.uniform(0.8, 2.0, COHORTS)
    labels = rng.integers(COHORTS, size=n)
    return centres[labels] + rng.normal(size=(n, DIMENSIONS)) * spread[labels][:, None], labels


def loaded(folder: Path) -> tuple[Any, Any, csr_array]:
    return np.load(folder / "X.npy"), np.load(folder / "y.npy"), csr_array(load_npz(folder / "W.npz"))


def prepare_opentsne(folder: Path, rounds: tuple[int, int] | None) -> Callable[[], str]:
    """Take openTSNE's own settings and both cores; ``rounds`` are those with exaggeration and those after.

    Without, as many as COVA took before.
    """
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PrecomputedAffinities
    from openTSNE.initialization import pca

    X, _, W = loaded(folder)
    affinities = PrecomputedAffinities(W, normalize=False)
    start = pca(X, random_state=0)

    def work() -> str:
        embedding = TSNEEmbedding(start.copy(), affinities, n_jobs=2, random_state=0)
        early, late = rounds or (0, int((folder / "iterations").read_text()))
        if early:
            embedding.optimize(early, exaggeration=12, momentum=0.5, inplace=True)
        embedding.optimize(late, momentum=0.8, inplace=True)
        np.save(folder / "Z.npy", np.asarray(embedding))
        return f"{early + late} iterations"

    return work


def prepare_umap(folder: Path) -> Callable[[], str]:
    from umap import UMAP

    X, _, _ = loaded(folder)
    UMAP(n_neighbors=15, n_jobs=2).fit(X[:2000])  # compile

    def work() -> str:
        np.save(folder / "Z.npy", UMAP(n_neighbors=15, n_jobs=2).fit_transform(X))
        return "with its own graph"

    return work


def prepare_cova(folder: Path, variant: str) -> Callable[[], str]:
    import relscape as rs

    X, y, W = loaded(folder)
    small = rs.COVA(variant, random_state=0, max_iterations=3)
    small.fit(X[:4000], y[:4000])  # compile

    def work() -> str:
        model = rs.COVA(variant, affinity=W, random_state=0).fit(X, y)
        np.save(folder / "Z.npy", model.embedding_)
        (folder / "iterations").write_text(str(model.solve_result_.iterations))
        return f"{model.solve_result_.iterations} iterations"

    return work


def prepare_move(folder: Path) -> Callable[[], str]:
    import relscape as rs

    X, y, W = loaded(folder)
    model = rs.COVA("E1", affinity=W, random_state=0).fit(X, y)
    moved = model.prototypes_.copy()

    def work() -> str:
        for _ in range(MOVES):
            moved[3] += 0.01
            model.move(moved)
        return f"{MOVES} moves"

    return work


def prepare_e1_alone(folder: Path) -> Callable[[], str]:
    """E1 from the points, with its own graph of 15 neighbours."""
    import relscape as rs

    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    settings = rs.GaussianAffinity(perplexity=5.0, n_neighbors=15)
    rs.COVA("E1", affinity=settings, random_state=0).fit(X[:1000], y[:1000])

    def work() -> str:
        started = time.perf_counter()
        graph = settings.fit(X, y, 0)
        made = time.perf_counter() - started
        rs.COVA("E1", affinity=graph.weights, random_state=0).fit(X, y)
        return f"graph {made:.2f} s"

    return work


def prepare_small(folder: Path, method: str) -> Callable[[], str]:
    """One method of the paper's timing figure, from the points."""
    import relscape as rs

    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    if method == "NCA":
        from sklearn.neighbors import NeighborhoodComponentsAnalysis

        return lambda: (
            f"{NeighborhoodComponentsAnalysis(n_components=2, random_state=0).fit(X, y).n_iter_} it."
        )
    models = {"SNE": rs.SNE(random_state=0), "t-SNE": rs.TSNE(random_state=0)}
    model = models.get(method) or rs.COVA(method, random_state=0)
    model.fit(X[:300], y[:300])

    def work() -> str:
        model.fit(X, y)
        return ""

    return work


CASES: dict[str, Callable[[Path], Callable[[], str]]] = {
    "openTSNE": lambda folder: prepare_opentsne(folder, (250, 500)),
    "openTSNE, as many iterations": lambda folder: prepare_opentsne(folder, None),
    "umap-learn": prepare_umap,
    "relscape COVA E1": lambda folder: prepare_cova(folder, "E1"),
    "relscape COVA E2": lambda folder: prepare_cova(folder, "E2"),
    "moves": prepare_move,
    "E1 with its graph": prepare_e1_alone,
    **{
        method: (lambda folder, method=method: prepare_small(folder, method))
        for method in (*PAPER_VARIANTS, "SNE", "t-SNE", "NCA")
    },
}


def main() -> None:
    """Compare at 100,000 and 50,000 points, then the growth of cost."""
    rows = compared(LARGE, ("openTSNE", "umap-learn", "relscape COVA E1"))
    show(f"cohorts E1: {LARGE:,} × {DIMENSIONS}", rows, "openTSNE")
    judge("COVA-E1, 100,000 points", rows["relscape COVA E1"].wall / rows["openTSNE"].wall)
    rows = compared(MIDDLE, ("relscape COVA E2", "openTSNE, as many iterations", "umap-learn"))
    show(f"cohorts E2: {MIDDLE:,} × {DIMENSIONS}", rows, "openTSNE, as many iterations")
    ratio = rows["relscape COVA E2"].wall / rows["openTSNE, as many iterations"].wall
    judge("COVA-E2, 50,000 points, as many iterations", ratio)
    move = compared(MIDDLE, ("moves",))["moves"]
    judge("moving prototypes, 50,000 points", 1000 * move.wall / MOVES)
    growth(GROWTH)
    paper()


def growth(sizes: tuple[int, ...]) -> None:
    """Follow E1's cost, graph of 15 neighbours included, with the number of points."""
    rows = {}
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            _store(Path(folder), n, graph=False)
            rows[f"n = {n:,}"] = in_own_process("benchmarks.cohorts", "E1 with its graph", Path(folder), 3600)
    show(f"cohorts growth: E1, up to {max(sizes):,} points", rows, next(iter(rows)))


def paper() -> None:
    """Repeat the paper's timing comparison (figure H.11), 500 to 7,000 points."""
    for n in PAPER_SIZES:
        with tempfile.TemporaryDirectory() as folder:
            _store(Path(folder), n, graph=False)
            names = (*PAPER_VARIANTS, "SNE", "t-SNE", "NCA")
            rows = {m: in_own_process("benchmarks.cohorts", m, Path(folder), 300) for m in names}
        show(f"cohorts paper {n}: figure H.11, {n:,} × {DIMENSIONS}", rows, "t-SNE")


def compared(n: int, cases: tuple[str, ...]) -> dict[str, Measure]:
    """Measure cases on the same points and graph, each in a process of its own, and score their maps."""
    rows = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _store(folder, n, graph=True)
        for case in cases:
            row = in_own_process("benchmarks.cohorts", case, folder, 3600)
            if (folder / "Z.npy").exists():
                row = replace(row, note=f"{row.note}; {_scores(folder)}")
                (folder / "Z.npy").unlink()
            rows[case] = row
    return rows


def _store(folder: Path, n: int, graph: bool) -> None:
    X, y = points(n)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    if graph:
        from relscape import GaussianAffinity

        save_npz(folder / "W.npz", GaussianAffinity().fit(X, None, 0).weights, compressed=False)


def _scores(folder: Path) -> str:
    import relscape as rs

    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    Z = np.asarray(np.load(folder / "Z.npy"), dtype=np.float64)
    centres = np.array([X[y == cohort].mean(axis=0) for cohort in np.unique(y)])
    scores = {
        "S_s": rs.cohort_separation(Z, y),
        "S_n": rs.neighbor_preservation(X, Z, y, sample=2000, random_state=0),
        "S_c^(r)": rs.cohort_neighbors(Z, y, centres),
    }
    return ", ".join(f"{name} {100 * value:.1f}" for name, value in scores.items())


def run_case(case: str, folder: str) -> None:
    """Measure one case; the child process's part."""
    warnings.simplefilter("ignore")
    harness.REPEATS = 3 if case == "moves" else 1
    report(measured(lambda: CASES[case](Path(folder))))


if __name__ == "__main__":
    if sys.argv[1:] == ["growth"]:
        growth((*GROWTH, 1_000_000))  # five minutes and 4 GB
    else:
        run_case(*sys.argv[1:])
