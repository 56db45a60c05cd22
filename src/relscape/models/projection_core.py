"""The one computation behind all guided projections: views of every kind, then one eigenproblem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import csr_array, eye_array, issparse
from scipy.sparse.linalg import LinearOperator

from relscape.errors import DataError, ParameterError
from relscape.matrix.guided import (
    Blocks,
    CenteredFeatures,
    GuidedOperator,
    guidance_degrees,
    quadratic_form,
    weighted_mean,
)
from relscape.matrix.kernels import KernelMap, kernel_map, kernel_root, kernel_settings, scaled_columns
from relscape.matrix.spread_features import SpreadFeatures, spread_mean
from relscape.models.projection_inputs import KindTable
from relscape.protocols import BlockedTable, FloatArray
from relscape.solvers.guided import Axes, following_axes, generalized_axes, leading_axes, reference_axes
from relscape.solvers.whitening import one_hot_whitening, whitening

__all__ = ["CoreSettings", "KindAxes", "Projected", "solve_projection"]

FORMED_SIDE = 1_500  # up to this many whitened coordinates the eigenproblem is formed
MOST_FORMED = 10_000  # where it must be formed, more than this many are refused


@dataclass(frozen=True)
class CoreSettings:
    """What the computation has to know; see ``HeterogeneousProjection`` for what each means."""

    n_components: int
    regularization: Mapping[str, float]
    reference: str | None = None
    kernels: Mapping[str, Any] | None = None
    degree: str = "absolute"
    center: bool = True
    solver: str = "whitened"
    standardize: bool = False
    rank: int | None = None


class KindAxes(NamedTuple):
    """How one kind is projected: y = (f(x) − mean) weights, f the features or the kernel's columns."""

    mean: FloatArray
    weights: FloatArray
    kernel: KernelMap | None


class Projected(NamedTuple):
    """Eigenvalues μ (ascending), the projection of every kind, the ridges, and degrees without signs."""

    eigenvalues: FloatArray
    kinds: dict[str, KindAxes]
    ridges: dict[str, float]
    degrees: dict[str, FloatArray]


@dataclass(frozen=True, eq=False)
class _View:
    """One kind as the eigenproblem sees it: features to be centred, and the way back to what was given."""

    table: CenteredFeatures
    degrees: FloatArray
    n_features: int  # of what was given; of a kernel other than the linear one, its rank
    regularization: float
    one_hot: bool
    kernel: KernelMap | None
    back: FloatArray | None  # from kernel columns to features (m × r)
    column_mean: FloatArray  # of what was given
    scale: FloatArray | None

    @cached_property
    def unit(self) -> float:
        """What a relative ridge of 1 is: the mean weighted variance of a feature."""
        return float(self.table.weighted(self.degrees).squares() / self.n_features)

    @property
    def ridge(self) -> float:
        """What is added to the size of every feature."""
        return self.regularization * self.unit

    def given(self, P: FloatArray) -> KindAxes:
        """Turn a projection of the view into one of the features, or kernel columns, as they are given."""
        if self.back is not None:
            P = self.back @ P
        elif self.scale is not None:
            P = P / self.scale[:, None]
        return KindAxes(self.column_mean, P, self.kernel)


def solve_projection(
    tables: Mapping[str, KindTable], blocks: Blocks, settings: CoreSettings, rng: np.random.Generator
) -> Projected:
    """Find the axes on which guided pairs are near, or far, as the guidance says."""
    sizes = {kind: len(table.entities) for kind, table in tables.items()}
    signed, absolute = guidance_degrees(blocks, sizes)
    kinds = list(tables)
    if settings.reference is not None:
        kinds = [settings.reference, *(kind for kind in kinds if kind != settings.reference)]
    views = {kind: _view(kind, tables[kind], absolute[kind], settings, rng) for kind in kinds}
    if settings.solver == "dense":
        axes, parts = _dense(views, blocks, signed, settings)
    else:
        axes, parts = _whitened(views, blocks, signed, absolute, settings, rng)
    signs = _signs(np.vstack([parts[kind] for kind in tables]))
    found = {kind: views[kind].given(parts[kind] * signs) for kind in tables}
    return Projected(axes.values, found, {kind: views[kind].ridge for kind in tables}, absolute)


def _view(
    kind: str, table: KindTable, degrees: FloatArray, settings: CoreSettings, rng: np.random.Generator
) -> _View:
    """Prepare one kind: scale its features, take a kernel of them, and find their weighted mean."""
    X = table.matrix
    if isinstance(X, BlockedTable):
        return _spread_view(kind, X, degrees, settings)
    one_hot = X is None
    if X is None:
        X = csr_array(eye_array(len(table.entities), format="csr"))
    asked = (settings.kernels or {}).get(kind)
    kernel, back, scale = None, None, None
    if settings.standardize and not one_hot:
        scale = _deviations(X)
    if asked is not None:
        if one_hot:
            raise ParameterError(
                f"kernels[{kind!r}]: kind {kind!r} has no features that a kernel could compare; leave it out."
            )
        chosen = kernel_settings(kind, asked)
        own_scale = None if chosen["kernel"] == "precomputed" else scale
        kernel = kernel_map(X, chosen, rng, own_scale, settings.center)
        columns = kernel.columns(X)
        back = kernel_root(kernel, X)
        features: Any = columns @ back
    else:
        columns, features = X, scaled_columns(X, scale)
    weights = degrees if settings.center else np.zeros(0)
    mean = weighted_mean(features, weights) if settings.center else np.zeros(features.shape[1])
    column_mean = weighted_mean(columns, weights) if settings.center else np.zeros(columns.shape[1])
    return _View(
        CenteredFeatures(features, mean),
        degrees,
        X.shape[1] if kernel is None or kernel.kernel == "linear" else features.shape[1],
        settings.regularization[kind],
        one_hot,
        kernel,
        back,
        column_mean,
        scale,
    )


def _spread_view(kind: str, X: BlockedTable, degrees: FloatArray, settings: CoreSettings) -> _View:
    """Prepare one kind whose features lie on a cluster."""
    asked = [
        name
        for name, given in (
            (f"kernels[{kind!r}]", (settings.kernels or {}).get(kind) is not None),
            ("standardize=True", settings.standardize),
            ('solver="dense" or degree="signed"', settings.solver == "dense"),
        )
        if given
    ]
    if asked:
        raise ParameterError(
            f"{asked[0]}: this needs the features of {kind!r} here, but they lie on a cluster; leave it out."
        )
    mean = spread_mean(X, degrees) if settings.center else np.zeros(X.shape[1])
    table = SpreadFeatures(X, mean)
    ridge = settings.regularization[kind]
    return _View(table, degrees, X.shape[1], ridge, False, None, None, mean, None)


def _deviations(X: Any) -> FloatArray:
    """Give the standard deviation of every feature; 1 where it never varies."""
    means = np.asarray(X.mean(axis=0)).ravel()
    if not issparse(X):
        deviations = X.std(axis=0)
        return np.where(deviations > 1e-12 * np.abs(means), deviations, 1.0)
    variances = np.asarray(X.multiply(X).mean(axis=0)).ravel() - means**2
    constant = variances <= 1e-12 * np.maximum(means**2, np.finfo(float).tiny)
    return np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variances)))


def _dense(
    views: Mapping[str, _View], blocks: Blocks, signed: Mapping[str, FloatArray], settings: CoreSettings
) -> tuple[Axes, dict[str, FloatArray]]:
    """Form both quadratic forms and solve the generalised problem."""
    tables = {kind: view.table for kind, view in views.items()}
    widths = [table.shape[1] for table in tables.values()]
    ridges = np.concatenate([np.full(w, v.ridge) for w, v in zip(widths, views.values(), strict=True)])
    A = quadratic_form({pair: -block for pair, block in blocks.items()}, signed, tables)
    A[np.diag_indices_from(A)] += ridges
    absolute = {kind: view.degrees for kind, view in views.items()}
    degrees = signed if settings.degree == "signed" else absolute
    B = block_diag(*(_gram(table, degrees[kind]) for kind, table in tables.items()))
    B[np.diag_indices_from(B)] += ridges
    k = min(settings.n_components, len(A))
    if settings.reference is None:
        axes = generalized_axes(A, B, k)
    else:
        units = np.concatenate([np.full(w, v.unit) for w, v in zip(widths, views.values(), strict=True)])
        first = widths[0]
        axes = reference_axes(A, B[:first, :first], first, k, _free(views), np.diag(units[first:]))
    return axes, dict(zip(views, np.split(axes.vectors, np.cumsum(widths)[:-1]), strict=True))


def _gram(table: CenteredFeatures, weights: FloatArray) -> FloatArray:
    centred = table.dense()
    return np.asarray(centred.T @ (weights[:, None] * centred))


def _whitened(
    views: Mapping[str, _View],
    blocks: Blocks,
    signed: Mapping[str, FloatArray],
    absolute: Mapping[str, FloatArray],
    settings: CoreSettings,
    rng: np.random.Generator,
) -> tuple[Axes, dict[str, FloatArray]]:
    """Solve the ordinary problem of C = F' (D⁺ − D + W) F in coordinates F in which every kind has size 1."""
    turns = {kind: _turn(view, settings, rng) for kind, view in views.items()}
    features = {kind: views[kind].table @ turn for kind, turn in turns.items()}
    diagonal = {kind: absolute[kind] - signed[kind] for kind in views}
    widths = [turn.shape[1] for turn in turns.values()]
    total, k = sum(widths), min(settings.n_components, sum(widths))
    if settings.reference is not None and total > FORMED_SIDE and _only_follow(views, blocks, diagonal):
        operator = GuidedOperator(blocks, diagonal, features)
        axes = following_axes(operator, widths[0], k, FORMED_SIDE, rng)
    elif settings.reference is not None:
        if total > MOST_FORMED:
            raise DataError(
                f'constraint="reference" needs a matrix of all {total:,} coordinates of all kinds, where '
                "pairs are dissimilar or kinds other than the reference have guidance among themselves; at "
                f'most {MOST_FORMED:,} can be done. Use constraint="joint", or a smaller rank.'
            )
        A = np.eye(total) - quadratic_form(blocks, diagonal, features)
        grams = [views[kind].unit * _turned_gram(turn) for kind, turn in list(turns.items())[1:]]
        ridge_form = block_diag(*grams) if grams else np.zeros((0, 0))
        axes = reference_axes(A, None, widths[0], k, _free(views), ridge_form)
    elif total <= max(FORMED_SIDE, 2 * k + 2):
        axes = leading_axes(quadratic_form(blocks, diagonal, features), k, rng)
    else:
        axes = leading_axes(GuidedOperator(blocks, diagonal, features), k, rng)
    parts = np.split(axes.vectors, np.cumsum(widths)[:-1])
    return axes, {kind: turn.matmat(part) for (kind, turn), part in zip(turns.items(), parts, strict=True)}


def _only_follow(kinds: Mapping[str, _View], blocks: Blocks, diagonal: Mapping[str, FloatArray]) -> bool:
    """Say whether all kinds but the first have guidance with the first alone, and none of it negative."""
    reference, *others = kinds
    return all(reference in pair for pair in blocks) and not any(diagonal[kind].any() for kind in others)


def _turn(view: _View, settings: CoreSettings, rng: np.random.Generator) -> LinearOperator:
    if view.one_hot:
        return one_hot_whitening(view.degrees, view.ridge, settings.center)
    return whitening(view.table.weighted(view.degrees), view.ridge, settings.rank, rng)


def _turned_gram(turn: LinearOperator) -> FloatArray:
    full = turn.matmat(np.eye(turn.shape[1]))
    return np.asarray(full.T @ full)


def _free(views: Mapping[str, _View]) -> str:
    return ", ".join(list(views)[1:])


def _signs(stacked: FloatArray) -> FloatArray:
    """Give the signs that make the largest entry of every column positive, the first among equals."""
    sizes = np.abs(stacked)
    largest = (sizes >= (1.0 - 1e-6) * sizes.max(axis=0)).argmax(axis=0)
    signs = np.sign(stacked[largest, np.arange(stacked.shape[1])])
    return np.where(signs == 0, 1.0, signs)
