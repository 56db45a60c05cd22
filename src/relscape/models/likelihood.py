"""Models that are a distribution over pairs: what CODE, its convex form and its relatives share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.random import default_rng
from scipy.sparse import csr_array, diags_array
from sklearn.utils.validation import check_is_fitted

from relscape.errors import DataError, ParameterError, RelscapeWarning
from relscape.maps import Map
from relscape.models.base import CoEmbeddingModel, told_of_lost
from relscape.models.checks import check_integer, generator
from relscape.models.climbing import solver_report
from relscape.models.inputs import read_new
from relscape.models.spectral import scaled_axes
from relscape.objectives.cooccurrence import Table, log_likelihood
from relscape.objectives.pairs import PairDistribution, pair_distribution
from relscape.protocols import AnyArray, FloatArray, IntArray, RelationOperator, SparseArray
from relscape.solvers.result import SolveResult

__all__ = ["START_SIZE", "LikelihoodModel", "in_principal_axes", "prominence", "spectral_start"]

START_SIZE = 0.3
LEAST_GAIN = 1e-6  # nats


class LikelihoodModel(CoEmbeddingModel):
    """Base of the models that are a distribution over pairs: likelihood, conditionals, samples, newcomers.

    A subclass sets the two embeddings and calls ``_keep`` in its ``_embed``.
    """

    model: str
    equal_rows: bool
    ridge: float
    row_log_factors_: FloatArray
    column_log_factors_: FloatArray
    log_normaliser_: float
    log_likelihood_: float
    saturated_log_likelihood_: float
    one_place_log_likelihood_: float
    solve_result_: SolveResult

    def _keep(self, rows: FloatArray, columns: FloatArray, table: Table) -> None:
        """Set the places of the objects with mass, and what normalises the model there."""
        masses = table.row_masses, table.column_masses
        fitted = pair_distribution(self.model, rows, columns, *masses, relation=table.relation)
        self._keep_distribution(fitted, table)

    def _keep_distribution(self, fitted: PairDistribution, table: Table) -> None:
        """Set places and log-factors; objects without mass have neither."""
        rows, columns, k = self.row_defined_, self.column_defined_, fitted.rows.shape[1]
        self.row_embedding_, self.column_embedding_ = (
            np.full((side.size, k), np.nan) for side in (rows, columns)
        )
        self.row_embedding_[rows], self.column_embedding_[columns] = fitted.rows, fitted.columns
        self.row_log_factors_, self.column_log_factors_ = (
            np.full(side.size, -np.inf) for side in (rows, columns)
        )
        self.row_log_factors_[rows] = fitted.row_factors
        self.column_log_factors_[columns] = fitted.column_factors
        self.log_normaliser_ = fitted.log_normaliser
        self.column_masses_ = np.zeros(columns.size)
        self.column_masses_[columns] = table.column_masses

    def _note_ends(self, table: Table) -> None:
        """Set between what ends the likelihood lies, and warn of a map that tells nothing."""
        m, n = table.relation.shape
        letters = "MM" if self.model == "FF" else self.model
        self.saturated_log_likelihood_ = table.saturated
        self.one_place_log_likelihood_ = log_likelihood(table, letters, np.zeros((m, 1)), np.zeros((n, 1)))
        if self.log_likelihood_ - self.one_place_log_likelihood_ < LEAST_GAIN:
            warnings.warn(
                "the map tells nothing: with all things in one place the relation would be as likely.",
                RelscapeWarning,
                stacklevel=4,
            )

    def _distribution(self) -> PairDistribution:
        """Give the fitted distribution over the pairs of objects that have a place."""
        rows, columns = self.row_defined_, self.column_defined_
        return PairDistribution(
            self.row_embedding_[rows],
            self.column_embedding_[columns],
            self.row_log_factors_[rows],
            self.column_log_factors_[columns],
            self.log_normaliser_,
        )

    # ------------------------------------------------------------------ the distribution

    def log_likelihood(self, X: Any) -> float:
        """Average the fitted log p(x, y) over the pairs counted in a table of the same objects, in nats."""
        check_is_fitted(self)
        counts, _ = read_new(self, X, axis=0)
        if counts.shape[0] != len(self.row_entities_):
            raise DataError(
                f"the table has {counts.shape[0]} rows; the likelihood needs the {len(self.row_entities_)} "
                "rows that the model was fitted on, in their order."
            )
        inside = counts[self.row_defined_][:, self.column_defined_]
        total = counts.sum()
        if not total > 0:
            raise DataError("the table is empty: there are no pairs to judge.")
        if not np.isclose(inside.sum(), total, rtol=1e-12):
            raise DataError(
                "the table counts pairs of objects that had no relation when the model was fitted."
            )
        if self.equal_rows:
            inside = _profiles(inside)
        return self._distribution().log_likelihood(csr_array(inside))

    def conditional(self, rows: Any) -> FloatArray:
        """Give p(column | row) of the fitted model for some rows (positions), one line a row.

        Columns without a place have probability 0; a row without a place gives NaN.
        """
        check_is_fitted(self)
        asked: IntArray = np.atleast_1d(np.asarray(rows, dtype=None if np.size(rows) else np.intp))
        if asked.ndim != 1 or asked.dtype.kind not in "iu" or not self._has_rows(asked):
            raise ParameterError(
                f"rows={rows!r}: give positions of rows from 0 to {len(self.row_entities_) - 1}."
            )
        shares = np.zeros((len(asked), self.column_defined_.size))
        known = self.row_defined_[asked]
        within = np.cumsum(self.row_defined_) - 1
        shares[np.ix_(known, self.column_defined_)] = self._distribution().conditional(within[asked[known]])
        shares[~known] = np.nan
        return shares

    def _has_rows(self, asked: IntArray) -> bool:
        return bool(((asked >= 0) & (asked < len(self.row_entities_))).all())

    def sample(self, n_pairs: int = 1, random_state: Any = None) -> tuple[IntArray, IntArray]:
        """Draw pairs from the fitted model: positions of rows and of columns."""
        check_is_fitted(self)
        check_integer("n_pairs", n_pairs, 1)
        i, j = self._distribution().sample(n_pairs, generator(random_state))
        return np.flatnonzero(self.row_defined_)[i], np.flatnonzero(self.column_defined_)[j]

    # ------------------------------------------------------------------ newcomers

    def transform(self, X: Any, exact: bool = False) -> FloatArray:
        """Place new row objects by their relations to the fitted columns (q × n).

        Parameters
        ----------
        X : array, sparse array, data frame or RelationalData
        exact : bool
            For MC and UC, where a new row changes the normaliser of every column: by default those of the
            fit are frozen, which has one best place; ``exact`` climbs on from there by the likelihood of
            the table enlarged by the row. In CM and CU a new row changes nothing else, and both are the
            same. The joint models place a new row by p(y | x) alone; they and SDR refuse ``exact``.
        """
        if exact and self._side_to_refine("row", 1):
            check_is_fitted(self)
            new, names = read_new(self, X, axis=0)
            return told_of_lost(self._exact_rows(csr_array(new)), names, self.row_entities_.kind)
        return super().transform(X)

    def transform_columns(self, X: Any, exact: bool = False) -> FloatArray:
        """Place new column objects by their relations to the fitted rows (m × q).

        ``exact`` as in ``transform``, with rows and columns exchanged: for CM and CU (CM not with equal rows,
        where the weights of all columns would change).
        """
        if exact and self._side_to_refine("column", 0):
            check_is_fitted(self)
            new, names = read_new(self, X, axis=1)
            return told_of_lost(self._exact_columns(csr_array(new.T)), names, self.column_entities_.kind)
        return super().transform_columns(X)

    def _side_to_refine(self, side: str, other: int) -> bool:
        """Tell whether an exact place differs from the frozen one; refuse where there is none."""
        if "C" not in self.model:
            raise ParameterError(
                f"exact=True: {self.model} has no exact place for a new {side}; only models with a C do."
            )
        return self.model[other] == "C"

    def _place_rows(self, new: SparseArray) -> FloatArray:
        known = csr_array(new)[:, self.column_defined_]
        return self._distribution().place_rows(known, self._newcomer_ridge(known, self.equal_rows))

    def _place_columns(self, new: SparseArray) -> FloatArray:
        known = self._row_shares(csr_array(new)[:, self.row_defined_])
        return self._distribution().transposed().place_rows(known, self._newcomer_ridge(known, False))

    def _exact_rows(self, new: SparseArray) -> FloatArray:
        known = new[:, self.column_defined_]
        known = _profiles(known) if self.equal_rows else known
        sums = self.column_masses_[self.column_defined_] * self._total()
        return self._distribution().place_rows_exactly(
            known, sums, self._penalty(), marginal="M" in self.model
        )

    def _exact_columns(self, new: SparseArray) -> FloatArray:
        if self.equal_rows and "M" in self.model:
            raise ParameterError(
                "exact=True: with equal_rows a new column of CM changes the weight of every other one, which "
                "needs the counts of the fit; the model does not keep them. Model CU does not need them."
            )
        known, sums = new[:, self.row_defined_], self.row_degrees_[self.row_defined_]
        turned = self._distribution().transposed()
        return turned.place_rows_exactly(known, sums, self._penalty(), "M" in self.model, self.equal_rows)

    def _penalty(self) -> float:
        """Give the weight of the penalty on squared size that held the objects of the fit."""
        return self.ridge

    def _total(self) -> float:
        """Give the sum of the table fitted on: of counts, or of one profile a row."""
        return float(self.row_defined_.sum() if self.equal_rows else self.row_degrees_.sum())

    def _row_shares(self, known: SparseArray) -> SparseArray:
        """Weigh a new column's relations as the fit weighed its rows."""
        if not self.equal_rows:
            return known
        return csr_array(known @ diags_array(1.0 / self.row_degrees_[self.row_defined_]))

    def _newcomer_ridge(self, known: SparseArray, equal: bool) -> FloatArray:
        """Hold newcomers as firmly as objects of their mass were held in the fit."""
        if equal:
            return np.full(known.shape[0], self._penalty() * self.row_defined_.sum())
        sums = np.asarray(known.sum(axis=1)).ravel()
        return np.asarray(
            np.divide(self._penalty() * self._total(), sums, out=np.zeros_like(sums), where=sums > 0)
        )

    def _row_fields(self) -> dict[str, AnyArray]:
        return {**super()._row_fields(), "prominence": prominence(self.row_degrees_, self.row_embedding_)}

    def _column_fields(self) -> dict[str, AnyArray]:
        shares = prominence(self.column_degrees_, self.column_embedding_)
        return {**super()._column_fields(), "prominence": shares}

    def to_map(self) -> Map:
        """Give the map of both kinds, with the likelihood among its scores."""
        joint = super().to_map()
        joint.scores["log_likelihood"] = self.log_likelihood_
        joint.scores["log_likelihood_in_one_place"] = self.one_place_log_likelihood_
        joint.scores["log_likelihood_limit"] = self.saturated_log_likelihood_
        joint.provenance["solver"] = solver_report(self.solve_result_)
        return joint


def prominence(degrees: FloatArray, points: FloatArray) -> FloatArray:
    """Say how telling each object is, by which names in pictures are chosen; NaN without a place.

    What is most frequent lies in the middle and says little, what is farthest out is rare: the squared
    distance from the middle is weighed by the root of the frequency, as a share of all.
    """
    spread = np.sqrt(degrees) * (points**2).sum(axis=1)
    total = np.nansum(spread)
    return np.asarray(spread / total if total > 0 else spread)


def _profiles(counts: SparseArray) -> SparseArray:
    """Divide every row by its sum; empty rows stay."""
    sums = np.asarray(counts.sum(axis=1)).ravel()
    return csr_array(diags_array(1.0 / np.where(sums > 0, sums, 1.0)) @ counts)


def spectral_start(relation: RelationOperator, k: int) -> FloatArray:
    """Stack the places of rows and columns in the symmetric scaling of CA, at a mean size of 0.3 (spec 4)."""
    axes = scaled_axes(relation, k, balanced=True)
    roots = np.sqrt(axes.values)
    rows, columns = axes.left * roots, axes.right * roots
    row_sums, column_sums = relation.row_sums(), relation.column_sums()
    missing = axes.values == 0  # a coordinate that is 0 for all would stay 0
    noise = default_rng(0).uniform(-1, 1, (len(rows) + len(columns), int(missing.sum())))
    spread = (row_sums @ rows**2 + column_sums @ columns**2).sum() / (2 * row_sums.sum())
    size = np.sqrt(spread) if spread > 0 else 1.0
    start = np.vstack([rows, columns]) * (START_SIZE / size)
    start[:, missing] = 0.1 * START_SIZE * noise
    return start


def in_principal_axes(points: FloatArray) -> FloatArray:
    """Centre a cloud and turn it to its principal axes, the largest coordinate of each positive.

    The likelihood knows no origin and no directions; so equal maps get equal coordinates.
    """
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(np.linalg.qr(centred, mode="r"))
    turned = centred @ axes.T
    signs = np.sign(turned[np.abs(turned).argmax(axis=0), np.arange(turned.shape[1])])
    return np.asarray(turned * np.where(signs == 0, 1.0, signs))
