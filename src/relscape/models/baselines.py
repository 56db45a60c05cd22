"""Neighbour embeddings without cohort control, to compare with: SNE, t-SNE, and both helped by labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from sklearn.utils.validation import check_is_fitted

from relscape import progress
from relscape.data.cohorts import read_cohorts
from relscape.errors import DataError, ParameterError
from relscape.matrix.affinity import Affinity, GaussianAffinity
from relscape.models.checks import as_number, check_dimensions, check_integer, check_number, generator, shown
from relscape.models.cohort_base import CohortModel
from relscape.models.feature_inputs import read_new_features, same_rows
from relscape.models.prototype_layouts import DIVERGENCES, DivergenceObjective, leading_axes
from relscape.objectives.neighbour import information, neighbour_divergence
from relscape.protocols import Callback, FloatArray, IntArray, Objective, SparseArray
from relscape.solvers.descent import minimise
from relscape.solvers.momentum import momentum_descent
from relscape.solvers.result import SolveResult
from relscape.threads import one_thread

__all__ = ["SNE", "TSNE", "SupervisedSNE", "SupervisedTSNE"]

# Up to so many samples all pairs are summed exactly, and a line search can trust the values.
_EXACT = 3000
_EXAGGERATION = 12.0
_GATHERING = 250
_MOMENTUM = 0.8
_LEAST_RATE = 50.0
_FLAT = 1e-5
_LEAST_SAMPLES = 3
_START_SIZE = {"sne": 1e-1, "tsne": 1e-4}


@dataclass(frozen=True, eq=False)
class _Gathering:
    """t-SNE with the neighbours' pull counted several times, which forms clusters out of a small start."""

    probabilities: SparseArray

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        return neighbour_divergence(
            point, self.probabilities, constant=self._constant, exaggeration=_EXAGGERATION
        )

    @cached_property
    def _constant(self) -> float:
        return information(self.probabilities)


def neighbour_map(
    weights: SparseArray, start: FloatArray, method: str = "tsne", max_iterations: int = 500
) -> SolveResult:
    """Arrange samples so that near ones are those of high joint weight.

    t-SNE first gathers clusters for 250 iterations, then descends with momentum, which passes by shallow
    minima. Up to 3,000 samples the end is polished by L-BFGS; SNE needs nothing else, whatever the number.

    Parameters
    ----------
    weights : sparse array, n × n
        Symmetric, without diagonal, of unit sum.
    start : array, n × k
        Small, so that everything can still pass by everything else.
    method : {"sne", "tsne"}
        Whether nearness on the map follows a Gaussian or a Student law.
    max_iterations : int
        Most iterations of every stage but the first.
    """
    n = len(start)
    objective = DivergenceObjective(weights, DIVERGENCES[method])
    with progress.task(f"arranging {n} samples") as task:

        def watch(iteration: int, value: float, point: FloatArray) -> bool:  # noqa: ARG001
            task.advance()
            return False

        if method == "tsne":
            start = _by_momentum(_Gathering(weights), start, _EXAGGERATION, _GATHERING, watch).point
            end = _by_momentum(objective, start, 1.0, max_iterations, watch)
            if n > _EXACT:
                return end
            start = end.point
        return minimise(objective, start, "lbfgs", _FLAT / n, max_iterations, watch)


def _by_momentum(
    objective: Objective, start: FloatArray, exaggeration: float, n_iterations: int, callback: Callback
) -> SolveResult:
    """Descend at the rate that openTSNE takes, in units of our gradient, which is four times its own."""
    rate = max(len(start) / (4 * exaggeration), _LEAST_RATE)
    momentum = (_MOMENTUM, _MOMENTUM)
    return momentum_descent(objective, start, rate, n_iterations, momentum, callback=callback)


def small_start(X: Any, k: int, size: float, rng: Generator) -> FloatArray:
    """Lay samples out along their first principal axes, ``size`` wide, with a hundredth of noise.

    Without the noise, samples on one spot would feel no force between them.
    """
    axes = leading_axes(X, k, rng)
    axes = axes - axes.mean(axis=0)
    width = float(axes.std(axis=0).max())
    laid = axes * (size / width) if width > 0 else axes
    return np.asarray(laid + rng.normal(0.0, 0.01 * size, laid.shape))


class _NeighbourModel(CohortModel):
    """What the four models share; a subclass names its kernel and whether labels take part."""

    _method: ClassVar[str]
    _supervised: ClassVar[bool] = False

    perplexity: float
    max_iterations: int
    random_state: Any
    affinity_: Affinity

    def fit(self, X: Any, y: Any = None) -> Self:
        """Arrange samples.

        Parameters
        ----------
        X : array, sparse array, data frame or RelationalData
            n × d features; ids are remembered.
        y : array of n labels
            Of any type; missing ones (None, NaN, or -1 among integers) belong to no cohort. SNE and TSNE do
            without, and keep labels only for the map and its scores.
        """
        features = self._keep_features(X)
        codes = self._codes(y, features.shape[0])
        check_dimensions("n_components", self.n_components)
        check_number("perplexity", self.perplexity, 1)
        check_integer("max_iterations", self.max_iterations, 1)
        rng = generator(self.random_state)
        with one_thread():
            self.affinity_ = self._settings().fit(features, codes, rng)
        start = small_start(features, self.n_components, _START_SIZE[self._method], rng)
        end = neighbour_map(self.affinity_.weights, start, self._method, self.max_iterations)
        self.solve_result_, self.divergence_ = end, end.value
        self.embedding_ = end.point - end.point.mean(axis=0)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Place new samples at the weighted mean of their neighbours; samples of the fit where they are."""
        check_is_fitted(self)
        new, _ = read_new_features(self, X)
        weights = self._settings().rows(self.affinity_, self.features_, new)
        sums = weights.sum(axis=1)
        placed = np.asarray(weights @ self.embedding_) / np.where(sums > 0, sums, np.nan)[:, None]
        known = same_rows(self.features_, new)
        return np.where(known[:, None] >= 0, self.embedding_[known], placed)

    def _codes(self, y: Any, n: int) -> IntArray | None:
        """Keep the labels, and give those that take part."""
        if n < _LEAST_SAMPLES:
            raise DataError(
                f"n_samples={n}: there must be others to be near or far from; give at least {_LEAST_SAMPLES}."
            )
        if y is None and self._supervised:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; give one label a "
                f"sample, or use {type(self).__name__.removeprefix('Supervised')}, which needs none."
            )
        if y is None:
            return None
        cohorts = read_cohorts(y if hasattr(y, "__iter__") else np.asarray(y), n)
        self._keep_cohorts(cohorts)
        return cohorts.codes if self._supervised else None

    def _settings(self) -> GaussianAffinity:
        return GaussianAffinity(float(self.perplexity))


class SNE(_NeighbourModel):
    """Symmetric stochastic neighbour embedding (Hinton and Roweis 2002, in its joint form).

    Samples are placed so that a Gaussian law of their distances on the map resembles the weights of their
    neighbourhoods among the features. It compares all pairs exactly, so time grows with n².

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    perplexity : float
        Effective number of neighbours of a sample.
    max_iterations : int
        Most iterations of the descent, and of polishing its end.
    random_state : int, Generator or None
        Draws the noise of the start.

    Attributes
    ----------
    embedding_ : array, n × k
        Centred.
    divergence_ : float
        Of the map from the weights, in nats.
    affinity_ : Affinity
        The weights, and what weighs new samples.
    solve_result_ : SolveResult
        How the descent went.
    """

    _method = "sne"

    def __init__(
        self,
        n_components: int = 2,
        perplexity: float = 30.0,
        max_iterations: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.max_iterations = max_iterations
        self.random_state = random_state


class TSNE(SNE):
    """t-SNE (van der Maaten and Hinton 2008): as SNE, with a Student law of the distances on the map.

    Parameters and attributes are those of SNE. Beyond 3,000 samples the repulsion is approximate.
    """

    _method = "tsne"


class SupervisedSNE(_NeighbourModel):
    """SNE in which distances between samples of one cohort are shrunk beforehand.

    It separates cohorts, but where they go on the map remains arbitrary. Attributes are those of SNE.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    perplexity : float
        Effective number of neighbours of a sample.
    shrink : float
        What distances within a cohort are multiplied by, above 0 and at most 1; smaller separates more.
    max_iterations : int
        Most iterations of the descent, and of polishing its end.
    random_state : int, Generator or None
        Draws the noise of the start.
    """

    _method = "sne"
    _supervised = True

    def __init__(
        self,
        n_components: int = 2,
        perplexity: float = 30.0,
        shrink: float = 0.7,
        max_iterations: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.shrink = shrink
        self.max_iterations = max_iterations
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _codes(self, y: Any, n: int) -> IntArray | None:
        if not 0 < as_number(self.shrink) <= 1:
            raise ParameterError(f"shrink={shown(self.shrink)}: give a number above 0 and at most 1.")
        return super()._codes(y, n)

    def _settings(self) -> GaussianAffinity:
        return GaussianAffinity(float(self.perplexity), shrink_distances=float(self.shrink))


class SupervisedTSNE(SupervisedSNE):
    """t-SNE in which distances between samples of one cohort are shrunk beforehand.

    Parameters are those of SupervisedSNE, attributes those of SNE.
    """

    _method = "tsne"
