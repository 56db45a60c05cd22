"""What everybody waits for: importing relscape, and the command line's shortest answers.

Each is a fresh process with warm files, the median of five. The budget of an import is one second.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.budgets import judge

REPEATS = 5
COMMANDS = {
    "python alone": [sys.executable, "-c", "pass"],
    "import relscape": [sys.executable, "-c", "import relscape"],
    "relscape --version": [sys.executable, "-m", "relscape", "--version"],
    "relscape --help": [sys.executable, "-m", "relscape", "--help"],
}


def seconds(command: list[str]) -> float:
    """Time a command, the first run left out."""
    times = []
    for _ in range(REPEATS + 1):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def main() -> None:
    """Time all of them."""
    found = {name: seconds(command) for name, command in COMMANDS.items()}
    print("\nStart of a process")
    for name, time_taken in found.items():
        print(f"{name:24}{time_taken:8.2f} s")
    judge("import relscape", found["import relscape"])
