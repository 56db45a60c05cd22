"""Choosing the settings of a knowledge-graph model: a declared grid, judged on validation triples only."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from sklearn.base import clone

from relscape import progress
from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError, FormatError, ParameterError
from relscape.maps.files import atomic_file, storage_errors
from relscape.maps.state import read_json, write_json
from relscape.models.knowledge import KGEmbedding
from relscape.models.knowledge_validation import CRITERIA, better, figures_of
from relscape.models.state import is_saved_model, plain_parameters

__all__ = ["GridChoice", "GridTrial", "tune_knowledge"]

_FORMAT, _VERSION = "relscape-trial", 1


@dataclass(frozen=True)
class GridTrial:
    """One fit on the way: what was set, the figures on all validation triples, and the epoch kept."""

    settings: Mapping[str, Any]
    mean_rank: float
    mrr: float
    hits_at_10: float
    epoch: int

    @property
    def figures(self) -> dict[str, float]:
        """Give the figures by which trials are compared."""
        return {"mean_rank": self.mean_rank, "mrr": self.mrr, "hits@10": self.hits_at_10}


@dataclass(frozen=True, eq=False)
class GridChoice:
    """The settings chosen, why, a record of everything that was tried, and the model fitted with them."""

    settings: Mapping[str, Any]
    reason: str
    records: tuple[GridTrial, ...]
    model: KGEmbedding


def tune_knowledge(
    model: KGEmbedding,
    graph: KnowledgeGraph,
    grid: Mapping[str, Sequence[Any]],
    *,
    by: str = "mean_rank",
    directory: str | Path | None = None,
    every: int = 10,
) -> GridChoice:
    """Fit a model at every point of a grid and keep the one that ranks validation triples best.

    The test triples are never looked at, not even to filter. With a directory every trial is written when it
    is done, and one that was interrupted goes on from its last checkpoint: call the same again.

    Parameters
    ----------
    model : KGEmbedding
        With all other parameters set; it is not changed.
    graph : KnowledgeGraph
        With validation triples.
    grid : mapping of str to sequence
        The values to try of parameters of the model or of its ``options``.
    by : str
        "mean_rank", "mrr" or "hits@10".
    directory : path, optional
        Where trials and the best model are kept.
    every : int
        Epochs between checkpoints.
    """
    points = _points(model, grid)
    if by not in CRITERIA:
        raise ParameterError(f"by={by!r}: expected one of {', '.join(CRITERIA)}.")
    if not len(graph.valid):
        raise DataError(
            "the graph has no validation triples to choose by; hold some out with KnowledgeGraph.split."
        )
    if directory is not None and not isinstance(model.random_state, int):
        raise ParameterError(
            f"random_state={model.random_state!r}: trials that can be taken up again need an integer."
        )
    kept = None if directory is None else _Folder(Path(directory), graph)
    trials: list[GridTrial] = []
    best: tuple[GridTrial, KGEmbedding | None] | None = None
    with progress.task("trying settings", len(points)) as task:
        for settings in points:
            fresh = _set(model, settings)
            trial, fitted = _tried(fresh, settings, graph, kept, every)
            trials.append(trial)
            if better(trial.figures, None if best is None else best[0].figures, by):
                best = trial, fitted
                if kept is not None and fitted is not None:
                    fitted.save(kept.best)
            progress.note(f"{_told(settings)}: mean rank {trial.mean_rank:.1f}, MRR {trial.mrr:.3f}")
            task.advance()
    assert best is not None  # a grid has at least one point
    trial, fitted = best
    if fitted is None:
        fitted = _best_of(kept, _set(model, trial.settings), graph)
    reason = f"best {by} on {len(graph.valid):,} validation triples: {trial.figures[by]:.4g}"
    return GridChoice(trial.settings, reason, tuple(trials), fitted)


def _points(model: KGEmbedding, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """List the points of a grid; names the model does not have are refused before anything is fitted."""
    if not grid:
        raise ParameterError("the grid is empty: name at least one parameter and the values to try.")
    for name, values in grid.items():
        if isinstance(values, str) or not len(values):
            raise ParameterError(f"grid: {name}={values!r}; give a list of the values to try.")
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    for settings in points:
        _set(model, settings).check()
    return points


def _set(model: KGEmbedding, settings: Mapping[str, Any]) -> KGEmbedding:
    """Give a copy of the model with some settings, its own parameters or options."""
    fresh: KGEmbedding = clone(model)
    own = fresh.get_params(deep=False)
    options = {**(model.options or {}), **{n: v for n, v in settings.items() if n not in own}}
    fresh.set_params(**{n: v for n, v in settings.items() if n in own}, options=options or None)
    return fresh


def _tried(
    model: KGEmbedding, settings: Mapping[str, Any], graph: KnowledgeGraph, kept: _Folder | None, every: int
) -> tuple[GridTrial, KGEmbedding | None]:
    """Fit one point and judge it, or read what was found before; then there is no model."""
    earlier = None if kept is None else kept.read(model)
    if earlier is not None:
        return earlier, None
    checkpoints = None if kept is None else kept.checkpoints(model)
    if checkpoints is not None and is_saved_model(checkpoints):
        fitted = KGEmbedding.resume(checkpoints)
    else:
        fitted = model.fit(graph, checkpoints=checkpoints, every=every)
    figures = figures_of(fitted.rank(graph.valid, known=("train", "valid")))
    trial = GridTrial(
        settings, figures["mean_rank"], figures["mrr"], figures["hits@10"], int(fitted.best_epoch_)
    )
    if kept is not None:
        kept.write(model, trial)
    return trial, fitted


def _best_of(kept: _Folder | None, model: KGEmbedding, graph: KnowledgeGraph) -> KGEmbedding:
    """Read the best model again, or fit it where it was not kept whole."""
    if kept is not None and is_saved_model(kept.best):
        saved = KGEmbedding.load(kept.best)
        if plain_parameters(saved) == plain_parameters(model):
            return saved
    model.fit(graph)
    if kept is not None:
        model.save(kept.best)
    return model


def _told(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


class _Folder:
    """The trials of one grid on disk: a file each, named by a digest of all that decides its result."""

    def __init__(self, path: Path, graph: KnowledgeGraph) -> None:
        self.path, self.graph_digest = path, graph.fingerprint()
        self.best = path / "best"
        with storage_errors("write", path):
            path.mkdir(parents=True, exist_ok=True)

    def _digest(self, model: KGEmbedding) -> str:
        said = json.dumps([self.graph_digest, plain_parameters(model)], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def checkpoints(self, model: KGEmbedding) -> Path:
        """Give where a trial under way keeps its checkpoints."""
        return self.path / f"trial-{self._digest(model)}"

    def _file(self, model: KGEmbedding) -> Path:
        return self.path / f"trial-{self._digest(model)}.json"

    def read(self, model: KGEmbedding) -> GridTrial | None:
        """Read a trial that was done."""
        file = self._file(model)
        if not file.exists():
            return None
        stored = read_json(file, _FORMAT, _VERSION)
        try:
            return GridTrial(**stored["trial"])
        except (KeyError, TypeError) as error:
            raise FormatError(f"{file} is damaged ({error}); delete it to have it done again.") from error

    def write(self, model: KGEmbedding, trial: GridTrial) -> None:
        """Keep a trial that is done; its checkpoints are not needed any more."""
        with atomic_file(self._file(model)) as draft:
            write_json(draft, {"format": _FORMAT, "version": _VERSION, "trial": asdict(trial)})
        shutil.rmtree(self.checkpoints(model), ignore_errors=True)
