from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array

from relscape.errors import DataError, ParameterError
from relscape.objectives.link_triples import draw_triples
from relscape.objectives.linkage import Linkage
from relscape.objectives.sampled_linkage import SampledLinkage

KERNELS = ("cauchy", "gaussian")


def network(rng, n, k=3, near=8):
    """Places, probabilities of those nearest on the map among random candidates, links and triples."""
    H = rng.normal(size=(n, k))
    rows = np.repeat(np.arange(n), near)
    columns = (rows + rng.integers(1, n, size=rows.size)) % n
    Q = csr_array((rng.uniform(0.5, 1.0, rows.size), (rows, columns)), shape=(n, n))
    Q = csr_array(Q.multiply(1 / Q.sum(axis=1)[:, None]))
    pairs = np.unique(rng.integers(n, size=(2 * n, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return H, Q, pairs, draw_triples(pairs, n, rng)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n", [7, 60, 61])
def test_when_all_others_are_seen_it_is_exact(rng, kernel, n):
    H, Q, pairs, triples = network(rng, n)
    sampled = SampledLinkage(Q, pairs, 1.5, 0.5 / n, kernel, samples=n, random_state=1)
    exact = Linkage(Q, 1.5, 0.5 / n, kernel, np.float64)
    for places in (H, 2 * H):  # what was remembered of the first does not enter the second
        value, gradient = sampled.value_and_gradient_of(places, triples)
        expected, slope = exact.value_and_gradient_of(places, triples)
        assert np.allclose(value, expected, rtol=1e-11)
        assert np.allclose(gradient, slope, atol=1e-12)
        assert np.allclose(sampled._look(places)[1], exact.normalisers(places), rtol=1e-11)


def test_links_only(rng):
    H, _, pairs, triples = network(rng, 40)
    sampled = SampledLinkage(csr_array((40, 40)), pairs, 0.0, 0.02, samples=40)
    value, gradient = sampled.value_and_gradient_of(H, triples)
    expected, slope = Linkage(None, 0.0, 0.02, dtype=np.float64).value_and_gradient_of(H, triples)
    assert np.allclose(value, expected)
    assert np.allclose(gradient, slope, atol=1e-13)


def errors(H, Q, pairs, triples, samples, draws=8):
    """Root mean square errors of one call's gradient and normalisers, relative to the exact ones."""
    exact = Linkage(Q, 1.0, 1 / len(H), dtype=np.float64)
    slope, masses = exact.value_and_gradient_of(H, triples)[1], exact.normalisers(H)
    found = []
    for seed in range(draws):
        sampled = SampledLinkage(Q, pairs, 1.0, 1 / len(H), samples=samples, random_state=seed)
        gradient = sampled.value_and_gradient_of(H, triples)[1]
        relative = sampled._look(H)[1] / masses - 1
        found.append(((gradient - slope).ravel() @ (gradient - slope).ravel(), relative @ relative))
    gradients, normalisers = np.mean(found, axis=0)
    return np.sqrt(gradients) / np.linalg.norm(slope), np.sqrt(normalisers / len(H))


def test_the_error_falls_with_the_samples(rng):
    given = network(rng, 2000, k=5)
    few, more, many = (errors(*given, samples) for samples in (50, 200, 800))
    # Four times the samples halve an error of independent draws; without seeing anybody twice, a bit more.
    for coarse, fine in ((few, more), (more, many)):
        assert 0.3 < fine[0] / coarse[0] < 0.6
        assert 0.3 < fine[1] / coarse[1] < 0.6
    assert more[0] < 0.15
    assert more[1] < 0.05


def test_the_mean_of_many_draws_is_the_truth(rng):
    H, Q, pairs, _ = network(rng, 300)
    sampled = SampledLinkage(Q, pairs, 1.0, 1 / 300, samples=40, random_state=3)
    draws = np.array([sampled._look(H)[1] for _ in range(400)])
    exact = Linkage(Q, 1.0, 1 / 300, dtype=np.float64).normalisers(H)
    spread = draws.std(axis=0) / np.sqrt(400)
    assert np.abs((draws.mean(axis=0) - exact) / spread).max() < 5.0


def test_remembered_normalisers_are_less_noisy(rng):
    H, Q, pairs, triples = network(rng, 1000)
    exact = Linkage(Q, 1.0, 1e-3, dtype=np.float64).value_and_gradient_of(H, triples)[0]
    sampled = SampledLinkage(Q, pairs, 1.0, 1e-3, samples=30, random_state=0)
    offs = [sampled.value_and_gradient_of(H, triples)[0].content - exact.content for _ in range(40)]
    assert np.abs(offs[20:]).mean() < 0.6 * np.abs(offs[0])


@pytest.mark.parametrize("kernel", KERNELS)
def test_neither_threads_nor_time_change_a_seeded_result(rng, kernel):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("there is one thread only")
    H, Q, pairs, triples = network(rng, 500)
    results = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        cost = SampledLinkage(Q, pairs, 1.0, 0.01, kernel, samples=20, random_state=4)
        results.append([cost.value_and_gradient_of(H, triples) for _ in range(2)][1])
    numba.set_num_threads(1)
    assert results[0][0] == results[1][0]
    assert np.array_equal(results[0][1], results[1][1])


def test_forces_cancel(rng):
    H, Q, pairs, triples = network(rng, 500)
    for kernel in KERNELS:
        cost = SampledLinkage(Q, pairs, 1.0, 0.01, kernel, samples=20, random_state=4)
        assert np.abs(cost.value_and_gradient_of(H, triples)[1].sum(axis=0)).max() < 1e-12


def test_what_cannot_be_used_is_refused(rng):
    _, Q, pairs, triples = network(rng, 10)
    with pytest.raises(ParameterError, match="samples=0"):
        SampledLinkage(Q, pairs, 1.0, 0.1, samples=0)
    with pytest.raises(DataError, match="9 places for 10 documents"):
        SampledLinkage(Q, pairs, 1.0, 0.1).value_and_gradient_of(np.zeros((9, 2)), triples)
