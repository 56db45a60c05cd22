"""All experiments in one go: what is done is not done again, and one page tells what all of them gave."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from relscape import progress
from relscape.errors import StorageError
from relscape.maps.files import atomic_file
from relscape.project.comparison import differences, short_figure
from relscape.project.experiments import Experiment, experiments
from relscape.project.report import RESULTS, write_results
from relscape.project.runner import run_experiment

__all__ = ["DONE", "KEPT", "NO_DATA", "PAGE", "Stage", "campaign_page", "run_all"]

PAGE = "report.md"
DONE, KEPT, NO_DATA = "done", "kept", "no data"


class Stage(NamedTuple):
    """How one experiment of a campaign ended: its results, or why there are none."""

    name: str
    title: str
    state: str
    why: str
    results: Mapping[str, Any]


def run_all(folder: Path, quick: bool = False, again: bool = False) -> list[Stage]:
    """Run every experiment that has no results yet in ``folder``, and write one page about all of them.

    Results count if they are of the same settings and version; ``again`` counts none. An experiment whose
    data is not on this machine is passed over, with what to get. The page is written after every
    experiment, so that a stopped campaign leaves a true one.
    """
    known = experiments()
    stages: list[Stage] = []
    with progress.task("experiments", len(known)) as task:
        for name, experiment in known.items():
            stages.append(_stage(experiment, folder / name, quick, again))
            with atomic_file(folder / PAGE) as draft:
                draft.write_text(campaign_page(stages), encoding="utf-8")
            task.advance()
    return stages


def _stage(experiment: Experiment, folder: Path, quick: bool, again: bool) -> Stage:
    kept = None if again else _kept(experiment, folder, quick)
    if kept is not None:
        return Stage(experiment.name, experiment.title, KEPT, "", kept)
    try:
        write_results(run_experiment(experiment.name, quick, folder), folder)
    except StorageError as error:
        return Stage(experiment.name, experiment.title, NO_DATA, str(error), {})
    results = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
    return Stage(experiment.name, experiment.title, DONE, "", results)


def _kept(experiment: Experiment, folder: Path, quick: bool) -> Mapping[str, Any] | None:
    """Read the results of an earlier run, where they are of these settings and this version."""
    try:
        found = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
        same = found["settings"] == experiment.chosen(quick) and found["quick"] == quick
        return found if same and found["packages"]["relscape"] == version("relscape") else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def campaign_page(stages: Iterable[Stage]) -> str:
    """Tell all experiments on one page: verdicts first, then each with its figures and pictures."""
    stages = list(stages)
    lines = ["# All experiments", "", *_overview(stages)]
    for stage in stages:
        lines += ["", f"## {stage.title}", "", f"`relscape reproduce {stage.name}`"]
        if stage.state == NO_DATA:
            lines += ["", f"Not run: {stage.why}"]
            continue
        results = stage.results
        lines += ["", f"{results['reference']}. It took {results['seconds']:.0f} s."]
        lines += ["", "| claim | verdict | why |", "| --- | --- | --- |"]
        lines += [f"| {v['claim']}: {v['text']} | {v['outcome']} | {v['why']} |" for v in results["verdicts"]]
        lines += _difference_table(results)
        pictures = [name for name in results["files"] if name.endswith(".png")]
        lines += [line for name in pictures for line in ("", f"![{name}]({stage.name}/{name})")]
        lines += ["", *(f"- {note}" for note in results["notes"])]
    return "\n".join(lines).rstrip() + "\n"


def _overview(stages: list[Stage]) -> list[str]:
    verdicts = [verdict for stage in stages for verdict in stage.results.get("verdicts", ())]
    outcomes = dict.fromkeys(verdict["outcome"] for verdict in verdicts)
    counts = {outcome: sum(v["outcome"] == outcome for v in verdicts) for outcome in outcomes}
    missing = [stage.name for stage in stages if stage.state == NO_DATA]
    told = [f"{len(verdicts)} claims: " + ", ".join(f"{n} {outcome}" for outcome, n in counts.items()) + "."]
    if any(stage.results.get("quick") for stage in stages):
        told.append("Quick trials on small parts: the numbers and verdicts mean little.")
    if missing:
        told.append(f"Without their data: {', '.join(missing)}.")
    return [" ".join(told)]


def _difference_table(results: Mapping[str, Any]) -> list[str]:
    found = differences(results)
    if not found:
        return []
    lines = ["", "| where | method | measure | known from | known | ours | difference | |"]
    lines.append("| --- | --- | --- | --- | ---: | ---: | ---: | --- |")
    return lines + [
        f"| {d.place} | {d.method} | {d.measure} | {d.source} | {short_figure(d.known)} "
        f"| {short_figure(d.ours)} | {d.ours - d.known:+.3g} | {d.outcome} |"
        for d in found
    ]
