"""Writing the outputs of a study: pictures, pages, files for other programs, scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relscape.errors import ParameterError
from relscape.maps import Map
from relscape.maps.export import only_kinds, pictured
from relscape.maps.files import atomic_file
from relscape.maps.state import write_json
from relscape.project.study_outputs import PICTURE, SCORES, Output

__all__ = ["drawn", "write_output"]


def write_output(output: Output, maps: Mapping[str, Map], target: Path) -> None:
    """Write one output of some maps, whole or not at all."""
    if output.form == SCORES:
        told = {
            name: {"model": joint.model, "parameters": joint.parameters, "scores": joint.scores}
            for name, joint in maps.items()
        }
        with atomic_file(target) as draft:
            write_json(draft, told)
        return
    [joint] = maps.values()
    if output.form == PICTURE:
        from relscape.plot import save_picture

        target.parent.mkdir(parents=True, exist_ok=True)
        save_picture(drawn(joint, **output.options), target)
        return
    if "kinds" in output.options:
        joint = only_kinds(joint, output.options["kinds"])
    joint = pictured(joint) if output.options.get("layout") else joint
    joint.export(target, output.form)


def drawn(
    joint: Map,
    *,
    layout: str | None = None,
    axes: tuple[int, int] = (0, 1),
    kinds: Any = None,
    color: str | None = None,
    labels: int | None = None,
    title: str | None = None,
    size: tuple[float, float] = (11.0, 8.0),
    full: bool = False,
    links: bool = False,
) -> Any:
    """Draw a map; one of cohorts with their prototypes, unless kinds, colours or links are asked for."""
    from relscape.plot import draw_cohorts, draw_map
    from relscape.plot.cohorts import shows_cohorts

    if layout is not None:
        joint = joint.layout(layout, axes)
    if kinds is not None and not list(kinds):
        raise ParameterError("kinds: name at least one kind to draw.")
    if shows_cohorts(joint) and kinds is None and color is None and not links:
        return draw_cohorts(joint, labels=labels, title=title, size=size, full=full)
    return draw_map(
        joint,
        kinds=None if kinds is None else list(kinds),
        color=color,
        labels=labels,
        title=title,
        size=size,
        full=full,
        links=links,
    )
