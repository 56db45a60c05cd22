"""What the tests of models share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from relscape.protocols import AnyArray, IntArray


class Planted(NamedTuple):
    """Word counts (n × d), each document's group, and links (from, to) to learn from and to look for.

    The last word is as common in all groups.
    """

    counts: AnyArray
    groups: IntArray
    train: IntArray
    test: IntArray


@pytest.fixture(scope="session")
def network() -> Planted:
    """A small document network: documents mostly use the words of their group, and link within it."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(3), 30)
    rates = np.full((90, 31), 0.05)
    for group in range(3):
        rates[np.ix_(groups == group, np.arange(10 * group, 10 * group + 10))] = 1.0
    rates[:, -1] = 1.0
    chances = np.where(groups[:, None] == groups, 0.2, 0.005)
    links = np.argwhere(np.triu(rng.random((90, 90)) < chances, 1))
    held = rng.random(len(links)) < 0.15
    return Planted(rng.poisson(rates), groups, links[~held], links[held])
