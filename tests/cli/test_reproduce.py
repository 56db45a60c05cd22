"""``relscape reproduce``: lists, runs, tells and writes."""

from __future__ import annotations

import json
from pathlib import Path


def test_list(relscape):
    done = relscape("reproduce", "list")
    assert done.code == 0
    assert "coembed-synthetic" in done.out
    assert "next: relscape reproduce" in done.out
    assert "* can be interrupted" in done.out
    assert "what is done is kept" not in done.out
    known = relscape("reproduce", "list", "--json").json
    assert known["coembed-links"]["claims"].keys() == {"W4", "W5"}


def test_what_is_missing_is_named_with_who_has_it(relscape):
    done = relscape("reproduce", "coverage")
    assert done.code == 0, done.err
    assert "figure 12" in done.out
    assert "- Places2" in done.out
    assert "MIT." in done.out
    publications = relscape("reproduce", "coverage", "--json").json["publications"]
    assert [len(publication["items"]) for publication in publications] == [15, 13, 29, 49, 10]


def test_quick_run_tells_and_writes(relscape):
    done = relscape("reproduce", "coembed-cost", "--quick")
    assert done.code == 0, done.err
    assert "the numbers mean little" in done.out
    assert "W7, CODE and MKPE are slow" not in done.out  # which only the whole experiment can tell
    assert done.out.rstrip().endswith("next: relscape reproduce coembed-cost")
    results = json.loads(Path("results/coembed-cost/results.json").read_text(encoding="utf-8"))
    assert results["quick"] is True
    assert (Path("results/coembed-cost") / "by_size.png").is_file()


def test_json_goes_where_asked(relscape):
    done = relscape("reproduce", "coembed-cost", "--quick", "--json", "-o", "elsewhere")
    assert done.json["output"] == "elsewhere"
    assert {record["method"] for record in done.json["records"]} >= {"mutual", "ca"}
    assert Path("elsewhere/records.csv").is_file()


def test_missing_data_and_names_are_explained(relscape, monkeypatch):
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    done = relscape("reproduce", "coembed-text", "--quick")
    assert done.code == 1
    assert "relscape datasets convert reuters21578" in done.err
    done = relscape("reproduce", "coembed-txt")
    assert done.code == 1
    assert "Did you mean 'coembed-text'" in done.err
