"""``relscape demo``: the standard library of the running Python as a map."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from relscape import progress
from relscape.cli.console import next_step, print_json, print_table, say, telling_warnings
from relscape.cli.explore import serve

__all__ = ["demo"]

ASKED = ("asyncio", "json", "socket")


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the map and picture.")] = Path(
        "relscape-demo"
    ),
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the explorer; nor is it in a pipe.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Map the Python standard library: its modules and the words of their documentation.

    Then look at it in the explorer, until Ctrl-C is pressed.
    """
    from relscape import datasets
    from relscape.explorer.exhibit import Exhibit
    from relscape.explorer.page import is_built
    from relscape.models.spectral import CorrespondenceAnalysis
    from relscape.plot import save_picture

    started = time.perf_counter()
    with telling_warnings():
        with progress.task("reading the standard library"):
            data = datasets.load_stdlib().only("words")
        with progress.task("correspondence analysis"):
            joint = CorrespondenceAnalysis(n_components=12).fit(data).to_map()
        with progress.task("arranging the picture"):
            joint = joint.layout("tsne").with_relations(data.relations.values())
        joint.save(output / "map")
        picture = output / "stdlib.png"
        with progress.task("drawing"):
            save_picture(joint, picture, color="chapter", title="The Python standard library")
    asked = [name for name in ASKED if name in joint.group("module").ids]
    answers = {
        name: {kind: [n.label for n in joint.neighbors(("module", name), kind, 6)] for kind in joint.groups}
        for name in asked
    }
    if as_json:
        print_json(
            {
                "map": str(output / "map"),
                "picture": str(picture),
                "sizes": {kind: len(joint.group(kind)) for kind in joint.groups},
                "neighbors": answers,
                "seconds": round(time.perf_counter() - started, 1),
            }
        )
        return
    sizes = " and ".join(f"{len(joint.group(kind)):,} × {kind}" for kind in joint.groups)
    say(f"{sizes} on one map, in {time.perf_counter() - started:.0f} s: {picture} and {output / 'map'}.")
    rows = [(name, ", ".join(near["module"]), ", ".join(near["word"])) for name, near in answers.items()]
    print_table(["module", "nearest modules", "nearest words"], rows)
    next_step(f"relscape explore {output / 'map'}  or  relscape neighbors {output / 'map'} module:{asked[0]}")
    if not no_browser and sys.stdout.isatty() and is_built():
        serve([Exhibit(joint, "The Python standard library")])
