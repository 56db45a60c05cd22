"""The rules for what was claimed of COVA's maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relscape.models.cova_variants import VARIANTS
from relscape.project.cohort_fitting import LINKS, NEIGHBOURS, POSITION, SEPARATION
from relscape.project.cohort_graphs import SHOWN
from relscape.project.cohorts import NO_ALPHA, SPREAD
from relscape.project.judgement import ALIKE, MOST, Judgement, outcome_of
from relscape.project.outcome import Record, by_place

__all__ = ["COHORT_RULES"]

HARDLY = 5.0  # points of a score that count as hardly any change
ALL = 99.0  # percent that count as all, or as 100 in a rounded table
NEARLY_ALL = 90.0
MANY = 10.0  # percent of samples that count as many
EMBEDDINGS = ("E1", "E2", "E3", "E4")
WORDS, COMPACTED = "words, 30 axes", "compacted"
CYLINDER, WIDE = "cylinder2, prototypes as t-SNE leaves them", "cylinder2, prototypes ten times as large"
MEANS = "sinusoid, prototypes at the means"

Row = dict[str, float]


def _shrinking(records: list[Record]) -> Judgement:
    """V0: S_s rises as λ falls, to 99 % for SNE and t-SNE, and their S_n moves by at most 5 points."""
    separation, kept = (_row(records, WORDS, NO_ALPHA, measure) for measure in (SEPARATION, NEIGHBOURS))
    told, reached = [], True
    for method in ("sne", "nse", "tsne"):
        names = [method, *(f"{method}, λ {share}" for share in (0.7, 0.5, 0.1))]
        rising, moving = [separation[name] for name in names], [kept[name] for name in names]
        change = max(abs(value - moving[0]) for value in moving)
        reached &= rising == sorted(rising)
        if method != "nse":
            reached &= rising[-1] >= ALL and change <= HARDLY
        told.append(f"{method}: S_s {_arrows(rising)}, S_n {_arrows(moving)}")
    return outcome_of(reached), "; ".join(told)


def _trend(records: list[Record]) -> Judgement:
    """V1: from the smallest to the largest α of E1, S_n falls, and S_s and S_c rise to 99 %."""
    told, reached = [], True
    for measure, sign in ((NEIGHBOURS, -1), (SEPARATION, 1), (POSITION, 1)):
        curve = sorted(
            (place[1], row["E1"])
            for place, row in by_place(records, ("set", "α"), measure).items()
            if place[0] == COMPACTED and "E1" in row
        )
        first, last = curve[0][1], curve[-1][1]
        reached &= sign * (last - first) > 0 and (sign < 0 or last >= ALL)
        told.append(f"{measure} {_arrows([value for _, value in curve])}")
    alphas = ", ".join(f"{alpha:g}" for alpha, _ in curve)
    return outcome_of(reached), f"α = {alphas}: " + "; ".join(told)


def _figure_nine(records: list[Record]) -> Judgement:
    """V2: E1 and P4 keep all links, every other variant at least 90 %."""
    links = _covas(_row(records, COMPACTED, 0.9, LINKS))
    reached = min(links["E1"], links["P4"]) >= ALL and min(links.values()) >= NEARLY_ALL
    return outcome_of(reached), f"links kept: {_listed(links)}"


def _arbitrary(records: list[Record]) -> Judgement:
    """V3: on the same features every supervised map keeps fewer links than E1 and E2."""
    guided = _row(records, WORDS, 0.6, LINKS)
    free = _row(records, WORDS, NO_ALPHA, LINKS)
    supervised = {name: value for name, value in free.items() if "λ" in name and not name.startswith("nse")}
    reached = max(supervised.values()) < min(guided.values())
    return outcome_of(reached), f"links kept: {_listed({**guided, **supervised})}"


def _wave(records: list[Record]) -> Judgement:
    """V4: S_c^(r) of E1, E2 and E3 is 100 on Sinusoid."""
    links = _row(records, "sinusoid", 0.95, LINKS)
    own = {name: links[name] for name in ("E1", "E2", "E3")}
    return outcome_of(min(own.values()) >= 100), f"links kept: {_listed(own)}"


def _order(records: list[Record]) -> Judgement:
    """V5: S_n of E1, E3, E4 and E2 falls in this order on every set."""
    told, reached = [], True
    for (name, _), row in by_place(records, ("set", "α"), NEIGHBOURS).items():
        values = [row[method] for method in ("E1", "E3", "E4", "E2")]
        reached &= all(values[at] > values[at + 1] for at in range(3))
        told.append(f"{name}: {_listed({method: row[method] for method in ('E1', 'E3', 'E4', 'E2')})}")
    return outcome_of(reached), "; ".join(told)


def _projections(records: list[Record]) -> Judgement:
    """V6: on each set S_n of most of P1 to P4 is above that of E1 to E4; smooth features are told beside."""
    told, reached = [], True
    for (name, _), row in by_place(records, ("set", "α"), NEIGHBOURS).items():
        better = [number for number in "1234" if row[f"P{number}"] > row[f"E{number}"]]
        reached &= len(better) >= MOST * 4
        found = ", ".join(f"P{n} {row[f'P{n}']:.1f} against {row[f'E{n}']:.1f}" for n in "1234")
        smooth = _listed({method: value for method, value in row.items() if "smooth" in method})
        told.append(f"{name}: above for {len(better)} of 4 ({found}); {smooth}")
    return outcome_of(reached), ". ".join(told)


def _compound(records: list[Record]) -> Judgement:
    """V7: S_c of E2 and E4 is at least 10 points below 100, that of E1 and E3 at most 1."""
    position = _row(records, "compound", 0.95, POSITION)
    own = {name: position[name] for name in EMBEDDINGS}
    reached = max(own["E2"], own["E4"]) <= 100 - MANY and min(own["E1"], own["E3"]) >= ALL
    return outcome_of(reached), f"S_c: {_listed(own)}"


def _rolled(records: list[Record]) -> Judgement:
    """V8: of SNE, t-SNE and LLE, LLE has the lowest S_n on the roll and the highest on both cylinders."""
    told, reached = [], True
    for name, place in (("swiss_roll", min), ("cylinder1", max), ("cylinder2", max)):
        row = _row(records, name, NO_ALPHA, NEIGHBOURS)
        own = {method: row[method] for method in ("sne", "tsne", "lle")}
        reached &= place(own, key=lambda method: own[method]) == "lle"
        told.append(f"{name}: {_listed(own)}, isomap {row['isomap']:.1f}")
    return outcome_of(reached), "; ".join(told)


def _helped(records: list[Record]) -> Judgement:
    """V9: S_n of both supervised maps is above that of the unsupervised ones."""
    row = _row(records, "cylinder2", NO_ALPHA, NEIGHBOURS)
    reached = all(row[f"{method}, λ 0.1"] > row[method] for method in ("sne", "tsne"))
    return outcome_of(reached), "; ".join(
        f"{method} {row[method]:.1f}, with labels {row[f'{method}, λ 0.1']:.1f}" for method in ("sne", "tsne")
    )


def _tightness(records: list[Record]) -> Judgement:
    """V10: the spread grows from E1 over E4 and E3 to E2; that of E3 at 0.6 is E1's, at most a tenth more."""
    low, high = (_row(records, CYLINDER, alpha, SPREAD) for alpha in (0.3, 0.6))
    order = sorted(low, key=lambda method: low[method])
    reached = order == ["E1", "E4", "E3", "E2"] and high["E3"] <= (1 + ALIKE) * low["E1"]
    told = ", ".join(f"{method} {low[method]:.3f}" for method in order)
    told = f"spread at 0.3: {told}; E3 at 0.6 {high['E3']:.3f}"
    wide = _row(records, WIDE, 0.3, SPREAD)
    if wide:
        larger = ", ".join(f"{method} {wide[method]:.3f}" for method in sorted(wide, key=lambda m: wide[m]))
        told += f"; with prototypes ten times as large: {larger}"
    return outcome_of(reached), told


def _best_kept(records: list[Record]) -> Judgement:
    """V11: E2 has the highest S_n at 0.3."""
    row = _row(records, CYLINDER, 0.3, NEIGHBOURS)
    return outcome_of(max(row, key=lambda method: row[method]) == "E2"), f"S_n at 0.3: {_listed(row)}"


def _clusters(records: list[Record]) -> Judgement:
    """V12: every variant keeps over 90 % of the links."""
    links = _covas(_links(records))
    return outcome_of(min(links.values()) > NEARLY_ALL), f"links kept: {_listed(links)}"


def _unguided(records: list[Record]) -> Judgement:
    """V13: S_c^(r) of t-SNE is below that of E1 to E4."""
    links = _links(records)
    reached = links["tsne"] < min(links[method] for method in EMBEDDINGS)
    told = _listed({method: links[method] for method in ("tsne", *EMBEDDINGS)})
    return outcome_of(reached), f"links kept: {told}"


def _own_graph(records: list[Record]) -> Judgement:
    """V14: E2 keeps more links of the clusters' own graph than SNE, t-SNE and supervised t-SNE."""
    shown = {record["method"]: record[SHOWN] for record in records if SHOWN in record}
    others = {method: shown[method] for method in ("sne", "tsne", "tsne, λ 0.1")}
    told = _listed({"E2": shown["E2"], **others})
    return outcome_of(shown["E2"] > max(others.values())), f"links of the clusters' graph kept: {told}"


def _at_the_means(records: list[Record]) -> Judgement:
    """V15: with prototypes at the means E1 keeps all links of Sinusoid, t-SNE not."""
    links = {**_row(records, MEANS, 0.1, LINKS), **_row(records, MEANS, NO_ALPHA, LINKS)}
    return outcome_of(links["E1"] >= ALL > links["tsne"]), f"links kept: {_listed(links)}"


COHORT_RULES: Mapping[str, Callable[[list[Record]], Judgement]] = {
    "V0": _shrinking,
    "V1": _trend,
    "V2": _figure_nine,
    "V3": _arbitrary,
    "V4": _wave,
    "V5": _order,
    "V6": _projections,
    "V7": _compound,
    "V8": _rolled,
    "V9": _helped,
    "V10": _tightness,
    "V11": _best_kept,
    "V12": _clusters,
    "V13": _unguided,
    "V14": _own_graph,
    "V15": _at_the_means,
}


def _row(records: list[Record], name: str, alpha: float | str, measure: str) -> Row:
    return by_place(records, ("set", "α"), measure).get((name, alpha), {})


def _links(records: list[Record]) -> Row:
    """Give the links kept by every method, whatever its α."""
    return {record["method"]: record[LINKS] for record in records if LINKS in record}


def _covas(row: Row) -> Row:
    return {method: value for method, value in row.items() if method in VARIANTS}


def _arrows(values: list[float]) -> str:
    return " → ".join(f"{value:.1f}" for value in values)


def _listed(row: Row) -> str:
    return ", ".join(f"{method} {value:.1f}" for method, value in row.items())
