"""Settings, fitted parts and sparse arrays survive being laid down as plain values and arrays."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from relscape.errors import FormatError
from relscape.matrix.affinity import Affinity, GaussianAffinity, affinity_settings
from relscape.matrix.confidence import confidence_settings
from relscape.matrix.features import RelationFeatures
from relscape.models.prototypes import prototype_settings
from relscape.models.storing import STORED_CLASSES, restore, store


def again(value):
    arrays = {}
    plain = json.loads(json.dumps(store("part", value, arrays)))
    return restore("part", plain, arrays)


def test_settings_and_plain_values():
    for value in (GaussianAffinity(7.0, shrink=0.5), None, "text", [1, 2], {"a": {"b": 3}}, 0.5):
        assert again(value) == value
    assert again(np.float64(0.25)) == 0.25


@pytest.mark.parametrize("name", sorted(STORED_CLASSES))
def test_stored_classes_are_where_they_are_said_to_be(name):
    assert is_dataclass(getattr(import_module(STORED_CLASSES[name]), name))


def test_all_settings_can_be_stored():
    settings = [affinity_settings(name, 5) for name in ("perplexity", "cosine", "distance")]
    settings += [confidence_settings(name) for name in ("gaussian", "student", "kernel", "range")]
    settings += [prototype_settings(name) for name in ("sne", "tsne", "mds", "laplacian", "means")]
    for value in (*settings, RelationFeatures(compact=True)):
        assert again(value) == value


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
