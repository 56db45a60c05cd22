"""Telling what an experiment gave: tables to read, and files to keep."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from relscape.maps.files import replace_directory
from relscape.maps.state import plain
from relscape.plot.saving import save_picture
from relscape.project.comparison import short_record
from relscape.project.kept_runs import RUNS
from relscape.project.outcome import by_place, methods_in
from relscape.project.runner import Run

__all__ = ["RECORD", "RESULTS", "ReportTable", "report_tables", "summary", "write_results"]

RESULTS, RECORD, RECORDS, TABLES = "results.json", "record.json", "records.csv", "tables.md"
_DPI = 110
_MOST_COLUMNS = 9  # methods beside each other that a terminal has room for


class ReportTable(NamedTuple):
    """One measure: a line a place, a column a method; figures from elsewhere on lines of their own.

    Of many methods one table has all measures: a line a place and method, a column a measure.
    """

    title: str
    headers: list[str]
    rows: list[list[str]]


def report_tables(run: Run) -> list[ReportTable]:
    """Set out every measure, ours beside the figures that come with the experiment."""
    found, methods = run.findings, methods_in(run.findings.records)
    if found.tables:
        return [_by_method(run, title, measures) for title, measures in found.tables.items()]
    if len(methods) > _MOST_COLUMNS:
        return [_by_method(run, "all measures", found.measures)]
    tables = []
    for measure in found.measures:
        rows = []
        for place, values in by_place(found.records, found.keys, measure).items():
            rows.append([*map(str, place), "ours", *(_cell(values.get(m)) for m in methods)])
            beside = _beside(run, dict(zip(found.keys, place, strict=True)), measure)
            if beside:
                values = beside["values"]
                source = beside.get("source", "check")
                rows.append([*map(str, place), source, *(_cell(values.get(m)) for m in methods)])
        tables.append(ReportTable(measure, [*found.keys, "", *methods], rows))
    return tables


def _by_method(run: Run, title: str, measures: tuple[str, ...]) -> ReportTable:
    """Set out some measures; figures that leave a key open come after the last record they belong to.

    A record that has none of them, though nothing was refused, belongs to another table.
    """
    found, rows = run.findings, []
    for at, record in enumerate(found.records):
        if not record["refusal"] and not any(measure in record for measure in measures):
            continue
        named = [*(str(record[key]) for key in found.keys), record["method"]]
        rows.append([*named, "ours", *(_cell(record.get(measure)) for measure in measures)])
        known: dict[tuple[str, ...], dict[str, float]] = {}
        for figure in run.experiment.figures:
            value = figure["values"].get(record["method"])
            if value is None or figure["measure"] not in measures or not _belongs(run, figure, record):
                continue
            later = (r for r in found.records[at + 1 :] if r["method"] == record["method"])
            if not any(_belongs(run, figure, r) for r in later):
                place = (*(str(figure.get(key, "–")) for key in found.keys), record["method"])
                known.setdefault((*place, figure.get("source", "check")), {})[figure["measure"]] = value
        rows += [
            [*place, *(_cell(values.get(measure)) for measure in measures)] for place, values in known.items()
        ]
    return ReportTable(title, [*found.keys, "method", "", *measures], rows)


def _belongs(run: Run, figure: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    return all(figure.get(key, record[key]) == record[key] for key in run.findings.keys)


def _beside(run: Run, place: dict[str, Any], measure: str) -> Mapping[str, Any] | None:
    for figure in run.experiment.figures:
        if figure["measure"] == measure and all(figure.get(key) == at for key, at in place.items()):
            return figure
    return None


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def summary(run: Run) -> dict[str, Any]:
    """Give everything but the pictures, for machines."""
    return {
        "experiment": run.experiment.name,
        "title": run.experiment.title,
        "reference": run.experiment.reference,
        "date": run.date,
        "quick": run.quick,
        "settings": run.settings,
        "seconds": round(run.seconds, 1),
        "packages": run.packages,
        "verdicts": [vars(verdict) for verdict in run.verdicts],
        "notes": run.findings.notes,
        "records": run.findings.records,
        "figures": [dict(figure) for figure in run.experiment.figures],
    }


def write_results(run: Run, path: Path) -> Path:
    """Write the results as JSON, CSV and pictures into a directory, whole or not at all."""

    def write(directory: Path) -> None:
        pictures = [f"{name}.png" for name in run.findings.pictures]
        content = {**summary(run), "files": [RESULTS, RECORD, RECORDS, TABLES, *pictures]}
        for name, told in ((RESULTS, content), (RECORD, short_record(content))):
            text = json.dumps(told, ensure_ascii=False, indent=1, default=plain)
            (directory / name).write_text(text + "\n", encoding="utf-8")
        (directory / RECORDS).write_text(_table(run), encoding="utf-8")
        (directory / TABLES).write_text(_markdown(run), encoding="utf-8")
        for name, figure in run.findings.pictures.items():
            save_picture(figure, directory / f"{name}.png", dpi=_DPI)

    replace_directory(path, write, _owned)
    return path


def _table(run: Run) -> str:
    """Give the records as CSV, what was chosen as JSON in its column."""
    records = [
        {**r, "chosen": json.dumps(r["chosen"], default=plain, ensure_ascii=False)}
        for r in run.findings.records
    ]
    columns = list(dict.fromkeys(name for record in records for name in record))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _markdown(run: Run) -> str:
    """Give the tables to read, with the verdicts and notes, as Markdown."""
    lines = [f"# {run.experiment.title}"]
    for title, headers, rows in report_tables(run):
        lines += ["", f"**{title}**", ""]
        marks = ["---:" if header in run.findings.measures else "---" for header in headers]
        lines += ["| " + " | ".join(cells) + " |" for cells in (headers, marks, *rows)]
    lines += ["", "| claim | verdict | why |", "| --- | --- | --- |"]
    lines += [f"| {v.claim}: {v.text} | {v.outcome} | {v.why} |" for v in run.verdicts]
    lines += ["", *(f"- {note}" for note in run.findings.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _owned(directory: Path) -> set[str] | None:
    """Name the files of an earlier run, or nothing where the directory is not one of ours.

    One with nothing but finished trainings is: its run was stopped before the end.
    """
    if [entry.name for entry in directory.iterdir()] == [RUNS]:
        return set()
    try:
        content = json.loads((directory / RESULTS).read_text(encoding="utf-8"))
        return set(content["files"]) if "experiment" in content else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
