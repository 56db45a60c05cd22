"""The budgets of the design, judged: every benchmark says here what it measured, and one table tells all.

Judgements are kept in ``results/budgets.json`` by name, so that benchmarks may run one at a time; the table
(``results/budgets.md``) is that of the last run of each.
"""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime

import numpy as np

from benchmarks.harness import RESULTS, profile_of

FILE = RESULTS / "budgets.json"
TABLE = RESULTS / "budgets.md"


def judge(what: str, measured: float, budget: float, unit: str, at_least: bool = False) -> bool:
    """Say whether what was measured keeps its budget, and keep the judgement."""
    met = bool(measured >= budget if at_least else measured <= budget)
    bound = "at least" if at_least else "at most"
    print(f"{what}: {measured:.3g} {unit} ({bound} {budget:.3g}: {'met' if met else 'missed'})")
    if not np.isnan(measured):
        RESULTS.mkdir(exist_ok=True)
        day = datetime.now(UTC).date().isoformat()
        entry = {
            "measured": measured,
            "budget": f"{bound} {budget:.3g}",
            "unit": unit,
            "met": met,
            "day": day,
        }
        FILE.write_text(json.dumps({**kept(), what: entry}, indent=1, ensure_ascii=False) + "\n")
    return met


def kept() -> dict[str, dict[str, object]]:
    """Read the judgements made so far."""
    found: dict[str, dict[str, object]] = json.loads(FILE.read_text()) if FILE.is_file() else {}
    return found


def write_table() -> None:
    """Write and print the table of all judgements."""
    lines = [
        f"Python {platform.python_version()}, {platform.machine()}",
        "",
        "| what | measured | budget | | day |",
        "| --- | ---: | ---: | --- | --- |",
    ]
    for what, entry in sorted(kept().items()):
        verdict = "met" if entry["met"] else "**missed**"
        measured = f"{entry['measured']:.3g} {entry['unit']}"
        lines.append(f"| {what} | {measured} | {entry['budget']} | {verdict} | {entry['day']} |")
    TABLE.write_text("\n".join(lines) + "\n")
    print("\nBudgets\n" + "\n".join(lines) + f"\n\nwritten to {TABLE}")


def tell_slowest() -> None:
    """Say which of our own cases took longest, and where its time goes."""
    timed = {
        name: row["wall"]
        for file in RESULTS.glob("*.json")
        for name, row in json.loads(file.read_text()).get("rows", {}).items()
        if profile_of(name).is_file()
    }
    if timed:
        slowest = max(timed, key=timed.__getitem__)
        print(f"\nSlowest of our own, {timed[slowest]:.1f} s: {slowest} ({profile_of(slowest)})")
        print("\n".join(profile_of(slowest).read_text().splitlines()[:20]))
