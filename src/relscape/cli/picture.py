"""``relscape plot``: a static picture of a map."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from relscape.cli.console import next_step, print_json, say
from relscape.errors import ParameterError
from relscape.maps import Map

__all__ = ["plot"]


def plot(
    map_path: Annotated[Path, typer.Argument(metavar="MAP", help="Directory of a map.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Picture to write: .png, .svg or .pdf.")
    ] = None,
    kinds: Annotated[list[str] | None, typer.Option(help="Kinds to draw.", show_default="all")] = None,
    color: Annotated[str | None, typer.Option(help="Field to colour by.")] = None,
    labels: Annotated[int | None, typer.Option(help="How many labels at most.")] = None,
    layout: Annotated[str | None, typer.Option(help="Draw by axes, pca or tsne instead.")] = None,
    axes: Annotated[str | None, typer.Option(help="Which two axes to draw: 1,2.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the picture.")] = None,
    size: Annotated[str, typer.Option(help="Width and height in inches.")] = "11x8",
    full: Annotated[bool, typer.Option("--full", help="Show all points, also far outliers.")] = False,
    links: Annotated[
        bool, typer.Option("--links", help="Draw the relations that the map carries as lines.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Draw a map with readable labels; one of cohorts with their prototypes, unless --color says else."""
    from relscape.plot import save_picture
    from relscape.project.study_products import drawn

    joint = Map.load(map_path)
    if axes is not None and layout not in (None, "axes"):
        raise ParameterError(f"--axes {axes} has no meaning for a {layout} layout.")
    if layout is not None or axes is not None:
        joint = joint.layout(layout or "axes", _two_axes(axes or "1,2", joint.n_components))
    target = output or Path(f"{map_path}".rstrip("/\\") + ".png")
    figure = drawn(
        joint,
        kinds=kinds,
        color=color,
        labels=labels,
        title=title,
        size=_two_numbers(size, "--size", "11x8"),
        full=full,
        links=links,
    )
    save_picture(figure, target)
    if as_json:
        print_json({"picture": str(target)})
        return
    say(f"Saved {target}.")
    next_step(f"relscape info {map_path}")


def _two_axes(text: str, there: int) -> tuple[int, int]:
    """Read two axes as a person counts them, from 1."""
    found = re.fullmatch(r"\s*(\d+)\s*[x,]\s*(\d+)\s*", text)
    axes = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(1 <= axis <= max(there, 2) for axis in axes):
        raise ParameterError(f"--axes {text}: write two axes between 1 and {there}, such as 1,2.")
    return axes[0] - 1, axes[1] - 1


def _two_numbers(text: str, option: str, example: str) -> tuple[float, float]:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*[x,×]\s*(\d+(?:\.\d+)?)\s*", text)
    if not found:
        raise ParameterError(f"{option} {text}: write two numbers, such as {example}.")
    return float(found[1]), float(found[2])
