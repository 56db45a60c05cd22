"""Three kinds on one map: works, their words, and who they belong to, by MultiCODE.

Without a name this maps what every Python has: the modules of its standard library, the words that document
them, and the chapters they stand in. With "nips" it maps thirteen years of NIPS papers, their words and
their authors, which is the gallery's picture; that set is read from the folder that RELSCAPE_DATA names.

Only two relations are given, works with words and owners with words, an owner having the words of all its
works. Who owns what is kept back, to ask the map: is a work near its owners?

    python examples/three_kinds.py
    RELSCAPE_DATA=data python examples/three_kinds.py nips        half a minute
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import relscape as rs
from relscape.plot import save_picture

WORDS, MOST_FREQUENT, AUTHORS = 2000, 100, 250


def stdlib() -> None:
    """Map the standard library: modules, words and chapters."""
    data = rs.datasets.load_stdlib().only("words")
    modules = data.entities["module"]
    chapters, numbers = np.unique(modules.fields["chapter"].astype(str), return_inverse=True)
    stands_in = csr_array((np.ones(len(modules)), (np.arange(len(modules)), numbers)))
    joint = mapped(data, rs.EntitySet("chapter", chapters), stands_in, ridge=1e-4, weights="equal")
    drawn(
        joint,
        "stdlib_three_kinds",
        labels={"module": 40, "word": 30, "chapter": 28},
        title="The Python standard library: modules, words and chapters",
    )
    near(joint, "chapter:File and Directory Access", "module:tarfile")


def nips() -> None:
    """Map NIPS 0 to 12: papers, words and authors."""
    data = rs.datasets.load_nips()
    long_enough = np.array([len(word) >= 3 for word in data.entities["word"].ids])
    data = data.select("word", long_enough)
    data = data.select("word", top(data.matrix("counts").sum(axis=0), MOST_FREQUENT + WORDS))
    data = data.select("word", ~top(data.matrix("counts").sum(axis=0), MOST_FREQUENT))
    data = data.select("author", top(data.matrix("authors").T @ data.matrix("counts").sum(axis=1), AUTHORS))
    authors = data.entities["author"]
    names = [name.replace("_", " ") for name in authors.ids]
    joint = mapped(
        data.only("counts"), replace(authors, labels=np.array(names, dtype=object)), data.matrix("authors")
    )
    drawn(
        joint,
        "nips_three_kinds",
        labels={"doc": 8, "word": 100, "author": 70},
        title="Thirteen years of NIPS: papers, words and authors",
    )
    near(joint, "author:Vapnik_V", "author:Koch_C", "author:Waibel_A", "author:Sutton_R", "author:Hinton_G")


def top(sums: Any, count: int) -> np.ndarray:
    """Mark the largest, of equal ones the first."""
    chosen = np.zeros(len(sums), dtype=bool)
    chosen[np.argsort(-np.asarray(sums), kind="stable")[:count]] = True
    return chosen


def mapped(data: rs.RelationalData, owners: rs.EntitySet, belongs: csr_array, **settings: Any) -> rs.Map:
    """Map works, words and owners from two relations, and say how good the map is."""
    words = data.relation()
    their_words = rs.Relation("owners", owners.kind, words.columns, csr_array(belongs.T @ words.matrix))
    both = rs.RelationalData([*data.entities.values(), owners], [words, their_words])
    model = rs.MultiCODE(equal_rows=True, tolerance=1e-7, random_state=0, **settings).fit(both)
    for relation in (words, their_words):
        kinds = (relation.rows, relation.columns)
        print(
            f"  {'-'.join(kinds)}: {relation.matrix.shape[0]:,} × {relation.matrix.shape[1]:,}, weight "
            f"{model.weights_[kinds]:.3f}, log-likelihood {model.log_likelihoods_[kinds]:.4f}, "
            f"in one place {in_one_place(relation.matrix):.4f}"
        )
    print(f"  {model.solve_result_.iterations} iterations: {model.solve_result_.reason}")
    places = model.embeddings_[words.rows], model.embeddings_[owners.kind]
    counts = np.diff(belongs.indptr)
    chance = counts[counts > 0].mean() / belongs.shape[1]
    print(
        f"  of {np.count_nonzero(counts):,} works, owners among as many nearest: "
        f"{rs.authorship(*places, belongs):.1%} (chance {chance:.1%}), "
        f"among the ten nearest: {rs.authorship(*places, belongs, k=10):.1%} "
        f"(chance {10 / belongs.shape[1]:.1%})"
    )
    return model.to_map()


def in_one_place(counts: csr_array) -> float:
    """Give the log-likelihood of a map with all things in one place: rows and columns are independent."""
    rows = counts.shape[0]
    shares = np.asarray((counts.multiply(1.0 / (rows * counts.sum(axis=1)[:, None]))).sum(axis=0)).ravel()
    return float(-np.log(rows) + shares @ np.log(shares))


def drawn(joint: rs.Map, name: str, **options: Any) -> None:
    """Save a picture, with a palette of 256 colours so that it stays small."""
    save_picture(joint, Path(f"{name}.png"), dpi=100, colors=256, size=(12.0, 10.0), **options)
    print(f"  saved {name}.png")


def near(joint: rs.Map, *things: str) -> None:
    """Print what is nearest to some things, of each kind."""
    for thing in things:
        for kind in joint.groups:
            found = joint.neighbors(thing, among=kind, k=3)
            print(f"  {kind}s near {thing}: {'; '.join(neighbor.label for neighbor in found)}")


RUNS = {"stdlib": stdlib, "nips": nips}


def main(names: Sequence[str] = ("stdlib",)) -> None:
    for name in names:
        print(name)
        RUNS[name]()


if __name__ == "__main__":
    main(sys.argv[1:] or ("stdlib",))
