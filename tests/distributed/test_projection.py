"""Guided projection of features on a cluster against the same features here."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import relscape as rs
from relscape.distributed import DistributedFeatures
from relscape.errors import DataError, ParameterError
from relscape.protocols import BlockedTable


def pictures(n, d, sparse=False, seed=0):
    """Features of pictures with three tags, far from the origin, and who has which tag."""
    rng = np.random.default_rng(seed)
    tag = rng.integers(3, size=n)
    X = rng.normal(size=(n, d)) + 2.0
    X[:, :3] += 3.0 * (tag[:, None] == np.arange(3)) * np.array([1.0, 1.5, 2.2])
    if sparse:
        X = csr_array(np.where(rng.random((n, d)) < 0.3, X, 0.0))
    return X, csr_array((rng.uniform(0.5, 1.0, n), (np.arange(n), tag)), shape=(n, 3))


@pytest.mark.parametrize(
    ("n", "d", "sparse", "settings"),
    [
        (90, 7, False, {}),
        (90, 7, True, {"constraint": "reference", "reference": "image", "regularization": 0.1}),
        (20_500, 100, False, {}),  # so large that products of features are formed block by block
        (70, 40_000, True, {"rank": 2}),  # and that leading directions are found by products alone
    ],
)
def test_projection(client, n, d, sparse, settings):
    X, W = pictures(n, d, sparse)
    spread = DistributedFeatures.from_matrix(X, 5, client=client)
    assert isinstance(spread, BlockedTable)
    found = [
        rs.HeterogeneousProjection(2, random_state=0, **settings).fit(
            {"image": table, "tag": None}, {("image", "tag"): W}
        )
        for table in (X, spread)
    ]
    here, there = found
    assert_allclose(there.eigenvalues_, here.eigenvalues_, atol=1e-8)
    for kind in ("image", "tag"):
        scale = np.abs(here.embeddings_[kind]).max()
        assert_allclose(there.embeddings_[kind], here.embeddings_[kind], rtol=0, atol=1e-8 * max(1.0, scale))
    new = X[:4]
    assert_allclose(
        there.transform({"image": new})["image"], here.transform({"image": new})["image"], atol=1e-8
    )


def test_names_and_what_cannot_be_done(client):
    X, W = pictures(30, 4)
    things = rs.EntitySet("photo", [f"p{i}" for i in range(30)])
    given = {"entities": things, "feature_names": ["a", "b", "c", "d"]}
    spread = DistributedFeatures.from_matrix(X, 3, client=client, **given)
    tables = {"image": spread, "tag": None}
    model = rs.HeterogeneousProjection().fit(tables, {("image", "tag"): W})
    assert model.to_map().group("image").ids[3] == "p3"
    for name, wrong in (("kernels", {"image": "rbf"}), ("standardize", True), ("solver", "dense")):
        with pytest.raises(ParameterError, match="lie on a cluster"):
            rs.HeterogeneousProjection(**{name: wrong}).fit(tables, {("image", "tag"): W})
    with pytest.raises(DataError, match=r"block 1 has features that are no numbers, the first in its row 2"):
        X[17, 1] = np.nan
        DistributedFeatures.from_matrix(X, 2, client=client)
    with pytest.raises(DataError, match="29 things are named, but the blocks have 30"):
        rows = rs.EntitySet("photo", range(29))
        DistributedFeatures.from_matrix(np.ones((30, 2)), 2, client=client, entities=rows)
