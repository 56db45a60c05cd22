"""Clusters where there are no labels: plain ones are found, whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import block_diag, csr_array
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.maps import Group, Map
from relscape.models import clustering
from relscape.models.clustering import cluster_map, cluster_names, clusters


def same_division(first, second):
    """Say whether two numberings divide samples alike."""
    pairs = {*zip(first.tolist(), second.tolist(), strict=True)}
    return len(pairs) == len(set(first.tolist())) == len(set(second.tolist()))


def blobs(rng, sizes, dimensions=3):
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return 20 * np.eye(len(sizes), dimensions)[truth] + rng.normal(size=(len(truth), dimensions)), truth


def ring_weights(rng):
    """Two rings around one centre, whose neighbours are joined: k-means cannot tell them apart."""
    truth = rng.permutation(np.repeat([0, 1], [60, 140]))
    angle = rng.uniform(0, 2 * np.pi, 200)
    radius = np.where(truth == 0, 1.0, 4.0) + 0.05 * rng.normal(size=200)
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return points, csr_array(np.exp(-4 * cdist(points, points, "sqeuclidean"))), truth


@pytest.mark.parametrize("method", ["kmeans", "spectral"])
def test_plain_clusters_are_found_and_numbered_by_size(rng, method):
    X, truth = blobs(rng, [60, 120, 90])
    found = clusters(X, n_clusters=3, method=method, random_state=0)
    assert same_division(found, truth)
    assert np.bincount(found).tolist() == [120, 90, 60]
    assert np.array_equal(found, clusters(X, n_clusters=3, method=method, random_state=0))


def test_kmeans_reaches_the_least_squares_of_a_tiny_set(rng):
    X = rng.normal(size=(9, 2))

    def squares(codes):
        return sum(((X[codes == j] - X[codes == j].mean(axis=0)) ** 2).sum() for j in set(codes.tolist()))

    divisions = ((np.arange(9) == 0) | (number >> np.arange(9) & 1 == 1) for number in range(1, 511))
    best = min(squares(division.astype(int)) for division in divisions if not division.all())
    assert squares(clusters(X, n_clusters=2, random_state=0)) == pytest.approx(best)


def test_directions_count_for_sparse_data_and_by_cosine(rng):
    truth = rng.integers(0, 3, 90)
    X = (np.eye(3, 6)[truth] + 0.1 * rng.random((90, 6))) * 10 ** rng.uniform(-2, 2, (90, 1))
    X[0] = 0
    assert same_division(clusters(csr_array(X), n_clusters=3, random_state=0)[1:], truth[1:])
    assert same_division(clusters(X, n_clusters=3, metric="cosine", random_state=0)[1:], truth[1:])
    assert not same_division(clusters(X, n_clusters=3, random_state=0)[1:], truth[1:])


def test_spectral_clusters_follow_the_weights(rng):
    points, weights, truth = ring_weights(rng)
    found = clusters(weights=weights, n_clusters=2, method="spectral", random_state=0)
    assert same_division(found, truth)
    assert not same_division(clusters(points, n_clusters=2, random_state=0), truth)
    # The scale of the weights does not matter, nor does their form.
    again = clusters(weights=7 * weights.toarray(), n_clusters=2, method="spectral", random_state=0)
    assert np.array_equal(found, again)


def test_spectral_clusters_of_separate_parts_and_of_a_large_graph(rng):
    parts = [(rng.random((size, size)) < 0.2).astype(float) for size in (300, 500, 700)]
    weights = csr_array(block_diag(parts))
    weights = weights + weights.T
    found = clusters(weights=weights, n_clusters=3, method="spectral", random_state=0)
    assert found.tolist() == [2] * 300 + [1] * 500 + [0] * 700


def test_samples_without_weights_are_no_obstacle(rng):
    weights = np.zeros((40, 40))
    weights[:20, :20] = weights[20:38, 20:38] = 1.0
    found = clusters(weights=weights, n_clusters=2, method="spectral", random_state=0)
    assert same_division(found[:38], np.repeat([0, 1], [20, 18]))


def test_many_samples_are_clustered_in_parts(rng, monkeypatch):
    monkeypatch.setattr(clustering, "MOST_AT_ONCE", 100)
    X, truth = blobs(rng, [100, 200, 150])
    assert same_division(clusters(X, n_clusters=3, random_state=0), truth)


def test_threads_do_not_matter(rng):
    X = rng.normal(size=(2000, 5))
    with threadpool_limits(limits=1):
        one = clusters(X, n_clusters=8, random_state=3)
    with threadpool_limits(limits=2):
        assert np.array_equal(clusters(X, n_clusters=8, random_state=3), one)


def test_fewer_different_samples_than_clusters_are_said():
    with pytest.warns(RelscapeWarning, match="only 2 of 3 clusters"):
        found = clusters([[0.0]] * 5 + [[1.0]] * 2, n_clusters=3, random_state=0)
    assert found.tolist() == [0] * 5 + [1] * 2


def test_names_sort_as_their_numbers():
    assert cluster_names(3).tolist() == ["cluster 1", "cluster 2", "cluster 3"]
    names = cluster_names(120).tolist()
    assert names == sorted(names)
    assert names[8] == "cluster 009"


def test_what_cannot_be_clustered_is_refused(rng):
    X = rng.normal(size=(6, 2))
    with pytest.raises(UnknownNameError, match="Did you mean 'kmeans'"):
        clusters(X, method="k-means")
    with pytest.raises(UnknownNameError, match="metric"):
        clusters(X, n_clusters=2, metric="manhattan")
    with pytest.raises(ParameterError, match="only 6 samples"):
        clusters(X, n_clusters=7)
    with pytest.raises(ParameterError, match="at least 2"):
        clusters(X, n_clusters=1)
    with pytest.raises(ParameterError, match="give X"):
        clusters(weights=np.ones((6, 6)), n_clusters=2)
    with pytest.raises(ParameterError, match="give weights or X"):
        clusters(n_clusters=2, method="spectral")
    with pytest.raises(DataError, match="missing or infinite"):
        clusters(X / np.array([1.0, np.nan]), n_clusters=2)
    with pytest.raises(DataError, match="square"):
        clusters(weights=np.ones((6, 5)), n_clusters=2, method="spectral")
    with pytest.raises(DataError, match="not negative"):
        clusters(weights=-np.ones((6, 6)), n_clusters=2, method="spectral")


def test_spectral_clusters_of_cora_are_those_of_the_dense_eigenvectors(data_dir):
    from relscape import datasets
    from relscape.matrix.affinity import CosineAffinity

    cora = datasets.load_cora()
    weights = CosineAffinity(50).fit(cora.matrix("words")).weights
    found = clusters(weights=weights, n_clusters=7, method="spectral", random_state=0)
    root = np.sqrt(weights.sum(axis=1))
    laplacian = np.eye(2708) - weights.toarray() / np.outer(root, root)
    vectors = eigh(laplacian, subset_by_index=[0, 6])[1]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = KMeans(7, n_init=30, random_state=0).fit_predict(vectors)
    assert adjusted_rand_score(expected, found) > 0.97
    # Papers that share words share a subject, more often than not.
    assert adjusted_rand_score(cora.entities["doc"].fields["class"], found) > 0.15


def two_towns(rng):
    """Shops and streets of two towns far apart, the second with more of both."""
    shop_town, street_town = np.repeat([0, 1], [5, 9]), np.repeat([0, 1], [2, 4])
    shops, streets = (
        np.array([[0.0, 0.0, 0.0], [40.0, 0.0, 0.0]])[town] + rng.normal(size=(len(town), 3))
        for town in (shop_town, street_town)
    )
    return {"shop": shops, "street": streets}, {"shop": shop_town, "street": street_town}


def test_things_of_all_kinds_are_clustered_together(rng):
    places, towns = two_towns(rng)
    found = cluster_map(places, 2, random_state=0)
    for kind, town in towns.items():
        assert np.array_equal(found.labels[kind], 1 - town)  # the larger town is cluster 0
    members = [
        np.vstack([places[kind][labels == number] for kind, labels in found.labels.items()])
        for number in (0, 1)
    ]
    np.testing.assert_allclose(found.centres, [part.mean(axis=0) for part in members])
    assert found.names.tolist() == ["cluster 1", "cluster 2"]


def test_a_summary_names_the_members_nearest_the_centre(rng):
    places, towns = two_towns(rng)
    joint = Map(
        Group(
            kind,
            [f"{kind}{i}" for i in range(len(points))],
            points,
            [f"{kind.title()} {i}" for i in range(len(points))],
        )
        for kind, points in places.items()
    )
    found = cluster_map(joint, 2, random_state=0)
    told = found.summary(top=3)
    assert [part.sizes for part in told] == [{"shop": 9, "street": 4}, {"shop": 5, "street": 2}]
    for number, part in enumerate(told):
        for kind, points in places.items():
            far = np.linalg.norm(points - found.centres[number], axis=1)
            own = [i for i in np.argsort(far) if towns[kind][i] == 1 - number][:3]
            assert [near.id for near in part.nearest[kind]] == [f"{kind}{i}" for i in own]
            np.testing.assert_allclose([near.distance for near in part.nearest[kind]], far[own])
    shops, streets = (", ".join(near.label for near in told[0].nearest[kind]) for kind in ("shop", "street"))
    text = (
        f"cluster 1: 9 × shop, 4 × street\n  shop    {shops}\n  street  {streets}\n"
        "cluster 2: 5 × shop, 2 × street\n"
    )
    assert str(told).startswith(text)
    assert repr(told) == str(told)


def test_a_cluster_may_lack_a_kind(rng):
    found = cluster_map({"a": [[0.0], [0.1], [0.3]], "bb": [[9.0]]}, 2, random_state=0)
    assert str(found.summary()) == "cluster 1: 3 × a\n  a   1, 0, 2\ncluster 2: 1 × bb\n  bb  0"


def test_what_map_cannot_be_clustered_is_refused(rng):
    with pytest.raises(ParameterError, match="a list was given"):
        cluster_map([[0.0], [1.0]], 2)
    with pytest.raises(DataError, match="kind 'a': the coordinates of '1' are not finite"):
        cluster_map({"a": [[0.0], [np.nan]], "b": [[1.0]]}, 2)
    with pytest.raises(DataError, match="share one space"):
        cluster_map({"a": [[0.0]], "b": [[1.0, 2.0]]}, 2)
    with pytest.raises(ParameterError, match="top=0"):
        cluster_map({"a": [[0.0], [3.0]]}, 2).summary(0)
