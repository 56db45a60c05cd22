"""Every example runs, in a folder of its own."""

from __future__ import annotations

import runpy
from fnmatch import fnmatch
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SLOW = {EXAMPLES / "public_maps.py", EXAMPLES / "cohort_gallery.py"}
SELF_CONTAINED = sorted(set(EXAMPLES.glob("*.py")) - SLOW)


@pytest.mark.parametrize("example", SELF_CONTAINED, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example))["main"]()
    told = capsys.readouterr().out
    assert told
    ignored = (EXAMPLES.parent / ".gitignore").read_text(encoding="utf-8").split()
    for made in tmp_path.iterdir():
        assert made.name in told, f"{example.name} does not say that it writes {made.name}"
        assert any(fnmatch(f"/{made.name}", pattern.rstrip("/")) for pattern in ignored), made.name


@pytest.mark.parametrize(
    "names",
    [("correspondence_analysis", "cfrm", "choose"), pytest.param((), marks=pytest.mark.long)],
    ids=len,
)
def test_method_pictures(names, tmp_path, monkeypatch):
    """Every picture of a method is one that the documentation shows."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "method_pictures"))["main"](names)
    made = {path.name for path in tmp_path.iterdir()}
    shown = {path.name for path in (EXAMPLES.parent / "docs" / "pictures" / "methods").iterdir()}
    assert made <= shown if names else made == shown


@pytest.mark.long
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize(
    ("name", "pictures"),
    [
        ("cora", {"cora.png", "cora_links.png"}),
        ("newsgroups20", {"newsgroups20.png"}),
        ("nips", {"nips.png"}),
        ("unfiltered", set()),
    ],
)
def test_public_maps(name, pictures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "public_maps.py"))["main"]([name])
    assert {path.name for path in tmp_path.iterdir()} == pictures
    assert all(path.stat().st_size <= 250_000 for path in tmp_path.iterdir())


@pytest.mark.long
@pytest.mark.usefixtures("data_dir")
def test_three_kinds_of_nips(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "three_kinds.py"))["main"](["nips"])
    assert (tmp_path / "nips_three_kinds.png").stat().st_size <= 250_000


@pytest.mark.long
def test_cohort_gallery(tmp_path, monkeypatch):
    pytest.importorskip("umap")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "cohort_gallery.py"))["main"](["digits"])
    (picture,) = tmp_path.glob("*.png")
    assert picture.stat().st_size <= 250_000
