"""The explorer in a real browser without a graphics card: payload, first picture, frames, one file.

Made-up maps: clouds of points in twenty classes, with names; and a cohort map of 50,000 samples and 20
cohorts whose response is that of soft memberships. The browser is chromium without a window, as it is on a
machine without a graphics card; the window has 1366 × 768 pixels. While the map is panned or a prototype is
dragged, the page gets one move of the mouse in every frame and draws it in the next, 60 frames; what is timed
is from one such frame to the next, never below 16.7 ms, as the browser draws at most sixty times a second.
Beside it stands what the processors did for a frame: in the page, and in the part of the browser that puts
the page together, which may work at the same time; that depends little on what else the machine does.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tests.explorer.browser import new_page, running_browser

from benchmarks.budgets import judge
from benchmarks.harness import RESULTS
from relscape.explorer.exhibit import Exhibit
from relscape.explorer.html import write_html
from relscape.explorer.launch import open_explorer
from relscape.maps import Group, Map

SIZES = (100_000, 1_000_000)
SAMPLES, COHORTS, CLASSES = 50_000, 20, 20
STEPS = 60
# One move of the mouse in every frame; the page draws it in the next. Gives the times of frames that drew.
MOVE = """([selector, type, startX, startY, byX, byY, steps]) => new Promise((done) => {
  const { prototype } = CanvasRenderingContext2D;
  const { putImageData } = prototype;
  let drawn = 0;
  prototype.putImageData = function (...values) { drawn++; return putImageData.apply(this, values); };
  const target = document.querySelector(selector);
  const moved = (share) => {
    const [clientX, clientY] = [startX + share * byX, startY + share * byY];
    const details = { clientX, clientY, buttons: 1, bubbles: true, view: window, pointerId: 1 };
    const Move = type === "pointermove" ? PointerEvent : MouseEvent;
    target.dispatchEvent(new Move(type, details));
  };
  const times = [];
  let [step, last] = [0, 0];
  const tick = (now) => {
    if (drawn > 0 && last > 0) times.push(now - last);
    [drawn, last] = [0, now];
    if (times.length === steps) {
      prototype.putImageData = putImageData;
      done(times);
      return;
    }
    step++;
    moved(1 - Math.abs(1 - (2 * (step % steps)) / steps));
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})"""
LOADED = """() => ({
  first: performance.getEntriesByName("first-picture")[0].startTime,
  bytes: performance.getEntriesByType("resource").reduce((sum, entry) => sum + entry.encodedBodySize, 0),
})"""


def cloud(n: int) -> Map:
    """Draw a map of n named points in classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(CLASSES, size=n)
    centres = rng.normal(scale=4.0, size=(CLASSES, 2))
    places = centres[classes] + rng.normal(size=(n, 2))
    names = np.array([f"point {number}" for number in range(n)], dtype=object)
    fields = {"class": np.array([f"class {c}" for c in classes], dtype=object), "mass": rng.random(n)}
    return Map([Group("point", names, places, fields=fields)], model="made up")


def cohort_map(n: int = SAMPLES, c: int = COHORTS) -> Map:
    """Draw a cohort map whose samples follow the prototypes by soft memberships."""
    rng = np.random.default_rng(0)
    codes = rng.integers(c, size=n)
    response = rng.gamma(0.3, size=(n, c)) + 4.0 * np.eye(c)[codes]
    response /= response.sum(axis=1, keepdims=True)
    prototypes = rng.normal(scale=4.0, size=(c, 2))
    cohorts = np.array([f"cohort {number:02}" for number in range(c)], dtype=object)
    names = np.array([f"sample {number}" for number in range(n)], dtype=object)
    samples = Group("sample", names, response @ prototypes, fields={"cohort": cohorts[codes]})
    return Map(
        [samples, Group("cohort", cohorts, prototypes)],
        model="COVA",
        parameters={"variant": "E1", "alpha": 0.6},
        arrays={"response": response.astype(np.float32), "prototypes": prototypes},
    )


@contextmanager
def browser() -> Iterator[Any]:
    """Open a browser page of laptop size, drawn by the processor."""
    with running_browser(imitated_card=False) as running:
        yield new_page(running)


def opened(page: Any, url: str) -> dict[str, float]:
    """Open a map and wait until all of it is there; gives when its first picture was, and its size."""
    started = time.perf_counter()
    page.goto(url)
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=120_000)
    page.wait_for_timeout(1_500)
    content = page.evaluate(LOADED)
    ready = time.perf_counter() - started - 1.5
    return {"first_ms": content["first"], "ready_s": ready, "megabytes": content["bytes"] / 1e6}


def frames(
    page: Any, target: tuple[str, str], start: tuple[float, float], by: tuple[float, float]
) -> dict[str, float]:
    """Drag there and back, by moves of the mouse that a part of the page listens to, and time the frames."""
    page.mouse.move(*start)
    page.mouse.down()
    before = processor_seconds(page)
    times = sorted(page.evaluate(MOVE, [*target, *start, *by, STEPS]))
    spent = processor_seconds(page)
    page.mouse.up()
    return {
        "median_ms": statistics.median(times),
        "slow_ms": times[int(0.9 * len(times))],
        "page_ms": 1e3 * (spent["renderer"] - before["renderer"]) / STEPS,
        "browser_ms": 1e3 * (spent["GPU"] - before["GPU"]) / STEPS,
    }


def processor_seconds(page: Any) -> dict[str, float]:
    """Read how long the processors have worked for the page, and for putting its parts on the screen."""
    told = page.context.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    kinds = ("renderer", "GPU")
    return {kind: sum(one["cpuTime"] for one in told if one["type"] == kind) for kind in kinds}


def panning(n: int) -> dict[str, float]:
    with (
        open_explorer([Exhibit(cloud(n), f"{n:,} points")], port=0, browser=False) as explorer,
        browser() as page,
    ):
        found = opened(page, f"{explorer.url}#color=class")
        return found | frames(page, (".surface", "mousemove"), (650.0, 400.0), (200.0, 120.0))


def dragging() -> dict[str, float]:
    with (
        open_explorer([Exhibit(cohort_map(), "Cohorts")], port=0, browser=False) as explorer,
        browser() as page,
    ):
        found = opened(page, explorer.url)
        box = page.locator(".handle").first.bounding_box()
        toward = (200.0, 120.0) if box["x"] < 650 else (-200.0, 120.0)
        return found | frames(page, (".handle", "pointermove"), (box["x"] + 12, box["y"] + 12), toward)


def offline() -> dict[str, float]:
    """Write 50,000 samples with names and their response as one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_html(Exhibit(cohort_map(), "Cohorts"), Path(folder) / "cohorts.html")
        with browser() as page:
            found = opened(page, path.as_uri())
        return {
            "first_ms": found["first_ms"],
            "ready_s": found["ready_s"],
            "megabytes": path.stat().st_size / 1e6,
        }


def main() -> None:
    rows = {f"panning {n:,} points": panning(n) for n in SIZES}
    rows[f"dragging a prototype of {SAMPLES:,} samples"] = dragging()
    rows[f"a file of {SAMPLES:,} samples"] = offline()
    print(f"\nExplorer, no graphics card\n{'':44}{'MB':>8}{'first ms':>10}", end="")
    print(f"{'all s':>8}{'median ms':>11}{'90 % ms':>9}{'page ms':>9}{'browser ms':>12}")
    for name, row in rows.items():
        keys = ("median_ms", "slow_ms", "page_ms", "browser_ms")
        frame = [f"{row[key]:.0f}" if key in row else "" for key in keys]
        print(
            f"{name:44}{row['megabytes']:8.2f}{row['first_ms']:10.0f}{row['ready_s']:8.2f}"
            f"{frame[0]:>11}{frame[1]:>9}{frame[2]:>9}{frame[3]:>12}"
        )
    for n in SIZES:
        judge(f"explorer: median frame, {n:,} points", rows[f"panning {n:,} points"]["median_ms"])
    first = rows[f"panning {SIZES[0]:,} points"]["first_ms"]
    judge(f"explorer: first picture, {SIZES[0]:,} points", first)
    judge("explorer: file of 50,000 samples", rows[f"a file of {SAMPLES:,} samples"]["megabytes"])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "explorer.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
