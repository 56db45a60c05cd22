"""``relscape project``: things of several kinds on one map, from tables that a project file describes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from relscape import progress
from relscape.cli.coembed import Json, Output, Parameters, Strict, model_parameters
from relscape.cli.console import telling_warnings
from relscape.cli.project_report import report, size_told
from relscape.errors import ParameterError, RelscapeWarning
from relscape.maps.store import check_target
from relscape.project.costs import projection_seconds, time_told
from relscape.project.guidance_scores import guidance_scores

__all__ = ["project"]

_RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
_DIMENSIONS = (2, 5, 10, 20)
_FOLDS = 5


def project(
    file: Annotated[
        Path | None,
        typer.Argument(help="A project file, or its folder.", show_default="relscape.toml"),
    ] = None,
    output: Output = None,
    model_name: Annotated[
        str | None,
        typer.Option("--model", help="Which model of the file.", show_default="its only projection"),
    ] = None,
    dimensions: Annotated[
        int | None,
        typer.Option(
            "--dimensions",
            "--n-components",
            "-k",
            min=1,
            help="Number of axes.",
            show_default="the file's, or 2",
        ),
    ] = None,
    ridge: Annotated[
        float | None,
        typer.Option(
            min=0.0, help="Relative ridge; larger follows noise less.", show_default="the file's, or 0.001"
        ),
    ] = None,
    constraint: Annotated[
        str | None,
        typer.Option(help="Fix the size of all kinds (joint) or of one (reference).", show_default="joint"),
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose ridge and number of axes by pairs kept aside.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of all that is drawn at random.", show_default="the file's, or 0"),
    ] = None,
    param: Parameters = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Map things of any number of kinds, by their features and by which pairs are alike or unlike.

    The kinds, their tables and what guides them are written in a project file; 'relscape init FILES' makes
    one from your tables.
    """
    from relscape.project.sections import about
    from relscape.project.study import PROJECT_FILE, read_study
    from relscape.project.study_data import load_study
    from relscape.project.study_projection import guided, projection_model, to_map

    started = time.perf_counter()
    given: dict[str, Any] = {"n_components": dimensions, "regularization": ridge}
    given |= {"constraint": constraint, "random_state": seed}
    options = {key: value for key, value in given.items() if value is not None}
    if tune and dimensions is not None and ridge is not None:
        raise ParameterError("--tune chooses the ridge and the number of axes; both are given.")
    with telling_warnings(strict):
        study = read_study(PROJECT_FILE if file is None else file)
        name, parameters = projection_model(study, model_name)
        model = _model(parameters, options, param or [])
        target = output or Path("maps") / name
        check_target(target)
        replaced = target.exists()
        loaded = load_study(study)
        chosen = guided(loaded)
        tried: list[dict[str, Any]] = []
        fits = _FOLDS * len(_RIDGES) + 2 if tune else 1
        expected = time_told(projection_seconds(model, chosen.data, fits))
        progress.note(f"guided projection of {size_told(chosen)}: {expected}")
        with about(study.where(f"models.{name}" if name in study.models else "")):
            if tune:
                model, tried = _tuned(model, chosen, options)
            with progress.task("guided projection"):
                model.fit(chosen.data, chosen.weights)
        joint = to_map(model, chosen, loaded)
        scores = guidance_scores(joint)
        joint.scores |= scores
        if tried:
            joint.provenance["chosen"] = {**tried[0], "among": len(tried)}
        joint.save(target)
    if replaced:
        progress.note(f"replaced what was at {target}")
    report(joint, model, scores, tried, target, time.perf_counter() - started, as_json)


def _model(parameters: Mapping[str, Any], options: Mapping[str, Any], given: list[str]) -> Any:
    """Build the estimator: what the file says, then what the command line says instead."""
    from relscape.models.projection import CONSTRAINTS, HeterogeneousProjection

    if options.get("constraint", CONSTRAINTS[0]) not in CONSTRAINTS:
        raise ParameterError(f"--constraint {options['constraint']}: write {' or '.join(CONSTRAINTS)}.")
    own = model_parameters(HeterogeneousProjection, given, ("regularization", "constraint", "random_state"))
    return HeterogeneousProjection(**{"random_state": 0, **parameters, **options, **own})


def _tuned(model: Any, chosen: Any, options: Mapping[str, Any]) -> tuple[Any, list[dict[str, Any]]]:
    """Choose what the command line leaves open; gives the model to fit, and all that was tried, best first.

    What a trial warns of, such as axes that a fold does not have, says nothing of the map to be made.
    """
    from sklearn.base import clone

    from relscape.project.study_projection import task_of
    from relscape.tuning.projection import tune_projection

    kind, other = task_of(chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        choice = tune_projection(
            model,
            chosen.data,
            chosen.weights,
            kind=kind,
            other=other,
            regularizations=[options["regularization"]] if "regularization" in options else _RIDGES,
            n_components=[options["n_components"]] if "n_components" in options else _DIMENSIONS,
            folds=_FOLDS,
            random_state=model.random_state,
        )
    best = {"regularization": choice.regularization, "n_components": choice.n_components}
    tried = [
        {
            "kind": kind,
            "other": other,
            "regularization": trial.regularization,
            "n_components": trial.n_components,
            "ndcg": trial.score,
        }
        for trial in sorted(choice.records, key=lambda trial: -trial.score)
    ]
    return clone(model).set_params(**best), tried
