"""``relscape reproduce``: published experiments run again, ours beside what was claimed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from relscape.cli.console import next_step, print_json, print_table, say
from relscape.errors import ParameterError
from relscape.project.campaign import NO_DATA, PAGE, run_all
from relscape.project.experiments import experiments
from relscape.project.publications import STATES, Item, publications
from relscape.project.report import report_tables, summary, write_results
from relscape.project.runner import run_experiment

__all__ = ["reproduce"]

_KEPT = "; what is done is kept, and the same command goes on"  # as experiments say it of their costs
_SHOWABLE = STATES.keys() - {"illustration"}


def reproduce(
    name: Annotated[str, typer.Argument(help="Name of an experiment, 'all', 'list', or 'coverage'.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the results.", show_default="results/NAME"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small part, to see that it works.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Of long experiments only these trainings, such as 'then/*'; again for more."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Of all: run also what has results.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Run a published experiment again and say what was reached.

    'list' tells the experiments; 'coverage' every table and figure of the publications, which
    experiment shows it, and what data is missing for the others.
    """
    if name in ("list", "coverage"):
        (_list if name == "list" else _coverage)(as_json)
        return
    if name == "all":
        if only:
            raise ParameterError(
                "--only chooses among the trainings of one experiment; name that instead of all."
            )
        _all(output or Path("results"), quick, again, as_json)
        return
    folder = output or Path("results") / name
    run = run_experiment(name, quick, folder, only or ())
    target = write_results(run, folder)
    if as_json:
        print_json({**summary(run), "output": str(target)})
        return
    say(f"{run.experiment.title} ({run.experiment.reference})")
    say(run.experiment.about)
    if quick:
        say("A quick trial on a small part, to see that it works: the numbers mean little.")
    for title, headers, rows in report_tables(run):
        say(f"\n{title}")
        print_table(headers, rows)
    for note in run.findings.notes:
        say(f"- {note}")
    say("")
    for verdict in () if quick else run.verdicts:
        say(f"{verdict.claim}, {verdict.text}: {verdict.outcome.upper()}. {verdict.why}.")
    say(f"Wrote {target} in {run.seconds:.0f} s.")
    if quick:
        say("Claims are judged by the whole experiment.")
    next_step(f"relscape reproduce {name}" if quick else "relscape reproduce list")


def _all(folder: Path, quick: bool, again: bool, as_json: bool) -> None:
    stages = run_all(folder, quick, again)
    if as_json:
        told = [
            {"name": s.name, "state": s.state, "why": s.why, "verdicts": s.results.get("verdicts", [])}
            for s in stages
        ]
        print_json({"experiments": told, "output": str(folder / PAGE)})
        return
    rows = []
    for stage in stages:
        outcomes = [verdict["outcome"] for verdict in stage.results.get("verdicts", ())]
        counts = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in dict.fromkeys(outcomes))
        rows.append((stage.name, stage.state, counts))
    print_table(["experiment", "", "claims"], rows)
    for stage in stages:
        if stage.state == NO_DATA:
            say(f"- {stage.name}: {stage.why}")
    say(f"Wrote {folder / PAGE}.")
    next_step("relscape reproduce coverage")


def _list(as_json: bool) -> None:
    known = experiments()
    if as_json:
        content = {
            name: {
                "title": entry.title,
                "reference": entry.reference,
                "cost": entry.cost,
                "claims": {claim.name: claim.text for claim in entry.claims},
            }
            for name, entry in known.items()
        }
        print_json(content)
        return
    rows = [(n, e.title, e.cost.replace(_KEPT, " *")) for n, e in known.items()]
    print_table(["name", "what it is", "takes"], rows)
    say("* can be interrupted: the same command goes on with what is not done yet.")
    next_step(f"relscape reproduce {next(iter(known))} --quick")


def _coverage(as_json: bool) -> None:
    if as_json:
        print_json({"publications": [asdict(publication) for publication in publications()]})
        return
    for publication in publications():
        say(publication.reference)
        rows = [
            (i.number, i.what, STATES[i.state], _where(i)) for i in publication.items if i.state in _SHOWABLE
        ]
        print_table(["", "what it shows", "", "by, or what is missing"], rows)
    wanted = dict.fromkeys(
        data for publication in publications() for i in publication.items for data in i.missing
    )
    say("Data that is not part of relscape and that no command reads, and who has it:")
    for data in wanted:
        say(f"- {data.what}: {data.publisher}.")
    next_step("relscape reproduce list")


def _where(item: Item) -> str:
    """Name the experiments that show an item, or the data that this would take."""
    if item.experiments:
        return ", ".join(item.experiments)
    wanted = "; ".join(data.what for data in item.missing)
    return f"{wanted}; on other data: {', '.join(item.stand_ins)}" if item.stand_ins else wanted
