"""KGEmbedding: vectors of the entities and relations of a knowledge graph, to tell what else is true."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relscape import progress
from relscape.errors import ClusterError, DataError, FormatError, ParameterError, RelscapeWarning
from relscape.maps.spelling import expanded, meant
from relscape.models.checks import check_integer
from relscape.models.knowledge_answers import TrainedGraph
from relscape.models.knowledge_calibration import calibrated
from relscape.models.knowledge_checkpoints import Checkpoints, TrainingStopped
from relscape.models.knowledge_graphs import SpreadGraph, as_graph
from relscape.models.knowledge_placing import placed_entity
from relscape.models.knowledge_settings import Plan, plan_of
from relscape.models.knowledge_state import checkpoint_in, write_model
from relscape.models.knowledge_training import Run, begin, held_threads, revived, train
from relscape.models.state import model_from_state, model_state, read_state

__all__ = ["KGEmbedding"]


class KGEmbedding(TrainedGraph):
    """Learn vectors of entities and relations such that true facts have low energy.

    Every model gives a triple (head, relation, tail) an energy; training lowers that of known facts and
    raises that of corrupted ones. Of the last epochs the one is kept that ranks validation triples best.

    Parameters
    ----------
    model : str
        Unstructured, RESCAL, SE, SMELinear, SMEBilinear, LFM, TransE, TransM, TransH, TransR, CTransR,
        TransPES, DistMult, ComplEx or RotatE.
    n_components : int
        Length of the vectors.
    loss : str
        "margin", or with many negatives shared by a batch "self-adversarial" or "softmax" (TransE, TransPES,
        RESCAL, DistMult, ComplEx and RotatE).
    margin, learning_rate : float or "auto"
        How far apart true and corrupted triples are to be, and the size of steps; "auto" is a
        value for each model and loss: from its paper, or found good in trials on FB15k and WN18.
    n_batches : int
        Steps an epoch: into how many parts the training triples are dealt.
    negatives : int
        Corrupted triples for each true one.
    norm : str
        "l1", "l2", "l2sq", or "auto" for the model's own.
    n_epochs : int
        Passes over the training triples.
    preset : str or None
        "thesis" sets what is "auto", and the options, as the thesis had them; None as is usual.
    n_jobs : int
        Threads of training. With 1 a seed gives the same bits every time; more are faster, update without
        locks, and do not.
    random_state : int, Generator or None
        Seed of everything that is drawn.
    options : mapping, optional
        Whatever else: see :mod:`relscape.models.knowledge_settings`.

    Attributes
    ----------
    params_ : dict of arrays
        What was learned: "entities" (one row an entity), "relations", "shared", "fixed".
    history_ : list of dict
        For every epoch its mean loss, the share of pairs still active (of the other losses, "below_share":
        of corruptions below the true triple) and, where looked at, validation figures.
    changes_ : list of dict
        What was changed when the training was resumed: after which "epoch", and the new values by name.
    validation_ : dict
        Validation figures of the epoch that was kept; empty without validation triples.
    best_epoch_, n_epochs_ : int
        The epoch that was kept, and how many were trained.
    n_parts_ : int
        Into how many parts entities were dealt: 1 unless the training was on a cluster.

    Examples
    --------
    >>> facts = [(f"n{i}", "next", f"n{i + 1}") for i in range(9)]
    >>> model = KGEmbedding("TransE", 8, n_epochs=50, random_state=0).fit(facts)
    >>> model.rank(facts).mean_rank < 4
    True
    """

    def __init__(
        self,
        model: str = "TransPES",
        n_components: int = 100,
        loss: str = "margin",
        margin: float | str = "auto",
        learning_rate: float | str = "auto",
        n_batches: int = 100,
        negatives: int = 2,
        norm: str = "auto",
        n_epochs: int = 500,
        preset: str | None = None,
        n_jobs: int = 1,
        random_state: int | np.random.Generator | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.n_components = n_components
        self.loss = loss
        self.margin = margin
        self.learning_rate = learning_rate
        self.n_batches = n_batches
        self.negatives = negatives
        self.norm = norm
        self.n_epochs = n_epochs
        self.preset = preset
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.options = options

    def check(self) -> Plan:
        """Refuse parameters that cannot work; gives the plan of training with all settings filled in."""
        return plan_of(self.get_params(deep=False))

    # ------------------------------------------------------------------ training

    def fit(
        self,
        graph: Any,
        y: Any = None,  # noqa: ARG002
        *,
        checkpoints: str | Path | None = None,
        every: int = 10,
    ) -> Self:
        """Train on the training triples of a graph.

        Parameters
        ----------
        graph : KnowledgeGraph, RelationalData, or anything KnowledgeGraph takes as training triples
            What is known. A :class:`relscape.distributed.DistributedGraph` is trained on its cluster.
        y
            Not used.
        checkpoints : path, optional
            A directory for checkpoints; :meth:`resume` goes on from the last one. Ctrl-C then waits for the
            end of the epoch and writes one more; a second Ctrl-C stops at once.
        every : int
            Epochs between checkpoints.
        """
        plan = self.check()
        check_integer("every", every, 1)
        if plan.engine.loss == "margin" and plan.engine.margin == 0:
            warnings.warn(
                "margin=0: vectors that are all alike lose nothing, and nothing need be learned; give a "
                "positive margin.",
                RelscapeWarning,
                stacklevel=2,
            )
        self._forget()
        self.changes_ = []
        spread = graph if isinstance(graph, SpreadGraph) else None
        self.n_parts_ = 1 if spread is None else spread.n_parts
        self._keep_graph(as_graph(graph) if spread is None else spread.graph)
        with held_threads(plan):
            run = begin(plan, self._graph, self.random_state)
        keep = None if checkpoints is None else Checkpoints(self, plan, Path(checkpoints), every)
        return self._trained_on(run, plan, keep, spread)

    @classmethod
    def resume(
        cls,
        checkpoints: str | Path,
        *,
        n_epochs: int | None = None,
        learning_rate: float | None = None,
        n_jobs: int | None = None,
        spread: Callable[[Any, int], SpreadGraph] | None = None,
    ) -> Self:
        """Go on with a training from its last checkpoint, and write checkpoints there as before.

        With one thread and nothing changed it ends bit for bit where an unbroken training would have ended.
        What is changed holds from now on, is kept as a parameter of the model, and noted in ``changes_``.

        Parameters
        ----------
        checkpoints : path
            The directory given to :meth:`fit`, or one with such a directory named "checkpoint" in it.
        n_epochs : int, optional
            Train to so many epochs in all instead of those begun with.
        learning_rate : float, optional
            Take steps of this size from now on.
        n_jobs : int, optional
            Use so many threads from now on.
        spread : callable, optional
            For a training that was begun on a cluster: called with the graph and the number of its parts, it
            spreads the graph again, such as ``partial(DistributedGraph, client=client)``.
        """
        directory = checkpoint_in(Path(checkpoints))
        if not (directory / "model.json").exists():
            hint = "" if directory.exists() else meant(directory, Path.is_dir)
            raise FormatError(f"there is no training at {directory}, so nothing is to resume.{hint}")
        model: Self = model_from_state(cls, read_state(directory))
        if not hasattr(model, "training_"):
            raise FormatError(f"{directory} is a finished model, not a checkpoint; nothing is to resume.")
        _check_spread(directory, model.n_parts_, spread is not None)
        wanted = {"n_epochs": n_epochs, "learning_rate": learning_rate, "n_jobs": n_jobs}
        changes = {n: v for n, v in wanted.items() if v is not None and v != getattr(model, n)}
        plan = model.set_params(**changes).check()
        run = revived(model.training_, plan, model.history_, changes)
        every = int(model.training_["every"])
        del model.training_
        if run.finished(plan):
            progress.note(f"all {run.epoch} epochs are trained; n_epochs (--epochs) goes on to more")
        if changes:
            model.changes_ = [*model.changes_, {"epoch": run.epoch, **changes}]
        again = None if spread is None else spread(model._graph, model.n_parts_)
        keep = Checkpoints(model, plan, directory, every, epoch=run.epoch)
        return model._trained_on(run, plan, keep, again)

    def _trained_on(self, run: Run, plan: Plan, keep: Checkpoints | None, spread: SpreadGraph | None) -> Self:
        try:
            with held_threads(plan), nullcontext() if keep is None else keep.under_way(spread is None):
                train(run, plan, self._graph, None if keep is None else keep.look, spread)
            self._take(run)
            self._calibrate(run.seed)
        except KeyboardInterrupt:
            self._forget()
            if keep is None or keep.epoch is None:
                raise
            raise TrainingStopped(keep.epoch, plan.n_epochs, keep.directory) from None
        except (DataError, ClusterError) as error:
            self._forget()
            if keep is None:
                raise
            raise type(error)(
                f"{error} The last good checkpoint, of epoch {keep.epoch}, is in {keep.directory}."
            ) from error
        return self

    def _take(self, run: Run) -> None:
        """Keep what a training has learned so far."""
        best = run.best
        self.params_ = run.params if best is None else best.params
        self.best_epoch_ = run.epoch if best is None else best.epoch
        self.validation_ = {} if best is None else dict(best.figures)
        self.n_epochs_, self.history_ = run.epoch, list(run.history)

    def _calibrate(self, seed: int) -> None:
        """Learn how likely an answer of some energy at some place of a list is."""
        rng = np.random.default_rng([seed, 1])
        self.calibration_ = calibrated(self._trained(), self._graph, rng)

    def with_entity(self, name: str, triples: Any, label: str | None = None) -> Self:
        """Give a copy of the model that has one more entity, placed by a few of its triples.

        Nothing else moves: the new row alone is trained, from where the known entity lies that would suit
        its triples best.

        Parameters
        ----------
        name : str
            Its name, new to the graph.
        triples : n × 3
            Facts by names, each with the new entity as head or tail (or both).
        label : str, optional
            What to show for it.
        """
        plan, seed = self.check(), 0 if not isinstance(self.random_state, int) else self.random_state
        with held_threads(plan):
            graph, params = placed_entity(self._trained(), plan, self._graph, name, triples, label, seed)
        grown: Self = type(self)(**self.get_params(deep=False))
        for learned, value in vars(self).items():
            if learned.endswith("_"):
                setattr(grown, learned, value)
        grown._keep_graph(graph)
        grown.params_ = params
        return grown

    # ------------------------------------------------------------------ maps and files

    def save(self, path: str | Path) -> Path:
        """Write the fitted model as a directory, whole or not at all; returns where."""
        check_is_fitted(self)
        directory = expanded(path)
        write_model(model_state(self), directory)
        return directory

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that was saved, or a checkpoint as it stands."""
        model: Self = model_from_state(cls, read_state(path))
        if hasattr(model, "training_"):
            if model.training_["warm"] is not None:
                raise FormatError(
                    f"{path}: this training of {model.model} is still at the TransE that it begins from, and "
                    "knows nothing yet; go on with it by KGEmbedding.resume."
                )
            model._calibrate(int(model.training_["seed"]))
            del model.training_
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def _check_spread(directory: Path, n_parts: int, spread: bool) -> None:
    """Refuse to go on in one piece with a training in parts, or the other way round."""
    if n_parts > 1 and not spread:
        raise ParameterError(
            f"{directory} is a training on a cluster, in {n_parts} parts; go on with it on one (--workers 1 "
            "will do; in Python, spread=partial(DistributedGraph, client=client))."
        )
    if n_parts == 1 and spread:
        raise ParameterError(f"{directory} is a training in one piece; go on with it without a cluster.")
