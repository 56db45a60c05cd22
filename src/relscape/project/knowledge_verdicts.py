"""The rules for what was claimed of knowledge graphs.

A training that was refused counts as not done. What is claimed beside several models is reached only once all
of them were trained; it is not reached as soon as one of them speaks against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relscape.project.judgement import UNTESTED, Judgement, outcome_of
from relscape.project.knowledge_measures import CATEGORIES, HITS, MEAN_RANK, part_hits, part_rank
from relscape.project.outcome import Record

__all__ = ["RULES"]

TRANSPES, TRANSE = "TransPES", "TransE"
RIVALS = (TRANSE, "TransH", "TransR", "CTransR")
RANK_HALF, HITS_HALF = 0.5, 0.05  # what rounding to whole ranks and tenths of percent forgives
WITH_CARE = 84.0  # hits@10 of TransE on FB15k in other libraries
COLUMNS = 5  # of table 4.5 that TransPES leads
LITTLE = 0.5  # "little": below this part of what another setting changes


def _published_fb15k(records: list[Record]) -> Judgement:
    """K1: TransPES then reaches 66 / 67.3 % on FB15k, both, to the published digits."""
    return _reaches(records, 66.0, 67.3)


def _published_wn18(records: list[Record]) -> Judgement:
    """K2: TransPES then reaches 212 / 81.3 % on WN18, both, to the published digits."""
    return _reaches(records, 212.0, 81.3)


def _reaches(records: list[Record], rank: float, hits: float) -> Judgement:
    own = _of(records, "then").get(TRANSPES)
    if own is None:
        return UNTESTED, "TransPES was not trained by the settings of then"
    reached = own[MEAN_RANK] < rank + RANK_HALF and own[HITS] >= hits - HITS_HALF
    told = f"filtered mean rank {own[MEAN_RANK]:.1f} (published {rank:g}), hits@10 {own[HITS]:.1f} ({hits:g})"
    later = _of(records, "now").get(TRANSPES)
    if later is not None:
        told += f"; by the settings of now {later[MEAN_RANK]:.1f} and {later[HITS]:.1f}"
    return outcome_of(reached), told


def _lowest_rank(records: list[Record]) -> Judgement:
    """K3: of the models trained by settings of then, TransPES has the lowest filtered mean rank."""
    then = _of(records, "then")
    if TRANSPES not in then or len(then) < 2:
        return UNTESTED, "fewer than two models were trained by the settings of then, or TransPES was not"
    ranks = {model: record[MEAN_RANK] for model, record in then.items()}
    told = "then: " + _listed(ranks)
    later = {model: record[MEAN_RANK] for model, record in _of(records, "now").items()}
    if later:
        told += "; now: " + _listed(later)
    return _beside_all(min(ranks, key=lambda model: ranks[model]) == TRANSPES, told, then)


def _by_parts(records: list[Record]) -> Judgement:
    """K4: then, TransPES is better than TransE by both measures on reciprocal and reverse, worse on other."""
    then = _of(records, "then")
    if not {TRANSPES, TRANSE} <= set(then):
        return UNTESTED, "TransE and TransPES were not both trained by the settings of then"
    ours, theirs = then[TRANSPES], then[TRANSE]
    told, reached = [], True
    for part, ahead in (("reciprocal", True), ("reverse", True), ("other", False)):
        rank, hits = part_rank(part), part_hits(part)
        if rank not in ours:
            return UNTESTED, f"no test triple is {part}"
        if ahead:
            reached &= ours[rank] < theirs[rank] and ours[hits] > theirs[hits]
        else:
            reached &= ours[rank] > theirs[rank] and ours[hits] < theirs[hits]
        told.append(
            f"{part}: TransPES {ours[rank]:.0f} / {ours[hits]:.1f}, TransE {theirs[rank]:.0f} / "
            f"{theirs[hits]:.1f}"
        )
    return outcome_of(reached), "; ".join(told)


def _with_care(records: list[Record]) -> Judgement:
    """K5: TransE by the settings of now has a filtered hits@10 of at least 84 %."""
    own = _of(records, "now").get(TRANSE)
    if own is None:
        return UNTESTED, "TransE was not trained by the settings of now"
    told = f"mean rank {own[MEAN_RANK]:.1f}, MRR {own['MRR']:.3f}, hits@10 {own[HITS]:.1f}"
    return outcome_of(own[HITS] >= WITH_CARE), told


def _columns(records: list[Record]) -> Judgement:
    """K7: then, TransPES has the highest hits@10 in at least five of the eight columns of table 4.5."""
    then = _of(records, "then")
    if TRANSPES not in then or len(then) < 2:
        return UNTESTED, "fewer than two models were trained by the settings of then, or TransPES was not"
    first = {
        column: max(then, key=lambda model: then[model].get(column, 0.0))
        for column in CATEGORIES
        if column in then[TRANSPES]
    }
    led = [column for column, model in first.items() if model == TRANSPES]
    told = ", ".join(f"{column} {model}" for column, model in first.items())
    return _beside_all(len(led) >= COLUMNS, f"first in {len(led)} of {len(first)}: {told}", then)


def _hits_behind(records: list[Record]) -> Judgement:
    """K8: then, TransPES has a lower filtered hits@10 on WN18 than TransE, TransH, TransR and CTransR."""
    then = _of(records, "then")
    rivals = [model for model in RIVALS if model in then]
    if TRANSPES not in then or not rivals:
        return UNTESTED, "TransPES or all of its rivals were not trained by the settings of then"
    hits = {model: then[model][HITS] for model in (TRANSPES, *rivals)}
    return _beside_all(hits[TRANSPES] < min(hits[model] for model in rivals), _listed(hits), then)


def _without_inverses(records: list[Record]) -> Judgement:
    """K9: then, TransPES is behind TransE by mean rank and by hits@10 where nothing can be looked up."""
    then = _of(records, "then")
    if not {TRANSPES, TRANSE} <= set(then):
        return UNTESTED, "TransE and TransPES were not both trained by the settings of then"
    ours, theirs = then[TRANSPES], then[TRANSE]
    reached = ours[MEAN_RANK] > theirs[MEAN_RANK] and ours[HITS] < theirs[HITS]
    told = [f"then: {_pair(then)}"]
    now = _of(records, "now")
    if {TRANSPES, TRANSE} <= set(now):
        told.append(f"now: {_pair(now)}")
    return outcome_of(reached), "; ".join(told)


def _sensitive(records: list[Record]) -> Judgement:
    """K6: over λ₂ filtered hits@10 ranges less than half as wide as over k, and as over γ."""
    spans: dict[str, float] = {}
    trained = [record for record in records if not record["refusal"]]
    for name in dict.fromkeys(record["varied"] for record in trained):
        hits = [record[HITS] for record in trained if record["varied"] == name]
        spans[name] = max(hits) - min(hits)
    told = "range of hits@10 in points: " + _listed(spans)
    if set(spans) != {"n_components", "lambda2", "margin"}:
        return UNTESTED, told
    return outcome_of(spans["lambda2"] < LITTLE * min(spans["n_components"], spans["margin"])), told


RULES: Mapping[str, Callable[[list[Record]], Judgement]] = {
    "K1": _published_fb15k,
    "K2": _published_wn18,
    "K3": _lowest_rank,
    "K4": _by_parts,
    "K5": _with_care,
    "K6": _sensitive,
    "K7": _columns,
    "K8": _hits_behind,
    "K9": _without_inverses,
}


def _of(records: list[Record], era: str) -> dict[str, Record]:
    return {
        record["method"]: record for record in records if record["settings"] == era and not record["refusal"]
    }


def _beside_all(reached: bool, told: str, then: Mapping[str, Record]) -> Judgement:
    """Hold back a verdict in favour of TransPES while a rival is missing."""
    missing = [model for model in RIVALS if model not in then]
    if reached and missing:
        return UNTESTED, f"{told}; not trained: {', '.join(missing)}"
    return outcome_of(reached), told


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in values.items())


def _pair(rows: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{model} {rows[model][MEAN_RANK]:.0f} / {rows[model][HITS]:.1f}" for model in (TRANSPES, TRANSE)
    )
