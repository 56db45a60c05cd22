"""``relscape place``: put new things on an existing map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relscape.cli import reading
from relscape.cli.console import next_step, print_json, print_table, say, telling_warnings
from relscape.cli.reading import Reading
from relscape.cli.samples import new_samples, renamed
from relscape.data import RelationalData
from relscape.maps import Map
from relscape.maps.store import check_target
from relscape.models.registry import METHODS, methods

__all__ = ["place"]

Json = Annotated[bool, typer.Option("--json", help="Print the result for machines.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first warning, such as empty rows.")]


def place(
    map_path: Annotated[Path, typer.Argument(metavar="MAP", help="A map that carries its model.")],
    files: Annotated[list[str], typer.Argument(help="Tables with the relations of the new things.")],
    rows: reading.Rows = None,
    columns: reading.Columns = None,
    weight: reading.Weight = None,
    text: reading.Text = None,
    id: reading.Id = None,
    encoding: reading.Encoding = None,
    sheet: reading.Sheet = None,
    kind: Annotated[str | None, typer.Option(help="Kind of the new things.", show_default="the rows")] = None,
    neighbors: Annotated[int, typer.Option(help="How many neighbours to show of each.")] = 3,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Grown map to write.")] = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Put new things on an existing map, by their relations to the things on it."""
    from relscape.models.placing import place as place_on

    with telling_warnings(strict):
        old = Map.load(map_path)
        if output is not None:
            check_target(output)
        source = Reading(tuple(files), rows, columns, weight, text, id, encoding=encoding, sheet=sheet)
        source = source.filled_from(old.provenance.get("source", {}))
        data = new_samples(source, old) if _has_cohorts(old) else _new_things(source, old)
        fresh = kind or _kind_of_the_new(data, old)
        grown = place_on(old, data, fresh)
        if output is not None:
            grown.save(output)
    there = set(grown.group(fresh).ids)
    placed = [name for name in data.entities[fresh].ids if name in there]
    shown = placed if as_json else placed[:20]
    found = grown.neighbors_of([(fresh, name) for name in shown], k=neighbors)
    answers = dict(zip(shown, found, strict=True))
    if as_json:
        print_json(
            {
                "map": str(output) if output else None,
                "placed": len(placed),
                "neighbors": {name: [n._asdict() for n in near] for name, near in answers.items()},
            }
        )
        return
    say(f"Placed {len(placed):,} of {len(data.entities[fresh]):,} new {fresh} on {map_path}.")
    rows_shown = [(name, ", ".join(f"{n.kind}:{n.label}" for n in near)) for name, near in answers.items()]
    print_table([fresh, "nearest"], rows_shown)
    if output is None:
        next_step(f"relscape place {map_path} {' '.join(files)} -o NEW_MAP  to keep them")
    else:
        next_step(f"relscape plot {output}")


def _new_things(source: Reading, old: Map) -> RelationalData:
    """Read the relations of new things; a map of many kinds takes the kinds from the heads of the files."""
    if source.is_text:
        words = source.columns or "word"
        vocabulary = old.group(words if words in old.groups else old.groups[-1]).ids
        return _renamed(source.read(vocabulary), old)
    return source.read_all() if _has_many_kinds(old) else _renamed(source.read(), old)


def _kind_of_the_new(data: RelationalData, old: Map) -> str:
    """Take new things to be of the map's first kind; on a map of many, of the first in the files."""
    if not _has_many_kinds(old):
        return old.groups[0]
    relation = next(iter(data.relations.values()))
    return relation.rows


def _has_many_kinds(joint: Map) -> bool:
    return joint.model == METHODS["multicode"].class_name


def _has_cohorts(joint: Map) -> bool:
    return joint.model in {entry.class_name for entry in methods("cohorts").values()}


def _renamed(data: RelationalData, old: Map) -> RelationalData:
    """Give the two kinds of a table the names they have on the map, first to first, unless they match."""
    if set(data.kinds) & set(old.groups):
        return data
    return renamed(data, old.groups[0], old.groups[-1])
