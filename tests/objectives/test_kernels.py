from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

from relscape.errors import DataError
from relscape.objectives.kernels import KernelObjective, Similarities, kernel_misfit


def plain_misfit(K, left, right, log_width):
    """The mean squared difference, pair by pair."""
    total = 0.0
    for i, x in enumerate(left):
        for j, z in enumerate(right):
            total += (np.exp(-((x - z) ** 2).sum() / np.exp(log_width) ** 2) - K[i, j]) ** 2
    return total / K.size


@pytest.fixture
def similarities(rng):
    K = rng.uniform(size=(7, 5))
    K[K < 0.4] = 0.0
    return K


@pytest.fixture
def clouds(rng):
    return rng.normal(size=(7, 3)), rng.normal(size=(5, 3))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("log_width", [-1.0, 0.0, 1.5])
def test_misfit_is_the_mean_over_pairs(similarities, clouds, form, log_width):
    value, *_ = kernel_misfit(Similarities(form(similarities)), *clouds, log_width)
    assert_allclose(value, plain_misfit(similarities, *clouds, log_width), rtol=1e-13)


def test_blocks_of_rows_change_nothing(similarities, clouds, monkeypatch):
    whole = kernel_misfit(Similarities(similarities), *clouds, 0.3)
    monkeypatch.setattr("relscape.objectives.kernels._BLOCK_PAIRS", 11)
    for one, other in zip(whole, kernel_misfit(Similarities(similarities), *clouds, 0.3), strict=True):
        assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("within", [False, True])
def test_gradients_are_finite_differences(similarities, clouds, rng, form, within):
    kernels = (None, None)
    if within:
        kernels = tuple(
            Similarities(form((K + K.T) / 2)) for K in (rng.uniform(size=(7, 7)), rng.uniform(size=(5, 5)))
        )
    objective = KernelObjective(Similarities(form(similarities)), *kernels, 0.3, n_components=3)
    point = objective.packed(*clouds, 0.2)
    expected = approx_fprime(point, lambda p: objective.value_and_gradient(p)[0], 1e-7)
    assert_allclose(objective.value_and_gradient(point)[1], expected, atol=1e-7)


def test_similarities_within_kinds_are_weighed(similarities, clouds, rng):
    rows, columns = ((K + K.T) / 2 for K in (rng.uniform(size=(7, 7)), rng.uniform(size=(5, 5))))
    left, right = clouds
    objective = KernelObjective(
        Similarities(similarities), Similarities(rows), Similarities(columns), 0.25, n_components=3
    )
    value, _ = objective.value_and_gradient(objective.packed(left, right, 0.1))
    parts = (
        plain_misfit(similarities, left, right, 0.1),
        plain_misfit(rows, left, left, 0.1),
        plain_misfit(columns, right, right, 0.1),
    )
    assert_allclose(value, parts[0] + 0.25 * (parts[1] + parts[2]), rtol=1e-13)


def test_a_kernel_of_the_points_fits_itself(clouds):
    """Where the similarities are the kernel of the points, nothing is left, and nothing pulls."""
    left, right = clouds
    K = np.exp(-((left[:, None] - right[None]) ** 2).sum(axis=2) / 4.0)
    value, *gradients = kernel_misfit(Similarities(K), left, right, np.log(2.0))
    assert_allclose(value, 0.0, atol=1e-15)
    for gradient in gradients:
        assert_allclose(gradient, 0.0, atol=1e-15)


def test_points_and_width_make_one_vector(clouds):
    objective = KernelObjective(Similarities(np.ones((7, 5))), n_components=3)
    left, right, log_width = objective.unpacked(objective.packed(*clouds, -0.5))
    assert_allclose(left, clouds[0])
    assert_allclose(right, clouds[1])
    assert log_width == -0.5


@pytest.mark.parametrize(
    ("entry", "told"), [(1.5, "between 0 and 1.5"), (-0.5, "between -0.5"), (np.nan, "NaN or infinite")]
)
def test_similarities_lie_between_0_and_1(entry, told):
    K = np.zeros((3, 3))
    K[1, 2] = entry
    with pytest.raises(DataError, match=f"my kernel: .*{told}"):
        Similarities(K, "my kernel")
