"""Quadratic forms of guidance against their definitions, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.sparse import csr_array

from relscape.matrix.guided import (
    CenteredFeatures,
    GuidedOperator,
    guidance_components,
    guidance_costs,
    guidance_degrees,
    quadratic_form,
    weighted_mean,
)

SIZES = {"a": 7, "b": 5}


@pytest.fixture
def blocks(rng):
    within = np.triu(rng.uniform(-1, 1, (7, 7)), 1)
    between = rng.uniform(-1, 1, (7, 5)) * (rng.random((7, 5)) < 0.6)
    return {("a", "a"): csr_array(within + within.T), ("a", "b"): csr_array(between)}


@pytest.fixture
def whole(blocks):
    between = blocks["a", "b"].toarray()
    return np.block([[blocks["a", "a"].toarray(), between], [between.T, np.zeros((5, 5))]])


def test_degrees_are_full_row_sums(blocks, whole):
    signed, absolute = guidance_degrees(blocks, SIZES)
    assert_allclose(np.concatenate([*signed.values()]), whole.sum(axis=1))
    assert_allclose(np.concatenate([*absolute.values()]), np.abs(whole).sum(axis=1))


def test_the_objective_is_the_double_sum_over_pairs(blocks, whole, rng):
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(5, 2))
    tables = {"a": CenteredFeatures(X, X.mean(axis=0)), "b": CenteredFeatures(csr_array(Y), np.zeros(2))}
    signed, _ = guidance_degrees(blocks, SIZES)
    negated = {pair: -block for pair, block in blocks.items()}
    form = quadratic_form(negated, signed, tables)
    p = rng.normal(size=5)
    y = np.concatenate([(X - X.mean(axis=0)) @ p[:3], Y @ p[3:]])
    double_sum = 0.5 * sum(whole[u, v] * (y[u] - y[v]) ** 2 for u in range(12) for v in range(12))
    assert p @ form @ p == pytest.approx(double_sum)
    assert_allclose(guidance_costs(blocks, {"a": y[:7, None], "b": y[7:, None]}), [double_sum])
    operator = GuidedOperator(negated, signed, tables)
    assert_allclose(operator @ np.eye(5), form, atol=1e-12)
    assert_allclose(operator.T @ p, form @ p)


def test_forms_wider_than_one_part(blocks, whole, rng, monkeypatch):
    monkeypatch.setattr("relscape.matrix.guided._PART", 2)
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(5, 4))
    tables = {"a": CenteredFeatures(X, np.zeros(3)), "b": CenteredFeatures(Y, np.zeros(4))}
    Z = block_diag(X, Y)
    found = quadratic_form(blocks, {"a": np.ones(7), "b": np.ones(5)}, tables)
    assert_allclose(found, Z.T @ (whole + np.eye(12)) @ Z)


def test_forms_of_kinds_in_any_order_some_of_which_never_meet(blocks, whole, rng):
    tables = {kind: CenteredFeatures(rng.normal(size=(size, 2)), np.zeros(2)) for kind, size in SIZES.items()}
    lone = CenteredFeatures(rng.normal(size=(4, 3)), np.zeros(3))
    diagonal = {"a": rng.random(7), "b": rng.random(5), "c": rng.random(4)}
    found = quadratic_form(blocks, diagonal, {"b": tables["b"], "c": lone, "a": tables["a"]})
    Z = block_diag(tables["a"].features, tables["b"].features, lone.features)
    W = block_diag(whole, np.zeros((4, 4))) + np.diag(np.concatenate([*diagonal.values()]))
    order = [2, 3, 4, 5, 6, 0, 1]
    assert_allclose(found, (Z.T @ W @ Z)[np.ix_(order, order)], atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_centred_features_without_forming_them(rng, sparse):
    X, mean, weights = rng.normal(size=(6, 4)) + 3, rng.normal(size=4), rng.random(6)
    formed = np.sqrt(weights)[:, None] * (X - mean)
    table = CenteredFeatures(csr_array(X) if sparse else X, mean).weighted(weights)
    right, left = rng.normal(size=(4, 2)), rng.normal(size=(6, 3))
    assert_allclose(table @ right, formed @ right)
    assert_allclose(table @ right[:, 0], formed @ right[:, 0])
    assert_allclose(table.rmatmat(left), formed.T @ left)
    assert_allclose(table.rmatvec(left[:, 0]), formed.T @ left[:, 0])
    assert_allclose(table.dense(), formed)
    assert_allclose(table.gram(), formed.T @ formed)
    assert table.squares() == pytest.approx((formed**2).sum())


@pytest.mark.parametrize("sparse", [False, True])
def test_features_that_never_vary_have_no_squares(rng, sparse):
    X, weights = np.full((20, 3), 1e5 + 0.1), rng.random(20)
    given = csr_array(X) if sparse else X
    assert CenteredFeatures(given, weighted_mean(given, weights)).weighted(weights).squares() == 0.0


def test_features_far_from_0_lose_no_digits(rng):
    exact = np.round(rng.normal(size=(20, 3)) * 2**20) / 2**20
    weights = rng.random(20)
    near, far = (
        CenteredFeatures(X, weighted_mean(X, weights)).weighted(weights) for X in (exact, exact + 2.0**30)
    )
    assert far.squares() == pytest.approx(near.squares(), rel=1e-9)
    assert_allclose(far.gram(), near.gram(), rtol=1e-6, atol=1e-6)


def test_weighted_mean(rng):
    X, weights = rng.normal(size=(5, 2)), np.array([1.0, 0, 2, 0, 1])
    assert_allclose(weighted_mean(csr_array(X), weights), np.average(X, axis=0, weights=weights))
    assert_allclose(weighted_mean(X, np.zeros(5)), X.mean(axis=0))


def test_components_count_guided_things_only():
    block = csr_array(([1.0, 1.0, -1.0], ([0, 1, 4], [0, 0, 3])), shape=(7, 5))
    assert guidance_components({("a", "b"): block}, SIZES) == 2
