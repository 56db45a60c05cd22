"""How much Γ can tell: a map against points drawn at random, for small and large neighbourhoods.

Γ counts strongest mutual pairs that a map loses. On sparse data even a good map loses most of them, so
a value means something only beside that of chance; and with many neighbours and ties "inclusive", where
zeros count as relations, a map and chance come out alike.

    python examples/gamma_and_chance.py
"""

from __future__ import annotations

import numpy as np

import relscape as rs
from relscape.scores import gamma_terms


def main() -> None:
    data = rs.datasets.load_stdlib().only("words")
    R = data.matrix()
    model = rs.CorrespondenceAnalysis(n_components=12).fit(data)
    rng = np.random.default_rng(0)
    chance = [rng.normal(size=(size, 12)) for size in R.shape]
    print(f"{'k':>4} {'ties':10}{'pairs':>9}{'CA loses':>10}{'chance loses':>14}")
    for ties in ("positive", "inclusive"):
        for k in (1, 5, 20, 100):
            found = gamma_terms(R, model.row_embedding_, model.column_embedding_, k, k, ties)
            random = gamma_terms(R, *chance, k, k, ties)
            print(f"{k:4} {ties:10}{found.pairs:9,}{found.ratio:10.1%}{random.ratio:14.1%}")


if __name__ == "__main__":
    main()
