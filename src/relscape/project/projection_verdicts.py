"""The rules for what was claimed of guided projections.

They were written before any of the tables was seen, but for one: what is satisfied (P1 to P4) was first
judged on maps whose settings were chosen by NDCG, and is now judged on maps whose settings were chosen, of
all methods alike, by what is satisfied. The tables show both.

The proposed method is the one with the paper's constraint ("reference"), and "reference + …" has further
guidance. CCA stands here twice, with hardly any ridge and with one that is chosen like that of the proposed
method; the claims are held against the better of both. "Better" is a mean difference over the same splits of
more than two standard errors. Where there is one split, any difference counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from statistics import fmean, stdev

from relscape.project.judgement import ALIKE, UNTESTED, Judgement, outcome_of
from relscape.project.outcome import Record
from relscape.project.projection_measures import CHOSEN, HALF, NDCG, SATISFIED, rand

__all__ = ["RULES"]

OURS, RIVALS, GUESS = "reference", ("CCA", "ridge CCA"), "Guess"
CLUSTERS = (2, 5, 10)
MOST_SATISFIED = 0.9
LEVEL = 0.01  # a difference of shares that counts as none
CLOSE = 0.99  # of one's own best
ONE_SECOND = 1.0
SIMILAR, BOTH = "similar only", "similar and dissimilar"

Methods = dict[str, Record]


def _sets(records: list[Record], smallest: bool = False) -> dict[str, Methods]:
    """Give the records of every set by method, with all training things or, of several parts, the fewest."""
    sizes: dict[str, set[int]] = {}
    for record in records:
        sizes.setdefault(record["set"], set()).add(record["training"])
    chosen = {n: min(s) if smallest else max(s) for n, s in sizes.items() if not smallest or len(s) > 1}
    found: dict[str, Methods] = {name: {} for name in chosen}
    for record in records:
        if chosen.get(record["set"]) == record["training"]:
            found[record["set"]][record["method"]] = record
    return found


def _further(methods: Methods) -> list[str]:
    return [name for name in methods if name.startswith(f"{OURS} + ")]


def _gain(first: Record, second: Record, measure: str) -> tuple[float, float]:
    """Give the mean difference of two methods over the same splits, and two standard errors of it."""
    pairs = zip(first["chosen"]["values"][measure], second["chosen"]["values"][measure], strict=True)
    differences = [one - other for one, other in pairs]
    error = stdev(differences) / sqrt(len(differences)) if len(differences) > 1 else 0.0
    return fmean(differences), 2.0 * error


def _better(first: Record, second: Record, measure: str) -> bool:
    gain, error = _gain(first, second, measure)
    return gain > error


def _rival(methods: Methods, measure: str) -> str:
    return max(RIVALS, key=lambda name: float(methods[name][measure]))


def _complete(methods: Methods, measure: str) -> Methods:
    """Keep the methods that have a measure of all splits: those left unfinished cannot be compared."""
    counts = {name: len(record["chosen"]["values"].get(measure, ())) for name, record in methods.items()}
    most = max(counts.values(), default=0)
    return {name: record for name, record in methods.items() if counts[name] == most > 0}


def _judged(
    records: list[Record],
    measure: str,
    needed: Callable[[Methods], bool],
    rule: Callable[[Methods], tuple[bool, str]],
) -> Judgement:
    """Apply a rule to every set that has what it needs; it must hold on all of them."""
    sets = {name: _complete(methods, measure) for name, methods in _sets(records).items()}
    found = {name: rule(methods) for name, methods in sets.items() if needed(methods)}
    if not found:
        return UNTESTED, "the methods it compares were not fitted"
    told = "; ".join(f"{name}: {text}" for name, (_, text) in found.items())
    return outcome_of(all(reached for reached, _ in found.values())), told


def _compared(methods: Methods) -> bool:
    return {OURS, *RIVALS} <= set(methods)


def _extended(methods: Methods) -> bool:
    return OURS in methods and bool(_further(methods))


def _told(methods: Methods, measure: str, names: list[str]) -> str:
    return ", ".join(f"{name} {methods[name][measure]:.3f}" for name in names if measure in methods[name])


def _half(records: list[Record]) -> Judgement:
    """P1: with and without further guidance, more than 90 % in the closest half."""
    measure = CHOSEN + HALF["train"]

    def rule(methods: Methods) -> tuple[bool, str]:
        own = [OURS, *_further(methods)]
        reached = all(methods[name][measure] > MOST_SATISFIED for name in own)
        return reached, _told(methods, measure, own)

    return _judged(records, measure, lambda methods: OURS in methods, rule)


def _beats(measure: str) -> Callable[[list[Record]], Judgement]:
    """P2, P3, P5: better than the better CCA."""

    def rule(methods: Methods) -> tuple[bool, str]:
        rival = methods[_rival(methods, measure)]
        names = [OURS, *RIVALS, *(name for name in (GUESS,) if name in methods)]
        beaten = [name for name in RIVALS if _better(methods[OURS], methods[name], measure)]
        told = f"{_told(methods, measure, names)} (better than {' and '.join(beaten) or 'neither CCA'})"
        return _better(methods[OURS], rival, measure), told

    return lambda records: _judged(records, measure, _compared, rule)


def _unharmed(records: list[Record]) -> Judgement:
    """P4: further guidance costs at most 0.01 of what is satisfied in training."""
    measure = CHOSEN + SATISFIED["train"]

    def rule(methods: Methods) -> tuple[bool, str]:
        own = methods[OURS][measure]
        reached = all(methods[name][measure] >= own - LEVEL for name in _further(methods))
        return reached, _told(methods, measure, [OURS, *_further(methods)])

    return _judged(records, measure, _extended, rule)


def _fewer(records: list[Record]) -> Judgement:
    """P6: the better CCA's NDCG is reached with fewer axes than it needs itself to come within 1 % of it."""

    def rule(methods: Methods) -> tuple[bool, str]:
        rival = _rival(methods, NDCG)
        aim = methods[rival][NDCG]
        ours = _least_axes(methods[OURS], aim)
        theirs = _least_axes(methods[rival], CLOSE * aim)
        reached = ours is not None and theirs is not None and ours < theirs
        return reached, f"{OURS} {'never' if ours is None else f'with {ours}'}, {rival} with {theirs}"

    return _judged(records, NDCG, _compared, rule)


def _least_axes(record: Record, aim: float) -> int | None:
    """Find the least number of axes allowed with which an NDCG is reached."""
    curve = {int(name[2:]): value for name, value in record.items() if name.startswith("≤ ")}
    return min((most for most, value in curve.items() if value >= aim), default=None)


def _alike(records: list[Record]) -> Judgement:
    """P7: with the fewest training things the NDCG of all methods is within 10 %."""
    found = {
        name: {m: float(methods[m][NDCG]) for m in (OURS, *RIVALS, GUESS) if m in methods}
        for name, methods in _sets(records, smallest=True).items()
    }
    found = {name: values for name, values in found.items() if len(values) == len(RIVALS) + 2}
    if not found:
        return UNTESTED, "there is one size of training only, or a method is missing"
    told = "; ".join(
        f"{name}: " + ", ".join(f"{m} {value:.3f}" for m, value in values.items())
        for name, values in found.items()
    )
    reached = all(max(v.values()) <= (1 + ALIKE) * min(v.values()) for v in found.values())
    return outcome_of(reached), told


def _slight(records: list[Record]) -> Judgement:
    """P8: the better CCA is above Guess, by at most 10 %."""

    def rule(methods: Methods) -> tuple[bool, str]:
        rival, guess = methods[_rival(methods, NDCG)][NDCG], methods[GUESS][NDCG]
        return guess < rival <= (1 + ALIKE) * guess, _told(methods, NDCG, [*RIVALS, GUESS])

    return _judged(records, NDCG, lambda methods: {*RIVALS, GUESS} <= set(methods), rule)


def _helped(records: list[Record]) -> Judgement:
    """P9: all further guidance makes the NDCG better."""

    def rule(methods: Methods) -> tuple[bool, str]:
        reached = all(_better(methods[name], methods[OURS], NDCG) for name in _further(methods))
        return reached, _told(methods, NDCG, [OURS, *_further(methods)])

    return _judged(records, NDCG, _extended, rule)


def _clusters(records: list[Record]) -> Judgement:
    """P10: for every number of clusters the Rand index is at most 0.01 below the better CCA's."""

    def rule(methods: Methods) -> tuple[bool, str]:
        measures = [rand(n)[0] for n in CLUSTERS]
        reached = all(
            methods[OURS][measure] >= methods[_rival(methods, measure)][measure] - LEVEL
            for measure in measures
        )
        return reached, " / ".join(f"{m}: {_told(methods, m, [OURS, *RIVALS])}" for m in measures)

    return _judged(records, rand(CLUSTERS[-1])[0], _compared, rule)


def _clusters_helped(records: list[Record]) -> Judgement:
    """P11: all further guidance makes the Rand index better for every number of clusters."""

    def rule(methods: Methods) -> tuple[bool, str]:
        measures = [rand(n)[0] for n in CLUSTERS]
        reached = all(
            _better(methods[name], methods[OURS], measure)
            for name in _further(methods)
            for measure in measures
        )
        names = [OURS, *_further(methods)]
        return reached, " / ".join(f"{m}: {_told(methods, m, names)}" for m in measures)

    return _judged(records, rand(CLUSTERS[-1])[0], _extended, rule)


def _quick(records: list[Record]) -> Judgement:
    """P12: one fit takes less than a second of processor time, on one core."""

    def rule(methods: Methods) -> tuple[bool, str]:
        own = [OURS, *_further(methods)]
        reached = all(methods[name]["CPU seconds"] < ONE_SECOND for name in own)
        return reached, _told(methods, "CPU seconds", own)

    return _judged(records, NDCG, lambda methods: OURS in methods, rule)


def _apart(records: list[Record]) -> Judgement:
    """P13: with two axes, test things of the two tags are told apart better where these are dissimilar."""
    found = {record["method"]: record for record in records if record["axes"] == 2}
    if not {SIMILAR, BOTH} <= set(found):
        return UNTESTED, "there are no maps of two axes by both methods"
    told = [
        f"{r['axes']} axes, {r['method']}: told apart {r['told apart']:.3f}, NDCG {r[NDCG]:.3f}"
        for r in records
    ]
    return outcome_of(_better(found[BOTH], found[SIMILAR], "told apart")), "; ".join(told)


RULES: Mapping[str, Callable[[list[Record]], Judgement]] = {
    "P1": _half,
    "P2": _beats(CHOSEN + SATISFIED["train"]),
    "P3": _beats(CHOSEN + SATISFIED["test"]),
    "P4": _unharmed,
    "P5": _beats(NDCG),
    "P6": _fewer,
    "P7": _alike,
    "P8": _slight,
    "P9": _helped,
    "P10": _clusters,
    "P11": _clusters_helped,
    "P12": _quick,
    "P13": _apart,
}
