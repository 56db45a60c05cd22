"""Clusters: cohorts for samples that come without labels, and all things of a map, of every kind, together.

By k-means of features or places, or by spectral clustering of a graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse
from scipy.sparse.linalg import aslinearoperator
from threadpoolctl import threadpool_limits

from relscape.data.arrays import plain_array
from relscape.data.labels import as_text
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.maps import Group, Map, Neighbor
from relscape.maps.nearby import nearest_to_one
from relscape.matrix.affinity import GaussianAffinity
from relscape.matrix.mutual_pairs import check_count
from relscape.protocols import FloatArray, IntArray, SparseArray, TextArray
from relscape.solvers.spectral import truncated_svd

__all__ = ["ClusterSummaries", "ClusterSummary", "Clustering", "cluster_map", "cluster_names", "clusters"]

METHODS = ("kmeans", "spectral")
METRICS = ("euclidean", "cosine")

# Beyond this many samples k-means learns from random parts of them in turn.
MOST_AT_ONCE = 20_000

# k-means depends on its start; the best of this many is kept.
STARTS = 10

# Of the weights that are measured from features when none are given.
PERPLEXITY = 30.0

# Clusters are read from the directions of eigenvectors, for which a few digits are enough.
EIGEN_TOLERANCE = 1e-6


def clusters(
    X: Any = None,
    weights: Any = None,
    n_clusters: int = 10,
    method: str = "kmeans",
    random_state: int | np.random.Generator | None = None,
    metric: str | None = None,
) -> IntArray:
    """Divide samples into clusters.

    Parameters
    ----------
    X : array or sparse array of shape (n, d), optional
        Features of the samples.
    weights : sparse array of shape (n, n), optional
        How strongly samples belong together: nonnegative, symmetric. For "spectral"; measured from X
        when absent.
    n_clusters : int
        How many clusters, at least two.
    method : str
        "kmeans", on X, or "spectral", on the weights: k-means of the leading eigenvectors of the
        normalised Laplacian (Ng, Jordan and Weiss, 2001).
    random_state : int or Generator, optional
        Draws the starts.
    metric : str, optional
        For X: "euclidean", or "cosine", by which only the directions of samples count. By default cosine
        for sparse X and Euclidean for dense.

    Returns
    -------
    array of int, shape (n,)
        The cluster of every sample, 0 being the largest. If fewer places than clusters differ, there are
        fewer clusters, and a warning says so.

    Examples
    --------
    >>> clusters([[0.0], [0.1], [5.0], [5.1], [5.2]], n_clusters=2, random_state=0).tolist()
    [1, 1, 0, 0, 0]
    """
    if method not in METHODS:
        raise UnknownNameError("clustering method", method, METHODS)
    if check_count("n_clusters", n_clusters) < 2:
        raise ParameterError("n_clusters=1: one cluster holds everything; ask for at least 2.")
    if metric is None:
        metric = "cosine" if issparse(X) else "euclidean"
    elif metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
    rng = np.random.default_rng(random_state)
    if method == "kmeans":
        if X is None:
            raise ParameterError("method='kmeans' reads features: give X, or choose method='spectral'.")
        points = _features(X)
        _check_number(points.shape[0], n_clusters)
        return _kmeans(_directions(points) if metric == "cosine" else points, n_clusters, rng)
    if weights is None:
        if X is None:
            raise ParameterError("method='spectral' reads weights between samples: give weights or X.")
        points = _features(X)
        _check_number(points.shape[0], n_clusters)
        # Bandwidths are found on three times as many neighbours, which few samples do not have.
        perplexity = min(PERPLEXITY, max(1.0, (points.shape[0] - 1) / 3))
        weights = GaussianAffinity(perplexity, metric=metric).fit(points, random_state=rng).weights
    return _spectral(_graph(weights, n_clusters), n_clusters, rng)


def cluster_names(n_clusters: int) -> TextArray:
    """Name clusters by number, so that their sorted order is that of their numbers.

    >>> cluster_names(2).tolist(), cluster_names(10)[0]
    (['cluster 1', 'cluster 2'], 'cluster 01')
    """
    digits = len(str(n_clusters))
    return np.array([f"cluster {number + 1:0{digits}}" for number in range(n_clusters)], dtype=object)


@dataclass(frozen=True)
class ClusterSummary:
    """One cluster told in short: its name, how many members of each kind it has, and its nearest ones.

    ``nearest`` holds for every kind the members of the cluster nearest to its centre, the nearest first.
    """

    name: str
    sizes: dict[str, int]
    nearest: dict[str, list[Neighbor]]

    def __str__(self) -> str:
        held = ", ".join(f"{size:,} × {kind}" for kind, size in self.sizes.items() if size)
        width = max(map(len, self.sizes))
        lines = [
            f"  {kind:<{width}}  {', '.join(member.label for member in found)}"
            for kind, found in self.nearest.items()
            if found
        ]
        return "\n".join([f"{self.name}: {held}", *lines])


class ClusterSummaries(tuple[ClusterSummary, ...]):
    """The clusters of a map told in short, the largest first; printed, a few lines for each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Clustering:
    """Clusters of all things of a map, of whatever kind.

    ``labels`` gives for every kind the cluster of each thing, 0 being the largest, in the order of the map;
    ``centres`` the mean place of each cluster's members, and ``names`` what the clusters are called.
    """

    joint: Map
    labels: dict[str, IntArray]
    centres: FloatArray
    names: TextArray

    def summary(self, top: int = 5) -> ClusterSummaries:
        """Tell of every cluster how many of each kind it holds, and which ``top`` are nearest its centre."""
        check_count("top", top)
        return ClusterSummaries(self._summary_of(number, top) for number in range(len(self.names)))

    def _summary_of(self, number: int, top: int) -> ClusterSummary:
        sizes, found = {}, {}
        for kind, labels in self.labels.items():
            members = self.joint.group(kind).select(labels == number)
            sizes[kind] = len(members)
            found[kind] = nearest_to_one([members], self.centres[number], top)
        return ClusterSummary(str(self.names[number]), sizes, found)


def cluster_map(
    given: Map | Mapping[str, Any], n_clusters: int, random_state: int | np.random.Generator | None = None
) -> Clustering:
    """Divide all things of a map, of all kinds together, into clusters by k-means.

    A kind of many things draws the clusters to itself; one of few joins those it lies in.

    Parameters
    ----------
    given : Map or dict
        A map, whose coordinates count (not its picture), or ``{kind: coordinates}``, such as the
        ``embeddings_`` of a model; things are then named by their number.
    n_clusters : int
        How many clusters, at least two. The best of ten starts is kept.
    random_state : int or Generator, optional
        Draws the starts.

    Returns
    -------
    Clustering
        The cluster of every thing (``labels``), and ``summary()``, made to be read.

    Examples
    --------
    >>> places = {"doc": [[0.0], [0.3], [9.1]], "word": [[0.1], [9.0]]}
    >>> found = cluster_map(places, 2, random_state=0)
    >>> found.labels["doc"].tolist(), found.labels["word"].tolist()
    ([0, 0, 1], [0, 1])
    >>> print(found.summary(top=1))
    cluster 1: 2 doc, 1 word
      doc   0
      word  0
    cluster 2: 1 doc, 1 word
      doc   2
      word  1
    """
    joint = given if isinstance(given, Map) else _as_map(given)
    groups = [joint.group(kind) for kind in joint.groups]
    points = np.vstack([group.coordinates for group in groups]).astype(np.float64)
    codes = clusters(points, n_clusters=n_clusters, random_state=random_state)
    sizes = np.bincount(codes)
    sums = np.column_stack([np.bincount(codes, weights=axis) for axis in points.T])
    parts = np.split(codes, np.cumsum([len(group) for group in groups])[:-1])
    labels = dict(zip(joint.groups, parts, strict=True))
    return Clustering(joint, labels, sums / sizes[:, None], cluster_names(len(sizes)))


def _as_map(given: Any) -> Map:
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"a {type(given).__name__} was given; expected a Map, or {{kind: coordinates}} of every kind."
        )
    return Map(Group(str(kind), as_text(range(len(places))), places) for kind, places in given.items())


def _features(X: Any) -> Any:
    X = plain_array(X)
    points: Any = csr_array(X, dtype=np.float64) if issparse(X) else np.asarray(X, dtype=np.float64)
    if points.ndim != 2:
        raise DataError(f"X has shape {points.shape}; expected a table of samples by features.")
    if not np.isfinite(points.data if issparse(points) else points).all():
        raise DataError("X has values that are missing or infinite; fill them in before clustering.")
    return points


def _graph(weights: Any, n_clusters: int) -> SparseArray:
    graph = csr_array(weights, dtype=np.float64)
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise DataError(f"weights has shape {graph.shape}; expected a square table of samples by samples.")
    _check_number(graph.shape[0], n_clusters)
    if not np.isfinite(graph.data).all() or (graph.data < 0).any():
        raise DataError("weights must be finite and not negative.")
    return csr_array((graph + graph.T) / 2)


def _check_number(n: int, n_clusters: int) -> None:
    if n_clusters > n:
        raise ParameterError(f"n_clusters={n_clusters}: there are only {n} samples; ask for fewer.")


def _directions(points: Any) -> Any:
    """Scale every sample to length 1; one without any features stays at zero."""
    if issparse(points):
        lengths = np.sqrt(np.asarray(points.multiply(points).sum(axis=1)).ravel())
        return csr_array(diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ points)
    lengths = np.linalg.norm(points, axis=1)
    return points / np.where(lengths > 0, lengths, 1.0)[:, None]


def _spectral(graph: SparseArray, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """Cluster the samples by their entries in the leading eigenvectors of (I + D^-½ W D^-½) / 2.

    Its eigenvalues lie between 0 and 1, those of the smoothest vectors at 1, so that singular vectors
    are eigenvectors. A sample without any weight has entries of zero.
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scale = np.where(degrees > 0, 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)
    smooth = diags_array(scale) @ graph @ diags_array(scale) + diags_array((degrees > 0).astype(float))
    leading = truncated_svd(aslinearoperator(csr_array(smooth / 2)), n_clusters, rng, EIGEN_TOLERANCE).U
    return _kmeans(_directions(np.where((degrees > 0)[:, None], leading, 0.0)), n_clusters, rng)


def _kmeans(points: Any, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """Find clusters and number them by size; on one thread, since the order of sums changes their digits."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    if issparse(points) and points.indices.dtype != np.int32:
        short = points.indices.astype(np.int32), points.indptr.astype(np.int32)
        points = csr_array((points.data, *short), shape=points.shape)
    seed = int(rng.integers(2**31))
    if points.shape[0] > MOST_AT_ONCE:
        machine = MiniBatchKMeans(n_clusters, n_init=STARTS, batch_size=4096, random_state=seed)
    else:
        machine = KMeans(n_clusters, n_init=STARTS, random_state=seed)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = machine.fit_predict(points)
    values, first, codes, sizes = np.unique(found, return_index=True, return_inverse=True, return_counts=True)
    if len(values) < n_clusters:
        warnings.warn(
            f"only {len(values)} of {n_clusters} clusters hold samples: too many samples are alike. "
            "Ask for fewer clusters to avoid this warning.",
            RelscapeWarning,
            stacklevel=3,
        )
    place = np.empty(len(values), dtype=np.int64)
    place[np.lexsort((first, -sizes))] = np.arange(len(values))
    numbered: IntArray = place[codes]
    return numbered
