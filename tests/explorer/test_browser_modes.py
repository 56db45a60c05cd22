"""What a page can do with some maps: cohorts, two maps, facts, networks, newcomers; and the single file."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from tests.explorer.browser import new_page, wait_until_drawn

import relscape as rs
from relscape.cli.guides import read_prototypes
from relscape.explorer.exhibit import Exhibit, land
from relscape.explorer.html import write_html
from relscape.maps import Group, Map
from relscape.models.registry import revive
from relscape.scores import cohort_position, cohort_separation, neighbor_preservation

NOTE_PROGRESS = """() => {
  const bar = document.querySelector("progress");
  const note = () => { if (!bar.hidden) window.progressShown = true; };
  new MutationObserver(note).observe(bar, { attributes: true });
}"""
STILL = {"reduced_motion": "reduce"}  # no journeys to wait for


def downloaded(page, act):
    with page.expect_download() as waiting:
        act()
    return waiting.value.path().read_bytes()


def places(page, kind):
    """Read where the page has the points of a kind now, from the table that it saves."""
    page.get_by_label("Save", exact=True).first.click()
    content = downloaded(page, lambda: page.get_by_role("menuitem", name="All shown points").click())
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    return np.array([(row["x"], row["y"]) for row in rows if row["kind"] == kind], dtype=float)


def figure(page, name):
    return float(page.locator(f"[data-figure={name}]").inner_text())


def shows(page, name, value):
    """Wait until a figure, which is first shown as it was and then as dots, is this one."""
    page.wait_for_function(
        "([name, value]) => Math.abs("
        "Number(document.querySelector(`[data-figure=${name}]`).textContent) - value) < 0.006",
        arg=[name, float(value)],
    )


def knob(page, name):
    box = page.locator(f".handle[data-cohort='{name}'] .knob").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, name, by, drop=True):
    x, y = knob(page, name)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by[0], y + by[1], steps=5)
    if drop:
        page.mouse.up()


def things(page, heading):
    rows = page.locator(f"h3:has-text('{heading}') + ol .thing, h3:has-text('{heading}') ~ ol .thing")
    return [(row.locator(".name").inner_text(), row.locator(".value").inner_text()) for row in rows.all()]


@pytest.fixture(scope="module")
def cohort_url(served, cohort_map):
    return served(Exhibit(cohort_map, "Cohorts"))


# ---------------------------------------------------------------------- cohorts


def test_samples_follow_a_dragged_prototype(opened, cohort_url, cohort_model, cohort_map):
    page = opened(cohort_url, **STILL)
    name = cohort_map.group("cohort").shown[2]
    drag(page, name, (90, -60))
    page.wait_for_function("() => location.hash.includes('moved=')")
    prototypes = places(page, "cohort")
    moved = np.flatnonzero(np.abs(prototypes - cohort_model.prototypes_).max(axis=1) > 1e-5)
    assert moved.tolist() == [2]
    shown = places(page, "sample")
    expected = cohort_model.response_ @ prototypes
    step = np.abs(prototypes - cohort_model.prototypes_).max()
    np.testing.assert_allclose(shown, expected, atol=2e-4 * step + 1e-5)
    assert np.abs(shown - cohort_model.embedding_).max() > 0.3 * step  # and they did move
    labels = cohort_model.labels_
    assert figure(page, "S_c") == pytest.approx(cohort_position(expected, labels, prototypes), abs=0.006)
    assert figure(page, "S_s") == pytest.approx(cohort_separation(expected, labels), abs=0.006)
    kept = neighbor_preservation(cohort_model.features_, expected, labels, random_state=0)
    shows(page, "S_n", kept)


def test_points_are_drawn_where_they_are_dragged_to(opened, cohort_url, cohort_model, cohort_map):
    """While the mouse is still down, samples of a cohort that is dragged stand at their new places."""
    page = opened(cohort_url, **STILL)
    names = cohort_map.group("cohort").shown
    before = np.array([knob(page, name) for name in names])
    scale = np.ptp(before[:, 0]) / np.ptp(cohort_model.prototypes_[:, 0])  # pixels of a unit
    drag(page, names[1], (120, 80), drop=False)
    wait_until_drawn(page)
    now = np.array([knob(page, name) for name in names])
    np.testing.assert_allclose(now[1] - before[1], (120, 80), atol=1.0)
    prototypes = cohort_model.prototypes_.copy()
    prototypes[1] += np.array([120, -80]) / scale
    expected = cohort_model.response_ @ prototypes
    origin = before[0] - scale * np.array([1, -1]) * cohort_model.prototypes_[0]
    on_screen = origin + scale * np.array([1, -1]) * expected
    clear = np.linalg.norm(on_screen[:, None] - now[None], axis=2).min(axis=1) > 40
    canvas = page.locator("canvas.points").bounding_box()
    inked = page.locator("canvas.points").evaluate(
        """(canvas, places) => {
          const context = canvas.getContext("2d");
          return places.map(([x, y]) => Math.min(...context.getImageData(x, y, 1, 1).data) < 200);
        }""",
        (on_screen[clear] - [canvas["x"], canvas["y"]]).tolist(),
    )
    page.mouse.up()
    assert len(inked) > 10
    assert np.mean(inked) > 0.98
    page.complaints.clear()  # reading pixels back is told to be slow


def test_undo_reset_and_keys(opened, cohort_url, cohort_model, cohort_map):
    page = opened(cohort_url, **STILL)
    undo, reset = page.get_by_label("Undo the last move"), page.get_by_label("Put all cohorts back")
    assert undo.is_disabled()
    first, second = cohort_map.group("cohort").shown[:2]
    drag(page, first, (60, 20))
    after_one = places(page, "sample")
    page.locator(f".handle[data-cohort='{second}']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    assert np.abs(places(page, "sample") - after_one).max() > 0
    undo.click()
    undo.click()
    np.testing.assert_allclose(places(page, "sample"), after_one, atol=1e-6)
    reset.click()
    np.testing.assert_allclose(places(page, "sample"), cohort_model.embedding_, atol=1e-5)
    assert reset.is_disabled()
    undo.click()
    np.testing.assert_allclose(places(page, "sample"), after_one, atol=1e-6)


def test_an_arrangement_is_taken_by_the_command_line(opened, cohort_url, cohort_map, tmp_path):
    page = opened(cohort_url, **STILL)
    drag(page, cohort_map.group("cohort").shown[0], (-70, 40))
    saved = tmp_path / "arrangement.csv"
    saved.write_bytes(downloaded(page, lambda: page.get_by_text("Download arrangement").click()))
    labels = np.array(cohort_map.group("sample").fields["cohort"], dtype=object)
    read = read_prototypes(str(saved), labels, 2)
    np.testing.assert_allclose(read, places(page, "cohort"), atol=1e-5)


def test_a_link_holds_the_arrangement(opened, cohort_url, cohort_map):
    page = opened(cohort_url, **STILL)
    drag(page, cohort_map.group("cohort").shown[3], (50, 50))
    page.get_by_label("Colour by").select_option("")
    page.wait_for_function("() => location.hash.includes('moved=') && location.hash.includes('color=')")
    again = opened(page.url, **STILL)
    np.testing.assert_allclose(places(again, "sample"), places(page, "sample"), atol=1e-4)
    assert again.get_by_label("Colour by").input_value() == ""


def test_another_alpha_is_fitted_by_the_server(opened, cohort_url, cohort_model):
    page = opened(cohort_url)
    page.get_by_label("Weight α").fill("0.3")
    page.get_by_text("Recompute").click()
    page.wait_for_selector(".mode.cohorts [role=status]:has-text('Computed: E1, α = 0.30')")
    page.wait_for_timeout(1_200)  # the journey
    fresh = rs.COVA("E1", alpha=0.3, prototypes=cohort_model.prototypes_, random_state=0)
    fresh.fit(cohort_model.features_, cohort_model.labels_)
    np.testing.assert_allclose(places(page, "sample"), fresh.embedding_, atol=1e-4)
    drag(page, page.locator(".handle").first.get_attribute("data-cohort"), (80, 40))
    prototypes = places(page, "cohort")
    np.testing.assert_allclose(places(page, "sample"), fresh.response_ @ prototypes, atol=1e-3)
    kept = neighbor_preservation(fresh.features_, fresh.move(prototypes), fresh.labels_, random_state=0)
    shows(page, "S_n", kept)


def test_another_variant_shows_its_progress(opened, cohort_url):
    page = opened(cohort_url, **STILL)
    before = places(page, "sample")
    page.get_by_label("Variant").select_option("E2")
    page.evaluate(NOTE_PROGRESS)
    page.get_by_text("Recompute").click()
    page.wait_for_selector(".mode.cohorts [role=status]:has-text('Computed: E2')")
    assert page.evaluate("() => window.progressShown")
    assert not page.locator("progress").is_visible()
    assert np.abs(places(page, "sample") - before).max() > 0.01
    assert "not linear" in page.locator(".mode.cohorts").inner_text()


def test_a_map_without_its_model_says_why_it_cannot_be_fitted(opened, served, cohort_map):
    bare = Map(
        [cohort_map.group(kind) for kind in cohort_map.groups],
        model="COVA",
        parameters=cohort_map.parameters,
        arrays=cohort_map.arrays,
    )
    page = opened(served(Exhibit(bare, "Bare")))
    button = page.get_by_text("Recompute")
    assert button.is_disabled()
    assert "model" in button.get_attribute("title")
    assert button.get_attribute("title") in page.locator(".mode.cohorts [role=status]").inner_text()


# ---------------------------------------------------------------------- two maps


@pytest.fixture(scope="module")
def two_url(served, words):
    rng = np.random.default_rng(5)
    doc = words.group("doc")
    fewer = Group("doc", doc.ids[:30], rng.normal(size=(30, 2)), labels=doc.shown[:30], fields={
        "topic": doc.fields["topic"][:30]
    })  # fmt: skip
    tags = Group("tag", [f"t{i}" for i in range(8)], rng.normal(size=(8, 2)))
    return served(Exhibit(words, "Before"), Exhibit(Map([fewer, tags], model="other"), "After"))


def test_two_maps_share_what_is_looked_at(opened, two_url):
    page = opened(two_url)
    assert page.locator(".map-title").all_inner_texts() == ["Before", "After"]
    assert page.locator(".legend .switch .name").all_inner_texts() == ["doc", "word", "tag"]
    page.keyboard.press("/")
    page.keyboard.type("t3")
    page.keyboard.press("Enter")  # only the second map has it
    page.wait_for_selector(".detail h2:has-text('t3')")
    assert [name for name, _ in things(page, "Nearest tag")] != []
    surfaces = page.locator(".surface").all()
    surfaces[1].focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".detail")


def test_a_selection_on_one_map_is_one_on_the_other(opened, two_url, words):
    page = opened(two_url)
    box = page.locator(".surface").nth(1).bounding_box()
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + box["height"] - 80, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_selector(".selection")
    assert page.locator(".selection h2").inner_text() == "38 selected"
    page.wait_for_function("() => location.hash.includes('on=1')")
    again = opened(page.url)
    again.wait_for_selector(".selection h2:has-text('38 selected')")
    # On the first map the other ten documents and all words are pale, the thirty are not.
    strong = page.locator("canvas.points").first.evaluate(
        """(canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let i = 0; i < data.length; i += 4) count += data[i + 2] - data[i] > 150;
          return count;
        }"""
    )
    assert strong > 100


# ---------------------------------------------------------------------- facts, links, newcomers


def test_facts_are_asked_and_shown(opened, served, graph_model):
    page = opened(served(Exhibit(graph_model.to_map(), "Facts", knowledge=graph_model)))
    page.get_by_label("Relation", exact=True).select_option("r1")
    page.get_by_role("combobox", name="Entity to ask about").fill("e3")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answers h3")
    expected = graph_model.predict_tails("e3", "r1", 20, exclude_known=False)
    found = things(page, "e3 · r1 · ?")
    assert [name for name, _ in found] == [answer.name for answer in expected]
    energies = [float(value.replace("−", "-")) for _, value in found]
    np.testing.assert_allclose(energies, [answer.energy for answer in expected], rtol=1e-3)
    known = page.locator(".answers li.known .name").all_inner_texts()
    assert known == [answer.name for answer in expected if answer.known]
    page.get_by_label("Ask for").select_option("tail")
    page.wait_for_selector(".answers h3:has-text('? · r1 · e3')")
    heads = graph_model.predict_heads("r1", "e3", 20, exclude_known=False)
    assert [name for name, _ in things(page, "? · r1 · e3")] == [answer.name for answer in heads]
    page.wait_for_function("() => location.hash.includes('ask=tail')")
    again = opened(page.url)
    again.wait_for_selector(".answers h3:has-text('? · r1 · e3')")


def test_links_are_drawn_and_suggested(opened, served, network_map):
    page = opened(served(Exhibit(network_map, "Network")), **STILL)
    draw = page.get_by_label(re.compile("Draw all"))
    assert draw.is_checked()
    with_links = page.locator("canvas.points").screenshot()
    draw.uncheck()
    wait_until_drawn(page)
    assert page.locator("canvas.points").screenshot() != with_links
    page.get_by_label(re.compile("Suggest links")).check()
    assert "Select a" in page.locator(".answers").inner_text()
    page.keyboard.press("/")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answers h3:has-text('Links 5 might have')")
    model = revive(network_map.model_state)
    expected = [link.id for link in model.predict_links("5", 10)]
    assert [name for name, _ in things(page, "Links 5 might have")] == expected
    page.get_by_label("Save", exact=True).first.click()
    drawing = downloaded(page, lambda: page.get_by_role("menuitem", name="Drawing").click()).decode()
    assert drawing.count("stroke-dasharray") == len(expected)
    assert "stroke-opacity" in drawing


def test_newcomers_land(opened, served, cohort_model, cohort_map):
    new = cohort_model.features_[[4, 90]] + 0.02
    data = rs.RelationalData.from_matrix(
        new, "sample", "feature", ["fresh", "other"], cohort_model.column_entities_.ids
    )
    page = opened(served(Exhibit(cohort_map, "New", newcomers=land(cohort_map, data))), **STILL)
    page.get_by_role("combobox", name="New sample to place").fill("oth")
    page.keyboard.press("Enter")
    page.wait_for_selector("h3:has-text('Nearest sample')")
    expected = cohort_map.nearest(cohort_model.transform(new)[1], "sample", 3)
    assert [name for name, _ in things(page, "Nearest sample")][:3] == [near.label for near in expected]
    page.get_by_role("button", name="Previous").click()
    page.wait_for_function("() => location.hash.includes('row=0')")
    assert page.get_by_role("button", name="Previous").is_disabled()


# ---------------------------------------------------------------------- the single file


def test_a_file_works_from_disk_without_a_network(opened, cohort_model, cohort_map, tmp_path):
    path = write_html(Exhibit(cohort_map, "From disk"), tmp_path / "map.html")
    page = opened(path.as_uri(), offline=True, **STILL)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    drag(page, cohort_map.group("cohort").shown[4], (70, 30))
    prototypes = places(page, "cohort")
    np.testing.assert_allclose(places(page, "sample"), cohort_model.response_ @ prototypes, atol=1e-3)
    assert page.get_by_text("Recompute").is_disabled()
    assert "relscape explore" in page.get_by_text("Recompute").get_attribute("title")
    page.keyboard.press("/")
    page.keyboard.type("17")
    page.keyboard.press("Enter")
    page.wait_for_selector(".detail h3:has-text('Nearest sample')")
    expected = cohort_map.neighbors(("sample", "17"), "sample", 6)
    assert [name for name, _ in things(page, "Nearest sample")][:6] == [near.label for near in expected]
    page.wait_for_timeout(500)
    assert [url for url in asked if not url.startswith("blob:")] == []


def test_a_map_in_a_notebook_is_the_page(browser, words, tmp_path):
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><body>{words._repr_html_()}</body>", encoding="utf-8")
    page = new_page(browser, offline=True)
    page.goto(notebook.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready=yes]").wait_for(state="attached")
    frame.locator(".switch:has-text('word')").click()
    assert frame.locator(".switch:has-text('word')").get_attribute("aria-pressed") == "false"
    assert page.complaints == []
    page.context.close()
