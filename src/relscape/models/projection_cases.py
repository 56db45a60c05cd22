"""Known methods that are guided projections with a particular guidance: LPP, multi-view LPP, ridge CCA."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

from scipy.sparse import csr_array, eye_array
from sklearn.utils.validation import check_is_fitted

from relscape.data.guidance import Guidance
from relscape.errors import DataError, RelscapeWarning
from relscape.models.projection_base import REGULARIZATION, ProjectionModel
from relscape.models.projection_inputs import GivenKinds, read_kinds
from relscape.protocols import FloatArray

__all__ = ["LPP", "MultiViewLPP", "RidgeCCA"]

SAMPLE, LEFT, RIGHT = "sample", "x", "y"


class LPP(ProjectionModel):
    """Locality preserving projection: linear axes on which neighbours of a graph stay near (He, Niyogi 2003).

    The guided projection of one kind, X'LX a = μ X'DX a with L = D − W, centred by degrees and with a ridge.

    Parameters
    ----------
    n_components : int
        Number of axes.
    regularization : float
        Ridge, relative to the mean variance of a feature.
    center : bool
        Whether to take the mean off first, weighted by degrees; without, as in the paper.
    random_state : int, Generator or None
        Where iterations on large tables start.

    Attributes
    ----------
    embedding_ : array, n × k
        Places of the samples.
    projection_, mean_ : arrays
        Places are ``(X − mean) @ projection``.
    eigenvalues_ : array
        μ of every axis, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> chain = np.eye(30, k=1) + np.eye(30, k=-1)
    >>> LPP(n_components=1).fit(X, chain).transform(X[:2]).shape
    (2, 1)
    """

    def __init__(
        self,
        n_components: int = 2,
        regularization: float = REGULARIZATION,
        *,
        center: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.center = center
        self.random_state = random_state

    def fit(self, X: Any, W: Any) -> Self:
        """Learn axes from features (n × d) and the weights of a graph (n × n, symmetric, in [−1, 1])."""
        self._project(read_kinds({SAMPLE: X}, {(SAMPLE, SAMPLE): W}))
        return self

    def transform(self, X: Any) -> FloatArray:
        """Place new samples by their features."""
        check_is_fitted(self)
        return self._new_places(SAMPLE, X)[0]

    @property
    def embedding_(self) -> FloatArray:
        """Places of the samples."""
        return self.embeddings_[SAMPLE]

    @property
    def projection_(self) -> FloatArray:
        """The matrix that places features."""
        return self.projections_[SAMPLE]

    @property
    def mean_(self) -> FloatArray:
        """The mean that is taken off first."""
        return self.means_[SAMPLE]


class MultiViewLPP(ProjectionModel):
    """LPP of several views of the same samples: each keeps its own graph, and a sample's views stay near.

    For two views Σ w_x (x_i'a − x_j'a)² / 2 + Σ w_y (y_i'b − y_j'b)² / 2 + Σ (x_i'a − y_i'b)² is minimised.

    Parameters
    ----------
    n_components : int
        Number of axes.
    regularization : float or dict of view to float
        Ridge, relative to the mean variance of a view's features.
    center : bool
        Whether to take the mean of every view off first, weighted by degrees.
    random_state : int, Generator or None
        Where iterations on large tables start.

    Attributes
    ----------
    embeddings_, projections_, means_ : dicts by view
        As in ``HeterogeneousProjection``.
    eigenvalues_, strengths_ : arrays
        μ of every axis, ascending, and 1 − μ.
    """

    def __init__(
        self,
        n_components: int = 2,
        regularization: Any = REGULARIZATION,
        *,
        center: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.center = center
        self.random_state = random_state

    def fit(self, X: Mapping[str, Any], graphs: Mapping[str, Any] | None = None) -> Self:
        """Learn axes of all views.

        Parameters
        ----------
        X : dict of view to table
            Features of the same n samples in the same order, at least two views.
        graphs : dict of view to array or sparse array, optional
            Weights of the graph of a view (n × n, symmetric, in [−1, 1]); views without one have none.
        """
        given = _paired(X)
        guidance = Guidance()
        for view, W in (graphs or {}).items():
            guidance.block(view, view, W)
        self._project(_guided(X, guidance, given))
        return self

    def transform(self, X: Mapping[str, Any]) -> dict[str, FloatArray]:
        """Place new samples by their features in some views."""
        check_is_fitted(self)
        if not isinstance(X, Mapping) or not X:
            raise DataError(f'give new tables by view, such as {{"{self.kinds_[0]}": X_new}}.')
        return {view: self._new_places(view, table)[0] for view, table in X.items()}


class RidgeCCA(ProjectionModel):
    """Canonical correlation analysis with a ridge: axes on which two views of the same samples agree most.

    The guided projection of two kinds in which every sample is similar to itself.

    Parameters
    ----------
    n_components : int
        Number of axes.
    regularization : float or dict
        Ridge, relative to the mean variance of a feature; of both views, or by "x" and "y". 0 is plain CCA.
    random_state : int, Generator or None
        Where iterations on large tables start.

    Attributes
    ----------
    correlations_ : array
        Of the two views on every axis, shrunk by the ridge, largest first.
    embeddings_, projections_, means_ : dicts with "x" and "y"
        As in ``HeterogeneousProjection``: projections are scaled such that the views together have size 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> model = RidgeCCA(n_components=1, regularization=0).fit(X, X[:, :1] + 0.1 * rng.normal(size=(200, 1)))
    >>> bool(model.correlations_[0] > 0.98)
    True
    """

    center = True

    def __init__(
        self, n_components: int = 2, regularization: Any = REGULARIZATION, *, random_state: Any = None
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn axes of two tables of the same samples, n × d and n × e."""
        views = {LEFT: X, RIGHT: Y}
        self._project(_guided(views, Guidance(), _paired(views)))
        return self

    def transform(self, X: Any, Y: Any = None) -> Any:
        """Place new samples by their first view, or by both: then two arrays are given back."""
        check_is_fitted(self)
        left = self._new_places(LEFT, X)[0]
        return left if Y is None else (left, self._new_places(RIGHT, Y)[0])

    @property
    def correlations_(self) -> FloatArray:
        """How well the two views agree on every axis."""
        return self.strengths_


def _paired(X: Any) -> int:
    """Refuse anything but several views of the same number of samples; give that number."""
    if not isinstance(X, Mapping) or len(X) < 2:
        raise DataError('give at least two views of the same samples, such as {"image": X, "text": Y}.')
    for view, table in X.items():
        if not hasattr(table, "shape") and not hasattr(table, "__len__"):
            raise DataError(f"view {view!r} is of type {type(table).__name__}; give a table of features.")
    sizes = {view: _rows(table) for view, table in X.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{view!r} has {size}" for view, size in sizes.items())
        raise DataError(f"the views have different numbers of samples: {told}; a row is one sample in all.")
    return next(iter(sizes.values()))


def _rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _guided(X: Mapping[str, Any], guidance: Guidance, n: int) -> GivenKinds:
    """Add to guidance that every sample is similar to itself in any two views."""
    views = list(X)
    for position, first in enumerate(views):
        for second in views[position + 1 :]:
            guidance.block(first, second, csr_array(eye_array(n, format="csr")))
    given = read_kinds(X, guidance)
    known = given.tables[views[0]].entities.ids.tolist()
    for view in views[1:]:
        ids = given.tables[view].entities.ids.tolist()
        if ids != known and set(ids) == set(known):
            warnings.warn(
                f"the samples of view {view!r} are those of {views[0]!r} in another order; rows are taken "
                "together by position. If they belong together by name, give Y.loc[X.index].",
                RelscapeWarning,
                stacklevel=3,
            )
    return given
