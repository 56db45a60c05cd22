"""The build of the page: when it is due, by which Node.js, and a lock file that leads nowhere."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("hatchling")

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "web" / "package-lock.json"


@pytest.fixture(scope="module")
def hook():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone with sources of a page that was not built."""
    monkeypatch.delenv("RELSCAPE_SKIP_WEB", raising=False)
    (tmp_path / "web" / "src").mkdir(parents=True)
    (tmp_path / "web" / "package-lock.json").write_text("{}", encoding="utf-8")
    (tmp_path / "web" / "src" / "main.ts").write_text("let a = 1;\n", encoding="utf-8")
    return tmp_path


def stamp(hook, clone):
    static = clone / hook.STATIC
    static.mkdir(parents=True)
    (static / "index.html").write_text("built", encoding="utf-8")
    (static / hook.STAMP).write_text(hook.fingerprint(clone / "web") + "\n", encoding="utf-8")
    return static


@pytest.mark.parametrize(
    ("version", "suitable"),
    [("v20.18.3", False), ("v20.19.0", True), ("v21.7.1", False), ("v22.11.0", False), ("v22.12.0", True),
     ("v24.0.0", True), ("18.0.0", False), ("nonsense", False), ("", False)],
)  # fmt: skip
def test_versions(hook, version, suitable):
    assert hook.is_suitable(version) is suitable


def test_versions_are_those_of_the_package(hook):
    wanted = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))["engines"]["node"]
    assert wanted == "^20.19.0 || >=22.12.0"  # what is_suitable says


def test_it_is_due_once(hook, clone, monkeypatch):
    assert hook.is_due(clone)
    static = stamp(hook, clone)
    assert not hook.is_due(clone)
    (clone / "web" / "src" / "main.ts").write_bytes(b"let a = 1;\r\n")
    assert not hook.is_due(clone)  # line ends do not count
    (clone / "web" / "src" / "main.ts").write_text("let a = 2;\n", encoding="utf-8")
    assert hook.is_due(clone)
    monkeypatch.setenv("RELSCAPE_SKIP_WEB", "1")
    assert not hook.is_due(clone)
    monkeypatch.delenv("RELSCAPE_SKIP_WEB")
    (static / "index.html").unlink()
    assert hook.is_due(clone)
    (clone / "web" / "package-lock.json").unlink()
    assert not hook.is_due(clone)


def test_names_of_files_count(hook, clone):
    before = hook.fingerprint(clone / "web")
    (clone / "web" / "src" / "main.ts").rename(clone / "web" / "src" / "other.ts")
    assert hook.fingerprint(clone / "web") != before


def test_node_from_pypi_is_asked_for_only_where_it_is_needed(hook, clone, monkeypatch):
    made = hook.PageHook(str(clone), {}, None, None, "", "wheel")
    monkeypatch.setattr(hook.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(hook, "node_on_path", lambda: None)
    assert made.dependencies() == [hook.NODE_FROM_PYPI]
    monkeypatch.setattr(hook.platform, "machine", lambda: "riscv64")
    assert made.dependencies() == []
    monkeypatch.setattr(hook.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(hook, "node_on_path", lambda: ("node", ["npm"]))
    assert made.dependencies() == []
    monkeypatch.setattr(hook, "node_on_path", lambda: None)
    stamp(hook, clone)
    assert made.dependencies() == []


def test_what_cannot_be_built_is_told(hook, clone, monkeypatch):
    told = []
    made = hook.PageHook(str(clone), {}, None, None, "", "wheel")
    monkeypatch.setattr(type(made), "app", SimpleNamespace(display_warning=told.append))
    monkeypatch.setattr(hook, "node_on_path", lambda: None)
    monkeypatch.setattr(hook, "node_from_pypi", lambda: None)
    made.initialize("standard", {})
    monkeypatch.setattr(hook, "node_from_pypi", lambda: ("/no/such/node", ["/no/such/npm"]))
    made.initialize("standard", {})

    def refused(*_, **__):
        raise subprocess.CalledProcessError(1, "npm", stderr="npm error network\n")

    monkeypatch.setattr(hook.subprocess, "run", refused)
    made.initialize("standard", {})
    assert "no Node.js here" in told[0]
    assert "No such file" in told[1]
    assert told[2].endswith("npm error network")
    assert not (clone / hook.STATIC).exists()


def test_the_lock_file_has_no_addresses_and_all_platforms():
    lock = json.loads(LOCK.read_text(encoding="utf-8"))
    assert not re.findall(r'"resolved"|://(?!opencollective|github\.com|tidelift)', json.dumps(
        {name: {k: v for k, v in part.items() if k != "funding"} for name, part in lock["packages"].items()}
    ))  # fmt: skip
    for name, part in lock["packages"].items():
        if name and not part.get("link"):
            assert part["integrity"].startswith("sha512-"), name
    names = " ".join(lock["packages"])
    for system in (
        "linux-x64-gnu",
        "linux-arm64-gnu",
        "linux-x64-musl",
        "darwin-arm64",
        "darwin-x64",
        "win32-x64",
    ):
        assert system in names, system
