r"""CODE for counts of K things at once: a tuple is likely where its K points are near one another.

    p(x₁ … x_K) = Π α_v(x_v) exp(−D̄) / Z,      D̄ = 2/(K(K−1)) Σ_{u<v} ‖e_u − e_v‖²

with α_v the empirical marginal (letter M) or 1 (letter U). D̄ is the average squared distance of a pair, so
that K = 2 is CODE's joint model itself (spec of CODE, section 6). With T = Σ_v e_v and Δ = p − p̄,

    ∂ℓ/∂e_v(x) = 4/(K(K−1)) (K Δ(x_v = x) e_v(x) − Σ_{tuples with x_v = x} Δ T).

Given all variables but one, D̄ is 2/K times the squared distance of the last point from the mean of the
others, plus what the others alone contribute. So the sum over all tuples is a sum over pairs, of tuples of
K − 1 things and single things: it runs through the kernel for pairs, a block of tuples at a time, and nothing
of the size of the whole table is ever stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from relscape.errors import DataError, ParameterError
from relscape.objectives.gauss_sums import joint_sums
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["TupleTable", "check_tuple_model", "tuple_likelihood"]

_BLOCK = 65_536  # tuples at a time


def check_tuple_model(name: str, size: int) -> str:
    """Give the letters back if there is one, M or U, for each of ``size`` variables."""
    if not isinstance(name, str) or len(name) != size or set(name) - {"M", "U"}:
        raise ParameterError(
            f"model {name!r}: counts of {size} things at once take {size} letters, each M (the marginal is a "
            f"factor) or U (it is not), such as {'M' * size!r}."
        )
    return name


@dataclass(frozen=True, eq=False)
class TupleTable:
    """Counts of tuples as the empirical distribution p̄, made once for many evaluations.

    ``indices`` (c × K) and ``shares`` (c) hold the cells with counts, ``marginals`` the K marginals,
    ``cells`` for every variable the sparse matrix (n_v × c) that sums over the cells of each thing, and
    ``saturated`` is Σ p̄ log p̄.
    """

    indices: IntArray
    shares: FloatArray
    marginals: tuple[FloatArray, ...]
    cells: tuple[SparseArray, ...]
    saturated: float

    @classmethod
    def from_counts(
        cls, indices: IntArray, counts: FloatArray, shape: Sequence[int], equal_first: bool = False
    ) -> TupleTable:
        """Normalise counts by their total, or so that things of the first variable weigh the same.

        Every cell comes once, and every thing of every variable must have some mass.
        """
        if equal_first:
            counts = counts / np.bincount(indices[:, 0], counts, shape[0])[indices[:, 0]]
        shares = counts / counts.sum()
        order = np.arange(len(shares))
        cells = tuple(
            csr_array((shares, (indices[:, v], order)), shape=(n, len(shares))) for v, n in enumerate(shape)
        )
        marginals = tuple(np.asarray(part.sum(axis=1)).ravel() for part in cells)
        for v, marginal in enumerate(marginals):
            if not (marginal > 0).all():
                raise DataError(
                    f"{(marginal <= 0).sum()} things of variable {v + 1} have no counts; leave them out, "
                    "nothing can be learnt about them."
                )
        mass = shares[shares > 0]
        return cls(indices, shares, marginals, cells, float(mass @ np.log(mass)))


class _Expected(NamedTuple):
    """What the model expects: log Z, and for every variable its marginal and the sums of p T."""

    log_total: float
    masses: Sequence[FloatArray]
    sums: Sequence[FloatArray]


def tuple_likelihood(
    table: TupleTable, model: str, points: Sequence[FloatArray]
) -> tuple[float, list[FloatArray]]:
    """Give the log-likelihood ℓ = Σ p̄ log p of the points of K variables, and its gradient for each.

    Parameters
    ----------
    table : TupleTable
        The empirical distribution p̄.
    model : str
        K letters, M or U.
    points : sequence of K arrays
        n_v × q each.
    """
    check_tuple_model(model, len(points))
    size = len(points)
    factor = 2.0 / (size * (size - 1))
    # Multiplied-out squares lose digits far from the origin; the likelihood does not depend on it.
    centre = sum(m @ p for m, p in zip(table.marginals, points, strict=True)) / size
    moved = [p - centre for p in points]
    met = [p[table.indices[:, v]] for v, p in enumerate(moved)]
    total = np.sum(met, axis=0)
    means = total / size
    spreads = sum(((p - means) ** 2).sum(axis=1) for p in met)
    logs = [
        np.log(m) if letter == "M" else np.zeros(len(m))
        for letter, m in zip(model, table.marginals, strict=True)
    ]
    expected = _expected(moved, logs)
    value = -factor * size * float(table.shares @ spreads) - expected.log_total
    gradients = []
    for v, marginal in enumerate(table.marginals):
        value += float(marginal @ logs[v])
        excess = expected.sums[v] - table.cells[v] @ total
        own = size * (expected.masses[v] - marginal)[:, None] * moved[v]
        gradients.append(2.0 * factor * (own - excess))
    return value, gradients


def _expected(points: list[FloatArray], logs: list[FloatArray]) -> _Expected:
    """Sum over all tuples; the longest variable is the one that tuples of the others are paired with."""
    order = sorted(range(len(points)), key=lambda v: len(points[v]))
    outer, last = order[:-1], order[-1]
    size = len(points)
    root = np.sqrt(2.0 / size)
    columns = root * points[last]
    masses = [np.zeros(len(p)) for p in points]
    sums = [np.zeros(p.shape) for p in points]
    log_total = -np.inf
    for at in _blocks([len(points[v]) for v in outer]):
        met = [points[v][i] for v, i in zip(outer, at, strict=True)]
        means = np.sum(met, axis=0) / (size - 1)
        apart = sum(((p - means) ** 2).sum(axis=1) for p in met)
        # with A = Σ‖e − mean‖² of the K − 1 points: their pairs sum to (K−1) A, those with the last point to
        # (K−1) ‖last − mean‖² + A
        base = sum(logs[v][i] for v, i in zip(outer, at, strict=True)) - 2.0 / (size - 1) * apart
        found = joint_sums(root * means, columns, base, logs[last])
        grown = float(np.logaddexp(log_total, found.log_total))
        old, new = np.exp(log_total - grown), np.exp(found.log_total - grown)
        for v in range(size):
            masses[v] *= old
            sums[v] *= old
        log_total = grown
        weights = new * found.row_weights
        totals = weights[:, None] * ((size - 1) * means + found.row_means / root)
        for v, i in zip(outer, at, strict=True):
            masses[v] += np.bincount(i, weights, len(masses[v]))
            for axis in range(totals.shape[1]):
                sums[v][:, axis] += np.bincount(i, totals[:, axis], len(masses[v]))
        masses[last] += new * found.column_masses
        sums[last] += new * (
            (size - 1) / root * found.column_moments + found.column_masses[:, None] * points[last]
        )
    return _Expected(log_total, masses, sums)


def _blocks(shape: list[int]) -> Iterator[tuple[IntArray, ...]]:
    """Walk over all tuples of some variables, a fixed number at a time."""
    total = int(np.prod(shape))
    for begin in range(0, total, _BLOCK):
        yield np.unravel_index(np.arange(begin, min(begin + _BLOCK, total)), shape)
