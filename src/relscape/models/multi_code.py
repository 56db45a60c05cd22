"""MultiCODE: any number of kinds on one map, from all the tables that join them (Globerson et al. 2007)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError, listing
from relscape.models.checks import check_dimensions, generator
from relscape.models.climbing import check_descent, climb
from relscape.models.likelihood import in_principal_axes
from relscape.models.many_kinds import ManyKindsModel
from relscape.models.multi_settings import letters_of, weights_of
from relscape.models.multi_terms import Part, build_part, graph_start, log_factors
from relscape.models.relations import KindCounts, KindRelation, named, read_relations, separate_kinds
from relscape.objectives.several import SeveralTables
from relscape.protocols import FloatArray, IntArray
from relscape.threads import one_thread

__all__ = ["MultiCODE"]

STARTS = ("ca", "random")


class MultiCODE(ManyKindsModel):
    r"""Euclidean embedding of co-occurrence data with any number of kinds and tables.

    Every kind has one set of points; every table of two kinds a model of :class:`CODE`, and their
    likelihoods add up, :math:`ℓ = Σ_t w_t ℓ_t`. Tables may join a kind with itself. Counts of three or more
    kinds at once have the model :math:`p ∝ \prod_v α_v e^{-\bar D}` with the average squared distance of two.

    Parameters
    ----------
    n_components : int
        Dimension of the space.
    weights : {"balanced", "equal"} or dict
        How much every table counts, positive. "balanced" is the paper's choice, one over the number of cells
        of the table, rescaled to sum to 1; "equal" is one over the number of tables. A dict, by pairs of
        kinds, is taken as it is and names all tables.
    models : str or dict
        Two letters for all tables of two kinds, see :class:`CODE`; or a dict by pairs of kinds, where tables
        that are not named are CM (within one kind p(second | first); the paper's p(first | second) is MC).
        Tables of K kinds take K letters, M or U; without any, all are M.
    ridge : float
        Weight ρ of the penalty ρ Σ‖point‖², which keeps points from running away.
    start : {"ca", "random"} or dict
        The first start: leading vectors of the graph of all relations, which for two kinds is
        correspondence analysis; uniform in [-1, 1]; or places for every kind, all its things, by its name.
    n_restarts : int
        Number of starts; all but the first are random. The highest penalised likelihood wins.
    solver : {"lbfgs", "cg"}
    exclude_self : bool
        Whether relations within one kind leave out pairs of a thing with itself, which are at distance 0
        on any map. Such counts are then left out, with a warning.
    equal_rows : bool
        Whether in every table the things of the first kind weigh the same, as documents do in the paper.
    tolerance : float
        The solver stops when no partial derivative is larger.
    max_iterations : int
        Most iterations from one start.
    random_state : int, Generator or None
        Draws random starts.

    Attributes
    ----------
    embeddings_ : dict of kind to array
        One row a thing; NaN for things without any relation, which are not on the map.
    log_likelihoods_ : dict of relation to float
        Average log p of an observation in each table, in nats, without the penalty.
    log_likelihood_ : float
        Their sum, weighted.
    weights_, models_ : dict of relation to float, to str
        What was used.
    entities_, defined_, degrees_ : dicts by kind
        The things, which of them have a place, and the sums of their counts over all tables.
    solve_result_ : SolveResult
        Of the start that won; ``reason`` says why the solver stopped.
    restarts_ : list of dict
        For every start its ``value`` (what was minimised), ``iterations``, ``converged`` and ``reason``.

    Examples
    --------
    >>> import numpy as np
    >>> doc_word = np.array([[3, 1, 0, 0], [2, 2, 1, 0], [0, 1, 3, 2], [0, 0, 2, 4]])
    >>> author_word = np.array([[5, 3, 1, 0], [0, 1, 5, 6]])
    >>> model = MultiCODE(random_state=0)
    >>> model = model.fit({("doc", "word"): doc_word, ("author", "word"): author_word})
    >>> {kind: points.shape for kind, points in model.embeddings_.items()}
    {'doc': (4, 2), 'word': (4, 2), 'author': (2, 2)}
    """

    def __init__(
        self,
        n_components: int = 2,
        weights: Any = "balanced",
        models: Any = "CM",
        ridge: float = 1e-6,
        start: Any = "ca",
        n_restarts: int = 1,
        solver: str = "lbfgs",
        exclude_self: bool = True,
        equal_rows: bool = False,
        tolerance: float = 1e-8,
        max_iterations: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.weights = weights
        self.models = models
        self.ridge = ridge
        self.start = start
        self.n_restarts = n_restarts
        self.solver = solver
        self.exclude_self = exclude_self
        self.equal_rows = equal_rows
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, models: Any = None) -> Self:  # noqa: ARG002
        """Place the things of all kinds.

        Parameters
        ----------
        X : dict or RelationalData
            By tuples of kinds: for two kinds a matrix (dense, sparse, or a wide frame, whose names are
            remembered and matched between tables), for K kinds an array of K dimensions, or
            ``(indices, counts)`` with K columns of indices, or K + 1 columns, the last one counts. A relation
            spread over a cluster stands for a matrix. Of a RelationalData all relations are taken.
        y : None
            Not used; for scikit-learn's pipelines.
        models : str or dict, optional
            Used instead of the parameter ``models``.
        """
        self._check()
        given = read_relations(X)
        keys = [relation.kinds for relation in given.relations]
        letters = letters_of(self.models if models is None else models, keys)
        relations = [self._without_self(relation) for relation in given.relations]
        self.kinds_, self.relations_ = list(given.entities), [list(key) for key in keys]
        self.data_fingerprint_ = given.fingerprint
        for number, entities in enumerate(given.entities.values()):
            setattr(self, f"kind{number}_entities_", entities)
        self._note_degrees(relations)
        places = self._places()
        parts = [
            build_part(relation, letters[relation.kinds], places, self.equal_rows, self.exclude_self)
            for relation in relations
        ]
        weights = weights_of(self.weights, keys, [part.n_cells for part in parts])
        with one_thread():  # sums over several threads would end in other last digits
            self._solve(relations, parts, weights, places)
            self._keep(parts, weights, [letters[key] for key in keys])
        for number, relation in enumerate(relations):
            size = len(self.entities_[relation.kinds[0]])
            setattr(self, f"relation{number}_row_sums_", relation.sums(0, size))
        return self

    def _check(self) -> None:
        check_dimensions("n_components", self.n_components)
        check_descent(self)
        if isinstance(self.start, str) and self.start not in STARTS:
            raise UnknownNameError("start", self.start, STARTS)
        if not isinstance(self.start, str | Mapping):
            raise ParameterError("start: give 'ca', 'random', or a dict with the places of every kind.")

    def _without_self(self, relation: KindCounts | KindRelation) -> KindCounts | KindRelation:
        """Leave pairs of a thing with itself out of a relation within one kind, if so asked."""
        if not self.exclude_self or len(relation.kinds) != 2 or relation.kinds[0] != relation.kinds[1]:
            return relation
        if isinstance(relation, KindRelation):
            raise DataError(
                f"{named(relation.kinds)}: pairs of a thing with itself can be left out of a table only in "
                "memory; give its matrix, or exclude_self=False."
            )
        own = relation.cells[:, 0] == relation.cells[:, 1]
        if own.any():
            warnings.warn(
                f"{named(relation.kinds)}: {own.sum()} things are related to themselves; this is left out "
                "(exclude_self=False keeps it).",
                RelscapeWarning,
                stacklevel=4,
            )
        if own.all():
            raise DataError(f"{named(relation.kinds)} relates nothing but things with themselves.")
        return relation.without(own)

    def _note_degrees(self, relations: list[KindCounts | KindRelation]) -> None:
        """Add up the counts of every thing; warn of things without any, and of kinds that nothing joins."""
        sums = {kind: np.zeros(len(entities)) for kind, entities in self.entities_.items()}
        for relation in relations:
            for side, kind in enumerate(relation.kinds):
                sums[kind] += relation.sums(side, len(sums[kind]))
        self.degree_ = np.concatenate(list(sums.values()))
        missing = [
            f"{(~there).sum()} of {there.size} {kind} objects "
            f"({listing(self.entities_[kind].ids[~there], 3)})"
            for kind, there in self.defined_.items()
            if not there.all()
        ]
        if missing:
            warnings.warn(
                f"{' and '.join(missing)} have no relation at all and get no place on the map.",
                RelscapeWarning,
                stacklevel=3,
            )
        self._warn_of_separate_kinds()

    def _warn_of_separate_kinds(self) -> None:
        apart = separate_kinds(self.keys_)
        if len(apart) > 1:
            told = "; ".join(", ".join(kinds) for kinds in apart)
            warnings.warn(
                f"no relation joins these kinds with one another: {told}. They lie on one map, but distances "
                "between them mean nothing.",
                RelscapeWarning,
                stacklevel=4,
            )

    def _places(self) -> dict[str, IntArray]:
        """Give every thing with a place the number of its point, kind after kind; -1 for the others."""
        defined = self.degree_ > 0
        numbers = np.where(defined, np.cumsum(defined) - 1, -1)
        return self._by_kind(numbers)

    def _solve(
        self,
        relations: list[KindCounts | KindRelation],
        parts: list[Part],
        weights: list[float],
        places: dict[str, IntArray],
    ) -> None:
        objective = SeveralTables([part.term for part in parts], weights, float(self.ridge))
        random_state = generator(self.random_state)
        total = int((self.degree_ > 0).sum())
        starts = self._starts(relations, places, total, random_state)
        self.solve_result_, self.restarts_ = climb(self, objective, starts)

    def _starts(
        self,
        relations: list[KindCounts | KindRelation],
        places: dict[str, IntArray],
        total: int,
        random_state: Generator,
    ) -> Iterator[FloatArray]:
        k = self.n_components
        if isinstance(self.start, Mapping):
            yield self._given_start()
        elif self.start == "ca":
            yield graph_start(relations, places, total, k, random_state)
        else:
            yield random_state.uniform(-1, 1, (total, k))
        for _ in range(self.n_restarts - 1):
            yield random_state.uniform(-1, 1, (total, k))

    def _given_start(self) -> FloatArray:
        stacked = []
        for kind, there in self.defined_.items():
            if kind not in self.start:
                raise ParameterError(f"start: there are no places for kind {kind!r}.")
            try:
                points = np.asarray(self.start[kind], dtype=np.float64)
            except (TypeError, ValueError, OverflowError):
                raise ParameterError(f"start: the places of kind {kind!r} are not numbers.") from None
            if points.shape != (there.size, self.n_components):
                raise ParameterError(
                    f"start: the places of kind {kind!r} have shape {points.shape}; give some for all its "
                    f"things, {(there.size, self.n_components)}."
                )
            if not np.isfinite(points[there]).all():
                raise ParameterError(f"start: places of kind {kind!r} are NaN or infinite; give finite ones.")
            stacked.append(points[there])
        return np.concatenate(stacked)

    def _keep(self, parts: list[Part], weights: list[float], letters: list[str]) -> None:
        """Set what is learned; what every table weighs its things with serves to place newcomers."""
        points = in_principal_axes(self.solve_result_.point)
        self.embedding_ = np.full((self.degree_.size, self.n_components), np.nan)
        self.embedding_[self.degree_ > 0] = points
        self.relation_weights_, self.relation_models_ = weights, letters
        self.relation_log_likelihoods_ = [part.term.likelihood(points)[0] for part in parts]
        self.log_likelihood_ = float(np.dot(weights, self.relation_log_likelihoods_))
        for number, (part, model) in enumerate(zip(parts, letters, strict=True)):
            if len(model) != 2:
                continue
            for side, factors in enumerate(log_factors(part, model, points)):
                weighed = np.full(len(self.entities_[self.relations_[number][side]]), -np.inf)
                weighed[part.things[side]] = factors
                setattr(self, f"relation{number}_log_factors{side}_", weighed)
