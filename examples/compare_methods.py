"""Five methods on one relation, measured the same way.

Modules and words of the standard library in twelve dimensions. Γ is the share of the strongest mutual
pairs that the map loses, the mean rank is where a module's ten strongest words come among all words
by distance, and the 1-NN error is how often a module's nearest module is of another chapter. Lower is
better for all three.

    python examples/compare_methods.py
"""

from __future__ import annotations

import relscape as rs
from relscape.scores import gamma_terms

MODELS = (rs.CorrespondenceAnalysis, rs.BipartiteSpectral, rs.LatentSemanticIndexing, rs.CFRM, rs.CORT)


def main() -> None:
    data = rs.datasets.load_stdlib().only("words")
    chapters = data.entities["module"].fields["chapter"]
    print(f"{'model':24}{'Γ lost':>9}{'mean rank':>11}{'1-NN error':>12}")
    for model_class in MODELS:
        model = model_class(n_components=12).fit(data)
        R, rows, columns = data.matrix(), model.row_embedding_, model.column_embedding_
        gamma = gamma_terms(R, rows, columns, k_rows=5, k_columns=5, ties="positive")
        rank = rs.mean_rank(R, rows, columns)
        error = rs.one_nn_error(rows, chapters, random_state=0)
        print(f"{model_class.__name__:24}{gamma.ratio:9.1%}{rank:11.0f}{error:12.1%}")


if __name__ == "__main__":
    main()
