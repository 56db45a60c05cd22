"""The page in a real browser: finding, filtering, selecting, saving, and links that show it again."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pytest
from PIL import Image
from tests.explorer.browser import wait_until_drawn

from relscape.explorer.exhibit import Exhibit
from relscape.maps import Group, Map

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<img src=x onerror="document.title=1">'
BOXES = """(text) => {
  const drawing = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  document.body.append(drawing);
  const names = [...drawing.querySelectorAll("text[paint-order]")];
  const found = names.map((name) => name.getBBox())
    .map(({ x, y, width, height }) => [x, y, x + width, y + height]);
  drawing.remove();
  return found;
}"""
DARK_PIXELS = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) count += data[i] < 200;
  return count;
}"""
LOOKS_LIKE_A_CARD = """() => {
  const original = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (type, options) {
    if (type !== "webgl2") return original.call(this, type, options);
    const gl = original.call(this, type, { ...options, failIfMajorPerformanceCaveat: false });
    document.documentElement.dataset.card = gl === null ? "no" : "yes";
    if (gl !== null) { gl.getParameter = () => "a graphics card"; gl.getExtension = () => null; }
    return gl;
  };
}"""


@pytest.fixture(scope="module")
def words_url(served, words):
    return served(Exhibit(words, "Words"))


@pytest.fixture
def looking(opened, words_url):
    """Open the map of words and documents, at some view."""
    return lambda hash="", **options: opened(words_url + (f"#{hash}" if hash else ""), **options)


def things(page, heading):
    """Read the names and figures of a list in the side panel."""
    rows = page.locator(f"h3:has-text('{heading}') + ol .thing")
    return [(row.locator(".name").inner_text(), row.locator(".value").inner_text()) for row in rows.all()]


def chosen_from(page, *item):
    """Save something from the menu, and give what was written."""
    page.get_by_label("Save", exact=True).first.click()
    return downloaded(page, lambda: page.get_by_role("menuitem", name=item[0]).click())


def downloaded(page, act):
    with page.expect_download() as waiting:
        act()
    return waiting.value.path().read_bytes()


def table(content):
    return [*csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))]


def places(page):
    """Read where the page has its points now, from the table that it saves."""
    return {
        (row["kind"], row["id"]): (float(row["x"]), float(row["y"]))
        for row in table(chosen_from(page, "All"))
    }


def centred(group, number, span=0.2):
    x, y = group.drawn[number]
    return f"at1={x},{y},{span}"


# ---------------------------------------------------------------------- loading and finding


def test_it_loads_and_draws(looking):
    page = looking()
    assert page.title() == "Words · relscape"
    assert page.locator(".bar .title").inner_text().split() == ["Words", "40", "docs", "·", "25", "words"]
    assert page.locator(".switches .name").all_inner_texts() == ["doc", "word"]
    assert page.locator("canvas.points").evaluate(DARK_PIXELS) > 500
    assert page.locator("canvas.over").evaluate(
        "(canvas) => new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)"
        ".data.buffer).some((pixel) => pixel !== 0)"
    )


def test_search_completes_and_shows_fields_neighbours_and_relations(looking, words):
    page = looking()
    page.keyboard.press("/")
    page.keyboard.type("ment 17")
    assert page.locator(".bar .suggestions .name").all_inner_texts() == ["document 17"]
    page.keyboard.press("Enter")
    page.wait_for_selector(".detail")
    assert page.locator(".detail h2").inner_text() == "document 17"
    assert page.locator(".detail .id").inner_text() == "d17"
    facts = page.locator(".detail dl").inner_text()
    assert "1,099,511,627,793" in facts  # 2^40 + 17, to the last digit
    assert "note 17" in facts
    for kind in words.groups:
        expected = words.neighbors(("doc", "d17"), kind, 6)
        found = things(page, f"Nearest {kind}")
        assert [name for name, _ in found] == [near.label for near in expected]
        np.testing.assert_allclose(
            [float(value) for _, value in found], [n.distance for n in expected], rtol=1e-3
        )
    related = words.relations["counts"].matrix.tocsr()[[17]].toarray()[0]
    strongest = things(page, "counts")
    assert [float(value) for _, value in strongest] == sorted(related[related > 0], reverse=True)[:8]
    assert {name for name, _ in strongest} <= {f"w{j}" for j in np.flatnonzero(related)}


def test_a_click_selects_and_neighbours_lead_on(looking, words):
    page = looking(centred(words.group("word"), 5))
    box = page.locator(".surface").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.wait_for_selector(".tooltip:visible")
    assert page.locator(".tooltip .name").inner_text() == "w5"
    page.mouse.click(*middle)
    page.wait_for_selector(".detail h2:has-text('w5')")
    near = words.neighbors(("word", "w5"), "doc", 1)[0]
    page.locator(f".detail .thing:has-text('{near.label}')").first.click()
    page.wait_for_selector(f".detail h2:has-text('{near.label}')")
    page.keyboard.press("Escape")
    page.wait_for_selector(".about")


def test_keys(looking):
    page = looking()
    for key, tool in (("b", "box"), ("l", "lasso"), ("v", "pan")):
        page.keyboard.press(key)
        assert page.locator(".surface").get_attribute("data-tool") == tool
    page.keyboard.press("?")
    assert page.locator("dialog.help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog.help").is_visible()
    page.locator(".surface").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".detail")
    first = page.locator(".detail h2").inner_text()
    page.keyboard.press("n")
    page.wait_for_function("(first) => document.querySelector('.detail h2').textContent !== first", arg=first)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.hash.includes('at1=')")
    page.keyboard.press("0")
    page.wait_for_function("() => !location.hash.includes('at1=')")


# ---------------------------------------------------------------------- filters, selections, saving


def test_the_legend_filters(looking, words):
    page = looking("color=topic")
    page.locator(".switch:has-text('word')").click()
    assert {kind for kind, _ in places(page)} == {"doc"}
    page.locator(".switch:has-text('art')").click()
    shown = {id for _, id in places(page)}
    topics = words.group("doc").fields["topic"]
    assert shown == {id for id, topic in zip(words.group("doc").ids, topics, strict=True) if topic != "art"}
    page.locator(".switches li:has-text('art')").hover()
    page.locator("button[aria-label='Show only art']").click()
    assert {id for _, id in places(page)} == {
        id for id, topic in zip(words.group("doc").ids, topics, strict=True) if topic == "art"
    }


def test_colour_and_size_by_a_number(looking):
    page = looking()
    before = page.locator("canvas.points").screenshot()
    page.get_by_label("Size by").select_option("degree")
    page.get_by_label("Colour by").select_option("degree")
    page.wait_for_selector(".ramp")
    wait_until_drawn(page)
    assert page.locator("canvas.points").screenshot() != before
    page.wait_for_function("() => location.hash.includes('size=degree')")


def test_a_box_selects_what_lies_in_it(looking, words):
    page = looking("at1=0,0,8")
    box = page.locator(".surface").bounding_box()
    scale = min(box["width"], box["height"]) / 8
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.down("Shift")
    page.mouse.move(middle[0] - 1.1 * scale, middle[1] - 0.7 * scale)
    page.mouse.down()
    page.mouse.move(middle[0] + 0.4 * scale, middle[1] + 0.9 * scale, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_selector(".selection")
    inside = {
        (kind, id)
        for kind in words.groups
        for id, (x, y) in zip(words.group(kind).ids, words.group(kind).drawn, strict=True)
        if -1.1 <= x <= 0.4 and -0.9 <= y <= 0.7
    }
    assert inside
    assert page.locator(".selection h2").inner_text() == f"{len(inside)} selected"
    rows = table(downloaded(page, lambda: page.get_by_text("Download as CSV").click()))
    assert {(row["kind"], row["id"]) for row in rows} == inside
    assert [row["topic"] for row in rows if row["id"] == "d2"] in ([], [""])  # nothing known is an empty cell
    page.keyboard.press("Escape")
    page.wait_for_selector(".about")


def test_a_lasso_selects_too(looking):
    page = looking("at1=0,0,8")
    page.keyboard.press("l")
    box = page.locator(".surface").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y - 250)
    page.mouse.down()
    for corner in ((x + 300, y), (x, y + 250), (x - 300, y), (x, y - 250)):
        page.mouse.move(*corner, steps=4)
    page.mouse.up()
    page.wait_for_selector(".selection")
    held = int(page.locator(".selection h2").inner_text().split()[0])
    assert 5 < held < 65
    assert page.locator(".surface").get_attribute("data-tool") == "pan"


def test_pictures_are_saved(looking):
    page = looking()
    png = chosen_from(page, "Picture")
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    size = page.locator(".surface").bounding_box()
    assert int.from_bytes(png[16:20]) == 2 * size["width"]
    drawing = ET.fromstring(chosen_from(page, "Drawing"))
    assert drawing.find(f"{SVG}title").text == "Words"
    assert len(drawing.findall(f"{SVG}path")) >= 65


@pytest.mark.parametrize(
    "hash", ["", "labels=doc=1|word=1", "focus=doc:d3", "at1=0,0,1.5", "region=-1,-1,1,-1,1,1,-1,1"]
)
def test_names_never_overlap(looking, hash):
    page = looking(hash)
    page.wait_for_timeout(400)
    boxes = np.array(page.evaluate(BOXES, chosen_from(page, "Drawing").decode()))
    assert len(boxes) > 3
    x0, y0, x1, y1 = boxes.T
    across = np.minimum(x1[:, None], x1) - np.maximum(x0[:, None], x0)
    down = np.minimum(y1[:, None], y1) - np.maximum(y0[:, None], y0)
    meets = (across > 0.5) & (down > 0.5) & ~np.eye(len(boxes), dtype=bool)
    assert not meets.any()


def test_each_kind_has_a_slider_for_its_names(looking):
    def named(page):
        page.wait_for_timeout(200)
        drawing = ET.fromstring(chosen_from(page, "Drawing"))
        names = [text.text for text in drawing.iter(f"{SVG}text") if "paint-order" in text.attrib]
        return sum(name.startswith("document") for name in names), sum(name.startswith("w") for name in names)

    page = looking()
    docs, terms = named(page)
    assert docs > 5 < terms
    slider = page.get_by_label("How many names of kind doc")
    slider.fill("0.2")
    fewer, _ = named(page)
    assert 0 < fewer < docs
    slider.fill("0")
    assert named(page)[0] == 0
    page.get_by_label("Most important by").select_option("number")
    slider.fill("0.05")
    first = ET.fromstring(chosen_from(page, "Drawing"))
    assert "document 39" in [text.text for text in first.iter(f"{SVG}text")]  # the largest number


# ---------------------------------------------------------------------- links, themes, other ways of drawing


def settled(page):
    """Wait until nothing changes any more, and give the drawing."""
    page.wait_for_selector(".detail")
    drawing, last = b"", b" "
    while drawing != last:
        page.wait_for_timeout(700)
        drawing, last = chosen_from(page, "Drawing"), drawing
    return drawing


def parts(drawing):
    """Take a drawing apart: all that is written, and all numbers."""
    texts = [text.text for text in ET.fromstring(drawing).iter(f"{SVG}text")]
    return texts, [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", drawing.decode())]


def test_a_link_shows_the_same_again(looking, opened):
    page = looking()
    page.get_by_label("Colour by").select_option("topic")
    page.locator(".switch:has-text('sport')").click()
    page.get_by_label("How many names of kind word").fill("0.3")
    page.locator(".surface").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("+")
    texts, numbers = parts(settled(page))
    again = opened(page.url)
    same_texts, same_numbers = parts(settled(again))
    assert same_texts == texts
    np.testing.assert_allclose(same_numbers, numbers, atol=0.3)  # places in an address have seven digits
    assert parse_qs(urlsplit(again.url).fragment).keys() >= {"color", "classes", "labels", "focus", "at1"}


def test_an_address_that_changes_changes_the_view(looking):
    page = looking("color=topic")
    page.wait_for_selector(".color-key")
    page.evaluate("() => { location.hash = 'kinds=word&focus=doc:d4'; }")
    page.wait_for_selector(".detail h2:has-text('document 4')")
    assert page.locator(".color-key").count() == 0
    assert page.locator(".switch:has-text('word')").get_attribute("aria-pressed") == "false"


@pytest.mark.parametrize(
    "hash", ["color=nothing", "focus=word:none", "at1=a,b", "region=1,2", "moved=x", "row=9", "ask=x"]
)
def test_addresses_that_make_no_sense_do_no_harm(looking, hash):
    page = looking(hash)
    assert page.locator(".about h2").inner_text() == "This map"


def test_dark_as_the_system_or_as_chosen(looking):
    page = looking(color_scheme="dark")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    paper = "() => getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(20, 23, 28)"
    assert page.locator("canvas.points").evaluate(
        "(canvas) => [...canvas.getContext('2d').getImageData(0, 0, 1, 1).data]"
    ) == [20, 23, 28, 255]
    button = page.locator("button[aria-label^='Colours of the page']")
    button.click()
    page.wait_for_function("() => document.documentElement.dataset.theme === 'light'")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"


def test_a_graphics_card_draws_the_same(looking):
    """The layer for graphics cards, made to run in the software renderer, agrees with the processor's."""

    def ink(page):
        page.evaluate(
            "() => { for (const part of document.querySelectorAll('.surface, .over, .map-tools, .map-note')) "
            "part.style.visibility = 'hidden'; }"
        )
        content = io.BytesIO(page.locator(".map").first.screenshot())
        return np.asarray(Image.open(content).convert("RGB"), dtype=float)

    plain = looking("color=topic&size=degree")
    card = looking("color=topic&size=degree", script=f"({LOOKS_LIKE_A_CARD})()")
    if card.locator("html").get_attribute("data-card") != "yes":
        pytest.skip("this browser has no WebGL 2, not even in software")
    drawn, expected = ink(card), ink(plain)
    assert (expected < 250).mean() > 0.002
    assert np.abs(drawn - expected)[expected < 250].mean() < 12.0
    assert (np.abs(drawn - expected) > 100).mean() < 2e-3


def test_names_are_never_markup(opened, served):
    places = np.random.default_rng(0).normal(size=(6, 2))
    group = Group(HOSTILE, [f"{HOSTILE}{i}" for i in range(6)], places, fields={HOSTILE: np.arange(6) * 1.5})
    page = opened(f"{served(Exhibit(Map([group], model=HOSTILE), HOSTILE))}#color={quote(HOSTILE)}")
    page.keyboard.press("/")
    page.keyboard.type("img")
    page.keyboard.press("Enter")
    page.wait_for_selector(".detail")
    assert page.locator("img").count() == 0
    assert page.title() == f"{HOSTILE} · relscape"
    assert page.locator(".detail h2").inner_text().startswith(HOSTILE)
    ET.fromstring(chosen_from(page, "Drawing"))


def test_a_server_that_is_gone_is_told(opened, words, monkeypatch):
    from relscape.explorer import bundle
    from relscape.explorer.launch import open_explorer

    monkeypatch.setattr(bundle, "MOST_COORDINATES", 10)  # neighbours are asked of the server
    explorer = open_explorer([Exhibit(words, "Words")], port=0, browser=False)
    page = opened(explorer.url, expect_complaints=True)
    page.locator(".surface").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".detail h3:has-text('Nearest doc')")
    explorer.stop()
    page.keyboard.press("n")
    page.wait_for_selector(".alarm:visible")
    assert "Is “relscape explore” still running?" in page.locator(".alarm").inner_text()
