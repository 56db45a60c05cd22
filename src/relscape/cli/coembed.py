"""``relscape coembed`` and ``relscape place``: make a joint map, and put new things on it."""

from __future__ import annotations

import ast
import re
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from relscape import progress
from relscape.cli import reading
from relscape.cli.console import next_step, print_json, print_table, say, telling_warnings
from relscape.cli.reading import Reading, attach_fields
from relscape.data import Relation, RelationalData
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.maps import Map
from relscape.maps.layout import METHODS as LAYOUTS
from relscape.maps.store import check_target
from relscape.models.registry import METHODS, method
from relscape.protocols import AnyArray

__all__ = ["coembed", "place"]

_SECONDS_A_PAIR = 3e-8

Output = Annotated[Path | None, typer.Option("--output", "-o", help="Directory of the map to write.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result for machines.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first warning, such as empty rows.")]
MethodName = Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(METHODS)}.")]
Dimensions = Annotated[int, typer.Option("--dimensions", "-k", help="Number of axes.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", help="A parameter of the method: name=value.", show_default=False),
]


def coembed(
    files: reading.Files = None,
    rows: reading.Rows = None,
    columns: reading.Columns = None,
    weight: reading.Weight = None,
    text: reading.Text = None,
    id: reading.Id = None,
    min_df: reading.MinDf = 1,
    max_df: reading.MaxDf = 1.0,
    stop_words: reading.StopWords = None,
    ngrams: reading.Ngrams = "1",
    dataset: reading.Dataset = None,
    relation: reading.RelationName = None,
    encoding: reading.Encoding = None,
    sheet: reading.Sheet = None,
    row_info: Annotated[str | None, typer.Option(help="Table of the row things, id first.")] = None,
    column_info: Annotated[str | None, typer.Option(help="The same for the column things.")] = None,
    min_degree: Annotated[float, typer.Option(help="Leave out things whose weights sum to less.")] = 0.0,
    method_name: MethodName = "ca",
    dimensions: Dimensions = 2,
    param: Parameters = None,
    layout: Annotated[str | None, typer.Option(help="How to draw it: axes, pca or tsne.")] = None,
    align_to: Annotated[Path | None, typer.Option(help="An earlier map to lie over.")] = None,
    keep_relations: Annotated[bool, typer.Option(help="Store the relations with the map.")] = False,
    output: Output = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Map two kinds of things from how they relate: a table of pairs, a wide table, or texts."""
    source = Reading(
        tuple(files or ()),
        rows,
        columns,
        weight,
        text,
        id,
        min_df,
        max_df,
        stop_words,
        ngrams,
        dataset,
        relation,
        encoding,
        sheet,
    )
    source.check()
    target = output or Path("maps") / source.name
    started, replaced = time.perf_counter(), target.exists()
    with telling_warnings(strict):
        model = _model(method_name, dimensions, param or [])
        earlier = _checked(target, layout, align_to, dimensions)
        data = _prepared(source, row_info, column_info, min_degree)
        maps = _fitted_maps(model, method(method_name).title, data)
        targets = [target] if len(maps) == 1 else [Path(f"{target}-{i + 1}") for i in range(len(maps))]
        for number, joint in enumerate(maps):
            joint.provenance["source"] = source.describe()
            if earlier is not None:
                joint = joint.align(earlier)
            elif layout is not None:
                joint = joint.layout(layout)
            if keep_relations:
                joint = joint.with_relations([_on_map(data, joint)])
            joint.save(targets[number])
            maps[number] = joint
    if replaced:
        progress.note(f"replaced what was at {target}")
    _report(maps, data, targets, time.perf_counter() - started, as_json)


def _checked(target: Path, layout: str | None, align_to: Path | None, dimensions: int) -> Map | None:
    """Notice what cannot work before the long part: the target, the layout's name, the earlier map."""
    check_target(target)
    if layout is not None and layout not in LAYOUTS:
        raise UnknownNameError("layout", layout, LAYOUTS)
    earlier = Map.load(align_to) if align_to else None
    if earlier is not None and earlier.n_components != dimensions:
        raise ParameterError(
            f"{align_to} has {earlier.n_components} dimensions: give --dimensions {earlier.n_components}."
        )
    if earlier is not None and layout not in (None, earlier.drawn_by.get("method")):
        raise ParameterError(f"--layout {layout}: a map aligned to {align_to} is drawn as that one is.")
    return earlier


def _prepared(source: Reading, row_info: str | None, column_info: str | None, least: float) -> RelationalData:
    if least < 0:
        raise ParameterError(f"--min-degree {least:g}: give 0 or more.")
    data = source.read()
    relation = data.relation()
    for kind, table in ((relation.rows, row_info), (relation.columns, column_info)):
        if table is not None:
            data = attach_fields(data, kind, table, source.encoding)
    return with_degree(data, least) if least > 0 else data


def with_degree(data: RelationalData, least: float) -> RelationalData:
    """Leave out things whose weights sum to less than ``least``, until none is left to leave out."""
    while True:
        relation = data.relation()
        keep = {kind: data.degrees(kind) >= least for kind in (relation.rows, relation.columns)}
        if all(kept.all() for kept in keep.values()):
            return data
        if not all(kept.any() for kept in keep.values()):
            raise DataError(f"--min-degree {least:g} leaves nothing; choose a smaller one.")
        for kind, kept in keep.items():
            data = data.select(kind, kept)


def _model(name: str, dimensions: int, given: list[str]) -> Any:
    model_class = method(name).model_class()
    return model_class(n_components=dimensions, **_parameters(model_class, given))


def _fitted_maps(model: Any, title: str, data: RelationalData) -> list[Map]:
    """Fit a model and give its map, or one a block if asked for; axes that do not exist are an error."""
    (m, n), pairs = data.matrix().shape, data.matrix().nnz
    progress.note(f"{title} of {m:,} × {n:,} things, {pairs:,} pairs: {_expected(model, pairs)}")
    with progress.task(title), warnings.catch_warnings():
        warnings.filterwarnings("error", "n_components=.* the others are zero", RelscapeWarning)
        try:
            model.fit(data)
        except (RelscapeWarning, ParameterError) as error:
            if "n_components" not in str(error):
                raise
            raise ParameterError(_in_options(str(error))) from None
    maps: list[Map] = model.to_maps() if hasattr(model, "to_maps") else [model.to_map()]
    return maps


def _in_options(message: str) -> str:
    """Say in the command line's words what a model says in Python's."""
    message = re.sub(r" \(n_samples=\d+, n_features=\d+\)|; the others are zero", "", message)
    return message.replace("n_components=", "--dimensions ")


def _expected(model: Any, pairs: int) -> str:
    """Guess the time of a fit from the size of its decompositions, as measured on an ordinary machine."""
    seconds = _SECONDS_A_PAIR * pairs * (10 + model.n_components)
    seconds *= getattr(model, "max_evaluations", 1)
    if seconds < 10:
        return "a few seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds > 90 else f"about {seconds:.0f} seconds"


def _parameters(model_class: type[Any], given: list[str]) -> dict[str, Any]:
    """Read ``name=value`` settings, checked against what the model knows."""
    known = model_class().get_params()
    parameters = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"--param {setting}: write name=value, such as {next(iter(known))}=3.")
        if name not in known or name == "n_components":
            raise UnknownNameError("parameter", name, [n for n in known if n != "n_components"])
        try:
            parameters[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parameters[name] = value
    return parameters


def _on_map(data: RelationalData, joint: Map) -> Relation:
    """Keep of a relation what is between things that have a place, under the kinds they have there."""
    relation = data.relation()
    first, last = joint.groups[0], joint.groups[-1]
    rows = np.isin(data.entities[relation.rows].ids, joint.group(first).ids)
    columns = np.isin(data.entities[relation.columns].ids, joint.group(last).ids)
    return Relation(relation.name, first, last, relation.matrix[rows][:, columns])


def _report(
    maps: list[Map], data: RelationalData, targets: list[Path], seconds: float, as_json: bool
) -> None:
    first, target = maps[0], targets[0]
    if as_json:
        content = {
            "map": str(target),
            "model": first.model,
            "parameters": first.parameters,
            "sizes": _sizes(first),
            "pairs": data.matrix().nnz,
            "scores": first.scores,
            "seconds": round(seconds, 3),
        }
        if len(maps) > 1:
            content["maps"] = {str(t): _sizes(joint) for t, joint in zip(targets, maps, strict=True)}
        print_json(content)
        return
    for joint, place_ in zip(maps, targets, strict=True):
        placed = " and ".join(f"{size:,} {kind}" for kind, size in _sizes(joint).items())
        say(f"{joint.model}: {placed} in {joint.n_components} dimensions: {place_}")
    if "aligned" in first.provenance:
        aligned = first.provenance["aligned"]
        shared, residual = aligned["shared_things"], aligned["residual"]
        say(f"It lies over the earlier map by {shared:,} shared things; {residual:.1%} stays unexplained.")
    if "inertia_shown" in first.scores:
        say(f"It shows {first.scores['inertia_shown']:.1%} of the inertia.")
    say(f"Made from {data.matrix().nnz:,} pairs in {seconds:.1f} s.")
    kind = first.groups[-1]
    next_step(f"relscape neighbors {target} '{kind}:{_heaviest(first, kind)}'  or  relscape plot {target}")


def _sizes(joint: Map) -> dict[str, int]:
    return {kind: len(joint.group(kind)) for kind in joint.groups}


def _heaviest(joint: Map, kind: str) -> str:
    group = joint.group(kind)
    degrees: AnyArray = group.fields.get("degree", np.zeros(len(group)))
    return str(group.ids[int(np.argmax(degrees))])


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
        vocabulary = old.group(old.groups[-1]).ids if source.is_text else None
        data = _renamed(source.read(vocabulary), old)
        grown = place_on(old, data, kind)
        if output is not None:
            grown.save(output)
    fresh = kind or old.groups[0]
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


def _renamed(data: RelationalData, old: Map) -> RelationalData:
    """Give the two kinds of a table the names they have on the map, first to first, unless they match."""
    relation = data.relation()
    if set(data.kinds) & set(old.groups):
        return data
    rows = replace(data.entities[relation.rows], kind=old.groups[0])
    columns = replace(data.entities[relation.columns], kind=old.groups[-1])
    return RelationalData([rows, columns], [replace(relation, rows=rows.kind, columns=columns.kind)])
