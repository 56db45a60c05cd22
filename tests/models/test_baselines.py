from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relscape.errors import DataError, ParameterError
from relscape.maps import Map
from relscape.matrix.affinity import GaussianAffinity
from relscape.models import baselines
from relscape.models.baselines import SNE, TSNE, SupervisedSNE, SupervisedTSNE, neighbour_map, small_start
from relscape.objectives.neighbour import gaussian_divergence, neighbour_divergence
from relscape.scores.cohorts import cohort_separation

ALL = (SNE, TSNE, SupervisedSNE, SupervisedTSNE)
SUPERVISED = (SupervisedSNE, SupervisedTSNE)
DIVERGENCES = {
    SNE: gaussian_divergence,
    TSNE: neighbour_divergence,
    SupervisedSNE: gaussian_divergence,
    SupervisedTSNE: neighbour_divergence,
}


def clouds(rng, n=120, groups=4, d=6, apart=3.0):
    y = np.arange(n) % groups
    return apart * rng.standard_normal((groups, d))[y] + rng.standard_normal((n, d)), y


@pytest.mark.parametrize("kind", ALL)
def test_the_map_is_a_minimum_of_its_divergence(rng, kind):
    X, y = clouds(rng, n=80, apart=1.0)
    model = kind(perplexity=10, random_state=0, max_iterations=2000).fit(X, y)
    value, gradient = DIVERGENCES[kind](model.embedding_, model.affinity_.weights)
    assert value == pytest.approx(model.divergence_, rel=1e-9)
    assert np.abs(gradient).max() < 2e-5  # of forces that are about 1 / n = 1e-2 at first
    assert np.allclose(model.embedding_.mean(axis=0), 0)
    assert value < DIVERGENCES[kind](np.zeros_like(model.embedding_), model.affinity_.weights)[0]


def test_tsne_is_as_low_as_scikit_learns(rng):
    X, _ = clouds(rng, n=200)
    model = TSNE(perplexity=15, random_state=0).fit(X)
    theirs = manifold.TSNE(perplexity=15, method="exact", random_state=0, init="pca").fit_transform(X)
    value, _ = neighbour_divergence(theirs.astype(float), model.affinity_.weights)
    assert model.divergence_ < 1.05 * value


@pytest.mark.parametrize("kind", SUPERVISED)
def test_labels_shrink_distances_within_cohorts(rng, kind):
    """The weights are those of a Gaussian on distances multiplied by λ for pairs of the same label."""
    X, y = clouds(rng, n=40, apart=0.5)
    labels = [None if i == 7 else "abcd"[code] for i, code in enumerate(y)]
    model = kind(perplexity=13, shrink=0.4, random_state=0).fit(X, labels)
    D = cdist(X, X)
    P = np.zeros((40, 40))
    for i in range(40):
        for j in range(40):
            if labels[i] is not None and labels[i] == labels[j]:
                D[i, j] *= 0.4
        others = np.arange(40) != i
        low, high = -6.0, 6.0
        for _ in range(100):
            middle = (low + high) / 2
            p = np.exp(-np.exp(middle) * (D[i, others] ** 2 - D[i, others].min() ** 2))
            p /= p.sum()
            entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
            low, high = (middle, high) if np.exp(entropy) > 13 else (low, middle)
        P[i, others] = p
    assert np.allclose(model.affinity_.weights.toarray(), (P + P.T) / 80, atol=1e-9)


@pytest.mark.parametrize(("plain", "supervised"), [(SNE, SupervisedSNE), (TSNE, SupervisedTSNE)])
def test_more_shrinking_separates_more(rng, plain, supervised):
    X, y = clouds(rng, n=150, groups=3, apart=0.6)
    alone = cohort_separation(plain(perplexity=15, random_state=0).fit_transform(X, y), y)
    some = cohort_separation(supervised(perplexity=15, shrink=0.7, random_state=0).fit_transform(X, y), y)
    much = cohort_separation(supervised(perplexity=15, shrink=0.2, random_state=0).fit_transform(X, y), y)
    assert alone < some <= much
    assert much == 1


@pytest.mark.parametrize(("plain", "supervised"), [(SNE, SupervisedSNE), (TSNE, SupervisedTSNE)])
def test_without_shrinking_labels_change_nothing(rng, plain, supervised):
    X, y = clouds(rng, n=60)
    with_labels = plain(perplexity=10, random_state=0).fit_transform(X, y)
    assert np.array_equal(with_labels, plain(perplexity=10, random_state=0).fit_transform(X))
    assert np.array_equal(
        with_labels, supervised(perplexity=10, shrink=1.0, random_state=0).fit_transform(X, y)
    )


@pytest.mark.parametrize("kind", ALL)
def test_the_same_seed_gives_the_same_map(rng, kind):
    X, y = clouds(rng, n=60)
    first = kind(perplexity=10, random_state=5).fit_transform(X, y)
    assert np.array_equal(first, kind(perplexity=10, random_state=5).fit_transform(X, y))


@pytest.mark.parametrize("kind", [SNE, TSNE])
@pytest.mark.parametrize("k", [1, 3])
def test_other_numbers_of_axes(rng, kind, k):
    X, _ = clouds(rng, n=50, d=2)
    assert kind(n_components=k, perplexity=8, random_state=0).fit_transform(X).shape == (50, k)


def test_sparse_features_give_the_same_map(rng):
    X, _ = clouds(rng, n=60)
    X[np.abs(X) < 0.5] = 0
    dense = TSNE(perplexity=10, random_state=0).fit(X)
    sparse = TSNE(perplexity=10, random_state=0).fit(csr_array(X))
    assert np.allclose(dense.affinity_.weights.toarray(), sparse.affinity_.weights.toarray(), atol=1e-10)
    assert sparse.divergence_ == pytest.approx(dense.divergence_, rel=0.02)


def test_momentum_alone_ends_almost_as_low(rng, monkeypatch):
    """It serves many samples, where the repulsion is approximate; here it gets a few with the exact one."""
    X, _ = clouds(rng, n=200)
    W = GaussianAffinity(10).fit(X).weights
    start = small_start(X, 2, 1e-4, rng)
    polished = neighbour_map(W, start)
    monkeypatch.setattr(baselines, "_EXACT", 0)
    alone = neighbour_map(W, start)
    assert polished.value < alone.value < 1.1 * polished.value


@pytest.mark.parametrize("kind", ALL)
def test_twins_and_constants(rng, kind):
    X, y = clouds(rng, n=40)
    X[20:] = X[:20]
    y = np.arange(40) % 3
    assert np.isfinite(kind(perplexity=8, random_state=0).fit_transform(X, y)).all()
    assert np.isfinite(kind(perplexity=8, random_state=0).fit_transform(np.ones((40, 3)), y)).all()


@pytest.mark.parametrize("kind", ALL)
def test_new_samples_go_where_their_neighbours_are(rng, kind):
    X, y = clouds(rng, apart=6.0)
    model = kind(perplexity=10, random_state=0).fit(X, y)
    assert np.array_equal(model.transform(X[::7]), model.embedding_[::7])
    new = model.transform(X[:4] + 0.01 * rng.standard_normal((4, 6)))
    nearest = cdist(new, model.embedding_).argmin(axis=1)
    assert np.array_equal(y[nearest], y[:4])
    # The weighted mean of the neighbours, by the definition of the weights.
    settings = GaussianAffinity(10, shrink_distances=getattr(model, "shrink", 1.0))
    weights = settings.rows(model.affinity_, X, X[:1] + 0.5).toarray()[0]
    expected = sum(w * z for w, z in zip(weights, model.embedding_, strict=True)) / weights.sum()
    assert np.allclose(model.transform(X[:1] + 0.5)[0], expected)


def test_labels_are_on_the_map_and_scored(rng):
    X, y = clouds(rng)
    labels = np.array(["north", "east", "south", "west"])[y].astype(object)
    labels[3] = None
    model = TSNE(perplexity=10, random_state=0).fit(X, labels)
    assert model.cohorts_.tolist() == ["east", "north", "south", "west"]
    drawn = model.to_map()
    assert drawn.group("sample").fields["cohort"][:4].tolist() == ["north", "east", "south", None]
    keep = np.arange(120) != 3
    expected = cohort_separation(model.embedding_[keep], y[keep])
    assert drawn.scores["cohort_separation"] == pytest.approx(expected)
    assert TSNE(perplexity=10, random_state=0).fit(X).to_map().scores == {}


@pytest.mark.parametrize("kind", ALL)
def test_saved_and_loaded(rng, kind, tmp_path):
    X, y = clouds(rng, n=50)
    model = kind(perplexity=8, random_state=0).fit(X, y)
    again = kind.load(model.save(tmp_path / "model"))
    assert np.array_equal(again.embedding_, model.embedding_)
    assert np.array_equal(again.transform(X + 0.1), model.transform(X + 0.1))
    assert again.get_params() == model.get_params()
    model.to_map().save(tmp_path / "map")
    assert np.array_equal(Map.load(tmp_path / "map").coordinates("sample"), model.embedding_)


def test_pipelines_and_clones(rng):
    X, y = clouds(rng, n=50)
    line = make_pipeline(StandardScaler(), SupervisedTSNE(perplexity=8, shrink=0.3, random_state=0))
    assert np.array_equal(line.fit_transform(X, y), clone(line).fit_transform(X, y))
    frame = TSNE(perplexity=8, random_state=0).set_output(transform="pandas").fit_transform(X)
    assert frame.columns.tolist() == ["tsne0", "tsne1"]


@pytest.mark.parametrize("kind", SUPERVISED)
def test_labels_are_required(rng, kind):
    with pytest.raises(DataError, match=r"requires y to be passed.*one label a sample, or use T?SNE,"):
        kind().fit(clouds(rng)[0])
    for shrink in (0, 1.5, "half", True):
        with pytest.raises(ParameterError, match="shrink="):
            kind(shrink=shrink).fit(*clouds(rng))


@pytest.mark.parametrize("kind", [SNE, TSNE])
def test_bad_parameters(rng, kind):
    X, _ = clouds(rng)
    for name, value in (("n_components", 0), ("perplexity", 0.5), ("max_iterations", 1.5)):
        with pytest.raises(ParameterError, match=f"{name}="):
            kind(**{name: value}).fit(X)
    with pytest.raises(DataError, match="n_samples=2"):
        kind().fit(X[:2])


def test_small_start(rng):
    X = rng.standard_normal((50, 4)) * [5, 1, 0.2, 0.1]
    start = small_start(X, 2, 1e-4, rng)
    assert start[:, 0].std() == pytest.approx(1e-4, rel=0.05)
    assert abs(np.corrcoef(start[:, 0], X[:, 0])[0, 1]) > 0.99
    assert len(np.unique(small_start(np.ones((5, 3)), 2, 1e-4, rng), axis=0)) == 5
