"""The built package: it holds what it needs, installs alone, and its commands start."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel as pip does, without the explorer's page, which has tests of its own."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "RELSCAPE_SKIP_WEB": "1"},
        capture_output=True,
        check=True,
    )
    return next(folder.glob("*.whl"))


def test_wheel_holds_what_it_needs(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert sources <= names
    beside = [path for ending in ("toml", "csv", "typed") for path in (ROOT / "src").rglob(f"*.{ending}")]
    assert len(beside) > 20
    assert {path.relative_to(ROOT / "src").as_posix() for path in beside} <= names
    assert not [name for name in names if name.startswith(("tests/", "web/", "docs/"))]


def test_wheel_says_what_it_is(wheel):
    archive = zipfile.ZipFile(wheel)
    [metadata] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    told = archive.read(metadata).decode()
    assert "License-Expression: BSD-3-Clause" in told
    for extra in ("anndata", "excel", "networkx", "rdf"):
        assert f"Provides-Extra: {extra}" in told
    [points] = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert "relscape = relscape.__main__:start" in archive.read(points).decode()


def test_installed_wheel_runs_outside_the_sources(wheel, tmp_path):
    target = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
    ]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(target)}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert str(target) in run("-c", "import relscape; print(relscape.__file__)")
    assert run("-m", "relscape", "--version").startswith("relscape ")
    assert "coembed-links" in run("-m", "relscape", "reproduce", "list", "--json")
    (tmp_path / "t.csv").write_text("guest,dish\nAda,ramen\nBen,sushi\nAda,sushi\nCleo,ramen\nCleo,pizza\n")
    run("-m", "relscape", "coembed", "t.csv", "--rows", "guest", "--columns", "dish", "-k", "1", "-o", "m")
    assert (tmp_path / "m" / "map.json").is_file()
