"""Check built pages: nothing is fetched from another server, and every internal link leads somewhere.

python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src",),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
}


class Page(HTMLParser):
    """What one page fetches, where it links, and the anchors it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag refers to."""
        given = dict(attrs)
        self.fetched += [value for name in FETCHED.get(tag, ()) if (value := given.get(name))]
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        self.anchors |= {str(given[name]) for name in ("id", "name") if given.get(name)}


def problems(site: Path) -> list[str]:
    """List everything fetched from outside and every link that leads nowhere."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = [
        f"{sheet.name} fetches something from outside"
        for sheet in sorted(site.rglob("*.css"))
        if any(mark in sheet.read_text(encoding="utf-8") for mark in ("url(http", 'url("http', "url(//"))
    ]
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found += [f"{name} fetches {url}" for url in page.fetched if _is_outside(url)]
        found += [
            f"{name} links to {url}, which is not there" for url in page.links if _dead(path, url, pages)
        ]
    return found


def _is_outside(url: str) -> bool:
    return bool(urlsplit(url).netloc)


def _dead(path: Path, url: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target not in pages:
        return not target.exists()
    return bool(parts.fragment) and unquote(parts.fragment) not in pages[target].anchors


if __name__ == "__main__":
    complaints = problems(Path(sys.argv[1]))
    print("\n".join(complaints) or "nothing from outside, no dead links")
    sys.exit(bool(complaints))
