"""Truth tests of guided projections: special cases, closed forms, dense = whitened, kernel = primal."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import block_diag, eigh
from scipy.sparse import csr_array
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from threadpoolctl import threadpool_limits

from relscape.data.guidance import Guidance
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.models import projection_core
from relscape.models.projection import HeterogeneousProjection
from relscape.solvers import whitening


@pytest.fixture
def tables(rng):
    return {"image": rng.normal(size=(30, 5)) + 2.0, "text": rng.normal(size=(20, 4)), "tag": None}


@pytest.fixture
def guidance(rng):
    between = rng.uniform(0, 1, (30, 20)) * (rng.random((30, 20)) < 0.2)
    tagged = (rng.random((30, 6)) < 0.3).astype(float)
    within = np.triu(rng.uniform(-1, 1, (20, 20)) * (rng.random((20, 20)) < 0.1), 1)
    return {("image", "text"): between, ("image", "tag"): tagged, ("text", "text"): within + within.T}


def positive(guidance):
    return {pair: np.abs(W) for pair, W in guidance.items()}


def whole(guidance):
    """Give W of all three kinds, and the absolute degrees."""
    W = np.zeros((56, 56))
    W[:30, 30:50], W[:30, 50:], W[30:50, 30:50] = (
        guidance[pair] for pair in (("image", "text"), ("image", "tag"), ("text", "text"))
    )
    W[30:, :30] = W[:30, 30:].T
    return W, np.abs(W).sum(axis=1)


def centred(X, weights):
    return X - np.average(X, axis=0, weights=weights)


def brute(tables, guidance, relative=1e-3):
    """Form everything by its definition: centred Z, A, B and the ridges."""
    W, degrees = whole(guidance)
    parts = [tables["image"], tables["text"], np.eye(6)]
    ends = np.split(np.arange(56), [30, 50])
    parts = [centred(X, degrees[at]) for X, at in zip(parts, ends, strict=True)]
    ridges = [
        relative * np.trace(X.T @ np.diag(degrees[at]) @ X) / X.shape[1]
        for X, at in zip(parts, ends, strict=True)
    ]
    Z = block_diag(*parts)
    ridge = np.diag(np.repeat(ridges, [X.shape[1] for X in parts]))
    A = Z.T @ (np.diag(W.sum(axis=1)) - W) @ Z + ridge
    return Z, A, Z.T @ np.diag(degrees) @ Z + ridge


def stacked(by_kind):
    return np.vstack([*by_kind.values()])


@pytest.mark.parametrize("solver", ["dense", "whitened"])
@pytest.mark.parametrize("signed", [False, True])
def test_joint_solutions_are_those_of_the_definition(tables, guidance, solver, signed):
    guidance = guidance if signed else positive(guidance)
    model = HeterogeneousProjection(4, solver=solver).fit(tables, guidance)
    Z, A, B = brute(tables, guidance)
    values = eigh(A, B, eigvals_only=True)
    assert_allclose(model.eigenvalues_, values[:4], atol=1e-8)
    assert values[0] >= (-2.0 if signed else -1e-12)
    P = stacked(model.projections_)
    assert_allclose(P.T @ B @ P, np.eye(4), atol=1e-8)
    assert_allclose(P.T @ A @ P, np.diag(model.eigenvalues_), atol=1e-8)
    assert_allclose(stacked(model.embeddings_), Z @ P, atol=1e-10)
    assert_allclose(model.strengths_, 1 - model.eigenvalues_)
    W, _ = whole(guidance)
    Y = Z @ P
    assert_allclose(model.costs_, np.diag(Y.T @ (np.diag(W.sum(axis=1)) - W) @ Y), atol=1e-8)
    for kind, points in model.embeddings_.items():
        assert_allclose(model.degrees_[kind] @ points, 0.0, atol=1e-8)


@pytest.mark.parametrize("way", ["factored", "iterated", "sparse"])
def test_large_paths_find_the_same(tables, guidance, monkeypatch, way):
    expected = HeterogeneousProjection(3, solver="dense").fit(tables, guidance)
    if way == "factored":
        monkeypatch.setattr(whitening, "DENSE_ENTRIES", 0)
    if way == "iterated":
        monkeypatch.setattr(projection_core, "FORMED_SIDE", 0)
    if way == "sparse":
        tables = {**tables, "image": csr_array(tables["image"])}
        guidance = {pair: csr_array(W) for pair, W in guidance.items()}
    found = HeterogeneousProjection(3, random_state=0).fit(tables, guidance)
    assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=1e-8)
    assert_allclose(stacked(found.embeddings_), stacked(expected.embeddings_), atol=1e-6)


def test_a_truncated_rank_is_that_of_the_leading_directions(tables, guidance):
    """With the leading singular directions as features, the result is the same as with a rank."""
    found = HeterogeneousProjection(2, regularization=0, rank=2).fit(tables, guidance)
    _, degrees = whole(guidance)
    short = {}
    for kind, at in (("image", slice(30)), ("text", slice(30, 50))):
        X = centred(tables[kind], degrees[at])
        short[kind] = X @ np.linalg.svd(np.sqrt(degrees[at])[:, None] * X)[2][:2].T
    expected = HeterogeneousProjection(2, regularization=0).fit({**short, "tag": None}, guidance)
    assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=1e-10)


def test_invariances(tables, guidance, rng):
    model = HeterogeneousProjection(3).fit(tables, guidance)
    order, turn = rng.permutation(30), np.linalg.qr(rng.normal(size=(5, 5)))[0]
    moved = {**tables, "image": (tables["image"][order] @ turn) - 7.0}
    reordered = {pair: W[order] if pair[0] == "image" else W for pair, W in guidance.items()}
    other = HeterogeneousProjection(3).fit(moved, reordered)
    assert_allclose(other.eigenvalues_, model.eigenvalues_, atol=1e-10)
    assert_allclose(np.abs(other.embeddings_["image"]), np.abs(model.embeddings_["image"][order]), atol=1e-8)
    halved = HeterogeneousProjection(3).fit(tables, {pair: W / 2 for pair, W in guidance.items()})
    assert_allclose(halved.eigenvalues_, model.eigenvalues_, atol=1e-10)


def test_kernels(tables, guidance, rng):
    primal = HeterogeneousProjection(3).fit(tables, guidance)
    linear = HeterogeneousProjection(3, kernels={"image": "linear"}).fit(tables, guidance)
    assert_allclose(linear.eigenvalues_, primal.eigenvalues_, atol=1e-8)
    assert_allclose(np.abs(stacked(linear.embeddings_)), np.abs(stacked(primal.embeddings_)), atol=1e-7)
    new = rng.normal(size=(4, 5))
    assert_allclose(
        np.abs(linear.transform({"image": new})["image"]),
        np.abs(primal.transform({"image": new})["image"]),
        atol=1e-7,
    )


def test_the_linear_kernel_of_more_features_than_things(rng):
    """A relative ridge is that of the features also where the kernel has fewer directions."""
    X, W = rng.normal(size=(8, 20)), np.eye(8, k=1) + np.eye(8, k=-1)
    primal = HeterogeneousProjection(2, 0.1).fit({"x": X}, {("x", "x"): W})
    linear = HeterogeneousProjection(2, 0.1, kernels={"x": "linear"}).fit({"x": X}, {("x", "x"): W})
    assert linear.ridges_["x"] == pytest.approx(primal.ridges_["x"])
    assert_allclose(linear.eigenvalues_, primal.eigenvalues_, atol=1e-8)


@pytest.mark.parametrize(
    "settings", [{}, {"standardize": True}, {"kernels": {"image": "linear"}}, {"kernels": {"image": "rbf"}}]
)
def test_a_data_set_far_from_0(tables, guidance, settings):
    """Timestamps, or places in metres: the variance is the last digits of the values."""
    exact = {**tables, "image": np.round(tables["image"] * 2**20) / 2**20}
    far = {**exact, "image": exact["image"] + 2.0**24}
    near = HeterogeneousProjection(3, **settings).fit(exact, guidance)
    found = HeterogeneousProjection(3, **settings).fit(far, guidance)
    assert_allclose(found.eigenvalues_, near.eigenvalues_, atol=1e-7)
    assert found.ridges_["image"] == pytest.approx(near.ridges_["image"], rel=1e-7)


def test_kernel_eigenproblem_of_the_specification(rng):
    """(K (D − W) K + λ K) ρ = μ (K D⁺ K + λ K) ρ on the range of the weighted centred kernel."""
    X = rng.normal(size=(12, 2))
    W = np.triu((rng.random((12, 12)) < 0.4).astype(float), 1)
    W += W.T
    model = HeterogeneousProjection(2, 0.1, kernels={"x": {"kernel": "rbf", "gamma": 0.5}})
    model.fit({"x": X}, {("x", "x"): W})
    degrees = W.sum(axis=1)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    centring = np.eye(12) - np.outer(np.ones(12), degrees / degrees.sum())
    Kc = centring @ K @ centring.T
    ridge = model.ridges_["x"]
    values, vectors = np.linalg.eigh(Kc)
    R = vectors[:, 1:] * np.sqrt(values[1:])
    mu = eigh(
        R.T @ (np.diag(degrees) - W) @ R + ridge * np.eye(11),
        R.T @ np.diag(degrees) @ R + ridge * np.eye(11),
        eigvals_only=True,
    )
    assert_allclose(model.eigenvalues_, mu[:2], atol=1e-8)
    precomputed = HeterogeneousProjection(2, 0.1, kernels={"x": "precomputed"}).fit({"x": K}, {("x", "x"): W})
    assert_allclose(precomputed.eigenvalues_, model.eigenvalues_, atol=1e-8)
    assert_allclose(precomputed.transform({"x": K[:3]})["x"], precomputed.embeddings_["x"][:3], atol=1e-10)
    with pytest.raises(ParameterError, match="regularization=0 with a kernel for 'x'"):
        HeterogeneousProjection(2, 0, kernels={"x": "rbf"}).fit({"x": X}, {("x", "x"): W})


def test_new_things_come_to_their_own_place(tables, guidance, rng):
    for settings in ({}, {"standardize": True}, {"kernels": {"image": "rbf"}, "standardize": True}):
        model = HeterogeneousProjection(**settings).fit(tables, guidance)
        found = model.transform({"image": tables["image"][4:9], "text": tables["text"][:2]})
        assert_allclose(found["image"], model.embeddings_["image"][4:9], atol=1e-10)
        assert_allclose(found["text"], model.embeddings_["text"][:2], atol=1e-10)
    scaled = {**tables, "image": tables["image"] * [1, 10, 100, 1000, 1]}
    assert_allclose(
        HeterogeneousProjection(standardize=True).fit(scaled, guidance).eigenvalues_,
        HeterogeneousProjection(standardize=True).fit(tables, guidance).eigenvalues_,
        atol=1e-9,
    )


# ---------------------------------------------------------------------- the reference constraint


@pytest.mark.parametrize("solver", ["dense", "whitened"])
def test_reference_is_the_elimination_of_the_others(tables, guidance, solver, rng):
    guidance = positive(guidance)
    model = HeterogeneousProjection(2, 0.01, "reference", "text", solver=solver).fit(tables, guidance)
    _, A, B = brute(tables, guidance, 0.01)
    own, free = np.arange(5, 9), np.r_[0:5, 9:15]
    S = A[np.ix_(own, own)] - A[np.ix_(own, free)] @ np.linalg.solve(
        A[np.ix_(free, free)], A[np.ix_(free, own)]
    )
    assert_allclose(model.eigenvalues_, eigh(S, B[np.ix_(own, own)], eigvals_only=True)[:2], atol=1e-8)
    P = stacked(model.projections_)
    assert_allclose(P.T @ A @ P, np.diag(model.eigenvalues_), atol=1e-8)
    for p in P.T:
        moved = p.copy()
        moved[free] += 0.01 * rng.normal(size=free.size)
        assert moved @ A @ moved > p @ A @ p


def test_tags_sit_at_the_weighted_mean_of_their_images(tables, rng):
    tagged = rng.uniform(0, 1, (30, 6)) * (rng.random((30, 6)) < 0.5)
    model = HeterogeneousProjection(2, {"tag": 0.0}, "reference")
    model.fit({"image": tables["image"], "tag": None}, {("image", "tag"): tagged})
    means = (tagged.T @ model.embeddings_["image"]) / tagged.sum(axis=0)[:, None]
    assert_allclose(model.embeddings_["tag"], means, atol=1e-8)


@pytest.mark.parametrize("formed", [0, 3])
def test_many_followers_are_never_formed(tables, guidance, monkeypatch, formed):
    """Where the others have guidance with the reference alone, its own coordinates are enough."""
    alike = {pair: W for pair, W in positive(guidance).items() if pair[0] == "image"}
    expected = HeterogeneousProjection(2, 0.01, "reference").fit(tables, alike)
    monkeypatch.setattr(projection_core, "FORMED_SIDE", formed)
    monkeypatch.setattr(projection_core, "MOST_FORMED", 0)
    found = HeterogeneousProjection(2, 0.01, "reference", random_state=0).fit(tables, alike)
    assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=1e-8)
    assert_allclose(stacked(found.embeddings_), stacked(expected.embeddings_), atol=1e-7)
    for other in (guidance, {**alike, ("image", "tag"): -alike["image", "tag"]}):
        with pytest.raises(DataError, match=r'a matrix of all 15 coordinates.*constraint="joint"'):
            HeterogeneousProjection(2, 0.01, "reference").fit(tables, other)


def test_labels_as_a_kind_are_linear_discriminant_analysis(rng):
    y = np.repeat([0, 1, 2], 15)
    X = rng.normal(size=(45, 4)) + np.eye(3, 4)[y] * 2
    model = HeterogeneousProjection(2, 0, "reference").fit(
        {"x": X, "class": None}, {("x", "class"): np.eye(3)[y]}
    )
    within = sum(np.cov(X[y == c].T, bias=True) * 15 for c in range(3))
    ratios = eigh(within, np.cov(X.T, bias=True) * 45, eigvals_only=True)
    assert_allclose(model.eigenvalues_, ratios[:2], atol=1e-8)
    peer = LinearDiscriminantAnalysis(solver="eigen", n_components=2).fit(X, y).transform(X)
    for axis in range(2):
        alike = abs(np.corrcoef(peer[:, axis], model.embeddings_["x"][:, axis])[0, 1])
        assert alike == pytest.approx(1.0, abs=1e-8)


def test_unbounded_guidance_is_refused_and_its_ridge_repairs_it(rng):
    X, Y = rng.normal(size=(10, 3)), rng.normal(size=(8, 2))
    model = HeterogeneousProjection(2, 1e-6, "reference")
    strong = Guidance().block("a", "b", np.where(rng.random((10, 8)) < 0.5, -1.0, 0.2))
    for solver in ("dense", "whitened"):
        with pytest.raises(DataError, match=r"free data sets \(b\).*least eigenvalue -.*raise their") as told:
            model.set_params(solver=solver).fit({"a": X, "b": Y}, strong)
        more = float(str(told.value).split("regularization by ")[1].split()[0])
        repaired = model.set_params(regularization={"a": 1e-6, "b": 1.001 * more + 1e-6})
        assert np.isfinite(repaired.fit({"a": X, "b": Y}, strong).eigenvalues_).all()
        with pytest.raises(DataError, match="unbounded"):
            repaired.set_params(regularization={"a": 1e-6, "b": 0.9 * more}).fit({"a": X, "b": Y}, strong)
        model.set_params(regularization=1e-6)
    joint = HeterogeneousProjection(2).fit({"a": X, "b": Y}, strong)
    assert joint.eigenvalues_[0] >= -2.0


def test_signed_degrees_need_a_positive_size(tables, guidance):
    like = positive(guidance)
    absolute = HeterogeneousProjection(2).fit(tables, like)
    signed = HeterogeneousProjection(2, degree="signed").fit(tables, like)
    assert_allclose(signed.eigenvalues_, absolute.eigenvalues_, atol=1e-9)
    with pytest.raises(DataError, match=r'degree="absolute"'):
        HeterogeneousProjection(2, degree="signed").fit(tables, {pair: -W for pair, W in like.items()})


# ---------------------------------------------------------------------- degenerate cases


def test_what_is_only_dissimilar_is_pushed_apart():
    """One pair, (y − y')² at most twice the size of both: μ = −2, the lowest there is."""
    model = HeterogeneousProjection(1, 0).fit({"x": [[3.0], [1.0]]}, {("x", "x"): [[0, -1], [-1, 0]]})
    assert_allclose(model.eigenvalues_, [-2.0], atol=1e-12)
    assert_allclose(model.embeddings_["x"].ravel(), [0.5**0.5, -(0.5**0.5)], atol=1e-12)


def test_null_directions_are_never_axes(rng):
    """Six points in fifteen dimensions: most directions put all of them in one place."""
    X, W = rng.normal(size=(6, 15)), np.ones((6, 6)) - np.eye(6)
    for solver in ("dense", "whitened"):
        model = HeterogeneousProjection(2, solver=solver).fit(
            {"x": X, "y": X[:, :3]}, {("x", "y"): np.eye(6), ("x", "x"): W}
        )
        assert (model.degrees_["x"] @ model.embeddings_["x"] ** 2 > 1e-3).all()
    with pytest.warns(RelscapeWarning, match="there are only 5 axes, 8 were asked for"):
        model = HeterogeneousProjection(8).fit({"x": X}, {("x", "x"): W})
    assert model.embeddings_["x"].shape == (6, 5)


def test_constant_and_repeated_features_do_no_harm(tables, guidance):
    image = tables["image"]
    more = {**tables, "image": np.column_stack([image, np.ones(30)])}
    plain = HeterogeneousProjection(2, regularization=0).fit(tables, guidance)
    for other in (more, {**tables, "image": np.column_stack([image, image[:, 0]])}):
        found = HeterogeneousProjection(2, regularization=0).fit(other, guidance)
        assert_allclose(found.eigenvalues_, plain.eigenvalues_, atol=1e-8)


def test_kinds_and_things_without_guidance(tables, guidance):
    lonely = {pair: W.copy() for pair, W in guidance.items()}
    lonely["image", "text"][3] = lonely["image", "tag"][3] = 0.0
    model = HeterogeneousProjection(2).fit(tables, lonely)
    assert np.isfinite(model.embeddings_["image"][3]).all()
    with pytest.warns(RelscapeWarning, match="nothing guides 'city'"):
        model = HeterogeneousProjection(2).fit({**tables, "city": np.eye(4)}, guidance)
    assert "city" not in model.embeddings_
    with pytest.raises(DataError, match="there is no guidance"):
        HeterogeneousProjection(2).fit(
            tables, {("image", "tag"): np.zeros((30, 6)), ("text", "text"): np.eye(20)}
        )
    with pytest.raises(DataError, match="do not vary"):
        HeterogeneousProjection(1, 0).fit({"x": np.ones((4, 2))}, {("x", "x"): np.ones((4, 4))})


def test_features_that_are_constant_but_for_rounding(tables, guidance):
    flat = {**tables, "text": np.full((20, 4), 1e5 + 0.1)}
    model = HeterogeneousProjection(2, 0).fit(flat, guidance)
    assert_allclose(model.embeddings_["text"], 0.0, atol=1e-9)
    with pytest.raises(DataError, match="do not vary"):
        HeterogeneousProjection(2).fit({"x": flat["text"]}, {("x", "x"): np.ones((20, 20))})


def test_a_ridge_beyond_all_measure_still_gives_axes(tables, guidance):
    model = HeterogeneousProjection(1, 1e6).fit(tables, positive(guidance))
    assert model.eigenvalues_[0] == pytest.approx(1.0, abs=1e-5)
    with pytest.warns(RelscapeWarning, match="0 of 1 axes"):
        assert HeterogeneousProjection(1, 1e10).fit(tables, guidance).embeddings_["image"].any()


def test_things_that_nothing_is_known_of(tables, guidance):
    wider = {**guidance, ("image", "tag"): np.column_stack([guidance["image", "tag"], np.zeros(30)])}
    with pytest.warns(RelscapeWarning, match="of 1 tag things neither features nor guidance.*'6'"):
        model = HeterogeneousProjection(2).fit(tables, wider)
    assert np.abs(model.embeddings_["tag"][6]).max() < 0.1 * np.abs(model.embeddings_["tag"]).max()


def test_settings_of_kinds_that_are_left_out_do_no_harm(tables, guidance):
    model = HeterogeneousProjection(2, {"city": 0.5}, kernels={"city": "rbf"})
    with pytest.warns(RelscapeWarning, match="nothing guides 'city'"):
        model.fit({**tables, "city": np.eye(4)}, guidance)
    assert model.kinds_ == ["image", "text", "tag"]


def test_threads_do_not_matter(rng):
    X = rng.normal(size=(4000, 5))
    pairs = {("x", "tag"): csr_array(rng.random((4000, 300)) < 0.35)}
    found = []
    for threads in (1, 4):
        with threadpool_limits(limits=threads):
            found.append(HeterogeneousProjection(3).fit({"x": X, "tag": None}, pairs))
    for name in ("eigenvalues_", "costs_"):
        assert_array_equal(*(getattr(model, name) for model in found))
    assert_array_equal(*(stacked(model.embeddings_) for model in found))


def test_parts_of_guidance_are_counted(rng):
    W = block_diag(np.ones((4, 4)), np.ones((3, 3)))
    model = HeterogeneousProjection(1, 1e-6).fit({"x": None}, {("x", "x"): W})
    assert model.n_components_of_guidance_ == 2
    assert model.eigenvalues_[0] == pytest.approx(0.0, abs=1e-5)


def test_followers_without_a_path_are_told_of(tables, rng):
    pairs = {("image", "tag"): rng.random((30, 3)), ("text", "text"): np.ones((20, 20))}
    with pytest.warns(RelscapeWarning, match="no guidance connects 'text' with the reference 'image'"):
        model = HeterogeneousProjection(2, constraint="reference").fit(tables, pairs)
    assert_allclose(model.embeddings_["text"], 0.0, atol=1e-9)


def test_more_axes_than_bring_things_together(rng):
    X = rng.normal(size=(20, 2))
    with pytest.warns(RelscapeWarning, match="only 2 of 3 axes bring together"):
        HeterogeneousProjection(3).fit(
            {"x": X, "y": X + 0.1 * rng.normal(size=(20, 2))}, {("x", "y"): np.eye(20)}
        )


def test_parameters_are_checked(tables, guidance):
    for wrong, error, message in (
        ({"constraint": "free"}, UnknownNameError, "no constraint 'free'"),
        ({"degree": "half"}, UnknownNameError, "no degree 'half'"),
        ({"solver": "qz"}, UnknownNameError, "no solver 'qz'"),
        ({"n_components": 0}, ParameterError, "n_components=0"),
        ({"regularization": -1.0}, ParameterError, "regularization=-1.0"),
        ({"regularization": {"city": 1.0}}, UnknownNameError, "no kind 'city' in regularization"),
        ({"reference": "image"}, ParameterError, 'constraint="reference" only'),
        ({"constraint": "reference", "reference": "city"}, UnknownNameError, "no kind 'city'"),
        ({"kernels": {"city": "rbf"}}, UnknownNameError, "no kind 'city' in kernels"),
        ({"center": 1}, ParameterError, "center=1"),
        ({"standardize": None}, ParameterError, "standardize=None"),
        ({"kernels": "rbf"}, ParameterError, "give kernels by kind"),
        ({"kernels": {"tag": "rbf"}}, ParameterError, "kind 'tag' has no features that a kernel"),
        ({"rank": 0}, ParameterError, "rank=0"),
        ({"degree": "signed", "solver": "whitened"}, ParameterError, 'needs solver="dense"'),
    ):
        with pytest.raises(error, match=message):
            HeterogeneousProjection().set_params(**wrong).fit(tables, guidance)
