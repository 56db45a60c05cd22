"""What the tests of faults share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.faults.stage import Stage


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()
