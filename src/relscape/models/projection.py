"""HeterogeneousProjection: tables of different kinds in one space, guided by what is alike and unlike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from relscape.data import RelationalData
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.kernels import kernel_settings
from relscape.models.checks import check_choice, check_flags, check_integer, shown
from relscape.models.projection_base import REGULARIZATION, ProjectionModel, relative_ridges
from relscape.models.projection_core import CoreSettings
from relscape.models.projection_inputs import GivenKinds, read_kinds
from relscape.protocols import FloatArray

__all__ = ["HeterogeneousProjection"]

CONSTRAINTS = ("joint", "reference")
DEGREES = ("absolute", "signed")
SOLVERS = ("auto", "dense", "whitened")


class HeterogeneousProjection(ProjectionModel):
    r"""Project tables of different kinds into one space, such that guided pairs are near, or far.

    Kinds need share neither features nor things. With y = (x − mean) P the place of a thing, and weights w of
    pairs from 1 (similar) to −1 (dissimilar), the axes minimise :math:`\sum w_{uv} ‖y_u − y_v‖^2`, with a
    ridge, while the size of the map is fixed (Gress and Davidson 2014). As functions are learned, new things
    of every kind that has features can be placed at once.

    Parameters
    ----------
    n_components : int
        Number of axes.
    regularization : float or dict of kind to float
        Ridge, relative to the mean variance of a kind's features. It keeps axes from following noise, and a
        kernel cannot do without.
    constraint : {"joint", "reference"}
        Whether the size of all kinds together is fixed, which always has a solution; or, as in the paper,
        that of one kind, which the others follow: without a ridge a kind without features then sits at the
        weighted means of what it is similar to. With negative guidance that may have no solution, which is
        refused.
    reference : str, optional
        That one kind; by default the first.
    kernels : dict of kind to str or dict, optional
        "linear", "rbf" or "precomputed", or a dict such as ``{"kernel": "rbf", "gamma": 0.5, "n_landmarks":
        500}``. Without gamma it is one over the mean squared distance. Up to 2,000 things are all landmarks;
        of more, 1,000 unless said otherwise (Nyström's approximation). The table of a precomputed kernel is
        square; new things then come with their kernel with all things of the fit.
    degree : {"absolute", "signed"}
        Whether things count by the sum of their weights' sizes, or as in the paper by the sum itself, which
        negative guidance can make unusable.
    center : bool
        Whether to take the mean of every kind off first, weighted by degrees. Otherwise a constant feature
        makes an axis on which nothing differs.
    solver : {"auto", "dense", "whitened"}
        "dense" forms one matrix of all features; "whitened" first gives every kind coordinates of unit size,
        never forms what is large and finds the same. "auto" is "whitened", for signed degrees "dense".
    standardize : bool
        Whether to divide every feature by its standard deviation first.
    rank : int, optional
        At most so many leading directions of every kind with features are used. By default all are, but for
        tables of more than 5,000 features and many entries, of which 300 are.
    random_state : int, Generator or None
        Draws landmarks and where iterations start.

    Attributes
    ----------
    embeddings_ : dict of kind to array
        Places, one row a thing.
    projections_, means_ : dict of kind to array
        Places are ``(X − mean) @ projection``; of a kernel, X is the kernel with the landmarks; of a kind
        without features, the identity.
    eigenvalues_ : array
        μ of every axis, ascending: the cost of the axis, with ridge, where its size is 1.
    strengths_ : array
        1 − μ: how well an axis brings together what is similar; with "joint" a correlation, if nothing is
        dissimilar.
    costs_ : array
        Σ w (y − y')² over all pairs, on every axis.
    n_components_of_guidance_ : int
        Into how many separate parts the guidance falls.
    entities_, degrees_, ridges_ : dicts by kind
        The things, the sums of their weights' sizes, and the ridge as it was added.
    guidance_ : dict of (kind, kind) to sparse array
        The weights of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> images = rng.normal(size=(40, 5))
    >>> tags = np.column_stack([images[:, 0] > 0, images[:, 0] <= 0]).astype(float)
    >>> model = HeterogeneousProjection(n_components=1)
    >>> model = model.fit({"image": images, "tag": None}, {("image", "tag"): tags})
    >>> {kind: points.shape for kind, points in model.embeddings_.items()}
    {'image': (40, 1), 'tag': (2, 1)}
    >>> new = model.transform({"image": [[3.0, 0, 0, 0, 0], [-3.0, 0, 0, 0, 0]]})["image"]
    >>> bool(new[0, 0] * model.embeddings_["tag"][0, 0] > 0)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        regularization: Any = REGULARIZATION,
        constraint: str = "joint",
        reference: str | None = None,
        kernels: Mapping[str, Any] | None = None,
        *,
        degree: str = "absolute",
        center: bool = True,
        solver: str = "auto",
        standardize: bool = False,
        rank: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.constraint = constraint
        self.reference = reference
        self.kernels = kernels
        self.degree = degree
        self.center = center
        self.solver = solver
        self.standardize = standardize
        self.rank = rank
        self.random_state = random_state

    def fit(self, X: Any, guidance: Any = None) -> Self:
        """Learn a projection of every kind.

        Parameters
        ----------
        X : dict of kind to table, or RelationalData
            A table is an array, a sparse array, a data frame (whose names are remembered), an EntitySet, or
            None for a kind without features, whose things guidance names. Of a RelationalData the features
            of its entity sets are taken.
        guidance : Guidance or dict
            What is alike and unlike: a Guidance, or weights by pairs of kinds, ``{("image", "tag"): W}``.
            With a RelationalData also a dict of relations' names and weights; by default all its relations
            say what is similar.
        """
        self._check()
        self._project(read_kinds(X, guidance))
        return self

    def _check(self) -> None:
        for name, known in (("constraint", CONSTRAINTS), ("degree", DEGREES), ("solver", SOLVERS)):
            check_choice(name, getattr(self, name), known)
        check_flags(self, "center", "standardize")
        if self.kernels is not None and not isinstance(self.kernels, Mapping):
            raise ParameterError(
                f'kernels={shown(self.kernels)}: give kernels by kind, such as {{"image": "rbf"}}, or None.'
            )
        if self.rank is not None:
            check_integer("rank", self.rank, 1)
        if self.reference is not None and not isinstance(self.reference, str):
            raise ParameterError(f"reference={shown(self.reference)}: give the name of a kind, or None.")
        if self.reference is not None and self.constraint == "joint":
            raise ParameterError(
                f'reference={self.reference!r} has a meaning with constraint="reference" only; set that, or '
                "leave the reference out."
            )
        if self.degree == "signed" and self.solver == "whitened":
            raise ParameterError('degree="signed" needs solver="dense": whitening takes roots of degrees.')

    def _settings(self, given: GivenKinds) -> CoreSettings:
        kinds, reference = list(given.tables), None
        if self.constraint == "reference":
            reference = kinds[0] if self.reference is None else self.reference
            if reference not in kinds:
                raise UnknownNameError("kind", reference, kinds, "the guided data, to be the reference")
        regularization = relative_ridges(self.regularization, kinds, given.left_out)
        for kind, asked in (self.kernels or {}).items():
            if kind not in kinds and kind not in given.left_out:
                raise UnknownNameError("kind", kind, kinds, "kernels")
            if kernel_settings(kind, asked)["kernel"] != "linear" and regularization.get(kind) == 0:
                raise ParameterError(
                    f"regularization=0 with a kernel for {kind!r}: it could put things anywhere, and would "
                    "learn nothing of new ones. Give a ridge above 0."
                )
        return CoreSettings(
            self.n_components,
            regularization,
            reference,
            self.kernels,
            self.degree,
            self.center,
            "dense" if self.degree == "signed" or self.solver == "dense" else "whitened",
            self.standardize,
            self.rank,
        )

    def transform(self, X: Any) -> dict[str, FloatArray]:
        """Place new things of some kinds by their features, which need no guidance.

        Parameters
        ----------
        X : dict of kind to table, or RelationalData
            Tables as in ``fit``; those with names are matched by the names of the features. Of a
            RelationalData the kinds are placed that the model has and that come with features.
        """
        check_is_fitted(self)
        if isinstance(X, RelationalData):
            known = {kind: X.entities[kind] for kind in self.kinds_ if kind in X.entities}
            X = {kind: things for kind, things in known.items() if things.features is not None}
        if not isinstance(X, Mapping) or not X:
            raise DataError(f'give new tables by kind, such as {{"{self.kinds_[0]}": X_new}}.')
        return {kind: self._new_places(kind, table)[0] for kind, table in X.items()}
