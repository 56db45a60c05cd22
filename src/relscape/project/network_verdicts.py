"""The rules for what was claimed of document networks; they were written before any of the tables was seen.

Where there are two rows of DocumentNetwork, the rules look at the one with the thesis' settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relscape.project.judgement import ALIKE, UNTESTED, Judgement, outcome_of
from relscape.project.network_measures import TEST, TRAIN
from relscape.project.outcome import Record, by_place

__all__ = ["RULES"]

PROPOSED, CONTENTS, LINKS = "DocumentNetwork", "ContentOnly", "LinkOnly"
SIX = (CONTENTS, LINKS, "CESNA", "SPML", "RTM", PROPOSED)
HALF = 0.5  # what rounding to whole ranks forgives
SAME = 0.02  # of a rank that does not depend on the split
TEST_SHARE = 0.1
CHANCE = 0.8  # of the middle of all documents: no better than this is chance
BY_HEART = 5.0  # times as far down as the training links
PUBLISHED = {
    "links": {"citeseer": 343.0, "cora": 358.0, "webkb": 93.0},
    "documents": {"citeseer": 351.0, "cora": 475.0, "webkb": 105.0},
}
COSINES = {"citeseer": (370.0, 356.0), "cora": (526.0, 480.0), "webkb": (186.0, 204.0)}

Ranks = dict[str, dict[str, float]]


def _ranks(records: list[Record], measure: str = TEST) -> Ranks:
    """Give a measure by set and method."""
    return {str(place[0]): values for place, values in by_place(records, ("set",), measure).items()}


def _reaches(held_out: str) -> Callable[[list[Record]], Judgement]:
    """Tell whether the mean test rank is the published one or lower on all three sets, to its digits."""

    def rule(records: list[Record]) -> Judgement:
        wanted, ranks = PUBLISHED[held_out], _ranks(records)
        if not all(PROPOSED in ranks.get(name, {}) for name in wanted):
            return UNTESTED, "DocumentNetwork was not fitted on all three sets"
        reached = all(ranks[name][PROPOSED] < rank + HALF for name, rank in wanted.items())
        told = [f"{name} {_versions(ranks[name])} (published {rank:g})" for name, rank in wanted.items()]
        return outcome_of(reached), "; ".join(told)

    return rule


def _lowest(records: list[Record]) -> Judgement:
    """Tell whether DocumentNetwork has the lowest mean test rank of the six on every set."""
    ranks = _ranks(records)
    if not all(set(SIX) <= set(values) for values in ranks.values()):
        return UNTESTED, "not all six methods were fitted"
    first = {name: min(SIX, key=lambda method: values[method]) for name, values in ranks.items()}
    told = [f"{name}: {_listed({m: ranks[name][m] for m in SIX})}" for name in first]
    return outcome_of(all(method == PROPOSED for method in first.values())), "; ".join(told)


def _better_than(*rivals: str) -> Callable[[list[Record]], Judgement]:
    """Tell whether DocumentNetwork has a lower mean test rank than some on every set."""

    def rule(records: list[Record]) -> Judgement:
        ranks = _ranks(records)
        if not all({PROPOSED, *rivals} <= set(values) for values in ranks.values()):
            return UNTESTED, f"DocumentNetwork or {' or '.join(rivals)} was not fitted"
        reached = all(values[PROPOSED] < min(values[m] for m in rivals) for values in ranks.values())
        told = [f"{name}: {_listed({m: v[m] for m in (*rivals, PROPOSED)})}" for name, v in ranks.items()]
        return outcome_of(reached), "; ".join(told)

    return rule


def _cosines(records: list[Record]) -> Judgement:
    """N4: over train and test links together, which no split changes, ranks differ by at most 2 %."""
    train, test = _ranks(records, TRAIN), _ranks(records)
    if not all(CONTENTS in train.get(name, {}) for name in COSINES):
        return UNTESTED, "Content Only was not fitted on all three sets"
    told, reached = [], True
    for name, (of_train, of_test) in COSINES.items():
        ours = _together(train[name][CONTENTS], test[name][CONTENTS])
        published = _together(of_train, of_test)
        reached &= abs(ours - published) <= SAME * published
        told.append(
            f"{name} {train[name][CONTENTS]:.1f} / {test[name][CONTENTS]:.1f}, together {ours:.1f} "
            f"(published {of_train:g} / {of_test:g}, {published:.1f})"
        )
    return outcome_of(reached), "; ".join(told)


def _together(train: float, test: float) -> float:
    return (1.0 - TEST_SHARE) * train + TEST_SHARE * test


def _by_heart(records: list[Record]) -> Judgement:
    """N5: on every set test links of Link Only lie at least five times as far down as its training links.

    Published are nine times on WebKB, 60 to 160 times on the others.
    """
    train, test = _ranks(records, TRAIN), _ranks(records)
    if not all(LINKS in values for values in train.values()):
        return UNTESTED, "Link Only was not fitted"
    told = [f"{name} {train[name][LINKS]:.1f} / {test[name][LINKS]:.1f}" for name in train]
    reached = all(test[name][LINKS] >= BY_HEART * train[name][LINKS] for name in train)
    return outcome_of(reached), "train / test: " + "; ".join(told)


def _chance(records: list[Record]) -> Judgement:
    """N9: on every set the test rank of Link Only is at least 80 % of the middle of all documents."""
    own = [record for record in records if record["method"] == LINKS]
    if not own:
        return UNTESTED, "Link Only was not fitted"
    middles = {record["set"]: record["chosen"]["documents"] / 2 for record in own}
    told = [f"{r['set']} {r[TEST]:.0f} (middle {middles[r['set']]:.0f})" for r in own]
    return outcome_of(all(r[TEST] >= CHANCE * middles[r["set"]] for r in own)), "; ".join(told)


def _axes(records: list[Record]) -> Judgement:
    """N10: on every set 20 axes are better than 2, and 50 are within 10 % of 20 or better."""
    return _curve(
        records,
        "n_components",
        {2.0, 20.0, 50.0},
        lambda ranks: ranks[20.0] < ranks[2.0] and ranks[50.0] <= (1 + ALIKE) * ranks[20.0],
    )


def _margins(records: list[Record]) -> Judgement:
    """N11: for γ* of 1, 2 and 5 ranks are within 10 %, and at both ends worse than the best of them."""

    def holds(ranks: Mapping[float, float]) -> bool:
        inner = [ranks[at] for at in (1.0, 2.0, 5.0)]
        ends = [ranks[min(ranks)], ranks[max(ranks)]]
        return max(inner) <= (1 + ALIKE) * min(inner) and min(ends) > min(inner)

    return _curve(records, "margin", {0.2, 1.0, 2.0, 5.0, 50.0}, holds)


def _weights(records: list[Record]) -> Judgement:
    """N12: the best λ is between 0.1 and 1, and 0 and the largest are worse."""
    return _curve(
        records,
        "content_weight",
        {0.0, 0.5, 10.0},
        lambda ranks: 0.1 <= min(ranks, key=lambda at: ranks[at]) <= 1.0,
    )


def _curve(
    records: list[Record],
    varied: str,
    needed: set[float],
    holds: Callable[[Mapping[float, float]], bool],
) -> Judgement:
    """Apply a rule to the curve of every set."""
    curves: dict[str, dict[float, float]] = {}
    for record in records:
        if record["varied"] == varied:
            curves.setdefault(record["set"], {})[record["value"]] = record[TEST]
    told = "; ".join(
        f"{name}: " + ", ".join(f"{at:g} → {rank:.1f}" for at, rank in sorted(ranks.items()))
        for name, ranks in curves.items()
    )
    if not curves or not all(needed <= set(ranks) for ranks in curves.values()):
        return UNTESTED, f"the values tried do not decide it ({told or 'none'})"
    return outcome_of(all(holds(ranks) for ranks in curves.values())), told


RULES: Mapping[str, Callable[[list[Record]], Judgement]] = {
    "N1": _reaches("links"),
    "N2": _lowest,
    "N3": _better_than(CONTENTS, LINKS),
    "N4": _cosines,
    "N5": _by_heart,
    "N6": _reaches("documents"),
    "N7": _lowest,
    "N8": _better_than(CONTENTS),
    "N9": _chance,
    "N10": _axes,
    "N11": _margins,
    "N12": _weights,
    "N13": _better_than(CONTENTS, LINKS),
    "N14": _better_than("popularity"),
}


def _versions(ranks: Mapping[str, float]) -> str:
    """List DocumentNetwork by all settings it was fitted with."""
    own = [
        f"{rank:.1f}" + name.removeprefix(PROPOSED)
        for name, rank in ranks.items()
        if name.startswith(PROPOSED)
    ]
    return " and ".join(own)


def _listed(ranks: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {rank:.1f}" for name, rank in ranks.items())
