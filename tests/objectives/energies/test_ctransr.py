"""Clusters of CTransR, weights of TransM, starts from TransE, and the constraints of TransH and TransR."""

from __future__ import annotations

import numpy as np
import pytest

from relscape.objectives.energies import ENERGIES, Sizes
from relscape.objectives.energies.transr import carry_over
from relscape.solvers.triples.batches import Batch


def batch_of(triples: np.ndarray, others: np.ndarray) -> Batch:
    n = len(triples)
    return Batch(triples, np.full(n, -1), np.ones(n), others, np.ones(others.shape, dtype=np.int8))


def test_clusters_follow_the_offsets_and_an_unseen_pair_takes_the_least() -> None:
    energy = ENERGIES["CTransR"]
    rng = np.random.default_rng(0)
    params = energy.start(Sizes(120, 2, 2, clusters=3), rng)
    heads = rng.normal(0, 0.01, (60, 2))
    offsets = np.where(np.arange(60)[:, None] < 30, [1.0, 0.0], [-1.0, 0.0])
    params["entities"] = np.vstack([heads, heads - offsets])
    triples = np.column_stack([np.arange(60), np.zeros(60, int), np.arange(60, 120)])
    hints = energy.prepare(params, triples, rng)
    assert len(set(hints[:30])) == len(set(hints[30:])) == 1
    assert hints[0] != hints[59]
    assert params["fixed"].tolist() == [[1, 1, 0], [1, 0, 0]]
    params["relations"] = params["relations"] + rng.normal(0, 0.5, params["relations"].shape)
    settings = energy.settings("l2")
    each = [energy.energies(params, triples, settings, np.full(60, c)) for c in (0, 1)]
    np.testing.assert_array_equal(energy.energies(params, triples, settings), np.minimum(*each))
    assert energy.energies(params, triples[:1], settings, hints[:1])[0] == each[hints[0]][0]


def test_transm_weighs_relations_by_their_cardinality() -> None:
    energy = ENERGIES["TransM"]
    params = energy.start(Sizes(6, 3, 2), np.random.default_rng(0))
    triples = np.array([[0, 0, 1], [0, 0, 2], [0, 0, 3], [4, 1, 5]])
    energy.prepare(params, triples, np.random.default_rng(0))
    np.testing.assert_allclose(params["fixed"][:, 0], [1 / np.log(1 + 3), 1 / np.log(2), 1])


def test_transr_begins_where_transe_ended() -> None:
    sizes = Sizes(5, 2, 3)
    translation = ENERGIES["TransE"].start(sizes, np.random.default_rng(1))
    params = ENERGIES["TransR"].start(sizes, np.random.default_rng(2))
    carry_over(params, translation)
    triples = np.array([[0, 1, 2], [3, 0, 4]])
    first = ENERGIES["TransR"].energies(params, triples, ENERGIES["TransR"].settings("l1"))
    second = ENERGIES["TransE"].energies(translation, triples, ENERGIES["TransE"].settings("l1"))
    np.testing.assert_allclose(first, second, atol=1e-12)


@pytest.mark.parametrize("name", ["TransR", "CTransR"])
def test_projections_come_into_the_unit_ball_by_the_nearest_matrices(name: str) -> None:
    energy = ENERGIES[name]
    rng = np.random.default_rng(0)
    params = energy.start(Sizes(6, 2, 3, 4, clusters=2), rng)
    params["relations"] *= 3.0
    params["entities"][1:] *= 0.1  # only the first is projected too far
    before = params["relations"].copy()
    energy.tidy(params, batch_of(np.array([[0, 0, 1]]), np.array([[2]])))
    e, row = params["entities"][0], params["relations"][0]
    old, new = before[0, 3:15].reshape(3, 4), row[3:15].reshape(3, 4)
    assert np.linalg.norm(row[:3]) <= 1 + 1e-12
    np.testing.assert_allclose(new @ e, old @ e / np.linalg.norm(old @ e), atol=1e-12)
    away = rng.normal(size=4)
    away -= (away @ e) / (e @ e) * e
    np.testing.assert_allclose(new @ away, old @ away, atol=1e-12)
    np.testing.assert_array_equal(params["relations"][1], before[1])


@pytest.mark.parametrize("name", ["TransR", "CTransR"])
def test_batch_after_batch_all_projections_come_into_the_unit_ball(name: str) -> None:
    energy = ENERGIES[name]
    params = energy.start(Sizes(6, 2, 3, 4, clusters=2), np.random.default_rng(0))
    params["relations"] *= 3.0
    for _ in range(50):
        energy.tidy(params, batch_of(np.array([[0, 0, 1], [2, 0, 2]]), np.array([[3], [4]])))
    images = params["entities"][:5] @ params["relations"][0, 3:15].reshape(3, 4).T
    assert np.linalg.norm(images, axis=1).max() <= 1 + 1e-9


def test_transh_keeps_normals_at_length_one_and_translations_near_their_planes() -> None:
    energy = ENERGIES["TransH"]
    params = energy.start(Sizes(4, 3, 5), np.random.default_rng(0))
    params["relations"] *= 2.0

    def excess(rows: np.ndarray) -> float:
        r, w = rows[:5], rows[5:]
        return float(max((w @ r) ** 2 / (r @ r) - 1e-6, 0.0))

    gradient = energy.penalty(params, np.array([0, 2]))
    for which, l in enumerate((0, 2)):  # noqa: E741
        for i in range(10):
            up, down = params["relations"][l].copy(), params["relations"][l].copy()
            up[i] += 1e-6
            down[i] -= 1e-6
            assert gradient[which, i] == pytest.approx((excess(up) - excess(down)) / 2e-6, abs=1e-6)
    energy.tidy(params, batch_of(np.array([[0, 1, 1]]), np.array([[2]])))
    np.testing.assert_allclose(np.linalg.norm(params["relations"][:, 5:], axis=1), [2, 1, 2])


def test_rotate_keeps_relations_on_the_unit_circle() -> None:
    energy = ENERGIES["RotatE"]
    params = energy.start(Sizes(4, 2, 3), np.random.default_rng(0))
    params["relations"] *= 1.5
    energy.tidy(params, batch_of(np.array([[0, 1, 1]]), np.array([[2]])))
    np.testing.assert_allclose(
        np.hypot(params["relations"][:, :3], params["relations"][:, 3:])[:, 0], [1.5, 1]
    )
