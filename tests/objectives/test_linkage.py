from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.objectives import linkage_tiles
from relscape.objectives.link_triples import draw_triples
from relscape.objectives.linkage import Linkage

KERNELS = ("cauchy", "gaussian")


def log_probabilities(H, kernel):
    """All log p as one array, rows by rows."""
    squares = ((H[:, None] - H[None]) ** 2).sum(axis=2)
    logs = -np.log1p(squares) if kernel == "cauchy" else -squares
    np.fill_diagonal(logs, -np.inf)
    return logs - logsumexp(logs, axis=1, keepdims=True)


def slow_parts(H, Q, weight, margin, triples, kernel):
    """The two means of the specification, times n."""
    n = len(H)
    logs = log_probabilities(H, kernel)
    p = np.exp(logs)
    i, j, other = triples.T
    link = np.maximum(p[i, other] - p[i, j] + margin, 0).mean() if len(triples) else 0.0
    positive = Q > 0
    divergence = (Q[positive] * (np.log(Q[positive]) - logs[positive])).sum() / (n * (n - 1))
    return n * link, n * weight * divergence


def slow_gradient(H, Q, weight, margin, triples, kernel):
    """The matrix form of the specification, section 4, with every array in full."""
    n = len(H)
    p = np.exp(log_probabilities(H, kernel))
    i, j, other = triples.T
    G = np.zeros((n, n))
    active = p[i, other] - p[i, j] + margin > 0
    np.add.at(G, (i[active], other[active]), 1 / len(triples))
    np.add.at(G, (i[active], j[active]), -1 / len(triples))
    F = 1 / (1 + ((H[:, None] - H[None]) ** 2).sum(axis=2)) if kernel == "cauchy" else np.ones((n, n))
    A = F * p * ((G * p).sum(axis=1, keepdims=True) - G) + weight / (n * (n - 1)) * F * (Q - p)
    np.fill_diagonal(A, 0)
    S = A + A.T
    return n * 2 * (S.sum(axis=1)[:, None] * H - S @ H)


def differences(function, point, step=1e-6):
    """Central differences, coordinate by coordinate."""
    found = np.empty(point.shape)
    for at in np.ndindex(point.shape):
        shifted = point.copy()
        shifted[at] += step
        above = function(shifted)
        shifted[at] -= 2 * step
        found[at] = (above - function(shifted)) / (2 * step)
    return found


def network(rng, n, k=3, spread=1.0):
    H = spread * rng.normal(size=(n, k))
    Q = rng.random((n, n)) * (rng.random((n, n)) < 0.4)
    Q[np.arange(n), (np.arange(n) + 1) % n] = 0.5
    np.fill_diagonal(Q, 0)
    Q /= Q.sum(axis=1, keepdims=True)
    pairs = np.unique(rng.integers(n, size=(3 * n, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return H, Q, pairs, draw_triples(pairs, n, rng)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("weight", "margin"), [(1.0, 0.1), (0.0, 0.1), (2.5, 0.0), (1.0, 3.0)])
def test_gradient_is_that_of_the_slow_cost(rng, kernel, weight, margin):
    H, Q, _, triples = network(rng, 9)
    value, gradient = Linkage(Q, weight, margin, kernel, np.float64).value_and_gradient_of(H, triples)
    assert np.allclose(value[1:3], slow_parts(H, Q, weight, margin, triples, kernel), rtol=1e-12, atol=1e-13)
    assert value.total == value.link + value.content
    expected = differences(lambda at: sum(slow_parts(at, Q, weight, margin, triples, kernel)), H)
    assert np.allclose(gradient, expected, rtol=1e-5, atol=1e-7)
    assert np.abs(gradient.sum(axis=0)).max() < 1e-13


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n", [257, 600, 769])  # two blocks that hold one document more; three; four
def test_tiles_are_the_full_arrays(rng, kernel, sparse, n):
    H, Q, _, triples = network(rng, n, 2)
    contents = csr_array(Q) if sparse else Q
    expected = slow_gradient(H, Q, 0.7, 1 / n, triples, kernel)
    parts = slow_parts(H, Q, 0.7, 1 / n, triples, kernel)
    for dtype, digits in ((np.float64, 1e-11), (np.float32, 3e-5)):
        value, gradient = Linkage(contents, 0.7, 1 / n, kernel, dtype).value_and_gradient_of(H, triples)
        assert np.allclose(value[1:3], parts, rtol=digits)
        assert np.abs(gradient - expected).max() < digits * np.abs(expected).max()


@pytest.mark.parametrize("kernel", KERNELS)
def test_normalisers_far_from_everyone(kernel):
    H = np.array([[0.0, 0], [1, 0], [300, 0], [300, 2], [-2000, 5]])
    squares = ((H[:, None] - H[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    found = Linkage(None, 0.0, 0.1, kernel, np.float64).normalisers(H)
    expected = (1 / (1 + squares)).sum(axis=1) if kernel == "cauchy" else logsumexp(-squares, axis=1)
    assert np.allclose(found, expected, rtol=1e-9)


def test_single_precision_keeps_six_digits_on_a_wide_map(rng):
    H, Q, _, triples = network(rng, 300, 20, spread=3.0)
    expected = slow_gradient(H, Q, 1.0, 1 / 300, triples, "cauchy")
    _, gradient = Linkage(Q, 1.0, 1 / 300).value_and_gradient_of(H + 50.0, triples)
    assert np.abs(gradient - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("kernel", KERNELS)
def test_rotation_and_translation_change_nothing(rng, kernel):
    H, Q, _, triples = network(rng, 40)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    cost = Linkage(Q, 1.0, 0.02, kernel, np.float64)
    value, gradient = cost.value_and_gradient_of(H, triples)
    moved, turned = cost.value_and_gradient_of(H @ turn + 5.0, triples)
    assert np.allclose(value, moved, rtol=1e-11)
    assert np.allclose(gradient @ turn, turned, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_points_equal(rng, kernel):
    _, Q, _, triples = network(rng, 20)
    value, gradient = Linkage(Q, 1.0, 0.05, kernel, np.float64).value_and_gradient_of(
        np.ones((20, 2)), triples
    )
    assert np.isclose(value.mean_link_probability, 1 / 19)
    assert np.isclose(value.link, 20 * 0.05)
    assert value.active_share == 1.0
    assert not gradient.any()


@pytest.mark.parametrize("kernel", KERNELS)
def test_contents_that_the_map_shows_already_cost_nothing(rng, kernel):
    H = rng.normal(size=(30, 2))
    Q = np.exp(log_probabilities(H, kernel))
    for contents in (Q, csr_array(Q)):
        cost = Linkage(contents, 1.0, 0.1, kernel, np.float64)
        value, gradient = cost.value_and_gradient_of(H, np.empty((0, 3), int))
        assert abs(value.content) < 1e-13
        assert value.link == value.active_share == value.mean_link_probability == 0.0
        assert np.abs(gradient).max() < 1e-13


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_large_margin_leaves_the_mean_difference(rng, kernel):
    H, _, _, triples = network(rng, 25)
    i, j, other = triples.T

    def difference(at):
        p = np.exp(log_probabilities(at, kernel))
        return 25 * (p[i, other] - p[i, j]).mean()

    value, gradient = Linkage(None, 0.0, 5.0, kernel, np.float64).value_and_gradient_of(H, triples)
    assert value.active_share == 1.0
    assert 0 <= value.link <= 25 * (1 + 5.0)
    assert np.allclose(gradient, differences(difference, H), rtol=1e-5, atol=1e-7)


def test_without_weight_contents_do_not_count(rng):
    H, Q, _, triples = network(rng, 50)
    with_contents = Linkage(Q, 0.0, 0.02).value_and_gradient_of(H, triples)
    without = Linkage(None, 0.0, 0.02).value_and_gradient_of(H, triples)
    assert with_contents[0] == without[0]
    assert np.array_equal(with_contents[1], without[1])


def test_share_of_active_triples_and_probability_of_links(rng):
    H, Q, _, triples = network(rng, 50)
    p = np.exp(log_probabilities(H, "cauchy"))
    i, j, other = triples.T
    value, _ = Linkage(Q, 1.0, 0.001, dtype=np.float64).value_and_gradient_of(H, triples)
    assert np.isclose(value.active_share, (p[i, other] - p[i, j] + 0.001 > 0).mean())
    assert np.isclose(value.mean_link_probability, p[i, j].mean())


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_number_of_threads_changes_nothing(rng, kernel):
    H, Q, _, triples = network(rng, 900, 5)
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("there is one thread only")
    results = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        results.append(Linkage(Q, 1.0, 0.01, kernel).value_and_gradient_of(H, triples))
    numba.set_num_threads(1)
    assert results[0][0] == results[1][0]
    assert np.array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize("kernel", KERNELS)
def test_places_that_are_no_numbers_show_in_the_gradient(rng, kernel):
    """Whatever becomes of the value: descents look at both."""
    H, Q, _, triples = network(rng, 30)
    H[4, 0] = np.nan
    for contents, weight in ((Q, 1.0), (csr_array(Q), 1.0), (None, 0.0)):
        with np.errstate(all="ignore"):
            gradient = Linkage(contents, weight, 0.01, kernel).value_and_gradient_of(H, triples)[1]
        assert not np.isfinite(gradient).all()


@pytest.mark.parametrize("blocks", [1, 2, 3, 8, 9])
def test_every_two_blocks_meet_once_and_none_has_two_meetings_at_a_time(blocks):
    met = []
    for turn in range(blocks):
        count = linkage_tiles._meetings(turn, blocks)
        meetings = [linkage_tiles._meeting(number, turn, blocks) for number in range(count)]
        busy = [block for meeting in meetings for block in set(meeting)]
        assert len(busy) == len(set(busy))
        met += meetings
    assert sorted(met) == [(i, j) for i in range(blocks) for j in range(i, blocks)]


def test_what_cannot_be_used_is_refused(rng):
    _, Q, _, triples = network(rng, 6)
    with pytest.raises(UnknownNameError, match="no kernel 'student'"):
        Linkage(Q, 1.0, 0.1, "student")
    with pytest.raises(ParameterError, match="content_weight=-1"):
        Linkage(Q, -1.0, 0.1)
    with pytest.raises(ParameterError, match="margin=nan"):
        Linkage(Q, 1.0, float("nan"))
    with pytest.raises(DataError, match="without contents"):
        Linkage(None, 1.0, 0.1)
    with pytest.raises(DataError, match="expected n × n"):
        Linkage(Q[:2, :2], 1.0, 0.1)
    with pytest.raises(DataError, match="7 places for 6 documents"):
        Linkage(Q, 1.0, 0.1).value_and_gradient_of(np.zeros((7, 2)), triples)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
def test_the_cost_of_links_and_its_gradient_keep_their_bounds(rng, kernel, spread):
    """0 ≤ mean hinge ≤ 1 + margin, forces cancel, and a Cauchy probability moves by at most 1/4 a unit."""
    n, margin = 30, 2.0
    H = spread * rng.normal(size=(n, 3))
    for _ in range(20):
        i, j, other = rng.choice(n, 3, replace=False)
        cost = Linkage(None, 0.0, margin, kernel, np.float64)
        value, gradient = cost.value_and_gradient_of(H, np.array([[i, j, other]]))
        assert 0 <= value.link <= n * (1 + margin) * (1 + 1e-9)
        assert np.allclose(gradient.sum(axis=0), 0, atol=1e-9 * max(1.0, np.abs(gradient).max()))
        if kernel == "cauchy":
            lengths = np.linalg.norm(np.delete(gradient, i, axis=0), axis=1) / n
            assert lengths.max() <= 2 * 0.25
