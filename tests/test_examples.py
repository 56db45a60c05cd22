"""Every example runs, in a folder of its own."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SELF_CONTAINED = sorted(set(EXAMPLES.glob("*.py")) - {EXAMPLES / "public_maps.py"})


@pytest.mark.parametrize("example", SELF_CONTAINED, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example))["main"]()
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "pictures"),
    [
        pytest.param("cora", {"cora.png", "cora_links.png"}, marks=pytest.mark.long),
        pytest.param("nips", {"nips.png"}, marks=pytest.mark.long),
        pytest.param("newsgroups20", {"newsgroups20.png"}, marks=pytest.mark.long),
    ],
)
def test_public_maps(name, pictures, data_dir, tmp_path, monkeypatch):
    assert (data_dir / name).is_dir()
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "public_maps.py"))["main"]([name])
    assert {path.name for path in tmp_path.iterdir()} == pictures
    assert all(path.stat().st_size <= 250_000 for path in tmp_path.iterdir())
