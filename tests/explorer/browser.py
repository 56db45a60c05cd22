"""A real browser without a window, for the tests, the pictures of the documentation and the benchmark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "LAPTOP",
    "LARGE",
    "NO_BROWSER",
    "browser_path",
    "new_page",
    "open_map",
    "running_browser",
    "wait_until_drawn",
]

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
NO_BROWSER = "no chromium here; install Debian's chromium, or name one in RELSCAPE_BROWSER"
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
IMITATED_CARD = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
NO_CARD = ("--disable-gpu",)
LAPTOP = {"width": 1366, "height": 768}
LARGE = {"width": 2560, "height": 1440}
READY = 60_000  # milliseconds


def browser_path() -> str | None:
    """Find a browser: the one named in RELSCAPE_BROWSER, or chromium on the PATH."""
    named = os.environ.get("RELSCAPE_BROWSER")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def running_browser(imitated_card: bool = True) -> Iterator[Any]:
    """Run a browser, drawn by the processor, with an empty profile of its own.

    With an imitated graphics card it has WebGL, slowly; without, it is what people without a card have.
    """
    from playwright.sync_api import sync_playwright

    path = browser_path()
    if path is None:
        raise RuntimeError(NO_BROWSER)
    with sync_playwright() as playwright:
        arguments = [*ARGUMENTS, *(IMITATED_CARD if imitated_card else NO_CARD)]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


def new_page(browser: Any, size: dict[str, int] = LAPTOP, **options: Any) -> Any:
    """Open an empty page of some size; its ``complaints`` are what its console said and what failed."""
    page = browser.new_context(viewport=size, **options).new_page()
    page.set_default_timeout(READY)
    page.complaints = []
    page.on("console", lambda said: page.complaints.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda error: page.complaints.append(f"error: {error}"))
    page.on("requestfailed", lambda asked: page.complaints.append(f"failed: {asked.url}"))
    return page


def open_map(page: Any, url: str) -> None:
    """Go to a map and wait until all of it is there."""
    page.goto(url)
    page.wait_for_selector("html[data-ready=yes]", state="attached")


def wait_until_drawn(page: Any) -> None:
    """Wait until all that was asked for is drawn: the page draws in the next frame, so two are enough."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
