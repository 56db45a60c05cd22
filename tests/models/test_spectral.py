"""Truth tests of the scaled-SVD family: R's ca and FactoMineR, closed forms, dense = sparse."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist, pdist

from relscape.data import RelationalData
from relscape.datasets import load_smoking
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.models import components, spectral
from relscape.models.spectral import (
    CFRM,
    CORT,
    BipartiteSpectral,
    CorrespondenceAnalysis,
    LatentSemanticIndexing,
)

ALL = [CorrespondenceAnalysis, BipartiteSpectral, LatentSemanticIndexing, CFRM, CORT]


@pytest.fixture
def table(rng):
    """A dense table without zeros and without repeated singular values."""
    return rng.gamma(2.0, size=(9, 7))


@pytest.fixture
def sparse(rng):
    """A sparse connected relation with all rows and columns in use."""
    matrix = random_array((60, 40), density=0.15, random_state=rng).tolil()
    matrix[:, 0] = 1.0
    matrix[0, :] = 1.0
    return csr_array(matrix)


def read_truth(path):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    numbers = {key: np.array([float(row[key]) for row in rows]) for key in rows[0] if key not in ("name", "")}

    def block(prefix):
        return np.column_stack([numbers[key] for key in numbers if key.rstrip("0123456789") == prefix])

    return numbers, block


def up_to_sign(ours, theirs):
    return ours * np.sign((ours * theirs).sum(axis=0))


@pytest.mark.parametrize("name", ["smoke", "author", "housetasks"])
def test_ca_equals_r(data_dir, name):
    """Singular values, coordinates, contributions and cos² of R's ca / FactoMineR, to 1e-10."""
    folder = data_dir / "contingency"
    with (folder / f"{name}.csv").open() as file:
        lines = list(csv.reader(file))
    table = np.array([[float(value) for value in line[1:]] for line in lines[1:]])
    k = min(table.shape) - 1
    principal = CorrespondenceAnalysis(n_components=k).fit(table)
    standard = CorrespondenceAnalysis(n_components=k, scaling="standard").fit(table)
    eigen, _ = read_truth(folder / f"{name}_eig.csv")
    assert_allclose(principal.singular_values_, eigen["singular_value"], rtol=0, atol=1e-10)
    assert_allclose(principal.inertia_, eigen["inertia"], rtol=0, atol=1e-10)
    assert_allclose(principal.inertia_ / principal.total_inertia_ * 100, eigen["percent"], atol=1e-8)
    for side, file in (("row", "rows"), ("column", "cols")):
        numbers, block = read_truth(folder / f"{name}_{file}.csv")
        ours = getattr(principal, f"{side}_embedding_")
        assert_allclose(up_to_sign(ours, block("pri")), block("pri"), rtol=0, atol=1e-10)
        ours = getattr(standard, f"{side}_embedding_")
        assert_allclose(up_to_sign(ours, block("std")), block("std"), rtol=0, atol=1e-10)
        assert_allclose(getattr(principal, f"{side}_contributions_"), block("ctr"), rtol=0, atol=1e-10)
        assert_allclose(getattr(principal, f"{side}_cos2_"), block("cos2_"), rtol=0, atol=1e-10)
        assert_allclose(getattr(principal, f"{side}_masses_"), numbers["mass"], rtol=0, atol=1e-12)


def test_smoking_table_known_figures():
    ca = CorrespondenceAnalysis(n_components=3).fit(load_smoking())
    assert_allclose(ca.singular_values_, [0.273421, 0.100086, 0.020337], atol=5e-7)
    assert_allclose(ca.total_inertia_ * 193, 16.4416, atol=5e-5)
    assert_allclose(ca.total_inertia_, (ca.singular_values_**2).sum(), rtol=1e-12)


def test_ca_reproduces_chi_square_distances(table):
    """I13: at full rank, distances between rows are chi-square distances between profiles."""
    ca = CorrespondenceAnalysis(n_components=6).fit(table)
    shares = table / table.sum()
    for matrix, points in ((shares, ca.row_embedding_), (shares.T, ca.column_embedding_)):
        profiles = matrix / matrix.sum(axis=1, keepdims=True) / np.sqrt(matrix.sum(axis=0))
        assert_allclose(pdist(points), pdist(profiles), rtol=1e-10)


def test_ca_is_canonical_correlation_of_indicators(rng):
    """I13: singular values are the canonical correlations of the two indicator variables."""
    counts = rng.integers(1, 6, size=(4, 3))
    rows = np.repeat(np.repeat(np.arange(4), 3), counts.ravel())
    columns = np.repeat(np.tile(np.arange(3), 4), counts.ravel())
    X, Y = np.eye(4)[rows][:, 1:], np.eye(3)[columns][:, 1:]
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    correlations = scipy.linalg.svdvals(scipy.linalg.orth(X).T @ scipy.linalg.orth(Y))
    ca = CorrespondenceAnalysis(n_components=2).fit(counts)
    assert_allclose(ca.singular_values_, correlations[:2], atol=1e-12)


@pytest.mark.parametrize(
    ("scaling", "powers"),
    [
        ("principal", (1, 1)),
        ("symmetric", (0.5, 0.5)),
        ("row", (1, 0)),
        ("column", (0, 1)),
        ("standard", (0, 0)),
    ],
)
def test_ca_scalings(table, scaling, powers):
    """Each scaling is the classical decomposition of standardised residuals with its own powers."""
    P = table / table.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    U, s, Vt = scipy.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), full_matrices=False)
    ca = CorrespondenceAnalysis(n_components=3, scaling=scaling).fit(table)
    rows = U[:, :3] / np.sqrt(r)[:, None] * s[:3] ** powers[0]
    columns = Vt[:3].T / np.sqrt(c)[:, None] * s[:3] ** powers[1]
    assert_allclose(cdist(ca.row_embedding_, ca.column_embedding_), cdist(rows, columns), rtol=1e-10)


def test_symmetric_biplot_restores_the_table(table):
    """Globerson's appendix, corrected: ΦΨᵀ = p/(pp) − 1 exactly at full rank."""
    ca = CorrespondenceAnalysis(n_components=6, scaling="symmetric").fit(table)
    P = table / table.sum()
    expected = P / np.outer(P.sum(axis=1), P.sum(axis=0)) - 1
    assert_allclose(ca.row_embedding_ @ ca.column_embedding_.T, expected, atol=1e-12)


def test_bgp_is_the_laplacian_problem(table):
    """I14: BGP = √2 × the smallest generalised eigenvectors of the bipartite Laplacian."""
    m, n = table.shape
    weights = np.block([[np.zeros((m, m)), table], [table.T, np.zeros((n, n))]])
    degrees = np.diag(weights.sum(axis=1))
    eigenvalues, vectors = scipy.linalg.eigh(degrees - weights, degrees)
    bgp = BipartiteSpectral(n_components=3).fit(table)
    assert_allclose(bgp.singular_values_, 1 - eigenvalues[1:4], atol=1e-12)
    stacked = np.vstack([bgp.row_embedding_, bgp.column_embedding_])
    assert_allclose(up_to_sign(stacked, vectors[:, 1:4]), np.sqrt(2) * vectors[:, 1:4], atol=1e-11)


def test_lsi_cfrm_cort_are_the_singular_vectors(table):
    U, s, Vt = scipy.linalg.svd(table, full_matrices=False)
    U, s, V = U[:, :3], s[:3], Vt[:3].T
    for model, weights in (
        (LatentSemanticIndexing(3), s),
        (LatentSemanticIndexing(3, beta=0.25), s**0.25),
        (CFRM(3), np.ones(3)),
        (CORT(3), np.sqrt(s + s**2)),
    ):
        model.fit(table)
        assert_allclose(cdist(model.row_embedding_, model.column_embedding_), cdist(U * weights, V * weights))


@pytest.mark.parametrize("model", ALL)
def test_lanczos_equals_lapack(model, sparse, monkeypatch):
    """The deflated sparse path and the dense path give the same map."""
    exact = model(n_components=3).fit(sparse.toarray())
    monkeypatch.setattr("relscape.solvers.spectral.DENSE_ENTRIES", 0)
    iterated = model(n_components=3).fit(sparse)
    assert_allclose(iterated.singular_values_, exact.singular_values_, rtol=1e-8)
    assert_allclose(
        iterated.row_embedding_, exact.row_embedding_, atol=1e-6 * np.abs(exact.row_embedding_).max()
    )


@pytest.mark.parametrize("model", ALL)
def test_repeated_entries_are_summed(model, sparse):
    """CSR that stores an entry in several parts is the same relation, inertias included."""
    data = np.repeat(sparse.data, 2) * np.tile([0.25, 0.75], sparse.nnz)
    parts = csr_array((data, np.repeat(sparse.indices, 2), 2 * sparse.indptr), shape=sparse.shape)
    ours, truth = model().fit(parts), model().fit(sparse)
    assert_allclose(ours.row_embedding_, truth.row_embedding_, atol=1e-12)
    if model is CorrespondenceAnalysis:
        assert_allclose(ours.total_inertia_, truth.total_inertia_, rtol=1e-12)
        assert_allclose(ours.row_cos2_, truth.row_cos2_, atol=1e-12)


@pytest.mark.parametrize("shape", [(1_200_000, 1), (400_000, 3), (3, 400_000)])
def test_long_thin_relations(shape, rng):
    """Many objects of one kind and few of the other: all axes are there, equal to LAPACK's."""
    R = rng.gamma(2.0, size=shape)
    k = min(shape)
    model = LatentSemanticIndexing(k).fit(R)
    assert_allclose(model.singular_values_, scipy.linalg.svdvals(R), rtol=1e-10)
    assert_allclose(model.transform(R[:5]), model.row_embedding_[:5], rtol=1e-6)


def test_threads_do_not_change_a_result(sparse, monkeypatch):
    from threadpoolctl import threadpool_limits

    monkeypatch.setattr("relscape.solvers.spectral.DENSE_ENTRIES", 0)
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(CorrespondenceAnalysis(n_components=3).fit(sparse).row_embedding_)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("model", ALL)
def test_training_objects_are_placed_where_they_are(model, sparse):
    fitted = model(n_components=4).fit(sparse)
    assert_allclose(fitted.transform(sparse), fitted.row_embedding_, atol=1e-10)
    assert_allclose(fitted.transform_columns(sparse), fitted.column_embedding_, atol=1e-10)
    assert_allclose(fitted.transform(sparse[5:7].toarray()), fitted.row_embedding_[5:7], atol=1e-10)


@pytest.mark.parametrize("model", [CorrespondenceAnalysis, BipartiteSpectral])
def test_proportional_rows_share_a_place(model, table):
    doubled = np.vstack([table, 3 * table[2]])
    fitted = model(n_components=3).fit(doubled)
    assert_allclose(fitted.row_embedding_[2], fitted.row_embedding_[-1], atol=1e-12)


def test_scale_of_the_relation(table):
    """CA does not see the scale of R; BGP shrinks with its root."""
    ca = CorrespondenceAnalysis()
    assert_allclose(ca.fit(7 * table).row_embedding_, ca.fit(table).row_embedding_, atol=1e-12)
    bgp = BipartiteSpectral()
    assert_allclose(bgp.fit(9 * table).row_embedding_, bgp.fit(table).row_embedding_ / 3, atol=1e-12)


@pytest.mark.parametrize("model", ALL)
def test_empty_rows_and_columns_have_no_place_and_change_nothing(model, sparse):
    holed = np.zeros((62, 41))
    holed[1:61, 1:] = sparse.toarray()
    with pytest.warns(RelscapeWarning, match=r"2 of 62 row objects \('0', '61'\) and 1 of 41 column objects"):
        fitted = model(n_components=3).fit(holed)
    whole = model(n_components=3).fit(sparse)
    assert np.isnan(fitted.row_embedding_[[0, 61]]).all()
    assert np.isnan(fitted.column_embedding_[0]).all()
    assert fitted.row_defined_.tolist() == [False, *[True] * 60, False]
    assert fitted.column_defined_.tolist() == [False, *[True] * 40]
    assert_allclose(fitted.row_embedding_[1:61], whole.row_embedding_, atol=1e-10)
    assert_allclose(fitted.column_embedding_[1:], whole.column_embedding_, atol=1e-10)
    joint = fitted.to_map()
    assert len(joint.group("row")) == 60
    assert len(joint.group("column")) == 40


@pytest.fixture
def blocks(rng):
    """Three blocks that nothing connects: 6 × 5, 4 × 3 and 1 × 1."""
    return scipy.linalg.block_diag(rng.gamma(2.0, size=(4, 3)), rng.gamma(2.0, size=(6, 5)), [[1.0]])


def test_largest_block_only(blocks):
    with pytest.warns(RelscapeWarning, match="3 blocks that nothing connects; 5 row and 4 column objects"):
        fitted = BipartiteSpectral(n_components=2).fit(blocks)
    alone = BipartiteSpectral(n_components=2).fit(blocks[4:10, 3:8])
    assert_allclose(fitted.row_embedding_[4:10], alone.row_embedding_, atol=1e-12)
    assert np.isnan(fitted.row_embedding_[:4]).all()
    assert np.isnan(fitted.column_embedding_[-1]).all()
    assert fitted.row_component_.tolist() == [1] * 4 + [0] * 6 + [2]
    assert len(fitted.to_map().group("row")) == 6


def test_each_block_on_its_own_map(blocks):
    fitted = BipartiteSpectral(n_components=3, components="each").fit(blocks)
    second = BipartiteSpectral(n_components=2).fit(blocks[:4, :3])
    assert_allclose(fitted.row_embedding_[:4, :2], second.row_embedding_, atol=1e-12)
    assert (fitted.row_embedding_[:4, 2] == 0).all()
    assert (fitted.row_embedding_[-1] == 0).all()
    assert [len(m.group("row")) for m in fitted.to_maps()] == [6, 4, 1]
    with pytest.raises(ParameterError, match="to_maps"):
        fitted.to_map()
    mostly_second = np.concatenate([blocks[1, :3], 0.01 * blocks[5, 3:8], [0.0]])
    assert_allclose(fitted.transform(mostly_second[None])[0], fitted.row_embedding_[1], atol=1e-12)


def test_joint_blocks_have_unit_singular_values(blocks):
    """I17: the multiplicity of 1 is the number of blocks; CA is joint, as in R."""
    for model in (
        CorrespondenceAnalysis(n_components=4),
        BipartiteSpectral(n_components=4, components="joint"),
    ):
        assert (np.abs(model.fit(blocks).singular_values_ - 1) < 1e-12).sum() == 2


def test_unknown_rule_for_blocks(blocks):
    with pytest.raises(UnknownNameError, match="largest"):
        BipartiteSpectral(components="biggest").fit(blocks)
    assert components.RULES == ("largest", "each", "joint")


def test_too_many_components(table):
    with pytest.raises(ParameterError, match=r"n_components=8 is too large.*ask for at most 6"):
        CorrespondenceAnalysis(n_components=8).fit(table)
    with pytest.warns(RelscapeWarning, match="has 6 axes; the others are zero"):
        full = CorrespondenceAnalysis(n_components=7).fit(table)
    assert (full.row_embedding_[:, 6] == 0).all()
    with pytest.raises(ParameterError, match="n_samples=1"):
        CorrespondenceAnalysis().fit(table[:1])
    with pytest.raises(ParameterError, match="nothing in it tells its objects apart"):
        CorrespondenceAnalysis().fit(np.outer([1.0, 2, 3], [1.0, 5, 2]))


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "2", None])
def test_n_components_is_a_count(table, value):
    with pytest.raises(ParameterError, match="n_components"):
        CorrespondenceAnalysis(n_components=value).fit(table)


def test_bad_values_are_named():
    data = RelationalData.from_edges([("a", "x", 1), ("b", "y", -2), ("a", "y", 1)], "doc", "word")
    with pytest.raises(DataError, match="the first -2 between doc 'b' and word 'y'"):
        CorrespondenceAnalysis().fit(data)
    with pytest.raises(ValueError, match="NaN"):
        CorrespondenceAnalysis().fit([[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(DataError, match="empty"):
        CorrespondenceAnalysis().fit(np.zeros((3, 3)))
    with pytest.raises(UnknownNameError, match="Did you mean 'principal'"):
        CorrespondenceAnalysis(scaling="principle").fit(np.eye(3) + 1)
    with pytest.raises(ParameterError, match="beta"):
        LatentSemanticIndexing(beta="1").fit(np.eye(3) + 1)


def test_cos2_of_an_average_row_is_zero():
    """A row equal to the average profile has no distance from the centre to share out."""
    ca = CorrespondenceAnalysis(n_components=1).fit([[2.0, 2.0], [1.0, 3.0], [3.0, 1.0]])
    assert_allclose(ca.row_cos2_[:, 0], [0, 1, 1], atol=1e-12)


def test_rounding_floor_follows_the_solver():
    assert spectral.rounding_floor(100, 100) == pytest.approx(1e-13)
    assert spectral.rounding_floor(10_000, 1_000) == 1e-7
