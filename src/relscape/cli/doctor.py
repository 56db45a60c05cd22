"""``relscape doctor``: what is installed here and whether it works."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from relscape.cli.console import print_json, print_table, say

if TYPE_CHECKING:
    from relscape.maps import Map

__all__ = ["doctor"]

CORE = (
    *("relscape", "numpy", "scipy", "scikit-learn", "numba", "openTSNE", "duckdb", "pyarrow", "matplotlib"),
    *("starlette", "uvicorn"),
)
EXTRAS = {
    "anndata": "anndata",
    "distributed": "distributed",
    "excel": "python-calamine",
    "networkx": "networkx",
    "postgres": "adbc-driver-postgresql",
    "rdf": "pyoxigraph",
}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Tell what is installed, and try the parts that tend to be broken."""
    from relscape import datasets
    from relscape.explorer.page import is_built

    packages = {name: _version(name) for name in CORE}
    extras = {f"{extra} ({package})": _version(package) for extra, package in EXTRAS.items()}
    checks = {title: _outcome(check) for title, check in CHECKS.items()}
    explorer = (
        "built" if is_built() else "not built: install relscape again, or build the folder web of a clone"
    )
    present = [info.name for info in datasets.available() if info.present]
    healthy = all(outcome == "works" for outcome in checks.values()) and None not in packages.values()
    if as_json:
        print_json(
            {
                "python": sys.version.split()[0],
                "platform": platform.platform(),
                "cores": os.cpu_count(),
                "packages": packages,
                "extras": extras,
                "checks": checks,
                "explorer": explorer,
                "datasets": present,
                "healthy": healthy,
            }
        )
    else:
        say(f"Python {sys.version.split()[0]} on {platform.platform()}, {os.cpu_count()} cores")
        print_table(["package", "version"], [(n, v or "missing") for n, v in packages.items()])
        print_table(["extra", "version"], [(n, v or "not installed") for n, v in extras.items()])
        print_table(["check", "outcome"], list(checks.items()))
        say(f"The explorer's page is {explorer}.")
        say(f"Data sets here: {', '.join(present)}.")
        well = "All is well." if explorer == "built" else "All is well but the explorer, which has no page."
        say(well if healthy else "Something is broken; see above.")
    if not healthy:
        raise typer.Exit(1)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _outcome(check: Callable[[], None]) -> str:
    try:
        check()
    except Exception as error:  # the doctor reports whatever a broken machine raises
        return f"fails: {type(error).__name__}: {error}"
    return "works"


def _smoking_map() -> Map:
    from relscape.datasets import load_smoking
    from relscape.models.spectral import CorrespondenceAnalysis

    return CorrespondenceAnalysis().fit(load_smoking()).to_map()


def _fit_save_and_load() -> None:
    joint = _smoking_map()
    with tempfile.TemporaryDirectory() as folder:
        loaded = joint.load(joint.save(Path(folder) / "map"))
    if not np.array_equal(loaded.coordinates(loaded.groups[0]), joint.coordinates(joint.groups[0])):
        raise ValueError("a map read back is not the map written")


def _draw() -> None:
    _smoking_map().plot()


def _compile() -> None:
    from relscape.matrix.neighbours import nearest

    points = np.arange(24.0).reshape(2, 12)  # beyond ten dimensions neighbours are found by compiled code
    if nearest(points, points, 1)[1].ravel().tolist() != [0, 1]:
        raise ValueError("compiled kernels give wrong results")


def _query() -> None:
    import duckdb

    if duckdb.sql("select 6 * 7").fetchall() != [(42,)]:
        raise ValueError("DuckDB gives wrong results")


CHECKS: dict[str, Callable[[], None]] = {
    "fit, save and load": _fit_save_and_load,
    "draw": _draw,
    "compiled kernels": _compile,
    "DuckDB": _query,
}
