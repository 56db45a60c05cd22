"""The distribution over pairs that a fitted CODE model is: its density, conditionals, samples, newcomers.

Every model of the family has the form log p(x, y) = f(x) + g(y) − ‖φ(x) − ψ(y)‖² − log Z, with the
normalisers of a conditional model inside f or g (spec of CODE, section 2). Conditioned on x the
weights of the columns are exp(g), conditioned on y those of the rows exp(f), whatever the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from relscape.objectives.gauss_sums import conditional_sums
from relscape.objectives.newcomers import place_frozen, refine_exact
from relscape.protocols import FloatArray, IntArray, RelationOperator, SparseArray

__all__ = ["PairDistribution", "pair_distribution"]

_BLOCK = 2_000_000  # entries of a dense block
LEAST_RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class PairDistribution:
    """Places of rows (m × k) and columns (n × k), their log-factors f and g, and log Z."""

    rows: FloatArray
    columns: FloatArray
    row_factors: FloatArray
    column_factors: FloatArray
    log_normaliser: float

    def transposed(self) -> PairDistribution:
        """Exchange rows and columns."""
        return PairDistribution(
            self.columns, self.rows, self.column_factors, self.row_factors, self.log_normaliser
        )

    def log_density(self, i: IntArray, j: IntArray) -> FloatArray:
        """Give log p(x, y) of pairs."""
        squares = ((self.rows[i] - self.columns[j]) ** 2).sum(axis=1)
        density: FloatArray = self.row_factors[i] + self.column_factors[j] - squares - self.log_normaliser
        return density

    def log_likelihood(self, counts: SparseArray) -> float:
        """Average log p over the pairs counted, in nats."""
        entries = counts.tocoo()
        i, j = entries.coords
        return float(entries.data @ self.log_density(i, j) / entries.data.sum())

    def conditional(self, rows: IntArray) -> FloatArray:
        """Give p(y | x) for some rows, dense."""
        logs = self._logs(rows)
        shares: FloatArray = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        return shares

    def row_marginal(self) -> FloatArray:
        """Give p(x) of the model."""
        sums = _log_sums(self.rows, self.columns, self.column_factors)
        marginal: FloatArray = np.exp(sums + self.row_factors - self.log_normaliser)
        return marginal

    def sample(self, count: int, random_state: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw pairs: a row from its marginal, then a column given the row."""
        marginal = self.row_marginal()
        times = random_state.multinomial(count, marginal / marginal.sum())
        drawn = np.flatnonzero(times)
        columns: list[IntArray] = []
        size = max(1, _BLOCK // len(self.columns))
        for block in (drawn[start : start + size] for start in range(0, len(drawn), size)):
            for x, shares in zip(block, self.conditional(block), strict=True):
                columns.append(random_state.choice(shares.size, times[x], p=shares / shares.sum()))
        order = random_state.permutation(count)
        return np.repeat(drawn, times[drawn])[order], np.concatenate(columns)[order]

    def place_rows(self, counts: SparseArray, ridge: FloatArray) -> FloatArray:
        """Place new rows by their counts over the columns, each at its one best place; NaN without any."""
        sums = np.asarray(counts.sum(axis=1)).ravel()
        there = sums > 0
        placed = np.full((len(sums), self.rows.shape[1]), np.nan)
        if there.any():
            means = (counts[there] @ self.columns) / sums[there, None]
            least = np.maximum(ridge[there], LEAST_RIDGE)
            placed[there] = place_frozen(means, self.columns, self.column_factors, least)
        return placed

    def place_rows_exactly(
        self,
        counts: SparseArray,
        column_sums: FloatArray,
        ridge: float,
        marginal: bool = False,
        equal: bool = False,
    ) -> FloatArray:
        """Place new rows where columns condition (MC, UC) by the exact likelihood of the enlarged table.

        ``column_sums`` are those of the table fitted on; ``marginal`` says that the model has the rows'
        marginal as a factor, or else ``equal`` may say that every column weighs the same whatever its sum.
        Starts from :meth:`place_rows`.
        """
        total, n = column_sums.sum(), len(column_sums)
        mass = np.asarray(counts.sum(axis=1)).ravel() / total
        placed = self.place_rows(counts, ridge / np.maximum(mass, np.finfo(float).tiny))
        log_normalisers = np.log(np.full(n, 1 / n) if equal else column_sums / total) - self.column_factors
        for i in np.flatnonzero(np.isfinite(placed).all(axis=1)):
            new = counts[[i]].toarray().ravel()
            sums = column_sums + new
            weights = n * sums if equal else np.full(n, sums.sum())
            shares, masses = new / weights, sums / weights
            ratio = shares.sum() / (1.0 - shares.sum()) if marginal else 1.0
            log_odds = np.log(ratio) - log_normalisers
            placed[i] = refine_exact(placed[i], shares, self.columns, masses, log_odds, ridge)
        return placed

    def _logs(self, rows: IntArray) -> FloatArray:
        points = self.rows[rows]
        squares = (points**2).sum(axis=1)[:, None] - 2.0 * points @ self.columns.T
        logs: FloatArray = self.column_factors - squares - (self.columns**2).sum(axis=1)
        return logs


def pair_distribution(
    model: str,
    rows: FloatArray,
    columns: FloatArray,
    row_masses: FloatArray,
    column_masses: FloatArray,
    exclude_self: bool = False,
    relation: RelationOperator | None = None,
) -> PairDistribution:
    """Normalise a model (two letters of C, M, U) for given places, centred, and empirical marginals.

    ``exclude_self`` leaves pairs of an object with itself out of the normalisers. Where the relation lies in
    blocks elsewhere, the sums are done there.
    """
    if model[1] == "C":
        masses = column_masses, row_masses
        turned = pair_distribution(model[::-1], columns, rows, *masses, exclude_self, relation)
        return turned.transposed()
    column_factors = np.log(column_masses) if model[1] == "M" else np.zeros(len(columns))
    sums = _log_sums(rows, columns, column_factors, exclude_self, relation)
    if model[0] == "C":
        return PairDistribution(rows, columns, np.log(row_masses) - sums, column_factors, 0.0)
    row_factors = np.log(row_masses) if model[0] == "M" else np.zeros(len(rows))
    return PairDistribution(rows, columns, row_factors, column_factors, float(logsumexp(row_factors + sums)))


def _log_sums(
    rows: FloatArray,
    columns: FloatArray,
    factors: FloatArray,
    exclude_self: bool = False,
    relation: RelationOperator | None = None,
) -> FloatArray:
    """Sum exp(factor − squared distance) over the columns, in logarithms, for every row."""
    weights = np.zeros(len(rows))
    return conditional_sums(rows, columns, factors, weights, exclude_self, relation).log_normalisers
