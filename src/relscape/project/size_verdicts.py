"""The rules for what was printed of data sets: their sizes, and facts that are told twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relscape.project.judgement import UNTESTED, Judgement, outcome_of
from relscape.project.outcome import Record
from relscape.project.sizes import COUNTED

__all__ = ["PUBLISHED", "RULES"]

PUBLISHED: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "graphs": {
        "wn18": {
            "relations": 18,
            "entities": 40943,
            "training triples": 141442,
            "validation triples": 5000,
            "test triples": 5000,
        },
        "fb15k": {
            "relations": 1345,
            "entities": 14951,
            "training triples": 483142,
            "validation triples": 50000,
            "test triples": 59071,
            "reciprocal": 4336,
            "reverse": 41481,
        },
    },
    "networks": {
        "cora": {"documents": 2708, "links": 5429, "words": 1432},
        "citeseer": {"documents": 3312, "links": 4591, "words": 3703},
        "webkb": {"documents": 877, "links": 1516, "words": 1703},
    },
}


def _sizes(kind: str) -> Callable[[list[Record]], Judgement]:
    """Tell whether every count of every set is the printed one."""

    def rule(records: list[Record]) -> Judgement:
        counted = {record["set"]: record for record in records if record["method"] == COUNTED}
        wanted = PUBLISHED[kind]
        missing = [name for name in wanted if name not in counted]
        if missing:
            return UNTESTED, f"not counted: {', '.join(missing)}"
        other = [
            f"{name}: {measure} {counted[name][measure]:,} for {size:,}"
            for name, sizes in wanted.items()
            for measure, size in sizes.items()
            if counted[name][measure] != size
        ]
        n = sum(len(sizes) for sizes in wanted.values())
        told = "; ".join(other) or f"all of {', '.join(wanted)}"
        return outcome_of(not other), f"{n - len(other)} of {n} counts are the printed ones: {told}"

    return rule


def _twice(records: list[Record]) -> Judgement:
    """K11: both facts of every example are in the data, whatever the split."""
    examples = [record for record in records if record["method"] != COUNTED]
    if not examples:
        return UNTESTED, "no example was looked up"
    missing = [record["method"] for record in examples if not record["chosen"]["found"]]
    told = "; ".join(
        f"{r['method']} in {' and '.join(r['chosen']['found']) or 'no split'}, {r['told reversed']} of "
        f"{r['triples']} triples of its relation told reversed"
        for r in examples
    )
    return outcome_of(not missing), told


RULES: Mapping[str, Callable[[list[Record]], Judgement]] = {
    "K10": _sizes("graphs"),
    "K11": _twice,
    "N15": _sizes("networks"),
}
