"""``relscape cohorts``: a map on which groups lie where they should, and neighbours stay neighbours."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from relscape import progress
from relscape.cli import read_options, reading
from relscape.cli.coembed import Dimensions, Json, Output, Parameters, Strict, model_parameters
from relscape.cli.cohort_report import report
from relscape.cli.console import telling_warnings
from relscape.cli.guides import read_anchors, read_links, read_prototypes
from relscape.cli.reading import Reading
from relscape.cli.samples import read_samples
from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Map
from relscape.maps.store import check_target
from relscape.project.costs import cohort_seconds, time_told
from relscape.project.given_samples import METRICS, Samples, compared_by

__all__ = ["cohorts"]

_VARIANTS = {name.lower(): name for name in ("E1", "E2", "E3", "E4", "P1", "P2", "P3", "P4", "eigen")}

Label = Annotated[
    str | None,
    typer.Option(
        "--label", "-l", help="Column or field with the cohorts.", show_default="found by clustering"
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(help="Columns of features, or patterns such as 'f_*'.", show_default="all numbers"),
]
Missing = Annotated[
    str | None,
    typer.Option(help="Lines that lack features: drop them, or fill in the median.", show_default="refuse"),
]
Standardize = Annotated[
    bool, typer.Option("--standardize", help="Let all columns count alike: mean 0, spread 1.")
]
Prototypes = Annotated[
    str, typer.Option(help="sne, tsne, mds, laplacian or means, or a table: cohort, coordinates.")
]
Choose = Annotated[
    str | None,
    typer.Option(help="Try several alphas: 'preference', 'preference=2,1,1' (S_n, S_c, S_s), 'keep=0.95'."),
]


def cohorts(
    files: read_options.Files = None,
    database: read_options.From = None,
    query: read_options.Query = None,
    label: Label = None,
    features: Features = None,
    id: Annotated[str | None, typer.Option(help="Column with the ids.", show_default="found")] = None,
    missing: Missing = None,
    standardize: Standardize = False,
    variant: Annotated[str, typer.Option("--variant", "-v", help="E1-E4, P1-P4 or eigen.")] = "E1",
    alpha: Annotated[
        float | None, typer.Option(help="Weight of cohorts against neighbours, 0 to 1.", show_default="auto")
    ] = None,
    eta: Annotated[
        float | None, typer.Option(help="For eigen: its second weight.", show_default="auto")
    ] = None,
    choose: Choose = None,
    prototypes: Prototypes = "sne",
    links: Annotated[
        str | None, typer.Option(help="Table of links between samples, or a relation of the --dataset.")
    ] = None,
    anchors: Annotated[
        str | None, typer.Option(help="Table of samples to hold: id, coordinates, weight.")
    ] = None,
    init: Annotated[Path | None, typer.Option(help="An earlier map to grow from.")] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="euclidean or cosine.", show_default="cosine for relations and texts"),
    ] = None,
    rows: read_options.Rows = None,
    columns: read_options.Columns = None,
    weight: read_options.Weight = None,
    text: read_options.Text = None,
    min_df: read_options.MinDf = 1,
    max_df: read_options.MaxDf = 1.0,
    stop_words: read_options.StopWords = None,
    ngrams: read_options.Ngrams = "1",
    dataset: read_options.Dataset = None,
    relation: read_options.RelationName = None,
    row_info: Annotated[str | None, typer.Option(help="Table of the samples, id first.")] = None,
    kind: Annotated[str | None, typer.Option(help="What the samples are; on a map, which kind.")] = None,
    encoding: read_options.Encoding = None,
    sheet: read_options.Sheet = None,
    layer: read_options.Layer = None,
    size_factors: read_options.SizeFactors = None,
    log1p: read_options.Log1p = False,
    dimensions: Dimensions = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is drawn at random.")] = 0,
    param: Parameters = None,
    output: Output = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Map samples in cohorts: each cohort near its prototype, and neighbours near each other."""
    source = Reading(
        reading.named(files, database, query),
        rows, columns, weight, text, id, min_df, max_df, stop_words, ngrams,
        dataset, relation, encoding, sheet, layer, size_factors, log1p,
    )  # fmt: skip
    if not source.files and source.dataset is None:
        source.check()
    target = output or Path("maps") / source.name
    started, replaced = time.perf_counter(), target.exists()
    with telling_warnings(strict):
        model = _model(variant, alpha, eta, dimensions, seed, param or [])
        chooser = _chooser(choose, alpha, eta)
        if metric is not None and metric not in METRICS:
            raise UnknownNameError("metric", metric, METRICS)
        check_target(target)
        earlier = None if init is None else _earlier(init, dimensions)
        samples = read_samples(source, label, features or (), kind, row_info, missing, standardize)
        _measured(model, samples, metric, prototypes, links is not None, param or [])
        guides: dict[str, Any] = {
            "links": links and read_links(links, samples.things, dataset, encoding),
            "anchors": anchors and read_anchors(anchors, samples.things, dimensions),
            "init": earlier and samples.known_by(earlier),
        }
        guides = {name: value for name, value in guides.items() if value is not None}
        fitted, reason, tried = _fitted(model, samples, guides, chooser)
        joint = samples.name(fitted).to_map()
        joint.provenance["source"] = samples.source
        if reason:
            joint.provenance["chosen"] = {"alpha": fitted.alpha_, "because": reason}
            if fitted.variant == "eigen":
                joint.provenance["chosen"]["eta"] = fitted.eta_
        joint.save(target)
    if replaced:
        progress.note(f"replaced what was at {target}")
    report(joint, fitted, target, reason, tried, time.perf_counter() - started, as_json)


# ---------------------------------------------------------------------- what to fit


def _model(
    variant: str, alpha: float | None, eta: float | None, dimensions: int, seed: int, given: list[str]
) -> Any:
    """Build the estimator, refusing what cannot work before anything is read."""
    from relscape.models.cova import COVA

    if variant.lower() not in _VARIANTS:
        raise UnknownNameError("variant", variant, _VARIANTS.values())
    chosen = _VARIANTS[variant.lower()]
    if eta is not None and chosen != "eigen":
        raise ParameterError(f"--eta {eta:g} has no meaning for {chosen}; it is for --variant eigen.")
    for name, value in (("--alpha", alpha), ("--eta", eta)):
        if value is not None and not 0 <= value <= 1:
            raise ParameterError(f"{name} {value:g}: give a number between 0 and 1.")
    if dimensions < 1:
        raise ParameterError(f"--dimensions {dimensions}: give 1 or more.")
    options = ("variant", "alpha", "eta", "prototypes", "random_state")
    parameters = model_parameters(COVA, given, options)
    return COVA(
        chosen,
        n_components=dimensions,
        alpha="auto" if alpha is None else alpha,
        eta="auto" if eta is None else eta,
        random_state=seed,
        **parameters,
    )


def _measured(
    model: Any, samples: Samples, metric: str | None, prototypes: str, linked: bool, given: list[str]
) -> None:
    """Set where prototypes lie, and how samples and cohorts are compared."""
    if Path(prototypes).is_file() or _names_a_file(prototypes):
        model.set_params(prototypes=read_prototypes(prototypes, samples.labels, model.n_components))
    else:
        model.set_params(prototypes=prototypes)
    weighed = any(setting.startswith("affinity=") for setting in given)
    if weighed and metric is not None:
        raise ParameterError(f"--metric {metric} and --param affinity=... say the same; give one.")
    compared_by(model, samples, metric, linked=linked, keep_affinity=weighed)


def _names_a_file(text: str) -> bool:
    """Tell whether a text is meant as a file: it has a folder or an ending, as no method's name has."""
    path = Path(text)
    return path.suffix != "" or len(path.parts) > 1


def _earlier(path: Path, dimensions: int) -> Map:
    earlier = Map.load(path)
    if earlier.n_components != dimensions:
        raise ParameterError(
            f"{path} has {earlier.n_components} dimensions: give --dimensions {earlier.n_components}."
        )
    return earlier


def _chooser(text: str | None, alpha: float | None, eta: float | None) -> tuple[str, dict[str, Any]] | None:
    """Read how weights are to be chosen: a rule and what it needs."""
    if text is None:
        return None
    if alpha is not None:
        raise ParameterError(f"--alpha {alpha:g} and --choose {text}: give the weight or have it chosen.")
    rule, equals, value = text.partition("=")
    numbers = _numbers(value)
    if rule == "keep" and (not equals or (len(numbers) == 1 and 0 < numbers[0] <= 1)):
        return rule, {"share": numbers[0]} if equals else {}
    if rule == "preference" and eta is not None:
        raise ParameterError(f"--eta {eta:g} and --choose {text}: give the weight or have it chosen.")
    if rule == "preference" and (not equals or (len(numbers) == 3 and min(numbers) >= 0 < max(numbers))):
        names = ("neighbours", "position", "separation")
        return rule, {"preference": dict(zip(names, numbers, strict=True))} if equals else {}
    raise ParameterError(
        f"--choose {text}: write 'preference', 'preference=2,1,1' (what neighbours, position and separation "
        "count), or 'keep=0.95' (the share of the best S_n to keep)."
    )


def _numbers(text: str) -> list[float]:
    """Read numbers between commas; nothing where one of them is none, or not finite."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        return []
    return numbers if all(math.isfinite(number) for number in numbers) else []


# ---------------------------------------------------------------------- fitting


def _fitted(
    model: Any, samples: Samples, guides: dict[str, Any], chooser: tuple[str, dict[str, Any]] | None
) -> tuple[Any, str, list[dict[str, Any]]]:
    """Fit once, or choose the weights; gives the model, why it was chosen, and what was tried."""
    from relscape.tuning import choose_weights, keep_neighbourhoods

    n = len(samples.things)
    progress.note(f"COVA-{model.variant} of {n:,} × {samples.things.kind}: {_expected(model, n, chooser)}")
    if chooser is None:
        return model.fit(samples.X, samples.labels, **guides), "", []
    rule, options = chooser
    choose = choose_weights if rule == "preference" else keep_neighbourhoods
    choice = choose(model, samples.X, samples.labels, **options, **guides)
    return choice.model, choice.reason, [vars(trial) for trial in choice.records]


def _expected(model: Any, n: int, chooser: Any) -> str:
    fits = 1 if chooser is None else 45 if model.variant == "eigen" and chooser[0] == "preference" else 9
    return time_told(cohort_seconds(model, n, fits))
