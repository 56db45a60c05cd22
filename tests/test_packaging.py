"""The built package: it holds what it needs, installs alone, and its commands start."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


WITHOUT_PAGE = {"RELSCAPE_SKIP_WEB": "1"}  # of the explorer, which has tests of its own


def built(kind: str, folder: Path) -> Path:
    """Build a distribution as pip does."""
    pytest.importorskip("hatchling")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, **WITHOUT_PAGE},
        capture_output=True,
        check=True,
    )
    (distribution,) = folder.iterdir()
    return distribution


def installed(distribution: Path, target: Path, *options: str) -> Callable[..., str]:
    """Install a distribution alone; gives a function that runs Python with it, outside the sources."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", *options]
    environment = {**os.environ, **WITHOUT_PAGE, "PYTHONPATH": str(target)}
    subprocess.run(
        [*pip, "--target", str(target), str(distribution)], env=environment, check=True, capture_output=True
    )

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=target.parent,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert str(target) in run("-c", "import relscape; print(relscape.__file__)")
    return run


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("dist"))


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
    run = installed(wheel, tmp_path / "site")
    assert run("-m", "relscape", "--version").startswith("relscape ")
    assert "coembed-links" in run("-m", "relscape", "reproduce", "list", "--json")
    (tmp_path / "t.csv").write_text("guest,dish\nAda,ramen\nBen,sushi\nAda,sushi\nCleo,ramen\nCleo,pizza\n")
    run("-m", "relscape", "coembed", "t.csv", "--rows", "guest", "--columns", "dish", "-k", "1", "-o", "m")
    assert (tmp_path / "m" / "map.json").is_file()


def test_source_distribution_holds_all_and_installs(tmp_path):
    (tmp_path / "dist").mkdir()
    source = built("sdist", tmp_path / "dist")
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("pyproject.toml", "hatch_build.py", "Makefile", "web/package-lock.json", "docs/start.md"):
        assert needed in held
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert sources <= held
    assert not [name for name in held if "node_modules" in name or name.startswith(".venv")]
    run = installed(source, tmp_path / "site", "--no-build-isolation")
    assert run("-m", "relscape", "--version").startswith("relscape ")
