"""Maps from methods of scikit-learn: any coordinates with names become a map.

Four classic methods place the modules of the standard library by the words of their documentation; canonical
correlation analysis places each of them twice, by its words and by its imports. What they give are arrays;
`relscape.Map` adds names, neighbours, pictures and files.

    python examples/other_methods.py
"""

from __future__ import annotations

from sklearn.cross_decomposition import CCA
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.manifold import LocallyLinearEmbedding, SpectralEmbedding
from sklearn.neural_network import BernoulliRBM

import relscape as rs
from relscape.maps import Group


def main() -> None:
    data = rs.datasets.load_stdlib()
    modules, counts = data.entities["module"], data.matrix("words")
    words = TfidfTransformer().fit_transform(counts).toarray()
    placed = {
        "PCA": PCA(10, random_state=0).fit_transform(words),
        "Laplacian eigenmaps": SpectralEmbedding(
            10, affinity="nearest_neighbors", random_state=0
        ).fit_transform(words),
        "LLE": LocallyLinearEmbedding(n_neighbors=12, n_components=10, random_state=0).fit_transform(words),
        "RBM": BernoulliRBM(30, learning_rate=0.05, n_iter=50, random_state=0).fit_transform(counts > 0),
    }
    for name, points in placed.items():
        joint = rs.Map([Group("module", modules.ids, points, fields=modules.fields)], model=name)
        near = ", ".join(thing.id for thing in joint.neighbors("module:json", k=4))
        error = rs.one_nn_error(points, modules.fields["chapter"], random_state=0)
        print(f"{name:20} json is near {near}; nearest of another chapter: {error:.0%}")

    imports = data.matrix("imports").toarray()
    by_words, by_imports = (PCA(20, random_state=0).fit_transform(table) for table in (words, imports))
    views = zip(("described", "importing"), CCA(2).fit_transform(by_words, by_imports), strict=True)
    joint = rs.Map([Group(kind, modules.ids, points) for kind, points in views], model="CCA")
    near = ", ".join(thing.id for thing in joint.neighbors("described:json", among="importing", k=4))
    print(f"{'CCA':20} json as described is near {near} as they import")
    joint.save("two_views")
    print("saved two_views")


if __name__ == "__main__":
    main()
