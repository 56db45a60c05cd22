"""Write the page about all experiments from the records of their last runs; ``make docs`` runs this.

relscape reproduce NAME
cp results/NAME/record.json docs/experiments/results/NAME.json
python docs/reproduction.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from relscape.project.comparison import NEAR, Difference, settings_digest, short_figure
from relscape.project.experiments import Experiment, experiments
from relscape.project.publications import STATES, Item, Publication, publications

DOCS = Path(__file__).parent
RECORDS = DOCS / "experiments" / "results"
PAGE = DOCS / "reproduction.md"
COHORT_MAPS = ("cova-clusters", "cova-cora", "cova-manifolds", "cova-shapes")
TOLD = {
    "code": "code",
    "coembed": "coembedding",
    "cova": "cohort_studies",
    "kg": "knowledge_graphs",
    "network": "document_networks",
    "projection": "projection",
}
HEAD = """\
# All experiments, one table

Every table and figure of the publications that the data allows, run again by `relscape reproduce NAME`, with
settings and published figures that are part of the package. This page is made from the records of the last
runs (`python docs/reproduction.py`), which lie in `docs/experiments/results`. The pages of the experiments
explain what is told here in a line, show more, and are where the pictures come from.

Your own run of all is `relscape reproduce all`; it writes such a page to `results/report.md`. Data that is
not part of relscape is named by the command, with its publication and how to convert the publisher's files.
[Every table and figure](#every-table-and-figure) of the publications stands at the end, with what shows it or
the data that it would take; `relscape reproduce coverage` prints the same.
"""


def page() -> str:
    """Give the page as Markdown."""
    known = experiments()
    records = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in RECORDS.glob("*.json")}
    unknown = sorted(set(records) - set(known))
    if unknown:
        raise SystemExit(f"docs/experiments/results has records of no experiment: {', '.join(unknown)}")
    lines = [HEAD, *_overview(known, records)]
    for name, experiment in known.items():
        lines += ["", f"## {name}", "", f"{experiment.title}. {experiment.reference}. See [{_told(name)}]"]
        lines[-1] += f"(experiments/{_told(name)}.md)."
        lines += _recorded(experiment, records[name]) if name in records else _missing(experiment)
        lines += _pictures(name)
    lines += ["", "## Every table and figure", "", *_coverage()]
    return "\n".join(lines) + "\n"


def _overview(known: dict[str, Experiment], records: dict[str, Any]) -> list[str]:
    lines = [
        "| experiment | takes | last run | claims | published figures |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, experiment in known.items():
        cost = experiment.cost.partition(";")[0]
        if name in records:
            found = records[name]
            claims = _counted([verdict["outcome"] for verdict in found["verdicts"]])
            figures = _counted([Difference(**figure).outcome for figure in found["figures"]]) or "none"
            cells = [found["date"], claims, figures]
        else:
            cells = ["not in the record", f"{len(experiment.claims)}, see its page", ""]
        lines.append(f"| [{name}](#{name}) | {cost} | {' | '.join(cells)} |")
    verdicts = [verdict["outcome"] for found in records.values() for verdict in found["verdicts"]]
    without = len(known) - len(records)
    told = f"Of {len(known)} experiments {len(records)} are in the record, with {len(verdicts)} claims: "
    told += f"{_counted(verdicts)}."
    if without:
        told += (
            f" The other {without} were last run before there was a record; their pages tell what came out."
        )
    rule = (
        f"A published figure counts as reached when ours is worse by at most {100 * NEAR:.0f} % of it, and "
        "as exceeded when ours is better by more than that. A claim is a sentence of a publication that can "
        "be tested; the rules that judge claims are in `src/relscape/project/*verdicts.py`."
    )
    return [told, "", rule, "", *lines]


def _coverage() -> list[str]:
    items = [item for publication in publications() for item in publication.items]
    shown = [item.state for item in items if item.state != "illustration"]
    counts = ", ".join(f"{shown.count(state)} {told}" for state, told in STATES.items() if state in shown)
    lines = [
        f"The {len(items)} numbered tables and figures of the five publications (the thesis repeats the "
        f"figures of the paper on co-embedding as 3.1 to 3.12): {len(items) - len(shown)} have nothing to "
        "measure; "
        f"of the other {len(shown)}, {counts}. *In part* says what is missing.",
    ]
    for publication in publications():
        lines += ["", f"### {publication.reference}", "", *_items(publication)]
    wanted = dict.fromkeys(data for item in items for data in item.missing)
    lines += [
        "",
        "### Data that is missing",
        "",
        "No command reads these, and relscape does not have them:",
        "",
    ]
    return lines + [f"- {data.what}: {data.publisher}." for data in wanted]


def _items(publication: Publication) -> list[str]:
    rows = [
        f"| {i.number} | {_cell(i.what)} | {STATES[i.state]} | {_linked(i)} | {_cell(i.note)} |"
        for i in publication.items
        if i.state != "illustration"
    ]
    aside = [item.number for item in publication.items if item.state == "illustration"]
    lines = ["| | what it shows | | where | |", "| --- | --- | --- | --- | --- |", *rows]
    return lines + (["", f"Nothing to measure: {', '.join(aside)}."] if aside else [])


def _linked(item: Item) -> str:
    """Link what shows an item, or name the data that this would take."""
    shown = ", ".join(f"[{name}](#{name})" for name in item.experiments)
    instead = ", ".join(f"[{name}](#{name})" for name in item.stand_ins)
    wanted = "; ".join(f"needs {data.what}" for data in item.missing)
    told = [shown, wanted, f"other data: {instead}" if instead else ""]
    return _cell("; ".join(part for part in told if part))


def _recorded(experiment: Experiment, found: dict[str, Any]) -> list[str]:
    packages = ", ".join(f"{name} {version}" for name, version in found["packages"].items())
    lines = ["", f"Run on {found['date']}, {found['seconds']:.0f} s, with {packages}."]
    if found["quick"]:
        raise SystemExit(f"{experiment.name}: the record is of a quick trial; run the whole experiment.")
    if found["settings"] != settings_digest(experiment.chosen(False)):
        lines[-1] += " **Its settings have changed since.**"
    lines += ["", "| claim | verdict | why |", "| --- | --- | --- |"]
    lines += [
        f"| {v['claim']}: {_cell(v['text'])} | {v['outcome']} | {_cell(v['why'])} |"
        for v in found["verdicts"]
    ]
    figures = [Difference(**figure) for figure in found["figures"]]
    if figures:
        lines += ["", "| where | method | measure | known from | known | ours | difference | |"]
        lines += ["| --- | --- | --- | --- | ---: | ---: | ---: | --- |"]
    lines += [
        f"| {_cell(d.place)} | {d.method} | {_cell(d.measure)} | {_cell(d.source)} "
        f"| {short_figure(d.known)} | {short_figure(d.ours)} | {d.ours - d.known:+.3g} | {d.outcome} |"
        for d in figures
    ]
    return lines


def _missing(experiment: Experiment) -> list[str]:
    claims = [f"- {claim.name}: {claim.text}" for claim in experiment.claims]
    return ["", "Not in the record; verdicts are on its page. It is to show whether", "", *claims]


def _pictures(name: str) -> list[str]:
    """Give the pictures of an experiment, whose files begin with its name, captioned as on its page."""
    folder = DOCS / "pictures" / "experiments"
    told = (DOCS / "experiments" / f"{_told(name)}.md").read_text(encoding="utf-8")
    lines = []
    for file in sorted(folder.glob(f"{name}*.png"), key=lambda file: (len(file.stem), file.stem)):
        shown = re.search(rf"!\[([^]]*)\]\(\.\./(pictures/experiments/{re.escape(file.name)})\)", told)
        if shown is None:
            raise SystemExit(f"docs/experiments/{_told(name)}.md does not show {file.name}.")
        lines += ["", f"![{shown[1]}]({shown[2]})"]
    return lines


def _told(name: str) -> str:
    return "cohorts" if name in COHORT_MAPS else TOLD[name.partition("-")[0]]


def _counted(outcomes: list[str]) -> str:
    return ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in dict.fromkeys(sorted(outcomes)))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name} written")
