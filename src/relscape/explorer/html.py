"""A map as one HTML file: page, style and data in it, nothing fetched from anywhere."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import struct
from pathlib import Path
from urllib.parse import unquote

from relscape.errors import FormatError
from relscape.explorer.bundle import Bundle, make_bundle
from relscape.explorer.exhibit import Exhibit
from relscape.explorer.page import Page, load_page, media_type
from relscape.maps.files import atomic_file

__all__ = ["container", "single_page", "write_html"]

MAGIC = b"RELSCAPE"
_HEAD = len(MAGIC) + 4
_ALIGNED = 8
_DATA = '<script type="application/octet-stream+base64" id="relscape-data">{}</script>'
_TAG = re.compile(r"<(script|link)\b([^>]*)>(\s*</script>)?", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([a-zA-Z-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")
_OUTSIDE = re.compile(r"""\b(?:src|href)\s*=\s*["']?(?!data:|#)[^\s"'>]""", re.IGNORECASE)


def write_html(exhibit: Exhibit, path: Path, page: Path | None = None) -> Path:
    """Write a map as one HTML file, whole or not at all; gives the path."""
    text = single_page(make_bundle(exhibit, served=False), load_page(page))
    with atomic_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return path


def container(bundle: Bundle) -> bytes:
    """Put manifest and columns into one run of bytes.

    Eight bytes of magic, the length of the manifest (32 bits), the manifest, then the columns, each at the
    next multiple of eight, which the manifest names.
    """
    encoded, start = b"", 0
    while (
        start != _padded(_HEAD + len(encoded)) or not encoded
    ):  # where columns start is part of the manifest
        start = _padded(_HEAD + len(encoded))
        encoded = _with_places(bundle, start)
    parts = [_filled(MAGIC + struct.pack("<I", len(encoded)) + encoded)]
    return b"".join([*parts, *(_filled(column.data) for column in bundle.columns.values())])


def _with_places(bundle: Bundle, start: int) -> bytes:
    """Encode the manifest, with where every column begins and how long it is."""
    described, offset = {}, start
    for name, column in bundle.columns.items():
        described[name] = column.describe() | {"offset": offset, "bytes": len(column.data)}
        offset += _padded(len(column.data))
    manifest = json.dumps({**bundle.manifest, "columns": described}, ensure_ascii=False, allow_nan=False)
    return manifest.encode(errors="replace")


def _filled(data: bytes) -> bytes:
    return data + bytes(_padded(len(data)) - len(data))


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def single_page(bundle: Bundle, page: Page) -> str:
    """Give the page with everything in it, under a policy that lets nothing but its own script run.

    Names and labels are nowhere in the text: they are packed with the data, which is base64.
    """
    hashes: dict[str, list[str]] = {"script": [], "style": []}

    def inlined(found: re.Match[str]) -> str:
        attributes = {name.lower(): value.strip("\"'") for name, value in _ATTRIBUTE.findall(found[2])}
        kind = attributes.get("rel", "script" if found[1].lower() == "script" else "")
        target = attributes.get("src") or attributes.get("href") or ""
        if target.startswith("data:"):
            return found[0]
        name = unquote(target).removeprefix("./").removeprefix("/")
        if name not in page.files:
            raise FormatError(f"the page speaks of {target!r}, which is not among its files; build it again.")
        if kind == "icon":
            icon = base64.b64encode(page.files[name]).decode()
            return f'<link rel="icon" href="data:{media_type(name)};base64,{icon}">'
        if kind not in ("script", "stylesheet"):
            return ""  # hints to fetch what is in the page already
        tag = "script" if kind == "script" else "style"
        text = _closed(page.files[name].decode(), tag)
        hashes[tag].append(_hash(text))
        return f'<script type="module">{text}</script>' if tag == "script" else f"<style>{text}</style>"

    body = _TAG.sub(inlined, _without_comments(page.index))
    if _OUTSIDE.search(_TAG_CONTENT.sub("", body)):
        raise FormatError("the page fetches something beside its script and style; build it again.")
    data = _DATA.format(base64.b64encode(gzip.compress(container(bundle), 9, mtime=0)).decode())
    policy = f'<meta http-equiv="Content-Security-Policy" content="{html.escape(_policy(hashes))}">'
    title = f"<title>{html.escape(str(bundle.manifest.get('title', 'relscape')))}</title>"
    body = re.sub(r"<title>.*?</title>", lambda _: title, body, count=1, flags=re.DOTALL)
    body = re.sub(r"<head[^>]*>", lambda found: found[0] + policy, body, count=1)
    return re.sub(r"</body>", lambda _: f"{data}</body>", body, count=1)


_TAG_CONTENT = re.compile(r"<(script|style)\b[^>]*>.*?</\1>", re.IGNORECASE | re.DOTALL)


def _without_comments(text: str) -> str:
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def _closed(text: str, tag: str) -> str:
    """Keep what looks like an end of the element, or the start of a comment, from being one."""
    if tag == "style":
        return text.replace("</", "<\\/")
    return re.sub(r"<(?=/script|!--)", r"\\x3c", text, flags=re.IGNORECASE)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _policy(hashes: dict[str, list[str]]) -> str:
    allowed = {kind: " ".join(f"'{value}'" for value in found) or "'none'" for kind, found in hashes.items()}
    return (
        f"default-src 'none'; script-src {allowed['script']}; style-src {allowed['style']}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
