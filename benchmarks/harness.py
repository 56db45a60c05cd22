"""Measuring a piece of work in a process of its own: wall time, processor time, memory above the start."""

from __future__ import annotations

import cProfile
import gc
import io
import json
import os
import pstats
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
REPEATS = 3
OURS = "relscape"  # in the names of cases that are ours, which are profiled too


@dataclass(frozen=True)
class Measure:
    """What one piece of work cost, or why it could not be done."""

    wall: float = float("nan")
    cpu: float = float("nan")
    memory_mb: float = float("nan")
    note: str = ""


def measured(prepare: Callable[[], Callable[[], str]]) -> Measure:
    """Prepare, then do the returned work several times: median time, and memory above the start.

    The kernel's record of the largest memory is reset when all is prepared, so that what
    preparation freed does not hide what the work takes.
    """
    work = prepare()
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = _status_mb("VmRSS")
    times = []
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        note = work()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = sorted(times)[len(times) // 2]
    found = Measure(wall, cpu, _status_mb("VmHWM") - before, note)
    if OURS in sys.argv[1] and REPEATS > 1:
        _profile(work, sys.argv[1])
    return found


def profile_of(case: str) -> Path:
    """Name the file that tells where the time of a case goes."""
    return RESULTS / f"profile-{re.sub(r'[^a-z0-9]+', '-', case.lower())}.txt"


def _profile(work: Callable[[], str], case: str) -> None:
    """Do the work once more, and keep which functions took its time."""
    profile = cProfile.Profile()
    profile.runcall(work)
    text = io.StringIO()
    pstats.Stats(profile, stream=text).strip_dirs().sort_stats("cumulative").print_stats(25)
    RESULTS.mkdir(exist_ok=True)
    profile_of(case).write_text(text.getvalue())


def _status_mb(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(name))) / 1024


def in_own_process(module: str, case: str, folder: Path, limit: int = 900) -> Measure:
    """Run one case of a benchmark module in a fresh interpreter and read back what it measured."""
    command = [sys.executable, "-W", "ignore", "-m", module, case, str(folder)]
    threads = {f"{library}_NUM_THREADS": str(os.cpu_count()) for library in ("OMP", "OPENBLAS", "NUMBA")}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env={**os.environ, **threads}
        )
    except subprocess.TimeoutExpired:
        return Measure(note=f"not finished in {limit} s")
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return Measure(note=f"fails: {lines[-1][:90] if lines else 'killed, out of memory?'}")
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
    _kept(title).write_text(json.dumps(content, indent=1) + "\n")


def shown(title: str) -> dict[str, Measure]:
    """Give the rows of a table as they were last shown; none where it never was."""
    if not _kept(title).exists():
        return {}
    return {name: Measure(**row) for name, row in json.loads(_kept(title).read_text())["rows"].items()}


def _kept(title: str) -> Path:
    return RESULTS / f"{title.split(':')[0].replace(' ', '-').lower()}.json"
