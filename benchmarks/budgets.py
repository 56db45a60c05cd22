"""The budgets of the design, judged: every benchmark says here what it measured, and one table tells all.

Judgements are kept in ``results/budgets.json`` by name, so that benchmarks may run one at a time; the table
(``results/budgets.md``) has a line for every budget, with what the last run of each measured.
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from benchmarks.harness import RESULTS, profile_of

FILE = RESULTS / "budgets.json"
TABLE = RESULTS / "budgets.md"


@dataclass(frozen=True)
class Budget:
    """What a measurement may be at most, or must be at least."""

    bound: float
    unit: str
    at_least: bool = False

    def met(self, measured: float) -> bool:
        """Say whether a measurement keeps the budget; what is not a number does not."""
        return bool(measured >= self.bound if self.at_least else measured <= self.bound)

    def __str__(self) -> str:
        return f"{'at least' if self.at_least else 'at most'} {self.bound:g} {self.unit}"


_SVDS, _MATRIX, _DENSE = "× svds", "× the matrix", "× the dense matrix"
BUDGETS = {
    "import relscape": Budget(1.0, "s"),
    "CorrespondenceAnalysis, 10⁷ nonzeros, time": Budget(1.3, _SVDS),
    "CorrespondenceAnalysis, 10⁷ nonzeros, memory": Budget(3.0, _MATRIX),
    "BipartiteSpectral, 10⁷ nonzeros, time": Budget(1.3, _SVDS),
    "BipartiteSpectral, 10⁷ nonzeros, memory": Budget(3.0, _MATRIX),
    "CoEmbedding's automatic search, time": Budget(40, "× (one decomposition + one exact Γ)"),
    "CoEmbedding's automatic search, memory": Budget(0.1, _DENSE),
    "CODE value and gradient, beside plain numpy, whole arrays": Budget(10, "× as fast", at_least=True),
    "CODE value and gradient, beside plain numpy, blocks of 500 rows": Budget(10, "× as fast", at_least=True),
    "CODE value and gradient, memory": Budget(0.1, _DENSE),
    "COVA-E1, 100,000 points": Budget(0.25, "× openTSNE"),
    "COVA-E2, 50,000 points, as many iterations": Budget(1.3, "× openTSNE"),
    "moving prototypes, 50,000 points": Budget(20, "ms"),
    "TransE, triples trained a second": Budget(30, "× PyKEEN", at_least=True),
    "TransPES, triples trained a second": Budget(0.3, "× TransE", at_least=True),
    "TransE, ranking of FB15k": Budget(3, "× the bare products"),
    "DistMult, ranking of FB15k": Budget(3, "× the bare products"),
    "TransPES, ranking of FB15k": Budget(3, "× the bare products"),
    "TransE, triples ranked a second": Budget(80, "× PyKEEN", at_least=True),
    "DistMult, triples ranked a second": Budget(80, "× PyKEEN", at_least=True),
    "TransE, memory of ranking FB15k": Budget(1_000, "MB"),
    "DistMult, memory of ranking FB15k": Budget(1_000, "MB"),
    "TransPES, memory of ranking FB15k": Budget(1_000, "MB"),
    "DocumentNetwork, one full gradient, n = 10,000, time": Budget(2.0, "× sklearn's distances"),
    "DocumentNetwork, one full gradient, n = 10,000, memory": Budget(0.1, "× all distances"),
    "explorer: median frame, 100,000 points": Budget(33.4, "ms"),
    "explorer: median frame, 1,000,000 points": Budget(500, "ms"),
    "explorer: first picture, 100,000 points": Budget(2_000, "ms"),
    "explorer: file of 50,000 samples": Budget(10, "MB"),
}


def judge(what: str, measured: float) -> bool:
    """Say whether what was measured keeps its budget, and keep the judgement; one that failed is none."""
    budget = BUDGETS[what]
    met = budget.met(measured)
    print(f"{what}: {measured:.3g} ({budget}: {'met' if met else 'missed'})")
    entries = kept()
    if np.isnan(measured):
        entries.pop(what, None)
    else:
        entries[what] = {"measured": float(measured), "day": datetime.now(UTC).date().isoformat()}
    RESULTS.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n")
    return met


def kept() -> dict[str, dict[str, object]]:
    """Read the judgements made so far."""
    found: dict[str, dict[str, object]] = json.loads(FILE.read_text()) if FILE.is_file() else {}
    return found


def table(entries: dict[str, dict[str, object]]) -> str:
    """Give a line for every budget, measured or not, as Markdown."""
    lines = ["| what | measured | budget | | day |", "| --- | ---: | ---: | --- | --- |"]
    for what, budget in BUDGETS.items():
        if what in entries:
            measured = float(str(entries[what]["measured"]))
            verdict = "met" if budget.met(measured) else "**missed**"
            lines.append(f"| {what} | {measured:.3g} | {budget} | {verdict} | {entries[what]['day']} |")
        else:
            lines.append(f"| {what} | | {budget} | not measured | |")
    return "\n".join(lines) + "\n"


def write_table() -> None:
    """Write and print the table of all budgets."""
    text = f"Python {platform.python_version()}, {platform.machine()}\n\n{table(kept())}"
    RESULTS.mkdir(exist_ok=True)
    TABLE.write_text(text)
    print(f"\nBudgets\n{text}\nwritten to {TABLE}")


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
