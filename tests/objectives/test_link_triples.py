from __future__ import annotations

import numpy as np
import pytest

from relscape.objectives.link_triples import LinkTriples, draw_triples


def random_links(rng, n, count):
    pairs = np.unique(rng.integers(n, size=(count, 2)), axis=0)
    return pairs[pairs[:, 0] != pairs[:, 1]]


@pytest.mark.parametrize(("n", "count"), [(3, 4), (12, 60), (50, 100), (400, 3000)])
def test_a_triple_is_a_link_and_no_link(rng, n, count):
    pairs = random_links(rng, n, count)
    linked = {(int(i), int(j)) for i, j in pairs}
    triples = draw_triples(pairs, n, rng)
    assert triples.dtype == np.int64
    for i, j, other in triples.tolist():
        assert (i, j) in linked
        assert (i, other) not in linked
        assert other != i
        assert 0 <= other < n
    degrees = np.bincount(pairs[:, 0], minlength=n)
    assert np.array_equal(triples[:, :2], pairs[degrees[pairs[:, 0]] < n - 1])


def test_all_documents_without_a_link_are_equally_likely(rng):
    pairs = np.array([[2, 0], [2, 3], [2, 6], [5, 1]])
    draws = np.array([draw_triples(pairs, 8, rng)[:, 2] for _ in range(8000)])
    counts = np.bincount(draws[:, 0], minlength=8)
    assert np.flatnonzero(counts).tolist() == [1, 4, 5, 7]
    assert np.allclose(counts[counts > 0] / 8000, 1 / 4, atol=0.025)  # five standard deviations
    counts = np.bincount(draws[:, 3], minlength=8)
    assert np.flatnonzero(counts).tolist() == [0, 2, 3, 4, 6, 7]
    assert np.allclose(counts[counts > 0] / 8000, 1 / 6, atol=0.021)


def test_links_that_are_kept_give_the_triples_of_single_draws(rng):
    pairs = random_links(rng, 40, 300)
    kept, one, other = LinkTriples(pairs, 40), np.random.default_rng(7), np.random.default_rng(7)
    draws = [kept.draw(one) for _ in range(4)]
    for triples in draws:
        assert np.array_equal(triples, draw_triples(pairs, 40, other))
    assert not np.array_equal(draws[0], draws[1])


def test_a_document_linked_to_all_others_has_no_triple(rng):
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2]])
    assert draw_triples(pairs, 4, rng)[:, :2].tolist() == [[1, 2]]


def test_linked_documents_may_be_drawn_when_asked(rng):
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2]])
    others = np.concatenate([draw_triples(pairs, 4, rng, exclude=False) for _ in range(100)])
    assert sorted(set(others[others[:, 0] == 0, 2].tolist())) == [1, 2, 3]
    assert sorted(set(others[others[:, 0] == 1, 2].tolist())) == [0, 2, 3]


def test_no_links_give_no_triples(rng):
    assert draw_triples(np.empty((0, 2), int), 5, rng).shape == (0, 3)


def test_a_seed_repeats_itself(rng):
    pairs = random_links(rng, 30, 90)
    first, second = (draw_triples(pairs, 30, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first, second)
