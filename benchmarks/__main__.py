"""``python -m benchmarks [NAME …]``: run all benchmarks, or those named; then the table of all budgets."""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.budgets import tell_slowest, write_table

NAMES = (
    *("startup", "spectral", "mutual", "cooccurrence", "cohorts", "knowledge", "network", "projection"),
    *("explorer", "sources", "distributed"),
)

for name in sys.argv[1:] or NAMES:
    if name not in NAMES:
        sys.exit(f"no benchmark {name!r}; there are: {', '.join(NAMES)}")
    import_module(f"benchmarks.{name}").main()
write_table()
tell_slowest()
