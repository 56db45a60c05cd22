"""``python -m benchmarks [NAME …]``: run all benchmarks, or those named; then the table of all budgets.

``NAME:PART`` runs one part only: ``knowledge:training``, ``knowledge:quality`` or ``knowledge:ranking``.
"""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.budgets import tell_slowest, write_table

NAMES = (
    *("startup", "spectral", "mutual", "cooccurrence", "cohorts", "knowledge", "network", "projection"),
    *("explorer", "sources", "distributed"),
)

for asked in sys.argv[1:] or NAMES:
    name, *parts = asked.split(":")
    if name not in NAMES:
        sys.exit(f"no benchmark {name!r}; there are: {', '.join(NAMES)}")
    benchmark = import_module(f"benchmarks.{name}")
    known = getattr(benchmark, "PARTS", {})
    if not set(parts) <= set(known):
        sys.exit(f"no part {asked!r}; of {name} there are: {', '.join(known) or 'none'}")
    benchmark.main(*parts)
write_table()
tell_slowest()
