"""Measuring a piece of work in a process of its own: wall time, processor time, memory above the start."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Measure:
    """What one piece of work cost, or why it could not be done."""

    wall: float = float("nan")
    cpu: float = float("nan")
    memory_mb: float = float("nan")
    note: str = ""


def measured(prepare: Callable[[], Callable[[], str]]) -> Measure:
    """Prepare, then time the work that is returned; memory counts from when all is prepared."""
    work = prepare()
    before = _peak_mb()
    wall, cpu = time.perf_counter(), time.process_time()
    note = work()
    return Measure(time.perf_counter() - wall, time.process_time() - cpu, _peak_mb() - before, note)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_own_process(module: str, case: str, folder: Path, limit: int = 900) -> Measure:
    """Run one case of a benchmark module in a fresh interpreter and read back what it measured."""
    command = [sys.executable, "-W", "ignore", "-m", module, case, str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=os.environ)
    except subprocess.TimeoutExpired:
        return Measure(note=f"not finished in {limit} s")
    if done.returncode != 0:
        reason = (
            done.stderr.strip().splitlines()[-1][:90] if done.stderr.strip() else "killed, out of memory?"
        )
        return Measure(note=f"fails: {reason}")
    return Measure(**json.loads(done.stdout.splitlines()[-1]))


def report(measure: Measure) -> None:
    """Print a measure for the parent process."""
    print(json.dumps(asdict(measure)))


def show(title: str, rows: dict[str, Measure], reference: str) -> None:
    """Print a table with the ratio of every time to that of a reference, and keep it as JSON."""
    base = rows[reference].wall
    print(f"\n{title}\n{'':34}{'wall s':>9}{'ratio':>8}{'cpu s':>9}{'MB more':>9}  note")
    for name, row in rows.items():
        print(f"{name:34}{row.wall:9.2f}{row.wall / base:8.2f}{row.cpu:9.2f}{row.memory_mb:9.0f}  {row.note}")
    RESULTS.mkdir(exist_ok=True)
    content = {"title": title, "reference": reference, "rows": {n: asdict(r) for n, r in rows.items()}}
    name = title.split(":")[0].replace(" ", "-").lower()
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
