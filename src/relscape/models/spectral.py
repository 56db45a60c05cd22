"""The scaled-SVD family: correspondence analysis, bipartite spectral, LSI, CFRM and CORT.

All decompose ``D(s_x) R D(s_y) = U Σ Vᵀ`` and differ only in the scales s, in whether the trivial
triplet is left out, and in how singular values weigh the axes (spec of the co-embeddings, section 6).
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from relscape.errors import ParameterError, RelscapeWarning
from relscape.maps import Map
from relscape.matrix.operators import ScaledRelation
from relscape.matrix.scaling import power, profile_distances
from relscape.models.base import CoEmbeddingModel, Part
from relscape.models.checks import as_number, check_choice, shown
from relscape.models.components import BlockwiseModel
from relscape.protocols import AnyArray, BoolArray, FloatArray, RelationOperator, SparseArray
from relscape.solvers.spectral import DENSE_ENTRIES, Triplets, truncated_svd

__all__ = ["CFRM", "CORT", "BipartiteSpectral", "CorrespondenceAnalysis", "LatentSemanticIndexing"]

_LARGEST_WEIGHT = 1e150  # of an axis; its square still is a number


class Axes(NamedTuple):
    """Scaled singular vectors of a relation: what every member of the family is made of."""

    left: FloatArray  # D(s_x) U, m × k
    right: FloatArray  # D(s_y) V, n × k
    values: FloatArray


class ScaledSVDModel(CoEmbeddingModel):
    """Base of the family; ``_balanced`` says whether sums are scaled away and the trivial axis left out."""

    _balanced: ClassVar[bool]

    @abstractmethod
    def _weights(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weigh the axes of rows and of columns by their singular values."""

    def _parts(self, relation: RelationOperator) -> Iterator[Part]:
        yield Part(slice(None), slice(None), relation)

    def _embed(self, relation: RelationOperator) -> None:
        (m, n), k = relation.shape, self.n_components
        self.row_embedding_, self.column_embedding_ = np.full((m, k), np.nan), np.full((n, k), np.nan)
        self.row_loadings_, self.column_loadings_ = np.zeros((n, k)), np.zeros((m, k))
        for number, part in enumerate(self._parts(relation)):
            axes = scaled_axes(part.relation, k, self._balanced)
            self._lay_out(axes, part)
            if number == 0:
                check_axes(axes.values, relation.shape)
                self._explain(axes, relation)
        self.row_embedding_[~self.row_defined_] = np.nan
        self.column_embedding_[~self.column_defined_] = np.nan

    def _lay_out(self, axes: Axes, part: Part) -> None:
        """Set the places of one part's objects, and the loadings that place new ones."""
        row_weights, column_weights = self._weights(axes.values)
        inverse = np.divide(1.0, axes.values, out=np.zeros_like(axes.values), where=axes.values > 0)
        self.row_embedding_[part.rows] = axes.left * row_weights
        self.column_embedding_[part.columns] = axes.right * column_weights
        self.row_loadings_[part.columns] = axes.right * (row_weights * inverse)
        self.column_loadings_[part.rows] = axes.left * (column_weights * inverse)

    def _explain(self, axes: Axes, relation: RelationOperator) -> None:  # noqa: ARG002
        """Keep what else the axes (of the largest part) tell."""
        self.singular_values_ = axes.values

    def _place_rows(self, new: SparseArray) -> FloatArray:
        return self._fold_in(new, self.row_loadings_, self.column_defined_)

    def _place_columns(self, new: SparseArray) -> FloatArray:
        return self._fold_in(new, self.column_loadings_, self.row_defined_)

    def _fold_in(self, new: SparseArray, loadings: FloatArray, known: BoolArray) -> FloatArray:
        """Average (balanced) or sum the known objects' loadings, weighted by the new relations."""
        sums = new @ known.astype(np.float64)
        scale = np.full(sums.size, np.nan)
        scale[sums > 0] = 1.0 / sums[sums > 0] if self._balanced else 1.0
        return np.asarray(new @ loadings) * scale[:, None]


def scaled_axes(relation: RelationOperator, k: int, balanced: bool) -> Axes:
    """Decompose a relation, balanced by its sums (CA, BGP) or as it is (LSI).

    The first vector of the iteration is fixed, so that a relation has one result. Axes that do not
    exist, because the relation has too few objects or too low a rank, are zero.
    """
    m, n = relation.shape
    row_sums, column_sums = relation.row_sums(), relation.column_sums()
    if balanced:
        total = row_sums.sum()
        row_scale, column_scale = power(row_sums, -0.5), power(column_sums, -0.5)
        trivial = np.sqrt(row_sums / total), np.sqrt(column_sums / total)
        operator = ScaledRelation(relation, row_scale, column_scale, trivial)
    else:
        row_scale, column_scale = np.ones(m), np.ones(n)
        operator = ScaledRelation(relation, row_scale, column_scale)
    limit = min(int((row_sums > 0).sum()), int((column_sums > 0).sum())) - int(balanced)
    found = real_triplets(operator, k, limit)
    return Axes(found.U * row_scale[:, None], found.V * column_scale[:, None], found.values)


def real_triplets(operator: ScaledRelation, k: int, limit: int) -> Triplets:
    """Find ``k`` singular triplets of which at most ``limit`` can be there; the others are zero."""
    m, n = operator.shape
    found = Triplets(np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)))
    if limit > 0:
        found = truncated_svd(operator, min(k, limit), np.random.default_rng(0))
        size = operator.norm_bound(found.values)
        keep = found.values > rounding_floor(m, n) * size
        found = Triplets(found.U[:, keep], found.values[keep], found.V[:, keep])
    pad = [(0, 0), (0, k - found.values.size)]
    return Triplets(np.pad(found.U, pad), np.pad(found.values, pad[1]), np.pad(found.V, pad))


def check_axes(values: FloatArray, shape: tuple[int, int]) -> None:
    """Refuse more components than a relation can have; warn when it has fewer than asked for."""
    (m, n), k, found = shape, values.size, int((values > 0).sum())
    size = f"this relation of {m} rows and {n} columns (n_samples={m}, n_features={n}) has {found} axes"
    if k > min(m, n) or found == 0:
        advice = f"ask for at most {found}" if found else "nothing in it tells its objects apart"
        raise ParameterError(f"n_components={k} is too large: {size}; {advice}.")
    if found < k:
        warnings.warn(f"n_components={k}, but {size}; the others are zero.", RelscapeWarning, stacklevel=4)


def rounding_floor(m: int, n: int) -> float:
    """Size below which a singular value of a matrix of norm 1 is rounding, not structure.

    LAPACK is exact to the last digits; ARPACK works on the squared operator and knows a value that
    should be zero only to about the root of the machine precision.
    """
    return float(1e-14 * np.sqrt(max(m, n))) if m * n <= DENSE_ENTRIES else 1e-7


class CorrespondenceAnalysis(ScaledSVDModel):
    r"""Correspondence analysis of a contingency table or any nonnegative relation.

    The singular triplets of :math:`D_r^{-1/2} (P - r c^T) D_c^{-1/2}`, P = R/ΣR: distances between
    rows are chi-square distances between their profiles (Benzécri 1973; Greenacre 1984).

    Parameters
    ----------
    n_components : int
        Number of axes.
    scaling : {"principal", "symmetric", "row", "column", "standard"}
        Both kinds in principal coordinates; both weighted by the root of the singular values (the
        symmetric biplot); rows or columns alone in principal coordinates and the others standard;
        both in standard coordinates.

    Attributes
    ----------
    row_embedding_, column_embedding_ : arrays, m × k and n × k
        Coordinates; NaN for objects without any relation.
    singular_values_, inertia_ : arrays of length k
        Singular values and their squares, the inertia each axis explains.
    total_inertia_ : float
        Inertia of all axes there are: χ² / ΣR.
    row_masses_, row_contributions_, row_cos2_ : arrays (and column\_…)
        Share of each object in the sum, of each object in each axis' inertia, and of each axis in
        each object's distance from the centre.

    Examples
    --------
    >>> from relscape.datasets import load_smoking
    >>> ca = CorrespondenceAnalysis().fit(load_smoking())
    >>> ca.singular_values_.round(6).tolist()
    [0.273421, 0.100086]
    """

    _balanced = True
    _POWERS: ClassVar[dict[str, tuple[float, float]]] = {
        "principal": (1.0, 1.0),
        "symmetric": (0.5, 0.5),
        "row": (1.0, 0.0),
        "column": (0.0, 1.0),
        "standard": (0.0, 0.0),
    }

    def __init__(self, n_components: int = 2, scaling: str = "principal") -> None:
        self.n_components = n_components
        self.scaling = scaling

    def _weights(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        row_power, column_power = self._POWERS[self.scaling]
        classical = np.sqrt(self.row_degrees_.sum())  # coordinates in the scale of P, not of R
        return classical * values**row_power, classical * values**column_power

    def _embed(self, relation: RelationOperator) -> None:
        check_choice("scaling", self.scaling, self._POWERS)
        super()._embed(relation)

    def _explain(self, axes: Axes, relation: RelationOperator) -> None:
        """Set inertias, masses, contributions and squared cosines."""
        super()._explain(axes, relation)
        total = self.row_degrees_.sum()
        self.inertia_ = axes.values**2
        self.row_masses_, self.column_masses_ = self.row_degrees_ / total, self.column_degrees_ / total
        self.row_contributions_ = self.row_degrees_[:, None] * axes.left**2
        self.column_contributions_ = self.column_degrees_[:, None] * axes.right**2
        rows, columns = profile_distances(relation, self.row_degrees_, self.column_degrees_)
        self.total_inertia_ = float(self.row_masses_ @ rows)
        self.row_cos2_ = _share(total * axes.left**2 * self.inertia_, rows, self.row_defined_)
        self.column_cos2_ = _share(total * axes.right**2 * self.inertia_, columns, self.column_defined_)

    def to_map(self) -> Map:
        """Give the map of both kinds, with the share of inertia that every axis shows."""
        joint = super().to_map()
        joint.provenance["axis_inertia"] = (self.inertia_ / self.total_inertia_).tolist()
        joint.scores["inertia_shown"] = float(self.inertia_.sum() / self.total_inertia_)
        return joint

    def _row_fields(self) -> dict[str, AnyArray]:
        return self._fields(self.row_degrees_, self.row_masses_, self.row_contributions_, self.row_cos2_)

    def _column_fields(self) -> dict[str, AnyArray]:
        return self._fields(
            self.column_degrees_, self.column_masses_, self.column_contributions_, self.column_cos2_
        )

    def _fields(
        self, degrees: AnyArray, masses: AnyArray, parts: AnyArray, cos2: AnyArray
    ) -> dict[str, AnyArray]:
        """Sum over the axes: the share in the inertia shown, and how well the map shows each object."""
        contribution = parts @ self.inertia_ / self.inertia_.sum()
        return {"degree": degrees, "mass": masses, "contribution": contribution, "cos2": cos2.sum(axis=1)}


def _share(parts: FloatArray, wholes: FloatArray, defined: AnyArray) -> FloatArray:
    """Divide, giving 0 where the whole is 0 (an object exactly at the centre) and NaN where undefined."""
    shares = np.divide(parts, wholes[:, None], out=np.zeros_like(parts), where=wholes[:, None] > 0)
    shares[~defined] = np.nan
    return shares


class BipartiteSpectral(BlockwiseModel, ScaledSVDModel):
    r"""Bipartite spectral embedding (Dhillon 2001; "BGP").

    Rows :math:`D_r^{-1/2} U` and columns :math:`D_c^{-1/2} V` from the non-trivial singular triplets
    of :math:`D_r^{-1/2} R D_c^{-1/2}`, which are the smallest generalised eigenvectors of the
    bipartite graph's Laplacian.

    Parameters
    ----------
    n_components : int
        Number of axes.
    components : {"largest", "each", "joint"}
        What to do when the relation falls into blocks that nothing connects: place only the largest
        (the others are NaN), every block on a map of its own (see ``to_maps``; distances between
        blocks mean nothing), or all together, where the first axes only tell blocks apart.

    Attributes
    ----------
    row_embedding_, column_embedding_ : arrays, m × k and n × k
    row_component_, column_component_ : integer arrays
        The block of each object, 0 the largest; -1 for objects without any relation.
    singular_values_ : array of length k
        Of the largest block (or of all together, if joint).
    """

    _balanced = True

    def __init__(self, n_components: int = 2, components: str = "largest") -> None:
        self.n_components = n_components
        self.components = components

    def _weights(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.ones_like(values), np.ones_like(values)

    def _place_rows(self, new: SparseArray) -> FloatArray:
        return super()._place_rows(self._within_one_block(new, self.column_component_))

    def _place_columns(self, new: SparseArray) -> FloatArray:
        return super()._place_columns(self._within_one_block(new, self.row_component_))


class LatentSemanticIndexing(ScaledSVDModel):
    r"""Latent semantic indexing (Deerwester et al. 1990): :math:`U Σ^β` and :math:`V Σ^β` of R itself.

    Parameters
    ----------
    n_components : int
        Number of axes.
    beta : float
        Power of the singular values that weigh the axes.
    """

    _balanced = False

    def __init__(self, n_components: int = 2, beta: float = 1) -> None:
        self.n_components = n_components
        self.beta = beta

    def _embed(self, relation: RelationOperator) -> None:
        if not np.isfinite(as_number(self.beta)):
            raise ParameterError(f"beta={shown(self.beta)}: give a number.")
        super()._embed(relation)

    def _weights(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(over="ignore", divide="ignore"):
            weights = power(values, float(self.beta))
        if not weights.max() <= _LARGEST_WEIGHT:
            raise ParameterError(
                f"beta={self.beta:g}: such powers of the singular values, of which the largest is "
                f"{values.max():.3g}, are beyond computing; give a power nearer to 0."
            )
        return weights, weights


class CFRM(ScaledSVDModel):
    r"""Collective factorisation of a relation matrix (Long et al. 2006): the bare :math:`U` and :math:`V`.

    Parameters
    ----------
    n_components : int
        Number of axes.
    """

    _balanced = False

    def __init__(self, n_components: int = 2) -> None:
        self.n_components = n_components

    def _weights(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.ones_like(values), np.ones_like(values)


class CORT(ScaledSVDModel):
    r"""CORT: :math:`U (Σ + Σ^2)^{1/2}` and :math:`V (Σ + Σ^2)^{1/2}` of R itself.

    In the form that Wu's thesis tabulates (table 3.1), after Mu and Goulermas (2013).

    Parameters
    ----------
    n_components : int
        Number of axes.
    """

    _balanced = False

    def __init__(self, n_components: int = 2) -> None:
        self.n_components = n_components

    def _weights(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        weights = np.sqrt(values + values**2)
        return weights, weights
