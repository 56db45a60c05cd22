"""``relscape explore``: what it opens, what it writes, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import threading
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import relscape as rs
from relscape.explorer.launch import Explorer


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A small page where the package looks for its own."""
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(
        '<html><head><title>relscape</title><script type="module" src="./assets/explorer.js"></script></head>'
        "<body></body></html>"
    )
    (folder / "assets" / "explorer.js").write_text("1;")
    monkeypatch.setattr("relscape.explorer.page.FOLDER", folder)
    return folder


@pytest.fixture
def asked(monkeypatch):
    """Instead of waiting for Ctrl-C, ask a running explorer some paths, and stop it."""
    answers = {}

    def wait(explorer):
        for path in ("api/manifest", "api/2/manifest", "api/project?row=0"):
            try:
                with urllib.request.urlopen(explorer.url + path, timeout=30) as answer:
                    answers[path] = json.load(answer)
            except urllib.error.HTTPError as error:
                answers[path] = error.code
        explorer.stop()

    monkeypatch.setattr(Explorer, "wait", wait)
    return answers


def test_a_map_is_served(relscape, made, page, asked):
    done = relscape("explore", made, "--port", 0, "--no-browser")
    assert done.code == 0
    assert "The map is at http://127.0.0.1:" in done.out
    manifest = asked["api/manifest"]
    assert manifest["title"] == "pairs"
    assert manifest["relations"][0]["count"] == 11
    assert asked["api/2/manifest"] == 404


def test_ctrl_c_ends_it_well(relscape, made, page, monkeypatch):
    """Also pressed a second time, while the server stops."""
    join = threading.Thread.join

    def pressing(thread, *patience):
        if thread.name == "relscape-explorer":
            os.kill(os.getpid(), signal.SIGINT)
        return join(thread, *patience)

    monkeypatch.setattr(threading.Thread, "join", pressing)
    done = relscape("explore", made, "--port", 0, "--no-browser")
    assert done.code == 0
    assert done.out.rstrip().endswith("Stopped.")
    assert "error" not in done.err


def test_two_maps_and_a_title(relscape, made, page, asked):
    done = relscape("explore", made, made, "--port", 0, "--title", "Mine", "--without-relations", "--json")
    assert done.json["titles"] == ["Mine", "pairs"]
    assert asked["api/manifest"]["relations"] == []
    assert asked["api/2/manifest"]["title"] == "pairs"


def test_new_things(relscape, made, page, asked):
    Path("new.csv").write_text("doc,word,n\nd9,cat,3\nd9,dog,1\nd1,fish,2\n")
    assert relscape("explore", made, "--new", "new.csv", "--port", 0).code == 0
    told = asked["api/manifest"]["projection"]
    assert (told["kind"], sorted(told["names"])) == ("doc", ["d1", "d9"])
    grown = rs.place(rs.Map.load(made), rs.read("new.csv", "doc", "word", "n"))
    x, y = grown.group("doc").drawn[grown.group("doc").places[told["names"][0]]]
    landed = asked["api/project?row=0"]
    assert (landed["x"], landed["y"]) == pytest.approx((x, y))


def test_one_file(relscape, made, page):
    done = relscape("explore", made, "--html", "out/pairs.html", "--json")
    assert done.json == {"html": "out/pairs.html", "bytes": Path("out/pairs.html").stat().st_size}
    assert "relscape-data" in Path("out/pairs.html").read_text()
    assert "works offline" in relscape("explore", made, "--html", "out/pairs.html").out


def test_a_knowledge_graph(relscape, page, asked):
    facts = [(f"e{i}", "r", f"e{(i * 3 + 1) % 9}") for i in range(9)]
    model = rs.KGEmbedding("TransE", n_components=4, n_epochs=2, n_batches=2, random_state=0)
    model.fit(rs.KnowledgeGraph(facts)).save("kg")
    assert relscape("explore", "kg", "--port", 0).code == 0
    assert asked["api/manifest"]["knowledge"] == {"relations": ["r"], "entities_kind": "entity"}
    refused = relscape("explore", "kg", "--new", "x.csv")
    assert refused.code == 1
    assert "knowledge graph" in refused.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("nowhere",), "there is no map at nowhere"),
        (("maps/pairs", "maps/pairs", "--html", "x.html"), "--html writes one map"),
        (("maps/pairs", "--kind", "doc"), "--kind says"),
        (("maps/pairs", "--port", "99999"), "from 0 to 65535"),
        (("maps/pairs", "--html", "."), "it is a directory"),
        (("maps/pairs", "--new", "gone.csv"), "gone.csv"),
    ],
)
def test_what_is_refused(relscape, made, page, options, message):
    done = relscape("explore", *options)
    assert done.code == 1
    assert message in done.err


def test_a_page_that_was_not_built(relscape, made, tmp_path, monkeypatch):
    monkeypatch.setattr("relscape.explorer.page.FOLDER", tmp_path / "nothing")
    for options in ((), ("--html", "x.html")):
        done = relscape("explore", made, *options)
        assert done.code == 1
        assert "npm run build" in done.err
    assert relscape("doctor", "--json").json["explorer"].startswith("not built")
    assert "All is well but the explorer" in relscape("doctor").out


def test_the_demo_opens_the_explorer_on_a_terminal(relscape, page, asked, monkeypatch):
    names = ["asyncio", "json", "socket", *(f"module{i}" for i in range(20))]
    counts = np.random.default_rng(0).poisson(1.0, (23, 30))
    few = rs.RelationalData.from_matrix(counts, "module", "word", names, range(30), name="words")
    monkeypatch.setattr(rs.datasets, "load_stdlib", lambda: few)  # the slow parts are not asked about here
    monkeypatch.setattr("relscape.plot.save_picture", lambda *_, **__: None)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("relscape.explorer.launch._has_screen", lambda: False)
    done = relscape("demo")
    assert done.code == 0
    assert "relscape explore relscape-demo/map" in done.out
    assert asked["api/manifest"]["title"] == "The Python standard library"
    assert asked["api/manifest"]["relations"][0]["name"] == "words"
    asked.clear()
    relscape("demo", "--no-browser")
    assert not asked
