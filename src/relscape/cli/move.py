"""``relscape move``: put cohorts elsewhere on a map, and have their samples follow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from relscape.cli.cohort_report import print_scores
from relscape.cli.console import next_step, print_json, print_table, say, telling_warnings
from relscape.errors import ParameterError
from relscape.maps import Map
from relscape.maps.store import check_target

__all__ = ["move"]


def move(
    map_path: Annotated[Path, typer.Argument(metavar="MAP", help="A map of cohorts.")],
    moves: Annotated[list[str], typer.Argument(metavar="COHORT=X,Y", help="Cohorts, and where to.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Moved map to write.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first warning.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Move cohorts to other places on a map; their samples follow, and neighbours stay neighbours."""
    from relscape.models.moving import move_cohorts

    with telling_warnings(strict):
        old = Map.load(map_path)
        if output is not None:
            check_target(output)
        places = _places(moves, old.n_components)
        new = move_cohorts(old, places)
        if output is not None:
            new.save(output)
    kind = old.groups[0]
    before, after = old.group(kind), new.group(kind)
    at = [before.places[name] for name in after.ids]
    far = np.linalg.norm(after.coordinates - before.coordinates[at], axis=1)
    shifts = _by_cohort(after.fields["cohort"], far)
    if as_json:
        content: dict[str, Any] = {"map": str(output) if output else None, "moved": places}
        print_json({**content, "mean_shift": shifts, "scores": new.scores, "scores_before": old.scores})
        return
    named, average = ", ".join(places), f"{far.mean():.3g} on average"
    if output is None:
        say(f"If {named} moved there, each {kind} would move by {average}; {map_path} stays as it is.")
    else:
        say(f"Moved {named} of {map_path}: each {kind} moved by {average}. The new map is {output}.")
    print_table(["cohort", "mean shift"], [(name, f"{shift:.3g}") for name, shift in shifts.items()])
    print_scores(new.scores, old.scores)
    if output is None:
        asked = " ".join(f"'{text}'" for text in moves)
        next_step(f"relscape move {map_path} {asked} -o NEW_MAP  to keep it")
    else:
        next_step(f"relscape plot {output}")


def _places(moves: list[str], dimensions: int) -> dict[str, list[float]]:
    """Read all moves; a cohort can go to one place only."""
    places: dict[str, list[float]] = {}
    for text in moves:
        name, place = _parsed(text, dimensions)
        if name in places:
            raise ParameterError(f"{name!r} is to go to two places; give one for each cohort.")
        places[name] = place
    return places


def _parsed(text: str, dimensions: int) -> tuple[str, list[float]]:
    """Read ``name=x,y``; the name may hold equals signs itself."""
    name, equals, place = text.rpartition("=")
    try:
        numbers = [float(part) for part in place.split(",")]
    except ValueError:
        numbers = []
    if not equals or not name or len(numbers) != dimensions or not np.isfinite(numbers).all():
        raise ParameterError(
            f"{text}: write a cohort and its new place, {dimensions} finite coordinates, such as "
            f"name={','.join(['1.5'] * dimensions)}."
        )
    return name, numbers


def _by_cohort(names: Any, far: Any) -> dict[str, float]:
    """Average over the samples of every cohort, the most moved first."""
    known = sorted({str(name) for name in names if name is not None})
    shifts = {name: float(far[names == name].mean()) for name in known}
    return dict(sorted(shifts.items(), key=lambda item: -item[1]))
