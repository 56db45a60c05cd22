"""The rules for what was claimed of CODE."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from relscape.project.code_papers import AUTHORS, TOPICS
from relscape.project.cooccurrence import (
    ALL,
    AVERAGED,
    CIRCLE,
    DOCUMENTS,
    LIFT,
    PURITY,
    RADIUS,
    SMOKING,
    WORDS,
)
from relscape.project.judgement import ALIKE, MOST, UNTESTED, Judgement, outcome_of
from relscape.project.outcome import Record, by_place

__all__ = ["CODE_RULES"]

DOMINANT = 0.9  # the share of the trace that "two dominant eigenvalues" hold
TOGETHER = 2.0  # things of a class that "lie together" are as many times as often near as by chance
BESIDE = 2  # of the classes around one, as many of the nearest are "beside" it
STEADY = 0.8  # the least of "roughly constant" values, as a part of the largest

Table = dict[str, dict[str, float]]


def _table_one(records: list[Record]) -> Judgement:
    """G0: doc-doc of CODE is the highest on most sets; its converged form is told beside it."""
    values = _sets(records, DOCUMENTS)
    told: list[str] = []
    won = 0
    for method in ("code", "code-full"):
        lost = []
        for name, row in values.items():
            rival = max((m for m in row if not m.startswith("code")), key=lambda m: row[m])
            if method in row and row[method] <= row[rival]:
                lost.append(f"{name} ({row[method]:.1f}, {rival} {row[rival]:.1f})")
        won = won if told else len(values) - len(lost)
        behind = f", not on {'; '.join(lost)}" if lost else ""
        told.append(f"{method} is first on {len(values) - len(lost)} of {len(values)} sets{behind}")
    return outcome_of(won >= MOST * len(values)), ". ".join(told)


def _joint_maps(records: list[Record]) -> Judgement:
    """G0b: doc-word of CODE is above that of CA on every set."""
    values = _sets(records, WORDS)
    above = [name for name, row in values.items() if row["code"] > row["ca"]]
    told = "; ".join(f"{name} {row['code']:.3f} and {row['ca']:.3f}" for name, row in values.items())
    return outcome_of(len(above) == len(values)), f"CODE and CA: {told}"


def _everywhere(records: list[Record]) -> Judgement:
    """G0c: doc-doc of CODE is the highest for most numbers of axes, and for most sizes, on every set."""
    places = by_place(records, ("set", "axes", "size"), DOCUMENTS)
    told, reached = [], True
    for name in dict.fromkeys(place[0] for place in places):
        for what, sized in (("numbers of axes", False), ("sizes with 2 axes", True)):
            rows = {
                place[2 if sized else 1]: row
                for place, row in places.items()
                if place[0] == name and (place[2] != AVERAGED) == sized
            }
            lost = {at: max(row, key=lambda m: row[m]) for at, row in rows.items()}
            lost = {at: best for at, best in lost.items() if best != "code"}
            reached &= len(rows) - len(lost) >= MOST * len(rows)
            behind = ", ".join(f"{at} ({best})" for at, best in lost.items())
            told.append(
                f"{name}: first for {len(rows) - len(lost)} of {len(rows)} {what}"
                + (f", not for {behind}" if lost else "")
            )
    return outcome_of(reached), "; ".join(told)


def _purity(records: list[Record]) -> Judgement:
    """G5: normalised purity puts CODE first and Isomap second."""
    mean = by_place(records, ("set",), PURITY)[(ALL,)]
    order = sorted(mean, key=lambda method: -mean[method])
    told = ", ".join(f"{method} {mean[method]:.3f}" for method in order)
    return outcome_of(order[:2] == ["code", "isomap"]), told


def _semidefinite(records: list[Record]) -> Judgement:
    """G2: means of doc-doc and doc-word within a tenth of each other, and both above CA's."""
    means = {measure: by_place(records, ("set",), measure).get((ALL,), {}) for measure in (DOCUMENTS, WORDS)}
    if not all(means.values()):
        return UNTESTED, "there are no newsgroups on this machine"
    told, reached = [], True
    for measure, mean in means.items():
        alike = abs(mean["psd"] - mean["code"]) <= ALIKE * mean["code"]
        reached &= alike and min(mean["psd"], mean["code"]) > mean["ca"]
        values = _sets(records, measure)
        ahead = sum(row["psd"] > row["code"] for row in values.values() if "psd" in row)
        listed = ", ".join(f"{method} {value:.3f}" for method, value in mean.items())
        told.append(f"mean {measure}: {listed}; PSD-CODE ahead of CODE on {ahead} of {len(values)} sets")
    return outcome_of(reached), "; ".join(told)


def _path(records: list[Record]) -> Judgement:
    """G1: on the smoking table the two leading axes are likeliest inside the path, with 90 % of the trace."""
    path = _paths(records)[SMOKING]
    best = max(range(len(path)), key=lambda at: path[at]["likelihood"])
    held = path[best]["eigenvalues"]
    share = sum(held[:2]) / sum(held)
    told = (
        f"the map is likeliest, {path[best]['likelihood']:.6f}, at λ = {path[best]['λ']:.3g}, "
        f"{path[best]['λ'] / path[0]['λ']:.3f} of the largest, where the eigenvalues are "
        f"{', '.join(f'{value:.3f}' for value in held)}: two hold {share:.1%} of the trace"
    )
    return outcome_of(0 < best < len(path) - 1 and share >= DOMINANT), told


def _unregularised(records: list[Record]) -> Judgement:
    """G9: on every set the map from the smallest λ is less likely than the best on the path."""
    ends = {name: (path[-1]["likelihood"], max(at["likelihood"] for at in path)) for name, path in
            _paths(records).items()}  # fmt: skip
    told = "; ".join(f"{name}: {last:.4f} against {best:.4f}" for name, (last, best) in ends.items())
    reached = all(last < best for last, best in ends.values())
    return outcome_of(reached), f"at the smallest λ, against the best: {told}"


def _circle(records: list[Record]) -> Judgement:
    """G4: with MM the radii of documents are alike on average, and far more so than with CM."""
    mean = by_place(records, ("set",), RADIUS)[(ALL,)]
    told = "mean std/mean of the radii: " + ", ".join(f"{m} {value:.3f}" for m, value in mean.items())
    return outcome_of(mean["MM"] <= CIRCLE and mean["MM"] < mean["CM"] / 2), told


def _words_of_models(records: list[Record]) -> Judgement:
    """G6: mean doc-word of CM and MM is above that of all models without the marginal of words."""
    mass, lift = (by_place(records, ("set",), measure)[(ALL,)] for measure in (WORDS, LIFT))
    told = []
    for name, mean in (("mass", mass), ("lift", lift)):
        told.append(f"by {name}: " + ", ".join(f"{m} {v:.3f}" for m, v in _ordered(mean)))
    verdicts = [min(mean["CM"], mean["MM"]) > max(_without_margins(mean)) for mean in (mass, lift)]
    if verdicts[1] and not verdicts[0]:
        told.append("by lift, though not by mass as printed, it holds")
    return outcome_of(verdicts[0]), "; ".join(told)


def _documents_of_models(records: list[Record]) -> Judgement:
    """G7: mean doc-doc of the worst model is within a tenth of the best; the widest set is told."""
    mean = by_place(records, ("set",), DOCUMENTS)[(ALL,)]
    spread = {name: max(row.values()) - min(row.values()) for name, row in _sets(records, DOCUMENTS).items()}
    widest = max(spread, key=lambda name: spread[name])
    reached = min(mean.values()) >= (1 - ALIKE) * max(mean.values())
    told = ", ".join(f"{m} {v:.1f}" for m, v in _ordered(mean))
    return outcome_of(reached), f"mean doc-doc: {told}; widest apart on {widest}, by {spread[widest]:.1f}"


def _weights(records: list[Record]) -> Judgement:
    """G8: between α = 0.1 and 0.9 authorship keeps 80 % of its largest value, and falls below at 0 and 1."""
    curve = {alpha: row["code"] for (alpha,), row in by_place(records, ("α",), AUTHORS).items() if row}
    inner = [value for alpha, value in curve.items() if 0.1 <= alpha <= 0.9]
    told = "authorship " + ", ".join(f"{value:.3f} at α = {alpha:g}" for alpha, value in curve.items())
    steady = min(inner) >= STEADY * max(inner)
    return outcome_of(steady and max(curve[0.0], curve[1.0]) < min(inner)), told


def _topics(records: list[Record]) -> Judgement:
    """G10: on the map of papers a topic is twice as frequent around its own as by chance, and topics meet.

    They meet where theory is among the two topics nearest to algorithms by their medians, and vision among
    those nearest to neuroscience.
    """
    (record,) = [r for r in records if "topics" in r["chosen"]]
    places = record["chosen"]["topics"]
    sizes = np.array([place["papers"] for place in places.values()])
    chance = 100 * float((sizes * (sizes - 1)).sum() / (sizes.sum() * (sizes.sum() - 1)))
    told = [f"doc-doc by topic {record[TOPICS]:.1f}, by chance {chance:.1f}"]
    fulfilled = record[TOPICS] >= TOGETHER * chance
    for topic, wanted in (("algorithms and architectures", "theory"), ("neuroscience", "vision")):
        if topic not in places or wanted not in places:
            return UNTESTED, f"there are no papers on {topic} and {wanted}"
        own = places[topic]["median"]
        others = sorted(places.keys() - {topic}, key=lambda other: math.dist(own, places[other]["median"]))
        fulfilled &= wanted in others[:BESIDE]
        told.append(f"nearest to {topic}: {', '.join(others[: max(BESIDE, others.index(wanted) + 1)])}")
    return outcome_of(fulfilled), "; ".join(told)


CODE_RULES: Mapping[str, Callable[[list[Record]], Judgement]] = {
    "G0": _table_one,
    "G0b": _joint_maps,
    "G0c": _everywhere,
    "G1": _path,
    "G2": _semidefinite,
    "G4": _circle,
    "G5": _purity,
    "G6": _words_of_models,
    "G7": _documents_of_models,
    "G8": _weights,
    "G9": _unregularised,
    "G10": _topics,
}


def _sets(records: list[Record], measure: str) -> Table:
    """Gather a measure by set and method, without the means over sets."""
    places = by_place(records, ("set",), measure)
    return {name: row for (name,), row in places.items() if name != ALL and row}


def _paths(records: list[Record]) -> dict[str, list[dict[str, Any]]]:
    return {r["set"]: r["chosen"]["path"] for r in records if r["method"] == "psd" and r["set"] != ALL}


def _ordered(mean: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(mean.items(), key=lambda item: -item[1])


def _without_margins(mean: dict[str, float]) -> list[float]:
    return [value for method, value in mean.items() if not method.endswith("M")]
