"""Leading directions of contents, as many as there are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from relscape.models.network_axes import leading_directions


@pytest.mark.parametrize("shape", [(30, 4), (5, 20), (15_000, 70)], ids=str)
def test_no_direction_is_lost(rng, shape):
    """Where all are asked for, and more, they give back the contents; the last shape is a large one."""
    contents = rng.normal(size=shape)
    for given in (contents, csr_array(contents)):
        found = leading_directions(given, min(shape) + 3, rng)
        assert found.values.size == min(shape)
        assert_allclose((found.U * found.values) @ found.V.T, contents, atol=1e-9)


def test_few_directions_are_the_first(rng):
    contents = rng.normal(size=(30, 6))
    found = leading_directions(csr_array(contents), 2, rng)
    assert_allclose(found.values, np.linalg.svd(contents, compute_uv=False)[:2])
