"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import numba
import numpy as np
import pytest

# Tests run on all cores already; those about threads say themselves how many they want.
numba.set_num_threads(1)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public data sets, where there is one (RELSCAPE_DATA); the test skips elsewhere."""
    place = os.environ.get("RELSCAPE_DATA")
    if not place:
        pytest.skip("RELSCAPE_DATA is not set")
    return Path(place)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
