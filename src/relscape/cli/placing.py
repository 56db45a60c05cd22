"""``relscape place``: put new things on an existing map."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from relscape.cli import read_options, reading
from relscape.cli.console import next_step, print_json, print_table, say, telling_warnings
from relscape.cli.guidance_report import has_guidance
from relscape.cli.network_source import has_network
from relscape.cli.newcomers import new_samples, new_things_of_a_kind, renamed
from relscape.cli.reading import Reading
from relscape.data import RelationalData
from relscape.errors import ParameterError
from relscape.maps import Group, Map
from relscape.maps.store import check_target
from relscape.models.registry import METHODS, methods

__all__ = ["has_cohorts", "place", "read_newcomers"]

Json = Annotated[bool, typer.Option("--json", help="Print the result for machines.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first warning, such as empty rows.")]

_MOST_SHOWN = 20


def place(
    map_path: Annotated[Path, typer.Argument(metavar="MAP", help="A map that carries its model.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Tables with the relations of the new things.")
    ] = None,
    database: read_options.From = None,
    query: read_options.Query = None,
    rows: read_options.Rows = None,
    columns: read_options.Columns = None,
    weight: read_options.Weight = None,
    text: read_options.Text = None,
    id: read_options.Id = None,
    encoding: read_options.Encoding = None,
    sheet: read_options.Sheet = None,
    kind: Annotated[str | None, typer.Option(help="Kind of the new things.", show_default="the rows")] = None,
    missing: Annotated[
        str | None,
        typer.Option(help="Where features are columns: drop lines that lack some, or fill in the median."),
    ] = None,
    neighbors: Annotated[int, typer.Option(help="How many neighbours to show of each.")] = 3,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Grown map to write.")] = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Put new things on an existing map, by their relations to the things on it, or by their features."""
    from relscape.models.placing import place as place_on

    with telling_warnings(strict):
        old = Map.load(map_path)
        if output is not None:
            check_target(output)
        given = reading.named(files, database, query)
        if not given:
            raise ParameterError("name the tables with the new things, files or --from a database.")
        source = Reading(given, rows, columns, weight, text, id, encoding=encoding, sheet=sheet)
        data, fresh = read_newcomers(source, old, kind, missing)
        grown = place_on(old, data, fresh)
        if output is not None:
            grown.save(output)
    group = grown.group(fresh)
    placed = [name for name in data.entities[fresh].ids if name in group.places]
    again = sum(name in old.group(fresh).places for name in placed)
    shown = placed if as_json else placed[:_MOST_SHOWN]
    found = grown.neighbors_of([(fresh, name) for name in shown], k=neighbors)
    answers = dict(zip(shown, found, strict=True))
    cohorts = _cohorts(group, shown) if has_cohorts(old) else {}
    if as_json:
        print_json(
            {
                "map": str(output) if output else None,
                "placed": len(placed),
                "already_there": again,
                "neighbors": {name: [n._asdict() for n in near] for name, near in answers.items()},
                **({"cohorts": cohorts} if cohorts else {}),
            }
        )
        return
    say(_told(len(placed), len(data.entities[fresh]), again, fresh, map_path))
    rows_shown = [
        (name, *([cohorts[name] or "-"] if cohorts else []), ", ".join(f"{n.kind}:{n.label}" for n in near))
        for name, near in answers.items()
    ]
    print_table([fresh, *(["cohort"] if cohorts else []), "nearest"], rows_shown)
    if len(placed) > len(shown):
        say(f"and {len(placed) - len(shown):,} more; --json tells all.")
    if output is None:
        of_kind = f" --kind {quote(kind)}" if kind else ""
        next_step(
            f"relscape place {map_path} {reading.as_arguments(given)}{of_kind} -o NEW_MAP  to keep them"
        )
    else:
        next_step(f"relscape plot {output}")


def read_newcomers(
    source: Reading, old: Map, kind: str | None = None, missing: str | None = None
) -> tuple[RelationalData, str]:
    """Read new things for a map the way it was made, and say of which kind they are."""
    source = source.filled_from(old.provenance.get("source", {}))
    if missing is not None and not (has_cohorts(old) or has_guidance(old)):
        raise ParameterError("--missing is for maps that were made from tables of features.")
    if has_guidance(old):
        data = new_things_of_a_kind(source, old, kind, missing)
        return data, next(iter(data.kinds))
    if has_cohorts(old) or has_network(old):
        data = new_samples(source, old, missing)
    else:
        data = _new_things(source, old)
    return data, kind or _kind_of_the_new(data, old)


def _told(placed: int, given: int, again: int, kind: str, path: Path) -> str:
    """Say how many things were put on the map, and how many of them had been there."""
    if again == 0:
        return f"Placed {placed:,} of {given:,} × {kind}, all new, on {path}."
    moved = f"{again:,} that {'was' if again == 1 else 'were'} on {path} already"
    if again == placed:
        return f"Placed {placed:,} × {kind}, none of them new: put {moved} where the file puts them."
    return f"Placed {placed - again:,} × {kind}, new, and put {moved} where the file puts them."


def _cohorts(group: Group, names: list[str]) -> dict[str, str | None]:
    """Give the cohort of every thing, as its neighbours predict it."""
    values = group.fields.get("cohort")
    return {} if values is None else {name: values[group.places[name]] for name in names}


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


def has_cohorts(joint: Map) -> bool:
    """Tell whether a map is one of samples in cohorts, made from their features."""
    return joint.model in {entry.class_name for entry in methods("cohorts").values()}


def _renamed(data: RelationalData, old: Map) -> RelationalData:
    """Give the two kinds of a table the names they have on the map, first to first, unless they match."""
    if set(data.kinds) & set(old.groups):
        return data
    return renamed(data, old.groups[0], old.groups[-1])
