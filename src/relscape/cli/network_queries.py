"""``relscape network suggest`` and ``score``: what the map of a document network can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from relscape.cli import read_options, reading
from relscape.cli.console import aside, next_step, print_json, print_table, say, telling_warnings
from relscape.cli.inspect import Json, MapPath
from relscape.cli.network_source import LinkTable, model_of, tables_named
from relscape.cli.newcomers import new_samples
from relscape.cli.reading import Reading
from relscape.errors import ParameterError
from relscape.maps import Map
from relscape.models.network_answers import SuggestedLink
from relscape.sources.references import is_database

__all__ = ["HEADER", "score", "suggest"]

HEADER = ["", "links", "mean rank", "MRR", "AUC", "hits@1", "hits@3", "hits@10"]
_MOST_SHOWN = 20


def suggest(
    map_path: MapPath,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DOC|FILE", help="Documents of the map, or a file of new ones.", show_default=False
        ),
    ] = None,
    database: read_options.From = None,
    query: read_options.Query = None,
    top: Annotated[int, typer.Option("--top", "-n", help="How many links for each.")] = 10,
    incoming: Annotated[
        bool | None,
        typer.Option(
            "--incoming/--outgoing",
            help="What may link to them, or what they may link to.",
            show_default="as the map was made; outgoing of new documents",
        ),
    ] = None,
    known: Annotated[bool, typer.Option("--known", help="Show known links among the others.")] = False,
    rows: read_options.Rows = None,
    columns: read_options.Columns = None,
    weight: read_options.Weight = None,
    text: read_options.Text = None,
    id: read_options.Id = None,
    encoding: read_options.Encoding = None,
    sheet: read_options.Sheet = None,
    as_json: Json = False,
) -> None:
    """Tell which links a document of the map lacks, or what new documents may link to, by contents alone.

    A document is written KIND:ID, or as its id. A file of new documents has the form that the map was made
    from: features, texts, or a table of pairs; its columns need not be named again.
    """
    with telling_warnings():
        joint = Map.load(map_path)
        model = model_of(joint, map_path)
        targets = list(reading.named(targets, database, query))
        if not targets:
            raise ParameterError("name documents of the map, or new ones: files, or --from a database.")
        source = Reading(tuple(targets), rows, columns, weight, text, id, encoding=encoding, sheet=sheet)
        if _are_files(targets, joint):
            if known:
                raise ParameterError("--known: new documents have no links that would be known.")
            inward = bool(incoming)
            answers = _of_new(source, joint, model, top, inward)
        else:
            _refuse_for_known(source)
            inward = model.direction == "in" if incoming is None else incoming
            answers = _of_known(targets, joint, model, top, known, inward)
    if as_json:
        told = {name: [link._asdict() for link in found] for name, found in answers.items()}
        print_json({"map": str(map_path), "direction": "in" if inward else "out", "suggestions": told})
        return
    kind = joint.groups[0]
    turned = bool(joint.provenance.get("source", {}).get("turned"))
    verb = "may link to" if inward == turned else "may be linked to by"
    for name, found in list(answers.items())[:_MOST_SHOWN]:
        say(f"{name} {verb}")
        print_table([kind, "score", "probability", ""], [_line(link) for link in found])
    if len(answers) > _MOST_SHOWN:
        say(f"and {len(answers) - _MOST_SHOWN:,} more; --json tells all.")
    if model.row_entities_.kind == kind and targets[0] in answers and not known:
        next_step(f"relscape network suggest {map_path} {targets[0]} --known")
    else:
        next_step(f"relscape place {map_path} {reading.as_arguments(targets)}  to see where they lie")


def _are_files(targets: list[str], joint: Map) -> bool:
    """Tell files from documents: what is on the map is a document, whatever its name."""
    group = joint.group(joint.groups[0])
    names = [target.removeprefix(f"{joint.groups[0]}:") for target in targets]
    known = [name in group.places or name in group.shown for name in names]
    files = [
        not on_map and (is_database(target) or Path(target).exists() or any(sign in target for sign in "*?["))
        for target, on_map in zip(targets, known, strict=True)
    ]
    if not any(files):
        strange = not any(known) and not any(":" in target for target in targets)
        return strange and all(Path(name).suffix for name in targets)
    if not all(files):
        lone = targets[files.index(False)]
        raise ParameterError(f"{lone}: there is no such file; ask about documents, or files of new ones.")
    return True


def _refuse_for_known(source: Reading) -> None:
    options = [f"--{name}" for name in source.describe() if name != "files"]
    if options:
        raise ParameterError(f"{', '.join(options)}: for files of new documents; these are on the map.")


def _of_known(
    targets: list[str], joint: Map, model: Any, top: int, known: bool, incoming: bool
) -> dict[str, list[SuggestedLink]]:
    kind = joint.groups[0]
    group = joint.group(kind)
    for target in targets:
        called, _, rest = target.partition(":")
        if called not in joint.groups and target not in group.places and rest in group.places:
            raise ParameterError(
                f"{target}: documents of this map are called {kind!r}; ask for {kind}:{rest}."
            )
    places = [
        joint.locate(target if target.partition(":")[0] in joint.groups else (kind, target))[1]
        for target in targets
    ]
    ids = group.ids[places]
    return {
        target: model.predict_links(str(name), top, not known, incoming)
        for target, name in zip(targets, ids, strict=True)
    }


def _of_new(
    source: Reading, joint: Map, model: Any, top: int, incoming: bool
) -> dict[str, list[SuggestedLink]]:
    from relscape.models.placing import contents_for

    remembered = joint.provenance.get("source", {})
    if remembered.get("form") == "links" or model.column_entities_ is None:
        raise ParameterError(
            "this map was made from links alone; new documents are known by their contents, so make it from "
            "documents and links."
        )
    data = new_samples(source.filled_from(remembered), joint)
    names = data.entities[model.row_entities_.kind].ids.tolist()
    return dict(zip(names, model.suggest(contents_for(joint, model, data), top, incoming), strict=True))


def _line(link: SuggestedLink) -> tuple[str, str, str, str]:
    shown = link.id if link.label == link.id else f"{link.label} ({link.id})"
    chance = "" if link.probability is None else f"{link.probability:.2%}"
    return shown, f"{link.score:.4g}", chance, "known" if link.known else ""


def score(
    map_path: MapPath,
    links: Annotated[
        str | None, typer.Argument(metavar="LINKS", help="Table of links: from, to.", show_default=False)
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="DATABASE", help="The same, for a database: postgresql://host/db#table."
        ),
    ] = None,
    query: read_options.Query = None,
    source: Annotated[
        str | None, typer.Option("--source", help="Column with who links.", show_default="the first")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="Column with what is linked to.", show_default="the second")
    ] = None,
    undirected: Annotated[bool, typer.Option("--undirected", help="Every link goes both ways.")] = False,
    filtered: Annotated[
        bool, typer.Option("--filtered", help="Only figures that do not count other known links as mistakes.")
    ] = False,
    ties: Annotated[str, typer.Option(help="realistic, optimistic or pessimistic.")] = "realistic",
    encoding: read_options.Encoding = None,
    as_json: Json = False,
) -> None:
    """Say where links stand among all that could be: mean rank, MRR, AUC, hits."""
    with telling_warnings():
        joint = Map.load(map_path)
        model = model_of(joint, map_path)
        _, place = tables_named((links,), database, query, None, links_alone=True)
        if place is None:
            raise ParameterError("name the table of links: a file, or --from a database.")
        table = LinkTable(place, source, target, undirected, encoding)
        pairs = table.between(model.row_entities_, table.read())
        report = model.rank(pairs, ties=ties)
    n = len(model.row_entities_)
    fitted = int(np.isin(pairs @ [n, 1], model.links_ @ [n, 1]).sum())
    if as_json:
        told = report.filtered.figures() | {"ties": ties} if filtered else report.to_dict()
        print_json({"map": str(map_path), "candidates": n - 1, "fitted": fitted, **told})
        return
    print_table(HEADER, (report.filtered if filtered else report).rows())
    say(f"Ranks are among {n - 1:,} other documents, {ties} where scores tie; {n / 2:,.0f} is chance.")
    if fitted:
        aside(f"{fitted:,} of the {len(pairs):,} links are ones that the map was made from.")
    next_step(f"relscape network suggest {map_path} {model.row_entities_.kind}:ID")
