"""``relscape coembed``: make a joint map from how things relate."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from relscape import progress
from relscape.cli import read_options, reading, spreading
from relscape.cli.console import next_step, print_json, say, telling_warnings
from relscape.cli.preparing import prepared
from relscape.cli.reading import Reading
from relscape.cli.values import plain_value
from relscape.errors import ParameterError, RelscapeWarning, UnknownNameError
from relscape.maps import Map
from relscape.maps.captions import dimensions_told
from relscape.maps.layout import METHODS as LAYOUTS
from relscape.maps.store import check_target
from relscape.models.registry import Method, method, methods
from relscape.project.relation_fitting import fitted_maps, on_map, size_told
from relscape.protocols import AnyArray

__all__ = ["coembed", "model_parameters"]

_METHODS = methods("coembedding", "multicode")

Output = Annotated[Path | None, typer.Option("--output", "-o", help="Directory of the map to write.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result for machines.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first warning, such as empty rows.")]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        help=f"One of {', '.join(_METHODS)}.",
        show_default="ca; multicode for files of more than two kinds",
    ),
]
Dimensions = Annotated[int, typer.Option("--dimensions", "-k", help="Number of axes.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", help="A parameter of the method: name=value.", show_default=False),
]


def coembed(
    files: read_options.Files = None,
    database: read_options.From = None,
    query: read_options.Query = None,
    rows: read_options.Rows = None,
    columns: read_options.Columns = None,
    weight: read_options.Weight = None,
    text: read_options.Text = None,
    id: read_options.Id = None,
    min_df: read_options.MinDf = 1,
    max_df: read_options.MaxDf = 1.0,
    stop_words: read_options.StopWords = None,
    ngrams: read_options.Ngrams = "1",
    dataset: read_options.Dataset = None,
    relation: read_options.RelationName = None,
    encoding: read_options.Encoding = None,
    sheet: read_options.Sheet = None,
    layer: read_options.Layer = None,
    size_factors: read_options.SizeFactors = None,
    log1p: read_options.Log1p = False,
    row_names: read_options.RowNames = None,
    column_names: read_options.ColumnNames = None,
    row_info: Annotated[str | None, typer.Option(help="Table of the row things, id first.")] = None,
    column_info: Annotated[str | None, typer.Option(help="The same for the column things.")] = None,
    min_degree: Annotated[float, typer.Option(help="Leave out things whose weights sum to less.")] = 0.0,
    method_name: MethodName = None,
    model: Annotated[str | None, typer.Option(help="Letters of a CODE model, such as CM or MM.")] = None,
    dimensions: Dimensions = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is drawn at random.")] = 0,
    param: Parameters = None,
    layout: Annotated[str | None, typer.Option(help="How to draw it: axes, pca or tsne.")] = None,
    align_to: Annotated[Path | None, typer.Option(help="An earlier map to lie over.")] = None,
    keep_relations: Annotated[bool, typer.Option(help="Store the relations with the map.")] = False,
    cluster: spreading.Cluster = None,
    workers: spreading.Workers = None,
    worker_memory: spreading.WorkerMemory = None,
    output: Output = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Map things of two kinds, or more, from how they relate: tables, texts, or files of other programs."""
    asked = (cluster, workers, worker_memory)
    source = Reading(
        tuple(spreading.tables_in(files)) if any(asked) else reading.named(files, database, query),
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
        layer,
        size_factors,
        log1p,
        row_names,
        column_names,
    )
    source.check()
    target = output or Path("maps") / source.name
    started, replaced = time.perf_counter(), target.exists()
    with telling_warnings(strict), spreading.cluster_client(*asked) as client:
        chosen = _method(source, method_name)
        estimator = _model(chosen, dimensions, model, seed, param or [])
        earlier = _checked(target, layout, align_to, dimensions)
        if client is None:
            data = prepared(source, chosen.family == "multicode", row_info, column_info, min_degree)
        else:
            idle = {"row-info": row_info, "column-info": column_info, "min-degree": min_degree}
            idle["keep-relations"] = keep_relations
            data = spreading.spread(source, chosen.family, idle, client)
        maps = _fitted_maps(estimator, chosen.title, data)
        targets = [target] if len(maps) == 1 else [Path(f"{target}-{i + 1}") for i in range(len(maps))]
        for number, joint in enumerate(maps):
            joint.provenance["source"] = source.describe()
            if earlier is not None:
                joint = joint.align(earlier)
            elif layout is not None:
                joint = joint.layout(layout)
            if keep_relations:
                joint = joint.with_relations(on_map(data, joint))
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


def _method(source: Reading, name: str | None) -> Method:
    """Find the method: the one named, or the one that files of so many kinds need."""
    several = source.several
    chosen = method(name or ("multicode" if several else "ca"), _METHODS)
    if several and chosen.family != "multicode" and source.form is not None:
        raise ParameterError(
            f"{source.shown} relates more than two kinds, and --method {chosen.name} maps two: "
            "use --method multicode, or name one relation, such as --relation paper-word."
        )
    if several and chosen.family != "multicode":
        raise ParameterError(
            f"{source.shown} relate more than two kinds, by the first two columns of each, and "
            f"--method {chosen.name} maps two: use --method multicode, or name one file, or name two columns "
            "that all files have with --rows and --columns."
        )
    return chosen


def _model(chosen: Method, dimensions: int, letters: str | None, seed: int, given: list[str]) -> Any:
    """Build the estimator; --model is short for its parameter of that name."""
    model_class = chosen.model_class()
    parameters = model_parameters(model_class, given, ("random_state",))
    if "random_state" in model_class().get_params():
        parameters["random_state"] = seed
    if letters is not None:
        name = next((n for n in ("model", "models") if n in model_class().get_params()), None)
        if name is None:
            raise ParameterError(f"--model {letters}: --method {chosen.name} has no models; code has.")
        if name in parameters:
            raise ParameterError(f"--model {letters} and --param {name}=... say the same; give one.")
        parameters[name] = letters
    return model_class(n_components=dimensions, **parameters)


def _fitted_maps(model: Any, title: str, data: Any) -> list[Map]:
    """Fit a model, and complain of axes that do not exist in the command line's words."""
    try:
        return fitted_maps(model, title, data)
    except (RelscapeWarning, ParameterError) as error:
        if "n_components" not in str(error):
            raise
        raise ParameterError(_in_options(str(error))) from None


def _in_options(message: str) -> str:
    """Say in the command line's words what a model says in Python's."""
    message = re.sub(r" \(n_samples=\d+, n_features=\d+\)|; the others are zero", "", message)
    return message.replace("n_components=", "--dimensions ")


def model_parameters(model_class: type[Any], given: list[str], options: Sequence[str] = ()) -> dict[str, Any]:
    """Read ``name=value`` settings, checked against what the model knows and has no option for."""
    others = {"n_components", *options}
    defaults = {name: value for name, value in model_class().get_params().items() if name not in others}
    known = [*defaults]
    parameters: dict[str, Any] = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals:
            example = f", such as {known[0]}={defaults[known[0]]}" if known else ""
            raise ParameterError(f"--param {setting or repr(setting)}: write name=value{example}.")
        if name not in known:
            raise UnknownNameError("parameter", name, known)
        parameters[name] = plain_value(value, isinstance(defaults[name], bool))
    return parameters


def _report(maps: list[Map], data: Any, targets: list[Path], seconds: float, as_json: bool) -> None:
    first, target = maps[0], targets[0]
    if as_json:
        content = {
            "map": str(target),
            "model": first.model,
            "parameters": first.parameters,
            "sizes": _sizes(first),
            "pairs": size_told(data)[1],
            "scores": first.scores,
            "seconds": round(seconds, 3),
        }
        if len(maps) > 1:
            content["maps"] = {str(t): _sizes(joint) for t, joint in zip(targets, maps, strict=True)}
        print_json(content)
        return
    for joint, place_ in zip(maps, targets, strict=True):
        *others, last = (f"{size:,} × {kind}" for kind, size in _sizes(joint).items())
        placed = f"{', '.join(others)} and {last}" if others else last
        say(f"{joint.model}: {placed} in {dimensions_told(joint)}: {place_}")
    if "aligned" in first.provenance:
        aligned = first.provenance["aligned"]
        shared, residual = aligned["shared_things"], aligned["residual"]
        say(f"It lies over the earlier map by {shared:,} shared things; {residual:.1%} stays unexplained.")
    if "inertia_shown" in first.scores:
        say(f"It shows {first.scores['inertia_shown']:.1%} of the inertia.")
    if "log_likelihood" in first.scores:
        say(_likelihood(first.scores))
    say(f"Made from {size_told(data)[1]:,} pairs in {seconds:.1f} s.")
    kind = first.groups[-1]
    next_step(f"relscape neighbors {target} '{kind}:{_heaviest(first, kind)}'  or  relscape plot {target}")


def _likelihood(scores: dict[str, Any]) -> str:
    """Tell the likelihood, where known between its ends: all in one place, and what no map can exceed."""
    told = f"Its log-likelihood is {scores['log_likelihood']:.4f} nats a pair"
    if "log_likelihood_limit" in scores:
        told += f"; {scores['log_likelihood_in_one_place']:.4f} with all things in one place"
        told += f", {scores['log_likelihood_limit']:.4f} at most"
    return f"{told}."


def _sizes(joint: Map) -> dict[str, int]:
    return {kind: len(joint.group(kind)) for kind in joint.groups}


def _heaviest(joint: Map, kind: str) -> str:
    group = joint.group(kind)
    degrees: AnyArray = group.fields.get("degree", np.zeros(len(group)))
    return str(group.ids[int(np.argmax(degrees))])
