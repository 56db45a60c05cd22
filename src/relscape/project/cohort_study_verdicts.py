"""The rules for what was claimed in the studies of COVA."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from relscape.project.cohort_cost_verdicts import COST_RULES
from relscape.project.cohort_fitting import LINKS, NEIGHBOURS, POSITION, SEPARATION
from relscape.project.cohort_graphs import KEPT, SHOWN
from relscape.project.cohort_study_labels import GIVEN
from relscape.project.cohort_study_projections import CLASSES, TRAINING
from relscape.project.cohort_study_prototypes import ARRANGED, RANDOM, SAMPLES
from relscape.project.cohort_study_sets import DIVERGENCE, FULL, GAINED
from relscape.project.cohort_study_weights import EIGEN, NONE
from relscape.project.judgement import ALIKE, MOST, UNTESTED, Judgement, outcome_of
from relscape.project.outcome import Record, by_place, methods_in

__all__ = ["RULES"]

NEARLY_ALL = 90.0  # percent of links
CLOSE = 5.0  # points of percent that "positions follow" may lose
LAST = 0.9  # the largest η of the publication
LOW = 0.5  # "very low": below this part of the best


# ---------------------------------------------------------------------- prototypes


def _ways(records: list[Record]) -> Judgement:
    """VP1: mean share of links kept: SNE at least t-SNE, and both above LE and MDS."""
    kept = by_place(_arranged(records), ("set", "relation"), KEPT)
    ways = [way for way in ("sne", "tsne", "laplacian", "mds") if any(way in row for row in kept.values())]
    mean = {way: fmean(row[way] for row in kept.values()) for way in ways}
    first = [place for place, row in kept.items() if row["sne"] >= max(row.values())]
    told = "mean share kept: " + _listed(mean)
    reached = mean["sne"] >= mean["tsne"] > max(mean["laplacian"], mean["mds"])
    if not reached and min(mean["sne"], mean["tsne"]) > max(mean["laplacian"], mean["mds"]):
        told += "; both are above the other two, but t-SNE comes first"
    return outcome_of(reached), f"{told}; SNE is first or equal to the first on {len(first)} of {len(kept)}"


def _kept_by_maps(records: list[Record]) -> Judgement:
    """VP2: S_c^(r) of every E1 map by t-SNE prototypes is at least 90 %; other prototypes are told beside."""
    kept: dict[str, list[float]] = {}
    for record in _arranged(records):
        if LINKS in record:
            kept.setdefault(record["method"], []).append(record[LINKS])
    told = "; ".join(f"by {method} {_span(values)}" for method, values in kept.items())
    return outcome_of(min(kept["tsne"]) >= NEARLY_ALL), f"links kept by E1, {told}"


def _against_samples(records: list[Record]) -> Judgement:
    """VP3: for every set and relation the map by SNE prototypes keeps more links than t-SNE of samples."""
    shown = by_place(_arranged(records), ("set", "relation"), SHOWN)
    told = "; ".join(
        f"{' by '.join(place)}: {row['sne']:.1f} against {row[SAMPLES]:.1f}" for place, row in shown.items()
    )
    return outcome_of(all(row["sne"] > row[SAMPLES] for row in shown.values())), f"E1 and t-SNE: {told}"


def _followed(records: list[Record]) -> Judgement:
    """VP4: S_n within a tenth and S_c within five points of their values without random prototypes."""
    told, reached = [], True
    for (name, method), rows in _displaced(records).items():
        neighbours, positions = ([row[m] for row in rows.values()] for m in (NEIGHBOURS, POSITION))
        reached &= max(abs(value - neighbours[0]) for value in neighbours) <= ALIKE * neighbours[0]
        reached &= min(positions) >= positions[0] - CLOSE
        told.append(f"{name}, {method}: S_n {_span(neighbours)}, S_c {_span(positions)}")
    return outcome_of(reached), "; ".join(told)


def _all_random(records: list[Record]) -> Judgement:
    """VP5: S_c^(r) is lowest with all prototypes at random, and within five points of the first before."""
    told, reached = [], True
    for (name, method), rows in _displaced(records).items():
        links = [row[LINKS] for row in rows.values()]
        reached &= links[-1] == min(links) < links[0] and min(links[:-1]) >= links[0] - CLOSE
        told.append(f"{name}, {method}: " + ", ".join(f"{at} % {row[LINKS]:.1f}" for at, row in rows.items()))
    return outcome_of(reached), "S_c^(r): " + "; ".join(told)


def _arranged(records: list[Record]) -> list[Record]:
    return [record for record in records if record[RANDOM] == ARRANGED]


def _displaced(records: list[Record]) -> dict[tuple[str, str], dict[Any, Record]]:
    """Gather the maps by set and method, in the order of the share of random prototypes."""
    rows: dict[tuple[str, str], dict[Any, Record]] = {}
    for record in records:
        if record[RANDOM] != ARRANGED:
            rows.setdefault((record["set"], record["method"]), {})[record[RANDOM]] = record
    return rows


# ---------------------------------------------------------------------- labels


def _few_labels(records: list[Record]) -> Judgement:
    """VL1: with the fewest labels S_s of E1 is above both forms of supervised t-SNE, on all sets."""
    fewest = min(record[GIVEN] for record in records)
    table = by_place([r for r in records if r[GIVEN] == fewest], ("set",), SEPARATION)
    told = "; ".join(f"{name}: {_listed(row)}" for (name,), row in table.items())
    reached = all(row["E1"] > max(_of_tsne(row)) for row in table.values())
    return outcome_of(reached), f"S_s with {fewest} % of the labels, {told}"


def _more_labels(records: list[Record]) -> Judgement:
    """VL2: S_s and S_c of E1 and E2 are higher with the most labels than with the fewest, on all sets."""
    told, reached = [], True
    for measure in (SEPARATION, POSITION):
        for name in _sets(records):
            for method in ("E1", "E2"):
                curve = _curve(records, name, method, GIVEN, measure)
                reached &= curve[-1] > curve[0]
                told.append(f"{name}, {method}: {measure} {curve[0]:.1f} to {curve[-1]:.1f}")
    return outcome_of(reached), "; ".join(told)


def _arbitrary(records: list[Record]) -> Judgement:
    """VL3: with the most labels S_s of supervised t-SNE is above 90 %, its S_c^(r) below that of E1."""
    most = max(record[GIVEN] for record in records)
    rows = [record for record in records if record[GIVEN] == most]
    apart, links = (by_place(rows, ("set",), measure) for measure in (SEPARATION, LINKS))
    reached = all(max(_of_tsne(row)) < row["E1"] for row in links.values())
    reached &= all(min(_of_tsne(row)) > NEARLY_ALL for row in apart.values())
    told = [
        f"{name}: S_s {_listed(apart[(name,)])}, S_c^(r) {_listed(row)}" for (name,), row in links.items()
    ]
    return outcome_of(reached), f"with {most} % of the labels, " + "; ".join(told)


def _of_tsne(row: Mapping[str, float]) -> list[float]:
    return [value for method, value in row.items() if method.startswith("t-SNE")]


# ---------------------------------------------------------------------- weights


def _trend(records: list[Record]) -> Judgement:
    """VW1: on most sets and variants S_s and S_c are higher at the last α than at the first, S_n lower."""
    told, held, total = [], 0, 0
    plain = [record for record in records if record["η"] == NONE]
    for name in _sets(plain):
        for method in methods_in(plain):
            ends = {m: _curve(plain, name, method, "α", m) for m in (NEIGHBOURS, SEPARATION, POSITION)}
            rises = {m: curve[-1] - curve[0] for m, curve in ends.items()}
            holds = rises[NEIGHBOURS] < 0 < min(rises[SEPARATION], rises[POSITION])
            held, total = held + holds, total + 1
            listed = ", ".join(f"{m} {curve[0]:.1f} to {curve[-1]:.1f}" for m, curve in ends.items())
            told.append(f"{name}, {method}: {listed}" + ("" if holds else " (not so)"))
    return outcome_of(held >= MOST * total), f"holds for {held} of {total}: " + "; ".join(told)


def _sensitivity(records: list[Record]) -> Judgement:
    """VW2: averaged over sets and scores, the range over α at a fixed η is below that over η at a fixed α."""
    grid = [record for record in records if record["method"] == EIGEN]
    spans: dict[str, dict[str, float]] = {}
    for measure in (NEIGHBOURS, SEPARATION, POSITION):
        spans[measure] = {
            along: fmean(_ranges(grid, fixed, measure)) for along, fixed in (("α", "η"), ("η", "α"))
        }
    told = "; ".join(f"{m}: {span['α']:.1f} over α, {span['η']:.1f} over η" for m, span in spans.items())
    mean = {along: fmean(span[along] for span in spans.values()) for along in ("α", "η")}
    return outcome_of(mean["α"] < mean["η"]), f"mean range in points: {told}"


def _ranges(grid: list[Record], fixed: str, measure: str) -> list[float]:
    """Give the range of a score for every set and value of one weight, over the other."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for record in grid:
        groups.setdefault((record["set"], record[fixed]), []).append(record[measure])
    return [max(values) - min(values) for values in groups.values()]


def _room(records: list[Record]) -> Judgement:
    """VW3: the mean of S_n over α is lower at η = 0.9, where the publication ends, than at the first η."""
    grid = [record for record in records if record["method"] == EIGEN]
    told, reached = [], True
    for name in _sets(grid):
        own = [record for record in grid if record["set"] == name]
        etas = sorted({record["η"] for record in own})
        curve = {eta: fmean(r[NEIGHBOURS] for r in own if r["η"] == eta) for eta in etas}
        reached &= curve[max(eta for eta in etas if eta <= LAST)] < curve[etas[0]]
        told.append(f"{name}: " + ", ".join(f"{value:.1f} at {eta:g}" for eta, value in curve.items()))
    return outcome_of(reached), "mean S_n by η, " + "; ".join(told)


def _failure(records: list[Record]) -> Judgement:
    """VW4: on a set, at the highest η, S_s at some α is below half of the best there is."""
    grid = [record for record in records if record["method"] == EIGEN]
    highest, told, reached = max(record["η"] for record in grid), [], False
    for name in _sets(grid):
        own = [record for record in grid if record["set"] == name]
        best = max(record[SEPARATION] for record in own)
        worst = min((r for r in own if r["η"] == highest), key=lambda record: float(record[SEPARATION]))
        reached |= worst[SEPARATION] < LOW * best
        told.append(f"{name}: {worst[SEPARATION]:.1f} at α = {worst['α']:g}, best {best:.1f}")
    return outcome_of(reached), f"lowest S_s at η = {highest:g}, " + "; ".join(told)


# ---------------------------------------------------------------------- projections and sets


def _classes(records: list[Record]) -> Judgement:
    """VJ1: mean over projections: with the most classes S_s and S_c^(r) lower, S_n within a tenth."""
    told, reached = [], True
    for name in _sets(records):
        own = [r for r in records if r["set"] == name and LINKS in r]
        shared = max(
            {r[TRAINING] for r in own}, key=lambda at: len({r[CLASSES] for r in own if r[TRAINING] == at})
        )
        own = [r for r in own if r[TRAINING] == shared]
        counts = sorted({r[CLASSES] for r in own})
        means = {
            m: [fmean(r[m] for r in own if r[CLASSES] == count) for count in (counts[0], counts[-1])]
            for m in (SEPARATION, LINKS, NEIGHBOURS)
        }
        falls = all(means[m][1] < means[m][0] for m in (SEPARATION, LINKS))
        reached &= falls and abs(means[NEIGHBOURS][1] - means[NEIGHBOURS][0]) <= ALIKE * means[NEIGHBOURS][0]
        listed = ", ".join(f"{m} {first:.1f} to {last:.1f}" for m, (first, last) in means.items())
        told.append(f"{name}, {counts[0]} to {counts[-1]} classes: {listed}")
    return outcome_of(reached), "; ".join(told)


def _compacted(records: list[Record]) -> Judgement:
    """VJ2: compacted features give a higher S_s than plain ones for most projections and places."""
    table = by_place(records, ("set", CLASSES, TRAINING), SEPARATION)
    gains: dict[str, list[float]] = {}
    for (name, _, _), row in table.items():
        for method in row:
            if f"{method} compact" in row:
                gains.setdefault(name, []).append(row[f"{method} compact"] - row[method])
    if not gains:
        return UNTESTED, "no projection was tried with compacted features"
    every = [gain for own in gains.values() for gain in own]
    told = "; ".join(
        f"{name}: higher on {sum(gain > 0 for gain in own)} of {len(own)}, by {fmean(own):.1f} on average"
        for name, own in gains.items()
    )
    return outcome_of(
        sum(gain > 0 for gain in every) >= MOST * len(every)
    ), f"S_s on held-out samples, {told}"


def _odd(records: list[Record]) -> Judgement:
    """VM1: M1 gains less than a tenth of what full rank gains over a single spot, from every start."""
    table = by_place(records, ("set", "start"), GAINED)
    told = "; ".join(
        f"{' from '.join(place)}: {row['M1']:.3f} of {row[FULL]:.3f}" for place, row in table.items()
    )
    return outcome_of(all(row["M1"] < ALIKE * row[FULL] for row in table.values())), f"gained, {told}"


def _order(records: list[Record]) -> Judgement:
    """VM2: the lowest divergences over starts are in the order full rank, M2, M1, on every set."""
    told, reached = [], True
    for name in _sets(records):
        lowest = {
            method: min(r[DIVERGENCE] for r in records if r["set"] == name and r["method"] == method)
            for method in methods_in(records)
        }
        reached &= lowest[FULL] < lowest["M2"] < lowest["M1"]
        told.append(f"{name}: " + ", ".join(f"{method} {value:.3f}" for method, value in lowest.items()))
    return outcome_of(reached), "lowest O_KL_L, " + "; ".join(told)


RULES: Mapping[str, Callable[[list[Record]], Judgement]] = {
    "VP1": _ways,
    "VP2": _kept_by_maps,
    "VP3": _against_samples,
    "VP4": _followed,
    "VP5": _all_random,
    "VL1": _few_labels,
    "VL2": _more_labels,
    "VL3": _arbitrary,
    "VW1": _trend,
    "VW2": _sensitivity,
    "VW3": _room,
    "VW4": _failure,
    "VJ1": _classes,
    "VJ2": _compacted,
    "VM1": _odd,
    "VM2": _order,
    **COST_RULES,
}


def _sets(records: list[Record]) -> list[str]:
    return list(dict.fromkeys(record["set"] for record in records))


def _curve(records: list[Record], name: str, method: str, along: str, measure: str) -> list[float]:
    """Give a score of one method on one set in the order of a key."""
    own = [r for r in records if r["set"] == name and r["method"] == method and measure in r]
    return [record[measure] for record in sorted(own, key=lambda record: float(record[along]))]


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in values.items())


def _span(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"
