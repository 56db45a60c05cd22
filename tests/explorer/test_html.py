"""The single file: everything in it, nothing outside, and no name that can become a tag."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import struct
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from relscape.errors import FormatError, StorageError
from relscape.explorer import doors
from relscape.explorer.bundle import make_bundle
from relscape.explorer.exhibit import Exhibit
from relscape.explorer.html import container, single_page, write_html
from relscape.explorer.page import Page, is_built, load_page
from relscape.maps import Group, Map

HOSTILE = [
    "</script><script>alert(1)</script>",
    '" onload="alert(1)',
    "' autofocus onfocus='alert(1)",
    "<!-- <script>",
    "]]>",
    "line\u2028and\u2029paragraph",
    "&lt;img src=x onerror=alert(1)&gt;",
    "\u202eevil\u0000",
]


class Tags(HTMLParser):
    """Collects the elements of a page, and the text of scripts and styles, as a browser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open = tag if tag in ("script", "style", "title") else None
        if self.open:
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            self.texts[self.open][-1] += data


@pytest.fixture
def hostile() -> Map:
    fields = {"topic": np.array(HOSTILE, dtype=object), HOSTILE[0]: np.arange(len(HOSTILE)) * 1.5}
    group = Group(HOSTILE[0], HOSTILE, np.arange(16.0).reshape(8, 2), labels=HOSTILE[::-1], fields=fields)
    return Map([group], model=HOSTILE[1])


@pytest.fixture
def page(page_folder):
    return load_page(page_folder)


def opened(text):
    """Read the data of a single file back, as the page does: the manifest, and all bytes."""
    found = re.search(r'id="relscape-data">([A-Za-z0-9+/=]*)</script>', text)
    content = gzip.decompress(base64.b64decode(found[1], validate=True))
    assert content[:8] == b"RELSCAPE"
    (length,) = struct.unpack("<I", content[8:12])
    return json.loads(content[12 : 12 + length]), content


def test_data_come_back_from_the_file(words, page, read_column):
    bundle = make_bundle(Exhibit(words, "words"), served=False)
    manifest, data = opened(single_page(bundle, page))
    assert {**manifest, "columns": None} == {**bundle.manifest, "columns": None}
    for name, told in manifest["columns"].items():
        assert told["offset"] % 8 == 0
        assert data[told["offset"] : told["offset"] + told["bytes"]] == bundle.columns[name].data
    x = manifest["columns"]["x"]
    values = read_column(x, data[x["offset"] : x["offset"] + x["bytes"]])
    np.testing.assert_allclose(values[:40], words.group("doc").drawn[:, 0], rtol=1e-6)


def test_columns_start_at_multiples_of_eight(words):
    bundle = make_bundle(Exhibit(words, "words"), served=False)
    assert len(container(bundle)) % 8 == 0


def test_the_policy_allows_its_own_script_and_style_only(words, page):
    seen = Tags(single_page(make_bundle(Exhibit(words, "words"), served=False), page))
    policies = [a["content"] for tag, a in seen.tags if tag == "meta" and "http-equiv" in a]
    assert len(policies) == 1
    policy = dict(part.strip().split(" ", 1) for part in unescape(policies[0]).split(";"))

    def digest(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == digest(seen.texts["script"][0])
    assert policy["style-src"] == digest(seen.texts["style"][0])
    assert "connect-src" not in policy
    assert "unsafe" not in policies[0]
    assert seen.texts["script"][0].startswith("const end = '\\x3c/script>', note = '\\x3c!-- <script> -->'")
    assert len(seen.texts["script"]) == 2  # the script and the data


def test_nothing_is_fetched(words, page):
    seen = Tags(single_page(make_bundle(Exhibit(words, "words"), served=False), page))
    addresses = [a[name] for _, a in seen.tags for name in ("src", "href", "action", "data") if name in a]
    assert all(address.startswith("data:") for address in addresses)
    assert "http" not in "".join(seen.texts["script"][:1] + seen.texts["style"])


def test_hostile_names_stay_names(hostile, words, page):
    dangerous = single_page(make_bundle(Exhibit(hostile, HOSTILE[0]), served=False), page)
    harmless = single_page(make_bundle(Exhibit(words, "words"), served=False), page)
    assert [tag for tag, _ in Tags(dangerous).tags] == [tag for tag, _ in Tags(harmless).tags]
    assert "alert(1)</script>" not in dangerous
    assert "\u2028" not in dangerous
    manifest, data = opened(dangerous)
    ids = manifest["columns"]["ids"]
    assert json.loads(data[ids["offset"] : ids["offset"] + ids["bytes"]]) == HOSTILE
    assert manifest["title"] == HOSTILE[0]


def test_the_same_map_gives_the_same_file(words, page_folder, tmp_path):
    first = write_html(Exhibit(words, "words"), tmp_path / "a.html", page_folder).read_bytes()
    assert write_html(Exhibit(words, "words"), tmp_path / "b.html", page_folder).read_bytes() == first


def test_other_tags_of_a_built_page():
    files = {
        "index.html": b'<html><head><!-- <script src="old.js"></script> --><title>x</title>'
        b'<link rel="modulepreload" href="/a.js"><link rel="icon" href="/icon.svg">'
        b"<script type=module src='/a.js'></script></head><body></body></html>",
        "a.js": b"1;",
        "icon.svg": b"<svg/>",
    }
    bundle = make_bundle(Exhibit(Map([Group("a", ["1"], np.zeros((1, 2)))]), "one"), served=False)
    seen = Tags(single_page(bundle, Page(files)))
    icons = [a["href"] for tag, a in seen.tags if tag == "link"]
    assert icons == ["data:image/svg+xml;base64," + base64.b64encode(b"<svg/>").decode()]
    assert seen.texts["script"][0] == "1;"
    for broken in (b'<script src="gone.js"></script>', b'<img src="https://x.example/a.png">'):
        files["index.html"] = b"<html><head></head><body>" + broken + b"</body></html>"
        with pytest.raises(FormatError, match="build it again"):
            single_page(bundle, Page(files))


def test_a_page_that_was_not_built(tmp_path):
    assert not is_built(tmp_path)
    with pytest.raises(StorageError, match=r"RELSCAPE_SKIP_WEB.*npm ci"):
        load_page(tmp_path)


# ---------------------------------------------------------------------- Map.to_html and notebooks


def test_maps_write_themselves(built, words, tmp_path):
    path = words.to_html(tmp_path / "new" / "words.html", title="Words & docs", relations=False)
    text = path.read_text(encoding="utf-8")
    assert "<title>Words &amp; docs</title>" in text
    assert opened(text)[0]["relations"] == []
    assert [p.name for p in path.parent.iterdir()] == ["words.html"]


def test_small_maps_show_themselves_in_a_notebook(built, hostile):
    shown = Tags(hostile._repr_html_())
    ((tag, attributes),) = shown.tags
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert opened(attributes["srcdoc"])[0]["kinds"][0]["name"] == HOSTILE[0]


def test_large_maps_and_missing_pages_are_a_table(built, hostile, words, monkeypatch):
    monkeypatch.setattr(doors, "MOST_IN_NOTEBOOK", 20)
    assert ".explore()" in words._repr_html_()
    monkeypatch.setattr(doors, "LARGEST_IN_NOTEBOOK", 100)
    assert ".explore()" in hostile._repr_html_()
    (built / "index.html").unlink()
    shown = hostile._repr_html_()
    assert ".plot()" in shown
    assert {tag for tag, _ in Tags(shown).tags} == {"p", "table", "thead", "tbody", "tr", "th", "td"}
