"""Fitting CODE in its forms, and the methods it is compared with, for the experiments on it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from relscape.data import EntitySet, Relation, RelationalData
from relscape.models.code import CODE
from relscape.models.multi_code import MultiCODE
from relscape.models.psd_code import PSDCODE
from relscape.project.baselines import BASELINES
from relscape.project.fitting import Placement
from relscape.project.samples import Papers, equal_rows
from relscape.protocols import FloatArray, SparseArray

__all__ = ["LIKELIHOOD", "cut", "joint_map", "mapped", "reached"]

Settings = Mapping[str, Any]
Made = tuple[FloatArray, FloatArray | None, dict[str, Any]]

LIKELIHOOD = "log-likelihood"


def mapped(method: str, counts: SparseArray, settings: Settings, k: int = 2, equal: bool = True) -> Placement:
    """Map documents, all of the same weight, and words by a fit of CODE, of PSD-CODE, or a baseline."""

    def fitted(model: Any) -> Made:
        model.fit(equal_rows(counts) if equal else counts)
        return model.row_embedding_, model.column_embedding_, _told(model)

    seed = settings["random_state"]
    if method in settings["fits"]:
        model: Any = CODE(n_components=k, random_state=seed, **settings["fits"][method])
        return _timed(method, lambda: fitted(model))
    if method in settings.get("psd", ()):
        model = PSDCODE(n_components=k, **settings["psd"][method])
        return _timed(method, lambda: fitted(model))
    return _timed(method, lambda: (*BASELINES[method](counts, k), {}))


def joint_map(given: Papers, alpha: float, settings: Settings) -> tuple[Placement, Any]:
    """Map papers, authors and words, the two likelihoods weighted by α and 1 - α over their numbers of cells.

    The weights are scaled to sum to 1, which changes no map but keeps the ridge as small as it was. At 0 and
    1 one kind has no part in the likelihood; it stays where an ascent from a random start would leave it.
    """
    tables = {"paper": equal_rows(given.papers), "author": given.authors}
    seed, options = settings["random_state"], settings["fits"]["code"]
    if alpha in (0.0, 1.0):
        kind, idle = ("paper", "author") if alpha == 1.0 else ("author", "paper")
        alone = CODE(random_state=seed, **options)

        def made() -> Made:
            alone.fit(tables[kind])
            places = {kind: alone.row_embedding_}
            places[idle] = np.random.default_rng(seed).uniform(-1, 1, (tables[idle].shape[0], 2))
            return places["paper"], places["author"], _told(alone)

        return _timed("code", made), alone
    shares = {
        "paper": alpha / np.prod(tables["paper"].shape),
        "author": (1 - alpha) / np.prod(tables["author"].shape),
    }
    weights = {(kind, "word"): float(share / sum(shares.values())) for kind, share in shares.items()}
    model = MultiCODE(weights=weights, random_state=seed, **options)
    names = {"paper": given.paper_names, "author": given.author_names, "word": given.words}
    data = RelationalData(
        [EntitySet(kind, ids) for kind, ids in names.items()],
        [Relation(f"{kind}-word", kind, "word", table) for kind, table in tables.items()],
    )

    def made_jointly() -> Made:
        model.fit(data)
        return model.embeddings_["paper"], model.embeddings_["author"], _told(model)

    return _timed("code", made_jointly), model


def cut(placement: Placement, k: int) -> Placement:
    """Keep the first k axes of a map of documents."""
    return replace(placement, rows=None if placement.rows is None else placement.rows[:, :k], columns=None)


def reached(placement: Placement) -> dict[str, float]:
    """Give the likelihood of a map as a score, where it has one."""
    told = placement.chosen
    return {LIKELIHOOD: told[LIKELIHOOD]} if LIKELIHOOD in told else {}


def _timed(method: str, make: Callable[[], Made]) -> Placement:
    """Make a map, and keep what it took and what it warned of."""
    started, started_cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows, columns, told = make()
    return Placement(
        method,
        time.perf_counter() - started,
        time.process_time() - started_cpu,
        rows,
        columns,
        warnings=tuple(dict.fromkeys(str(entry.message) for entry in caught)),
        chosen=told,
    )


def _told(model: Any) -> dict[str, Any]:
    """Tell how far a likelihood was brought, and why the solver stopped."""
    result = model.solve_result_
    told = {
        LIKELIHOOD: model.log_likelihood_,
        "iterations": result.iterations,
        "stopped": result.reason,
    }
    if isinstance(model, PSDCODE):
        told["path"] = [
            {
                "λ": at["lambda"],
                "likelihood": at["projected_log_likelihood"],
                "eigenvalues": at["eigenvalues"],
            }
            for at in model.path_
        ]
    return told
