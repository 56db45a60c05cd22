"""The front door: what `import relscape` offers, and what it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import relscape


def test_names_are_there():
    assert len(set(relscape.__all__)) == len(relscape.__all__)
    for name in relscape.__all__:
        assert getattr(relscape, name) is not None
    assert set(relscape.__all__) <= set(dir(relscape))


def test_links_are_read_and_held_out_from_the_front_door():
    both = relscape.read_links([("a", "b"), ("b", "c")], ["a", "b", "c"], undirected=True)
    train, test = relscape.hold_out_links(both, 0.5, random_state=0, undirected=True)
    assert len(train) == len(test) == 2
    assert len(relscape.hold_out_documents(both, 3, 0.3, random_state=2)[2]) == 1


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Umap'"):
        relscape.Umap  # noqa: B018


def test_import_is_light():
    """Importing relscape brings in none of the heavy libraries."""
    heavy = ("numpy", "sklearn", "duckdb", "matplotlib")
    code = f"import sys, relscape; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
