from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold
from sklearn.decomposition import PCA

from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix.cohorts import CohortRelation
from relscape.models.prototype_layouts import (
    DIVERGENCES,
    DivergenceObjective,
    calibrated_probabilities,
    classical_scaling,
    laplacian_eigenmap,
    leading_axes,
    mean_layout,
    neighbour_layout,
    similarity_probabilities,
    standardised,
)
from relscape.models.prototypes import (
    CohortSource,
    LaplacianPrototypes,
    MDSPrototypes,
    MeanPrototypes,
    SNEPrototypes,
    TSNEPrototypes,
    given_prototypes,
    prototype_links_kept,
    prototype_settings,
)

ALL = (SNEPrototypes, TSNEPrototypes, MDSPrototypes, LaplacianPrototypes, MeanPrototypes)


def source_of(centres, rng, members=20, spread=0.3, **more):
    codes = np.repeat(np.arange(len(centres)), members)
    X = centres[codes] + spread * rng.standard_normal((codes.size, centres.shape[1]))
    return CohortSource(X, codes, len(centres), **more)


def distances(points):
    return squareform(pdist(points))


# ---------------------------------------------------------------------- layouts


@pytest.mark.parametrize("k", [2, 3, 5])
def test_classical_scaling_gives_euclidean_distances_back(rng, k):
    points = rng.standard_normal((9, 2))
    layout = classical_scaling(distances(points), k)
    assert layout.places.shape == (9, k)
    assert np.allclose(distances(layout.places), distances(points), atol=1e-6)
    assert np.allclose(layout.places[:, 2:], 0, atol=1e-6)
    assert layout.loss < 1e-12


def test_classical_scaling_of_full_dimension_gives_the_distances_of_centres_back(rng):
    centres = rng.standard_normal((12, 4))
    layout = classical_scaling(distances(centres), 4)
    assert np.allclose(distances(layout.places), distances(centres), atol=1e-12)


def test_classical_scaling_is_the_best_in_inner_products(rng):
    """In fewer axes, the strain is what the left out eigenvalues say."""
    points = rng.standard_normal((10, 4))
    centred = points - points.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False) ** 2
    assert classical_scaling(distances(points), 2).loss == pytest.approx(
        np.linalg.norm(values[2:]) / np.linalg.norm(values)
    )


def test_classical_scaling_of_no_distance_is_one_spot():
    layout = classical_scaling(np.zeros((4, 4)), 2)
    assert np.array_equal(layout.places, np.zeros((4, 2)))
    assert layout.loss == 0


def test_laplacian_eigenmap_spans_what_scikit_learn_finds(rng):
    S = np.exp(-(distances(rng.standard_normal((12, 3))) ** 2))
    np.fill_diagonal(S, 0)
    ours = laplacian_eigenmap(S, 2).places
    theirs = manifold.SpectralEmbedding(2, affinity="precomputed", eigen_solver="arpack", random_state=0)
    assert subspace_angles(ours, theirs.fit_transform(S)).max() < 1e-6


def test_laplacian_eigenmap_solves_its_equation(rng):
    S = rng.random((8, 8))
    S = S + S.T
    np.fill_diagonal(S, 0)
    layout = laplacian_eigenmap(S, 3)
    degrees = np.diag(S.sum(axis=1))
    Q = layout.places
    mu = np.array([q @ (degrees - S) @ q / (q @ degrees @ q) for q in Q.T])
    assert np.allclose((degrees - S) @ Q, degrees @ Q * mu)
    assert np.allclose(Q.T @ degrees @ np.ones(8), 0)
    assert layout.loss == pytest.approx(mu.sum())


@pytest.mark.parametrize("name", DIVERGENCES)
def test_divergences_by_a_double_loop(rng, name):
    P = similarity_probabilities(rng.random((6, 6)), 0.1)
    Z = rng.standard_normal((6, 2))
    q = np.zeros((6, 6))
    for i in range(6):
        for j in range(6):
            square = ((Z[i] - Z[j]) ** 2).sum()
            q[i, j] = 0 if i == j else np.exp(-square) if name == "sne" else 1 / (1 + square)
    q /= q.sum()
    expected = sum(P[i, j] * np.log(P[i, j] / q[i, j]) for i in range(6) for j in range(6) if i != j)
    objective = DivergenceObjective(csr_array(P), DIVERGENCES[name])
    value, gradient = objective.value_and_gradient(Z)
    assert value == pytest.approx(expected, rel=1e-12)
    for place in np.ndindex(Z.shape):
        step = np.zeros_like(Z)
        step[place] = 1e-5
        ahead, behind = (objective.value_and_gradient(Z + s)[0] for s in (step, -step))
        assert gradient[place] == pytest.approx((ahead - behind) / 2e-5, rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("name", DIVERGENCES)
@pytest.mark.parametrize("c", [12, 55])
def test_neighbour_layout_is_a_minimum_as_low_as_the_best_of_all_starts(rng, name, c):
    P = calibrated_probabilities(distances(rng.standard_normal((c, 5))), 3, 0.05)
    starts = [rng.standard_normal((c, 2)) for _ in range(8)]
    layout = neighbour_layout(P, 2, DIVERGENCES[name], starts)
    objective = DivergenceObjective(csr_array(P), DIVERGENCES[name])
    assert np.abs(objective.value_and_gradient(layout.places)[1]).max() <= 1e-6
    each = [neighbour_layout(P, 2, DIVERGENCES[name], [start]).loss for start in starts]
    assert layout.loss <= min(each) * (1 + 1e-8 if c == 12 else 1.05)
    assert layout.loss == pytest.approx(objective.value_and_gradient(layout.places)[0])


def test_tsne_is_as_low_as_scikit_learns(rng):
    """Scikit-learn calibrates by itself, so the weights are its own: precomputed squares, perplexity 3."""
    D = distances(rng.standard_normal((15, 4)))
    P = calibrated_probabilities(D, 3, 0.0)
    theirs = manifold.TSNE(
        perplexity=3, metric="precomputed", init="random", method="exact", random_state=0, max_iter=2000
    ).fit(D)
    starts = [rng.standard_normal((15, 2)) for _ in range(10)]
    assert neighbour_layout(P, 2, DIVERGENCES["tsne"], starts).loss < theirs.kl_divergence_ + 1e-3


def test_calibrated_probabilities_have_the_perplexity(rng):
    D = distances(rng.standard_normal((10, 3)))
    P = calibrated_probabilities(D, 3, 0.0)
    assert np.array_equal(P, P.T)
    assert P.sum() == pytest.approx(1)
    # The same from conditional rows found by halving, slowly.
    rows = np.zeros((10, 10))
    for i in range(10):
        others = np.arange(10) != i
        low, high = -4.0, 4.0
        for _ in range(200):
            middle = (low + high) / 2
            p = np.exp(-np.exp(middle) * D[i, others] ** 2)
            p /= p.sum()
            entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
            low, high = (middle, high) if np.exp(entropy) > 3 else (low, middle)
        rows[i, others] = p
    assert np.allclose(P, (rows + rows.T) / 20, atol=1e-8)


def test_similarities_become_probabilities():
    S = np.array([[9.0, 1.0, -3.0], [1.0, 9.0, 3.0], [-3.0, 3.0, 9.0]])
    assert np.allclose(similarity_probabilities(S, 0.0), np.array([[0, 1, 0], [1, 0, 3], [0, 3, 0]]) / 8)
    with_floor = similarity_probabilities(S, 0.3)
    assert np.allclose(with_floor, 0.7 * similarity_probabilities(S, 0.0) + 0.3 / 6 * (1 - np.eye(3)))
    assert np.allclose(similarity_probabilities(np.zeros((3, 3)), 0.0), (1 - np.eye(3)) / 6)


def test_means_lie_in_the_principal_axes_that_scikit_learn_finds(rng):
    X = rng.standard_normal((60, 5)) * [3, 2, 1, 0.5, 0.1]
    codes = rng.integers(4, size=60)
    codes[:5] = -1
    axes = PCA(2).fit_transform(X)
    expected = np.array([axes[codes == j].mean(axis=0) for j in range(4)])
    for table in (X, csr_array(X)):
        found = mean_layout(table, codes, 4, 2, rng).places
        assert np.allclose(np.abs(found), np.abs(expected))
        assert np.allclose(distances(found), distances(expected))


def test_leading_axes_of_as_many_features_are_the_features(rng):
    X = rng.standard_normal((10, 2))
    assert np.array_equal(leading_axes(X, 2, rng), X)
    assert np.array_equal(leading_axes(csr_array(X), 2, rng), X)
    assert np.array_equal(leading_axes(X, 3, rng)[:, 2], np.zeros(10))


def test_standardised_places(rng):
    points = rng.standard_normal((7, 2)) @ np.array([[3.0, 1.0], [1.0, 2.0]]) + 5
    places = standardised(points)
    assert np.allclose(places.mean(axis=0), 0)
    assert (places**2).sum() / 7 == pytest.approx(1)
    covariance = places.T @ places
    assert covariance[0, 1] == pytest.approx(0, abs=1e-12)
    assert covariance[0, 0] >= covariance[1, 1]
    ratio = distances(places)[0, 1:] / distances(points)[0, 1:]
    assert np.allclose(ratio, ratio[0])
    unturned = standardised(points, turn=False)
    assert np.allclose(unturned / (points - points.mean(axis=0)), 1 / np.sqrt(points.var(axis=0).sum()))
    assert np.array_equal(standardised(np.ones((3, 2))), np.zeros((3, 2)))


# ---------------------------------------------------------------------- settings


NEAR = pytest.mark.filterwarnings("ignore:the two nearest prototypes")


@NEAR
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_prototypes_are_centred_of_radius_one_and_repeatable(rng, kind, k):
    source = source_of(2 * rng.standard_normal((8, 4)), rng)
    found = kind().place(source, k, np.random.default_rng(3))
    assert found.places.shape == (8, k)
    assert found.method == kind.method
    assert np.allclose(found.places.mean(axis=0), 0)
    assert (found.places**2).sum() / 8 == pytest.approx(1)
    again = kind().place(source, k, np.random.default_rng(3))
    assert np.array_equal(found.places, again.places)


@pytest.mark.parametrize("kind", [MDSPrototypes, MeanPrototypes])
def test_flat_centres_are_shown_as_they_are(rng, kind):
    centres = rng.standard_normal((6, 2))
    source = source_of(centres, rng, spread=0.0)
    places = kind().place(source, 2, rng).places
    ratio = pdist(places) / pdist(centres)
    assert np.allclose(ratio, ratio[0])


def test_means_of_two_features_are_neither_turned_nor_mirrored(rng):
    centres = rng.standard_normal((6, 2))
    places = MeanPrototypes().place(source_of(centres, rng, spread=0.0), 2, rng).places
    centred = centres - centres.mean(axis=0)
    assert np.allclose(places, centred / np.sqrt((centred**2).sum() / 6))


def test_auto_compares_by_citations_then_centres_then_weights(rng):
    centres = rng.standard_normal((5, 3))
    plain = source_of(centres, rng)
    n = len(plain.codes)
    some = csr_array((rng.random((n, n)) < 0.2).astype(float))
    W = csr_array(some + some.T)
    assert not MDSPrototypes().place(plain, 2, rng).relation.similarity
    cited = CohortSource(plain.X, plain.codes, 5, W, some)
    by_links = MDSPrototypes().place(cited, 2, rng).relation
    assert np.array_equal(by_links.matrix, MDSPrototypes("citations").place(cited, 2, rng).relation.matrix)
    weighed = CohortSource(None, plain.codes, 5, W)
    by_weights = MDSPrototypes().place(weighed, 2, rng).relation
    assert np.array_equal(by_weights.matrix, MDSPrototypes("density").place(weighed, 2, rng).relation.matrix)


def test_given_dissimilarities_and_similarities(rng):
    source = source_of(rng.standard_normal((6, 3)), rng)
    D = distances(rng.standard_normal((6, 2)))
    ratio = pdist(MDSPrototypes(D).place(source, 2, rng).places) / D[np.triu_indices(6, 1)]
    assert np.allclose(ratio, ratio[0])
    same = MDSPrototypes(1 - D / D.max(), "one", similarity=True).place(source, 2, rng)
    assert same.relation.similarity
    ratio = pdist(same.places) / D[np.triu_indices(6, 1)]
    assert np.allclose(ratio, ratio[0])
    with pytest.raises(ParameterError, match="dissimilarity has 6 rows, but there are 5 cohorts"):
        MDSPrototypes(D).place(source_of(rng.standard_normal((5, 3)), rng), 2, rng)


@pytest.mark.parametrize("kind", [SNEPrototypes, TSNEPrototypes, LaplacianPrototypes])
def test_similarities_are_used_as_they_are(rng, kind):
    """A chain of cohorts: each is like the next; it must come out as a chain."""
    chain = np.diag(np.ones(7), 1)
    source = source_of(rng.standard_normal((8, 3)), rng)
    found = kind(chain + chain.T, similarity=True).place(source, 2, rng)
    steps = np.linalg.norm(np.diff(found.places, axis=0), axis=1)
    far = distances(found.places)[np.triu_indices(8, 2)]
    assert steps.mean() < 0.5 * far.mean()
    ends = distances(found.places)[0, 7]
    assert ends > 1.5 * steps.max()


@NEAR
@pytest.mark.parametrize("kind", [SNEPrototypes, TSNEPrototypes])
def test_neighbour_layouts_keep_more_links_than_others(kind):
    """Six groups of five cohorts in many dimensions, as in the comparison of ways to place prototypes."""
    kept = {kind: [], MDSPrototypes: [], LaplacianPrototypes: []}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        groups = 2 * rng.standard_normal((6, 50))
        centres = groups[np.arange(30) % 6] + rng.standard_normal((30, 50))
        source = source_of(centres, rng, members=5, spread=0.1)
        for way, found in kept.items():
            layout = way().place(source, 2, np.random.default_rng(0))
            found.append(prototype_links_kept(layout.places, layout.relation))
    best = np.mean(kept.pop(kind))
    assert best > 0.8
    assert all(best > np.mean(found) + 0.05 for found in kept.values())


def test_links_kept_by_hand():
    """On a line at 0, 1, 3, 7: the nearest of each are 1, 0, 1, 2; links 01, 12, 23."""
    line = np.array([[0.0], [1.0], [3.0], [7.0]])
    D = distances(line)
    assert prototype_links_kept(line, CohortRelation(D, False), 1) == 1
    assert prototype_links_kept(line, CohortRelation(10 - D, True), 1) == 1
    moved = np.array([[0.0], [1.0], [8.0], [7.0]])  # links 01 and 23
    assert prototype_links_kept(moved, CohortRelation(D, False), 1) == pytest.approx(2 / 3)
    assert prototype_links_kept(moved, CohortRelation(D, False), 3) == 1


# ---------------------------------------------------------------------- few, none, near


@pytest.mark.parametrize("kind", [SNEPrototypes, TSNEPrototypes, MDSPrototypes, LaplacianPrototypes])
def test_three_cohorts_are_a_triangle(rng, kind):
    centres = rng.standard_normal((3, 5))
    found = kind().place(source_of(centres, rng, spread=0.0), 2, rng)
    assert found.method == "mds"
    ratio = pdist(found.places) / pdist(centres)
    assert np.allclose(ratio, ratio[0])


@pytest.mark.parametrize("kind", [SNEPrototypes, MDSPrototypes])
@pytest.mark.parametrize("alike", [(4.0, 1.0, 0.0), (0.0, 0.0, 0.0), (2.0, 2.0, 2.0)])
def test_three_cohorts_by_similarity_never_coincide(rng, kind, alike):
    S = squareform(alike)
    found = kind(S, similarity=True).place(source_of(rng.standard_normal((3, 2)), rng), 2, rng)
    sides = pdist(found.places)
    assert sides.min() > 0.4 * sides.max()
    assert (np.argsort(sides, kind="stable") == np.argsort(-np.array(alike), kind="stable")).all() or np.ptp(
        sides
    ) < 1e-9


@pytest.mark.parametrize("kind", ALL)
def test_two_cohorts_span_a_line(rng, kind):
    source = source_of(rng.standard_normal((2, 3)), rng, spread=0.0)
    with pytest.warns(RelscapeWarning, match=r"2 prototypes span only 1 of the map's 2 .* n_components=1"):
        places = kind().place(source, 2, rng).places
    assert np.allclose(np.abs(places[:, 0]), 1) or kind is MeanPrototypes
    assert pdist(places)[0] == pytest.approx(2)


def test_more_axes_than_cohorts_are_padded(rng):
    source = source_of(rng.standard_normal((4, 6)), rng)
    with pytest.warns(RelscapeWarning, match="4 prototypes span only 3 of the map's 5"):
        places = SNEPrototypes().place(source, 5, rng).places
    assert np.array_equal(places[:, 3:], np.zeros((4, 2)))


@pytest.mark.parametrize("kind", ALL)
def test_one_cohort_is_refused(rng, kind):
    with pytest.raises(DataError, match=r"only one cohort.*two or more"):
        kind().place(source_of(rng.standard_normal((1, 3)), rng), 2, rng)


@pytest.mark.parametrize("kind", ALL)
def test_a_cohort_without_members_gets_some_place(rng, kind):
    full = source_of(rng.standard_normal((6, 3)), rng)
    keep = full.codes != 2
    found = kind().place(CohortSource(full.X[keep], full.codes[keep], 6), 2, rng)
    assert found.places.shape == (6, 2)
    assert np.isfinite(found.places).all()


def test_cohorts_on_one_spot_are_warned_of(rng):
    centres = rng.standard_normal((6, 3))
    centres[1] = centres[0]
    with pytest.warns(RelscapeWarning, match=r"nearest prototypes are .* cohorts may overlap"):
        MDSPrototypes().place(source_of(centres, rng, spread=0.0), 2, rng)


def test_means_need_features(rng):
    with pytest.raises(ParameterError, match="needs features"):
        MeanPrototypes().place(CohortSource(None, np.array([0, 1, 2]), 3, csr_array(np.eye(3))), 2, rng)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            SNEPrototypes(perplexity=7),
            "perplexity=7 .* with 8 cohorts give a number of at least 1 and below 7",
        ),
        (TSNEPrototypes(perplexity="some"), "perplexity='some'"),
        (TSNEPrototypes(floor=1.0), "floor=1.0"),
        (SNEPrototypes(n_starts=-1), "n_starts=-1"),
    ],
)
def test_bad_settings(rng, settings, message):
    with pytest.raises(ParameterError, match=message):
        settings.place(source_of(rng.standard_normal((8, 3)), rng), 2, rng)


def test_settings_by_name():
    for kind in ALL:
        assert prototype_settings(kind.method) == kind()
    settings = TSNEPrototypes("citations", floor=0.2)
    assert prototype_settings(settings) is settings
    with pytest.raises(UnknownNameError, match=r"no way to place prototypes 'tnse'.*'tsne'"):
        prototype_settings("tnse")
    with pytest.raises(UnknownNameError):
        prototype_settings(3)


def test_given_prototypes_are_checked(rng):
    V = rng.standard_normal((4, 2))
    assert np.array_equal(given_prototypes(V.tolist(), 4, 2), V)
    with pytest.raises(DataError, match=r"shape \(4, 2\); expected \(5, 2\)"):
        given_prototypes(V, 5, 2)
    with pytest.raises(DataError, match="not all numbers"):
        given_prototypes([["a", 1], ["b", 2]], 2, 2)
    V[3, 1] = np.nan
    with pytest.raises(DataError, match="row 3 has NaN"):
        given_prototypes(V, 4, 2)
    with pytest.warns(RelscapeWarning, match="3 prototypes span only 1 of the map's 2"):
        given_prototypes([[0, 1], [1, 2], [2, 3]], 3, 2)
