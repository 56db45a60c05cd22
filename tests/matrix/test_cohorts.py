from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cosine, euclidean

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.cohorts import (
    CONVERSIONS,
    RELATIONS,
    CohortRelation,
    as_dissimilarity,
    centroids,
    cohort_relation,
    given_relation,
    indicator,
)


@pytest.fixture
def samples(rng):
    codes = rng.integers(-1, 4, 60)
    X = np.abs(rng.normal(size=(60, 6))) * (rng.random((60, 6)) < 0.6)
    links = rng.random((60, 60)) * (rng.random((60, 60)) < 0.1)
    weights = links + links.T
    np.fill_diagonal(weights, 0)
    return {"codes": codes, "c": 4, "X": X, "links": csr_array(links), "weights": csr_array(weights)}


def slow(name, codes, c, X, links, weights):
    """The relation by its definition: loops over cohorts and over their members."""
    members = [np.flatnonzero(codes == j) for j in range(c)]
    theta, W = links.toarray(), weights.toarray()
    found = np.zeros((c, c))
    for i in range(c):
        for j in range(c):
            pairs = [(s, t) for s in members[i] for t in members[j]]
            mean_i, mean_j = X[members[i]].mean(axis=0), X[members[j]].mean(axis=0)
            if name == "pairs":
                found[i, j] = np.mean([euclidean(X[s], X[t]) for s, t in pairs]) if i != j else 0.0
            elif name == "centres":
                found[i, j] = euclidean(mean_i, mean_j)
            elif name == "density":
                found[i, j] = np.mean([W[s, t] for s, t in pairs])
            elif name == "citations":
                both = sum(theta[s, t] + theta[t, s] for s, t in pairs)
                found[i, j] = 0.5 / (len(members[i]) + len(members[j])) * both
            elif name == "citation-density":
                found[i, j] = np.mean([(theta[s, t] + theta[t, s]) / 2 for s, t in pairs])
            elif name == "cosine":
                found[i, j] = 1 - cosine(mean_i, mean_j)
            else:
                found[i, j] = 1 - cosine(X[members[i]].sum(axis=0), X[members[j]].sum(axis=0))
    return found


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("sparse", [False, True])
def test_each_relation_is_its_definition(samples, name, sparse):
    expected = slow(name, **samples)
    if sparse:
        samples["X"] = csr_array(samples["X"])
    found = cohort_relation(name, **samples)
    np.testing.assert_allclose(found.matrix, expected, atol=1e-12)
    np.testing.assert_allclose(found.matrix, found.matrix.T, rtol=0, atol=1e-15)
    assert found.similarity == (name not in ("pairs", "centres"))


def test_link_density_is_one_sparse_product(samples):
    Y = indicator(samples["codes"], 4).toarray()
    sizes = Y.sum(axis=0)
    expected = Y.T @ samples["weights"].toarray() @ Y / np.outer(sizes, sizes)
    np.testing.assert_allclose(cohort_relation("density", **samples).matrix, expected, atol=1e-15)


@pytest.mark.parametrize("name", RELATIONS)
def test_a_cohort_without_members_is_far_from_all_or_like_none(samples, name):
    whole = cohort_relation(name, **samples)
    with_empty = cohort_relation(name, **{**samples, "c": 6})
    np.testing.assert_array_equal(with_empty.matrix[:4, :4], whole.matrix)
    outside = with_empty.matrix[4:]
    if whole.similarity:
        assert (outside == 0).all()
    else:
        assert outside[0, 4] == outside[1, 5] == 0
        assert (outside[0, [0, 1, 2, 3, 5]] == whole.matrix.max()).all()


def test_large_cohorts_are_stood_for_by_some_members(rng):
    codes = np.repeat([0, 1], 2000)
    X = rng.normal(size=(4000, 3)) + 4.0 * codes[:, None]
    once = cohort_relation("pairs", X=X, codes=codes, c=2, random_state=1)
    again = cohort_relation("pairs", X=X, codes=codes, c=2, random_state=1)
    np.testing.assert_array_equal(once.matrix, again.matrix)
    everything = np.mean([np.linalg.norm(X[:2000] - x, axis=1).mean() for x in X[2000:2400]])
    assert once.matrix[0, 1] == pytest.approx(everything, rel=0.05)


def test_centroids_are_means_and_zero_where_nobody_is(samples):
    X, codes = samples["X"], samples["codes"]
    expected = np.array([X[codes == j].mean(axis=0) for j in range(4)] + [np.zeros(6)])
    np.testing.assert_allclose(centroids(X, codes, 5), expected, rtol=1e-14)
    np.testing.assert_allclose(centroids(csr_array(X), codes, 5).toarray(), expected, rtol=1e-14)


def test_what_is_missing_is_named(samples):
    with pytest.raises(DataError, match=r"made from links.*give links or choose one of pairs, centres"):
        cohort_relation("citations", codes=samples["codes"], c=4, X=samples["X"])
    with pytest.raises(UnknownNameError, match="Did you mean 'centres'"):
        cohort_relation("centers", codes=samples["codes"], c=4, X=samples["X"])
    with pytest.raises(DataError, match="counts of words"):
        cohort_relation("captions", codes=samples["codes"], c=4, X=-samples["X"])
    samples["X"][samples["codes"] == 1] = np.nan
    with pytest.raises(DataError, match="not finite"):
        cohort_relation("centres", **samples)


def test_similarities_become_distances():
    S = np.array([[9.0, 0.5, 0.25], [0.5, 7.0, 0.0], [0.25, 0.0, 8.0]])
    relation = CohortRelation(S, similarity=True)
    np.testing.assert_allclose(as_dissimilarity(relation, "max"), [[0, 0, 0.25], [0, 0, 0.5], [0.25, 0.5, 0]])
    np.testing.assert_allclose(as_dissimilarity(relation, "one"), [[0, 0.5, 0.75], [0.5, 0, 1], [0.75, 1, 0]])
    far = np.log(1e6)
    np.testing.assert_allclose(
        as_dissimilarity(relation, "log"), [[0, 0, np.log(2)], [0, 0, far], [np.log(2), far, 0]]
    )


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_conversions_never_give_anything_but_distances(samples, conversion):
    for S in (cohort_relation("density", **{**samples, "c": 6}).matrix, np.zeros((3, 3)), np.ones((1, 1))):
        D = as_dissimilarity(CohortRelation(S, similarity=True), conversion)
        assert np.isfinite(D).all()
        assert D.min() >= 0
        assert (np.diag(D) == 0).all()
        np.testing.assert_array_equal(D, D.T)


def test_a_dissimilarity_stays_what_it_is(samples):
    relation = cohort_relation("centres", **samples)
    np.testing.assert_allclose(as_dissimilarity(relation), relation.matrix, rtol=1e-15)


def test_conversion_is_checked():
    relation = CohortRelation(np.full((2, 2), 3.0), similarity=True)
    with pytest.raises(UnknownNameError, match="'max', 'one', 'log'"):
        as_dissimilarity(relation, "exp")
    with pytest.raises(ParameterError, match="at most 1, such as cosines; the largest is 3"):
        as_dissimilarity(relation, "one")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [1, np.nan]], "not finite"),
        ([[0, 1, 2]], r"shape \(1, 3\)"),
        ([[0, 1], [2, 0]], "not symmetric"),
        ([[0, -1], [-1, 0]], "similarity=True"),
        ([["a", "b"], ["b", "a"]], "no number"),
        (np.zeros((3, 3)), "each of 2 cohorts"),
    ],
)
def test_a_table_brought_along_is_checked(matrix, message):
    with pytest.raises(DataError, match=message):
        given_relation(matrix, similarity=False, c=2)


def test_a_table_brought_along_is_used():
    relation = given_relation(csr_array(np.array([[0.0, 2.0], [2.0, 0.0]])), similarity=True)
    np.testing.assert_array_equal(relation.matrix, [[0, 2], [2, 0]])
    assert relation.similarity
