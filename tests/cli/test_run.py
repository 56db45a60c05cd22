"""``relscape run``: what it prints, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

import relscape as rs

FILE = """
[kinds.doc]
[kinds.word]

[relations.counts]
table = "pairs.csv"
from = "doc"
to = "word"
weight = "n"

[models.map]
method = "ca"

[outputs.table]
file = "table.csv"
"""


@pytest.fixture
def study(relscape, pairs) -> Path:
    Path("relscape.toml").write_text(FILE)
    return Path("relscape.toml")


def test_a_run_and_another(relscape, study):
    dry = relscape("run", "--dry-run")
    assert dry.code == 0
    assert "relscape.toml: 2 to build" in dry.out
    assert dry.out.rstrip().endswith("next: relscape run")
    assert not Path("maps").exists()
    done = relscape("run")
    assert done.code == 0, done.err
    assert "relscape.toml: 2 built" in done.out
    assert "inertia_shown" in done.out
    assert "relscape explore maps/map" in done.out
    assert Path("table.csv").exists()
    again = relscape("run", "--json")
    assert [step["status"] for step in again.json["steps"]] == ["up to date"] * 2
    assert again.json["steps"][0]["scores"]["inertia_shown"] > 0
    forced = relscape("run", "map", "--force", "--json")
    assert [(step["name"], step["why"]) for step in forced.json["steps"]] == [
        ("map", "forced"),
        ("table", "forced"),
    ]
    info = relscape("info", "maps/map", "--json")
    assert set(info.json["provenance"]["run"]) == {"data", "settings", "code"}


def test_failures_end_with_one(relscape, study):
    study.write_text(FILE.replace('method = "ca"', 'method = "ca"\nn_components = 99'))
    done = relscape("run")
    assert done.code == 1
    assert "1 skipped, 1 failed" in done.out
    assert "error: model map: relscape.toml, [models.map]: " in done.err
    study.write_text(FILE.replace('method = "ca"', 'method = "ca"\nscalin = 1'))
    done = relscape("run")
    assert (done.code, done.out) == (1, "")
    assert "no parameter 'scalin'" in done.err
    assert "Did you mean 'scaling'" in done.err
    refused = relscape("run", "-f", "other")
    assert (refused.code, refused.out) == (1, "")
    assert "no project file" in refused.err
    study.write_text(FILE)
    assert "Did you mean 'table'" in relscape("run", "tabel").err


@pytest.mark.parametrize(
    ("tables", "method"),
    [
        ({"pairs": "doc,word,n\na,x,1\na,y,2\nb,y,3\nb,z,1\nc,z,2\nc,x,1\n"}, "CorrespondenceAnalysis"),
        (
            {
                "orders": "guest,dish\n" + "".join(f"g{i},d{i * j % 5}\n" for i in range(8) for j in (1, 2)),
                "visits": "guest,day\n" + "".join(f"g{i},t{i * j % 3}\n" for i in range(8) for j in (1, 2)),
            },
            "MultiCODE",
        ),
        (
            {
                "cells": "cell,f1,f2,f3\n"
                + "".join(f"c{i},{i % 3}.{i},{i % 2}.5{i},{(i * 7) % 11}.25\n" for i in range(40))
            },
            "COVA",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::relscape.errors.RelscapeWarning")
def test_what_init_writes_can_be_run_at_once(relscape, tables, method):
    for name, content in tables.items():
        Path(f"{name}.csv").write_text(content)
    drafted = relscape("init", *(f"{name}.csv" for name in tables))
    assert drafted.code == 0, drafted.err
    done = relscape("run")
    assert done.code == 0, done.err + done.out
    assert rs.Map.load("maps/overview").model == method
    assert Path("overview.png").stat().st_size > 1000


def test_new_things_are_placed_as_the_file_read_the_old(relscape):
    texts = [("cats purr softly today", "pets"), ("ships sail far away", "sea")]
    lines = [f"t{i},{texts[i % 2][1]},{texts[i % 2][0]} {'often' if i % 3 else 'now'}" for i in range(24)]
    Path("texts.csv").write_text("\n".join(["text,topic,body", *lines]) + "\n")
    Path("relscape.toml").write_text(
        '[kinds.text]\ntable = "texts.csv"\ntext = "body"\nlabel = "topic"\n'
        '[models.topics]\nmethod = "cohorts"\nn_neighbors = 5\n'
    )
    assert relscape("run").code == 0
    Path("new.csv").write_text("text,body\nfresh,ships sail far away often\n")
    placed = relscape("place", "maps/topics", "new.csv", "--json")
    assert placed.code == 0, placed.err
    assert placed.json["cohorts"] == {"fresh": "sea"}
