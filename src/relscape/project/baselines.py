"""Maps of documents by well-known methods, to set beside CODE as its authors did.

All are thin wrappers of libraries. They take documents × words as counts and give the places of the
documents, and those of the words where the method has any. Every map of k axes is the first k axes of a
larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import svds

from relscape.models.spectral import CorrespondenceAnalysis
from relscape.project.samples import equal_rows
from relscape.protocols import FloatArray, SparseArray

__all__ = ["BASELINES", "Clouds"]

Clouds = tuple[FloatArray, FloatArray | None]

NEIGHBOURS = 10  # what the authors used: the smallest number with which their graphs held together


def isomap(counts: SparseArray, k: int) -> Clouds:
    """Map documents by steps between neighbours, nearness being the cosine between two documents.

    The publication does not say how it measured nearness; the cosine comes closest to its figures.
    """
    return _isomap(counts, k, "cosine"), None


def isomap_euclidean(counts: SparseArray, k: int) -> Clouds:
    """Map documents by steps between neighbours, nearness being the distance between their profiles."""
    return _isomap(counts, k, "euclidean"), None


def correspondence(counts: SparseArray, k: int) -> Clouds:
    """Map documents and words by correspondence analysis, weighting axes by the root of the values."""
    model = CorrespondenceAnalysis(n_components=k, scaling="symmetric").fit(equal_rows(counts))
    return model.row_embedding_, model.column_embedding_


def mds_euclidean(counts: SparseArray, k: int) -> Clouds:
    """Map documents by classical scaling of the distances between their profiles."""
    from sklearn.metrics import euclidean_distances

    return _classical_scaling(euclidean_distances(_profiles(counts)), k), None


def mds_cosine(counts: SparseArray, k: int) -> Clouds:
    """Map documents by classical scaling of 1 minus the cosine between their profiles."""
    from sklearn.metrics.pairwise import cosine_distances

    return _classical_scaling(cosine_distances(counts), k), None


def svd(counts: SparseArray, k: int) -> Clouds:
    """Map documents and words by singular vectors of the profiles, times the root of the values."""
    return _decomposed(equal_rows(counts), k)


def svd_log(counts: SparseArray, k: int) -> Clouds:
    """Map documents and words likewise from the logarithm of counts, log(count + 1)."""
    return _decomposed(counts.astype(np.float64).log1p(), k)


BASELINES: Mapping[str, Callable[[SparseArray, int], Clouds]] = {
    "isomap": isomap,
    "isomap-e": isomap_euclidean,
    "ca": correspondence,
    "mds-e": mds_euclidean,
    "mds-c": mds_cosine,
    "svd": svd,
    "svd-log": svd_log,
}


def _profiles(counts: SparseArray) -> FloatArray:
    """Give every document's shares of words, as a full array."""
    profiles: FloatArray = equal_rows(counts).toarray() * counts.shape[0]
    return profiles


def _isomap(counts: SparseArray, k: int, metric: str) -> FloatArray:
    """Take 10 neighbours, or the smallest larger number that connects all documents."""
    from sklearn.manifold import Isomap
    from sklearn.neighbors import kneighbors_graph

    profiles = _profiles(counts)
    others = len(profiles) - 1
    for neighbours in range(min(NEIGHBOURS, others), others + 1):
        graph = kneighbors_graph(profiles, neighbours, metric=metric)
        if connected_components(graph, directed=False, return_labels=False) == 1:
            break
    places: FloatArray = Isomap(n_neighbors=neighbours, n_components=k, metric=metric).fit_transform(profiles)
    return places


def _classical_scaling(distances: FloatArray, k: int) -> FloatArray:
    """Place things at given distances: the leading eigenvectors of the centred -½ D²."""
    from sklearn.decomposition import KernelPCA

    pca = KernelPCA(n_components=k, kernel="precomputed", eigen_solver="arpack", random_state=0)
    places: FloatArray = pca.fit_transform(-0.5 * distances**2)
    return places


def _decomposed(matrix: SparseArray, k: int) -> Clouds:
    u, values, vt = svds(matrix, k, v0=np.ones(min(matrix.shape)))
    roots = np.sqrt(values[::-1])
    return u[:, ::-1] * roots, vt[::-1].T * roots
