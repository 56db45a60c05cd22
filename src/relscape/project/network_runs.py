"""Fits of models of document networks, each kept in a file as soon as it is done, and never done twice."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from relscape import datasets, progress
from relscape.data.link_splits import hold_out_documents, hold_out_links
from relscape.models.network_base import NetworkModel
from relscape.models.registry import METHODS
from relscape.project.kept_runs import Kept, kept_or_run, run_file
from relscape.protocols import IntArray, SparseArray, TextArray

__all__ = ["Fit", "Network", "Split", "dealt", "fitted", "kept_or_done", "network_of", "searched"]

_FORMAT = "relscape-network-run"
_VALIDATION = 1


@dataclass(frozen=True, eq=False)
class Network:
    """Documents: their ids, contents (n × d) and links (L × 2: from, to)."""

    ids: TextArray
    contents: SparseArray
    pairs: IntArray


class Split(NamedTuple):
    """Links to train with and links to test with."""

    train: IntArray
    test: IntArray


class Fit(NamedTuple):
    """One fit: a name such as "cora/RTM/0", the registered model, its arguments, and what it searches.

    ``search`` has one argument with the values to try on links held out of the training links.
    """

    name: str
    model: str
    arguments: Mapping[str, Any]
    search: Mapping[str, list[Any]]


def network_of(name: str) -> Network:
    """Load a set of documents with words and links.

    The citation sets hold (cited, citing), which is turned round here: a link goes from the citing document
    to the cited one. The imports of the standard library already do so.
    """
    data = getattr(datasets, f"load_{name}")()
    relation = data.relations["imports" if "imports" in data.relations else "links"]
    rows, columns = (side.astype(np.int64) for side in relation.matrix.tocoo().coords)
    pairs = (rows, columns) if relation.name == "imports" else (columns, rows)
    words = data.relations["words"]
    return Network(data.entities[words.rows].ids, words.matrix, np.unique(np.column_stack(pairs), axis=0))


def dealt(pairs: IntArray, n: int, hold_out: str, share: float, seed: int | np.random.Generator) -> Split:
    """Hold out a share of the "links", or of the "documents" with all their links."""
    if hold_out == "links":
        return Split(*hold_out_links(pairs, share, seed))
    return Split(*hold_out_documents(pairs, n, share, seed)[:2])


def fitted(fit: Fit, network: Network, train: IntArray) -> NetworkModel:
    """Fit a model on some links."""
    model: NetworkModel = METHODS[fit.model].model_class()(**fit.arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same few documents without words or links, fit after fit
        return model.fit(network.contents, train)


def kept_or_done(
    fit: Fit, network: Network, split: Split, folder: Path | None, wanted: bool, hold_out: str = "links"
) -> Kept | None:
    """Read what a fit gave, or carry it out and keep it; one that is not wanted is only read.

    Parameters
    ----------
    fit : Fit
    network : Network
    split : Split
    folder : path, optional
        Where fits are kept; without one nothing is.
    wanted : bool
        Whether to fit where nothing is kept.
    hold_out : {"links", "documents"}
        How to hold out links of training where the model searches.

    Returns
    -------
    dict or None
        The arguments, seconds, how training ended, and the figures of train and test links.
    """
    links = b"".join(np.ascontiguousarray(part).tobytes() for part in split)
    file = run_file(folder, fit.model, [fit.model, fit.arguments, fit.search], links)
    return kept_or_run(file, _FORMAT, wanted, lambda: _done(fit, network, split, hold_out))


def _done(fit: Fit, network: Network, split: Split, hold_out: str) -> Kept:
    """Choose what is searched, fit all training links, and rank those of training and of test."""
    progress.note(f"fitting {fit.name}")
    chosen, tried = searched(fit, network, split.train, hold_out)
    started, started_cpu = time.perf_counter(), time.process_time()
    model = fitted(chosen, network, split.train)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - started_cpu
    result = getattr(model, "solve_result_", None)
    return {
        "model": fit.model,
        "arguments": dict(chosen.arguments),
        "tried": tried,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "iterations": None if result is None else result.iterations,
        "ended": "" if result is None else result.reason,
        "documents": len(network.ids),
        "train": model.rank(split.train).to_dict(),
        "test": model.rank(split.test).to_dict(),
    }


def searched(fit: Fit, network: Network, train: IntArray, hold_out: str) -> tuple[Fit, dict[str, float]]:
    """Take the value that ranks a tenth of training best, which is held out as the test links are.

    A seed of its own draws it: that of the test would draw the same documents, which have no links left.
    """
    if not fit.search:
        return fit, {}
    ((name, values),) = fit.search.items()
    rng = np.random.default_rng([fit.arguments["random_state"], _VALIDATION])
    split = dealt(train, len(network.ids), hold_out, 0.1, rng)
    ranks = {}
    for value in values:
        trial = fit._replace(arguments={**fit.arguments, name: value})
        ranks[value] = fitted(trial, network, split.train).rank(split.test).mean_rank
    best = min(ranks, key=lambda value: ranks[value])
    tried = {f"{name}={value:g}": rank for value, rank in ranks.items()}
    return fit._replace(arguments={**fit.arguments, name: best}), tried
