"""Maps to explore, and a small stand-in for the built page, so that no Node is needed."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.explorer.browser import LAPTOP, NO_BROWSER, browser_path, new_page, open_map, running_browser

import relscape as rs
from relscape.data import Relation
from relscape.datasets import make_cohorts
from relscape.explorer.exhibit import Exhibit
from relscape.explorer.launch import open_explorer
from relscape.explorer.page import is_built, load_page
from relscape.explorer.security import Address
from relscape.explorer.server import make_app
from relscape.maps import Group, Map

TYPES = {"f32": "<f4", "f64": "<f8", "u32": "<u4", "u16": "<u2"}
INDEX = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>relscape</title>
    <link rel="icon" href="data:image/svg+xml,%3Csvg/%3E">
    <script type="module" src="./assets/explorer.js"></script>
    <link rel="stylesheet" href="./assets/explorer.css">
  </head>
  <body><div id="app"></div></body>
</html>
"""
SCRIPT = "const end = '</script>', note = '<!-- <script> -->'; document.title = end + note;\n"
STYLE = "body { margin: 0 }\n"


@pytest.fixture(scope="session")
def read_column():
    """Read the bytes of a column as a page does, by what the manifest says of it."""

    def read(told, data):
        if told["dtype"] == "utf8":
            return json.loads(data)
        values = np.frombuffer(data, dtype=TYPES[told["dtype"]])
        assert values.size == told["length"]
        return values.reshape(told["shape"]) if "shape" in told else values

    return read


@pytest.fixture(scope="session")
def decoded(read_column):
    """Read a column of a bundle."""
    return lambda bundle, name: read_column(bundle.manifest["columns"][name], bundle.columns[name].data)


@pytest.fixture
def page_folder(tmp_path) -> Path:
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX, encoding="utf-8")
    (folder / "assets" / "explorer.js").write_text(SCRIPT, encoding="utf-8")
    (folder / "assets" / "explorer.css").write_text(STYLE, encoding="utf-8")
    (folder / ".stamp").write_text("not a part of the page", encoding="utf-8")
    return folder


@pytest.fixture
def built(page_folder, monkeypatch) -> Path:
    """The stand-in page where the package looks for its own."""
    monkeypatch.setattr("relscape.explorer.page.FOLDER", page_folder)
    return page_folder


@pytest.fixture(scope="session")
def words() -> Map:
    """Two kinds in three dimensions, with labels, fields of all types, and two relations."""
    rng = np.random.default_rng(1)
    docs, terms = 40, 25
    counts = rng.poisson(0.4, (docs, terms)).astype(float)
    near = rng.random((docs, docs)) < 0.1
    doc = Group(
        "doc",
        [f"d{i}" for i in range(docs)],
        rng.normal(size=(docs, 3)),
        labels=[f"document {i}" for i in range(docs)],
        fields={
            "degree": counts.sum(axis=1),
            "topic": np.array([["sport", "art", None, "art"][i % 4] for i in range(docs)], dtype=object),
            "number": np.arange(docs) + 2**40,
            "open": np.arange(docs) % 2 == 0,
            "note": np.array([f"note {i}" for i in range(docs)], dtype=object),
        },
    )
    term = Group("word", [f"w{j}" for j in range(terms)], rng.normal(size=(terms, 3)), fields={
        "degree": counts.sum(axis=0)
    })  # fmt: skip
    within = near | near.T
    np.fill_diagonal(within, False)
    return Map(
        [doc, term],
        model="CorrespondenceAnalysis",
        relations=[
            Relation("counts", "doc", "word", counts),
            Relation("like", "doc", "doc", within.astype(float), directed=False),
        ],
        scores={"inertia_shown": 0.5},
    )


@pytest.fixture(scope="session")
def cohort_model():
    shape = make_cohorts("sinusoid", n=180)
    return rs.COVA("E1", random_state=0).fit(shape.points, shape.labels)


@pytest.fixture(scope="session")
def cohort_map(cohort_model) -> Map:
    return cohort_model.to_map()


@pytest.fixture(scope="session")
def network_map() -> Map:
    rng = np.random.default_rng(0)
    contents = np.repeat(np.eye(3, 6), 10, axis=0) + rng.random((30, 6))
    links = [(i, i - i % 10 + (i + step) % 10) for i in range(30) for step in (1, 2, 3)]
    return (
        rs.DocumentNetwork(2, perplexity=5, random_state=0, max_iterations=50).fit(contents, links).to_map()
    )


@pytest.fixture(scope="session")
def graph_model():
    rng = np.random.default_rng(3)
    facts = {(f"e{a}", f"r{by}", f"e{b}") for a, by, b in rng.integers(0, [12, 2, 12], (80, 3)).tolist()}
    return rs.KGEmbedding("TransE", n_components=8, n_epochs=5, n_batches=5, random_state=0).fit(
        rs.KnowledgeGraph(sorted(facts))
    )


LOCAL = Address("127.0.0.1", "127.0.0.1", 8765)


@pytest.fixture
def client_of(page_folder):
    """Make a client of a server of some exhibits, without a network between."""

    def make(*exhibits, address=LOCAL, token=None) -> TestClient:
        shown = [e if isinstance(e, Exhibit) else Exhibit(e, "a map") for e in exhibits]
        app = make_app(shown, load_page(page_folder), address, token)
        return TestClient(app, base_url=f"http://{address.host}:{address.port}", follow_redirects=False)

    return make


@pytest.fixture
def finished():
    """Wait for a job and give what it says at the end."""

    def wait(client, answer):
        assert answer.status_code == 202, answer.text
        until = time.monotonic() + 60
        while time.monotonic() < until:
            told = client.get(f"/api/jobs/{answer.json()['job']}").json()
            if told["done"]:
                return told
            time.sleep(0.05)
        raise AssertionError("the job does not end")

    return wait


# ---------------------------------------------------------------------- a real browser


@pytest.fixture(scope="module")
def browser():
    """A browser for the tests of a file."""
    pytest.importorskip("playwright", reason="playwright is not installed; the extra dev has it")
    if browser_path() is None:
        pytest.skip(NO_BROWSER)
    if not is_built():
        pytest.skip("the explorer's page was not built here; install relscape again, or build it in web/")
    with running_browser() as running:
        yield running


@pytest.fixture(scope="module")
def served(browser):
    """Serve exhibits until the tests of a file have ended; gives the address."""
    running = []

    def serve(*exhibits):
        running.append(open_explorer(exhibits, port=0, browser=False))
        return running[-1].url

    yield serve
    for explorer in running:
        explorer.stop()


@pytest.fixture
def opened(browser):
    """Open a map in the browser; at the end, nothing must have been complained about."""
    pages = []

    def open_(url, size=LAPTOP, script=None, expect_complaints=False, **options):
        page = new_page(browser, size, **options)
        if not expect_complaints:
            pages.append(page)
        if script is not None:
            page.add_init_script(script)
        open_map(page, url)
        return page

    yield open_
    complaints = [complaint for page in pages for complaint in page.complaints]
    for context in browser.contexts:
        context.close()
    assert complaints == []
