"""Settings, fitted parts and sparse arrays survive being laid down as plain values and arrays."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from relscape.errors import FormatError
from relscape.matrix.affinity import Affinity, GaussianAffinity
from relscape.models.storing import restore, store


def again(value):
    arrays = {}
    plain = json.loads(json.dumps(store("part", value, arrays)))
    return restore("part", plain, arrays)


def test_settings_and_plain_values():
    for value in (GaussianAffinity(7.0, shrink=0.5), None, "text", [1, 2], {"a": {"b": 3}}, 0.5):
        assert again(value) == value
    assert again(np.float64(0.25)) == 0.25


def test_fitted_parts(rng):
    weights = csr_array(rng.random((4, 4)))
    fitted = Affinity(weights, 2.0, np.arange(4.0), np.ones(4), 0.0, np.empty(0))
    found = again({"inner": fitted})["inner"]
    assert_array_equal(found.weights.toarray(), weights.toarray())
    assert_array_equal(found.bandwidths, fitted.bandwidths)
    assert found.total == 2.0


def test_unknown_classes_are_refused():
    with pytest.raises(FormatError, match="'Magic'"):
        restore("part", {"class": "Magic"}, {})
