"""TransPES: the projector written out, its invariances, and the candidate t = h."""

from __future__ import annotations

import numpy as np
import pytest

from relscape.objectives.energies import ENERGIES, Params, Settings, Sizes
from relscape.objectives.energies.norms import norm_tag

TRANSPES = ENERGIES["TransPES"]
NORMS = {"l1": lambda u: np.abs(u).sum(), "l2": np.linalg.norm, "l2sq": lambda u: u @ u}


def drawn(k: int = 6, seed: int = 0) -> Params:
    rng = np.random.default_rng(seed)
    params = TRANSPES.start(Sizes(5, 3, k), rng)
    params["entities"] = params["entities"] * rng.uniform(0.5, 1.5, (5, 1))
    return params


def explicit(e_h: np.ndarray, r: np.ndarray, e_t: np.ndarray, xi: float) -> np.ndarray:
    F = np.column_stack([e_h, e_t])
    return e_h + F @ np.linalg.solve(F.T @ F + xi * np.eye(2), F.T @ r) - e_t


def energy(params: Params, xi: float, norm: str = "l2", triple: tuple[int, int, int] = (0, 1, 2)) -> float:
    return float(TRANSPES.energies(params, np.array([triple]), Settings(xi, norm_tag(norm)))[0])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("xi", [0.0, 1e-8, 1e-2, 1.0])
def test_value_and_gradient_are_those_of_the_projector(norm: str, xi: float) -> None:
    params = drawn()
    rows = [params["entities"][0], params["relations"][1], params["entities"][2]]
    assert energy(params, xi, norm) == pytest.approx(NORMS[norm](explicit(*rows, xi)), abs=1e-10)
    to, to_R, to_S = np.zeros((5, 6)), np.zeros((3, 6)), np.zeros((1, 0))
    TRANSPES.add_gradient(
        1.0, *(params[key] for key in ("entities", "relations", "shared", "fixed")), xi, norm_tag(norm),
        0, 1, 2, -1, to, 0, 2, to_R, to_S,
    )  # fmt: skip
    for which, found in enumerate([to[0], to_R[1], to[2]]):
        for i in range(6):
            ends = []
            for way in (1e-6, -1e-6):
                moved = [row.copy() for row in rows]
                moved[which][i] += way
                ends.append(NORMS[norm](explicit(*moved, xi)))
            assert found[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("norm", NORMS)
def test_the_candidate_equal_to_the_known_entity_is_exact(kind: type, norm: str) -> None:
    params = {key: rows.astype(kind) for key, rows in drawn(50).items()}
    settings = TRANSPES.settings(norm)
    known, relations = np.arange(5), np.arange(5) % 3
    e, r = params["entities"].astype(float), params["relations"].astype(float)[relations]
    square = np.einsum("ij,ij->i", e, e)
    length = 2 * np.abs(np.einsum("ij,ij->i", e, r)) / (2 * square + 1e-8)
    expected = {
        "l1": length * np.abs(e).sum(axis=1),
        "l2": length * np.sqrt(square),
        "l2sq": length**2 * square,
    }[norm]
    tails = TRANSPES.tails_of(params, known, relations, settings)
    heads = TRANSPES.heads_of(params, relations, known, settings)
    tolerance = 1e-5 if kind is np.float32 else 1e-6
    np.testing.assert_allclose(tails[known, known], expected, rtol=tolerance)
    np.testing.assert_allclose(heads[known, known], expected, rtol=tolerance)


@pytest.mark.parametrize("xi", [1e-8, 1e-2])
def test_products_in_single_precision_lose_no_digits_that_count(xi: float) -> None:
    """Candidates at all angles to the known entity, and some whose u all but vanishes."""
    rng = np.random.default_rng(3)
    params = TRANSPES.start(Sizes(300, 2, 50), rng)
    e, r = params["entities"], params["relations"]
    for i, apart in enumerate(np.logspace(-8, 0, 150), start=1):
        e[i] = rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 1.3) * e[0] + apart * rng.normal(size=50) / 7
    r[1] = e[160] - e[0] + 1e-4 * rng.normal(size=50)
    single = {key: rows.astype(np.float32) for key, rows in params.items()}
    e, r = (single[key].astype(np.float64) for key in ("entities", "relations"))
    settings = TRANSPES.settings("l2", xi)
    known, links = np.zeros(2, dtype=int), np.arange(2)
    tails = TRANSPES.tails_of(single, known, links, settings)
    heads = TRANSPES.heads_of(single, links, known, settings)
    assert tails.dtype == heads.dtype == np.float32
    assert tails[1, 160] < 1e-3 + 2 * xi  # ξ shortens the projection
    for l in links:  # noqa: E741
        expected = [np.linalg.norm(explicit(e[0], r[l], row, xi)) for row in e]
        np.testing.assert_allclose(tails[l], expected, rtol=1e-5, atol=1e-6)
        expected = [np.linalg.norm(explicit(row, r[l], e[0], xi)) for row in e]
        np.testing.assert_allclose(heads[l], expected, rtol=1e-5, atol=1e-6)


def test_nothing_beside_the_plane_counts() -> None:
    params = drawn()
    F = params["entities"][[0, 2]].T
    across = np.random.default_rng(1).normal(size=6)
    across -= F @ np.linalg.lstsq(F, across, rcond=None)[0]
    moved = {**params, "relations": params["relations"] + across}
    assert energy(moved, 1e-2) == pytest.approx(energy(params, 1e-2), abs=1e-12)


def test_turning_head_and_tail_turns_the_relation() -> None:
    params = drawn()
    turned = {**params, "relations": -params["relations"]}
    for norm in NORMS:
        expected = energy(params, 1e-2, norm, (0, 1, 2))
        assert energy(turned, 1e-2, norm, (2, 1, 0)) == pytest.approx(expected, abs=1e-12)


def test_rotations_and_scalings() -> None:
    params = drawn()
    rotation = np.linalg.qr(np.random.default_rng(2).normal(size=(6, 6)))[0]
    rotated = {**params, **{key: params[key] @ rotation for key in ("entities", "relations")}}
    assert energy(rotated, 1e-2) == pytest.approx(energy(params, 1e-2), abs=1e-12)
    scaled = {**params, **{key: 3.0 * params[key] for key in ("entities", "relations")}}
    assert energy(scaled, 9e-2) == pytest.approx(3.0 * energy(params, 1e-2), abs=1e-12)


def test_without_pull_it_is_unstructured() -> None:
    params = drawn()
    apart = np.linalg.norm(params["entities"][0] - params["entities"][2])
    assert energy(params, 1e14) == pytest.approx(apart, abs=1e-12)
    assert energy({**params, "relations": 0 * params["relations"]}, 1e-2) == pytest.approx(apart, abs=1e-12)


def test_in_the_plane_it_is_transe_and_never_above() -> None:
    params = drawn(2)
    e, r = params["entities"], params["relations"][1]
    assert energy(params, 0.0) == pytest.approx(np.linalg.norm(e[0] + r - e[2]), abs=1e-10)
    params = drawn(6)
    e, r = params["entities"], params["relations"][1]
    F = e[[0, 2]].T
    beside = r - F @ np.linalg.lstsq(F, r, rcond=None)[0]
    assert energy(params, 0.0) ** 2 == pytest.approx(
        np.sum((e[0] + r - e[2]) ** 2) - beside @ beside, abs=1e-10
    )


def test_a_zero_entity_projects_on_the_other_alone() -> None:
    params = drawn()
    params["entities"][0] = 0.0
    e, r = params["entities"][2], params["relations"][1]
    assert energy(params, 1e-2) == pytest.approx(
        abs(e @ r / (e @ e + 1e-2) - 1) * np.linalg.norm(e), abs=1e-12
    )


@pytest.mark.parametrize("side", ["many_tails", "many_heads"])
def test_shared_candidates_in_single_precision_lose_no_digits_that_count(side: str) -> None:
    """Candidates near the known entity, and the entity itself, are where rounded products say nothing."""
    params = {key: rows.astype(np.float32) for key, rows in drawn(50).items()}
    rng = np.random.default_rng(1)
    known, relations = params["entities"][:4], params["relations"][[0, 1, 2, 0]]
    near = known + 1e-2 * rng.normal(size=known.shape).astype(np.float32)
    candidates = np.vstack([params["entities"], near])
    settings, weights = TRANSPES.settings(number=1e-4), rng.normal(size=(4, 9))
    single, pull = getattr(TRANSPES, side)(known, relations, candidates, settings)
    double, pull_double = getattr(TRANSPES, side)(
        *(rows.astype(np.float64) for rows in (known, relations, candidates)), settings
    )
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, rtol=2e-5)
    for one, two in zip(pull(weights.astype(np.float32)), pull_double(weights), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-4 * np.abs(two).max())
