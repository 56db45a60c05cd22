"""Check built pages: nothing is fetched from another server, and every internal link leads somewhere.

python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import re
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
    "video": ("src", "poster"),
    "audio": ("src",),
    "track": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "input": ("src",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
    "base": ("href",),
    "body": ("background",),
}
OUTSIDE = r"((?:https?:)?//[^\s'\")]+)"
IN_STYLES = re.compile(rf"(?:url\(\s*['\"]?|@import\s+['\"]){OUTSIDE}", re.IGNORECASE)
IN_SCRIPTS = re.compile(
    r"(?:\b(?:fetch|import|importScripts|WebSocket|sendBeacon)\s*\(\s*|\.src\s*=\s*)['\"]" + OUTSIDE
)
IN_REFRESH = re.compile(rf"url\s*=\s*['\"]?{OUTSIDE}", re.IGNORECASE)


class Page(HTMLParser):
    """What one page fetches, where it links, and the anchors it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self._inside = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag refers to."""
        given = {name: value or "" for name, value in attrs}
        self._inside = tag
        for name in FETCHED.get(tag, ()):
            parts = given.get(name, "").split(",") if name == "srcset" else [given.get(name, "")]
            self.fetched += [part.split()[0] for part in parts if part.strip()]
        self.fetched += IN_STYLES.findall(given.get("style", ""))
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.fetched += IN_REFRESH.findall(given.get("content", ""))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}

    def handle_data(self, data: str) -> None:
        """Note what a style or script of the page's own refers to."""
        self.fetched += fetched_by(data, {"style": ".css", "script": ".js"}.get(self._inside, ""))

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        """Be outside of styles and scripts again."""
        self._inside = ""


def fetched_by(text: str, ending: str) -> list[str]:
    """Name the addresses outside that a style sheet or a script fetches, by what is written in it."""
    pattern = {".css": IN_STYLES, ".js": IN_SCRIPTS}.get(ending)
    return pattern.findall(text) if pattern else []


def problems(site: Path) -> list[str]:
    """List everything fetched from outside and every link that leads nowhere."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = [
        f"{path.relative_to(site)} fetches {url}"
        for path in sorted(site.rglob("*"))
        if path.suffix in (".css", ".js")
        for url in fetched_by(path.read_text(encoding="utf-8"), path.suffix)
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
