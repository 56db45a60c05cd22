"""What a fitted map of any number of kinds can do: its parts by name, newcomers, maps, saving and loading."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from copy import copy
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from relscape.data import EntitySet, RelationalData
from relscape.data.arrays import plain_array
from relscape.data.frames import wide_table
from relscape.errors import DataError, UnknownNameError
from relscape.maps import Map
from relscape.maps.files import replace_directory
from relscape.maps.spelling import expanded
from relscape.maps.state import ModelState
from relscape.models.base import group_of, told_of_lost
from relscape.models.climbing import solver_report
from relscape.models.inputs import matched, refuse_negative
from relscape.models.likelihood import prominence
from relscape.models.multi_settings import texts_of
from relscape.models.relations import Key, named
from relscape.models.saving import owned_files
from relscape.models.state import model_from_state, model_state, read_state
from relscape.objectives.newcomers import place_frozen
from relscape.objectives.pairs import LEAST_RIDGE
from relscape.objectives.several import RowProblems, place_by_several
from relscape.protocols import AnyArray, BoolArray, FloatArray, SparseArray, TextArray
from relscape.solvers.result import SolveResult

__all__ = ["ManyKindsModel"]

_PACKAGES = ("relscape", "numpy", "scipy", "scikit-learn")


class _Seen(NamedTuple):
    """New things seen through one fitted relation: which, on which side of it they are, their counts."""

    relation: int
    side: int
    counts: SparseArray


class ManyKindsModel(BaseEstimator):  # type: ignore[misc]
    """Base of the models of any number of kinds.

    Learned things are kept flat, as files keep them: all kinds under one another, relations by their number.
    What a person asks for by name are views of it.
    """

    ridge: float
    equal_rows: bool
    kinds_: list[str]
    relations_: list[list[str]]
    degree_: FloatArray
    embedding_: FloatArray
    relation_weights_: list[float]
    relation_models_: list[str]
    relation_log_likelihoods_: list[float]
    log_likelihood_: float
    solve_result_: SolveResult
    restarts_: list[dict[str, Any]]
    data_fingerprint_: str

    @property
    def keys_(self) -> list[Key]:
        """The relations, each a tuple of its kinds."""
        return [tuple(kinds) for kinds in self.relations_]

    @property
    def entities_(self) -> dict[str, EntitySet]:
        """The things of every kind."""
        return {kind: getattr(self, f"kind{number}_entities_") for number, kind in enumerate(self.kinds_)}

    @property
    def embeddings_(self) -> dict[str, FloatArray]:
        """The points of every kind, one row a thing."""
        return self._by_kind(self.embedding_)

    @property
    def degrees_(self) -> dict[str, FloatArray]:
        """The sum of the counts of every thing, over all relations."""
        return self._by_kind(self.degree_)

    @property
    def defined_(self) -> dict[str, BoolArray]:
        """Which things have a place."""
        return self._by_kind(self.degree_ > 0)

    @property
    def weights_(self) -> dict[Key, float]:
        """The weight of every relation."""
        return dict(zip(self.keys_, self.relation_weights_, strict=True))

    @property
    def models_(self) -> dict[Key, str]:
        """The model of every relation."""
        return dict(zip(self.keys_, self.relation_models_, strict=True))

    @property
    def log_likelihoods_(self) -> dict[Key, float]:
        """The average log p of an observation in every relation, in nats."""
        return dict(zip(self.keys_, self.relation_log_likelihoods_, strict=True))

    def _by_kind(self, stacked: AnyArray) -> dict[str, AnyArray]:
        ends = np.cumsum([len(entities) for entities in self.entities_.values()])
        return dict(zip(self.kinds_, np.split(stacked, ends[:-1]), strict=True))

    # ------------------------------------------------------------------ new things

    def place(self, kind: str, X: Any) -> FloatArray:
        """Place new things of one kind by their relations to the things on the map, which do not move.

        Parameters
        ----------
        kind : str
            What the new things are.
        X : dict or RelationalData
            By pairs of kinds that were joined in the fit, ``(kind, other)``, the counts of q new things
            (rows) with all things of the other kind. Frames and named data are matched by id; of
            relations that were not fitted, or do not concern the kind, it must be free.

        Returns
        -------
        array of shape (q, k)
            Where the likelihood of all their counts is highest; NaN for things without any.
        """
        check_is_fitted(self)
        if kind not in self.kinds_:
            raise UnknownNameError("kind", kind, self.kinds_, "this model")
        names: TextArray | None = None
        if isinstance(X, RelationalData):
            if kind not in X.entities:
                raise DataError(f"the new data has no {kind!r}; it has {', '.join(X.kinds)}.")
            seen, names = list(self._seen_in_data(kind, X)), X.entities[kind].ids
        elif isinstance(X, Mapping) and X:
            seen = [self._seen(kind, key, counts) for key, counts in X.items()]
        else:
            raise DataError(f"give counts by pairs of kinds, such as {{({kind!r}, other): counts}}.")
        if len({part.counts.shape[0] for part in seen}) > 1:
            sizes = ", ".join(f"{p.counts.shape[0]} in {named(self.relations_[p.relation])}" for p in seen)
            raise DataError(
                f"how many new {kind} things are there? {sizes}; give all of them in every relation."
            )
        return told_of_lost(self._placed(seen), names, kind)

    def _seen_in_data(self, kind: str, data: RelationalData) -> Iterator[_Seen]:
        for relation in data.relations.values():
            ends = (relation.rows, relation.columns)
            if kind not in ends:
                raise DataError(
                    f"relation {relation.name!r} joins {ends[0]!r} and {ends[1]!r}, not {kind!r}; "
                    "leave it out."
                )
            other = ends[1] if ends[0] == kind else ends[0]
            number, side = self._fitted(kind, (kind, other))
            counts = relation.matrix if ends[0] == kind else csr_array(relation.matrix.T)
            refuse_negative(counts, data.entities[kind], data.entities[other])
            yield _Seen(number, side, matched(counts, data.entities[other].ids, self.entities_[other]))

    def _seen(self, kind: str, key: Any, counts: Any) -> _Seen:
        number, side = self._fitted(kind, key)
        other = self.relations_[number][1 - side]
        size = len(self.entities_[other])
        if hasattr(counts, "__arrow_c_stream__"):
            wide = wide_table(counts)
            counts = matched(csr_array(wide.matrix), wide.column_ids, self.entities_[other])
        counts = plain_array(counts)
        matrix = csr_array(
            counts if issparse(counts) else np.atleast_2d(np.asarray(counts, dtype=np.float64))
        )
        if matrix.shape[1] != size or not np.isfinite(matrix.data).all():
            raise DataError(
                f"counts of new {kind} things with {other} have shape {matrix.shape}; give finite ones, a "
                f"column for each of the {size} {other} things."
            )
        refuse_negative(matrix, None, None)
        return _Seen(number, side, matrix)

    def _fitted(self, kind: str, key: Any) -> tuple[int, int]:
        """Find the fitted relation that a pair of kinds names, and on which side of it the kind is."""
        pair = tuple(key) if isinstance(key, tuple | list) else (str(key),)
        keys = self.keys_
        for turned in (pair, pair[::-1]):
            if len(pair) == 2 and kind in pair and turned in keys:
                if self.weights_[turned] == 0:
                    raise DataError(f"{named(turned)} has weight 0 in this model, so it can place nothing.")
                return keys.index(turned), turned.index(kind)
        joined = [named(known) for known in keys if len(known) == 2 and kind in known]
        raise UnknownNameError(f"fitted relation of two kinds that places {kind!r}:", named(pair), joined)

    def _placed(self, seen: list[_Seen]) -> FloatArray:
        problems = [self._row_problems(part) for part in seen]
        masses = np.sum([part.shares for part in problems], axis=0)
        there = masses > 0
        placed = np.full((len(masses), self.embedding_.shape[1]), np.nan)
        if not there.any():
            return placed
        ridge = np.maximum(self.ridge / masses[there], LEAST_RIDGE)
        chosen = [
            RowProblems(p.means[there], p.points, p.log_weights, p.shares[there] / masses[there])
            for p in problems
        ]
        if len(chosen) == 1:
            placed[there] = place_frozen(chosen[0].means, chosen[0].points, chosen[0].log_weights, ridge)
        else:
            placed[there] = place_by_several(chosen, ridge)
        return placed

    def _row_problems(self, seen: _Seen) -> RowProblems:
        """Say where one relation wants new things, and how much it counts for each, as in the fit."""
        number, side, counts = seen
        factors: FloatArray = getattr(self, f"relation{number}_log_factors{1 - side}_")
        row_sums: FloatArray = getattr(self, f"relation{number}_row_sums_")
        known = np.isfinite(factors)
        counts = counts[:, known].astype(np.float64)
        rows = int((row_sums > 0).sum())
        if self.equal_rows and side == 1:
            counts = csr_array(counts.multiply(1.0 / (rows * row_sums[known])))
        sums = np.asarray(counts.sum(axis=1)).ravel()
        points = self.embeddings_[self.relations_[number][1 - side]][known]
        means = (counts @ points) / np.where(sums > 0, sums, 1.0)[:, None]
        if self.equal_rows:
            masses = np.where(sums > 0, 1.0 / rows, 0.0) if side == 0 else sums
        else:
            masses = sums / row_sums.sum()
        return RowProblems(means, points, factors[known], self.relation_weights_[number] * masses)

    # ------------------------------------------------------------------ maps and files

    def to_map(self) -> Map:
        """Give the map of all kinds, with names, fields, likelihoods and the model itself."""
        check_is_fitted(self)
        state = self._state()
        groups = [
            group_of(self.entities_[kind], self.embeddings_[kind], there, self._fields(kind))
            for kind, there in self.defined_.items()
        ]
        likelihoods = {f"log_likelihood {named(key)}": ell for key, ell in self.log_likelihoods_.items()}
        return Map(
            groups,
            model=type(self).__name__,
            parameters=state.parameters,
            scores={"log_likelihood": self.log_likelihood_, **likelihoods},
            provenance={
                "data_fingerprint": self.data_fingerprint_,
                "packages": {name: version(name) for name in _PACKAGES},
                "python": platform.python_version(),
                "random_state": state.parameters.get("random_state"),
                "solver": solver_report(self.solve_result_),
            },
            model_state=state,
        )

    def _fields(self, kind: str) -> dict[str, AnyArray]:
        """Give what the model knows of every thing of a kind, besides its place."""
        degrees = self.degrees_[kind]
        return {"degree": degrees, "prominence": prominence(degrees, self.embeddings_[kind])}

    def _state(self) -> ModelState:
        """Lay the model down, with the relations in its settings named by text."""
        shell = copy(self)
        for name, value in self.get_params(deep=False).items():
            setattr(shell, name, texts_of(value))
        if isinstance(shell.get_params().get("start"), Mapping):
            starts = {
                kind: np.asarray(points).tolist() for kind, points in shell.get_params()["start"].items()
            }
            shell.set_params(start=starts)
        return model_state(shell)

    def save(self, path: str | Path) -> Path:
        """Write the fitted model as a directory, whole or not at all; returns where."""
        check_is_fitted(self)
        directory = expanded(path)
        replace_directory(directory, self._state().write, owned_files)
        return directory

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model of this class that was saved."""
        model: Self = model_from_state(cls, read_state(path))
        return model
