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
from relscape.project.outcome import by_place, methods_in
from relscape.project.runner import Run

__all__ = ["ReportTable", "report_tables", "summary", "write_results"]

RESULTS, RECORDS = "results.json", "records.csv"
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
    if len(methods) > _MOST_COLUMNS:
        return [_by_method(run)]
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


def _by_method(run: Run) -> ReportTable:
    found, rows = run.findings, []
    for record in found.records:
        place = {key: record[key] for key in found.keys}
        named = [*map(str, place.values()), record["method"]]
        rows.append([*named, "ours", *(_cell(record.get(measure)) for measure in found.measures)])
        figures = {measure: _beside(run, place, measure) for measure in found.measures}
        known = {m: figure["values"].get(record["method"]) for m, figure in figures.items() if figure}
        if any(value is not None for value in known.values()):
            source = next(figure.get("source", "check") for figure in figures.values() if figure)
            rows.append([*named, source, *(_cell(known.get(measure)) for measure in found.measures)])
    return ReportTable("all measures", [*found.keys, "method", "", *found.measures], rows)


def _beside(run: Run, place: dict[str, Any], measure: str) -> Mapping[str, Any] | None:
    for figure in run.experiment.figures:
        if figure["measure"] == measure and all(figure.get(key) == at for key, at in place.items()):
            return figure
    return None


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def summary(run: Run) -> dict[str, Any]:
    """Give everything but the pictures, for machines."""
    return {
        "experiment": run.experiment.name,
        "title": run.experiment.title,
        "reference": run.experiment.reference,
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
        content = {**summary(run), "files": [RESULTS, RECORDS, *pictures]}
        text = json.dumps(content, ensure_ascii=False, indent=1, default=plain)
        (directory / RESULTS).write_text(text + "\n", encoding="utf-8")
        (directory / RECORDS).write_text(_table(run), encoding="utf-8")
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


def _owned(directory: Path) -> set[str] | None:
    """Name the files of an earlier run, or nothing where the directory is not one of ours."""
    try:
        content = json.loads((directory / RESULTS).read_text(encoding="utf-8"))
        return set(content["files"]) if "experiment" in content else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
