"""One small cluster of processes for all tests of a session."""

from __future__ import annotations

import pytest

pytest.importorskip("dask.distributed")

from relscape.distributed import connect


@pytest.fixture(scope="session")
def client():
    with connect(workers=2, memory="1GB") as client:
        yield client
