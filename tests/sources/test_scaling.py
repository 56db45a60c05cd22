"""Features of one spread, and what stands in for missing ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from relscape.errors import DataError, ParameterError
from relscape.sources.scaling import measure, original, standardized, uneven, without_gaps

NAMES = np.array(["a", "b", "c", "d"], dtype=object)


def test_standardising_is_that_of_scikit_learn(rng):
    X = rng.normal(size=(30, 4)) * [1, 1000, 0.01, 0] + [5, -3, 0, 7]
    measures = measure(X)
    assert_allclose(standardized(X, measures), StandardScaler().fit_transform(X), atol=1e-12)
    new = rng.normal(size=(5, 4))
    assert_allclose(standardized(new, measures), StandardScaler().fit(X).transform(new), rtol=1e-9)
    assert_allclose(original(standardized(new, measures), measures), new, rtol=1e-9, atol=1e-9)


def test_uneven_spreads_are_told(rng):
    X = rng.normal(size=(50, 4))
    assert uneven(X, NAMES) is None
    told = uneven(X * [1, 500, 1, 1], NAMES)
    assert told is not None
    assert "'b' decide" in told
    for name in ("'a'", "'c'", "'d'"):
        assert name in told.split("near whom")[1]
    assert uneven(standardized(X * [1, 500, 1, 1], measure(X * [1, 500, 1, 1])), NAMES) is None


def test_single_quiet_or_constant_features_are_usual(rng):
    X = rng.normal(size=(50, 6)) * [1, 1, 1, 1, 1, 0.001]
    names = np.array(list("abcdef"), dtype=object)
    assert uneven(X, names) is None
    assert uneven(X * [1, 0, 0, 0, 0, 0], names) is None


def test_gaps_are_filled_as_by_scikit_learn_or_dropped(rng):
    X = rng.normal(size=(40, 4))
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    filled, kept = without_gaps(X, NAMES, "median")
    assert_allclose(filled, SimpleImputer(strategy="median").fit_transform(X))
    assert kept.all()
    whole, kept = without_gaps(X, NAMES, "drop")
    np.testing.assert_array_equal(kept, ~np.isnan(X).any(axis=1))
    np.testing.assert_array_equal(whole, X[kept])
    given, _ = without_gaps(np.full((1, 4), np.nan), NAMES, "median", np.arange(4.0))
    assert given.tolist() == [[0, 1, 2, 3]]


def test_gaps_that_cannot_be_mended():
    X = np.array([[1.0, np.nan, 1, 1], [2.0, np.nan, 1, 1]])
    with pytest.raises(DataError, match="no value at all in 'b'"):
        without_gaps(X, NAMES, "median")
    with pytest.raises(DataError, match="dropping leaves none"):
        without_gaps(X, NAMES, "drop")
    with pytest.raises(ParameterError, match="missing='mean'"):
        without_gaps(X, NAMES, "mean")
