"""The pictures of the explorer in the documentation, taken in a real browser of real maps.

Everything is read from the Python that runs this, so another version of Python gives somewhat other pictures.

    python -m tests.explorer.pictures [FOLDER] [NAME ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits
from tests.explorer.browser import LAPTOP, new_page, open_map, running_browser

import relscape as rs
from relscape.explorer.exhibit import Exhibit, land
from relscape.explorer.launch import open_explorer

FOLDER = Path("docs/pictures/explorer")
DIGITS = 900
LEVELS = [round(round(value * 63 / 255) * 255 / 63) for value in range(256)] * 3
NEW = {
    "a mail client": "mail message imap smtp login mailbox header mime",
    "a job runner": "process thread queue task wait timeout lock",
    "a site scraper": "http url request html parse tag cookie response header",
}


@cache
def library() -> rs.Map:
    """Modules of the standard library and the words of their documentation."""
    data = rs.datasets.load_stdlib().only("words")
    joint = rs.CorrespondenceAnalysis(n_components=12).fit(data).to_map()
    return joint.layout("tsne").with_relations(data.relations.values())


@cache
def plane() -> rs.Map:
    """The same in the plane of correspondence analysis, as it is."""
    data = rs.datasets.load_stdlib().only("words")
    return rs.CODE(model="CM", random_state=0, n_restarts=1).fit(data).to_map()


@cache
def digits() -> rs.Map:
    """Handwritten digits as cohorts."""
    content = load_digits()
    names = [f"digit {number}" for number in content.target[:DIGITS]]
    return rs.COVA("E1", random_state=0).fit(content.data[:DIGITS], names).to_map()


@cache
def facts() -> Any:
    """A model of what the standard library states about itself."""
    return rs.KGEmbedding(
        "RotatE", 64, loss="self-adversarial", negatives=64, n_batches=20, n_epochs=40, random_state=0
    ).fit(rs.datasets.load_stdlib_facts())


@cache
def imports() -> rs.Map:
    """Modules as documents that import each other."""
    data = rs.datasets.load_stdlib()
    modules = data.entities["module"].ids
    links = rs.read_links(data.only("imports"), modules)
    model = rs.DocumentNetwork(content_weight=0.3, row_normalize=True, random_state=0)
    return model.fit(data.only("words"), links).to_map().layout("tsne")


def newcomers() -> Exhibit:
    """Modules that do not exist, by some words."""
    known = set(library().group("word").ids)
    pairs = [(name, word) for name, text in NEW.items() for word in text.split() if word in known]
    new = rs.RelationalData.from_edges(pairs, rows="module", columns="word")
    return Exhibit(library(), "The Python standard library", newcomers=land(library(), new))


def knowledge() -> Exhibit:
    """Entities and relations, with the model that answers."""
    return Exhibit(facts().to_map(), "Facts of the standard library", knowledge=facts())


# ---------------------------------------------------------------------- what to do on each page


def drag_cohorts(page: Any) -> None:
    """Arrange some digits by hand: look-alikes side by side."""
    for name, (x, y) in {"digit 3": (150, -90), "digit 9": (40, -40), "digit 7": (-110, 60)}.items():
        box = page.locator(f".handle[data-cohort='{name}'] .knob").bounding_box()
        start = (box["x"] + 12, box["y"] + 12)
        page.mouse.move(*start)
        page.mouse.down()
        page.mouse.move(start[0] + x, start[1] + y, steps=8)
        page.mouse.up()
    page.mouse.move(900, 740)
    page.wait_for_function("() => /^0/.test(document.querySelector('[data-figure=S_n]').textContent)")


def draw_lasso(page: Any) -> None:
    """Select a corner of the map by hand."""
    page.keyboard.press("l")
    corners = [(400, 250), (420, 190), (500, 175), (590, 215), (600, 300), (540, 350), (430, 350), (400, 250)]
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=6)
    page.mouse.up()
    page.mouse.move(900, 745)


def nothing(_: Any) -> None:
    """Leave the page as it is."""


Picture = tuple[Callable[[], Sequence[Exhibit]], str, Callable[[Any], None], str]
LIBRARY = "The Python standard library"
PICTURES: dict[str, Picture] = {
    "map": (lambda: [Exhibit(library(), LIBRARY)], "color=chapter", nothing, "light"),
    "thing": (lambda: [Exhibit(library(), LIBRARY)], "color=chapter&focus=module:json", nothing, "light"),
    "dark": (lambda: [Exhibit(library(), LIBRARY)], "color=degree&size=degree", nothing, "dark"),
    "selection": (lambda: [Exhibit(library(), LIBRARY)], "color=chapter", draw_lasso, "light"),
    "compare": (
        lambda: [Exhibit(library(), "Correspondence analysis"), Exhibit(plane(), "CODE")],
        "color=chapter&focus=module:json",
        nothing,
        "dark",
    ),
    "cohorts": (lambda: [Exhibit(digits(), "Handwritten digits")], "", drag_cohorts, "light"),
    "facts": (lambda: [knowledge()], "ask=head|entity:json.JSONDecodeError|inherits", nothing, "light"),
    "network": (
        lambda: [Exhibit(imports(), "Who imports whom")],
        "color=chapter&suggest=1&focus=module:ftplib",
        nothing,
        "light",
    ),
    "newcomers": (lambda: [newcomers()], "color=chapter&row=0", nothing, "light"),
}


def take(browser: Any, name: str, folder: Path) -> Path:
    """Take one picture; channels of 64 levels make it smaller, and the legend keeps its colours."""
    from PIL import Image

    exhibits, view, act, scheme = PICTURES[name]
    target = folder / f"{name}.png"
    with open_explorer(exhibits(), port=0, browser=False) as explorer:
        page = new_page(browser, LAPTOP, color_scheme=scheme)
        open_map(page, f"{explorer.url}#{view}")
        act(page)
        page.wait_for_timeout(4_000)  # until what was said is gone
        page.screenshot(path=target)
        page.context.close()
    with Image.open(target) as picture:
        picture.convert("RGB").point(LEVELS).save(target, optimize=True)
    return target


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with running_browser() as browser:
        for name in sys.argv[2:] or PICTURES:
            path = take(browser, name, folder)
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
