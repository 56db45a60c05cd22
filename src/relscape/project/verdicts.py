"""Whether what was claimed was reached here, by stated rules, and why or why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean

from relscape.project import (
    cohort_study_verdicts,
    knowledge_verdicts,
    network_verdicts,
    projection_verdicts,
    size_verdicts,
)
from relscape.project.code_verdicts import CODE_RULES
from relscape.project.cohort_verdicts import COHORT_RULES
from relscape.project.experiments import Claim, Experiment
from relscape.project.judgement import ALIKE, MOST, REACHED, UNTESTED, Judgement
from relscape.project.judgement import outcome_of as _outcome
from relscape.project.outcome import Findings, Record, Verdict, by_place, methods_in

__all__ = ["REACHED", "RULES", "judged"]

CA = {"eta_rows": 1.0, "eta_columns": 1.0, "xi": 1.0, "gamma": 0.5}  # the mutual model's parameters for CA


def judged(experiment: Experiment, findings: Findings) -> list[Verdict]:
    """Give a verdict on every claim of an experiment."""
    return [_verdict(claim, findings) for claim in experiment.claims]


def _verdict(claim: Claim, findings: Findings) -> Verdict:
    usable = [record for record in findings.records if not record["refusal"]]
    outcome, why = RULES[claim.name](usable) if usable else (UNTESTED, "there are no results")
    return Verdict(claim.name, claim.text, outcome, why)


def _shapes(records: list[Record]) -> Judgement:
    """W1: lowest Γ on most sets; mean rank and shape error are told beside it."""
    told, first = [], 0.0
    for measure in ("Γ lost share", "mean rank", "Procrustes error"):
        table = by_place(records, ("set",), measure)
        best = [place for place, v in table.items() if v["mutual"] <= min(v.values()) + 1e-12]
        others = [
            f"{place[0]} ({min(v, key=lambda m: v[m])})" for place, v in table.items() if place not in best
        ]
        first = first or len(best) / len(table)
        told.append(
            f"lowest {measure} on {len(best)} of {len(table)} sets"
            + (f", not on {', '.join(others)}" if others else "")
        )
    return _outcome(first >= MOST), "; ".join(told)


def _kernels(records: list[Record]) -> Judgement:
    """W2: MKPE has the highest Γ on most sets."""
    if "mkpe" not in methods_in(records):
        return UNTESTED, "MKPE is not among the methods here"
    table = by_place(records, ("set",), "Γ lost share")
    worst = [name for (name,), values in table.items() if values["mkpe"] >= max(values.values())]
    best = [name for (name,), values in table.items() if values["mkpe"] <= min(values.values())]
    told = "; ".join(
        f"{which} Γ on {len(names)} of {len(table)} sets" + (f" ({', '.join(names)})" if names else "")
        for which, names in (("highest", worst), ("lowest", best))
    )
    return _outcome(len(worst) >= MOST * len(table)), told


def _neighbourhoods(records: list[Record]) -> Judgement:
    """W3: counts up to 15 lose like shares of pairs, and all things as neighbours lose most."""
    losses: dict[str, dict[str, float]] = {}
    for (name, size), values in by_place(records, ("set", "neighbourhood"), "Γ lost share").items():
        losses.setdefault(name, {})[size] = values["mutual"]
    small = [[v for size, v in sizes.items() if size.isdigit()] for sizes in losses.values()]
    spread = max(max(values) - min(values) for values in small)
    worst = [name for name, sizes in losses.items() if sizes["100 %"] >= max(sizes.values()) - 1e-12]
    reached = spread <= ALIKE and len(worst) == len(losses)
    told = (
        f"among small neighbourhoods the lost share differs by at most {spread:.3f}; 100 %, where Γ is 0 for "
        f"any map, is worst or as bad as the worst on {len(worst)} of {len(losses)} sets"
    )
    idle = [r["chosen"] for r in records if r["neighbourhood"] == "100 %"]
    if idle and all(chosen.items() >= CA.items() for chosen in idle):
        told += "; the search then returns CA, the middle of the family, and nothing collapses"
    return _outcome(reached), told


def _link_neighbourhoods(records: list[Record]) -> Judgement:
    """W8: errors and ranks alike on average over axes for counts as neighbours; worst most often with all."""
    told, alike, counts = [], True, dict.fromkeys((r["neighbourhood"] for r in records), 0)
    for measure in ("mean rank", "1-NN error"):
        places = by_place(records, ("set", "axes"), measure, "neighbourhood")
        means = {size: fmean(values[size] for values in places.values()) for size in counts}
        small = [mean for size, mean in means.items() if size.isdigit()]
        alike &= max(small) <= (1 + ALIKE) * min(small)
        told.append(
            f"{measure} on average " + ", ".join(f"{size}: {mean:.3g}" for size, mean in means.items())
        )
        for values in places.values():
            for size in (size for size, value in values.items() if value >= max(values.values()) - 1e-12):
                counts[size] += 1
    worst = counts["100 %"] > max(count for size, count in counts.items() if size != "100 %")
    told.append("points where it is worst " + ", ".join(f"{size}: {n}" for size, n in counts.items()))
    return _outcome(alike and worst), "; ".join(told)


def _links(records: list[Record]) -> Judgement:
    """W4: mean ranks of mutual and CA within a tenth, both below every rival's, on every set."""
    ranks = _means(records, "mean rank")
    rivals = _rivals(records)
    if not rivals:
        return UNTESTED, "neither CODE nor ACAS is among the methods run"
    reached = all(
        abs(v["mutual"] - v["ca"]) <= ALIKE * v["ca"]
        and max(v["mutual"], v["ca"]) < min(v[rival] for rival in rivals)
        for v in ranks.values()
    )
    told = "mean rank over all numbers of axes: " + _listed(ranks, ("mutual", "ca", *rivals), 1)
    places = by_place(records, ("set", "axes"), "mean rank")
    gaps = {place: v["mutual"] / v["ca"] - 1 for place, v in places.items()}
    (name, axes), gap = max(gaps.items(), key=lambda item: abs(item[1]))
    return _outcome(reached), f"{told}; mutual is furthest from CA on {name} with {axes} axes, {gap:+.1%}"


def _separation(records: list[Record]) -> Judgement:
    """W5: CODE loses nearly all mutual pairs on CiteSeer."""
    lost = _means([r for r in records if r["method"] == "code"], "Γ lost share").get("citeseer", {})
    if not lost:
        return UNTESTED, "CODE is not among the methods here"
    return _outcome(lost["code"] > 0.95), f"CODE loses {lost['code']:.1%} of the mutual pairs"


def _words(records: list[Record]) -> Judgement:
    """W6: the mean class-word errors of mutual and CA are below every rival's, on every set."""
    errors, rivals = _means(records, "class-word error"), _rivals(records)
    told = "mean class-word error: " + _listed(errors, tuple(methods_in(records)), 3)
    if not rivals:
        return UNTESTED, f"ACAS refuses these counts and CODE is not among the methods here; {told}"
    reached = all(max(v["mutual"], v["ca"]) < min(v[r] for r in rivals if r in v) for v in errors.values())
    return _outcome(reached), told


def _cost(records: list[Record]) -> Judgement:
    """W7: every iterative rival takes longer than every method by one decomposition."""
    seconds = {
        method: max(record["CPU seconds"] for record in records if record["method"] == method)
        for method in methods_in(records)
    }
    told = "most CPU time in one fit: " + ", ".join(
        f"{method} {value:.2f} s" for method, value in seconds.items()
    )
    slow = [seconds[method] for method in ("code", "mkpe") if method in seconds]
    if not slow:
        return UNTESTED, f"neither CODE nor MKPE is among the methods here; {told}"
    plain = [seconds[method] for method in ("ca", "bgp", "lsi", "cfrm", "cort") if method in seconds]
    return _outcome(min(slow) > max(plain)), told


RULES: Mapping[str, Callable[[list[Record]], Judgement]] = {
    "W1": _shapes,
    "W2": _kernels,
    "W3": _neighbourhoods,
    "W4": _links,
    "W5": _separation,
    "W6": _words,
    "W7": _cost,
    "W8": _link_neighbourhoods,
    **CODE_RULES,
    **COHORT_RULES,
    **cohort_study_verdicts.RULES,
    **knowledge_verdicts.RULES,
    **network_verdicts.RULES,
    **projection_verdicts.RULES,
    **size_verdicts.RULES,
}


def _rivals(records: list[Record]) -> list[str]:
    return [method for method in ("acas", "code") if method in methods_in(records)]


def _means(records: list[Record], measure: str) -> dict[str, dict[str, float]]:
    """Average a measure for every set and method."""
    means: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys(record["set"] for record in records):
        own = [record for record in records if record["set"] == name]
        means[name] = {
            method: fmean(record[measure] for record in own if record["method"] == method)
            for method in methods_in(own)
        }
    return means


def _listed(means: dict[str, dict[str, float]], methods: tuple[str, ...], digits: int) -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{m} {values[m]:.{digits}f}" for m in methods if m in values)
        for name, values in means.items()
    )
