"""The mutual co-embedding against the literal eigenproblem, its invariants, and its search."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import block_diag, eig
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist, pdist

from relscape.errors import ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix.mutual import mutual_weights
from relscape.matrix.operators import LocalRelation
from relscape.models import mutual, mutual_search
from relscape.models.mutual import CoEmbedding
from relscape.models.spectral import BipartiteSpectral, CorrespondenceAnalysis
from relscape.scores import gamma_loss, gamma_terms, mean_rank
from relscape.solvers import spectral as spectral_solver

ETAS = [(1.0, 1.0), (0.0, 0.0), (2.5, 0.5), (0.0, 3.0), (4.0, 1.0)]


@pytest.fixture
def table(rng):
    return rng.gamma(2.0, size=(9, 7))


def given(R, etas=(1.0, 1.0), xi=1.0, gamma=0.0, k=3, **other):
    return CoEmbedding(k, *etas, xi, gamma, **other).fit(R)


def weights_of(R, etas):
    a, b = R.sum(axis=1) ** (etas[0] - 1), R.sum(axis=0) ** (etas[1] - 1)
    return a, b, R @ b, R.T @ a


def leading(matrix, count):
    """Eigenvectors of the eigenvalues after the largest, by a general solver."""
    values, vectors = eig(matrix)
    order = np.argsort(-values.real)[1 : count + 1]
    return values.real[order], vectors.real[:, order]


def finished(R, etas, xi, gamma, values, psi):
    """Equations 41 and 42, as printed."""
    a, _, u, v = weights_of(R, etas)
    rows = (values / values[0]) ** gamma * psi / np.sqrt(u @ psi**2)
    return rows, xi / np.sqrt(values) * (R.T @ (a[:, None] * rows)) / v[:, None]


def by_rows(R, etas, xi, gamma, k):
    """The m × m problem of T."""
    a, b, u, v = weights_of(R, etas)
    T = (R * b / u[:, None]) @ (R * a[:, None] / v).T
    return finished(R, etas, xi, gamma, *leading(T, k))


def by_columns(R, etas, xi, gamma, k):
    """The n × n problem with the groups' roles exchanged."""
    a, b, u, v = weights_of(R, etas)
    swapped = (R * a[:, None] / v).T @ (R * b / u[:, None])
    values, phi = leading(swapped, k)
    return finished(R, etas, xi, gamma, values, (R * b / u[:, None]) @ phi)


def by_svd(R, etas, xi, gamma, k):
    """The closed form of section 2.3 from a dense decomposition of B."""
    a, b, u, v = weights_of(R, etas)
    U, sigma, Vt = np.linalg.svd(R * np.sqrt(np.outer(a / u, b / v)))
    U, sigma, V = U[:, 1 : k + 1], sigma[1 : k + 1], Vt.T[:, 1 : k + 1]
    weights = (sigma / sigma[0]) ** (2 * gamma) / np.sqrt((U**2 / a[:, None]).sum(axis=0))
    return weights * U / np.sqrt(a * u)[:, None], xi * weights * V / np.sqrt(b * v)[:, None]


def distances(rows, columns):
    return pdist(np.vstack([rows, columns]))


# ---------------------------------------------------------------- the model


@pytest.mark.parametrize("etas", ETAS)
@pytest.mark.parametrize(("xi", "gamma"), [(1.0, 0.0), (0.4, 0.5), (2.0, 1.3)])
def test_i04_four_ways_to_the_same_distances(rng, etas, xi, gamma, monkeypatch):
    table = rng.gamma(2.0, size=(20, 16))
    models = [given(table, etas, xi, gamma)]
    monkeypatch.setattr(spectral_solver, "DENSE_ENTRIES", 0)
    monkeypatch.setattr(spectral_solver, "GRAM_SIDE", 0)
    models.append(given(csr_array(table), etas, xi, gamma))
    for model in models:
        ours = distances(model.row_embedding_, model.column_embedding_)
        for way in (by_rows, by_columns, by_svd):
            assert_allclose(ours, distances(*way(table, etas, xi, gamma, 3)), rtol=1e-7)


@pytest.mark.parametrize("etas", ETAS)
@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.7])
def test_i05_the_rows_cloud_has_the_size_that_the_eigenvalues_give(table, etas, gamma):
    model = given(table, etas, 0.7, gamma)
    u = weights_of(table, etas)[2]
    lam = model.eigenvalues_
    assert_allclose(u @ model.row_embedding_**2, (lam / lam[0]) ** (2 * gamma), rtol=1e-10)


@pytest.mark.parametrize("etas", ETAS)
@pytest.mark.parametrize("zeta", [1.0, [0.5, 2.0, 3.0], [1.0, 0.0, 4.0]])
def test_i06_the_columns_cloud_has_the_size_zeta(table, etas, zeta):
    model = CoEmbedding(3, *etas, zeta=zeta).fit(table)
    _, _, u, v = weights_of(table, etas)
    assert_allclose(u @ model.row_embedding_**2, 1.0, rtol=1e-10)
    assert_allclose(v @ model.column_embedding_**2, np.broadcast_to(zeta, 3), rtol=1e-10, atol=1e-20)


@pytest.mark.parametrize("etas", ETAS)
def test_i07_the_multipliers_meet(table, etas):
    """α, β from their definitions (28), (31): αβλ = 1 and ξ = α√λ = √(α/β)."""
    zeta = np.array([0.5, 2.0, 3.0])
    model = CoEmbedding(3, *etas, zeta=zeta).fit(table)
    a, b, u, v = weights_of(table, etas)
    x, y, lam = model.row_embedding_, model.column_embedding_, model.eigenvalues_
    image, back = table.T @ (a[:, None] * x), table @ (b[:, None] * y)
    alpha = np.sqrt(zeta / (image**2 / v[:, None]).sum(axis=0))
    beta = 1 / np.sqrt((back**2 / u[:, None]).sum(axis=0))
    assert_allclose(alpha * beta * lam, 1.0, rtol=1e-9)
    assert_allclose(y, alpha * image / v[:, None], rtol=1e-8, atol=1e-9 * np.abs(y).max())
    assert_allclose(x, beta * back / u[:, None], rtol=1e-8, atol=1e-9 * np.abs(x).max())
    xi = alpha * np.sqrt(lam)
    assert_allclose(xi, np.sqrt(alpha / beta), rtol=1e-9)
    for axis in range(3):
        same = given(table, etas, float(xi[axis]), 0.0)
        assert_allclose(same.column_embedding_[:, axis], y[:, axis], rtol=1e-8, atol=1e-9 * np.abs(y).max())


@pytest.mark.parametrize("etas", ETAS)
def test_i08_axes_are_centred_and_orthogonal_in_R_s_own_weights(table, etas):
    model = given(table, etas, 0.7, 0.4)
    a, b, u, v = weights_of(table, etas)
    for points, metric in ((model.row_embedding_, a * u), (model.column_embedding_, b * v)):
        gram = points.T @ (metric[:, None] * points)
        size = np.sqrt(np.diag(gram))
        assert_allclose(gram / np.outer(size, size), np.eye(3), atol=1e-10)
        assert_allclose(metric @ points / size / np.sqrt(metric.sum()), 0, atol=1e-10)


@pytest.mark.parametrize("etas", ETAS)
@pytest.mark.parametrize("scales", [{"xi": 0.6, "gamma": 1.2}, {"zeta": [0.5, 2.0, 3.0]}])
def test_i09_new_objects_like_old_ones_get_their_places(table, etas, scales):
    model = CoEmbedding(3, *etas, **({"xi": 1.0, "gamma": 0.0} | scales)).fit(table)
    size = np.abs(model.row_embedding_).max(axis=0), np.abs(model.column_embedding_).max(axis=0)
    assert_allclose(model.transform(table) / size[0], model.row_embedding_ / size[0], atol=1e-9)
    assert_allclose(model.transform_columns(table) / size[1], model.column_embedding_ / size[1], atol=1e-9)


@pytest.mark.parametrize("etas", ETAS)
def test_i09_new_objects_follow_the_transition_formulas(table, etas, rng):
    model = given(table, etas, 0.6, 1.2)
    a, b, _, _ = weights_of(table, etas)
    x, y, sigma = model.row_embedding_, model.column_embedding_, np.sqrt(model.eigenvalues_)
    rho, kappa = rng.random((4, 7)), rng.random((9, 4))
    rows = (rho * b) @ y / (rho @ b)[:, None] / (0.6 * sigma)
    columns = (kappa.T * a) @ x / (kappa.T @ a)[:, None] * (0.6 / sigma)
    assert_allclose(model.transform(rho), rows, rtol=1e-7, atol=1e-9 * np.abs(rows).max())
    assert_allclose(model.transform_columns(kappa), columns, rtol=1e-7, atol=1e-9 * np.abs(columns).max())


@pytest.mark.parametrize("etas", ETAS)
@pytest.mark.parametrize("s", [1e-3, 250.0])
def test_i10_scaling_the_relation_scales_the_final_version(table, etas, s):
    plain, scaled = given(table, etas, 0.6, 0.4), given(s * table, etas, 0.6, 0.4)
    factor = s ** (-etas[1] / 2)
    assert_allclose(np.abs(scaled.row_embedding_), factor * np.abs(plain.row_embedding_), rtol=1e-8)
    assert_allclose(np.abs(scaled.column_embedding_), factor * np.abs(plain.column_embedding_), rtol=1e-8)
    assert scaled.gamma_loss_ == plain.gamma_loss_


@pytest.mark.parametrize("etas", ETAS)
def test_i10_the_version_with_zeta_is_not_free_of_scale(table, etas):
    s = 250.0
    plain, scaled = (CoEmbedding(3, *etas, zeta=1.0).fit(R) for R in (table, s * table))
    ratio = [np.abs(model.column_embedding_ / model.row_embedding_[0]) for model in (plain, scaled)]
    assert_allclose(ratio[1], ratio[0] * s ** ((etas[1] - etas[0]) / 2), rtol=1e-8)


def test_i11_members_are_bgp_and_ca(table):
    bgp, ca = BipartiteSpectral(3).fit(table), CorrespondenceAnalysis(3).fit(table)
    like_bgp, like_ca = given(table, gamma=0.0), given(table, gamma=0.5)
    factor = ca.singular_values_[0] * np.sqrt(table.sum())  # σ₂, and CA's scale of P = R/ΣR
    for side in ("row_embedding_", "column_embedding_"):
        assert_allclose(np.abs(getattr(like_bgp, side)), np.abs(getattr(bgp, side)), rtol=1e-9)
        assert_allclose(np.abs(getattr(like_ca, side)), np.abs(getattr(ca, side)) / factor, rtol=1e-9)
    assert_allclose(like_ca.eigenvalues_, ca.singular_values_**2, rtol=1e-10)


@pytest.mark.parametrize("etas", ETAS)
def test_i15_the_positive_branch_is_the_minimum(table, etas, rng):
    """F(z_y) ≥ ζ − 2ζ/α on the constraint, reached at the model's columns; G likewise for rows."""
    zeta = 2.0
    model = CoEmbedding(3, *etas, zeta=zeta).fit(table)
    a, b, u, v = weights_of(table, etas)
    for axis in range(3):
        x, y = model.row_embedding_[:, axis], model.column_embedding_[:, axis]
        alpha = np.sqrt(zeta / ((table.T @ (a * x)) ** 2 / v).sum())
        beta = 1 / np.sqrt(((table @ (b * y)) ** 2 / u).sum())

        def F(z, x=x):
            return z @ (v * z) - 2 * (a * x) @ table @ z

        def G(z, y=y):
            return z @ (u * z) - 2 * z @ table @ (b * y)

        assert F(y) == pytest.approx(zeta - 2 * zeta / alpha, rel=1e-9)
        assert G(x) == pytest.approx(1 - 2 / beta, rel=1e-9)
        assert F(-y) > F(y)
        for step in (1e-3, 0.1, 10.0):
            other = y + step * np.abs(y).max() * rng.normal(size=y.size)
            assert F(other * np.sqrt(zeta / (v @ other**2))) >= F(y)
            other = x + step * np.abs(x).max() * rng.normal(size=x.size)
            assert G(other / np.sqrt(u @ other**2)) >= G(x)


# ---------------------------------------------------------------- difficult inputs


@pytest.mark.parametrize("etas", [(0.0, 0.0), (2.0, 3.0), (10.0, 0.0), (3.0, 10.0)])
def test_equal_and_proportional_objects_coincide(table, etas):
    doubled = np.vstack([table, table[2], 3.0 * table[5]])
    doubled = np.column_stack([doubled, doubled[:, 1], 0.2 * doubled[:, 4]])
    model = given(doubled, etas)
    x, y = model.row_embedding_, model.column_embedding_
    assert_allclose(x[[9, 10]], x[[2, 5]], rtol=1e-7, atol=1e-10 * np.abs(x).max())
    assert_allclose(y[[7, 8]], y[[1, 4]], rtol=1e-7, atol=1e-10 * np.abs(y).max())


@pytest.mark.parametrize("etas", [(0.0, 0.0), (10.0, 10.0), (0.0, 10.0), (10.0, 0.0)])
def test_extreme_weights_stay_finite(etas):
    rng = np.random.default_rng(5)
    counts = np.ceil(np.outer(np.geomspace(1, 300, 40), np.geomspace(1, 300, 30)) * rng.random((40, 30)))
    model = given(counts, etas, k=2)
    assert np.isfinite(model.row_embedding_).all()
    assert np.isfinite(model.column_embedding_).all()
    assert (model.eigenvalues_ > 0).all()


def test_too_many_components(table):
    with pytest.raises(ParameterError, match=r"n_components=8 is too large: .* has 6 axes"):
        given(table, k=8)
    with pytest.warns(RelscapeWarning, match="has 6 axes; the others are zero"):
        model = given(table, k=7)
    assert not model.row_embedding_[:, 6].any()
    assert model.eigenvalues_[6] == 0


def test_a_single_row_has_no_axis():
    with pytest.raises(ParameterError, match="nothing in it tells its objects apart"):
        given(np.array([[1.0, 2.0, 3.0]]), k=1)
    with pytest.raises(ParameterError, match="nothing in it tells its objects apart"):
        CoEmbedding(1, random_state=0).fit(np.outer([1.0, 2.0, 3.0], [1.0, 4.0]))


@pytest.mark.parametrize("etas", [(1.0, 1.0), (6.0, 6.0), (3.0, 10.0), (0.0, 10.0)])
def test_rounding_is_never_taken_for_an_axis(etas):
    """The averaging pass turns rounding into numbers of any size: the rank is decided before it."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        (m, n), rank = rng.integers(4, 30, 2), int(rng.integers(2, 4))
        left = rng.gamma(1.0, size=(m, rank)) * np.geomspace(1, 1e3, m)[:, None]
        R = left @ (rng.gamma(1.0, size=(rank, n)) * np.geomspace(1, 1e3, n))
        relation = LocalRelation(R)
        axes = mutual.mutual_axes(relation, mutual_weights(relation, *etas), rank + 1)
        assert not axes.sigma[rank - 1 :].any()
        assert (axes.sigma <= 1).all()


def test_a_large_relation_of_rank_one_has_no_axis(monkeypatch):
    """The search must not start an iteration from the zero axes it found before."""
    monkeypatch.setattr(spectral_solver, "DENSE_ENTRIES", 0)
    monkeypatch.setattr(spectral_solver, "GRAM_SIDE", 0)
    R = np.outer(np.arange(1.0, 31.0), np.arange(1.0, 26.0))
    with pytest.raises(ParameterError, match="nothing in it tells its objects apart"):
        CoEmbedding(random_state=0, max_evaluations=3).fit(R)


def test_objects_without_relations_get_no_place(table):
    padded = np.insert(np.insert(table, 4, 0.0, axis=0), 2, 0.0, axis=1)
    with pytest.warns(RelscapeWarning, match="no relation at all"):
        model = given(padded, (2.0, 3.0), 0.6, 0.5)
    plain = given(table, (2.0, 3.0), 0.6, 0.5)
    assert np.isnan(model.row_embedding_[4]).all()
    assert np.isnan(model.column_embedding_[2]).all()
    assert_allclose(np.delete(model.row_embedding_, 4, axis=0), plain.row_embedding_, rtol=1e-9)
    assert_allclose(np.delete(model.column_embedding_, 2, axis=0), plain.column_embedding_, rtol=1e-9)
    assert model.gamma_loss_ == plain.gamma_loss_


@pytest.fixture
def blocks(rng):
    return [rng.gamma(2.0, size=shape) for shape in ((6, 5), (4, 4), (1, 2))]


def test_i17_the_multiplicity_of_one_counts_the_blocks(blocks):
    R = block_diag(*blocks)
    for etas in ETAS:
        a, b, u, v = weights_of(R, etas)
        T = (R * b / u[:, None]) @ (R * a[:, None] / v).T
        assert (np.abs(eig(T, right=False) - 1) < 1e-9).sum() == 3
        joint = given(R, etas, k=4, components="joint")
        assert_allclose(joint.eigenvalues_[:2], 1.0, rtol=1e-10)  # besides the trivial one
        assert (joint.eigenvalues_[2:] < 1 - 1e-6).all()


def test_only_the_largest_block_is_placed(blocks):
    R = block_diag(*blocks)
    with pytest.warns(RelscapeWarning, match="3 blocks"):
        model = given(R, (2.0, 1.5), 0.7, 0.5)
    alone = given(blocks[0], (2.0, 1.5), 0.7, 0.5)
    assert_allclose(model.row_embedding_[:6], alone.row_embedding_, rtol=1e-9)
    assert np.isnan(model.row_embedding_[6:]).all()
    assert np.isnan(model.column_embedding_[5:]).all()
    # A new row is placed by its relations to placed columns, however many it has to others.
    new = np.concatenate([blocks[0][0], np.full(6, 100.0)])[None]
    assert_allclose(model.transform(new)[0], model.row_embedding_[0], rtol=1e-7)
    with pytest.warns(RelscapeWarning, match="no relation to anything on the map"):
        assert np.isnan(model.transform(np.eye(11)[[7]])).all()


def test_each_block_is_placed_on_its_own(blocks):
    R = block_diag(*blocks)
    model = given(R, (2.0, 1.5), 0.7, 0.5, components="each")
    for rows, columns, block in ((slice(0, 6), slice(0, 5), 0), (slice(6, 10), slice(5, 9), 1)):
        alone = given(blocks[block], (2.0, 1.5), 0.7, 0.5)
        assert_allclose(model.row_embedding_[rows], alone.row_embedding_, rtol=1e-9)
        assert_allclose(model.column_embedding_[columns], alone.column_embedding_, rtol=1e-9)
    assert not model.row_embedding_[10].any()  # a block of one row has no axis
    assert_array_equal(model.row_component_, [0] * 6 + [1] * 4 + [2])
    assert_allclose(model.transform(R), model.row_embedding_, rtol=1e-7, atol=1e-9)
    assert len(model.to_maps()) == 3
    with pytest.raises(ParameterError, match="3 blocks"):
        model.to_map()


def test_unknown_rules_and_impossible_numbers_are_refused(table):
    with pytest.raises(UnknownNameError, match="components"):
        given(table, components="some")
    with pytest.raises(UnknownNameError, match="ties"):
        given(table, ties="some")
    for wrong in ({"eta_rows": -1.0}, {"xi": 0.0}, {"gamma": np.nan}, {"xi": "best"}, {"eta_columns": True}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            CoEmbedding(**wrong).fit(table)
    for zeta in (-1.0, [1.0, 2.0, 3.0], np.nan):
        with pytest.raises(ParameterError, match="zeta"):
            CoEmbedding(2, 1.0, 1.0, zeta=zeta).fit(table)


def test_saved_and_loaded(table, tmp_path, rng):
    models = (
        given(table, (2.0, 3.0), 0.6, 0.5),
        CoEmbedding(2, 2.0, 1.0, zeta=np.array([1.0, 2.0])).fit(table),
        CoEmbedding(random_state=0, max_evaluations=3, k_rows=2, k_columns=2).fit(table),
    )
    new = rng.random((3, 7))
    for number, model in enumerate(models):
        again = CoEmbedding.load(model.save(tmp_path / str(number)))
        assert_array_equal(again.row_embedding_, model.row_embedding_)
        assert_array_equal(again.transform(new), model.transform(new))
        assert again.search_trace_ == model.search_trace_
        assert again.parameters_ == model.parameters_
        assert again.gamma_loss_ == model.gamma_loss_
        assert again.to_map().scores["gamma_loss"] == model.gamma_loss_


# ---------------------------------------------------------------- the search


def relations():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    squares = cdist(x, y, "sqeuclidean")
    counts = rng.poisson(0.4, (50, 40)) * (1.0 + rng.pareto(1.0, 40))
    counts[:, 0] += 1
    counts[0] += 1
    sparse = random_array((60, 45), density=0.15, random_state=rng).toarray()
    sparse[:, 0] += 0.1
    sparse[0] += 0.1
    return {"points": np.exp(-squares / squares.mean()), "counts": counts, "sparse": csr_array(sparse)}


@pytest.fixture(params=["points", "counts", "sparse"])
def relation(request):
    return relations()[request.param]


@pytest.mark.filterwarnings("ignore:with k_rows")
@pytest.mark.parametrize("ties", ["positive", "inclusive"])
def test_i16_the_searched_gamma_is_never_worse_than_that_of_ca_and_bgp(relation, ties):
    model = CoEmbedding(random_state=0, max_evaluations=8, k_rows=4, k_columns=3, ties=ties).fit(relation)
    k_rows, k_columns, rule = model.search_neighbourhood_
    found = gamma_terms(relation, model.row_embedding_, model.column_embedding_, k_rows, k_columns, rule)
    assert (model.gamma_loss_, model.gamma_pairs_) == found
    for other in (CorrespondenceAnalysis(2), BipartiteSpectral(2)):
        other.fit(relation)
        theirs = gamma_loss(relation, other.row_embedding_, other.column_embedding_, k_rows, k_columns, rule)
        assert model.gamma_loss_ <= theirs


@pytest.mark.filterwarnings("ignore:with k_rows")
def test_i16_also_where_the_iteration_is_rough(relation, monkeypatch):
    """Finalists are compared as they will be fitted, not with the search's few digits."""
    monkeypatch.setattr(spectral_solver, "DENSE_ENTRIES", 0)
    monkeypatch.setattr(spectral_solver, "GRAM_SIDE", 0)
    monkeypatch.setattr(mutual, "SEARCH_TOLERANCE", 0.3)
    model = CoEmbedding(random_state=0, max_evaluations=5).fit(relation)
    exact = [entry for entry in model.search_trace_ if entry["exact"]]
    assert model.gamma_loss_ == min(entry["gamma_loss"] for entry in exact)
    k_rows, k_columns, rule = model.search_neighbourhood_
    for other in (CorrespondenceAnalysis(2), BipartiteSpectral(2)):
        other.fit(relation)
        theirs = gamma_loss(relation, other.row_embedding_, other.column_embedding_, k_rows, k_columns, rule)
        assert model.gamma_loss_ <= theirs


def test_i16_gamma_knows_nothing_when_all_are_neighbours_and_ties_go_to_ca():
    R = relations()["points"]
    model = CoEmbedding(random_state=0, max_evaluations=8, k_rows=40, k_columns=30).fit(R)
    assert model.gamma_loss_ == 0
    assert model.parameters_ == {"eta_rows": 1.0, "eta_columns": 1.0, "xi": 1.0, "gamma": 0.5}


def test_i20_the_mean_rank_has_its_bound():
    R = relations()["points"]
    model = CoEmbedding(random_state=0, max_evaluations=4).fit(R)
    assert mean_rank(R, model.row_embedding_, model.column_embedding_) >= 5.5
    assert mean_rank(R, model.row_embedding_, model.column_embedding_, top=30) == pytest.approx(15.5)


def test_same_seed_same_search():
    R = relations()["points"]
    first, second = (CoEmbedding(random_state=3, max_evaluations=15).fit(R) for _ in range(2))
    other = CoEmbedding(random_state=4, max_evaluations=15).fit(R)
    assert first.search_trace_ == second.search_trace_
    assert_array_equal(first.row_embedding_, second.row_embedding_)
    assert first.search_trace_ != other.search_trace_


@pytest.mark.parametrize("budget", [1, 5, 12])
def test_the_budget_is_kept_and_the_trace_complete(budget, monkeypatch):
    rough, fine = [], []
    plain = mutual.mutual_axes

    def counted(relation, weights, k, tolerance=1e-8, start=None):
        (rough if tolerance == mutual.SEARCH_TOLERANCE else fine).append(start)
        return plain(relation, weights, k, tolerance, start)

    monkeypatch.setattr(mutual, "mutual_axes", counted)
    R = relations()["points"]
    model = CoEmbedding(random_state=0, max_evaluations=budget).fit(R)
    searched = [entry for entry in model.search_trace_ if not entry["exact"]]
    exact = [entry for entry in model.search_trace_ if entry["exact"]]
    assert len(rough) == len(searched) == budget
    assert len(fine) <= mutual_search.FINALISTS + 1 + 1  # with η = 1, and the fit itself
    assert [start is None for start in rough] == [True] + [False] * (budget - 1)
    assert model.search_reason_ == f"{budget} evaluations are spent"
    names = {"eta_rows", "eta_columns", "xi", "gamma", "gamma_loss", "exact"}
    assert all(set(entry) == names for entry in model.search_trace_)
    assert len({(entry["eta_rows"], entry["eta_columns"]) for entry in searched}) == budget
    for entry in exact:  # each again by hand
        scales = {name: entry[name] for name in ("eta_rows", "eta_columns", "xi", "gamma")}
        again = CoEmbedding(**scales).fit(R)
        loss = gamma_loss(R, again.row_embedding_, again.column_embedding_, ties="positive")
        assert entry["gamma_loss"] == loss
    assert model.parameters_ in [{n: e[n] for n in ("eta_rows", "eta_columns", "xi", "gamma")} for e in exact]
    assert {(1.0, 1.0, 1.0, 0.5), (1.0, 1.0, 1.0, 0.0)} <= {
        tuple(entry[n] for n in ("eta_rows", "eta_columns", "xi", "gamma")) for entry in exact
    }


def test_ties_are_broken_toward_the_middle():
    R = relations()["points"]
    model = CoEmbedding(random_state=0, max_evaluations=12).fit(R)
    middle = np.array([1.0, 1.0, 1.0, 0.5])

    def away(entry):
        return np.linalg.norm([entry[n] for n in ("eta_rows", "eta_columns", "xi", "gamma")] - middle)

    best = [e for e in model.search_trace_ if e["exact"] and e["gamma_loss"] == model.gamma_loss_]
    assert away(model.parameters_) == min(map(away, best))


@pytest.mark.parametrize(
    "fixed",
    [
        {"eta_rows": 2.3},
        {"eta_columns": 0.1, "xi": 0.77},
        {"eta_rows": 1.5, "eta_columns": 3.1},
        {"gamma": 0.33},
    ],
)
def test_what_is_given_stays_and_the_rest_is_searched(fixed):
    R = relations()["points"]
    model = CoEmbedding(random_state=0, max_evaluations=5, **fixed).fit(R)
    assert len(model.search_trace_) > 2
    for entry in (*model.search_trace_, model.parameters_):
        assert {name: entry[name] for name in fixed} == fixed
    if len({"eta_rows", "eta_columns"} & fixed.keys()) == 2:
        assert model.search_reason_ == "η is given"
    by_hand = CoEmbedding(**model.parameters_).fit(R)
    assert_array_equal(by_hand.row_embedding_, model.row_embedding_)
    assert by_hand.search_trace_ == []
    assert by_hand.gamma_loss_ == model.gamma_loss_  # few enough pairs to count all


def test_eta_is_searched_for_the_form_with_zeta():
    """What the search compares is what it will lay out."""
    R = relations()["counts"]
    R = R / R.mean()
    model = CoEmbedding(zeta=[1.0, 0.3], random_state=0, max_evaluations=6).fit(R)
    exact = [entry for entry in model.search_trace_ if entry["exact"]]
    assert model.gamma_loss_ == min(entry["gamma_loss"] for entry in exact)
    for entry in exact:
        again = CoEmbedding(2, entry["eta_rows"], entry["eta_columns"], zeta=[1.0, 0.3]).fit(R)
        k_rows, k_columns, rule = model.search_neighbourhood_
        loss = gamma_loss(R, again.row_embedding_, again.column_embedding_, k_rows, k_columns, rule)
        assert loss == entry["gamma_loss"]


def noise(shape, rng):
    """A sparse relation without any structure two axes could show."""
    R = random_array(shape, density=0.03, random_state=rng).toarray()
    R[:, 0] = R[0] = 1e-3
    return R


def test_a_saturated_gamma_is_said_and_neighbourhoods_widened(rng):
    R = noise((300, 250), rng)
    with pytest.warns(RelscapeWarning, match="next to no mutual neighbours") as caught:
        model = CoEmbedding(random_state=0, max_evaluations=2, k_rows=2, k_columns=2).fit(R)
    assert caught[0].filename == __file__
    k_rows, k_columns, _ = model.search_neighbourhood_
    assert 2 < k_rows <= 30
    assert 2 < k_columns <= 25
    assert f"k_rows={k_rows} and k_columns={k_columns}" in str(caught[0].message)
    ca = CorrespondenceAnalysis(2).fit(R)
    narrow = gamma_terms(R, ca.row_embedding_, ca.column_embedding_, 2, 2, "positive")
    assert narrow.ratio > 0.9
    found = gamma_terms(R, model.row_embedding_, model.column_embedding_, k_rows, k_columns, "positive")
    assert (model.gamma_loss_, model.gamma_pairs_) == found


def test_a_saturated_gamma_that_cannot_be_widened_is_said(rng, monkeypatch):
    monkeypatch.setattr(mutual_search, "WIDEST_SHARE", 0.0)
    with pytest.warns(RelscapeWarning, match="too small for wider ones") as caught:
        model = CoEmbedding(random_state=0, max_evaluations=2, k_rows=2, k_columns=2).fit(
            noise((300, 250), rng)
        )
    assert caught[0].filename == __file__
    assert model.search_neighbourhood_ == [2, 2, "positive"]


def test_a_large_saturated_relation_is_searched_by_a_sample_of_its_objects(rng, monkeypatch):
    """Γ among a sample of objects guides; by the exact Γ of all, the choice is still no worse than CA."""
    monkeypatch.setattr(mutual_search, "OBJECTS", 60)
    R = noise((300, 250), rng)
    with pytest.warns(RelscapeWarning, match="searching among a sample of") as caught:
        model = CoEmbedding(random_state=0, max_evaluations=6, k_rows=2, k_columns=2).fit(R)
    assert caught[0].filename == __file__
    assert model.search_neighbourhood_ == [2, 2, "positive"]
    found = gamma_terms(R, model.row_embedding_, model.column_embedding_, 2, 2, "positive")
    assert (model.gamma_loss_, model.gamma_pairs_) == found
    for other in (CorrespondenceAnalysis(2).fit(R), BipartiteSpectral(2).fit(R)):
        assert found.loss <= gamma_loss(R, other.row_embedding_, other.column_embedding_, 2, 2, "positive")


def test_an_informative_gamma_is_left_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CoEmbedding(random_state=0, max_evaluations=2).fit(relations()["points"])
    assert model.search_neighbourhood_ == [5, 5, "positive"]


def test_searching_by_a_sample_ends_with_all_pairs(monkeypatch):
    monkeypatch.setattr(mutual_search, "SAMPLE", 20)
    R = relations()["points"]
    model = CoEmbedding(random_state=0, max_evaluations=6).fit(R)
    again = CoEmbedding(random_state=0, max_evaluations=6).fit(R)
    assert model.search_trace_ == again.search_trace_
    assert (model.gamma_loss_, model.gamma_pairs_) == gamma_terms(
        R, model.row_embedding_, model.column_embedding_, 5, 5, "positive"
    )
