"""NDCG of nearest partners: as scikit-learn's where comparable, 1 for perfect maps, ties in their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics import ndcg_score

from relscape.errors import DataError, UnknownNameError
from relscape.scores import guess_ndcg, ndcg, partners


def slow(W, answers):
    """Score the ordered answers of every row that has partners, by the definition."""
    values = []
    for row, order in zip(W, answers, strict=True):
        gains = np.maximum(row, 0)
        q = int((gains > 0).sum())
        if q:
            gained = sum(gains[tag] / np.log2(place + 2) for place, tag in enumerate(order[:q]))
            best = sum(gain / np.log2(place + 2) for place, gain in enumerate(sorted(gains)[::-1][:q]))
            values.append(gained / best)
    return np.mean(values)


@pytest.mark.parametrize(("dimensions", "n"), [(1, 9), (2, 400), (15, 30)])
@pytest.mark.parametrize("gains", ["binary", "rank"])
def test_as_scikit_learn(rng, dimensions, n, gains):
    W = rng.choice([0.0, 0.0, 1.0, 2.0, 5.0], (20, n), p=[0.3, 0.4, 0.1, 0.1, 0.1])
    W[:, 0] = 3.0
    rows, columns = rng.normal(size=(20, dimensions)), rng.normal(size=(n, dimensions))
    truth = (W > 0).astype(float) if gains == "binary" else W
    expected = [
        ndcg_score(row[None], -near[None], k=int((row > 0).sum()))
        for row, near in zip(truth, cdist(rows, columns), strict=True)
    ]
    assert ndcg(csr_array(W), rows, columns, gains) == pytest.approx(np.mean(expected), abs=1e-12)


@pytest.mark.parametrize("tile", [1, 4_000_000])
@pytest.mark.parametrize("within", [False, True])
def test_equal_distances_go_by_index(rng, within, tile, monkeypatch):
    monkeypatch.setattr(partners, "_TILE", tile)
    W = rng.choice([-1.0, 0.0, 0.0, 0.5, 1.0], (25, 25 if within else 14))
    rows = rng.integers(0, 2, (25, 2)).astype(float)
    columns = rows if within else rng.integers(0, 2, (14, 2)).astype(float)
    answers = np.argsort(cdist(rows, columns), axis=1, kind="stable")
    if within:
        np.fill_diagonal(W, 0)
        answers = [order[order != i] for i, order in enumerate(answers)]
    for gains, truth in (("binary", (W > 0).astype(float)), ("rank", W)):
        found = ndcg(W, rows, None if within else columns, gains)
        assert found == pytest.approx(slow(truth, answers), abs=1e-12)


def test_within_a_kind_a_thing_is_no_partner_of_itself(rng):
    rows = rng.normal(size=(15, 2))
    W = (rng.random((15, 15)) < 0.3).astype(float)
    assert ndcg(W, rows) == ndcg(np.where(np.eye(15), 1.0, W), rows)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_between_none_and_perfect(data):
    m, n = (data.draw(st.integers(1, 6)) for _ in range(2))
    coordinate = st.integers(-3, 3).map(float)
    rows, columns = (
        np.array(data.draw(st.lists(st.tuples(coordinate, coordinate), min_size=size, max_size=size)))
        for size in (m, n)
    )
    weights = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=m * n, max_size=m * n)
    W = np.array(data.draw(weights)).reshape(m, n)
    W[0, 0] = 1.0
    for gains in ("binary", "rank"):
        assert 0 <= ndcg(W, rows, columns, gains) <= 1 + 1e-12
        assert 0 <= guess_ndcg(W, W, gains) <= 1 + 1e-12
    distance = cdist(rows, columns)
    # Partners that are nearest, the nearer with the larger gain: nothing could be better.
    order = np.argsort(np.argsort(distance, axis=1, kind="stable"), axis=1)
    q = data.draw(st.integers(1, n))
    perfect = np.maximum(q - order, 0)
    assert ndcg(perfect, rows, columns, "rank") == pytest.approx(1)
    assert ndcg(perfect > 0, rows, columns) == pytest.approx(1)


def test_chance(rng):
    """Tags scattered at random give q / n."""
    W = np.zeros((4000, 20))
    W[:, :5] = 1.0
    found = [ndcg(W, rng.normal(size=(4000, 3)), rng.normal(size=(20, 3))) for _ in range(40)]
    assert np.mean(found) == pytest.approx(0.25, abs=5 * np.std(found) / np.sqrt(40))


def test_guess_answers_with_the_most_frequent(rng):
    train = rng.choice([-1.0, 0.0, 0.0, 0.4, 1.0], (30, 12))
    test = rng.choice([-1.0, 0.0, 0.0, 1.0, 2.0], (50, 12))
    test[4] = 0.0
    order = sorted(range(12), key=lambda tag: (-int((train[:, tag] > 0).sum()), tag))
    for gains, truth in (("binary", (test > 0).astype(float)), ("rank", test)):
        found = guess_ndcg(csr_array(train), csr_array(test), gains)
        assert found == pytest.approx(slow(truth, [order] * 50), abs=1e-12)


def test_things_without_coordinates_are_left_out(rng):
    W = (rng.random((12, 9)) < 0.4).astype(float)
    rows, columns = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    rows[[1, 5]], columns[3] = np.nan, np.nan
    kept, others = np.delete(np.arange(12), [1, 5]), np.delete(np.arange(9), 3)
    assert ndcg(W, rows, columns) == ndcg(W[np.ix_(kept, others)], rows[kept], columns[others])


def test_what_is_refused(rng):
    rows, columns = rng.normal(size=(2, 2)), rng.normal(size=(3, 2))
    with pytest.raises(DataError, match="no row thing has a partner"):
        ndcg([[0, 0, 0], [-1, 0, 0]], rows, columns)
    with pytest.raises(UnknownNameError, match="Did you mean 'binary'"):
        ndcg(np.ones((2, 3)), rows, columns, gains="Binary")
    with pytest.raises(DataError, match="W_train has 3 columns and W_test 2"):
        guess_ndcg(np.ones((2, 3)), np.ones((2, 2)))
    with pytest.raises(DataError, match="W_test has weights that are missing"):
        guess_ndcg(np.ones((2, 2)), [[np.inf, 1]])
